//! Generated contact problems: one file each, one line each in [`CATALOGUE`].
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
pub use variation::{VariationRanges, random_variation};

use crate::error::ProblemError;
use crate::problem::Problem;

/// Parameters of a generated problem.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Variation {
    /// Seed of all random draws: velocities, masses, jitter, wrenches.
    pub seed: u64,
    /// Friction μ of every contact [-]; `None` for the entry's own.
    pub friction: Option<f64>,
    /// Mass of the heaviest piece over that of the lightest [-]; `None` for the entry's own.
    /// Ignored in problems of a single piece.
    pub mass_ratio: Option<f64>,
    /// Standard deviation of a random force on each piece [N]; the torque has it at the radius of
    /// gyration.
    pub wrench: f64,
    /// Number of pieces, or what the entry counts instead; 0 for the entry's own.
    pub size: usize,
}

/// One line of [`CATALOGUE`].
pub struct CatalogueEntry {
    /// Name on the command line.
    pub name: &'static str,
    /// Description in one line.
    pub about: &'static str,
    /// The elements that [`Variation::size`] counts.
    pub size: &'static str,
    /// Builds the problem of a variation.
    pub build: fn(&Variation) -> Result<Problem, ProblemError>,
}

/// Every generated problem, in alphabetical order.
pub static CATALOGUE: &[CatalogueEntry] = &[
    CatalogueEntry {
        name: "arch",
        about: "a masonry arch that stands by friction alone",
        size: "blocks",
        build: arch::build,
    },
    CatalogueEntry {
        name: "bolt-nut",
        about: "one nut on its thread: many contacts on six degrees of freedom",
        size: "contacts",
        build: bolt_nut::build,
    },
    CatalogueEntry {
        name: "box-slide",
        about: "a cube that slides on the ground; has a closed form",
        size: "always one",
        build: box_slide::build,
    },
    CatalogueEntry {
        name: "box-wall",
        about: "a wall of bricks in running bond, shaken",
        size: "bricks in a row and rows",
        build: box_wall::build,
    },
    CatalogueEntry {
        name: "chain",
        about: "links with ball joints, limits, springs and contacts: four laws at once",
        size: "links",
        build: chain::build,
    },
    CatalogueEntry {
        name: "dishes",
        about: "nested dishes that touch along two rings, one of them steep",
        size: "dishes",
        build: dishes::build,
    },
    CatalogueEntry {
        name: "fem-block",
        about: "an elastic block of linear tetrahedra that lands and slides",
        size: "cells along an edge",
        build: fem_block::build,
    },
    CatalogueEntry {
        name: "gripped-block",
        about: "an elastic block between the fingers of an articulated gripper, held by its faces",
        size: "cells along an edge",
        build: gripped_block::build,
    },
    CatalogueEntry {
        name: "quadrupeds",
        about: "four-legged robots that land shoulder to shoulder",
        size: "robots",
        build: quadrupeds::build,
    },
    CatalogueEntry {
        name: "rod",
        about: "a slender rod of elastic joints that drops on the ground and slides",
        size: "segments",
        build: rod::build,
    },
    CatalogueEntry {
        name: "soft-mat",
        about: "an elastic mat that settles on the ground",
        size: "cells along an edge",
        build: soft_mat::build,
    },
    CatalogueEntry {
        name: "soft-plate",
        about: "a rigid plate on an elastic block on the ground",
        size: "cells along an edge",
        build: soft_plate::build,
    },
    CatalogueEntry {
        name: "sphere-pile",
        about: "a square pyramid of spheres, shaken",
        size: "spheres",
        build: sphere_pile::build,
    },
    CatalogueEntry {
        name: "stack",
        about: "a heavy box on light ones",
        size: "boxes",
        build: stack::build,
    },
];

/// The entry of a name.
pub fn find(name: &str) -> Option<&'static CatalogueEntry> {
    CATALOGUE.iter().find(|entry| entry.name == name)
}
