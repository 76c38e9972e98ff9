//! Sweeps over constraints: projected relaxation without a matrix [Tasora, Algorithm].
//!
//! The velocity v = A⁻¹ (b + Jᵀ λ) follows each change of an impulse, so that one constraint costs
//! its own blocks and nothing else. For a subsystem of one block, `s_i = A⁻¹ J_iᵀ` is stored and
//! has the size of J_i: memory grows with the non-zeros of J. In a sparse subsystem s_i is full,
//! so there each update solves with the factor of the subsystem instead, which is slow.
//!
//! Deviation: the step `η_i = 3/trace(g_i)` of the paper need not converge; the default is
//! `η_i = 1/λ_max(g_i)`, which does. Compliance adds to `g_i` and to the velocity.

use std::ops::Range;

use super::contact_sweep::ContactSweep;
use crate::contact::DIM;
use crate::law::FrictionModel;
use crate::monitor::{Monitor, Status, Verdict};
use crate::problem::small::{add_product, add_transposed_product};
use crate::problem::{JacobianEntry, Problem, SubsystemId};
use crate::setting::SettingRange;
use crate::solution::Solution;
use crate::{setting_choices, setting_table};

/// How far a constraint may move its impulse per unit of violated velocity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StepRule {
    /// `η_i = 1/λ_max(g_i)`: a descent on every constraint.
    #[default]
    Safe,
    /// `η_i = 3/trace(g_i)` [Tasora, Algorithm, line 2].
    Trace,
}

setting_choices!(StepRule { "safe" => StepRule::Safe, "trace" => StepRule::Trace });

impl StepRule {
    /// `1/η_i` [1/kg] for `g_i = W_ii + R_i`, row-major.
    pub(super) fn inverse_step(self, g: &[f64]) -> f64 {
        let inverse = match (self, g.len()) {
            (_, 1) => g[0],
            (Self::Safe, _) => largest_eigenvalue(g),
            (Self::Trace, _) => (g[0] + g[4] + g[8]) / DIM as f64,
        };
        // g = 0 if J and R are zero: only the law's compliance acts, and any positive step works.
        if inverse > 0.0 { inverse } else { 1.0 }
    }
}

/// The largest eigenvalue of a symmetric, row-major 3 × 3 matrix, in closed form [Smith61].
fn largest_eigenvalue(g: &[f64]) -> f64 {
    let off = g[1] * g[1] + g[2] * g[2] + g[5] * g[5];
    let mean = (g[0] + g[4] + g[8]) / 3.0;
    if off <= (f64::EPSILON * mean).powi(2) {
        return g[0].max(g[4]).max(g[8]);
    }
    let d = [g[0] - mean, g[4] - mean, g[8] - mean];
    let p = ((d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 2.0 * off) / 6.0).sqrt();
    let det = d[0] * (d[1] * d[2] - g[5] * g[5]) - g[1] * (g[1] * d[2] - g[5] * g[2])
        + g[2] * (g[1] * g[5] - d[1] * g[2]);
    let half = (0.5 * det / (p * p * p)).clamp(-1.0, 1.0);
    mean + 2.0 * p * (half.acos() / 3.0).cos()
}

/// Direction of a sweep through the constraints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Forward,
    Backward,
}

/// Index of the constraint at a position of a sweep.
#[inline]
pub(super) fn at(direction: Direction, place: usize, count: usize) -> usize {
    match direction {
        Direction::Forward => place,
        Direction::Backward => count - 1 - place,
    }
}

/// The first sweeps, after each of which the residual is measured.
const FIRST: usize = 3;
/// Change of a sweep, per unit of the tolerance, above which the iterate is far from converged [-].
const FAR: f64 = 10.0;

/// Whether the residual is measured after a sweep: that costs more than a sweep.
pub(super) fn due(sweep: usize) -> bool {
    const EVERY: usize = 10;
    sweep <= FIRST || sweep.is_multiple_of(EVERY)
}

/// The blocks of a constraint in each subsystem that it touches, as indices of entries.
pub(super) fn groups(
    problem: &Problem,
    constraint: usize,
) -> impl Iterator<Item = (SubsystemId, Range<usize>)> + '_ {
    let all = problem.jacobian().entry_range(constraint);
    let entries = problem.jacobian().entries();
    let subsystem = |e: usize| problem.mass().subsystem_of(entries[e].block as usize);
    let mut first = all.start;
    std::iter::from_fn(move || {
        (first < all.end).then(|| {
            let (start, s) = (first, subsystem(first));
            while first < all.end && subsystem(first) == s {
                first += 1;
            }
            (s, start..first)
        })
    })
}

/// `out = A_s⁻¹ J_isᵀ λ_i` for the blocks of one constraint in one subsystem.
pub(super) fn spread_over(
    problem: &Problem,
    subsystem: SubsystemId,
    group: &[JacobianEntry],
    lambda: &[f64],
    out: &mut [f64],
) {
    let (mass, jacobian) = (problem.mass(), problem.jacobian());
    let base = mass.dofs(subsystem).start;
    out.fill(0.0);
    for e in group {
        let range = jacobian.block_range(e.block as usize);
        let part = &mut out[range.start - base..range.end - base];
        add_transposed_product(jacobian.block(e), lambda, part);
    }
    mass.solve_subsystem(subsystem, out);
}

/// Marks a block whose s_i is not stored.
const SOLVED: u32 = u32::MAX;

/// s_i and η_i of every constraint.
#[derive(Clone, Debug, Default)]
pub(super) struct Sweep {
    /// `s_iᵀ = J_i A⁻¹` block by block, row-major.
    spread: Vec<f64>,
    /// Offset in `spread` of each block of J.
    spread_start: Vec<u32>,
    /// `1/(ω η_i)` [1/kg] per constraint.
    local_compliance: Vec<f64>,
    work: Vec<f64>,
    solves: bool,
}

impl Sweep {
    /// Prepares for a problem, with over-relaxation ω.
    pub(super) fn prepare(&mut self, problem: &Problem, rule: StepRule, omega: f64) {
        let (mass, jacobian) = (problem.mass(), problem.jacobian());
        self.spread.clear();
        self.spread_start.clear();
        self.local_compliance.clear();
        let largest = (0..mass.subsystems()).map(|s| mass.dofs(SubsystemId(s)).len()).max();
        self.work.clear();
        self.work.resize(largest.unwrap_or(0), 0.0);
        self.solves = false;
        for i in 0..problem.constraints().len() {
            let dim = jacobian.dim(i);
            let mut g = [0.0; DIM * DIM];
            for (d, r) in problem.compliance()[problem.row_range(i)].iter().enumerate() {
                g[d * dim + d] = *r;
            }
            for (subsystem, group) in groups(problem, i) {
                let stored = mass.blocks(subsystem).len() == 1;
                self.solves |= !stored;
                let start = if stored { self.spread.len() as u32 } else { SOLVED };
                self.spread_start.extend(group.clone().map(|_| start));
                let entries = &jacobian.entries()[group];
                let s = &mut self.work[..mass.dofs(subsystem).len()];
                for d in 0..dim {
                    let mut unit = [0.0; DIM];
                    unit[d] = 1.0;
                    spread_over(problem, subsystem, entries, &unit[..dim], s);
                    if stored {
                        self.spread.extend_from_slice(s);
                    }
                    add_column(problem, subsystem, entries, s, d, &mut g);
                }
            }
            self.local_compliance.push(rule.inverse_step(&g[..dim * dim]) / omega);
        }
    }

    /// Whether updates have to solve with a subsystem.
    pub(super) fn solves(&self) -> bool {
        self.solves
    }

    /// Numbers kept per problem.
    #[cfg(test)]
    pub(super) fn stored_numbers(&self) -> usize {
        self.spread.len() + self.spread_start.len() + self.local_compliance.len() + self.work.len()
    }

    /// One sweep: `λ_i ← λ Π(λ_i − ω η_i u_i) + (1 − λ) λ_i`, `v ← v + s_i Δλ_i`
    /// [Tasora, Algorithm, lines 5 and 7]; λ is the `sharpness`. Returns the largest change,
    /// as a velocity [m/s].
    pub(super) fn pass(
        &mut self,
        problem: &Problem,
        model: FrictionModel,
        direction: Direction,
        sharpness: f64,
        solution: &mut Solution,
    ) -> f64 {
        let Solution { velocity: v, impulse } = solution;
        let count = problem.constraints().len();
        let mut largest: f64 = 0.0;
        for place in 0..count {
            let i = at(direction, place, count);
            let (rows, r) = (problem.row_range(i), self.local_compliance[i]);
            let (dim, lambda) = (rows.len(), &mut impulse[rows.clone()]);
            let mut c0 = [0.0; DIM];
            constraint_velocity(problem, i, v, lambda, &mut c0[..dim]);
            let change = update_impulse(problem, i, model, &mut c0[..dim], r, sharpness, lambda);
            largest = largest.max(r * largest_of(&change));
            if change != [0.0; DIM] {
                self.apply(problem, i, &change[..dim], v);
            }
        }
        largest
    }

    /// `v += A⁻¹ J_iᵀ Δλ_i`.
    #[inline]
    fn apply(&mut self, problem: &Problem, i: usize, change: &[f64], v: &mut [f64]) {
        let jacobian = problem.jacobian();
        let all = jacobian.entry_range(i);
        if all.clone().any(|e| self.spread_start[e] == SOLVED) {
            return self.apply_by_solving(problem, i, change, v);
        }
        for e in all {
            let v = &mut v[jacobian.block_range(jacobian.entries()[e].block as usize)];
            let start = self.spread_start[e] as usize;
            let s = &self.spread[start..start + change.len() * v.len()];
            add_transposed_product(s, change, v);
        }
    }

    #[cold]
    fn apply_by_solving(&mut self, problem: &Problem, i: usize, change: &[f64], v: &mut [f64]) {
        for (subsystem, group) in groups(problem, i) {
            let dofs = problem.mass().dofs(subsystem);
            let s = &mut self.work[..dofs.len()];
            spread_over(problem, subsystem, &problem.jacobian().entries()[group], change, s);
            for (v, s) in v[dofs].iter_mut().zip(&*s) {
                *v += s;
            }
        }
    }
}

/// Adds `J_i s` to column `d` of g.
fn add_column(
    problem: &Problem,
    subsystem: SubsystemId,
    group: &[JacobianEntry],
    s: &[f64],
    d: usize,
    g: &mut [f64],
) {
    let jacobian = problem.jacobian();
    let base = problem.mass().dofs(subsystem).start;
    for e in group {
        let range = jacobian.block_range(e.block as usize);
        let dim = jacobian.dim(e.constraint as usize);
        let mut column = [0.0; DIM];
        let part = &s[range.start - base..range.end - base];
        add_product(jacobian.block(e), part, &mut column[..dim]);
        for (row, x) in column[..dim].iter().enumerate() {
            g[row * dim + d] += x;
        }
    }
}

/// `u_i = J_i v + e_i + R_i∘λ_i`.
#[inline]
fn constraint_velocity(problem: &Problem, i: usize, v: &[f64], lambda: &[f64], c: &mut [f64]) {
    let jacobian = problem.jacobian();
    let rows = problem.row_range(i);
    let (e, r) = (&problem.bias()[rows.clone()], &problem.compliance()[rows]);
    for (k, c) in c.iter_mut().enumerate() {
        *c = e[k] + r[k] * lambda[k];
    }
    for e in jacobian.constraint_entries(i) {
        add_product(jacobian.block(e), &v[jacobian.block_range(e.block as usize)], c);
    }
}

/// Updates the impulse of one constraint that moves at `c`, which is overwritten.
/// Returns the change of the impulse.
#[inline]
pub(super) fn update_impulse(
    problem: &Problem,
    i: usize,
    model: FrictionModel,
    c: &mut [f64],
    r: f64,
    sharpness: f64,
    lambda: &mut [f64],
) -> [f64; DIM] {
    let dim = lambda.len();
    let mut nearest = [0.0; DIM];
    for (c, l) in c.iter_mut().zip(&*lambda) {
        *c -= r * l;
    }
    problem.law(i).respond(model, c, &[r; DIM][..dim], &mut nearest[..dim]);
    let mut change = [0.0; DIM];
    for (k, l) in lambda.iter_mut().enumerate() {
        change[k] = sharpness * (nearest[k] - *l);
        *l += change[k];
    }
    change
}

/// The largest magnitude; infinite if one is not a number.
#[inline]
pub(super) fn largest_of(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, x| if x.is_nan() { f64::INFINITY } else { m.max(x.abs()) })
}

/// Change of a sweep at round-off, per unit of the reference velocity [-].
pub(super) const STANDSTILL: f64 = f64::EPSILON;

/// Settings of PSOR and SSOR.
#[derive(Clone, Debug, PartialEq)]
pub struct RelaxationSettings {
    /// Over-relaxation ω [-].
    pub omega: f64,
    /// Share λ of the projected impulse that is taken over [-].
    pub sharpness: f64,
    /// Length of the projected step.
    pub step: StepRule,
    /// Sweeps over all constraints.
    pub max_sweeps: usize,
}

impl Default for RelaxationSettings {
    fn default() -> Self {
        // ω = λ = 1 is a plain projection [Tasora, Algorithm].
        Self { omega: 1.0, sharpness: 1.0, step: StepRule::Safe, max_sweeps: 1000 }
    }
}

setting_table!(
    RelaxationSettings,
    "projected relaxation",
    [
        ("omega", omega, "-", SettingRange::POSITIVE, "over-relaxation ω"),
        (
            "sharpness",
            sharpness,
            "-",
            SettingRange::POSITIVE,
            "share λ of the projected impulse that is taken over"
        ),
        ("step", step, "", SettingRange::ANY, "η: safe (1/λ_max) or trace (3/trace)"),
        ("max-sweeps", max_sweeps, "", SettingRange::ANY, "sweeps over all constraints"),
    ]
);

/// The loop that PSOR and SSOR share, with its work memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Relaxation {
    pub settings: RelaxationSettings,
    sweep: Sweep,
    contacts: ContactSweep,
}

impl Relaxation {
    pub(super) fn notes(&self) -> Vec<String> {
        if self.sweep.solves() {
            vec!["a sparse subsystem is solved at every update of a constraint".to_owned()]
        } else {
            Vec::new()
        }
    }

    /// Sweeps until the monitor stops; `direction` gives the direction of each sweep.
    pub(super) fn improve(
        &mut self,
        problem: &Problem,
        monitor: &mut Monitor,
        solution: &mut Solution,
        direction: impl Fn(usize) -> Direction,
    ) -> Status {
        self.sweep.solves = false;
        problem.velocity_of(&solution.impulse, &mut solution.velocity);
        if let Verdict::Stop(status) =
            monitor.observe(problem, &solution.velocity, &solution.impulse)
        {
            return status;
        }
        let bodies = self.contacts.prepare(problem, self.settings.step, self.settings.omega);
        if bodies {
            self.contacts.start(problem, &solution.velocity);
        } else {
            self.sweep.prepare(problem, self.settings.step, self.settings.omega);
        }
        let limit = monitor.iteration_limit(self.settings.max_sweeps);
        for sweep in 1..=limit {
            let (way, model, sharpness) =
                (direction(sweep), monitor.model(), self.settings.sharpness);
            let change = if bodies {
                self.contacts.pass(model, way, sharpness, &mut solution.impulse)
            } else {
                self.sweep.pass(problem, model, way, sharpness, solution)
            };
            monitor.count(1);
            if !change.is_finite() {
                return Status::Failed;
            }
            let standstill = change <= STANDSTILL * problem.reference_velocity();
            // After one of the first sweeps, a large change cannot be converged.
            let far = change > FAR * monitor.velocity_tolerance() && !monitor.is_tracing();
            let measured = due(sweep) && !(far && sweep <= FIRST);
            if measured || standstill || sweep == limit {
                // v drifts from λ by the round-off of every update.
                problem.velocity_of(&solution.impulse, &mut solution.velocity);
                if bodies {
                    self.contacts.start(problem, &solution.velocity);
                }
                if let Verdict::Stop(status) =
                    monitor.observe(problem, &solution.velocity, &solution.impulse)
                {
                    return status;
                }
            }
            if standstill {
                return Status::Stalled;
            }
        }
        Status::IterationLimit
    }

    #[cfg(test)]
    pub(super) fn stored_numbers(&self) -> usize {
        self.sweep.stored_numbers() + self.contacts.stored_numbers()
    }
}
