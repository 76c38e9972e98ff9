//! `<option>`: time step, gravity and fields of the world.
//!
//! Most of the section chooses how MuJoCo computes: integrator, solver and its iterations. These do not
//! concern the world and are ignored with one note; a simulation has its own settings. The cone and
//! `impratio` scale the softness of contacts ([`super::flag`]).

use nalgebra::Vector3;
use stiction_sim::Scheme;

use super::build::Build;
use super::flag::switch;
use crate::error::SceneError;
use crate::xml::Element;

/// The magnetic field of MuJoCo, world axes [T].
pub(super) const MAGNETIC: Vector3<f64> = Vector3::new(0.0, -0.5, 0.0);

/// Numbers that steer algorithms of MuJoCo.
const NUMERICAL: [&str; 14] = [
    "apirate",
    "ccd_iterations",
    "ccd_tolerance",
    "iterations",
    "ls_iterations",
    "ls_tolerance",
    "mpr_iterations",
    "mpr_tolerance",
    "noslip_iterations",
    "noslip_tolerance",
    "sdf_initpoints",
    "sdf_iterations",
    "sleep_tolerance",
    "tolerance",
];

/// Words that choose algorithms of MuJoCo.
const CHOICES: [(&str, &[&str]); 2] =
    [("jacobian", &["auto", "dense", "sparse"]), ("solver", &["PGS", "CG", "Newton"])];

/// Integrators of MuJoCo, and the schemes that do the same; `discrete` has none.
const INTEGRATORS: [(&str, Option<Scheme>); 5] = [
    ("Euler", Some(Scheme::Euler)),
    ("RK4", Some(Scheme::Rk4)),
    ("implicit", Some(Scheme::ImplicitFull)),
    ("implicitfast", Some(Scheme::ImplicitFast)),
    ("discrete", None),
];

/// Switches of algorithms, or of what MuJoCo reports.
const SWITCHES: [&str; 17] = [
    "autoreset",
    "diagexact",
    "energy",
    "eulerdamp",
    "fwdinv",
    "invdiscrete",
    "ipc",
    "island",
    "midphase",
    "mpr",
    "multiccd",
    "nativeccd",
    "sensor",
    "sensornoise",
    "sleep",
    "speculative",
    "warmstart",
];

/// Reads a section.
pub(super) fn read(build: &mut Build, section: &Element) -> Result<(), SceneError> {
    if let Some(step) = section.number("timestep")? {
        if !(step > 0.0) {
            return Err(section.wrong("timestep", "a positive number of seconds"));
        }
        build.settings.time_step = step;
    }
    if let Some(gravity) = section.vector("gravity")? {
        build.world.mechanism.gravity(gravity);
    }
    if !build.flags.gravity {
        build.world.mechanism.gravity(Vector3::zeros());
    }
    if let Some(field) = section.vector("magnetic")? {
        build.magnetic = field;
    }
    build.medium.merge(section)?;
    overrides(build, section)?;
    passed_over(build, section)
}

/// Values that replace those of every contact, where this is switched on.
fn overrides(build: &mut Build, section: &Element) -> Result<(), SceneError> {
    for name in ["o_friction", "o_margin", "o_solimp", "o_solref"] {
        let _ = section.numbers(name)?;
    }
    for flag in section.all("flag") {
        if switch(flag, "override")? == Some(true) {
            build.report_unsupported(
                &flag.place,
                "<flag> override: one set of parameters for all contacts",
            );
        }
    }
    if section.get("collision").is_some_and(|which| which != "all") {
        build.report_unsupported(&section.place, "<option> collision: only some of the pairs");
    }
    Ok(())
}

/// Attributes that select algorithms of MuJoCo.
fn passed_over(build: &mut Build, section: &Element) -> Result<(), SceneError> {
    for name in NUMERICAL {
        if section.number(name)?.is_some() {
            note(build, "option", name);
        }
    }
    if let Some(scheme) = section.choice("integrator", &INTEGRATORS)? {
        note(build, "option", "integrator");
        build.settings.file_scheme = scheme;
    }
    for (name, words) in CHOICES {
        let words: Vec<_> = words.iter().map(|word| (*word, ())).collect();
        if section.choice(name, &words)?.is_some() {
            note(build, "option", name);
        }
    }
    for flag in section.all("flag") {
        for name in SWITCHES {
            if switch(flag, name)?.is_some() {
                note(build, "flag", name);
            }
        }
    }
    Ok(())
}

fn note(build: &mut Build, element: &str, name: &str) {
    build.note(format!("<{element}> {name} chooses how MuJoCo computes and is passed over"));
}

#[cfg(test)]
mod tests {
    use super::super::testing::{error, model};
    use nalgebra::Vector3;
    use stiction_sim::{Combine, Scheme, Settings, TangentialLaw};

    #[test]
    fn time_step_and_gravity_are_taken_and_the_rest_is_noted() {
        let found = model(
            "<option timestep='0.003' gravity='0 1 -2' solver='CG' iterations='7'>\
             <flag warmstart='disable'/></option>",
        );
        assert_eq!(found.settings.time_step, 0.003);
        assert_eq!(found.world.model().gravity(), Vector3::new(0.0, 1.0, -2.0));
        assert_eq!(found.settings.combine, Combine::Maximum);
        assert_eq!(found.settings.tangential, TangentialLaw::Mujoco);
        assert_eq!(found.settings.scheme, Settings::default().scheme);
        assert_eq!(found.settings.file_scheme, Some(Scheme::Euler));
        assert!(found.unsupported.is_empty(), "{:?}", found.unsupported);
        for name in ["solver", "iterations", "warmstart"] {
            assert!(found.notes.iter().any(|note| note.contains(name)), "{:?}", found.notes);
        }
        let found = model("<option integrator='RK4'/>");
        assert_eq!(found.settings.file_scheme, Some(Scheme::Rk4));
    }

    #[test]
    fn gravity_that_is_switched_off_is_none() {
        let found = model("<option gravity='0 1 -2'><flag gravity='disable'/></option>");
        assert_eq!(found.world.model().gravity(), Vector3::zeros());
    }

    #[test]
    fn unsupported_options_that_change_the_motion_are_listed() {
        for inner in ["collision='predefined'", "><flag override='enable'/"] {
            let found = model(&format!("<option {inner}></option>"));
            assert!(found.unsupported.iter().any(|entry| entry.physical), "{inner}");
        }
        assert!(error("<option timestep='0'/>").contains("positive"));
        assert!(error("<option solver='magic'/>").contains("Newton"));
    }
}
