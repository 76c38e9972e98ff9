//! `<option><flag/>`: what a file switches off, known before anything else is read.
//!
//! Features that are switched off are left out of the world. Switches between algorithms of MuJoCo
//! have no meaning here; [`super::option`] notes them.

use stiction_sim::ConeScaling;

use crate::error::SceneError;
use crate::xml::Element;

/// Active features.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Flags {
    pub equality: bool,
    pub friction_loss: bool,
    pub limit: bool,
    pub contact: bool,
    /// Springs of joints and tendons.
    pub spring: bool,
    /// Damping of joints and tendons.
    pub damper: bool,
    pub gravity: bool,
    /// Whether controls are clamped to their ranges.
    pub clamp_control: bool,
    pub actuation: bool,
    /// Whether the time constants of `solref` are at least two steps: `refsafe`.
    pub safe_reference: bool,
    /// Whether a body passes through the body that carries it.
    pub filter_parent: bool,
    /// The cone by which the softness of contacts is scaled.
    pub cone: ConeScaling,
    /// Groups of actuators that exert no force.
    pub disabled_groups: Vec<i64>,
}

impl Default for Flags {
    fn default() -> Self {
        Self {
            equality: true,
            friction_loss: true,
            limit: true,
            contact: true,
            spring: true,
            damper: true,
            gravity: true,
            clamp_control: true,
            actuation: true,
            safe_reference: true,
            filter_parent: true,
            cone: ConeScaling::default(),
            disabled_groups: Vec::new(),
        }
    }
}

/// Whether a switch is on, if it is set.
pub(super) fn switch(flag: &Element, name: &str) -> Result<Option<bool>, SceneError> {
    flag.choice(name, &[("enable", true), ("disable", false)])
}

impl Flags {
    /// The switches of all `<option>` of a file; later ones override earlier ones.
    pub fn of(root: &Element) -> Result<Self, SceneError> {
        let mut flags = Self::default();
        for option in root.all("option") {
            if let Some(groups) = option.numbers("actuatorgroupdisable")? {
                if groups.iter().any(|group| group.fract() != 0.0) {
                    return Err(option.wrong("actuatorgroupdisable", "whole numbers"));
                }
                flags.disabled_groups = groups.into_iter().map(|group| group as i64).collect();
            }
            let cones = [("pyramidal", true), ("elliptic", false)];
            if let Some(pyramidal) = option.choice("cone", &cones)? {
                flags.cone.pyramidal = pyramidal;
            }
            if let Some(ratio) = option.number("impratio")? {
                flags.cone.impedance_ratio = ratio;
            }
            for flag in option.all("flag") {
                flags.apply(flag)?;
            }
        }
        Ok(flags)
    }

    fn apply(&mut self, flag: &Element) -> Result<(), SceneError> {
        let mut all = true;
        for (name, state) in [
            ("equality", &mut self.equality),
            ("frictionloss", &mut self.friction_loss),
            ("limit", &mut self.limit),
            ("contact", &mut self.contact),
            ("spring", &mut self.spring),
            ("damper", &mut self.damper),
            ("gravity", &mut self.gravity),
            ("clampctrl", &mut self.clamp_control),
            ("actuation", &mut self.actuation),
            ("refsafe", &mut self.safe_reference),
            ("filterparent", &mut self.filter_parent),
            ("constraint", &mut all),
        ] {
            *state = switch(flag, name)?.unwrap_or(*state);
        }
        // Files of older versions have one switch for both.
        if let Some(on) = switch(flag, "passive")? {
            (self.spring, self.damper) = (on, on);
        }
        if !all {
            (self.equality, self.friction_loss, self.limit, self.contact) =
                (false, false, false, false);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn flags(text: &str) -> Result<Flags, SceneError> {
        Flags::of(&Element::parse(text, Path::new("a.xml")).unwrap())
    }

    #[test]
    fn everything_is_on_unless_it_is_switched_off() {
        assert_eq!(flags("<mujoco/>").unwrap(), Flags::default());
        let found = flags(
            "<mujoco><option actuatorgroupdisable='1 3'><flag limit='disable' spring='disable'/>\
             </option><option><flag spring='enable' gravity='disable'/></option></mujoco>",
        );
        let expected =
            Flags { limit: false, gravity: false, disabled_groups: vec![1, 3], ..Flags::default() };
        assert_eq!(found.unwrap(), expected);
    }

    #[test]
    fn without_constraints_there_is_neither_contact_nor_limit_nor_friction_nor_equality() {
        let found =
            flags("<mujoco><option><flag constraint='disable'/></option></mujoco>").unwrap();
        assert!(!found.equality && !found.friction_loss && !found.limit && !found.contact);
        assert!(found.actuation && found.spring);
    }

    #[test]
    fn a_switch_that_is_neither_on_nor_off_is_refused() {
        let message = flags("<mujoco><option>\n<flag limit='off'/></option></mujoco>");
        let message = message.unwrap_err().to_string();
        assert!(message.starts_with("a.xml:2: ") && message.contains("disable"), "{message}");
    }
}
