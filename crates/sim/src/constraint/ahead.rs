//! Where equalities would be after a step at the present velocity: the curvature of their motion.
//!
//! A velocity that is tangent to an equality leads away from it, by h/2 times the acceleration that
//! keeps to the curve. Asked to be tangent where the step begins, the next velocity would lose in
//! each step what the turn takes, of order h per time: a pendulum on a connect would swing in
//! honey. Asked to follow the chord, as SHAKE does [Hairer06, Sec. VII.1.4], it keeps its energy as
//! well as joints of a tree do: a turn by φ changes the speed by (f − 1) φ²/2 if f is the part of the
//! chord that is followed. The chord comes from errors alone: with g the error and J v its
//! rate, `(g(q₀ ⊕ h v₀) − g(q₀))/h − J v₀`. Cost: one pass over the kinematics.

use super::{MOST_ROWS, Place};
use crate::free::LARGEST_TURN;
use crate::rows::Sight;
use crate::scheme::Scheme;
use crate::world::World;
use stiction_mech::{Data, Model, State, integrate, kinematics, set_driven_poses};

/// Errors after a step at the present velocity.
pub(crate) struct Ahead {
    /// Whether what is not driven moves as well.
    pub moves: bool,
    data: Data,
    q: Vec<f64>,
    errors: Vec<[f64; MOST_ROWS]>,
}

impl Ahead {
    pub fn new(model: &Model) -> Self {
        let (data, q) = (Data::new(model), vec![0.0; model.nq()]);
        Self { moves: true, data, q, errors: Vec::new() }
    }

    /// Looks a step ahead of a state whose kinematics are in `sight`. What turns faster than the time
    /// step resolves is left alone: no prediction helps it. Under the mid-velocity
    /// convention the next velocity is mirrored at the mean, and a chord would be mirrored with it.
    /// In both cases only driven bodies move ahead, if there are any.
    pub fn look(&mut self, world: &World, scheme: Scheme, state: &State, sight: &Sight, h: f64) {
        self.errors.clear();
        let (model, data) = (&world.model, sight.data);
        if world.equalities.is_empty() {
            return;
        }
        let too_fast =
            |body: usize| !(data.velocity[body].fixed_rows::<3>(0).norm() * h <= LARGEST_TURN);
        self.moves = scheme.alpha() == 1.0 && !model.links().iter().any(|link| too_fast(link.body));
        if !self.moves && model.driven().is_empty() {
            return;
        }
        if self.moves {
            integrate(model, &state.q, &state.v, h, &mut self.q);
        } else {
            self.q.copy_from_slice(&state.q);
        }
        set_driven_poses(model, &sight.driven.next, &mut self.data);
        kinematics(model, &self.q, &mut self.data);
        let place = Place { model, q: &self.q, data: &self.data };
        for equality in &world.equalities {
            let mut errors = [0.0; MOST_ROWS];
            equality.error(&place, &mut errors);
            self.errors.push(errors);
        }
    }

    /// Error of one row after the step; `None` if nobody looked.
    pub fn error(&self, equality: usize, row: usize) -> Option<f64> {
        self.errors.get(equality).map(|errors| errors[row]).filter(|error| error.is_finite())
    }
}
