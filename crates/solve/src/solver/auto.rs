//! AUTO: chooses a solver by the structure of the problem, solves islands separately, and falls back to
//! other solvers when one stalls. Choice and fallbacks are in its notes.
//!
//! Exact friction goes to ALM; the convex model to SAP if every row is compliant, else to the convex
//! form of ALM. A large mesh that contacts touch at its nodes goes to COND, which factors nothing,
//! and a large heap at a low tolerance to sweeps. A problem that does not converge
//! is tried again by other methods, from the best solution so far, and the best is kept. Besides the
//! residual, AUTO also brings the natural map of the contacts below the tolerance.

use super::cond::{self, Cond};
use super::islands::Islands;
use super::reduced::{self, Reduced};
use super::{SOLVERS, Solver};
use crate::law::FrictionModel;
use crate::monitor::{Monitor, Status};
use crate::problem::{Problem, Structure, SubsystemId};
use crate::setting::{NamedSettings, SettingRange};
use crate::setting_table;
use crate::solution::Solution;

/// Settings of AUTO.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AutoSettings {
    /// Whether other solvers are tried when one stalls.
    pub fallback: bool,
    /// Whether the natural map is brought below the tolerance as well.
    pub natural_map: bool,
}

impl Default for AutoSettings {
    fn default() -> Self {
        Self { fallback: true, natural_map: true }
    }
}

setting_table!(
    AutoSettings,
    "solver 'auto'",
    [
        ("fallback", fallback, "", SettingRange::ANY, "try other solvers when one stalls"),
        (
            "natural-map",
            natural_map,
            "",
            SettingRange::ANY,
            "bring the natural map below the tolerance as well"
        ),
    ]
);

/// A choice of solver, made by structure.
#[derive(Default)]
pub struct Auto {
    settings: AutoSettings,
    solvers: Vec<(&'static str, Islands)>,
    decisions: Vec<Decision>,
    best: Solution,
    reduced: Reduced,
}

/// A decision, reported in the notes.
#[derive(Clone, Copy, Debug)]
enum Decision {
    Chose { solver: &'static str, why: &'static str },
    FellBack { from: &'static str, status: Status, to: &'static str },
}

/// Velocities of a sparse subsystem, and the relative tolerance, from which on COND is chosen.
const SOFT_DOFS: usize = 3_000;
const SOFT_TOLERANCE: f64 = 1e-6;
/// Iterations of COND that cost about as much as a solver with factorizations.
const SOFT_ITERATIONS: usize = 1500;
/// Rows, and the relative tolerance, from which on sweeps are chosen.
const HEAP_ROWS: usize = 60_000;
const HEAP_TOLERANCE: f64 = 1e-3;
/// How often, and by how much, the tolerance is tightened for the natural map.
const TIGHTENINGS: usize = 4;
const TIGHTEN: f64 = 0.1;

fn limited_cond() -> Box<dyn Solver> {
    Box::new(Cond::with_limit(SOFT_ITERATIONS))
}

impl Auto {
    fn choose(problem: &Problem, monitor: &Monitor) -> (&'static str, &'static str) {
        let sparse = |s| match problem.mass().structure(SubsystemId(s)) {
            Structure::Sparse { .. } => problem.mass().dofs(SubsystemId(s)).len(),
            _ => 0,
        };
        let soft: usize = (0..problem.mass().subsystems()).map(sparse).sum();
        let tolerance = monitor.relative_tolerance();
        if soft >= SOFT_DOFS && tolerance >= SOFT_TOLERANCE && cond::is_suited(problem) {
            return ("cond", "a large mesh that contacts touch at its nodes");
        }
        if problem.rows() >= HEAP_ROWS && soft == 0 && tolerance >= HEAP_TOLERANCE {
            return ("psor", "a large heap at a low tolerance");
        }
        match monitor.model() {
            FrictionModel::Coulomb => ("alm", "exact friction"),
            FrictionModel::Convex if problem.compliance().iter().all(|r| *r > 0.0) => {
                ("sap", "convex friction, every row compliant")
            }
            FrictionModel::Convex => ("alm", "convex friction, rigid rows"),
        }
    }

    /// Methods of different kinds, in the order in which they are tried.
    fn fallbacks(model: FrictionModel) -> &'static [&'static str] {
        match model {
            FrictionModel::Coulomb => &["alm", "canal", "admm", "pgs"],
            FrictionModel::Convex => &["alm", "apgd", "ipm"],
        }
    }

    fn run(
        &mut self,
        name: &'static str,
        problem: &Problem,
        monitor: &mut Monitor,
        solution: &mut Solution,
    ) -> Option<Status> {
        let entry = SOLVERS.iter().find(|e| e.name == name)?;
        let index = match self.solvers.iter().position(|(n, _)| *n == name) {
            Some(index) => index,
            None => {
                let build = if name == "cond" { limited_cond } else { entry.build };
                self.solvers.push((name, Islands::new(build)));
                self.solvers.len() - 1
            }
        };
        let islands = &mut self.solvers[index].1;
        let worth = islands.worth_reducing(reduced::is_far(problem, monitor, solution));
        if self.reduced.pays(problem, worth) {
            let inner = |p: &Problem, m: &mut Monitor, s: &mut Solution| islands.improve(p, m, s);
            return Some(self.reduced.improve(problem, monitor, solution, inner));
        }
        Some(islands.improve(problem, monitor, solution))
    }
}

impl Solver for Auto {
    fn models(&self) -> &'static [FrictionModel] {
        &[FrictionModel::Coulomb, FrictionModel::Convex]
    }

    fn settings(&self) -> Option<&dyn NamedSettings> {
        Some(&self.settings)
    }

    fn settings_mut(&mut self) -> Option<&mut dyn NamedSettings> {
        Some(&mut self.settings)
    }

    fn notes(&self) -> Vec<String> {
        let decisions = self.decisions.iter().map(|decision| match decision {
            Decision::Chose { solver, why } => format!("chose {solver}: {why}"),
            Decision::FellBack { from, status, to } => {
                format!("{from} ended as {}; tried {to}", status.name())
            }
        });
        let used = |name: &str| {
            self.decisions.iter().any(|decision| match decision {
                Decision::Chose { solver, .. } => *solver == name,
                Decision::FellBack { to, .. } => *to == name,
            })
        };
        let inner = self.solvers.iter().filter(|(name, _)| used(name));
        let inner = inner.flat_map(|(name, islands)| {
            islands.notes().into_iter().map(move |note| format!("{name}: {note}"))
        });
        decisions.chain(inner).collect()
    }

    fn improve(
        &mut self,
        problem: &Problem,
        monitor: &mut Monitor,
        solution: &mut Solution,
    ) -> Status {
        self.decisions.clear();
        let (name, why) = Self::choose(problem, monitor);
        self.decisions.push(Decision::Chose { solver: name, why });
        let Some(mut status) = self.run(name, problem, monitor, solution) else {
            return Status::Failed;
        };
        let tightenings = if self.settings.natural_map { TIGHTENINGS } else { 0 };
        for _ in 0..tightenings {
            let wanted = monitor.relative_tolerance();
            if status != Status::Converged
                || monitor.natural_map(problem, &solution.velocity, &solution.impulse) <= wanted
            {
                break;
            }
            monitor.tighten(TIGHTEN);
            let before = monitor.error();
            self.best.clone_from(solution);
            if self.run(name, problem, monitor, solution) != Some(Status::Converged) {
                // The goal is met all the same; keep the better of the two.
                if monitor.error() > before {
                    solution.clone_from(&self.best);
                }
                break;
            }
        }
        let infeasible = status == Status::Failed && monitor.iterations() > 0;
        if status == Status::Converged || infeasible || !self.settings.fallback {
            return status;
        }
        let mut smallest = monitor.error();
        self.best.clone_from(solution);
        for &other in Self::fallbacks(monitor.model()).iter().filter(|other| **other != name) {
            self.decisions.push(Decision::FellBack { from: name, status, to: other });
            let Some(found) = self.run(other, problem, monitor, solution) else { continue };
            if monitor.error() < smallest {
                smallest = monitor.error();
                self.best.clone_from(solution);
            }
            if found == Status::Converged {
                return found;
            }
        }
        solution.clone_from(&self.best);
        status = if status == Status::IterationLimit { status } else { Status::Stalled };
        status
    }
}
