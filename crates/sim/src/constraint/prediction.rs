//! Errors of equalities after a step at the present velocity: the curvature of their motion.
//!
//! A velocity that is tangent to an equality leads away from it, by h/2 times the acceleration that
//! keeps to the curve. With a tangent velocity at the start of the step the scheme dissipates energy
//! at O(h). Rows that follow the chord, as in SHAKE [Hairer06, Sec. VII.1.4], conserve energy as
//! well as the joints of a tree do: a turn by φ changes the speed by (f − 1) φ²/2 if f is the fraction
//! of the chord that is followed. The chord needs errors alone: with g the error and J v its rate, it
//! is `(g(q₀ ⊕ h v₀) − g(q₀))/h − J v₀`. Cost: one pass over the poses.

use super::{Configuration, Equality, MAX_ROWS};
use crate::free_motion::MAX_TURN;
use crate::rows::{ConstraintContext, RowBuilder};
use crate::scheme::Scheme;
use crate::world::World;
use stiction_mech::{
    Data, LawSteps, Model, State, body_poses, integrate, kinematics, set_driven_poses,
};

/// Errors after a step at the present velocity.
pub(crate) struct EqualityPrediction {
    /// Whether bodies that are not driven were moved as well.
    moves: bool,
    pub steps: LawSteps,
    /// Weight of the next velocity in that on which laws act [-].
    pub alpha: f64,
    /// The present velocities.
    pub v: Vec<f64>,
    data: Data,
    /// Kinematics of the present coordinates with driven bodies at their next poses; `None` if no soft equality
    /// has a driven body.
    driven_data: Option<Box<Data>>,
    q: Vec<f64>,
    errors: Vec<[f64; MAX_ROWS]>,
}

impl EqualityPrediction {
    pub fn new(world: &World) -> Self {
        let model = &world.model;
        let (data, q) = (Data::new(model), vec![0.0; model.nq()]);
        let v = vec![0.0; model.nv()];
        let mut equalities = world.equalities.iter().zip(&world.equality_options);
        let pulled =
            equalities.any(|(e, options)| options.softness.is_some() && e.is_driven(model));
        let driven_data = pulled.then(|| Box::new(Data::new(model)));
        let steps = LawSteps { part: 0.0, whole: 0.0 };
        let (alpha, errors) = (1.0, Vec::new());
        Self { moves: true, steps, alpha, v, data, driven_data, q, errors }
    }

    /// Takes over changed parameters of a model.
    pub fn update_parameters(&mut self, model: &Model) {
        self.data.update_parameters(model);
        self.driven_data.iter_mut().for_each(|data| data.update_parameters(model));
    }

    /// The configuration at which the error of a soft equality is measured: the present one, but with driven bodies
    /// at their next poses.
    pub fn soft_configuration<'a>(
        &'a self,
        equality: &Equality,
        present: &Configuration<'a>,
    ) -> Configuration<'a> {
        match &self.driven_data {
            Some(data) if equality.is_driven(present.model) => Configuration { data, ..*present },
            _ => *present,
        }
    }

    /// Predicts the errors after a step from a state whose kinematics are in `context`. Where a link
    /// turns faster than the time step resolves, no prediction holds; under the mid-velocity
    /// convention the next velocity is mirrored at the mean, and a chord would be mirrored with it.
    /// In both cases only driven bodies are moved, if there are any.
    pub fn predict(
        &mut self,
        world: &World,
        scheme: Scheme,
        state: &State,
        context: &ConstraintContext,
        steps: LawSteps,
    ) {
        self.errors.clear();
        (self.steps, self.alpha) = (steps, scheme.alpha());
        let h = steps.part;
        let (model, data) = (&world.model, context.data);
        if world.equalities.is_empty() {
            return;
        }
        self.v.copy_from_slice(&state.v);
        if let Some(data) = &mut self.driven_data {
            set_driven_poses(model, &context.driven.next, data);
            kinematics(model, &state.q, data);
        }
        let too_fast =
            |body: usize| !(data.velocity[body].fixed_rows::<3>(0).norm() * h <= MAX_TURN);
        self.moves = scheme.alpha() == 1.0 && !model.links().iter().any(|link| too_fast(link.body));
        if !self.moves && model.driven().is_empty() {
            return;
        }
        if self.moves {
            integrate(model, &state.q, &state.v, h, &mut self.q);
        } else {
            self.q.copy_from_slice(&state.q);
        }
        set_driven_poses(model, &context.driven.next, &mut self.data);
        body_poses(model, &self.q, &mut self.data);
        let configuration = Configuration { model, q: &self.q, data: &self.data };
        for equality in &world.equalities {
            let mut errors = [0.0; MAX_ROWS];
            equality.error(&configuration, &mut errors);
            self.errors.push(errors);
        }
    }

    /// Bias [m/s] of the open row, whose error becomes `next` from `now`, so that it follows the chord.
    pub fn bias(&self, next: f64, now: f64, context: &ConstraintContext, rows: &RowBuilder) -> f64 {
        let rate = if self.moves { rows.rate(context, &self.v) } else { 0.0 };
        (next - now) / self.steps.part - rate
    }

    /// Error of one row after the step; `None` if it was not predicted.
    pub fn error(&self, equality: usize, row: usize) -> Option<f64> {
        self.errors.get(equality).map(|errors| errors[row]).filter(|error| error.is_finite())
    }
}
