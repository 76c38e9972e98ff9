//! Worlds of bodies that touch, and the step that moves them.

#![forbid(unsafe_code)]
#![allow(non_snake_case)] // matrices keep the capitals of the papers
#![allow(clippy::neg_cmp_op_on_partial_ord)] // NaN must fail a test, not pass it
#![allow(clippy::needless_range_loop)] // loops over matrix indices read as the formulas do
#![allow(rustdoc::broken_intra_doc_links)] // units and citations stand in brackets
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod bytes;
mod cable;
mod checkpoint;
mod compliance;
mod compose;
pub mod constraint;
mod constraint_work;
mod contact_model;
mod contact_patch;
mod contact_point;
mod contacts;
mod divided_step;
mod driven;
mod energy_account;
mod energy_audit;
mod energy_balance;
mod energy_drift;
mod error;
mod forward;
mod free_motion;
mod hash;
mod history;
mod momentum_audit;
pub mod parameters;
mod position_correction;
mod problem_assembly;
pub mod record;
mod report;
mod rows;
mod samples;
mod scheme;
pub mod sensor;
mod settings;
mod simulation;
mod sleep;
mod snapshot;
mod soft;
mod soft_audit;
mod soft_surface;
mod solve_policy;
mod start_errors;
mod statistics;
mod status;
mod step;
pub mod surface;
mod warm_start;
mod world;
mod world_energy;

#[cfg(test)]
mod mutant_tests;

pub use cable::{Cable, CableCourse, CableEnd, CableId, CableSpec};
pub use checkpoint::{Checkpoint, fingerprint};
pub use compliance::Compliance;
pub use compose::{Base, InsertedWorld};
pub use contact_model::ContactModel;
pub use contact_patch::ContactPatch;
pub use contact_point::ContactPoint;
pub use energy_balance::EnergyBalance;
pub use error::{CheckpointError, SettingsError, SnapshotError, StepError, WorldError};
pub use forward::Forward;
pub use hash::state_hash;
pub use parameters::{PARAMETERS, ParameterEntry, ParameterError, ParameterOwner};
pub use report::{PHASES, Phase, Phases, StepReport};
pub use scheme::{SCHEMES, Scheme, SchemeEntry};
pub use sensor::{
    ContactFields, ContactQuery, ContactReduction, ContactSide, RayReadings, SENSORS, Scenery,
    SensedShapes, SensorFrame, SensorKind, SensorSpec, Separation, SeparationReading, TouchVolume,
};
pub use settings::{SETTING_ALIASES, SOLVER_PREFIX, Settings, Sleep, Stabilisation};
pub use simulation::Simulation;
pub use snapshot::Snapshot;
pub use soft::SoftObject;
pub use soft_surface::{ConeScaling, SoftPairing, SoftSurface, TangentialLaw};
pub use start_errors::{StartErrors, StartLaw};
pub use statistics::{StepStatistics, Tally};
pub use status::{STEP_STATUSES, StepFlags, StepStatus};
pub use surface::{Combine, Grain, GrainOf, Pairing, Resistance, Surface};
pub use world::{Geom, World, WorldBuilder};
