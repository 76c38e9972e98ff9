//! Bodies: their declaration by the user and their form in the model.

use crate::inertia::MassProperties;
use nalgebra::Isometry3;
use std::ops::Range;

/// Index of a body. Zero is the world, which does not move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BodyId(pub usize);

impl BodyId {
    /// The world.
    pub const WORLD: Self = Self(0);
}

/// A body as the user declares it. Without joints it is welded to its parent.
#[derive(Clone, Debug, PartialEq)]
pub struct BodySpec {
    /// Name, empty or different from all others.
    pub name: String,
    /// The parent body.
    pub parent: BodyId,
    /// Pose in the parent's frame at the reference configuration.
    pub pose: Isometry3<f64>,
    /// Mass properties; `None` for a frame without mass.
    pub mass: Option<MassProperties>,
    /// Fraction of the body's weight that is cancelled [-]: 0 for none, 1 for all of it.
    pub gravity_compensation: f64,
    /// Whether its pose is an input ([`Input::driven_pose`](crate::Input::driven_pose)). The parent
    /// of such a body is the world, and neither it nor its descendants have joints.
    pub driven: bool,
}

impl Default for BodySpec {
    fn default() -> Self {
        Self {
            name: String::new(),
            parent: BodyId::WORLD,
            pose: Isometry3::identity(),
            mass: None,
            gravity_compensation: 0.0,
            driven: false,
        }
    }
}

/// A body of a model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Body {
    /// The declaration, with the parent in the model's numbering.
    pub spec: BodySpec,
    /// Its joints, in the order in which they act.
    pub joints: Range<usize>,
    /// The moving body to which it is welded: itself if it has joints, `None` if it is fixed to the
    /// world.
    pub link: Option<usize>,
    /// The tree it belongs to, `None` if it is fixed to the world.
    pub tree: Option<usize>,
    /// The driven body to which it is welded: itself if it is driven, `None` if there is none.
    pub driver: Option<usize>,
    /// Pose in the frame of its link or driver, or of the world if it has neither. Identity for a
    /// link and for a driven body.
    pub pose_in_link: Isometry3<f64>,
}
