//! `<drake:proximity_properties>` of a `<collision>`: how a shape yields, and its friction, as Drake reads them.
//!
//! A compliant shape gets a pressure field. A rigid one (`rigid_hydroelastic`) has none: it takes part in the patches of those
//! that yield. Dissipation is linear here, with Drake's relaxation time; that of Hunt and Crossley is another law, and is listed.

use stiction_sim::{Compliance, Surface};

use super::diagnostics::Diagnostics;
use crate::error::SceneError;
use crate::xml::Element;

/// Hydroelastic modulus [Pa] and relaxation time [s] of shapes that name none: Drake's defaults.
const MODULUS: f64 = 1e7;
const RELAXATION_TIME: f64 = 0.1;

/// Changes the surface of a shape by the properties of its collision element, if it has any.
pub(super) fn read(
    collision: &Element,
    surface: &mut Surface,
    diagnostics: &mut Diagnostics,
) -> Result<(), SceneError> {
    let Some(properties) = collision.child("proximity_properties") else { return Ok(()) };
    let value = |tag: &str, expected: &str, fine: fn(f64) -> bool| match properties.child(tag) {
        Some(child) => match child.number("value")? {
            Some(found) if fine(found) && found.is_finite() => Ok(Some(found)),
            _ => Err(child.wrong("value", expected)),
        },
        None => Ok(None),
    };
    let positive: fn(f64) -> bool = |x| x > 0.0;
    let modulus = value("hydroelastic_modulus", "a pressure above zero [Pa]", positive)?;
    let resolution = value("mesh_resolution_hint", "a length above zero [m]", positive)?;
    let dissipation = value("relaxation_time", "a time that is not negative [s]", |x| x >= 0.0)?;
    if let Some(friction) = value("mu_dynamic", "a number from 0 on", |x| x >= 0.0)? {
        surface.friction = friction;
    }
    // One coefficient of friction holds and slides.
    properties.child("mu_static").map(|child| child.get("value"));
    if let Some(child) = properties.child("hunt_crossley_dissipation") {
        child.get("value");
        let what = "<hunt_crossley_dissipation>; expected <relaxation_time>, by which pressures are damped";
        diagnostics.report_unsupported(&child.place, what);
    }
    let [compliant, rigid] =
        ["compliant_hydroelastic", "rigid_hydroelastic"].map(|tag| properties.child(tag));
    if let (Some(_), Some(rigid)) = (compliant, rigid) {
        return Err(rigid.error("the shape is compliant as well; expected one of the two"));
    }
    if compliant.is_some() {
        surface.compliance = Some(Compliance {
            modulus: modulus.unwrap_or(MODULUS),
            dissipation: dissipation.unwrap_or(RELAXATION_TIME),
            thickness: None,
            resolution,
        });
    }
    Ok(())
}
