//! Memory of a step, stage by stage. Nothing in it changes the result of a later step.

use nalgebra::Vector3;
use stiction_geom::{Contact, Detector, FrameMotion, PatchDetector, SoftDetector};
use stiction_mech::{Data, Input, Model, State, kinematics, set_driven_poses, velocities};
use stiction_solve::{Problem, Solution};

use super::collision;
use super::relinearise::NewtonScratch;
use crate::constraint::EqualityPrediction;
use crate::contacts::flush::FlushContacts;
use crate::contacts::look_ahead::LookAhead;
use crate::contacts::predicted_motion::PredictedMotion;
use crate::driven::DrivenBodies;
use crate::energy_audit::EnergyAuditor;
use crate::error::SettingsError;
use crate::free_motion::FreeMotion;
use crate::history::StepHistory;
use crate::position_correction::PositionCorrector;
use crate::problem_assembly::ProblemAssembler;
use crate::rows::RowBuilder;
use crate::settings::Settings;
use crate::warm_start::WarmStart;
use crate::world::World;

/// Memory of a step, in the order of the stages that write it.
pub(crate) struct Scratch {
    // 1 kinematics
    /// Per tree: whether it moved since the last update of kinematics and contacts.
    pub moves: Vec<bool>,
    /// Poses, velocities and other arrays of the mechanism at the present state.
    pub data: Data,
    /// Poses and velocities of driven bodies in the step.
    pub driven: DrivenBodies,

    // 2 collision
    pub detector: Detector,
    /// Rigid contacts at the configuration of the data; those of flush shapes share one normal.
    pub contacts: Vec<Contact>,
    pub flush: FlushContacts,
    pub soft_detector: SoftDetector,
    /// Patches at the configuration of the data at the start of a step.
    pub patch_detector: PatchDetector,
    /// Whether a patch formed, vanished or turned round within the step.
    pub patches_jump: bool,
    /// Per body: whether it has not moved since the last detection.
    pub resting: Vec<bool>,
    /// Per body: motion within the step, enlarged by the reach factor.
    pub motions: Vec<FrameMotion>,
    /// Per node: distance that it can travel within the step [m].
    pub node_reach: Vec<f64>,
    /// Groups of trees to be woken.
    pub waking: Vec<u32>,

    // 3 dynamics
    /// A, b and v* of every tree, rod and soft body.
    pub free: FreeMotion,

    // 4 assembly
    pub predicted: PredictedMotion,
    pub look_ahead: LookAhead,
    pub prediction: EqualityPrediction,
    pub rows: RowBuilder,
    pub assembler: ProblemAssembler,
    pub problem: Problem,

    // 5 solve
    pub solution: Solution,
    /// Time over which the impulses of the accepted solution acted [s].
    pub solved_time: f64,
    pub newton: NewtonScratch,
    /// Per island: net work of its contacts and work without sign [J].
    pub contact_work: Vec<[f64; 2]>,

    // 6 integrate
    /// Per degree of freedom: velocity on which contact laws acted.
    pub contact_velocity: Vec<f64>,
    /// Per node: the same [m/s].
    pub node_contact_velocity: Vec<Vector3<f64>>,
    /// Velocities of a soft body without contact.
    pub soft_velocity: Vec<f64>,
    /// Per degree of freedom: velocity with which positions move.
    pub position_velocity: Vec<f64>,
    /// Per tree: whether positions move with the mean of the old and next velocity.
    pub uses_mean_velocity: Vec<bool>,
    /// Per tree: whether no constraint rows act on it.
    pub in_flight: Vec<bool>,
    /// The next state.
    pub next: State,

    // 7 missed contacts
    /// Impulses with which the step is solved again, then memory for those that are accepted.
    pub spare_warm_start: WarmStart,

    // 8 correct
    pub auditor: EnergyAuditor,
    pub corrector: PositionCorrector,
    /// Scratch of Newton's method on soft bodies: coordinates at the end of the step.
    pub corrected_q: Vec<f64>,
}

impl Scratch {
    pub fn new(
        world: &World,
        settings: &Settings,
        state: &State,
        input: &Input,
    ) -> Result<Self, SettingsError> {
        let model = &world.model;
        Ok(Self {
            moves: vec![true; model.trees().len()],
            data: Data::new(model),
            driven: DrivenBodies::new(model, input),
            detector: Detector::new(&world.colliders),
            contacts: Vec::new(),
            flush: FlushContacts::default(),
            patch_detector: PatchDetector::default(),
            patches_jump: false,
            soft_detector: SoftDetector::new(&world.colliders, &world.softs.surfaces),
            resting: vec![false; model.bodies().len()],
            motions: vec![FrameMotion::default(); model.bodies().len()],
            node_reach: vec![0.0; model.nodes()],
            waking: Vec::with_capacity(model.trees().len()),
            free: FreeMotion::new(
                model,
                settings.scheme,
                settings.time_step,
                world.sensors.read_last_step,
            ),
            predicted: PredictedMotion::new(model),
            look_ahead: LookAhead::default(),
            prediction: EqualityPrediction::new(world),
            rows: RowBuilder::default(),
            assembler: ProblemAssembler::new(model),
            problem: Problem::default(),
            solution: Solution::default(),
            solved_time: settings.time_step,
            newton: NewtonScratch::default(),
            contact_work: Vec::new(),
            contact_velocity: vec![0.0; model.nv()],
            node_contact_velocity: vec![Vector3::zeros(); model.nodes()],
            soft_velocity: Vec::new(),
            position_velocity: vec![0.0; model.nv()],
            uses_mean_velocity: Vec::with_capacity(model.trees().len()),
            in_flight: Vec::with_capacity(model.trees().len()),
            next: state.clone(),
            spare_warm_start: WarmStart::default(),
            auditor: EnergyAuditor::new(model),
            corrector: PositionCorrector::new(world)?,
            corrected_q: vec![0.0; model.nq()],
        })
    }

    /// Takes over changed parameters of a model. Poses and mass matrices are valid again after the next update of
    /// kinematics.
    pub fn update_parameters(&mut self, model: &Model) {
        self.data.update_parameters(model);
        self.free.update_parameters(model);
        self.prediction.update_parameters(model);
        self.auditor.update_parameters(model);
        self.corrector.update_parameters(model);
    }

    /// Recomputes the data of a restored state and history.
    pub fn rebuild(
        &mut self,
        world: &World,
        state: &State,
        history: &mut StepHistory,
        settings: &Settings,
    ) {
        let (time_step, slop) = (settings.time_step, settings.stabilisation.slop);
        let model = &world.model;
        self.auditor.forget_start();
        self.data = Data::new(model);
        set_driven_poses(model, &history.driven_pose, &mut self.data);
        kinematics(model, &state.q, &mut self.data);
        velocities(model, &state.v, &mut self.data);
        self.driven.set_pose(&history.driven_pose);
        let poses = &self.data.body_pose;
        self.detector.restore_contacts(&world.colliders, poses, &history.reach, &history.detected);
        history.detected.clear();
        history.detected.extend_from_slice(self.detector.contacts());
        collision::replace_flush(world, slop, history, self);
        collision::detect_soft(world, state, time_step, &history.reach, self);
        collision::detect_patches(world, self);
    }
}
