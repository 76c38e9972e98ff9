//! Leads the servos of a chain of joints so that a frame of its body follows poses, by [`InverseKinematics`].
//!
//! Each step begins from the measured coordinates: the controller keeps no memory, and a run that was interrupted goes on as it
//! would have. Servos of position with damping are springs towards the angles that the pose wants: impedance control in the
//! joints, whose force on the surroundings is their stiffness times what is left of the way. No memory is taken in a step.

use nalgebra::Isometry3;
use stiction_mech::{InverseKinematics, Model};
use stiction_sim::Simulation;

use crate::scene::Controller;

/// The wanted pose of a frame at a time [s], given the present pose.
pub type PosePath = Box<dyn Fn(f64, &Isometry3<f64>) -> Isometry3<f64> + Send>;

/// Iterations per step.
const ITERATIONS: usize = 4;

/// Leads servos of position along poses.
pub struct PoseFollower {
    chain: InverseKinematics,
    path: PosePath,
    controls: Vec<usize>,
    lead: f64,
    now: Vec<f64>,
    next: Vec<f64>,
}

impl PoseFollower {
    /// Follows a path with a chain of a model; `controls` are the indices of the controls of its servos, in the order of the
    /// joints, and `lead` [s] is the ratio of their damping to their stiffness: dampers act on the rates themselves, and
    /// so much ahead is the control.
    pub fn new(
        model: &Model,
        chain: InverseKinematics,
        controls: Vec<usize>,
        lead: f64,
        path: PosePath,
    ) -> Self {
        let q = model.q0().to_vec();
        Self { chain, path, controls, lead, now: q.clone(), next: q }
    }
}

impl Controller for PoseFollower {
    fn control(&mut self, simulation: &mut Simulation) {
        let (time, h) = (simulation.state().time, simulation.settings().time_step);
        let world = simulation.world().clone();
        let model = world.model();
        let Self { chain, path, controls, lead, now, next } = self;
        now.copy_from_slice(&simulation.state().q);
        let present = chain.pose(model, now);
        let (target, later) = (path(time, &present), path(time + h, &present));
        (0..ITERATIONS).for_each(|_| chain.improve(model, now, &target));
        next.copy_from_slice(now);
        (0..ITERATIONS).for_each(|_| chain.improve(model, next, &later));
        let input = simulation.input_mut();
        for (control, at) in controls.iter().zip(chain.coordinates()) {
            input.control[*control] = next[at] + *lead * (next[at] - now[at]) / h;
        }
    }
}
