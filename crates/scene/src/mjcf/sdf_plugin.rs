//! Solids that MuJoCo's plugins of signed distances describe: `<plugin>` in a `<mesh>` or a `<geom type="sdf">`.
//!
//! A plugin is named in the element, with its `<config>`, or by an instance of `<extension>`. Tori and bowls are the fields of
//! scenes; bolts, nuts and gears have their own. Those of `mujoco.sdf.sdflib` are the sampled distance of their mesh.

use std::collections::HashMap;
use std::f64::consts::{FRAC_PI_2, TAU};
use std::sync::Arc;

use stiction_geom::field::{MachinePart, Profile};
use stiction_geom::{FieldSolid, ShapeError};

use super::actuator::pid::configuration;
use super::build::Build;
use crate::error::SceneError;
use crate::xml::Element;

/// Names of plugins and their configurations, by the names of their instances.
pub(super) type FieldPlugins = HashMap<String, (String, Vec<(String, String)>)>;

/// How all plugins of signed distances are called at the start.
const FAMILY: &str = "mujoco.sdf.";
/// The plugin of sampled meshes.
const SAMPLED: &str = "sdflib";
/// Pieces of the arc of a bowl.
const ARC: u32 = 96;

/// What `<plugin>` of a mesh or geom stands for.
#[derive(Clone, Debug)]
pub(super) enum PluginSolid {
    /// A solid with the width of its triangles [m].
    Field(FieldSolid, Option<f64>),
    /// The distance of the mesh itself.
    OfMesh,
    /// A plugin that is not known.
    Unknown(String),
}

/// Reads the instances of plugins that `<extension>` declares.
pub(super) fn read_instances(section: &Element, instances: &mut FieldPlugins) {
    for plugin in section.all("plugin") {
        let kind = plugin.get("plugin").unwrap_or_default();
        for instance in plugin.all("instance") {
            let name = instance.get("name").unwrap_or_default().to_owned();
            instances.insert(name, (kind.to_owned(), configuration(instance)));
        }
    }
}

/// The solid of a mesh or geom, if it has a plugin.
pub(super) fn read(
    build: &mut Build,
    element: &Element,
) -> Result<Option<PluginSolid>, SceneError> {
    let Some(plugin) = element.child("plugin") else { return Ok(None) };
    let mut kind = plugin.get("plugin").unwrap_or_default().to_owned();
    let mut configured = configuration(plugin);
    if let Some(name) = plugin.get("instance") {
        let Some((declared, pairs)) = build.field_plugins.get(name) else {
            return Err(plugin.wrong("instance", "the name of an instance of <extension>"));
        };
        (kind, configured) = (declared.clone(), pairs.clone());
    }
    let Some(name) = kind.strip_prefix(FAMILY) else {
        return Ok(Some(PluginSolid::Unknown(kind)));
    };
    if name == SAMPLED {
        return Ok(Some(PluginSolid::OfMesh));
    }
    let number = |key: &str, default: f64| {
        let found = configured.iter().find(|(name, value)| name == key && !value.trim().is_empty());
        let Some((_, value)) = found else { return Ok(default) };
        value.trim().parse::<f64>().map_err(|_| {
            plugin.error(format_args!("config {key} = \"{value}\"; expected a number"))
        })
    };
    let made = match name {
        "torus" => {
            let (major, minor) = (number("radius1", 0.35)?, number("radius2", 0.15)?);
            Ok((FieldSolid::Torus { major, minor }, Some(0.125 * minor)))
        }
        "bowl" => bowl(number("height", 0.4)?, number("radius", 1.0)?, number("thickness", 0.02)?),
        "bolt" => Ok(part(MachinePart::Bolt { radius: number("radius", 0.26)? })),
        "nut" => Ok(part(MachinePart::Nut { radius: number("radius", 0.26)? })),
        "gear" => Ok(part(MachinePart::Gear {
            angle: number("alpha", 0.0)?,
            diameter: number("diameter", 2.8)?,
            teeth: number("teeth", 25.0)?,
            thickness: number("thickness", 0.2)?,
            bore: number("innerdiameter", -1.0)?,
        })),
        _ => return Ok(Some(PluginSolid::Unknown(kind))),
    };
    let checked = made.and_then(|(solid, width)| solid.check().map(|()| (solid, width)));
    let (solid, width) = checked.map_err(|fault| plugin.error(format_args!("{kind}: {fault}")))?;
    Ok(Some(PluginSolid::Field(solid, width)))
}

fn part(part: MachinePart) -> (FieldSolid, Option<f64>) {
    (FieldSolid::MachinePart(part), None)
}

/// A part of a hollow sphere below a plane: an arc of even thickness, twice `half`, from the bottom to the rim at a height.
fn bowl(height: f64, radius: f64, half: f64) -> Result<(FieldSolid, Option<f64>), ShapeError> {
    let cosine = height / radius;
    if !(radius > 0.0 && cosine.abs() < 1.0) {
        return Err(ShapeError::Length { shape: "sdf", parameter: "radius", found: radius });
    }
    let rim = cosine.asin();
    // The corners lie outside of the arc by as much as the middles of the pieces lie inside.
    let step = (rim + FRAC_PI_2) / f64::from(ARC);
    let corner = radius * 2.0 / (1.0 + (0.5 * step).cos());
    let points: Vec<_> = (0..=ARC)
        .map(|k| {
            let (sin, cos) = (step * f64::from(k) - FRAC_PI_2).sin_cos();
            [if k == 0 { 0.0 } else { corner * cos }, corner * sin]
        })
        .collect();
    let profile = Profile::line(&points, 2.0 * half)?;
    let width = (2.0 * half).max(TAU * radius / 256.0);
    Ok((FieldSolid::Revolve(Arc::new(profile)), Some(width)))
}
