//! Tendons: scalar lengths that couple several coordinates, with springs, friction and limits.
//!
//! A [`TendonSpec`] is checked and compiled once into a [`Tendon`], which lists the velocities on
//! which its rate can depend. [`Tendon::measure`] computes the length and its gradient: the force f
//! along the tendon acts on the coordinates as f times the gradient. The cost of a straight segment
//! is the depth of its ends below their last common ancestor. Evaluation allocates nothing.

pub(crate) mod compile;
pub(crate) mod inertia;
mod measure;
mod path;
pub mod wrap;

pub use path::{TendonPath, TendonSite, Waypoint, WrapShape, WrapSurface};

use crate::joint::Limit;
use crate::soft_law::SoftLaw;
use crate::spring::DeadBand;

/// Index of a tendon of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TendonId(pub usize);

/// Length at which the spring of a tendon has no force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TendonRest {
    /// The length at the reference configuration of the model.
    Reference,
    /// One length [m or rad].
    Length(f64),
    /// Every length of an interval [m or rad].
    Band(DeadBand),
}

/// A tendon as the user declares it. The unit of its length is [m] for a string, and that of
/// coefficient times coordinate for a sum of joint coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct TendonSpec {
    /// Name, for messages and look-up.
    pub name: String,
    /// Path that defines its length.
    pub path: TendonPath,
    /// Stiffness [N/m].
    pub stiffness: f64,
    /// Damping [N·s/m].
    pub damping: f64,
    /// Inertia along the tendon [kg]. Tendons that wrap around surfaces cannot have it.
    pub armature: f64,
    /// Rest length of the spring.
    pub rest: TendonRest,
    /// Largest force of dry friction along the tendon [N].
    pub friction_loss: f64,
    /// Softness of dry friction as in MuJoCo; `None` if it is exact.
    pub friction_softness: Option<SoftLaw>,
    /// Range of the sum of the forces of its actuators [N].
    pub actuator_force_range: Option<(f64, f64)>,
    /// Range of its length.
    pub limit: Option<Limit>,
    /// Softness of the limit as in MuJoCo; `None` if it is rigid.
    pub limit_softness: Option<SoftLaw>,
}

impl TendonSpec {
    /// A tendon without spring, damping, friction or limit.
    pub fn new(name: impl Into<String>, path: TendonPath) -> Self {
        Self {
            name: name.into(),
            path,
            stiffness: 0.0,
            damping: 0.0,
            armature: 0.0,
            rest: TendonRest::Reference,
            friction_loss: 0.0,
            friction_softness: None,
            actuator_force_range: None,
            limit: None,
            limit_softness: None,
        }
    }
}

/// A tendon of a model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Tendon {
    /// The declaration, with bodies and joints in the model's numbering.
    pub spec: TendonSpec,
    /// Length at the reference configuration [m or rad].
    pub reference_length: f64,
    /// Range of lengths in which its spring is slack.
    pub slack: DeadBand,
    /// Velocities on which its rate can depend, ascending.
    pub dofs: Vec<usize>,
    /// For a fixed path: indices of coordinate and velocity with their coefficient.
    pub(crate) terms: Vec<Term>,
}

/// One coordinate of a fixed path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Term {
    pub(crate) q: usize,
    pub(crate) dof: usize,
    pub(crate) coefficient: f64,
}
