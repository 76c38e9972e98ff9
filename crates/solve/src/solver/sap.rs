//! SAP: the semi-analytic primal solver [Castro22].
//!
//! One convex minimisation in velocities, with exact line search, for compliant contact. Rows with
//! a compliance below the near-rigid limit are softened to it [Castro22, Eqs. (29), (30)], so that
//! the published method solves a slightly softer problem than the one given.
//!
//! Deviation: by default that softening is taken back by multipliers, each pass starting where the
//! last one ended, until the residual of the given problem is below the tolerance. With the setting
//! `refine` off, one pass is made, as published. Iterations are Newton steps.

use super::Solver;
use super::newton::{Convex, ConvexSettings, LineSearch, Phases, ShiftedLaws};
use crate::compliance::NearRigid;
use crate::contact;
use crate::law::FrictionModel;
use crate::monitor::{Monitor, Status, Verdict};
use crate::problem::Problem;
use crate::setting::{NamedSettings, SettingRange};
use crate::setting_table;
use crate::solution::Solution;

/// Settings of SAP.
#[derive(Clone, Debug)]
pub struct SapSettings {
    /// Near-rigid limit of the compliance.
    pub near_rigid: NearRigid,
    /// Whether multipliers take the near-rigid softening back.
    pub refine: bool,
    /// Minimisations when refining.
    pub max_passes: usize,
    /// Tolerances ε_r [-] and ε_a [√J] at which a minimisation ends [Castro22, Eq. (26)]; zero for the first: by the tolerance
    /// of the solve. With it one pass is made.
    pub relative_tolerance: f64,
    /// See `relative_tolerance`.
    pub absolute_tolerance: f64,
    /// How the length of a Newton step is found.
    pub line_search: LineSearch,
}

impl Default for SapSettings {
    fn default() -> Self {
        Self {
            near_rigid: NearRigid::default(),
            refine: true,
            max_passes: 200,
            relative_tolerance: 0.0,
            absolute_tolerance: 1e-16, // [Castro22, Sec. IV-E]
            line_search: LineSearch::default(),
        }
    }
}

setting_table!(
    SapSettings,
    "solver 'sap'",
    [
        (
            "beta",
            near_rigid.beta,
            "-",
            SettingRange::NOT_NEGATIVE,
            "near-rigid limit of the normal"
        ),
        (
            "sigma",
            near_rigid.sigma,
            "-",
            SettingRange::NOT_NEGATIVE,
            "near-rigid limit of the tangents"
        ),
        (
            "epsilon-a",
            absolute_tolerance,
            "√J",
            SettingRange::NOT_NEGATIVE,
            "absolute tolerance on the scaled momentum, beside epsilon-r"
        ),
        (
            "epsilon-r",
            relative_tolerance,
            "-",
            SettingRange::NOT_NEGATIVE,
            "relative tolerance on momentum at which the one minimisation ends; 0: by the tolerance of the solve"
        ),
        ("line-search", line_search, "", SettingRange::ANY, "exact, or backtracking as published"),
        ("refine", refine, "", SettingRange::ANY, "take the near-rigid softening back"),
        ("max-passes", max_passes, "", SettingRange::ANY, "minimisations when refining"),
    ]
);

/// The semi-analytic primal solver.
#[derive(Default)]
pub struct Sap {
    settings: SapSettings,
    convex: Convex,
    /// Compliance added to softened rows [1/kg].
    extra: Vec<f64>,
    shift: Vec<f64>,
    local_compliance: Vec<f64>,
    softened: bool,
}

/// The violation must shrink by this from pass to pass, or the softening is reduced.
const SUFFICIENT_DECREASE: f64 = 0.25;
/// By how much it is reduced, and down to what part of the near-rigid limit.
const SHRINK: f64 = 0.1;
const LEAST_SOFTNESS: f64 = 1e-3;
/// Error of momentum that a minimisation may leave, per that of the solution [-].
const INEXACT: f64 = 0.1;

impl Sap {
    /// Times of the phases of Newton iterations since the last call.
    pub fn take_phases(&mut self) -> Phases {
        self.convex.take_phases()
    }

    fn has_own_tolerance(&self) -> bool {
        self.settings.relative_tolerance > 0.0
    }

    /// A minimisation whose softening is taken back next need not be more exact than the solution.
    fn inner_tolerance(&self, monitor: &Monitor) -> f64 {
        let exact = ConvexSettings::default().tolerance;
        if self.has_own_tolerance() {
            return self.settings.relative_tolerance;
        }
        if self.settings.refine { exact.max(INEXACT * monitor.momentum_tolerance()) } else { exact }
    }

    /// Softened compliance of all rows, and its excess over that of the problem, at a fraction of the
    /// near-rigid limit.
    fn soften(&mut self, problem: &Problem, softness: f64) {
        for x in [&mut self.extra, &mut self.shift, &mut self.local_compliance] {
            x.clear();
            x.resize(problem.rows(), 0.0);
        }
        self.softened = false;
        for i in 0..problem.constraints().len() {
            let w = problem.delassus().frobenius_scale(i);
            let w = if w > 0.0 { w } else { crate::residual::compliance_scale(problem, i) };
            let w = softness * w;
            let least = contact::rows(
                self.settings.near_rigid.normal() * w,
                self.settings.near_rigid.sigma * w,
            );
            for (k, least) in problem.row_range(i).zip(least) {
                let given = problem.compliance()[k];
                self.local_compliance[k] = given.max(least);
                self.extra[k] = self.local_compliance[k] - given;
                self.softened |= self.extra[k] > 0.0;
            }
        }
    }
}

/// A minimisation, measured after each Newton iteration.
fn trace_minimisation(
    convex: &mut Convex,
    problem: &Problem,
    laws: ShiftedLaws<'_>,
    monitor: &mut Monitor,
    (velocity, impulse): (&mut [f64], &mut [f64]),
) {
    let limit = std::mem::replace(&mut convex.settings.max_iterations, 1);
    for iteration in 0..limit {
        let outcome = convex.minimise(problem, laws, monitor.scaling(), velocity, impulse);
        if outcome.converged || outcome.iterations == 0 {
            monitor.count(usize::from(iteration == 0));
            break;
        }
        monitor.count(1);
        if iteration + 1 < limit {
            // The verdict is taken where the minimisation ends.
            let _ = monitor.observe(problem, velocity, impulse);
        }
    }
    convex.settings.max_iterations = limit;
}

impl Solver for Sap {
    fn models(&self) -> &'static [FrictionModel] {
        &[FrictionModel::Convex]
    }

    fn worth_reducing(&self, far: bool) -> f64 {
        if far { 0.7 } else { 0.15 } // close to the solution, an old factor is used again
    }

    fn settings(&self) -> Option<&dyn NamedSettings> {
        Some(&self.settings)
    }

    fn settings_mut(&mut self) -> Option<&mut dyn NamedSettings> {
        Some(&mut self.settings)
    }

    fn notes(&self) -> Vec<String> {
        if self.softened && (!self.settings.refine || self.has_own_tolerance()) {
            return vec!["rigid rows were softened to the near-rigid limit".to_owned()];
        }
        Vec::new()
    }

    fn improve(
        &mut self,
        problem: &Problem,
        monitor: &mut Monitor,
        solution: &mut Solution,
    ) -> Status {
        self.soften(problem, 1.0);
        if let Verdict::Stop(status) =
            monitor.observe(problem, &solution.velocity, &solution.impulse)
        {
            return status;
        }
        self.convex.prepare(problem);
        self.convex.settings.tolerance = self.inner_tolerance(monitor);
        self.convex.settings.absolute_tolerance =
            if self.has_own_tolerance() { self.settings.absolute_tolerance } else { 0.0 };
        self.convex.settings.line_search = self.settings.line_search;
        let limit = monitor.iteration_limit(usize::MAX);
        let refine = self.settings.refine && !self.has_own_tolerance();
        let passes = if refine { self.settings.max_passes } else { 1 };
        let (mut softness, mut last) = (1.0, f64::INFINITY);
        for _ in 0..passes {
            for k in 0..problem.rows() {
                let absorbed = if refine { self.extra[k] * solution.impulse[k] } else { 0.0 };
                self.shift[k] = problem.bias()[k] - absorbed;
            }
            let laws = ShiftedLaws { shift: &self.shift, local_compliance: &self.local_compliance };
            let (velocity, impulse) = (&mut solution.velocity, &mut solution.impulse);
            if monitor.is_tracing() {
                trace_minimisation(&mut self.convex, problem, laws, monitor, (velocity, impulse));
            } else {
                let scaling = monitor.scaling();
                let outcome = self.convex.minimise(problem, laws, scaling, velocity, impulse);
                monitor.count(outcome.iterations.max(1));
            }
            match monitor.observe(problem, &solution.velocity, &solution.impulse) {
                Verdict::Stop(status) => return status,
                Verdict::Continue if monitor.iterations() >= limit => {
                    return Status::IterationLimit;
                }
                Verdict::Continue => {}
            }
            let violation = monitor.last().0;
            if violation > SUFFICIENT_DECREASE * last && softness > LEAST_SOFTNESS {
                softness *= SHRINK;
                self.soften(problem, softness);
            }
            last = violation;
        }
        Status::Stalled
    }
}
