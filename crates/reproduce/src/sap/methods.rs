//! The methods that are compared on the problems of clutter, and their figures [Castro22, Secs. VI-A and VI-C].

use stiction_solve::residual::ResidualMeasure;
use stiction_solve::{FrictionModel, Goal, Problem, Report, Session, Solution};

use super::clutter::TOLERANCE;
use super::recorder::RecordedProblem;
use crate::baselines::interior_point::InteriorPoint;
use crate::error::ReproduceError;
use crate::timed_solve;

/// Names in the tables: SAP, the interior-point method with its sparse algebra at two tolerances, and a general one for cones.
pub const METHODS: [&str; 4] = ["sap", "interior-point", "interior-point 1e-8", "ipm"];
/// Place of the method that others are compared with.
pub const GENERAL: usize = 3;
/// The smaller tolerance of the interior-point method, and the tolerance of the general one, which the paper gives for its
/// other scenes [-].
const SMALL_TOLERANCE: f64 = 1e-8;
const GENERAL_TOLERANCE: &str = "1e-8";
/// Residual with which the general method is content after its first attempt [-].
const GENERAL_GOAL: f64 = 1e-3;

/// Figures of one solve.
#[derive(Clone, Copy, Debug, Default)]
pub struct SolveFigures {
    /// Iterations.
    pub iterations: f64,
    /// CPU time of the solver [s].
    pub seconds: f64,
    /// e_m [-] [Castro22, Eq. (32)].
    pub momentum: f64,
    /// e_μ [-] [Castro22, Eq. (33)].
    pub complementarity: f64,
    /// Violation of the laws relative to the reference velocity [-].
    pub violation: f64,
}

/// Sessions of all methods.
pub struct Methods {
    sessions: [Session; 4],
    measure: ResidualMeasure,
}

impl Methods {
    /// For problems with the regularisation σ.
    pub fn new(sigma: f64) -> Result<Self, ReproduceError> {
        let general = timed_solve::session("ipm", &[("tolerance", GENERAL_TOLERANCE)])?;
        let [interior, small] =
            [TOLERANCE, SMALL_TOLERANCE].map(|tolerance| Box::new(InteriorPoint::new(tolerance)));
        let sessions = [
            sap(sigma)?,
            Session::with("interior-point", interior),
            Session::with("interior-point", small),
            general,
        ];
        Ok(Self { sessions, measure: ResidualMeasure::default() })
    }

    /// Solves a recorded problem by all methods: SAP from the velocities of the step before, the others cold, for they gain nothing
    /// from a guess. `None` if no contact acts in it, where errors relative to the cost mean nothing.
    pub fn compare(
        &mut self,
        recorded: &RecordedProblem,
    ) -> Result<Option<[SolveFigures; 4]>, ReproduceError> {
        let mut found = [SolveFigures::default(); 4];
        for (method, found) in found.iter_mut().enumerate() {
            let (figures, solution) = self.solve(recorded, method)?;
            if method == 0 && solution.impulse.iter().all(|impulse| *impulse == 0.0) {
                return Ok(None);
            }
            *found = figures;
        }
        Ok(Some(found))
    }

    fn solve(
        &mut self,
        recorded: &RecordedProblem,
        method: usize,
    ) -> Result<(SolveFigures, Solution), ReproduceError> {
        let problem = &recorded.problem;
        let mut solution =
            if method == 0 { warm(recorded) } else { Solution::cold(&recorded.problem) };
        let tolerance = if method == GENERAL { GENERAL_GOAL } else { TOLERANCE };
        let goal = Goal { tolerance, ..Goal::default() };
        let solved = timed_solve::solve(&mut self.sessions[method], problem, &goal, &mut solution)?;
        self.measure.prepare(problem);
        let (v, impulse) = (&solution.velocity, &solution.impulse);
        let cost = self.measure.primal_cost(problem, v, impulse);
        let figures = SolveFigures {
            iterations: solved.report.iterations as f64,
            seconds: solved.seconds,
            momentum: solved.report.residuals.momentum,
            complementarity: self.measure.complementarity(problem, v, impulse, cost),
            violation: timed_solve::relative_violation(&solved.report),
        };
        Ok((figures, solution))
    }
}

/// A session of SAP as published.
fn sap(sigma: f64) -> Result<Session, ReproduceError> {
    let [tolerance, sigma] = [TOLERANCE, sigma].map(|x| x.to_string());
    Ok(timed_solve::session("sap", &[("epsilon-r", &tolerance), ("sigma", &sigma)])?)
}

/// Solves with SAP, with a trace of its Newton iterations, to a tolerance of its own.
pub fn trace(
    recorded: &RecordedProblem,
    sigma: f64,
    tolerance: f64,
) -> Result<(Report, Solution), ReproduceError> {
    let mut session = sap(sigma)?;
    session.set("epsilon-r", &tolerance.to_string())?;
    let goal = Goal { tolerance, trace: true, ..Goal::default() };
    let mut solution = warm(recorded);
    let report = session.solve(&recorded.problem, &goal, &mut solution)?;
    Ok((report, solution))
}

/// The guess of SAP: the velocities of the step before, and the impulses of the contact model at them, as its first iteration
/// computes them.
fn warm(recorded: &RecordedProblem) -> Solution {
    let impulse = analytic_impulses(&recorded.problem, &recorded.velocity);
    Solution { velocity: recorded.velocity.clone(), impulse }
}

/// γ(v) of compliant contacts [N·s] [Castro22, Eq. (27)].
fn analytic_impulses(problem: &Problem, v: &[f64]) -> Vec<f64> {
    let mut c = vec![0.0; problem.rows()];
    problem.constraint_velocity(v, &mut c);
    let mut impulse = vec![0.0; problem.rows()];
    for i in 0..problem.constraints().len() {
        let rows = problem.row_range(i);
        let (c, r) = (&c[rows.clone()], &problem.compliance()[rows.clone()]);
        problem.law(i).respond(FrictionModel::Convex, c, r, &mut impulse[rows]);
    }
    impulse
}

#[cfg(test)]
mod tests {
    use super::super::clutter::{BODIES, ClutterRun, SIGMA};
    use super::*;

    #[test]
    fn all_methods_solve_the_steps_of_clutter_to_the_published_errors() {
        let mut run = ClutterRun::new(BODIES, true, SIGMA).unwrap();
        let mut methods = Methods::new(SIGMA).unwrap();
        let mut seen = 0;
        for step in 0..120 {
            let (_, recorded) = run.recorded_step().unwrap();
            let Some(recorded) = recorded.filter(|_| step % 5 == 4) else { continue };
            let Some(found) = methods.compare(&recorded).unwrap() else { continue };
            seen += 1;
            for (figures, name) in found.iter().zip(METHODS) {
                let (e_m, e_mu) = (figures.momentum, figures.complementarity);
                assert!(e_m <= TOLERANCE, "{name}, step {step}: {figures:?}");
                // What is left of s in the velocities adds as much again.
                assert!(e_mu <= 2.0 * TOLERANCE, "{name}, step {step}: {figures:?}");
            }
            // SAP satisfies the laws of contact by construction: round-off of sums of γ² R.
            assert!(found[0].complementarity <= 1e-10, "step {step}: {found:?}");
            // The violation of the laws, unlike e_μ, is no mean over the contacts.
            assert!(found[2].violation <= 1e-3, "step {step}: {found:?}");
        }
        assert!(seen >= 15);
    }
}
