//! Augmented Lagrangian with semismooth Newton on the exact equations, without a fallback when Newton
//! fails: the two baselines that CANAL is compared with [Lee25, Sec. VII-D, Table II].
//!
//! A failed inner solve ends the solve. Deviation: penalties per 1/w and capped; the setting
//! `paper` restores one penalty in kilograms. Iterations are Newton steps.

use super::Solver;
use super::multiplier::Multipliers;
use super::newton::{Globalisation, Strict, StrictSettings};
use crate::law::FrictionModel;
use crate::monitor::{Monitor, Status, Verdict};
use crate::problem::Problem;
use crate::setting::{NamedSettings, SettingRange};
use crate::setting_table;
use crate::solution::Solution;

/// Settings of the two Newton baselines.
#[derive(Clone, Debug, PartialEq)]
pub struct NewtonAlSettings {
    /// Penalty at the start, per 1/w [-].
    pub first_penalty: f64,
    /// Largest penalty, per 1/w [-].
    pub max_penalty: f64,
    /// Factor by which the penalty grows [-].
    pub growth: f64,
    /// Outer iterations.
    pub max_outer: usize,
    /// One uncapped penalty in kilograms for all constraints, as published.
    pub paper: bool,
    /// Initial penalty if `paper` is set [kg].
    pub paper_penalty: f64,
}

impl Default for NewtonAlSettings {
    fn default() -> Self {
        Self {
            // The penalties of CANAL, with which these baselines are compared.
            first_penalty: 1e2,
            max_penalty: 1e3,
            growth: 10.0,
            max_outer: 60,
            paper: false,
            paper_penalty: 1e4, // [Lee25, Sec. VII]
        }
    }
}

setting_table!(
    NewtonAlSettings,
    "Newton baseline",
    [
        (
            "first-penalty",
            first_penalty,
            "-",
            SettingRange::POSITIVE,
            "penalty at the start, per 1/w"
        ),
        ("max-penalty", max_penalty, "-", SettingRange::POSITIVE, "largest penalty, per 1/w"),
        ("growth", growth, "-", SettingRange::at_least(1.0), "factor by which the penalty grows"),
        ("max-outer", max_outer, "", SettingRange::ANY, "outer iterations"),
        ("paper", paper, "", SettingRange::ANY, "one penalty in kilograms for all"),
        ("paper-penalty", paper_penalty, "kg", SettingRange::POSITIVE, "that penalty at the start"),
    ]
);

/// Augmented Lagrangian with semismooth Newton, without fallbacks.
pub struct NewtonAl {
    settings: NewtonAlSettings,
    strict: Strict,
    multipliers: Multipliers,
    old: Vec<f64>,
}

/// Largest number of Newton iterations of an inner solve.
const MAX_NEWTON: usize = 100;

impl NewtonAl {
    /// A solver with default settings and one of the two globalisations.
    pub fn new(globalisation: Globalisation) -> Self {
        let inner =
            StrictSettings { globalisation, max_iterations: MAX_NEWTON, ..Default::default() };
        Self {
            settings: NewtonAlSettings::default(),
            strict: Strict::new(inner),
            multipliers: Multipliers::default(),
            old: Vec::new(),
        }
    }
}

/// The penalty grows unless the slack shrinks by this factor [Lee25, Eq. (28)].
const SUFFICIENT_DECREASE: f64 = 0.25;

impl Solver for NewtonAl {
    fn models(&self) -> &'static [FrictionModel] {
        &[FrictionModel::Coulomb]
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

    fn improve(
        &mut self,
        problem: &Problem,
        monitor: &mut Monitor,
        solution: &mut Solution,
    ) -> Status {
        if let Verdict::Stop(status) =
            monitor.observe(problem, &solution.velocity, &solution.impulse)
        {
            return status;
        }
        self.strict.prepare(problem);
        self.multipliers.uniform = self.settings.paper;
        self.multipliers.start(problem, &solution.impulse);
        let limit = monitor.iteration_limit(usize::MAX);
        let mut c = if self.settings.paper {
            self.settings.paper_penalty
        } else {
            self.settings.first_penalty
        };
        let cap = if self.settings.paper { f64::INFINITY } else { self.settings.max_penalty };
        let mut last = f64::INFINITY;
        for _ in 0..self.settings.max_outer {
            self.old.clone_from(&self.multipliers.lambda);
            let laws = self.multipliers.shifted_laws(problem, c, false);
            let outcome = self.strict.find(
                problem,
                laws,
                monitor.scaling(),
                &mut solution.velocity,
                &mut solution.impulse,
                |_| 0.0,
            );
            monitor.count(outcome.iterations.max(1));
            let slack = self.multipliers.slack(problem, c, &self.old, &solution.impulse);
            self.multipliers.update(problem, c, &solution.impulse);
            match monitor.observe(problem, &solution.velocity, &solution.impulse) {
                Verdict::Stop(status) => return status,
                Verdict::Continue if monitor.iterations() >= limit => {
                    return Status::IterationLimit;
                }
                Verdict::Continue if !outcome.converged => return Status::Failed,
                Verdict::Continue => {}
            }
            if slack > SUFFICIENT_DECREASE * last {
                c = (self.settings.growth * c).min(cap);
            }
            last = slack;
        }
        Status::Stalled
    }
}
