//! Elastic rods: chains of free bodies whose neighbours are coupled elastically in stretch, shear,
//! bending and twist [Lee23, Sec. II-A and Eqs. (7)–(9)].
//!
//! A rod's *segments* are ordinary bodies, each a single body on a free joint, with its axis along the
//! z axis of its frame and its origin in the middle. A [`Bond`] is the elastic joint between two
//! segments, or between an end of the rod and a frame on any other body (a *clamp*); its potential is
//! `½ eᵀ K e` of six strains e. Segments are declared one after the other, so that the velocities of a
//! rod are contiguous and its stiffness is block tridiagonal with blocks of six.
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

/// Index of a rod of a model or of a builder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RodId(pub usize);

/// The stress-free shape of a rod.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RodRest {
    /// Straight and without twist.
    #[default]
    Straight,
    /// The reference configuration.
    AsBuilt,
}

/// Boundary condition at an end of a rod.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum RodEnd {
    /// Free.
    #[default]
    Free,
    /// Clamped elastically to a frame on a body: at rest the end is at its origin, with the rod along
    /// its z axis. The bond has the stiffness of half a segment.
    Clamped {
        /// The body.
        body: BodyId,
        /// Pose of the clamp's frame in the frame of the body.
        pose: Isometry3<f64>,
    },
}

/// A rod as the user declares it: a round, homogeneous, isotropic section.
#[derive(Clone, Debug, PartialEq)]
pub struct RodSpec {
    /// Name, empty or different from all others.
    pub name: String,
    /// Its segments from the first end to the second, declared one after the other, each a single body
    /// on a free joint.
    pub segments: Vec<BodyId>,
    /// Length of a segment [m].
    pub segment_length: f64,
    /// Radius of the section [m].
    pub radius: f64,
    /// Young's modulus E [Pa].
    pub young: f64,
    /// Poisson's ratio ν [-].
    pub poisson: f64,
    /// Damping time τ [s] of Kelvin-Voigt damping: the elastic force is K (e + τ ė).
    pub damping: f64,
    /// Rate α [1/s] of mass-proportional damping: the force −α M v acts on every segment.
    pub mass_damping: f64,
    /// The stress-free shape.
    pub rest: RodRest,
    /// Boundary conditions at its ends.
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

/// An end that is clamped to a body.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct RodClamp {
    /// The body.
    pub body: BodyId,
    /// Pose of the clamp's frame in the frame of the body.
    pub pose: Isometry3<f64>,
    /// Whether the body never moves. The stiffness of the rod then includes the bond; otherwise the
    /// bond couples the rod to another subsystem.
    pub grounded: bool,
}

/// A rod of a model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rod {
    /// The declaration, with bodies in the model's numbering.
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
    min_mass: f64,
    /// Strains at rest; per bond, those of the clamps first and last.
    rest: Vec<Vector6<f64>>,
    pattern: block::Pattern,
}

impl Rod {
    /// Number of segments.
    pub fn len(&self) -> usize {
        self.spec.segments.len()
    }

    /// Whether there are no segments, which is false for every rod of a model.
    pub fn is_empty(&self) -> bool {
        self.spec.segments.is_empty()
    }

    /// Block pattern of its stiffness: tridiagonal, blocks of six by six.
    pub fn pattern(&self) -> &block::Pattern {
        &self.pattern
    }

    /// The bond before segment `index`; `index` = number of segments is the bond of the second clamp.
    /// `None` at a free end. Needs the position stage of `data`.
    pub fn bond(&self, data: &Data, index: usize) -> Option<Bond> {
        let (n, arm) = (self.len(), 0.5 * self.spec.segment_length);
        let segment = |k: usize| data.body_pose[self.spec.segments[k].0];
        let frame = |end: usize| {
            let clamp = self.clamps[end]?;
            Some(data.body_pose[clamp.body.0] * clamp.pose)
        };
        // Half a segment is twice as stiff as a whole one.
        let (before, after, stiffness) = if index == 0 {
            ((frame(0)?, 0.0), (segment(0), arm), 2.0 * self.stiffness)
        } else if index == n {
            ((segment(n - 1), arm), (frame(1)?, 0.0), 2.0 * self.stiffness)
        } else {
            ((segment(index - 1), arm), (segment(index), arm), self.stiffness)
        };
        Some(Bond::new(before, after, &stiffness, &self.rest[index]))
    }

    /// Elastic energy [J], clamps on moving bodies included. Needs the position stage of `data`.
    pub fn energy(&self, data: &Data) -> f64 {
        self.energy_of(data, |_| true)
    }

    /// The same without clamps on moving bodies, whose forces are those of constraints.
    pub fn internal_energy(&self, data: &Data) -> f64 {
        self.energy_of(data, |index| self.is_internal(index))
    }

    fn energy_of(&self, data: &Data, is_counted: impl Fn(usize) -> bool) -> f64 {
        let bonds = (0..=self.len()).filter(|index| is_counted(*index));
        bonds.filter_map(|index| self.bond(data, index)).map(|bond| bond.energy()).sum()
    }

    /// Whether the forces of a bond are part of the rod: not those at a free end or of a clamp on a moving body.
    fn is_internal(&self, index: usize) -> bool {
        let is_grounded = |end: usize| self.clamps[end].is_some_and(|clamp| clamp.grounded);
        match index {
            0 => is_grounded(0),
            _ if index == self.len() => is_grounded(1),
            _ => true,
        }
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

    /// The rod of which a tree is a segment.
    pub fn rod_of_tree(&self, tree: usize) -> Option<RodId> {
        self.rod_of_tree[tree]
    }
}
