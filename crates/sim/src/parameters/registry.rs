//! The list of parameters: name, shape, unit, documentation and access of each, in alphabetical order.

use super::error::{ParameterError, check_finite};
use super::{actuator, body, geom, joint};
use crate::world::World;

/// Parts of a world that have a parameter each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParameterOwner {
    /// The actuators.
    Actuator,
    /// The bodies, the world among them.
    Body,
    /// The shapes.
    Geom,
    /// The joints.
    Joint,
    /// The world as a whole.
    World,
}

impl ParameterOwner {
    /// How many there are.
    pub fn count(self, world: &World) -> usize {
        match self {
            Self::Actuator => world.model.actuators().len(),
            Self::Body => world.model.bodies().len(),
            Self::Geom => world.geoms.len(),
            Self::Joint => world.model.joints().len(),
            Self::World => 1,
        }
    }
}

/// A parameter.
pub struct ParameterEntry {
    /// Name of one value, such as `body_mass`.
    pub name: &'static str,
    /// Name of the array of all values, such as `body_masses`.
    pub array: &'static str,
    /// Whose parameter it is.
    pub owner: ParameterOwner,
    /// Shape of one value; empty for a number.
    pub shape: &'static [usize],
    /// Unit.
    pub unit: &'static str,
    /// What it is.
    pub about: &'static str,
    pub(super) get: fn(&World, usize, &mut [f64]),
    pub(super) check: fn(&World, usize, &[f64]) -> Result<(), ParameterError>,
    pub(super) set: fn(&mut World, usize, &[f64]),
}

impl ParameterEntry {
    /// The parameter of this name, or of this name of its array.
    ///
    /// # Errors
    /// If there is none.
    pub fn find(name: &str) -> Result<&'static Self, ParameterError> {
        let found = PARAMETERS.iter().find(|entry| entry.name == name || entry.array == name);
        found.ok_or_else(|| ParameterError::Unknown { found: name.to_owned() })
    }

    /// Numbers per value.
    pub fn width(&self) -> usize {
        self.shape.iter().product()
    }

    /// Length of the array of all values of a world.
    pub fn len(&self, world: &World) -> usize {
        self.owner.count(world) * self.width()
    }

    /// All values of a world, one after the other.
    pub fn values(&self, world: &World) -> Vec<f64> {
        let mut values = vec![0.0; self.len(world)];
        for (index, value) in values.chunks_exact_mut(self.width()).enumerate() {
            (self.get)(world, index, value);
        }
        values
    }

    /// Index in [`PARAMETERS`].
    pub(super) fn index(&self) -> usize {
        PARAMETERS.iter().position(|entry| entry.name == self.name).unwrap_or_default()
    }
}

impl std::fmt::Debug for ParameterEntry {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.name)
    }
}

/// Writes the entry of a parameter of one kind of owner, with the functions of the file of that owner.
macro_rules! entry {
    ($name:literal, $array:literal, $owner:ident in $file:ident, $shape:expr, $unit:literal, $about:literal, $field:expr) => {
        ParameterEntry {
            name: $name,
            array: $array,
            owner: ParameterOwner::$owner,
            shape: $shape,
            unit: $unit,
            about: $about,
            get: |world, index, out| $file::get($field, world, index, out),
            check: |world, index, value| $file::check($field, world, index, value),
            set: |world, index, value| $file::set($field, world, index, value),
        }
    };
}

/// Every parameter, in alphabetical order.
pub static PARAMETERS: &[ParameterEntry] = &[
    entry!("actuator_bias", "actuator_biases", Actuator in actuator, &[3], "N, N/m, N·s/m",
        "force without signal: b₀ + b₁ length + b₂ rate; not numbers for muscles", actuator::Field::Bias),
    entry!("actuator_force_range", "actuator_force_ranges", Actuator in actuator, &[2], "N",
        "lower and upper end of the force, before the gear; infinite without", actuator::Field::ForceRange),
    entry!("actuator_gain", "actuator_gains", Actuator in actuator, &[], "N per unit",
        "force per unit of control or activation; not a number for muscles", actuator::Field::Gain),
    entry!("body_com", "body_coms", Body in body, &[3], "m",
        "centre of mass in the frame of the body", body::Field::Com),
    entry!("body_inertia", "body_inertias", Body in body, &[3, 3], "kg·m²",
        "rotational inertia about the centre of mass, axes of the body", body::Field::Inertia),
    entry!("body_mass", "body_masses", Body in body, &[], "kg",
        "mass; the inertia stays as it is", body::Field::Mass),
    entry!("geom_dissipation", "geom_dissipation", Geom in geom, &[], "s",
        "dissipation time of a compliant surface", geom::Field::Dissipation),
    entry!("geom_friction", "geom_frictions", Geom in geom, &[], "-",
        "coefficient of friction, along the grain if there is one", geom::Field::Friction),
    entry!("geom_restitution", "geom_restitutions", Geom in geom, &[], "-",
        "coefficient of restitution, from 0 to 1", geom::Field::Restitution),
    entry!("geom_roll_friction", "geom_roll_frictions", Geom in geom, &[], "m",
        "coefficient of friction against rolling", geom::Field::RollFriction),
    entry!("geom_soft_impedance", "geom_soft_impedances", Geom in geom, &[5], "-, -, m, -, -",
        "MuJoCo's solimp of a soft surface; not numbers without", geom::Field::SoftImpedance),
    entry!("geom_soft_reference", "geom_soft_references", Geom in geom, &[2], "s, -",
        "MuJoCo's solref of a soft surface; not numbers without", geom::Field::SoftReference),
    entry!("geom_spin_friction", "geom_spin_frictions", Geom in geom, &[], "m",
        "coefficient of friction against spinning", geom::Field::SpinFriction),
    entry!("geom_stiffness", "geom_stiffness", Geom in geom, &[], "N/m",
        "stiffness of the surface; infinite if it is rigid", geom::Field::Stiffness),
    ParameterEntry {
        name: "gravity",
        array: "gravity",
        owner: ParameterOwner::World,
        shape: &[3],
        unit: "m/s²",
        about: "acceleration of gravity",
        get: |world, _, out| out.copy_from_slice(world.model.gravity().as_slice()),
        check: |_, _, value| check_finite(|| "world".to_owned(), "gravity", value),
        set: |world, _, value| {
            if let [x, y, z] = *value {
                world.model.set_gravity(nalgebra::Vector3::new(x, y, z));
            }
        },
    },
    entry!("joint_armature", "joint_armature", Joint in joint, &[], "kg·m², kg",
        "inertia added to the diagonal of the mass matrix", joint::Field::Armature),
    entry!("joint_damping", "joint_damping", Joint in joint, &[], "N·m·s/rad, N·s/m",
        "damping", joint::Field::Damping),
    entry!("joint_friction_loss", "joint_friction_loss", Joint in joint, &[], "N·m, N",
        "largest force of dry friction", joint::Field::FrictionLoss),
    entry!("joint_range", "joint_ranges", Joint in joint, &[2], "rad, m",
        "lower and upper end; not numbers for a joint without limits", joint::Field::Range),
    entry!("joint_spring_reference", "joint_spring_references", Joint in joint, &[], "rad, m",
        "coordinate at which the spring is at rest", joint::Field::SpringReference),
    entry!("joint_stiffness", "joint_stiffness", Joint in joint, &[], "N·m/rad, N/m",
        "stiffness of the spring", joint::Field::Stiffness),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_is_listed_once_in_order_and_described() {
        assert!(PARAMETERS.is_sorted_by(|a, b| a.name < b.name));
        // A set of them is kept in 32 bits.
        assert!(PARAMETERS.len() <= 32);
        for entry in PARAMETERS {
            assert!(!entry.about.is_empty() && !entry.unit.is_empty(), "{}", entry.name);
            for name in [entry.name, entry.array] {
                assert_eq!(ParameterEntry::find(name).unwrap().name, entry.name);
            }
        }
    }
}
