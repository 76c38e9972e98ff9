//! What is kept of the last step, so that accelerations and forces can be read after it.
//!
//! Copies only: coordinates and velocities from which it began, the acceleration that came of it,
//! the inputs, the contacts, the impulses of equalities. What sleeps is not in the step's problem:
//! the forces with which it fell asleep stay.

use nalgebra::Vector6;
use stiction_mech::{Input, State};

use super::equality::ends;
use crate::constraint::MOST_ROWS;
use crate::rows::{Class, Rows};
use crate::simulation::ContactPoint;
use crate::world::World;

/// A step as it is accepted.
pub(crate) struct Step<'a> {
    pub world: &'a World,
    /// The state from which it began.
    pub old: &'a State,
    /// The velocities to which it led.
    pub next: &'a [f64],
    pub time_step: f64,
    pub input: &'a Input,
    pub contacts: &'a [ContactPoint],
    pub rows: &'a Rows,
    pub impulse: &'a [f64],
    /// Per tree: whether it took no part.
    pub asleep: &'a [bool],
}

/// The last step, or a mechanism that is held.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastStep {
    /// Whether there was one.
    taken: bool,
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    /// Mean acceleration of the coordinates.
    pub acceleration: Vec<f64>,
    pub time_step: f64,
    pub control: Vec<f64>,
    pub wrench: Vec<Vector6<f64>>,
    pub contacts: Vec<ContactPoint>,
    /// Mean forces of the rows of equalities, [`MOST_ROWS`] each.
    equality: Vec<f64>,
}

impl LastStep {
    /// Forgets the step.
    pub fn forget(&mut self) {
        self.taken = false;
    }

    /// Whether there was a step.
    pub fn is_taken(&self) -> bool {
        self.taken
    }

    /// Stands in for a step that was not taken: nothing accelerates, nothing touches.
    pub fn hold(&mut self, world: &World, state: &State, input: &Input) {
        self.begin(world, state, input);
        self.acceleration.fill(0.0);
        self.time_step = 0.0;
        self.contacts.clear();
        self.equality.fill(0.0);
    }

    /// Keeps a step.
    pub fn keep(&mut self, step: &Step) {
        let Step { world, old, next, time_step, asleep, .. } = *step;
        self.begin(world, old, step.input);
        (self.taken, self.time_step) = (true, time_step);
        for (a, (next, old)) in self.acceleration.iter_mut().zip(next.iter().zip(&old.v)) {
            *a = (next - old) / time_step;
        }
        let sleeps = |body: usize| world.model.bodies()[body].tree.is_none_or(|tree| asleep[tree]);
        self.contacts.retain(|contact| contact.bodies.into_iter().all(sleeps));
        self.contacts.extend_from_slice(step.contacts);
        self.keep_equalities(step, sleeps);
    }

    fn keep_equalities(&mut self, step: &Step, sleeps: impl Fn(usize) -> bool) {
        let forces = self.equality.chunks_exact_mut(MOST_ROWS);
        for (equality, forces) in step.world.equalities.iter().zip(forces) {
            if !ends(equality).is_some_and(|ends| ends.iter().all(|body| sleeps(body.0))) {
                forces.fill(0.0);
            }
        }
        let constraints = step.rows.constraints().iter();
        for constraint in constraints.take_while(|c| c.key.class == Class::Equality) {
            let place = constraint.key.a as usize * MOST_ROWS + constraint.key.b as usize;
            self.equality[place] = step.impulse[constraint.first_row as usize] / step.time_step;
        }
    }

    fn begin(&mut self, world: &World, state: &State, input: &Input) {
        self.q.clone_from(&state.q);
        self.v.clone_from(&state.v);
        self.acceleration.resize(state.v.len(), 0.0);
        self.control.clone_from(&input.control);
        self.wrench.clone_from(&input.wrench);
        self.equality.resize(world.equalities.len() * MOST_ROWS, 0.0);
    }

    /// Mean force along a row of an equality [N, N·m].
    pub fn equality_force(&self, equality: usize, row: usize) -> f64 {
        self.equality[equality * MOST_ROWS + row]
    }
}
