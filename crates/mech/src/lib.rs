//! Articulated mechanisms and soft bodies: the model, its state, its dynamics and the forces on it.
//!
//! A [`Model`] is constant, a [`State`] holds coordinates and velocities, and [`Data`] holds the
//! quantities computed from both. Every algorithm is a free function in a file of its own that reads
//! the model and fills arrays of [`Data`]; `data.rs` lists the arrays with their producers. Functions
//! named `tree_…` do the same for one tree and leave the arrays of the other trees unchanged.
//!
//! The world is the root of all trees. A body without joints is welded to its parent; a body with
//! joints, together with all bodies welded to it, is a *link*. Coordinates follow MuJoCo. Soft bodies
//! ([`SoftBody`]) are tetrahedral meshes and belong to no tree.

#![forbid(unsafe_code)]
#![allow(non_snake_case)] // matrices keep the capitals of the papers
#![allow(clippy::neg_cmp_op_on_partial_ord)] // NaN must fail a test, not pass it
#![allow(clippy::needless_range_loop)] // loops over matrix indices read as the formulas do
#![allow(rustdoc::broken_intra_doc_links)] // units and citations are in brackets
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod activation;
mod actuator;
mod articulated;
mod bias;
mod body;
mod builder;
mod data;
mod delay;
mod driven;
mod energy;
mod error;
mod force;
mod fused;
mod inertia;
mod integrate;
mod inverse_dynamics;
mod inverse_kinematics;
mod inverse_weight;
mod jacobian;
mod jacobian_rate;
pub mod joint;
mod kinematics;
mod mass;
pub mod material;
mod model;
mod momentum;
mod muscle;
mod parameters;
mod pid;
pub mod rod;
mod soft;
mod soft_law;
mod spatial;
mod spring;
mod state;
pub mod tendon;
mod two_frame_transmission;
mod velocity;

pub use activation::{ActivationDynamics, ActivationSpec, ActivationStart};
pub use actuator::{
    Actuator, ActuatorBias, ActuatorGain, ActuatorId, ActuatorLaw, ActuatorSpec, JointWrench,
    Transmission,
};
pub use articulated::forward_dynamics_aba;
pub use bias::{
    bias_forces, gravity_compensation, tree_bias_forces, tree_bias_forces_at, tree_gravity_forces,
};
pub use body::{Body, BodyId, BodySpec};
pub use builder::{Declarations, ModelBuilder};
pub use data::Data;
pub use delay::{DelaySpec, SampleInterpolation};
pub use driven::set_driven_poses;
pub use energy::{
    TreeMotion, kinetic_energy, potential_energy, tree_kinetic_energy, tree_motion,
    tree_weight_energy,
};
pub use error::{InertiaError, ModelError, NotPositiveDefinite, StateError};
pub use force::{
    DragSpec, Drive, DriveKind, DriveMode, EllipsoidDrag, ForceError, ForceRow, Forces, Input,
    LimitRow, LimitSource, MechanismState, RowEntry, tendon_energy,
};
pub use inertia::MassProperties;
pub use integrate::{difference, integrate, tree_integrate};
pub use inverse_dynamics::inverse_dynamics;
pub use inverse_kinematics::{
    InverseKinematics, InverseKinematicsError, InverseKinematicsSettings, PoseError,
};
pub use inverse_weight::InverseWeights;
pub use jacobian::{apply_wrench, for_each_column, jacobian};
pub use jacobian_rate::jacobian_rate;
pub use joint::{JOINTS, Joint, JointId, JointKind, JointSpec, Limit};
pub use kinematics::{body_poses, kinematics, tree_kinematics};
pub use mass::{
    factor_mass, mass_matrix, solve_mass, tree_factor_mass, tree_mass_matrix, tree_solve_mass,
};
pub use material::{MATERIALS, Material, MaterialError};
pub use model::{Link, Model, TreeRange};
pub use momentum::{centre_of_mass, momentum};
pub use muscle::{Muscle, MuscleActivation};
pub use parameters::JointParameters;
pub use pid::{IntegralBound, PidController};
pub use rod::{Rod, RodEnd, RodError, RodId, RodRest, RodSpec, RodWorkspace};
pub use soft::{
    Lumping, SoftBody, SoftError, SoftFault, SoftId, SoftSpec, SoftWorkspace, soft_kinetic_energy,
    soft_momentum, soft_potential_energy,
};
pub use soft_law::{LawSteps, SoftLaw, SoftRow, SoftRowError};
pub use spring::{DeadBand, SpringSpec};
pub use state::State;
pub use tendon::{
    Tendon, TendonId, TendonPath, TendonRest, TendonSite, TendonSpec, Waypoint, WrapShape,
    WrapSurface,
};
pub use two_frame_transmission::{BodyFrame, SitePair, SliderCrank};
pub use velocity::{angular_velocity, point_velocity, tree_velocities, velocities};
