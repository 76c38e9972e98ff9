//! Errors of worlds, settings and steps. Messages state the location, the value found and the expected one.

use crate::parameters::ParameterError;
use stiction_geom::{ColliderError, PressureError, SoftSurfaceError, TetMeshError};
use stiction_mech::{ForceError, ModelError, StateError};
use stiction_solve::ProblemError;
use stiction_solve::solver::SolverError;

/// An invalid declaration of a world.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorldError {
    /// The mechanism is invalid.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A shape or its pose is invalid; shapes are numbered in the order in which they were added.
    #[error(transparent)]
    Collider(#[from] ColliderError),
    /// A surface parameter is invalid.
    #[error("shape \"{shape}\": {what} = {found}; expected {expected}")]
    Surface {
        /// Name of the shape.
        shape: String,
        /// The parameter.
        what: &'static str,
        /// Its value.
        found: f64,
        /// What is expected.
        expected: &'static str,
    },
    /// A compliance is invalid, or a shape cannot take part in patches.
    #[error("shape \"{shape}\": {source}")]
    Pressure {
        /// Name of the shape.
        shape: String,
        /// What is wrong.
        source: PressureError,
    },
    /// An equality is invalid.
    #[error("equality \"{name}\": {what}; expected {expected}")]
    Equality {
        /// Name of the equality.
        name: String,
        /// What was found.
        what: String,
        /// What is expected.
        expected: &'static str,
    },
    /// A soft body is invalid.
    #[error("soft body \"{name}\": {what}; expected {expected}")]
    Soft {
        /// Name of the soft body.
        name: String,
        /// What was found.
        what: String,
        /// What is expected.
        expected: &'static str,
    },
    /// The mesh of a soft body is invalid.
    #[error("soft body \"{name}\": {source}")]
    Mesh {
        /// Name of the soft body.
        name: String,
        /// The error.
        source: TetMeshError,
    },
    /// The surface of a soft body is invalid; they are numbered in the order in which they were added.
    #[error(transparent)]
    SoftSurface(#[from] SoftSurfaceError),
    /// A sensor is invalid.
    #[error("sensor \"{name}\": {what}; expected {expected}")]
    Sensor {
        /// Name of the sensor.
        name: String,
        /// What was found.
        what: String,
        /// What is expected.
        expected: &'static str,
    },
    /// A reference to something that does not exist.
    #[error("{owner}: {what} {found} does not exist; there are {count}")]
    Unknown {
        /// The item that has the reference.
        owner: String,
        /// Kind of the missing item.
        what: &'static str,
        /// Its index.
        found: usize,
        /// How many there are.
        count: usize,
    },
    /// A world cannot be inserted into another.
    #[error("world \"{prefix}\": {what}; expected {expected}")]
    Compose {
        /// Prefix of its names.
        prefix: String,
        /// What was found.
        what: String,
        /// What is expected.
        expected: &'static str,
    },
    /// A cable is invalid.
    #[error("cable \"{name}\": {what}; expected {expected}")]
    Cable {
        /// Name of the cable.
        name: String,
        /// What was found.
        what: String,
        /// What is expected.
        expected: &'static str,
    },
    /// A shape that must be fixed is on a body that moves.
    #[error(
        "shape \"{name}\": a {kind} has no volume and cannot move; expected it on a fixed body"
    )]
    Immovable {
        /// Name of the shape.
        name: String,
        /// Its kind.
        kind: &'static str,
    },
}

/// An invalid setting.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// A setting is unknown, or its value is invalid.
    #[error(transparent)]
    Setting(#[from] stiction_solve::setting::SettingError),
    /// The solver is unknown, or one of its settings is invalid.
    #[error(transparent)]
    Solver(#[from] SolverError),
    /// The scheme of the model file is asked for, and there is none.
    #[error("scheme = file; expected a model file that names its integrator, such as MJCF")]
    NoFileScheme,
    /// One setting is given under two names.
    #[error("{alias} and {name} are both given; expected one of them: they are one setting")]
    TwoNames {
        /// The other name.
        alias: &'static str,
        /// The name of the setting.
        name: &'static str,
    },
}

/// A snapshot that cannot be restored.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The bytes do not begin with the magic word of a snapshot.
    #[error("the bytes are not a snapshot; expected the result of `to_bytes`")]
    Foreign,
    /// The snapshot has another layout.
    #[error("snapshot of version {found}; expected version {expected}")]
    Version {
        /// Its version.
        found: u32,
        /// The version that is read.
        expected: u32,
    },
    /// Bytes are missing or changed.
    #[error("snapshot of {bytes} bytes is truncated or damaged; expected the result of `to_bytes`")]
    Damaged {
        /// How many bytes there are.
        bytes: usize,
    },
    /// The snapshot is of another world.
    #[error("snapshot has {found} {what}; expected {expected}, as in this world")]
    OtherWorld {
        /// What differs.
        what: &'static str,
        /// How many the snapshot has.
        found: usize,
        /// How many the world has.
        expected: usize,
    },
    /// Its state is invalid for this model.
    #[error("snapshot: {0}")]
    State(#[from] StateError),
    /// A changed parameter is unknown, or invalid for this model.
    #[error("snapshot: {0}")]
    Parameter(#[from] ParameterError),
}

/// A checkpoint from which a run cannot continue.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The bytes do not begin with the magic word of a checkpoint.
    #[error("found something else than a checkpoint; expected what `run --checkpoint` wrote")]
    Foreign,
    /// The checkpoint has another layout.
    #[error("found a checkpoint of version {found}; expected version {expected}")]
    Version {
        /// Its version.
        found: u32,
        /// The version that is read.
        expected: u32,
    },
    /// Bytes are missing or changed.
    #[error("found {bytes} bytes, truncated or damaged; expected a whole checkpoint")]
    Damaged {
        /// How many bytes there are.
        bytes: usize,
    },
    /// The checkpoint is of another model.
    #[error(
        "found a checkpoint of another model, fingerprint {found:016x}; expected {expected:016x}: the \
         model, its script or the program changed since it was written"
    )]
    OtherModel {
        /// Fingerprint of the checkpoint.
        found: u64,
        /// Fingerprint of the model.
        expected: u64,
    },
    /// Its snapshot cannot be restored.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
}

/// A step that failed. The state is unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// The state before a trial step could not be restored.
    #[error("step at t = {time} s: {source}")]
    Restore {
        /// Time of the state [s].
        time: f64,
        /// The error.
        source: SnapshotError,
    },
    /// The state is invalid for this model.
    #[error("step at t = {time} s: {source}")]
    State {
        /// Time of the state [s].
        time: f64,
        /// The error.
        source: StateError,
    },
    /// An input is not finite or has the wrong length.
    #[error("step at t = {time} s: {source}")]
    Force {
        /// Time of the state [s].
        time: f64,
        /// The error.
        source: ForceError,
    },
    /// The next state would not be finite.
    #[error(
        "step at t = {time} s: the next {what} of \"{joint}\" would be {found}; \
         expected a finite number. The time step of {time_step} s may be too large"
    )]
    NotFinite {
        /// Time of the state [s].
        time: f64,
        /// The time step [s].
        time_step: f64,
        /// Coordinate or velocity.
        what: &'static str,
        /// The joint.
        joint: String,
        /// What was found.
        found: f64,
    },
    /// The next activation of an actuator would not be finite.
    #[error(
        "step at t = {time} s: the next activation {index} would be {found}; expected a finite number. \
         The time step of {time_step} s may be too large"
    )]
    ActivationNotFinite {
        /// Time of the state [s].
        time: f64,
        /// The time step [s].
        time_step: f64,
        /// Index of the activation.
        index: usize,
        /// What was found.
        found: f64,
    },
    /// A body is so far from the origin that numbers do not resolve its shapes.
    #[error(
        "step at t = {time} s: body \"{body}\" is {distance} m from the origin, where numbers do not \
         resolve its size of {size} m; expected at most {most} m"
    )]
    TooFar {
        /// Time of the state [s].
        time: f64,
        /// The body.
        body: String,
        /// Its largest coordinate [m].
        distance: f64,
        /// Bounding radius of its shapes [m].
        size: f64,
        /// Largest coordinate at which its shapes are resolved [m].
        most: f64,
    },
    /// The next state of a soft body would not be finite.
    #[error(
        "step at t = {time} s: the next {what} of vertex {vertex} of soft body \"{soft}\" would be \
         {found}; expected a number whose square is finite. The time step of {time_step} s may be too \
         large"
    )]
    SoftNotFinite {
        /// Time of the state [s].
        time: f64,
        /// The time step [s].
        time_step: f64,
        /// Position or velocity.
        what: &'static str,
        /// The soft body.
        soft: String,
        /// Which of its vertices.
        vertex: usize,
        /// What was found.
        found: f64,
    },
    /// A soft body is so far away or so fast that energies would not be finite.
    #[error(
        "step at t = {time} s: the {what} of vertex {vertex} of soft body \"{soft}\" is {found}; \
         expected a number whose square is finite"
    )]
    SoftTooLarge {
        /// Time of the state [s].
        time: f64,
        /// Position or velocity.
        what: &'static str,
        /// The soft body.
        soft: String,
        /// Which of its vertices.
        vertex: usize,
        /// What was found.
        found: f64,
    },
    /// The matrix of a soft body has no inverse, or its forces are not finite.
    #[error(
        "step at t = {time} s: mass and stiffness of soft body \"{soft}\" are not finite and positive \
         definite; expected a deformation for which its material is defined"
    )]
    SoftSingular {
        /// Time of the state [s].
        time: f64,
        /// The soft body.
        soft: String,
    },
    /// The mass matrix of a mechanism has no inverse.
    #[error(
        "step at t = {time} s: the mass matrix of the mechanism on \"{joint}\" is singular; expected \
         every coordinate to move inertia of its own, or to have armature"
    )]
    Singular {
        /// Time of the state [s].
        time: f64,
        /// The first joint of the mechanism.
        joint: String,
    },
    /// The contact problem could not be assembled.
    #[error("step at t = {time} s: {source}")]
    Problem {
        /// Time of the state [s].
        time: f64,
        /// The error.
        source: ProblemError,
    },
    /// The solver does not support the selected friction model.
    #[error(transparent)]
    Solver(#[from] SolverError),
}
