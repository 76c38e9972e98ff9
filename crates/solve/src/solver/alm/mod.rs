//! ALM: augmented Lagrangian on exact friction, the accurate default.
//!
//! Newton's method on the natural map improves the guess first; a few cheap sweeps determine
//! which contacts act where that fails ([`approach`]). If it does not converge, the augmented
//! Lagrangian follows. Each of its outer iterations solves the strict equations of
//! [Lee25, Eq. (20)] by damped semismooth Newton, which is fast but not robust by itself. Where it
//! fails, the penalty is reduced; where that does not help, one convex step of CANAL
//! [Lee25, Eq. (22)] is taken instead. The penalty grows only after a success. Once the solution is
//! near, Newton's method on the natural map gives the last digits. When progress stops, the loop
//! starts again from the solution of the convex model, then from random multiples of it: with exact
//! friction a Newton iteration can stall far from any solution, but rarely does so from every start.
//! In the convex model the strict equations are replaced by the convex potential, whose minimisation
//! does not fail.
//!
//! Iterations are Newton steps, that is, factorizations.

mod approach;
mod contact_space;
mod contact_step;
mod dense;
mod linear_rows;

use self::contact_space::ContactSpace;
use super::Solver;
use super::contact_sweep::ContactSweep;
use super::infeasibility::Infeasibility;
use super::multiplier::Multipliers;
use super::newton::{Convex, NaturalMap, NewtonOutcome, Strict};
use crate::law::FrictionModel;
use crate::monitor::{Monitor, Status, Verdict};
use crate::problem::Problem;
use crate::setting::{NamedSettings, SettingRange};
use crate::setting_table;
use crate::solution::Solution;
use stiction_math::random::SplitMix64;

/// Settings of ALM. Penalties per 1/w have no published value; the defaults suit the problem
/// catalogue.
#[derive(Clone, Debug, PartialEq)]
pub struct AlmSettings {
    /// Penalty at the start with exact friction, per 1/w [-].
    pub first_penalty: f64,
    /// Penalty at the start in the convex model, per 1/w [-].
    pub first_convex_penalty: f64,
    /// Largest penalty, per 1/w [-].
    pub max_penalty: f64,
    /// Factor by which the penalty grows [-].
    pub growth: f64,
    /// Outer iterations.
    pub max_outer: usize,
    /// Newton iterations in all.
    pub max_newton: usize,
    /// Attempts from other guesses.
    pub max_restarts: usize,
    /// Whether Newton's method on the natural map gives the last digits.
    pub polish: bool,
}

impl Default for AlmSettings {
    fn default() -> Self {
        Self {
            first_penalty: 10.0,
            first_convex_penalty: 100.0,
            max_penalty: 1e8,
            growth: 10.0,
            max_outer: 100,
            max_newton: 500,
            max_restarts: 4,
            polish: true,
        }
    }
}

setting_table!(
    AlmSettings,
    "solver 'alm'",
    [
        (
            "first-penalty",
            first_penalty,
            "-",
            SettingRange::POSITIVE,
            "penalty at the start, per 1/w"
        ),
        (
            "first-convex-penalty",
            first_convex_penalty,
            "-",
            SettingRange::POSITIVE,
            "penalty at the start in the convex model, per 1/w"
        ),
        ("max-penalty", max_penalty, "-", SettingRange::POSITIVE, "largest penalty, per 1/w"),
        ("growth", growth, "-", SettingRange::at_least(1.0), "factor by which the penalty grows"),
        ("max-outer", max_outer, "", SettingRange::ANY, "outer iterations"),
        ("max-newton", max_newton, "", SettingRange::ANY, "Newton iterations in all"),
        ("restarts", max_restarts, "", SettingRange::ANY, "attempts from other guesses"),
        ("polish", polish, "", SettingRange::ANY, "end with Newton on the natural map"),
    ]
);

/// Newton iterations of one convex step.
const MAX_CONVEX: usize = 40;

/// Augmented Lagrangian with strict Newton steps, a convex fallback and a polish.
pub struct Alm {
    settings: AlmSettings,
    strict: Strict,
    convex: Convex,
    natural_map: NaturalMap,
    sweep: ContactSweep,
    contact_space: ContactSpace,
    multipliers: Multipliers,
    infeasibility: Infeasibility,
    old: Vec<f64>,
    v: Vec<f64>,
    lambda: Vec<f64>,
    polished: Solution,
    best: Solution,
    /// Error of `best` [m/s].
    smallest: f64,
    restarts: usize,
    fallbacks: usize,
    infeasible: bool,
    /// Whether these are prepared for the problem: both are needed late or never.
    convex_is_ready: bool,
    natural_map_is_ready: bool,
}

impl Default for Alm {
    fn default() -> Self {
        Self {
            settings: AlmSettings::default(),
            strict: Strict::default(),
            convex: Convex::with_limit(MAX_CONVEX),
            natural_map: NaturalMap::default(),
            sweep: ContactSweep::default(),
            contact_space: ContactSpace::default(),
            multipliers: Multipliers::default(),
            infeasibility: Infeasibility::default(),
            old: Vec::new(),
            v: Vec::new(),
            lambda: Vec::new(),
            polished: Solution::default(),
            best: Solution::default(),
            smallest: f64::INFINITY,
            restarts: 0,
            fallbacks: 0,
            infeasible: false,
            convex_is_ready: false,
            natural_map_is_ready: false,
        }
    }
}

/// Reductions of the penalty before the convex step is taken instead.
const RETREATS: usize = 2;
/// The smallest penalty after reductions, per 1/w [-].
const LEAST_PENALTY: f64 = 1e-2;
/// Part of the multiplier's change to which an inner solve is exact.
const INEXACT: f64 = 0.1;
/// The change of the multiplier must shrink by this or the penalty grows [Lee25, Eq. (28)].
const SUFFICIENT_DECREASE: f64 = 0.25;

/// Outer iterations without a better solution after which the loop stops.
const PATIENCE: usize = 30;
/// A better solution has at most this part of the error.
const BETTER: f64 = 0.9;
/// Convex steps before a restart.
const CONVEX_STEPS: usize = 5;

/// A natural map this many times larger than the multiplier's change is round-off.
const NOISE: f64 = 5.0;

/// State of the outer loop.
struct Progress {
    penalty: f64,
    growth: f64,
    /// Change of the multiplier in the last iteration; `None` right after a failure.
    change: Option<f64>,
    failures: usize,
    /// Violation at the last polish and the smallest of this attempt [m/s].
    polished: f64,
    smallest: f64,
    /// Outer iterations since it was found.
    since: usize,
    /// Iterations in which a large penalty only added round-off.
    noisy: usize,
}

impl Solver for Alm {
    fn models(&self) -> &'static [FrictionModel] {
        &[FrictionModel::Coulomb, FrictionModel::Convex]
    }

    fn worth_reducing(&self, _far: bool) -> f64 {
        4.0 // LU factorizations are slow on a mesh
    }

    fn settings(&self) -> Option<&dyn NamedSettings> {
        Some(&self.settings)
    }

    fn settings_mut(&mut self) -> Option<&mut dyn NamedSettings> {
        Some(&mut self.settings)
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.infeasible {
            notes.push(
                "no solution: the impulses can grow without end along a direction that moves \
                 nothing and that the bias rewards; add compliance or reduce the bias"
                    .to_owned(),
            );
        }
        if self.fallbacks > 0 {
            notes.push(format!("{} convex fallback steps", self.fallbacks));
        }
        if self.restarts > 0 {
            notes.push(format!("{} restarts from the convex model", self.restarts));
        }
        notes
    }

    fn improve(
        &mut self,
        problem: &Problem,
        monitor: &mut Monitor,
        solution: &mut Solution,
    ) -> Status {
        (self.fallbacks, self.restarts, self.infeasible) = (0, 0, false);
        (self.convex_is_ready, self.natural_map_is_ready) = (false, false);
        let exact = monitor.model() == FrictionModel::Coulomb;
        let may_approach = self.settings.polish && exact;
        // Of a guess whose momentum is wrong no more is measured unless it is to be improved by other means.
        let observed = if may_approach && !monitor.is_tracing() && ContactSpace::is_suited(problem)
        {
            monitor.observe_likely_guess(problem, solution)
        } else {
            Some(monitor.observe_guess(problem, solution))
        };
        if let Some(Verdict::Stop(status)) = observed {
            return status;
        }
        let is_measured = observed.is_some();
        self.best.clone_from(solution);
        self.smallest = monitor.error();
        if may_approach && let Some(status) = self.approach(problem, monitor, solution, is_measured)
        {
            if status != Status::Converged && !(monitor.error() < self.smallest) {
                solution.clone_from(&self.best);
            }
            return status;
        }
        let mut status = self.outer_loop(problem, monitor, solution);
        while exact && status == Status::Stalled && self.restarts < self.settings.max_restarts {
            self.restart(problem, monitor, solution);
            status = self.outer_loop(problem, monitor, solution);
        }
        if status != Status::Converged && self.best.fits(problem) {
            solution.clone_from(&self.best);
        }
        status
    }
}

impl Alm {
    fn outer_loop(
        &mut self,
        problem: &Problem,
        monitor: &mut Monitor,
        solution: &mut Solution,
    ) -> Status {
        let exact = monitor.model() == FrictionModel::Coulomb;
        if exact {
            self.strict.prepare(problem);
        }
        self.infeasibility.start(problem);
        self.multipliers.start(problem, &solution.impulse);
        self.multipliers.slip_at(problem, &solution.velocity);
        self.lambda.clone_from(&solution.impulse);
        let limit = monitor.iteration_limit(monitor.iterations() + self.settings.max_newton);
        let mut progress = Progress {
            penalty: if exact {
                self.settings.first_penalty
            } else {
                self.settings.first_convex_penalty
            },
            growth: self.settings.growth,
            change: Some(f64::INFINITY),
            failures: 0,
            polished: f64::INFINITY,
            smallest: monitor.error(),
            since: 0,
            noisy: 0,
        };
        for _ in 0..self.settings.max_outer {
            if monitor.iterations() >= limit {
                let given = limit == monitor.iteration_limit(usize::MAX);
                return if given { Status::IterationLimit } else { Status::Stalled };
            }
            if monitor.deadline().has_passed() {
                return Status::IterationLimit;
            }
            if progress.since >= PATIENCE {
                return Status::Stalled;
            }
            progress.since += 1;
            let c = progress.penalty;
            self.old.clone_from(&self.multipliers.lambda);
            let inner = if exact {
                self.strict_step(problem, monitor, c, solution, &mut progress)
            } else {
                self.convex_step(problem, monitor, c, solution, false)
            };
            let Some(inner) = inner else { continue };
            if !exact && !inner.converged {
                progress.penalty = (c / 3.0).max(1.0);
                progress.growth = progress.growth.sqrt().max(1.5);
            }
            let change = self.multipliers.update(problem, c, &self.lambda);
            if exact {
                self.multipliers.update_slip(problem, c, &self.v, &self.old);
            }
            solution.velocity.copy_from_slice(&self.v);
            solution.impulse.copy_from_slice(&self.lambda);
            if let Verdict::Stop(status) =
                monitor.observe(problem, &solution.velocity, &solution.impulse)
            {
                return status;
            }
            if inner.converged && self.infeasibility.certified(problem, c, &self.old, &self.lambda)
            {
                self.infeasible = true;
                return Status::Failed;
            }
            let violation = monitor.last().0;
            let stuck = violation > 0.7 * progress.smallest && inner.iterations <= 2;
            let noisy = stuck && {
                self.prepare_natural_map(problem);
                let map = self.natural_map.merit(problem, monitor.model(), &self.lambda);
                map > NOISE * change
            };
            progress.noisy = if noisy { progress.noisy + 1 } else { 0 };
            self.keep_best(monitor.error(), solution, &mut progress);
            if let Some(status) = self.polish(problem, monitor, solution, &mut progress) {
                return status;
            }
            if progress.noisy >= 2 {
                progress.penalty = (c / 100.0).max(self.settings.first_penalty);
                (progress.noisy, progress.change) = (0, None);
                continue;
            }
            let slow = progress.change.is_some_and(|last| change > SUFFICIENT_DECREASE * last);
            if inner.converged && slow && (exact || inner.iterations <= 12) {
                progress.penalty = (progress.growth * c).min(self.settings.max_penalty);
            }
            progress.change = Some(change);
        }
        Status::Stalled
    }

    /// Strict Newton; after repeated failures a convex step. `None` if the penalty is reduced.
    fn strict_step(
        &mut self,
        problem: &Problem,
        monitor: &mut Monitor,
        c: f64,
        solution: &Solution,
        progress: &mut Progress,
    ) -> Option<NewtonOutcome> {
        self.v.clone_from(&solution.velocity);
        let old = &self.old;
        let enough = |lambda: &[f64]| INEXACT * Multipliers::change(problem, c, old, lambda);
        let laws = self.multipliers.shifted_laws(problem, c, false);
        self.strict.deadline = monitor.deadline();
        let outcome = self.strict.find(
            problem,
            laws,
            monitor.scaling(),
            &mut self.v,
            &mut self.lambda,
            enough,
        );
        monitor.count(outcome.iterations);
        if outcome.converged {
            progress.failures = 0;
            return Some(outcome);
        }
        progress.failures += 1;
        progress.growth = progress.growth.sqrt().max(1.5);
        progress.change = None;
        if progress.failures <= RETREATS {
            progress.penalty = (c / 3.0).max(LEAST_PENALTY);
            return None;
        }
        self.fallbacks += 1;
        self.convex_step(problem, monitor, c, solution, true)
    }

    /// The convex potential, with the slip terms of exact friction if `slip`.
    fn convex_step(
        &mut self,
        problem: &Problem,
        monitor: &mut Monitor,
        c: f64,
        solution: &Solution,
        slip: bool,
    ) -> Option<NewtonOutcome> {
        if !self.convex_is_ready {
            self.convex.prepare(problem);
            self.convex_is_ready = true;
        }
        self.v.clone_from(&solution.velocity);
        let laws = self.multipliers.shifted_laws(problem, c, slip);
        self.convex.deadline = monitor.deadline();
        let outcome =
            self.convex.minimise(problem, laws, monitor.scaling(), &mut self.v, &mut self.lambda);
        monitor.count(outcome.iterations);
        // A convex step is progress even where it is no exact minimum; it does not count as a
        // success of the strict equations.
        Some(NewtonOutcome { converged: outcome.converged && !slip, ..outcome })
    }

    fn prepare_natural_map(&mut self, problem: &Problem) {
        if !self.natural_map_is_ready {
            self.natural_map.prepare(problem);
            self.natural_map_is_ready = true;
        }
    }

    fn keep_best(&mut self, error: f64, solution: &Solution, progress: &mut Progress) {
        if error <= BETTER * progress.smallest {
            progress.since = 0;
        }
        progress.smallest = progress.smallest.min(error);
        if error < self.smallest {
            self.smallest = error;
            self.best.clone_from(solution);
        }
    }

    /// The guess of the next restart: the approximate solution of the convex model; from the second
    /// on, each impulse is multiplied by a random number between zero and two.
    fn restart(&mut self, problem: &Problem, monitor: &mut Monitor, solution: &mut Solution) {
        solution.reset(problem);
        self.multipliers.start(problem, &solution.impulse);
        let mut c = self.settings.first_convex_penalty;
        for _ in 0..CONVEX_STEPS {
            let _ = self.convex_step(problem, monitor, c, solution, false);
            self.multipliers.update(problem, c, &self.lambda);
            solution.velocity.copy_from_slice(&self.v);
            c *= self.settings.growth;
        }
        solution.impulse.copy_from_slice(&self.lambda);
        if self.restarts > 0 {
            let mut random = SplitMix64::new(self.restarts as u64);
            solution.impulse.iter_mut().for_each(|l| *l *= random.uniform(0.0, 2.0));
        }
        self.restarts += 1;
        let _ = monitor.observe(problem, &solution.velocity, &solution.impulse);
    }

    /// Newton on the natural map from the multiplier, if the violation has decreased since the last
    /// polish.
    fn polish(
        &mut self,
        problem: &Problem,
        monitor: &mut Monitor,
        solution: &mut Solution,
        progress: &mut Progress,
    ) -> Option<Status> {
        let (violation, tolerance) = (monitor.last().0, monitor.velocity_tolerance());
        if !self.settings.polish
            || !(violation < 0.3 * progress.polished || violation < 30.0 * tolerance)
        {
            return None;
        }
        progress.polished = violation;
        self.prepare_natural_map(problem);
        self.natural_map.deadline = monitor.deadline();
        let (found, iterations) = self.natural_map.polish(
            problem,
            monitor.model(),
            tolerance,
            &mut self.v,
            &mut self.lambda,
        );
        monitor.count(iterations);
        if found < progress.smallest {
            self.polished.velocity.clone_from(&self.v);
            self.polished.impulse.clone_from(&self.lambda);
            let verdict = monitor.observe(problem, &self.v, &self.lambda);
            let accepted = std::mem::take(&mut self.polished);
            self.keep_best(monitor.error(), &accepted, progress);
            self.polished = accepted;
            if let Verdict::Stop(status) = verdict {
                solution.clone_from(&self.polished);
                return Some(status);
            }
        }
        if found < 0.1 * violation {
            solution.velocity.copy_from_slice(&self.v);
            solution.impulse.copy_from_slice(&self.lambda);
            self.multipliers.lambda.copy_from_slice(&self.lambda);
        }
        None
    }
}
