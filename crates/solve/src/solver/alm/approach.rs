//! Newton's method on the natural map from the guess, which takes few iterations when the guess has
//! the right contacts open, in stick and in slip.
//!
//! Where it has not, sweeps determine them. Dozens of sweeps cost less than one factorization, as long
//! as all constraints are contacts of rigid bodies. The result is at least as good as the guess.

use super::Alm;
use crate::law::FrictionModel;
use crate::monitor::{Monitor, Status, Verdict};
use crate::problem::Problem;
use crate::solution::Solution;
use crate::solver::sweep::{Direction, StepRule};

/// Sweeps before each attempt.
const SWEEPS: [usize; 3] = [0, 60, 120];
/// Sweeps before the first attempt, if the guess violates the laws by more than this, per unit of the
/// reference velocity [-].
const FIRST_SWEEPS: usize = 40;
const UNDECIDED: f64 = 1e-2;
/// Violation, per unit of the reference velocity, below which sweeps no longer change which contacts act [-].
const DECIDED: f64 = 1e-5;
/// Tolerance of Newton's method per tolerance of the solve: its last iteration gains several
/// digits [-].
const AIM: f64 = 1e-2;
/// Newton iterations of each attempt.
const NEWTON: usize = 10;

/// Tolerance of Newton's method on the impulses of a small problem per tolerance of the solve [-]: its violation differs from
/// that of the solution by round-off.
const CONTACT_SPACE_AIM: f64 = 0.3;
/// Violation, per unit of the reference velocity, up to which continued impulses are not compared with others [-].
const NEAR: f64 = 1e-3;
/// Newton iterations on the impulses of a small problem.
const CONTACT_SPACE_NEWTON: usize = 30;

impl Alm {
    /// Improves a guess of a small problem by its impulses alone; the status if it converges.
    fn approach_by_impulses(
        &mut self,
        problem: &Problem,
        monitor: &mut Monitor,
        solution: &mut Solution,
        is_measured: bool,
    ) -> Option<Status> {
        if !self.contact_space.prepare(problem) {
            return if is_measured { None } else { self.measure_guess(problem, monitor) };
        }
        let (model, tolerance) = (monitor.model(), monitor.velocity_tolerance());
        let aims = [CONTACT_SPACE_AIM * tolerance, tolerance];
        let left = monitor.iteration_limit(usize::MAX).saturating_sub(monitor.iterations());
        let most = CONTACT_SPACE_NEWTON.min(left);
        self.lambda.clone_from(&solution.impulse);
        if monitor.exchange_other_guess(problem, &mut self.old) {
            let near = NEAR * problem.reference_velocity();
            self.contact_space.choose(problem, model, near, [&mut self.lambda, &mut self.old]);
        }
        self.contact_space.deadline = monitor.deadline();
        let (violation, iterations) =
            self.contact_space.improve(problem, model, aims, most, &mut self.lambda);
        monitor.count(iterations);
        solution.impulse.copy_from_slice(&self.lambda);
        problem.velocity_of(&solution.impulse, &mut solution.velocity);
        // The velocity is that of the impulses; the solution is measured when the solve ends.
        if violation <= aims[0] && !monitor.is_tracing() {
            return Some(Status::Converged);
        }
        if !is_measured && let Some(status) = self.measure_guess(problem, monitor) {
            return Some(status);
        }
        if let Verdict::Stop(status) =
            monitor.observe(problem, &solution.velocity, &solution.impulse)
        {
            return Some(status);
        }
        if monitor.error() < self.smallest {
            self.smallest = monitor.error();
            self.best.clone_from(solution);
        } else {
            solution.clone_from(&self.best);
            let _ = monitor.observe(problem, &solution.velocity, &solution.impulse);
        }
        None
    }

    /// Measures the guess, which is the best solution so far; the status if the time is over.
    fn measure_guess(&mut self, problem: &Problem, monitor: &mut Monitor) -> Option<Status> {
        let verdict = monitor.observe(problem, &self.best.velocity, &self.best.impulse);
        self.smallest = monitor.error();
        match verdict {
            Verdict::Stop(status) => Some(status),
            Verdict::Continue => None,
        }
    }

    /// Improves a guess; the status if it converges. `is_measured` says whether the monitor has measured it.
    pub(super) fn approach(
        &mut self,
        problem: &Problem,
        monitor: &mut Monitor,
        solution: &mut Solution,
        is_measured: bool,
    ) -> Option<Status> {
        let (model, tolerance) = (monitor.model(), AIM * monitor.velocity_tolerance());
        if let Some(status) = self.approach_by_impulses(problem, monitor, solution, is_measured) {
            return Some(status);
        }
        let limit = monitor.iteration_limit(usize::MAX);
        let mut smallest = f64::INFINITY;
        self.prepare_natural_map(problem);
        let undecided = monitor.last().0 > UNDECIDED * problem.reference_velocity();
        let mut can_sweep = None;
        for (attempt, sweeps) in SWEEPS.into_iter().enumerate() {
            let sweeps = if attempt == 0 && undecided { FIRST_SWEEPS } else { sweeps };
            let decided = smallest <= DECIDED * problem.reference_velocity();
            if monitor.iterations() >= limit || decided {
                return None;
            }
            self.lambda.clone_from(&solution.impulse);
            self.v.clone_from(&solution.velocity);
            if sweeps > 0 {
                let prepare = || self.sweep.prepare(problem, StepRule::Safe, 1.0);
                match (*can_sweep.get_or_insert_with(prepare), attempt) {
                    (true, _) => self.sweep_from(problem, model, sweeps),
                    (false, 0) => {}
                    (false, _) => return None,
                }
            }
            self.natural_map.deadline = monitor.deadline();
            self.natural_map.settings.max_iterations = NEWTON.min(limit - monitor.iterations());
            let (found, iterations) =
                self.natural_map.polish(problem, model, tolerance, &mut self.v, &mut self.lambda);
            monitor.count(iterations);
            if !(found < smallest) {
                continue;
            }
            smallest = found;
            solution.velocity.copy_from_slice(&self.v);
            solution.impulse.copy_from_slice(&self.lambda);
            if let Verdict::Stop(status) =
                monitor.observe(problem, &solution.velocity, &solution.impulse)
            {
                return Some(status);
            }
            if monitor.error() < self.smallest {
                self.smallest = monitor.error();
                self.best.clone_from(solution);
            }
        }
        None
    }

    /// Sweeps over the contacts from λ, and the velocity that it causes.
    fn sweep_from(&mut self, problem: &Problem, model: FrictionModel, sweeps: usize) {
        problem.velocity_of(&self.lambda, &mut self.v);
        self.sweep.start(problem, &self.v);
        for _ in 0..sweeps {
            self.sweep.pass(model, Direction::Forward, 1.0, &mut self.lambda);
        }
    }
}
