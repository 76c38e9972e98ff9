//! Tendons: scalar lengths that couple several coordinates, with springs, friction and limits.
//!
//! A [`TendonSpec`] is checked and compiled once into a [`Tendon`], which knows the coordinates its
//! length can depend on. [`Tendon::measure`] gives the length and its gradient from a state: the
//! tension f acts on the coordinates as f times the gradient. Straight parts cost the depth of
//! their ends below the last body that carries both. Nothing is allocated.

pub(crate) mod compile;
mod measure;
mod path;
pub mod wrap;

pub use path::{TendonPath, TendonSite, Waypoint, WrapShape, WrapSurface};

use crate::joint::Limit;
use crate::spring::DeadBand;

/// Which tendon of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TendonId(pub usize);

/// Length at which the spring of a tendon carries no force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TendonRest {
    /// The length at the reference configuration of the model.
    Reference,
    /// One length [m or rad].
    Length(f64),
    /// Every length of an interval [m or rad].
    Band(DeadBand),
}

/// A tendon as its author describes it. Units are those of its length: [m] for a string, those of
/// coefficient times coordinate for a sum of joints.
#[derive(Clone, Debug, PartialEq)]
pub struct TendonSpec {
    /// Name, for messages and look-up.
    pub name: String,
    /// What its length is.
    pub path: TendonPath,
    /// Stiffness [N/m].
    pub stiffness: f64,
    /// Damping [N·s/m].
    pub damping: f64,
    /// Where the spring is at rest.
    pub rest: TendonRest,
    /// Largest force of dry friction along the tendon [N].
    pub friction_loss: f64,
    /// Range of its length, with the distance from which it is watched.
    pub limit: Option<Limit>,
}

impl TendonSpec {
    /// A tendon without spring, damping, friction or limit.
    pub fn new(name: impl Into<String>, path: TendonPath) -> Self {
        Self {
            name: name.into(),
            path,
            stiffness: 0.0,
            damping: 0.0,
            rest: TendonRest::Reference,
            friction_loss: 0.0,
            limit: None,
        }
    }
}

/// A tendon of a model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Tendon {
    /// What was declared, with bodies and joints in the model's numbering.
    pub spec: TendonSpec,
    /// Length at the reference configuration [m or rad].
    pub reference_length: f64,
    /// Lengths at which its spring is slack.
    pub slack: DeadBand,
    /// Velocities on which its rate can depend, ascending.
    pub dofs: Vec<usize>,
    /// For a fixed path: coordinate and velocity index with their coefficient.
    pub(crate) terms: Vec<Term>,
}

/// One coordinate of a fixed path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Term {
    pub(crate) q: usize,
    pub(crate) dof: usize,
    pub(crate) coefficient: f64,
}
