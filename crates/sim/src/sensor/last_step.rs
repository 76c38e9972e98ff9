//! Data of the last step from which sensors read accelerations and forces.
//!
//! Copies only: coordinates and velocities at its start, the resulting acceleration, the inputs, the
//! contacts, the impulses of equalities and along tendons. Sleeping trees are not in the problem of the
//! step: they keep the forces of their last step awake.

use nalgebra::{Vector3, Vector6};
use stiction_mech::{Input, LimitSource, SoftId, State};
use stiction_solve::problem::Constraint;

use crate::constraint::{Equality, MAX_ROWS};
use crate::contact_point::ContactPoint;
use crate::rows::drive::tendon_of;
use crate::rows::limit::limited;
use crate::rows::{ConstraintClass, ConstraintKey, ConstraintRecord, tree_of_dof};
use crate::world::World;

/// A step that is being accepted.
pub(crate) struct AcceptedStep<'a> {
    pub world: &'a World,
    /// The state at its start.
    pub old: &'a State,
    /// The velocities at its end.
    pub next: &'a [f64],
    pub time_step: f64,
    pub input: &'a Input,
    /// Activations that force laws read.
    pub activation: &'a [f64],
    /// Mean forces of actuators on trees that advanced by a rule of their own.
    pub actuator_force: &'a [f64],
    /// Whether an actuator acts on such trees.
    pub has_flown: &'a dyn Fn(usize) -> bool,
    pub contacts: &'a [ContactPoint],
    pub records: &'a [ConstraintRecord],
    pub constraints: &'a [Constraint],
    pub impulse: &'a [f64],
    /// Per tree: whether it was asleep.
    pub asleep: &'a [bool],
}

/// The last step, or a mechanism that is held at rest.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LastStep {
    /// Whether a step was taken.
    pub taken: bool,
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    /// Mean acceleration of the coordinates.
    pub acceleration: Vec<f64>,
    pub time_step: f64,
    pub control: Vec<f64>,
    /// Activations that force laws read.
    pub activation: Vec<f64>,
    /// Mean forces of actuators where the step computed them; infinite where the laws give them.
    pub actuator_force: Vec<f64>,
    pub wrench: Vec<Vector6<f64>>,
    pub contacts: Vec<ContactPoint>,
    /// Mean forces of the rows of equalities, [`MAX_ROWS`] each.
    pub equality: Vec<f64>,
    /// Mean force of limits and dry friction along each tendon.
    pub tendon_force: Vec<f64>,
    /// Forces of the limits of each joint and of each tendon, not negative.
    pub joint_limit_force: Vec<f64>,
    pub tendon_limit_force: Vec<f64>,
}

impl LastStep {
    /// Discards the step.
    pub fn forget(&mut self) {
        self.taken = false;
    }

    /// Whether its arrays have the lengths of a world, if there was a step.
    pub fn belongs_to(&self, world: &World) -> bool {
        let model = &world.model;
        let bodies = model.bodies().len();
        let lengths = [
            (self.q.len(), model.nq()),
            (self.v.len(), model.nv()),
            (self.acceleration.len(), model.nv()),
            (self.control.len(), model.nu()),
            (self.activation.len(), model.na()),
            (self.wrench.len(), bodies),
            (self.equality.len(), world.equalities.len() * MAX_ROWS),
            (self.tendon_force.len(), model.tendons().len()),
        ];
        let known = |contact: &ContactPoint| contact.bodies.iter().all(|body| *body < bodies);
        !self.taken
            || lengths.iter().all(|(found, own)| found == own) && self.contacts.iter().all(known)
    }

    /// Replaces a step that was not taken: zero accelerations, no contacts.
    pub fn hold(&mut self, world: &World, state: &State, input: &Input) {
        self.begin(world, state, input);
        self.activation.clone_from(&state.activation);
        self.actuator_force.clear();
        self.acceleration.fill(0.0);
        self.time_step = 0.0;
        self.contacts.clear();
        self.equality.fill(0.0);
        self.tendon_force.fill(0.0);
        self.joint_limit_force.fill(0.0);
        self.tendon_limit_force.fill(0.0);
    }

    /// Stores a step.
    pub fn keep(&mut self, step: &AcceptedStep) {
        let AcceptedStep { world, old, next, time_step, asleep, .. } = *step;
        self.begin(world, old, step.input);
        self.activation.clear();
        self.activation.extend_from_slice(step.activation);
        self.actuator_force.clear();
        let known = step.actuator_force.iter().enumerate();
        self.actuator_force
            .extend(known.map(
                |(index, force)| if (step.has_flown)(index) { *force } else { f64::INFINITY },
            ));
        (self.taken, self.time_step) = (true, time_step);
        for (a, (next, old)) in self.acceleration.iter_mut().zip(next.iter().zip(&old.v)) {
            *a = (next - old) / time_step;
        }
        let sleeps = |body: usize| world.model.bodies()[body].tree.is_none_or(|tree| asleep[tree]);
        // Soft bodies never sleep.
        let stays = |c: &ContactPoint| !c.is_soft() && c.bodies.into_iter().all(sleeps);
        self.contacts.retain(stays);
        self.contacts.extend_from_slice(step.contacts);
        self.keep_rows(step, sleeps);
    }

    /// Stores the impulses of equalities, and of limits and dry friction of tendons.
    fn keep_rows(&mut self, step: &AcceptedStep, sleeps: impl Fn(usize) -> bool) {
        let model = &step.world.model;
        let string_sleeps = |tendon: usize| {
            let mut dofs = model.tendons()[tendon].dofs.iter();
            dofs.all(|dof| step.asleep[tree_of_dof(model, *dof)])
        };
        for (tendon, force) in self.tendon_force.iter_mut().enumerate() {
            if !string_sleeps(tendon) {
                *force = 0.0;
                self.tendon_limit_force[tendon] = 0.0;
            }
        }
        for (joint, force) in model.joints().iter().zip(&mut self.joint_limit_force) {
            if !step.asleep[tree_of_dof(model, joint.dofs.start)] {
                *force = 0.0;
            }
        }
        let forces = self.equality.chunks_exact_mut(MAX_ROWS);
        for (equality, forces) in step.world.equalities.iter().zip(forces) {
            let all_sleep = match equality {
                Equality::Tendon(coupling) => {
                    let leads = coupling.leader.is_none_or(|leader| string_sleeps(leader.0));
                    leads && string_sleeps(coupling.tendon.0)
                }
                _ => equality.bodies().is_some_and(|ends| ends.iter().all(|body| sleeps(body.0))),
            };
            if !all_sleep {
                forces.fill(0.0);
            }
        }
        for (record, constraint) in step.records.iter().zip(step.constraints) {
            let force = || step.impulse[constraint.rows().start] / step.time_step;
            let key = &record.key;
            match limited(key) {
                Some(LimitSource::Joint(joint, _)) => self.joint_limit_force[joint.0] += force(),
                Some(LimitSource::Tendon(tendon)) => self.tendon_limit_force[tendon.0] += force(),
                None => {}
            }
            if key.class == ConstraintClass::Equality {
                self.equality[key.a as usize * MAX_ROWS + key.b as usize] = force();
            } else if key.class == ConstraintClass::Attachment {
                self.keep_attachment(step, key, force());
            } else if let Some((tendon, sign)) = tendon_of(key) {
                self.tendon_force[tendon] += sign * force();
            } else if key.class == ConstraintClass::Contact {
                break;
            }
        }
    }

    /// Stores the force of a row of an attachment as a contact without normal: it counts in force and
    /// torque sensors, but not in touch sensors.
    fn keep_attachment(&mut self, step: &AcceptedStep, key: &ConstraintKey, force: f64) {
        let attachments = &step.world.softs.attachments;
        let Ok(index) = attachments.binary_search_by_key(&key.a, |a| a.node) else {
            return;
        };
        let (node, body) = (key.a as usize, attachments[index].body);
        let mut on_vertex = Vector3::zeros();
        on_vertex[key.b as usize] = force;
        self.contacts.push(ContactPoint {
            geoms: [ContactPoint::NO_GEOM; 2],
            bodies: [body, 0],
            soft: [None, Some(SoftId(step.world.softs.body_of(key.a)))],
            point: step.old.x[node],
            normal: Vector3::zeros(),
            gap: 0.0,
            area: 0.0,
            force: on_vertex,
            torque: Vector3::zeros(),
            velocity: Vector3::zeros(),
        });
    }

    fn begin(&mut self, world: &World, state: &State, input: &Input) {
        self.q.clone_from(&state.q);
        self.v.clone_from(&state.v);
        self.acceleration.resize(state.v.len(), 0.0);
        self.control.clone_from(&input.control);
        self.wrench.clone_from(&input.wrench);
        self.equality.resize(world.equalities.len() * MAX_ROWS, 0.0);
        self.tendon_force.resize(world.model.tendons().len(), 0.0);
        self.tendon_limit_force.resize(world.model.tendons().len(), 0.0);
        self.joint_limit_force.resize(world.model.joints().len(), 0.0);
    }

    /// Mean force along a row of an equality [N, N·m].
    pub fn equality_force(&self, equality: usize, row: usize) -> f64 {
        self.equality[equality * MAX_ROWS + row]
    }
}
