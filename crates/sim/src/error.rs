//! Errors of worlds, settings and steps: where, what was found, what was expected.

use stiction_geom::{ColliderError, SoftSurfaceError, TetMeshError};
use stiction_mech::{ForceError, ModelError, StateError};
use stiction_solve::ProblemError;
use stiction_solve::solver::SolverError;

/// A world that cannot be.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorldError {
    /// The mechanism is wrong.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A shape or its place is wrong; shapes are counted as they were added.
    #[error(transparent)]
    Collider(#[from] ColliderError),
    /// A surface is wrong.
    #[error("shape \"{shape}\": {what} = {found}; expected {expected}")]
    Surface {
        /// Name of the shape.
        shape: String,
        /// Which number.
        what: &'static str,
        /// What it is.
        found: f64,
        /// What it should be.
        expected: &'static str,
    },
    /// An equality is wrong.
    #[error("equality \"{name}\": {what}; expected {expected}")]
    Equality {
        /// Name of the equality.
        name: String,
        /// What was found.
        what: String,
        /// What it should be.
        expected: &'static str,
    },
    /// A soft body is wrong.
    #[error("soft body \"{name}\": {what}; expected {expected}")]
    Soft {
        /// Name of the soft body.
        name: String,
        /// What was found.
        what: String,
        /// What it should be.
        expected: &'static str,
    },
    /// The mesh of a soft body is wrong.
    #[error("soft body \"{name}\": {source}")]
    Mesh {
        /// Name of the soft body.
        name: String,
        /// What is wrong with it.
        source: TetMeshError,
    },
    /// The surface of a soft body is wrong; they are counted as they were added.
    #[error(transparent)]
    SoftSurface(#[from] SoftSurfaceError),
    /// A sensor is wrong.
    #[error("sensor \"{name}\": {what}; expected {expected}")]
    Sensor {
        /// Name of the sensor.
        name: String,
        /// What was found.
        what: String,
        /// What it should be.
        expected: &'static str,
    },
    /// Something refers to a thing that is not there.
    #[error("{owner}: {what} {found} does not exist; there are {count}")]
    Unknown {
        /// Who refers.
        owner: String,
        /// To what.
        what: &'static str,
        /// Its index.
        found: usize,
        /// How many there are.
        count: usize,
    },
    /// A world does not fit where it is put.
    #[error("world \"{prefix}\": {what}; expected {expected}")]
    Compose {
        /// What its names begin with.
        prefix: String,
        /// What was found.
        what: String,
        /// What it should be.
        expected: &'static str,
    },
    /// A cable is wrong.
    #[error("cable \"{name}\": {what}; expected {expected}")]
    Cable {
        /// Name of the cable.
        name: String,
        /// What was found.
        what: String,
        /// What it should be.
        expected: &'static str,
    },
    /// A shape that cannot move sits on a body that can.
    #[error("shape \"{name}\": a {kind} has no inside to move; expected it on a fixed body")]
    Immovable {
        /// Name of the shape.
        name: String,
        /// Its kind.
        kind: &'static str,
    },
}

/// A wrong setting.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// A setting is unknown, or its value is wrong.
    #[error(transparent)]
    Setting(#[from] stiction_solve::setting::SettingError),
    /// The solver is unknown, or one of its settings is wrong.
    #[error(transparent)]
    Solver(#[from] SolverError),
}

/// A snapshot that cannot be taken up.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The bytes do not begin as those of a snapshot do.
    #[error("these bytes are no snapshot; expected those that `to_bytes` gave")]
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
    #[error("snapshot of {bytes} bytes is truncated or damaged; expected all that `to_bytes` gave")]
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
    /// Its state is none of this model.
    #[error("snapshot: {0}")]
    State(#[from] StateError),
}

/// A checkpoint that cannot be continued from.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The bytes do not begin as those of a checkpoint do.
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
    /// Its snapshot cannot be taken up.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
}

/// A step that did not happen. The state is as it was before.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// The state given is no state of this model.
    #[error("step at t = {time} s: {source}")]
    State {
        /// Time of the state [s].
        time: f64,
        /// What is wrong with it.
        source: StateError,
    },
    /// An input is not finite or has the wrong length.
    #[error("step at t = {time} s: {source}")]
    Force {
        /// Time of the state [s].
        time: f64,
        /// What is wrong with it.
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
         definite; expected a deformation that its material can be in"
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
    /// The contact problem could not be posed.
    #[error("step at t = {time} s: {source}")]
    Problem {
        /// Time of the state [s].
        time: f64,
        /// What is wrong with it.
        source: ProblemError,
    },
    /// The solver does not know the friction model asked for.
    #[error(transparent)]
    Solver(#[from] SolverError),
}
