//! Joints: the relative motion of a body and its parent.
//!
//! One file per kind, each an implementation of the trait `JointModel`; [`JOINTS`] lists them. To add
//! a kind: write `joint/<name>.rs`, a variant of [`JointKind`] with its arm in `dispatch!`, and one
//! line in [`JOINTS`]. Joints of one body act in order: each moves the body's frame, and the next acts
//! in the moved frame.

mod ball;
mod free;
mod hinge;
mod planar;
mod screw;
mod slide;
mod universal;

mod joint_model;
pub(crate) mod quaternion;

use nalgebra::{Isometry3, Vector3, Vector6};
use std::ops::Range;

use crate::soft_law::SoftLaw;
pub(crate) use joint_model::AxisFault;
use joint_model::{JointModel, JointMount};

/// Index of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JointId(pub usize);

/// The kinds of joint. Axes are in the body's frame and need not have unit length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointKind {
    /// Any rotation about the anchor. q = quaternion (w, x, y, z), v = angular velocity in the
    /// child's frame [rad/s].
    Ball,
    /// Any motion; the only joint of a body whose parent is the world. q = (x, y, z, quaternion),
    /// v = (velocity of the body's origin in the world [m/s], angular velocity in the body's frame
    /// [rad/s]).
    Free,
    /// Rotation about an axis through the anchor. q = angle [rad].
    Hinge {
        /// The axis.
        axis: Vector3<f64>,
    },
    /// JointModel in a plane. q = (translation along x, translation along normal × x [m], then the
    /// angle about the normal through the anchor [rad]).
    Planar {
        /// Normal of the plane.
        normal: Vector3<f64>,
        /// First direction of translation; its component along the normal is ignored.
        x: Vector3<f64>,
    },
    /// Rotation about an axis with a translation along it. q = angle [rad].
    Screw {
        /// The axis.
        axis: Vector3<f64>,
        /// Translation per angle [m/rad].
        pitch: f64,
    },
    /// Translation along an axis. q = distance [m].
    Slide {
        /// The axis.
        axis: Vector3<f64>,
    },
    /// Rotation about a first axis, then about a second that rotates with the first, both through the
    /// anchor. q = two angles [rad].
    Universal {
        /// The axes.
        axes: [Vector3<f64>; 2],
    },
}

/// Runs `$body` with `$joint` bound to the type that implements the kind. Only this macro lists all
/// kinds.
macro_rules! dispatch {
    ($kind:expr, $joint:ident => $body:expr) => {
        match $kind {
            JointKind::Ball => {
                let $joint = &ball::Ball;
                $body
            }
            JointKind::Free => {
                let $joint = &free::Free;
                $body
            }
            JointKind::Hinge { axis } => {
                let $joint = &hinge::Hinge { axis };
                $body
            }
            JointKind::Planar { normal, x } => {
                let $joint = &planar::Planar { normal, x };
                $body
            }
            JointKind::Screw { axis, pitch } => {
                let $joint = &screw::Screw { axis, pitch };
                $body
            }
            JointKind::Slide { axis } => {
                let $joint = &slide::Slide { axis };
                $body
            }
            JointKind::Universal { axes } => {
                let $joint = &universal::Universal { axes };
                $body
            }
        }
    };
}

/// Registry entry of a joint kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JointEntry {
    /// Name.
    pub name: &'static str,
    /// One-line description.
    pub about: &'static str,
    /// Number of coordinates.
    pub nq: usize,
    /// Number of velocities.
    pub nv: usize,
}

const fn entry<M: JointModel>() -> JointEntry {
    JointEntry { name: M::NAME, about: M::ABOUT, nq: M::NQ, nv: M::NV }
}

/// Every kind of joint, in alphabetical order.
pub static JOINTS: &[JointEntry] = &[
    entry::<ball::Ball>(),
    entry::<free::Free>(),
    entry::<hinge::Hinge>(),
    entry::<planar::Planar>(),
    entry::<screw::Screw>(),
    entry::<slide::Slide>(),
    entry::<universal::Universal>(),
];

fn entry_of<M: JointModel>(_: &M) -> JointEntry {
    entry::<M>()
}

fn quaternion_of<M: JointModel>(_: &M) -> Option<usize> {
    M::QUATERNION
}

fn may_be_limited<M: JointModel>(_: &M) -> bool {
    M::MAY_BE_LIMITED
}

impl JointKind {
    /// A planar joint whose first direction is chosen perpendicular to the normal.
    pub fn planar(normal: Vector3<f64>) -> Self {
        let x = if normal.x.abs() <= normal.y.abs() { Vector3::x() } else { Vector3::y() };
        Self::Planar { normal, x }
    }

    /// The entry of [`JOINTS`].
    pub fn entry(&self) -> JointEntry {
        dispatch!(*self, joint => entry_of(joint))
    }

    /// Number of coordinates.
    pub fn nq(&self) -> usize {
        self.entry().nq
    }

    /// Number of velocities.
    pub fn nv(&self) -> usize {
        self.entry().nv
    }

    /// Index of the quaternion among the joint's coordinates, if it has one.
    pub fn quaternion(&self) -> Option<usize> {
        dispatch!(*self, joint => quaternion_of(joint))
    }

    /// Whether this kind supports limits.
    pub fn may_be_limited(&self) -> bool {
        dispatch!(*self, joint => may_be_limited(joint))
    }

    /// The same kind with unit axes.
    pub(crate) fn normalized(&self) -> Result<Self, AxisFault> {
        dispatch!(*self, joint => joint.normalized())
    }
}

/// Range of the scalar coordinates of a joint or of the length of a tendon; for a ball joint, `upper`
/// is the largest angle of rotation and `lower` is ignored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// Lower end [rad, m].
    pub lower: f64,
    /// Upper end [rad, m].
    pub upper: f64,
    /// Distance from an end within which a limit constraint is active [rad, m].
    pub margin: f64,
}

/// A joint as the user declares it. Scalars apply to each of its velocities alike.
#[derive(Clone, Debug, PartialEq)]
pub struct JointSpec {
    /// Name, empty or different from all others.
    pub name: String,
    /// Kind with its axes.
    pub kind: JointKind,
    /// Centre of rotation [m], body frame; unused by a free joint.
    pub anchor: Vector3<f64>,
    /// Stiffness of the spring [N·m/rad, N/m].
    pub stiffness: f64,
    /// Value of each scalar coordinate at which the spring is at rest [rad, m]; springs of ball and
    /// free joints rest at the reference configuration.
    pub spring_reference: f64,
    /// Damping [N·m·s/rad, N·s/m].
    pub damping: f64,
    /// Inertia added to the diagonal of the mass matrix [kg·m², kg].
    pub armature: f64,
    /// Largest force of dry friction [N·m, N].
    pub friction_loss: f64,
    /// Softness of dry friction as in MuJoCo; `None` if it is exact.
    pub friction_softness: Option<SoftLaw>,
    /// Limits, if any.
    pub limit: Option<Limit>,
    /// Softness of the limits as in MuJoCo; `None` if they are rigid.
    pub limit_softness: Option<SoftLaw>,
    /// Value of each scalar coordinate at the reference configuration [rad, m].
    pub reference: f64,
    /// Range of the sum of all actuators' forces on the coordinate [N·m, N], for joints with one
    /// coordinate. The force of a single actuator is clamped implicitly, at the end of the step; for
    /// several actuators, the sum at the start of the step is clamped.
    pub actuator_force_range: Option<(f64, f64)>,
}

impl JointSpec {
    /// A joint of this kind at the body's origin without springs, damping, friction or limits.
    pub fn new(kind: JointKind) -> Self {
        Self {
            name: String::new(),
            kind,
            anchor: Vector3::zeros(),
            stiffness: 0.0,
            spring_reference: 0.0,
            damping: 0.0,
            armature: 0.0,
            friction_loss: 0.0,
            friction_softness: None,
            limit: None,
            limit_softness: None,
            reference: 0.0,
            actuator_force_range: None,
        }
    }
}

/// A joint of a model. Axes in `spec` have unit length.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Joint {
    /// The declaration.
    pub spec: JointSpec,
    /// The body it moves.
    pub body: usize,
    /// Its coordinates in q.
    pub q: Range<usize>,
    /// Its velocities in v.
    pub dofs: Range<usize>,
}

impl Joint {
    /// Index in q of the first number of its quaternion, if it has one.
    pub fn quaternion(&self) -> Option<usize> {
        self.spec.kind.quaternion().map(|at| self.q.start + at)
    }

    /// Moves the frame `X_WB` by the joint at its coordinates `q` and writes for each of its velocities
    /// the motion vector `S`, taken at the point `anchor`; both in the world frame.
    #[inline]
    pub(crate) fn update_frame(
        &self,
        q: &[f64],
        X_WB: &mut Isometry3<f64>,
        S: &mut [Vector6<f64>],
        anchor: &mut [Vector3<f64>],
    ) {
        let mount = JointMount { anchor: self.spec.anchor, reference: self.spec.reference };
        dispatch!(self.spec.kind, joint => joint.update_frame(&mount, q, X_WB, S, anchor));
    }

    /// Adds the joint's velocity S v to the spatial velocity `V` of the frame before the joint, and
    /// Ṡ v to `bias`.
    #[inline]
    pub(crate) fn add_velocity(
        &self,
        S: &[Vector6<f64>],
        v: &[f64],
        V: &mut Vector6<f64>,
        bias: &mut Vector6<f64>,
    ) {
        dispatch!(self.spec.kind, joint => joint.add_velocity(S, v, V, bias));
    }

    /// `out = q ⊕ dt v`; all slices are those of the joint.
    #[inline]
    pub fn integrate(&self, q: &[f64], v: &[f64], dt: f64, out: &mut [f64]) {
        dispatch!(self.spec.kind, joint => joint.integrate(q, v, dt, out));
    }

    /// `out = to ⊖ from`: the velocity that leads from one to the other in unit time.
    #[inline]
    pub fn difference(&self, from: &[f64], to: &[f64], out: &mut [f64]) {
        dispatch!(self.spec.kind, joint => joint.difference(from, to, out));
    }

    /// Writes the coordinates of the reference configuration, at which the body has its declared
    /// pose.
    pub(crate) fn reference_coordinates(&self, pose: &Isometry3<f64>, q: &mut [f64]) {
        dispatch!(self.spec.kind, joint => joint.reference_coordinates(self.spec.reference, pose, q));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_joint_is_listed_once_in_order_and_described() {
        assert!(JOINTS.is_sorted_by(|a, b| a.name < b.name));
        assert!(JOINTS.iter().all(|entry| !entry.about.is_empty()));
        let (x, y) = (Vector3::x(), Vector3::y());
        let kinds = [
            (JointKind::Ball, "ball"),
            (JointKind::Free, "free"),
            (JointKind::Hinge { axis: x }, "hinge"),
            (JointKind::planar(x), "planar"),
            (JointKind::Screw { axis: x, pitch: 0.1 }, "screw"),
            (JointKind::Slide { axis: x }, "slide"),
            (JointKind::Universal { axes: [x, y] }, "universal"),
        ];
        assert_eq!(kinds.len(), JOINTS.len());
        for (kind, name) in kinds {
            assert_eq!(kind.entry().name, name);
        }
    }
}
