//! How a geom meets others: from the terms of MJCF to a surface.

use stiction_geom::Groups;
use stiction_mech::SoftLaw;
use stiction_sim::{Resistance, SoftSurface, Surface};

use super::build::{Build, ContactTerms};
use super::soft_law;
use crate::error::SceneError;
use crate::xml::Element;

/// Reads the terms of a geom.
pub(super) fn terms(element: &Element) -> Result<ContactTerms, SceneError> {
    let default = ContactTerms::default();
    let bits = |name: &str, default: i32| match element.integer(name)? {
        Some(bits) => i32::try_from(bits)
            .or_else(|_| u32::try_from(bits).map(|bits| bits as i32))
            .map_err(|_| element.wrong(name, "a number of 32 bits")),
        None => Ok(default),
    };
    let condim = bits("condim", default.condim)?;
    if ![1, 3, 4, 6].contains(&condim) {
        return Err(element.wrong("condim", "one of: 1, 3, 4, 6"));
    }
    let friction = element.array_or("friction", default.friction)?;
    if friction.iter().any(|part| *part < 0.0) {
        return Err(element.wrong("friction", "numbers that are not negative"));
    }
    Ok(ContactTerms {
        contype: bits("contype", default.contype)?,
        conaffinity: bits("conaffinity", default.conaffinity)?,
        condim,
        priority: bits("priority", default.priority)?,
        friction,
        solmix: element.number("solmix")?.unwrap_or(default.solmix),
        solref: element.array_or("solref", default.solref)?,
        solimp: element.array_or("solimp", default.solimp)?,
        margin: element.number("margin")?.unwrap_or(default.margin),
        gap: element.number("gap")?.unwrap_or(default.gap),
    })
}

/// Collision bits of a geom.
pub(super) fn groups(terms: &ContactTerms) -> Groups {
    Groups { category: terms.contype as u32, mask: terms.conaffinity as u32 }
}

/// The surface of a geom.
pub(super) fn surface(build: &Build, terms: &ContactTerms) -> Surface {
    let [friction, spin, roll] = terms.friction;
    let reference = soft_law::reference(build, terms.solref);
    let law = SoftLaw { reference, impedance: terms.solimp };
    let soft = SoftSurface {
        law,
        mix: terms.solmix,
        cone: build.flags.cone,
        even_default: build.options.soft_defaults,
    };
    Surface {
        spin,
        roll,
        resistance: resistance(terms.condim),
        priority: terms.priority,
        soft: build.options.soft_contact.then_some(soft),
        ..Surface::with_friction(friction)
    }
}

/// Motions that a contact of `condim` resists.
pub(super) fn resistance(condim: i32) -> Resistance {
    match condim {
        1 => Resistance::Nothing,
        4 => Resistance::Spinning,
        6 => Resistance::Rolling,
        _ => Resistance::Sliding,
    }
}
