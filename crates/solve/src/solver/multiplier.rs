//! The state of an augmented Lagrangian: penalties, multipliers and the slip terms of exact
//! friction, shared by ALM, CANAL and their convex form.
//!
//! Penalties are free of units: `β_i = penalty / w_i` with the Delassus scale w_i. Deviation: [Lee25]
//! has one β in kilograms, which is too stiff for one problem and too soft for the next.

use super::newton::ShiftedLaws;
use crate::contact::add_to_normal;
use crate::problem::Problem;

/// How slip terms follow the slip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SlipStep {
    /// By the whole difference [Lee25, Eq. (21)].
    Full,
    /// By a part of it while they oscillate.
    #[default]
    Damped,
    /// To the root of the difference along its last change, a secant of the fixed-point iteration.
    Secant,
}

/// Multipliers λ, slip terms p, and the shifts and local compliances r of an inner solve.
#[derive(Clone, Debug, Default)]
pub(super) struct Multipliers {
    /// How slip terms follow the slip.
    pub slip_step: SlipStep,
    /// Whether all constraints have one penalty in kilograms, as in [Lee25, Sec. V].
    pub uniform: bool,
    pub lambda: Vec<f64>,
    /// p_i, per constraint [m/s].
    pub slip: Vec<f64>,
    slip_change: Vec<f64>,
    /// Slip terms and their differences of one update before, for the secant; empty before the second.
    last_slip: Vec<f64>,
    last_change: Vec<f64>,
    shift: Vec<f64>,
    local_compliance: Vec<f64>,
    relaxation: f64,
}

/// Lower bound of the relaxation of the slip terms [-].
const LEAST_RELAXATION: f64 = 0.05;

/// Bound of the extrapolation of slip terms: a contraction by 0.9 is undone, a slower one in part [-].
const LEAST_SECANT: f64 = -9.0;

/// Delassus scale of a constraint [1/kg]; its mean compliance where that is zero.
fn scale(problem: &Problem, i: usize) -> f64 {
    let w = problem.delassus().scale(i);
    if w > 0.0 { w } else { crate::residual::compliance_scale(problem, i) }
}

impl Multipliers {
    pub fn start(&mut self, problem: &Problem, lambda: &[f64]) {
        self.lambda.clear();
        self.lambda.extend_from_slice(lambda);
        for x in [&mut self.slip, &mut self.slip_change] {
            x.clear();
            x.resize(problem.constraints().len(), 0.0);
        }
        for x in [&mut self.shift, &mut self.local_compliance] {
            x.clear();
            x.resize(problem.rows(), 0.0);
        }
        self.last_slip.clear();
        self.last_change.clear();
        self.relaxation = 1.0;
    }

    /// The unit of a penalty: 1/w, or one kilogram.
    fn scale(&self, problem: &Problem, i: usize) -> f64 {
        if self.uniform { 1.0 } else { scale(problem, i) }
    }

    /// Sets every slip term to `μ|u_t|` at a velocity and the multiplier.
    pub fn slip_at(&mut self, problem: &Problem, v: &[f64]) {
        let mut velocity = [0.0; crate::contact::DIM];
        for i in 0..self.slip.len() {
            let dim = problem.row_range(i).len();
            crate::residual::velocity(problem, i, v, &self.lambda, &mut velocity[..dim]);
            self.slip[i] = problem.law(i).shift(&velocity[..dim]);
        }
        self.slip_change.fill(0.0);
    }

    /// The laws at a penalty: local compliances `R + w/penalty`, shifts `e − λ w/penalty`, and with `slip` also
    /// p on the normal row [Lee25, Eqs. (20), (22)].
    pub fn shifted_laws(&mut self, problem: &Problem, penalty: f64, slip: bool) -> ShiftedLaws<'_> {
        for i in 0..problem.constraints().len() {
            let rows = problem.row_range(i);
            let extra = self.scale(problem, i) / penalty;
            for k in rows.clone() {
                self.local_compliance[k] = problem.compliance()[k] + extra;
                self.shift[k] = problem.bias()[k] - extra * self.lambda[k];
            }
            if slip && problem.law(i).is_contact() {
                add_to_normal(&mut self.shift[rows], self.slip[i]);
            }
        }
        ShiftedLaws { shift: &self.shift, local_compliance: &self.local_compliance }
    }

    /// `|√w (λ' − λ)|/penalty` \[√J\]: how far J v is from its slack z [Lee25, Eqs. (13), (40)], in
    /// the unit of a scaled momentum.
    pub fn change(problem: &Problem, penalty: f64, old: &[f64], new: &[f64]) -> f64 {
        let mut sum = 0.0;
        for i in 0..problem.constraints().len() {
            let rows = problem.row_range(i);
            let pairs = old[rows.clone()].iter().zip(&new[rows]);
            sum += scale(problem, i) * pairs.map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        }
        f64::sqrt(sum) / penalty
    }

    /// The largest `|J v − z| = |λ' − λ| w/penalty` of a row [m/s].
    pub fn slack(&self, problem: &Problem, penalty: f64, old: &[f64], new: &[f64]) -> f64 {
        let mut largest: f64 = 0.0;
        for i in 0..problem.constraints().len() {
            let extra = self.scale(problem, i) / penalty;
            for k in problem.row_range(i) {
                largest = largest.max(extra * (new[k] - old[k]).abs());
            }
        }
        largest
    }

    /// Takes over the impulse of an inner solve at a penalty; how much changed \[√J\].
    pub fn update(&mut self, problem: &Problem, penalty: f64, lambda: &[f64]) -> f64 {
        let change = Self::change(problem, penalty, &self.lambda, lambda);
        self.lambda.copy_from_slice(lambda);
        change
    }

    /// Moves the slip terms towards `μ|z_t + R λ_t|` [Lee25, Eq. (21)]; the largest change that was due [m/s].
    ///
    /// Deviation: the paper takes the full step. Its contraction can exceed one, as in a corner of three planes, and is
    /// slow where many contacts share a slip. `old` are the multipliers that the inner solve at this penalty started
    /// from: z = J v + e + (λ' − λ) w/penalty.
    pub fn update_slip(&mut self, problem: &Problem, penalty: f64, v: &[f64], old: &[f64]) -> f64 {
        let mut velocity = [0.0; crate::contact::DIM];
        let (mut largest, mut along, mut size, mut old_size) = (0.0, 0.0, 0.0, 0.0);
        self.last_change.clone_from(&self.slip_change);
        for i in 0..self.slip.len() {
            let law = problem.law(i);
            if !law.is_contact() {
                continue;
            }
            let rows = problem.row_range(i);
            crate::residual::velocity(problem, i, v, &self.lambda, &mut velocity);
            let extra = self.scale(problem, i) / penalty;
            for (x, k) in velocity.iter_mut().zip(rows) {
                *x += extra * (self.lambda[k] - old[k]);
            }
            let change = law.shift(&velocity) - self.slip[i];
            along += change * self.slip_change[i];
            size += change * change;
            old_size += self.slip_change[i] * self.slip_change[i];
            self.slip_change[i] = change;
            largest = f64::max(largest, change.abs());
        }
        match self.slip_step {
            SlipStep::Full => self.step(1.0),
            SlipStep::Damped => {
                let both = f64::sqrt(size * old_size);
                if along < -0.3 * both && size > 0.25 * old_size {
                    self.relaxation = (0.5 * self.relaxation).max(LEAST_RELAXATION);
                } else if along > 0.5 * both {
                    self.relaxation = (1.2 * self.relaxation).min(1.0);
                }
                self.step(self.relaxation);
            }
            SlipStep::Secant => {
                // With f the due change and Δ differences to the update before: p + f − γ Δ(p + f), γ = f·Δf/|Δf|².
                let (along, square) = (size - along, size + old_size - 2.0 * along);
                let first = self.last_slip.is_empty();
                let gamma = if first || !(square > 0.0) { 0.0 } else { along / square };
                self.secant_step(gamma.clamp(LEAST_SECANT, 1.0));
            }
        }
        largest
    }

    fn step(&mut self, part: f64) {
        for (p, d) in self.slip.iter_mut().zip(&self.slip_change) {
            *p += part * d;
        }
    }

    fn secant_step(&mut self, gamma: f64) {
        if self.last_slip.is_empty() {
            self.last_slip.clone_from(&self.slip);
        }
        for i in 0..self.slip.len() {
            let (p, f) = (self.slip[i], self.slip_change[i]);
            let image_change = p + f - self.last_slip[i] - self.last_change[i];
            self.last_slip[i] = p;
            self.slip[i] = (p + f - gamma * image_change).max(0.0);
        }
    }
}
