//! Rods: chains of free bodies whose neighbours are joined elastically, in stretch, shear, bend and
//! twist [Lee23, Sec. II-A and Eqs. (7)–(9)].
//!
//! A rod's *segments* are ordinary bodies, each alone on a free joint, with its axis along the z axis
//! of its frame and its origin in the middle. A [`Bond`] joins two of them, or an end of the rod to a
//! frame on any other body (a *clamp*); its potential is `½ eᵀ K e` of six strains e. Segments are
//! declared one after the other, so that the velocities of a rod are contiguous and its stiffness is
//! block tridiagonal with blocks of six.
//!
//! Per segment: `v` of the origin in the world [m/s], then `ω` in the segment's frame [rad/s], as for
//! every free joint. Cost: linear in the number of segments.

mod bond;
mod compile;
mod error;
mod stiffness;

pub use bond::Bond;
pub(crate) use compile::compile;
pub use error::RodError;
pub use stiffness::RodWorkspace;

use crate::body::BodyId;
use crate::data::Data;
use crate::model::Model;
use nalgebra::{Isometry3, Vector6};
use std::ops::Range;
use stiction_math::block;

/// A rod of a model or of a builder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RodId(pub usize);

/// The shape in which a rod is free of forces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RodRest {
    /// Straight and without twist.
    #[default]
    Straight,
    /// The reference configuration.
    AsBuilt,
}

/// What an end of a rod is joined to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum RodEnd {
    /// Nothing.
    #[default]
    Free,
    /// A frame on a body: the end wants to be at its origin, with the rod running along its z axis.
    /// The bond has the stiffness of half a segment.
    Clamped {
        /// The body.
        body: BodyId,
        /// Pose of the frame in that of the body.
        pose: Isometry3<f64>,
    },
}

/// A rod as the user declares it: a round, homogeneous, isotropic section.
#[derive(Clone, Debug, PartialEq)]
pub struct RodSpec {
    /// Name, empty or different from all others.
    pub name: String,
    /// Its segments from the first end to the second, declared one after the other, each alone on a
    /// free joint.
    pub segments: Vec<BodyId>,
    /// Length of a segment [m].
    pub segment_length: f64,
    /// Radius of the section [m].
    pub radius: f64,
    /// Young's modulus E [Pa].
    pub young: f64,
    /// Poisson's ratio ν [-].
    pub poisson: f64,
    /// Time τ [s] of Kelvin-Voigt damping: strains resist with K (e + τ ė).
    pub damping: f64,
    /// Rate α [1/s] of damping by a medium at rest: every segment feels −α M v.
    pub mass_damping: f64,
    /// The shape without forces.
    pub rest: RodRest,
    /// What its ends are joined to.
    pub ends: [RodEnd; 2],
}

impl Default for RodSpec {
    fn default() -> Self {
        Self {
            name: String::new(),
            segments: Vec::new(),
            segment_length: 0.0,
            radius: 0.0,
            young: 0.0,
            poisson: 0.0,
            damping: 0.0,
            mass_damping: 0.0,
            rest: RodRest::default(),
            ends: [RodEnd::Free; 2],
        }
    }
}

/// Shear correction k of a round section [-].
const SHEAR_CORRECTION: f64 = 5.0 / 6.0;

impl RodSpec {
    /// Area of the section [m²].
    pub fn area(&self) -> f64 {
        std::f64::consts::PI * self.radius * self.radius
    }

    /// Second moment of area of the section about a diameter [m⁴].
    pub fn second_moment(&self) -> f64 {
        0.25 * self.area() * self.radius * self.radius
    }

    /// Shear modulus G [Pa].
    pub fn shear_modulus(&self) -> f64 {
        0.5 * self.young / (1.0 + self.poisson)
    }

    /// Stiffness of a bond over `length` [m]: two shears and the stretch [N/m], two bends and the
    /// twist [N·m/rad], `K = diag(kGA, kGA, EA, EI, EI, GJ)/l`.
    pub fn stiffness_over(&self, length: f64) -> Vector6<f64> {
        let (E, G) = (self.young, self.shear_modulus());
        let (A, I) = (self.area(), self.second_moment());
        let shear = SHEAR_CORRECTION * G * A;
        Vector6::new(shear, shear, E * A, E * I, E * I, G * 2.0 * I) / length
    }
}

/// An end that is joined to a body.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct RodClamp {
    /// The body.
    pub body: BodyId,
    /// Pose of the frame in that of the body.
    pub pose: Isometry3<f64>,
    /// Whether the body never moves: the bond then is the rod's own affair.
    pub grounded: bool,
}

/// A rod of a model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rod {
    /// What was declared, with the model's bodies.
    pub spec: RodSpec,
    /// Its trees, one per segment.
    pub trees: Range<usize>,
    /// Its velocities, six per segment.
    pub dofs: Range<usize>,
    /// Its clamps.
    pub clamps: [Option<RodClamp>; 2],
    /// K of a bond between segments [N/m, N·m/rad].
    stiffness: Vector6<f64>,
    /// Mass of the lightest segment [kg].
    least_mass: f64,
    /// Strains without forces; per bond, those of the clamps first and last.
    rest: Vec<Vector6<f64>>,
    pattern: block::Pattern,
}

impl Rod {
    /// Number of segments.
    pub fn len(&self) -> usize {
        self.spec.segments.len()
    }

    /// Whether there are no segments; there is no such rod.
    pub fn is_empty(&self) -> bool {
        self.spec.segments.is_empty()
    }

    /// Where the blocks of its stiffness are: six by six, tridiagonal.
    pub fn pattern(&self) -> &block::Pattern {
        &self.pattern
    }

    /// The bond before the segment of this number, that of the second clamp at the end. `None` where
    /// an end is free. Needs the position stage of `data`.
    pub fn bond(&self, data: &Data, place: usize) -> Option<Bond> {
        let (n, arm) = (self.len(), 0.5 * self.spec.segment_length);
        let segment = |k: usize| data.body_pose[self.spec.segments[k].0];
        let frame = |end: usize| {
            let clamp = self.clamps[end]?;
            Some(data.body_pose[clamp.body.0] * clamp.pose)
        };
        // Half a segment is twice as stiff as a whole one.
        let (before, after, stiffness) = if place == 0 {
            ((frame(0)?, 0.0), (segment(0), arm), 2.0 * self.stiffness)
        } else if place == n {
            ((segment(n - 1), arm), (frame(1)?, 0.0), 2.0 * self.stiffness)
        } else {
            ((segment(place - 1), arm), (segment(place), arm), self.stiffness)
        };
        Some(Bond::new(before, after, &stiffness, &self.rest[place]))
    }

    /// Elastic energy [J], clamps on moving bodies included. Needs the position stage of `data`.
    pub fn energy(&self, data: &Data) -> f64 {
        (0..=self.len()).filter_map(|place| self.bond(data, place)).map(|bond| bond.energy()).sum()
    }
}

impl Model {
    /// The rods, in the order of their declaration.
    pub fn rods(&self) -> &[Rod] {
        &self.rods
    }

    /// The rod of this name.
    pub fn rod(&self, name: &str) -> Option<RodId> {
        let found = self.rods.iter().position(|rod| rod.spec.name == name);
        found.filter(|_| !name.is_empty()).map(RodId)
    }

    /// The rod whose segment is a tree.
    pub fn rod_of_tree(&self, tree: usize) -> Option<RodId> {
        self.rod_of_tree[tree]
    }
}
