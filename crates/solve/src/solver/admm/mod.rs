//! ADMM on copies of the constraints' velocities: SubADMM and the two splits that it is compared with.
//!
//! One iteration solves a fixed linear system per part for the velocities [Lee25, Eq. (35)], solves
//! every constraint for all its copies [Lee25, Eqs. (36)-(39)] and so updates λ
//! [Lee25, Eq. (40)]. `subadmm` splits by subsystem and, within trees, by link; `admm-subsystem`
//! by subsystem only; `admm` not at all. First order: cheap iterations, moderate accuracy.
//!
//! The velocity returned is `v = A⁻¹(b + Jᵀλ)`, not the iterate of Eq. (35): the impulses lie in
//! the laws' cones and v is computed from them, so that momentum is conserved to round-off and the
//! only error is the violation of the laws. The iterate has an error of that size too, but split
//! between laws and momentum. Deviations of the penalties from the paper
//! are in `penalty.rs`.

mod augmented;
mod consensus;
mod layout;
mod penalty;
mod sparse;
mod system;

use std::marker::PhantomData;

use self::consensus::Consensus;
use self::layout::Layout;
pub use self::layout::Split;
use self::penalty::Imbalance;
pub use self::penalty::PenaltyRule;
use self::system::Systems;
use super::Solver;
use crate::law::FrictionModel;
use crate::monitor::{Monitor, Status, Verdict};
use crate::problem::{Problem, SubsystemId};
use crate::setting::{NamedSettings, SettingRange};
use crate::setting_table;
use crate::solution::Solution;

/// A split as a type, so that each is a solver of its own.
pub trait AdmmSplit: Send {
    /// The split.
    const SPLIT: Split;
}

/// No split.
#[derive(Debug)]
pub struct WholeProblem;
/// One part per subsystem.
#[derive(Debug)]
pub struct Subsystems;
/// One part per link of a tree, and per subsystem that is none.
#[derive(Debug)]
pub struct Links;

impl AdmmSplit for WholeProblem {
    const SPLIT: Split = Split::Whole;
}
impl AdmmSplit for Subsystems {
    const SPLIT: Split = Split::Subsystem;
}
impl AdmmSplit for Links {
    const SPLIT: Split = Split::Link;
}

/// Settings of ADMM, whatever the split.
#[derive(Clone, Debug, PartialEq)]
pub struct AdmmSettings {
    /// How penalties are chosen.
    pub rule: PenaltyRule,
    /// Iterations between two measurements.
    pub observe_every: usize,
    /// Iterations.
    pub max_iterations: usize,
}

impl Default for AdmmSettings {
    fn default() -> Self {
        // A measurement costs about one iteration.
        Self { rule: PenaltyRule::default(), observe_every: 5, max_iterations: 2000 }
    }
}

setting_table!(
    AdmmSettings,
    "ADMM",
    [
        (
            "penalty",
            rule.penalty,
            "-",
            SettingRange::POSITIVE,
            "penalty at the start, per 1/w, or per pseudo-density"
        ),
        ("adapt", rule.adapt, "", SettingRange::ANY, "whether penalties follow the residuals"),
        (
            "adapt-every",
            rule.adapt_every,
            "",
            SettingRange::ANY,
            "iterations between two adaptations"
        ),
        (
            "adapt-threshold",
            rule.threshold,
            "-",
            SettingRange::NOT_NEGATIVE,
            "ratio of the residuals that is left alone"
        ),
        (
            "pseudo-density",
            rule.pseudo_density,
            "",
            SettingRange::ANY,
            "start from one scalar penalty, the paper's pseudo-density"
        ),
        (
            "paper-adaptation",
            rule.paper_adaptation,
            "",
            SettingRange::ANY,
            "adapt by the paper's Eq. (44), which depends on the units"
        ),
        (
            "observe-every",
            observe_every,
            "",
            SettingRange::ANY,
            "iterations between two measurements"
        ),
        ("max-iterations", max_iterations, "", SettingRange::ANY, "iterations"),
    ]
);

/// ADMM with one of the splits.
#[derive(Debug)]
pub struct Admm<P> {
    settings: AdmmSettings,
    layout: Layout,
    systems: Systems,
    consensus: Consensus,
    beta: Vec<f64>,
    x: Vec<f64>,
    dual: Vec<f64>,
    v: Vec<f64>,
    lambda: Vec<f64>,
    refactored: usize,
    parts: PhantomData<P>,
}

impl<P> Default for Admm<P> {
    fn default() -> Self {
        Self {
            settings: AdmmSettings::default(),
            layout: Layout::default(),
            systems: Systems::default(),
            consensus: Consensus::default(),
            beta: Vec::new(),
            x: Vec::new(),
            dual: Vec::new(),
            v: Vec::new(),
            lambda: Vec::new(),
            refactored: 0,
            parts: PhantomData,
        }
    }
}

impl<P: AdmmSplit> Solver for Admm<P> {
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
        match self.refactored {
            0 => Vec::new(),
            n => vec![format!("penalties adapted {n} times")],
        }
    }

    fn improve(
        &mut self,
        problem: &Problem,
        monitor: &mut Monitor,
        solution: &mut Solution,
    ) -> Status {
        let verdict = monitor.observe(problem, &solution.velocity, &solution.impulse);
        if let Verdict::Stop(status) = verdict {
            return status;
        }
        if !self.start(problem, solution) {
            return Status::Failed;
        }
        let limit = monitor.iteration_limit(self.settings.max_iterations);
        let mut best = f64::INFINITY;
        for iteration in 1..=limit {
            self.iterate(problem, monitor.model());
            monitor.count(1);
            if iteration % self.settings.observe_every.max(1) == 0 || iteration == limit {
                self.consensus.impulses(&self.layout, &mut self.lambda);
                problem.velocity_of(&self.lambda, &mut self.v);
                let verdict = monitor.observe(problem, &self.v, &self.lambda);
                // Exact friction has no merit function that must fall: keep the best.
                let (violation, _) = monitor.last();
                if violation <= best {
                    best = violation;
                    solution.velocity.copy_from_slice(&self.v);
                    solution.impulse.copy_from_slice(&self.lambda);
                }
                if let Verdict::Stop(status) = verdict {
                    return status;
                }
            }
            let adapts =
                self.settings.rule.adapt && iteration % self.settings.rule.adapt_every.max(1) == 0;
            if adapts && !self.adapt(problem, monitor.scaling()) {
                return Status::Failed;
            }
        }
        Status::IterationLimit
    }
}

impl<P: AdmmSplit> Admm<P> {
    /// Prepares the iteration from a guess. False if a factorization failed.
    fn start(&mut self, problem: &Problem, guess: &Solution) -> bool {
        self.layout.prepare(problem, P::SPLIT);
        self.systems.prepare(problem, &self.layout, P::SPLIT);
        self.settings.rule.start(problem, &self.layout, &mut self.beta);
        self.refactored = 0;
        for x in [&mut self.x, &mut self.dual] {
            x.clear();
            x.resize(self.layout.extended(), 0.0);
        }
        self.v.clear();
        self.v.resize(problem.dofs(), 0.0);
        self.lambda.clear();
        self.lambda.resize(problem.rows(), 0.0);
        for s in (0..self.layout.subsystems()).map(SubsystemId) {
            let x = &mut self.x[self.layout.extended_range(s.0)];
            let dofs = problem.mass().dofs(s);
            x[..dofs.len()].copy_from_slice(&guess.velocity[dofs]);
        }
        self.systems.multiply(problem, &self.layout, &mut self.x);
        self.consensus.start(&self.layout, &guess.impulse, &self.x);
        self.consensus.set_penalties(&self.layout, &self.beta);
        self.systems.factor(problem, &self.layout, &self.beta)
    }

    fn iterate(&mut self, problem: &Problem, model: FrictionModel) {
        let Self { layout, systems, consensus, beta, x, .. } = self;
        systems.solve(problem, layout, consensus.states(), x);
        consensus.update(problem, layout, model, beta, x, systems.parallel());
    }

    /// Adapts the penalties if the residuals are out of balance. False if a factorization failed.
    fn adapt(&mut self, problem: &Problem, scaling: &[f64]) -> bool {
        let imbalance = self.imbalance(problem, scaling);
        let Some(factor) = self.settings.rule.factor(&imbalance) else { return true };
        self.beta.iter_mut().for_each(|beta| *beta *= factor);
        self.refactored += 1;
        self.consensus.set_penalties(&self.layout, &self.beta);
        self.systems.factor(problem, &self.layout, &self.beta)
    }

    /// The residuals of the last iteration. Primal: `J v − z = (λ − λ')/β` per copy. Dual:
    /// `A_j v_j − b_j − Σ Jᵀλ' = Σ β Jᵀ (z − z')`, without a product with A.
    fn imbalance(&mut self, problem: &Problem, scaling: &[f64]) -> Imbalance {
        let (mut primal, mut largest_primal): (f64, f64) = (0.0, 0.0);
        for (i, beta) in self.beta.iter().enumerate() {
            let change = self.consensus.impulse_change(&self.layout, i);
            let square: f64 = change.iter().map(|c| c * c).sum();
            primal += self.layout.copies(i) as f64 * square / beta;
            largest_primal = largest_primal.max(square.sqrt() / beta);
        }
        let (mut dual, mut largest_dual): (f64, f64) = (0.0, 0.0);
        for s in (0..self.layout.subsystems()).map(SubsystemId) {
            let x = &mut self.dual[self.layout.extended_range(s.0)];
            let (layout, states) = (&self.layout, self.consensus.states());
            system::gather(problem, layout, s.0, |p| &states[layout.decrease_states(p)], x);
            let dofs = problem.mass().dofs(s);
            let pairs = || x[..dofs.len()].iter().zip(&scaling[dofs.clone()]);
            dual += pairs().map(|(x, d)| (d * x).powi(2)).sum::<f64>();
            largest_dual = largest_dual.max(pairs().map(|(x, _)| x * x).sum::<f64>().sqrt());
        }
        Imbalance {
            energies: (primal.sqrt(), dual.sqrt()),
            largest: (largest_primal, largest_dual),
        }
    }
}

#[cfg(test)]
mod tests;
