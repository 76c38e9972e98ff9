//! Errors in mass properties, models and states, reported where user input is checked.

use crate::body::BodyId;
use crate::joint::JointId;
use thiserror::Error;

/// Why mass properties are not physical.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum InertiaError {
    /// The mass is not a positive number.
    #[error("mass = {found} kg; expected a finite number > 0")]
    Mass {
        /// The mass [kg].
        found: f64,
    },
    /// The centre of mass is not finite.
    #[error("centre of mass = {found:?} m; expected finite numbers")]
    CentreOfMass {
        /// The coordinates [m].
        found: [f64; 3],
    },
    /// An entry of the rotational inertia is not finite.
    #[error("inertia[{row}][{column}] = {found} kg·m²; expected a finite number")]
    NotFinite {
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        column: usize,
        /// The entry.
        found: f64,
    },
    /// The rotational inertia is not symmetric.
    #[error(
        "inertia[{row}][{column}] = {found} kg·m² but its transposed entry = {mirror}; expected a \
         symmetric matrix"
    )]
    NotSymmetric {
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        column: usize,
        /// The entry.
        found: f64,
        /// The transposed entry.
        mirror: f64,
    },
    /// A principal moment is not positive.
    #[error("principal moments of inertia = {moments:?} kg·m²; expected all > 0")]
    NotPositiveDefinite {
        /// The principal moments, ascending [kg·m²].
        moments: [f64; 3],
    },
    /// The largest principal moment exceeds the sum of the others, which is impossible for any
    /// distribution of mass (triangle inequality).
    #[error(
        "principal moments of inertia = {moments:?} kg·m²; expected the largest to be no more than \
         the sum of the others, as for every distribution of mass"
    )]
    Triangle {
        /// The principal moments, ascending [kg·m²].
        moments: [f64; 3],
    },
}

/// Why a model could not be built. Ids are those that the builder returned.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ModelError {
    /// The parent of a body was not declared before it.
    #[error(
        "the parent of body {body} '{name}' is body {found}; expected a body declared before it, \
         or the world (0)"
    )]
    UnknownParent {
        /// The body.
        body: usize,
        /// Its name.
        name: String,
        /// The requested parent.
        found: usize,
    },
    /// A joint moves a body that does not exist.
    #[error("joint {joint} '{name}' moves body {found}; expected one of 1 to {last}")]
    UnknownBody {
        /// The joint.
        joint: usize,
        /// Its name.
        name: String,
        /// The requested body.
        found: usize,
        /// The last declared body.
        last: usize,
    },
    /// Two bodies, two joints or two soft bodies share a name.
    #[error("{what} {first} and {second} are both named '{name}'; expected different names")]
    DuplicateName {
        /// "body", "joint" or "soft body".
        what: &'static str,
        /// The name.
        name: String,
        /// The first of them.
        first: usize,
        /// The second of them.
        second: usize,
    },
    /// A tree has more degrees of freedom than its mass matrix has room for.
    #[error(
        "the mechanism on joint '{joint}' has {dofs} degrees of freedom; expected mass matrices of at \
         most {most} entries in all"
    )]
    TooLarge {
        /// The first joint of the tree.
        joint: String,
        /// Its degrees of freedom.
        dofs: usize,
        /// Most entries of all mass matrices.
        most: usize,
    },
    /// A number of a body or a joint is infinite or not a number.
    #[error("{field} of {what} {index} '{name}' = {found}; expected a finite number")]
    NotFinite {
        /// "body", "joint" or "model".
        what: &'static str,
        /// Its index.
        index: usize,
        /// Its name.
        name: String,
        /// The quantity.
        field: &'static str,
        /// The number.
        found: f64,
    },
    /// A quantity of a joint is negative that must not be.
    #[error("{field} of joint {joint} '{name}' = {found}; expected a number ≥ 0")]
    Negative {
        /// The joint.
        joint: usize,
        /// Its name.
        name: String,
        /// The quantity.
        field: &'static str,
        /// The number.
        found: f64,
    },
    /// An axis has zero or non-finite length.
    #[error("axis of joint {joint} '{name}' = {found:?}; expected a vector of non-zero length")]
    Axis {
        /// The joint.
        joint: usize,
        /// Its name.
        name: String,
        /// The axis.
        found: [f64; 3],
    },
    /// Two axes of a joint that must differ are parallel.
    #[error("axes of joint {joint} '{name}' = {found:?}; expected two that are not parallel")]
    ParallelAxes {
        /// The joint.
        joint: usize,
        /// Its name.
        name: String,
        /// The axes.
        found: [[f64; 3]; 2],
    },
    /// The lower limit of a joint exceeds the upper limit.
    #[error("limits of joint {joint} '{name}' = {lower} … {upper}; expected lower ≤ upper")]
    Limit {
        /// The joint.
        joint: usize,
        /// Its name.
        name: String,
        /// The lower limit.
        lower: f64,
        /// The upper limit.
        upper: f64,
    },
    /// A joint of this kind cannot have limits.
    #[error("joint {joint} '{name}' is {kind} and has a limit; expected none for this kind")]
    LimitOfKind {
        /// The joint.
        joint: usize,
        /// Its name.
        name: String,
        /// The kind.
        kind: &'static str,
    },
    /// The lower end of a joint's actuator force range exceeds the upper end.
    #[error(
        "actuator force range of joint {joint} '{name}' = {lower} … {upper}; expected \
         lower ≤ upper"
    )]
    ForceRange {
        /// The joint.
        joint: usize,
        /// Its name.
        name: String,
        /// The lower end.
        lower: f64,
        /// The upper end.
        upper: f64,
    },
    /// A joint of this kind has several coordinates and cannot have an actuator force range.
    #[error(
        "joint {joint} '{name}' is {kind} and has an actuator force range; expected a joint with \
         one coordinate"
    )]
    ForceRangeOfKind {
        /// The joint.
        joint: usize,
        /// Its name.
        name: String,
        /// The kind.
        kind: &'static str,
    },
    /// The body of a free joint is not a child of the world or has other joints.
    #[error(
        "joint {joint} '{name}' is a free joint of body {body}; expected a body whose parent is the \
         world and which has no other joint"
    )]
    Free {
        /// The joint.
        joint: usize,
        /// Its name.
        name: String,
        /// The body.
        body: usize,
    },
    /// A driven body is not a child of the world, or it or a descendant has joints.
    #[error(
        "body {body} '{name}' is driven or a descendant of a driven body, and {what}; expected a \
         driven body whose parent is the world, without joints on it or on its descendants"
    )]
    Driven {
        /// The body.
        body: usize,
        /// Its name.
        name: String,
        /// The violated condition.
        what: &'static str,
    },
    /// A moving body and its descendants have no mass.
    #[error(
        "body {body} '{name}' has joints but neither it nor its descendants have mass; expected \
         mass properties, or armature on each of its joints"
    )]
    Massless {
        /// The body.
        body: usize,
        /// Its name.
        name: String,
    },
    /// A coordinate of a joint of a leaf body has no inertia, for example a hinge through a point
    /// mass.
    #[error(
        "coordinate {coordinate} of joint {joint} '{name}' has no inertia; expected mass away from \
         its axis, rotational inertia about it, or armature"
    )]
    NoInertia {
        /// The joint.
        joint: usize,
        /// Its name.
        name: String,
        /// Index of the coordinate in the joint.
        coordinate: usize,
    },
    /// An actuator, a tendon or a drag is invalid.
    #[error(transparent)]
    Force(#[from] crate::force::ForceError),
    /// A rod is invalid.
    #[error("rod {rod} '{name}': {source}")]
    Rod {
        /// The rod.
        rod: usize,
        /// Its name.
        name: String,
        /// The fault.
        source: crate::rod::RodError,
    },
    /// A soft body is invalid.
    #[error(transparent)]
    Soft(#[from] crate::soft::SoftError),
}

/// Why a state does not fit a model.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum StateError {
    /// An array has the wrong length.
    #[error("{what} has {found} entries; expected {expected}")]
    Length {
        /// "q", "v", "activation", "x" or "x_dot".
        what: &'static str,
        /// Its length.
        found: usize,
        /// The required length.
        expected: usize,
    },
    /// A number is infinite or not a number.
    #[error("{what}[{index}] = {found}, of joint '{joint}'; expected a finite number")]
    NotFinite {
        /// "time", "q" or "v".
        what: &'static str,
        /// Index in the array.
        index: usize,
        /// The joint whose coordinate it is; empty for the time.
        joint: String,
        /// The number.
        found: f64,
    },
    /// An activation is infinite or not a number.
    #[error("activation[{index}] = {found}; expected a finite number")]
    ActivationNotFinite {
        /// Index in the array.
        index: usize,
        /// The number.
        found: f64,
    },
    /// A coordinate of a vertex is infinite or not a number.
    #[error(
        "{what}[{index}] = {found:?}, vertex {vertex} of soft body '{soft}'; expected finite numbers"
    )]
    VertexNotFinite {
        /// "x" or "x_dot".
        what: &'static str,
        /// Index in the array.
        index: usize,
        /// The soft body.
        soft: String,
        /// Index of the vertex in the soft body.
        vertex: usize,
        /// The numbers.
        found: [f64; 3],
    },
    /// The length of a quaternion is far from one.
    #[error("q[{index}..] of joint '{joint}' is a quaternion of length {found}; expected 1")]
    Quaternion {
        /// Index of the quaternion's first entry.
        index: usize,
        /// The joint.
        joint: String,
        /// Its length.
        found: f64,
    },
}

/// The mass matrix of a tree cannot be factored.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error(
    "the mass matrix of tree {tree} is not positive definite; expected inertia along every \
     combination of joint velocities, and a finite state"
)]
pub struct NotPositiveDefinite {
    /// The tree, as in [`Model::trees`](crate::Model::trees).
    pub tree: usize,
}

pub(crate) fn body_error(id: BodyId, name: &str, field: &'static str, found: f64) -> ModelError {
    ModelError::NotFinite { what: "body", index: id.0, name: name.into(), field, found }
}

pub(crate) fn joint_error(id: JointId, name: &str, field: &'static str, found: f64) -> ModelError {
    ModelError::NotFinite { what: "joint", index: id.0, name: name.into(), field, found }
}
