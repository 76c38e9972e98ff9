//! CANAL: cascaded Newton on the augmented Lagrangian [Lee25, Secs. IV, V, Alg. 1].
//!
//! Exact friction as a sequence of convex problems: the slip terms `p = μ|z_t|` shift the normal
//! velocity [Lee25, Eq. (21)], the multipliers absorb the penalty [Lee25, Eq. (13)], and each
//! outer iteration is one convex minimisation. With p = 0 the same loop solves the relaxed
//! problem exactly. The outer loop is linear, not superlinear, wherever a contact slides: one
//! sliding contact contracts by `μ²/(1+μ²)`.
//!
//! Deviation: penalties per 1/w and capped, minimisations as exact as the loop needs, and the loop also waits for p. Slip
//! terms start from zero, not from the slip of the free motion, which is far too fast and cost three digits in ten
//! outer iterations on stacked dishes; a secant of their fixed-point iteration gains two more. The setting `paper`
//! restores one uncapped penalty in kilograms, exact minimisations, full steps and that start.
//! Iterations are Newton steps.

use super::Solver;
use super::multiplier::{Multipliers, SlipStep};
use super::newton::{Convex, ConvexSettings, Phases};
use crate::law::FrictionModel;
use crate::monitor::{Monitor, Status, Verdict};
use crate::problem::Problem;
use crate::setting::{NamedSettings, SettingRange};
use crate::setting_table;
use crate::solution::Solution;

/// Settings of CANAL.
#[derive(Clone, Debug, PartialEq)]
pub struct CanalSettings {
    /// Penalty at the start, per 1/w [-].
    pub first_penalty: f64,
    /// Largest penalty, per 1/w [-].
    pub max_penalty: f64,
    /// Largest penalty once progress stalls at `max_penalty`, per 1/w [-].
    pub stalled_penalty: f64,
    /// Factor by which the penalty grows [-].
    pub growth: f64,
    /// Outer iterations.
    pub max_outer: usize,
    /// One uncapped penalty in kilograms and full slip steps, as published.
    pub paper: bool,
    /// Initial penalty if `paper` is set [kg].
    pub paper_penalty: f64,
}

impl Default for CanalSettings {
    fn default() -> Self {
        Self {
            // Penalties per 1/w have no published value; these suit the problem catalogue.
            first_penalty: 1e2,
            max_penalty: 1e4,
            stalled_penalty: 1e5,
            growth: 10.0,
            max_outer: 200,
            paper: false,
            paper_penalty: 1e4, // [Lee25, Sec. VII]
        }
    }
}

setting_table!(
    CanalSettings,
    "solver 'canal'",
    [
        (
            "first-penalty",
            first_penalty,
            "-",
            SettingRange::POSITIVE,
            "penalty at the start, per 1/w"
        ),
        ("max-penalty", max_penalty, "-", SettingRange::POSITIVE, "largest penalty, per 1/w"),
        (
            "stalled-penalty",
            stalled_penalty,
            "-",
            SettingRange::POSITIVE,
            "largest penalty once progress stalls, per 1/w"
        ),
        ("growth", growth, "-", SettingRange::at_least(1.0), "factor by which the penalty grows"),
        ("max-outer", max_outer, "", SettingRange::ANY, "outer iterations"),
        ("paper", paper, "", SettingRange::ANY, "one uncapped penalty, full slip steps"),
        ("paper-penalty", paper_penalty, "kg", SettingRange::POSITIVE, "that penalty at the start"),
    ]
);

/// Cascaded Newton on the augmented Lagrangian.
#[derive(Default)]
pub struct Canal {
    settings: CanalSettings,
    convex: Convex,
    multipliers: Multipliers,
    old: Vec<f64>,
}

/// Outer iterations at the cap without halving the change before the cap is raised.
const PATIENCE: usize = 10;

/// The penalty grows unless the slack shrinks by this factor [Lee25, Eq. (28)].
const SUFFICIENT_DECREASE: f64 = 0.25;

/// Error of momentum that a minimisation may leave, per that of the solution [-].
const INEXACT: f64 = 0.1;

/// The same per what the outer loop changed before, in slack and slip relative to the reference velocity [-].
const PART: f64 = 1e-2;

impl Canal {
    /// Times of the phases of Newton iterations since the last call.
    pub fn take_phases(&mut self) -> Phases {
        self.convex.take_phases()
    }
}

impl Solver for Canal {
    fn models(&self) -> &'static [FrictionModel] {
        &[FrictionModel::Coulomb, FrictionModel::Convex]
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

    fn improve(
        &mut self,
        problem: &Problem,
        monitor: &mut Monitor,
        solution: &mut Solution,
    ) -> Status {
        let exact_friction = monitor.model() == FrictionModel::Coulomb;
        if let Verdict::Stop(status) =
            monitor.observe(problem, &solution.velocity, &solution.impulse)
        {
            return status;
        }
        self.convex.prepare(problem);
        // The multiplier update corrects an inexact minimisation; the published method is exact.
        let inexact = INEXACT * monitor.momentum_tolerance();
        let exact = ConvexSettings::default().tolerance;
        let least = if self.settings.paper { exact } else { exact.max(inexact) };
        self.convex.settings.tolerance = if self.settings.paper { exact } else { PART.max(least) };
        self.multipliers.uniform = self.settings.paper;
        self.multipliers.slip_step =
            if self.settings.paper { SlipStep::Full } else { SlipStep::Secant };
        self.multipliers.start(problem, &solution.impulse);
        // Without impulses the guess is the free motion, whose slip is far too fast: then p = 0.
        if self.settings.paper || solution.impulse.iter().any(|l| *l != 0.0) {
            self.multipliers.slip_at(problem, &solution.velocity);
        }
        let limit = monitor.iteration_limit(usize::MAX);
        let mut c = if self.settings.paper {
            self.settings.paper_penalty
        } else {
            self.settings.first_penalty
        };
        let mut cap = if self.settings.paper { f64::INFINITY } else { self.settings.max_penalty };
        let (mut last, mut smallest, mut idle) = (f64::INFINITY, f64::INFINITY, 0);
        for _ in 0..self.settings.max_outer {
            self.old.clone_from(&self.multipliers.lambda);
            let laws = self.multipliers.shifted_laws(problem, c, exact_friction);
            let outcome = self.convex.minimise(
                problem,
                laws,
                monitor.scaling(),
                &mut solution.velocity,
                &mut solution.impulse,
            );
            monitor.count(outcome.iterations.max(1));
            let slack = self.multipliers.slack(problem, c, &self.old, &solution.impulse);
            self.multipliers.update(problem, c, &solution.impulse);
            let slip = if exact_friction {
                self.multipliers.update_slip(problem, c, &solution.velocity, &self.old)
            } else {
                0.0
            };
            match monitor.observe(problem, &solution.velocity, &solution.impulse) {
                Verdict::Stop(status) => return status,
                Verdict::Continue if monitor.iterations() >= limit => {
                    return Status::IterationLimit;
                }
                Verdict::Continue => {}
            }
            if slack > SUFFICIENT_DECREASE * last {
                c = (self.settings.growth * c).min(cap);
            }
            last = slack;
            if !self.settings.paper {
                let left = slack.max(slip) / problem.reference_velocity().max(f64::MIN_POSITIVE);
                self.convex.settings.tolerance = (PART * left).min(PART).max(least);
            }
            idle = if slack.max(slip) < 0.5 * smallest { 0 } else { idle + 1 };
            smallest = smallest.min(slack.max(slip));
            if idle >= PATIENCE && !self.settings.paper {
                (cap, idle) = (self.settings.stalled_penalty, 0);
            }
        }
        Status::Stalled
    }
}
