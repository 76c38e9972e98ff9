//! Surfaces: `[[surface]]` by name, or in place.

use std::collections::HashMap;

use nalgebra::Unit;
use stiction_sim::{Compliance, Grain, Surface, surface::Resistance};

use super::table::Table;
use crate::error::SceneError;

/// The surface of everything that names none.
const DEFAULT: &str = "default";

/// Surfaces by name.
#[derive(Default)]
pub(super) struct Surfaces {
    named: HashMap<String, Surface>,
}

impl Surfaces {
    /// Reads every `[[surface]]`.
    pub fn read(root: &Table) -> Result<Self, SceneError> {
        let mut surfaces = Self::default();
        for table in root.tables("surface")? {
            let name = table.require("name", "a name, by which bodies refer to the surface")?;
            let surface = one(&table)?;
            if surfaces.named.insert(name.to_owned(), surface).is_some() {
                return Err(table.error(format_args!("a second surface is called \"{name}\"")));
            }
            table.finish()?;
        }
        Ok(surfaces)
    }

    /// The surface that a table names; `inherited` if it names none.
    pub fn of(&self, table: &Table, inherited: Option<Surface>) -> Result<Surface, SceneError> {
        if !table.has("surface") {
            let default = self.named.get(DEFAULT).copied().unwrap_or_default();
            return Ok(inherited.unwrap_or(default));
        }
        if let Ok(Some(inner)) = table.table("surface") {
            let surface = one(&inner)?;
            inner.finish()?;
            return Ok(surface);
        }
        let mut known: Vec<&str> = self.named.keys().map(String::as_str).collect();
        known.sort_unstable();
        let expected = match known.is_empty() {
            true => "a table, or the name of a [[surface]], of which there are none".to_owned(),
            false => format!("a table, or the name of a [[surface]]: {}", known.join(", ")),
        };
        let named = table.text("surface").ok().flatten().and_then(|name| self.named.get(name));
        named.copied().ok_or_else(|| table.wrong("surface", &expected))
    }
}

fn one(table: &Table) -> Result<Surface, SceneError> {
    let mut surface = Surface::default();
    if let Some(friction) = table.not_negative("friction")? {
        surface.friction = friction;
    }
    if let Some(restitution) =
        table.number_if("restitution", "a number from 0 to 1", |x| (0.0..=1.0).contains(&x))?
    {
        surface.restitution = restitution;
    }
    let stiff = "a number of N/m above zero; inf for a rigid surface";
    if let Some(stiffness) = table.number_if("stiffness", stiff, |x| x > 0.0)? {
        surface.stiffness = stiffness;
    }
    if let Some(dissipation) = table.not_negative("dissipation")? {
        surface.dissipation = dissipation;
    }
    let resistances = [
        ("nothing", Resistance::Nothing),
        ("sliding", Resistance::Sliding),
        ("spinning", Resistance::Spinning),
        ("rolling", Resistance::Rolling),
    ];
    if let Some(resistance) = table.word("resistance", &resistances)? {
        surface.resistance = resistance;
    }
    for (key, field, least) in [
        ("spin", &mut surface.spin, Resistance::Spinning),
        ("roll", &mut surface.roll, Resistance::Rolling),
    ] {
        if let Some(value) = table.not_negative(key)? {
            *field = value;
            // A coefficient implies its resistance.
            if !table.has("resistance") {
                surface.resistance = surface.resistance.max(least);
            }
        }
    }
    if let Some(compliance) = table.table("compliance")? {
        surface.compliance = Some(pressure_field(&compliance)?);
        compliance.finish()?;
    }
    if let Some(grain) = table.table("grain")? {
        let expected = "a direction in the frame of the shape";
        let along = grain.vector("along")?.and_then(|v| Unit::try_new(v, f64::MIN_POSITIVE));
        let along = along.ok_or_else(|| grain.wrong("along", expected))?;
        let across = grain.not_negative("across-friction")?;
        let across = across.ok_or_else(|| grain.wrong("across-friction", "a coefficient"))?;
        surface.grain = Some(Grain { along, across_friction: across });
        grain.finish()?;
    }
    Ok(surface)
}

/// A pressure field: `compliance = { modulus = 1e6, dissipation = 0.1, resolution = 0.01 }`.
fn pressure_field(table: &Table) -> Result<Compliance, SceneError> {
    let positive = |x: f64| x > 0.0 && x.is_finite();
    let expected = "a pressure of Pa above zero; no compliance for a rigid surface";
    let modulus = table.number_if("modulus", expected, positive)?;
    let modulus = modulus.ok_or_else(|| table.wrong("modulus", expected))?;
    Ok(Compliance {
        modulus,
        dissipation: table.not_negative("dissipation")?.unwrap_or(0.0),
        thickness: table.positive("thickness")?,
        resolution: table.positive("resolution")?,
    })
}
