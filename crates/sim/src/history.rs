//! Data that later steps depend on besides state and input.
//!
//! Solvers, detectors and scratch arrays keep memory too, but none that changes a result: a snapshot
//! is a copy of state, input, this and the parameters that were changed.

use nalgebra::{Isometry3, Vector3};
use stiction_geom::Contact;
use stiction_mech::{Input, State};

use crate::contact_point::ContactPoint;
use crate::energy_drift::EnergyDrift;
use crate::error::SnapshotError;
use crate::position_correction::{LastingErrors, TreeCorrection};
use crate::samples::Samples;
use crate::sensor::LastStep;
use crate::sleep::SleepState;
use crate::start_errors::YieldingConstraints;
use crate::warm_start::WarmStart;
use crate::world::World;

/// Data that later steps depend on besides state and input. Changes only when a step is accepted, except
/// for what is detected from the present state.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct StepHistory {
    /// Whether `detected` and `reach` belong to the present state.
    pub detection_is_current: bool,
    /// Contacts of the last detection; later ones inherit their identities.
    pub detected: Vec<Contact>,
    /// Per body: distance within which its contacts were detected [m].
    pub reach: Vec<f64>,
    /// Contacts of the last step with their forces.
    pub contacts: Vec<ContactPoint>,
    /// Impulses of the last step.
    pub warm_start: WarmStart,
    /// Per degree of freedom: velocity on which contact laws acted in the last step, the next guess.
    pub contact_velocity: Vec<f64>,
    /// Per node of soft bodies: the same [m/s].
    pub node_contact_velocity: Vec<Vector3<f64>>,
    /// Which trees sleep.
    pub sleep: SleepState,
    /// Per tree: corrections of the last steps.
    pub correction: Vec<TreeCorrection>,
    /// Position errors above their tolerances after the last step.
    pub lasting_errors: LastingErrors,
    /// Constraints that yield since the start.
    pub yielding: YieldingConstraints,
    /// Per tree: energy gained without cause over the last steps.
    pub energy_drift: Vec<EnergyDrift>,
    /// Present poses of driven bodies.
    pub driven_pose: Vec<Isometry3<f64>>,
    /// Per equality: whether it holds.
    pub equality_active: Vec<bool>,
    /// Data of the last step for sensors.
    pub last_step: LastStep,
    /// Samples of delayed controls and sensors.
    pub samples: Samples,
    /// Steps in a row whose contact problem was not solved.
    pub unsolved: u32,
}

impl StepHistory {
    pub fn new(world: &World, input: &Input, time_step: f64) -> Self {
        let model = &world.model;
        Self {
            equality_active: world.equality_options.iter().map(|options| options.active).collect(),
            reach: vec![0.0; model.bodies().len()],
            contact_velocity: vec![0.0; model.nv()],
            node_contact_velocity: vec![Vector3::zeros(); model.nodes()],
            sleep: SleepState::new(model),
            correction: vec![TreeCorrection::default(); model.trees().len()],
            energy_drift: vec![EnergyDrift::default(); model.trees().len()],
            driven_pose: input.driven_pose.clone(),
            samples: Samples::new(world, (0.0, time_step)),
            ..Self::default()
        }
    }

    /// Sets the switches of equalities of a snapshot that has none.
    pub fn complete_switches(&mut self, world: &World) {
        if self.equality_active.is_empty() {
            let active = world.equality_options.iter().map(|options| options.active);
            self.equality_active.extend(active);
        }
    }

    /// Starts the samples of a snapshot that has none, at a time with steps [s].
    pub fn complete_samples(&mut self, world: &World, times: (f64, f64)) {
        if self.samples.is_empty() {
            self.samples = Samples::new(world, times);
        }
    }

    /// Resets what was learnt from the last step, for a state that is set from outside.
    pub fn restart(&mut self, state: &State) {
        self.warm_start.clear();
        self.contact_velocity.copy_from_slice(&state.v);
        self.node_contact_velocity.copy_from_slice(&state.x_dot);
        self.correction.fill(TreeCorrection::default());
        self.lasting_errors.forget();
        self.yielding.follows = false;
        self.energy_drift.fill(EnergyDrift::default());
        self.last_step.forget();
        self.unsolved = 0;
    }

    /// Whether it belongs to a world, judged by the sizes of its arrays.
    pub fn check(&self, world: &World) -> Result<(), SnapshotError> {
        let model = &world.model;
        let (trees, bodies) = (model.trees().len(), model.bodies().len());
        for (what, found, expected) in [
            ("contact velocities", self.contact_velocity.len(), model.nv()),
            ("contact velocities of nodes", self.node_contact_velocity.len(), model.nodes()),
            ("trees", self.sleep.asleep.len(), trees),
            ("times of rest", self.sleep.still.len(), trees),
            ("groups of sleeping trees", self.sleep.group.len(), trees),
            ("corrections of trees", self.correction.len(), trees),
            ("balances of energy", self.energy_drift.len(), trees),
            ("detection distances", self.reach.len(), bodies),
            ("driven bodies", self.driven_pose.len(), model.driven().len()),
        ] {
            if found != expected {
                return Err(SnapshotError::OtherWorld { what, found, expected });
            }
        }
        let (what, found, expected) =
            ("equalities", self.equality_active.len(), world.equalities.len());
        // Versions without switches have an empty list.
        if found != expected && found != 0 {
            return Err(SnapshotError::OtherWorld { what, found, expected });
        }
        // So do versions without samples.
        if !self.samples.is_empty() && !self.samples.fits(world) {
            let (what, found) = ("samples of sensors", self.samples.sensors.len());
            let expected = world.sensors().iter().filter(|spec| spec.delay.is_some()).count();
            return Err(SnapshotError::OtherWorld { what, found, expected });
        }
        if !self.last_step.belongs_to(world) {
            let (what, found) = ("coordinates of the last step", self.last_step.q.len());
            return Err(SnapshotError::OtherWorld { what, found, expected: model.nq() });
        }
        Ok(())
    }
}
