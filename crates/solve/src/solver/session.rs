//! A solver in use: found by name, set by name, run and measured.

use super::reduced::{self, Reduced};
use super::{SOLVERS, Solver, SolverError};
use crate::law::FrictionModel;
use crate::monitor::{Goal, Monitor};
use crate::problem::Problem;
use crate::setting::{NamedSettings, SettingError};
use crate::solution::{Report, Solution};

/// A solver, the monitor that measures it, and their work memory.
pub struct Session {
    name: &'static str,
    solver: Box<dyn Solver>,
    monitor: Monitor,
    reduced: Reduced,
    when: Reduce,
}

/// When a problem is reduced to the velocities that constraints touch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reduce {
    /// Where the reduced problem is solved faster.
    #[default]
    WhereFaster,
    /// Wherever a constraint reads a mesh and the solver factors matrices.
    Always,
    /// Never.
    Never,
}

impl Session {
    /// Finds a solver by name.
    pub fn new(name: &str) -> Result<Self, SolverError> {
        let entry = SOLVERS.iter().find(|e| e.name == name).ok_or_else(|| {
            let known = SOLVERS.iter().map(|e| e.name).collect::<Vec<_>>().join(", ");
            SolverError::UnknownSolver { found: name.to_owned(), known }
        })?;
        Ok(Self::with(entry.name, (entry.build)()))
    }

    /// A session with a solver that is not in the list.
    pub fn with(name: &'static str, solver: Box<dyn Solver>) -> Self {
        let (monitor, reduced) = (Monitor::default(), Reduced::default());
        Self { name, solver, monitor, reduced, when: Reduce::default() }
    }

    /// Sets when problems are reduced to the velocities that constraints touch.
    pub fn reduce(&mut self, when: Reduce) {
        self.when = when;
    }

    /// The solver's name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Sets a setting of the solver by name, from text.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), SolverError> {
        let owner = || format!("solver '{}'", self.name);
        match self.solver.settings_mut() {
            Some(settings) => {
                Ok(settings.set_text(key, value).map_err(|error| error.of(owner()))?)
            }
            None => Err(SettingError::UnknownKey {
                owner: owner(),
                found: key.to_owned(),
                known: "none".to_owned(),
            })?,
        }
    }

    /// The solver's settings by name; `None` if it has none.
    pub fn settings(&self) -> Option<&dyn NamedSettings> {
        self.solver.settings()
    }

    /// Remarks on the last solve: a choice made, a fallback taken.
    pub fn notes(&self) -> Vec<String> {
        self.solver.notes()
    }

    /// The solver.
    pub fn solver(&mut self) -> &mut dyn Solver {
        &mut *self.solver
    }

    /// The friction model of a goal, or the solver's default if the goal has none.
    pub fn friction_model(&self, goal: &Goal) -> FrictionModel {
        goal.friction_model.unwrap_or(self.solver.models()[0])
    }

    /// Jᵀλ [N·s] of the last solution.
    pub fn constraint_impulse(&self) -> &[f64] {
        self.monitor.constraint_impulse()
    }

    /// Memory for other impulses [N·s] from which the next solve may start, if those of its guess do not solve the problem; of
    /// another size than the problem they are ignored.
    pub fn other_guess(&mut self) -> &mut Vec<f64> {
        self.monitor.other_guess_mut()
    }

    /// Improves a guess and measures the solution. A guess that does not fit is replaced by the
    /// cold start. A friction model that the solver does not solve for is an error.
    pub fn solve(
        &mut self,
        problem: &Problem,
        goal: &Goal,
        solution: &mut Solution,
    ) -> Result<Report, SolverError> {
        let model = self.friction_model(goal);
        if !self.solver.models().contains(&model) {
            return Err(SolverError::FrictionModel { solver: self.name, found: model.name() });
        }
        if problem.rows() == 0 {
            // Without a constraint there is nothing to solve for.
            solution.set_free(problem);
        } else if !solution.fits(problem) {
            solution.reset(problem);
        }
        self.monitor.start(problem, goal, model, &solution.velocity);
        let Self { solver, monitor, reduced, .. } = self;
        let far = reduced::is_far(problem, monitor, solution);
        let worth = match (self.when, solver.worth_reducing(far)) {
            (Reduce::Never, _) => 0.0,
            (Reduce::Always, worth) if worth > 0.0 => f64::INFINITY,
            (_, worth) => worth,
        };
        let claimed = if reduced.pays(problem, worth) {
            reduced.improve_with(&mut **solver, problem, monitor, solution)
        } else {
            solver.improve(problem, monitor, solution)
        };
        let seconds = self.monitor.elapsed().as_secs_f64();
        self.monitor.other_guess_mut().clear();
        if !solution.fits(problem) {
            solution.reset(problem);
        }
        let (status, residuals) =
            self.monitor.finish(problem, claimed, &solution.velocity, &solution.impulse);
        Ok(Report {
            solver: self.name,
            friction_model: model,
            status,
            iterations: self.monitor.iterations(),
            residuals,
            seconds,
            trace: self.monitor.trace().to_vec(),
        })
    }
}
