//! Contact problems that the project makes itself: one file each, one line each in [`CATALOGUE`].
//!
//! Each is one step of a small scene with masses, inertias, gravity and gaps of real things:
//! b = M (v + δt g), e = gap / δt. A [`Variation`] turns an entry into a family; the same
//! variation gives the same bits on every machine. Loaded problems are varied by
//! [`random_variation`].

mod arch;
mod assembly;
mod bolt_nut;
mod box_slide;
mod box_wall;
mod chain;
mod dishes;
mod elastic;
mod fem_block;
mod gripped_block;
mod linkage;
mod quadrupeds;
mod rod;
mod soft_mat;
mod soft_plate;
mod sphere_pile;
mod stack;
#[cfg(test)]
mod tests;
mod variation;

pub use elastic::ElasticGrid;
pub use variation::{Spread, random_variation};

use crate::error::ProblemError;
use crate::problem::Problem;

/// What can differ between problems of one name.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Variation {
    /// Decides everything random: velocities, masses, jitter, wrenches.
    pub seed: u64,
    /// Friction μ of every contact [-]; `None` for the entry's own.
    pub friction: Option<f64>,
    /// Mass of the heaviest piece over that of the lightest [-]; `None` for the entry's own.
    /// Takes no part in problems of a single piece.
    pub mass_ratio: Option<f64>,
    /// Standard deviation of a random force on each piece [N]; the torque has it at the radius of
    /// gyration.
    pub wrench: f64,
    /// Number of pieces, or what the entry counts instead; 0 for the entry's own.
    pub size: usize,
}

/// One line of [`CATALOGUE`].
pub struct Entry {
    /// Name on the command line.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// What [`Variation::size`] counts.
    pub size: &'static str,
    /// Builds one of the family.
    pub build: fn(&Variation) -> Result<Problem, ProblemError>,
}

/// Every problem of the house, in alphabetical order.
pub static CATALOGUE: &[Entry] = &[
    Entry {
        name: "arch",
        about: "a masonry arch that stands by friction alone",
        size: "blocks",
        build: arch::build,
    },
    Entry {
        name: "bolt-nut",
        about: "one nut on its thread: many contacts on six degrees of freedom",
        size: "contacts",
        build: bolt_nut::build,
    },
    Entry {
        name: "box-slide",
        about: "a cube that slides on the ground; has a closed form",
        size: "always one",
        build: box_slide::build,
    },
    Entry {
        name: "box-wall",
        about: "a wall of bricks in running bond, shaken",
        size: "bricks in a row and rows",
        build: box_wall::build,
    },
    Entry {
        name: "chain",
        about: "links with ball joints, limits, springs and contacts: four laws at once",
        size: "links",
        build: chain::build,
    },
    Entry {
        name: "dishes",
        about: "nested dishes that touch along two rings, one of them steep",
        size: "dishes",
        build: dishes::build,
    },
    Entry {
        name: "fem-block",
        about: "an elastic block of linear tetrahedra that lands and slides",
        size: "cells along an edge",
        build: fem_block::build,
    },
    Entry {
        name: "gripped-block",
        about: "an elastic block between the fingers of an articulated gripper, held by its faces",
        size: "cells along an edge",
        build: gripped_block::build,
    },
    Entry {
        name: "quadrupeds",
        about: "four-legged robots that land shoulder to shoulder",
        size: "robots",
        build: quadrupeds::build,
    },
    Entry {
        name: "rod",
        about: "a slender rod of elastic joints that drops on the ground and slides",
        size: "segments",
        build: rod::build,
    },
    Entry {
        name: "soft-mat",
        about: "an elastic mat that settles on the ground",
        size: "cells along an edge",
        build: soft_mat::build,
    },
    Entry {
        name: "soft-plate",
        about: "a rigid plate on an elastic block on the ground",
        size: "cells along an edge",
        build: soft_plate::build,
    },
    Entry {
        name: "sphere-pile",
        about: "a square pyramid of spheres, shaken",
        size: "spheres",
        build: sphere_pile::build,
    },
    Entry { name: "stack", about: "a heavy box on light ones", size: "boxes", build: stack::build },
];

/// The entry of a name.
pub fn find(name: &str) -> Option<&'static Entry> {
    CATALOGUE.iter().find(|entry| entry.name == name)
}
