//! SAP: the semi-analytic primal solver [Castro22].
//!
//! One convex minimisation in velocities, with exact line search, for compliant contact. Rows that
//! yield less than the near-rigid limit are softened to it [Castro22, Eqs. (29), (30)], so that
//! the paper's method answers a slightly softer problem than the one given.
//!
//! Deviation: by default that softening is taken back by multipliers, each pass starting where the
//! last one ended, until the residual measure finds the given problem solved. The setting `refine` off is
//! the paper's letter: one pass. Iterations are Newton steps.

use super::newton::{Convex, Phases, Question};
use super::{Setting, Solver};
use crate::compliance::NearRigid;
use crate::contact;
use crate::law::FrictionModel;
use crate::monitor::{Monitor, Status, Verdict};
use crate::problem::Problem;
use crate::solution::Solution;

/// The semi-analytic primal solver.
pub struct Sap {
    near_rigid: NearRigid,
    refine: bool,
    max_passes: usize,
    convex: Convex,
    extra: Vec<f64>,
    shift: Vec<f64>,
    yields: Vec<f64>,
    softened: bool,
}

impl Default for Sap {
    fn default() -> Self {
        Self {
            near_rigid: NearRigid::default(),
            refine: true,
            max_passes: 200,
            convex: Convex::default(),
            extra: Vec::new(),
            shift: Vec::new(),
            yields: Vec::new(),
            softened: false,
        }
    }
}

/// The violation must shrink by this from pass to pass, or the softening is reduced.
const SUFFICIENT_DECREASE: f64 = 0.25;
/// By how much it is reduced, and down to what part of the near-rigid limit.
const SHRINK: f64 = 0.1;
const LEAST_SOFTNESS: f64 = 1e-3;
/// Error of momentum that a minimisation may leave, per that of the answer [-].
const INEXACT: f64 = 0.1;

impl Sap {
    /// Where the time of Newton iterations went since the last call.
    pub fn take_phases(&mut self) -> Phases {
        self.convex.take_phases()
    }

    /// A minimisation whose softening is taken back next need not be more exact than the answer.
    fn inner_tolerance(&self, monitor: &Monitor) -> f64 {
        let exact = Convex::default().tolerance;
        if self.refine { exact.max(INEXACT * monitor.momentum_tolerance()) } else { exact }
    }

    /// Yields of all rows, and how much of them the problem does not have, at a part of the
    /// near-rigid limit.
    fn soften(&mut self, problem: &Problem, softness: f64) {
        for x in [&mut self.extra, &mut self.shift, &mut self.yields] {
            x.clear();
            x.resize(problem.rows(), 0.0);
        }
        self.softened = false;
        for i in 0..problem.constraints().len() {
            let w = problem.delassus().frobenius_scale(i);
            let w = if w > 0.0 { w } else { crate::residual::yield_scale(problem, i) };
            let w = softness * w;
            let least = contact::rows(self.near_rigid.normal() * w, self.near_rigid.sigma * w);
            for (k, least) in problem.row_range(i).zip(least) {
                let given = problem.compliance()[k];
                self.yields[k] = given.max(least);
                self.extra[k] = self.yields[k] - given;
                self.softened |= self.extra[k] > 0.0;
            }
        }
    }
}

impl Solver for Sap {
    fn models(&self) -> &'static [FrictionModel] {
        &[FrictionModel::Convex]
    }

    fn worth_reducing(&self, far: bool) -> f64 {
        if far { 0.7 } else { 0.15 } // close to the answer, an old factor serves again
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        vec![
            Setting::new("beta", "near-rigid limit of the normal [-]", &mut self.near_rigid.beta),
            Setting::new(
                "sigma",
                "near-rigid limit of the tangents [-]",
                &mut self.near_rigid.sigma,
            ),
            Setting::new("refine", "take the near-rigid softening back", &mut self.refine),
            Setting::new("max-passes", "minimisations when refining", &mut self.max_passes),
        ]
    }

    fn notes(&self) -> Vec<String> {
        if self.softened && !self.refine {
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
        self.convex.tolerance = self.inner_tolerance(monitor);
        let limit = monitor.iteration_limit(usize::MAX);
        let passes = if self.refine { self.max_passes } else { 1 };
        let (mut softness, mut last) = (1.0, f64::INFINITY);
        for _ in 0..passes {
            for k in 0..problem.rows() {
                let absorbed = if self.refine { self.extra[k] * solution.impulse[k] } else { 0.0 };
                self.shift[k] = problem.bias()[k] - absorbed;
            }
            let question = Question { shift: &self.shift, yields: &self.yields };
            let outcome = self.convex.minimise(
                problem,
                question,
                monitor.scaling(),
                &mut solution.velocity,
                &mut solution.impulse,
            );
            monitor.count(outcome.iterations.max(1));
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
