//! Motion of bodies within a step as it is expected before the contact problem is solved.
//!
//! Trees without contact move freely. Contacts of a tree that pushed in the last step balance most of the forces
//! on it: such a tree is expected to keep its velocity.

use nalgebra::Vector3;
use stiction_geom::sweep::Motion;
use stiction_mech::{
    BodyId, Data, Model, State, angular_velocity, point_velocity, tree_velocities,
};

use crate::contact_point::ContactPoint;
use crate::driven::DrivenBodies;
use crate::free_motion::FreeMotion;
use crate::scheme::Scheme;

/// Largest turn within a step that the orientations at its start and end determine [rad]: less than half a turn.
const RESOLVED_TURN: f64 = 2.5;

/// Expected motions of bodies within a step.
#[derive(Debug, Default)]
pub(crate) struct PredictedMotion {
    /// Per tree: whether its motion is asked for, and whether it is known.
    wanted: Vec<bool>,
    known: Vec<bool>,
    /// Per tree: whether contacts pushed it in the last step.
    pushed: Vec<bool>,
    /// Per body: its motion.
    motions: Vec<Motion>,
    /// Per degree of freedom: velocity with which positions move.
    velocity: Vec<f64>,
}

impl PredictedMotion {
    pub fn new(model: &Model) -> Self {
        Self {
            wanted: vec![false; model.trees().len()],
            known: vec![false; model.trees().len()],
            pushed: vec![false; model.trees().len()],
            motions: vec![Motion::REST; model.bodies().len()],
            velocity: vec![0.0; model.nv()],
        }
    }

    /// Forgets the motions of the last step.
    pub fn clear(&mut self) {
        self.wanted.fill(false);
        self.known.fill(false);
    }

    /// Asks for the motion of a tree.
    pub fn want(&mut self, tree: usize) {
        self.wanted[tree] = true;
    }

    /// Marks the trees that contacts pushed in the last step.
    pub fn mark_pushed(&mut self, model: &Model, contacts: &[ContactPoint]) {
        self.pushed.fill(false);
        for contact in contacts.iter().filter(|contact| contact.force != Vector3::zeros()) {
            for tree in contact.bodies.iter().filter_map(|body| model.bodies()[*body].tree) {
                self.pushed[tree] = true;
            }
        }
    }

    /// Computes the motions of the trees that are asked for. `data` holds the kinematics of the state and
    /// is left as it was.
    pub fn compute(
        &mut self,
        model: &Model,
        scheme: Scheme,
        h: f64,
        state: &State,
        free: &mut FreeMotion,
        data: &mut Data,
    ) {
        for (index, tree) in model.trees().iter().enumerate() {
            if !self.wanted[index] || self.known[index] {
                continue;
            }
            // The segments of a rod move together.
            let rod = model.rod_of_tree(index).map(|rod| (rod.0, &model.rods()[rod.0]));
            let (trees, dofs) = match rod {
                Some((_, rod)) => (rod.trees.clone(), rod.dofs.clone()),
                None => (index..index + 1, tree.dofs.clone()),
            };
            let pushed = self.pushed[trees.clone()].contains(&true);
            free.complete_momentum(model, index, h, state, data);
            let v = &mut self.velocity[dofs.clone()];
            let is_free = !pushed
                && match rod {
                    Some((rod, _)) => free.solve_rod(model, rod, v),
                    None => free.solve(model, index, v),
                };
            if !is_free {
                v.copy_from_slice(&state.v[dofs.clone()]);
            }
            if is_free && tree.single && rod.is_none() && scheme.alpha() == 1.0 {
                let weight = if scheme == Scheme::Refined { 0.5 } else { 1.0 };
                let flight = free.flight(model, index, (h, weight), (state, data), v);
                let link = &model.links()[tree.links.start];
                let X_WB = &data.body_pose[link.body];
                let centre = X_WB.translation.vector + X_WB.rotation * link.com;
                let turn = (flight.R_WB * X_WB.rotation.inverse()).scaled_axis();
                let w = Vector3::new(v[3], v[4], v[5]);
                if h * w.norm() < RESOLVED_TURN {
                    self.motions[link.body] = Motion { centre, shift: flight.travel, turn };
                    self.known[index] = true;
                    continue;
                }
            }
            let uses_mean = (scheme == Scheme::Refined && tree.single && rod.is_none())
                || free.flies(model, scheme, index);
            let weight = if uses_mean { 0.5 } else { scheme.theta_vq() };
            for (v, old) in v.iter_mut().zip(&state.v[dofs]) {
                *v = weight * *v + (1.0 - weight) * old;
            }
            for tree in trees {
                self.known[tree] = true;
                self.update_tree(model, tree, h, &state.v, data);
            }
        }
    }

    /// Motions of the links of a tree from its velocities; `v` are those of the state.
    fn update_tree(&mut self, model: &Model, tree: usize, h: f64, v: &[f64], data: &mut Data) {
        tree_velocities(model, tree, &self.velocity, data);
        for link in &model.links()[model.trees()[tree].links.clone()] {
            let X_WB = &data.body_pose[link.body];
            let centre = X_WB.translation.vector + X_WB.rotation * link.com;
            let body = BodyId(link.body);
            self.motions[link.body] = Motion {
                centre,
                shift: h * point_velocity(model, data, body, centre),
                turn: h * angular_velocity(data, body),
            };
        }
        tree_velocities(model, tree, v, data);
    }

    /// The motion of a collision frame; bodies that are neither moving nor driven rest.
    pub fn of_frame(
        &self,
        model: &Model,
        frame: usize,
        driven: &DrivenBodies,
        h: f64,
        data: &Data,
    ) -> Motion {
        match model.bodies()[frame].tree {
            Some(tree) if self.known[tree] => self.motions[frame],
            Some(_) => Motion::REST,
            None => {
                let centre = data.body_pose[frame].translation.vector;
                let shift = h * driven.point_velocity(frame, &centre);
                Motion { centre, shift, turn: h * driven.angular_velocity(frame) }
            }
        }
    }
}
