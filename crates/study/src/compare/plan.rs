//! Inputs of a comparison, checked before anything is built.

use std::time::Duration;

use stiction_sim::Settings;
use stiction_sim::record::VisualShape;
use stiction_solve::Session;
use stiction_solve::solver::SolverError;

/// Default time limit of a solver on a captured step.
pub const TIME_LIMIT: Duration = Duration::from_secs(10);

/// Inputs of a comparison.
#[derive(Clone, Debug)]
pub struct ComparisonPlan<'a> {
    /// Name of the scene.
    pub target: &'a str,
    /// Settings of each run, one per solver. The first run that finishes is the reference.
    pub(super) runs: Vec<Settings>,
    /// Number of steps of each run.
    pub steps: usize,
    /// Time limit of a solver on a captured step.
    pub time_limit: Duration,
    /// Visual shapes for the recordings.
    pub visuals: &'a [VisualShape],
}

/// Inputs that make no comparison.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// No solver was given.
    #[error("solvers: found none; expected at least one")]
    NoSolver,
    /// A solver was given twice.
    #[error("solvers: found {solver} twice; expected each solver once")]
    RepeatedSolver {
        /// The solver.
        solver: String,
    },
    /// A solver does not exist or refuses a setting.
    #[error(transparent)]
    Setting(#[from] SolverError),
    /// A time limit of no use.
    #[error("time_limit = {found} s; expected a positive number")]
    TimeLimit {
        /// The number found [s].
        found: f64,
    },
}

impl<'a> ComparisonPlan<'a> {
    /// A plan with the default time limit and without visual shapes. `runs` holds the settings of each
    /// run, each with another solver, which must accept its own settings.
    pub fn new(target: &'a str, runs: Vec<Settings>, steps: usize) -> Result<Self, PlanError> {
        if runs.is_empty() {
            return Err(PlanError::NoSolver);
        }
        for (k, settings) in runs.iter().enumerate() {
            let solver = &settings.solver;
            let mut session = Session::new(solver)?;
            for (key, value) in &settings.solver_settings {
                session.set(key, value)?;
            }
            if runs[..k].iter().any(|earlier| earlier.solver == *solver) {
                return Err(PlanError::RepeatedSolver { solver: solver.clone() });
            }
        }
        Ok(Self { target, runs, steps, time_limit: TIME_LIMIT, visuals: &[] })
    }

    /// Sets the time limit of a solver on a captured step [s]. A limit that overflows `Duration` means
    /// no limit.
    pub fn time_limit(mut self, seconds: f64) -> Result<Self, PlanError> {
        if !(seconds > 0.0) {
            return Err(PlanError::TimeLimit { found: seconds });
        }
        self.time_limit = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        Ok(self)
    }

    /// Adds visual shapes to the recordings.
    pub fn visuals(mut self, visuals: &'a [VisualShape]) -> Self {
        self.visuals = visuals;
        self
    }
}

/// Settings of one run per solver: those of the scene, without the settings of another solver.
pub fn settings_per_solver(
    base: &Settings,
    solvers: impl IntoIterator<Item = impl AsRef<str>>,
) -> Vec<Settings> {
    let with = |solver: &str| {
        let mut settings = base.clone();
        settings.select_solver(solver);
        settings
    };
    solvers.into_iter().map(|solver| with(solver.as_ref())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(solvers: &[&str]) -> String {
        let runs = settings_per_solver(&Settings::default(), solvers);
        ComparisonPlan::new("clutter", runs, 1).unwrap_err().to_string()
    }

    #[test]
    fn plans_without_solvers_with_unknown_and_with_repeated_ones_are_refused() {
        assert!(refused(&[]).contains("none"));
        assert!(refused(&["canal", "nobody"]).contains("nobody"));
        assert!(refused(&["canal", "sap", "canal"]).contains("canal twice"));
    }

    #[test]
    fn settings_of_a_solver_apply_to_no_other() {
        let mut base = Settings { solver: "canal".to_owned(), ..Settings::default() };
        base.solver_settings.push(("growth".to_owned(), "3".to_owned()));
        let runs = settings_per_solver(&base, ["canal", "sap"]);
        assert_eq!((runs[0].solver_settings.len(), runs[1].solver_settings.len()), (1, 0));
        assert!(ComparisonPlan::new("clutter", runs, 1).is_ok());
    }

    #[test]
    fn a_time_limit_is_positive() {
        for bad in [0.0, -1.0, f64::NAN] {
            let runs = settings_per_solver(&Settings::default(), ["sap"]);
            let plan = ComparisonPlan::new("clutter", runs, 1).unwrap();
            assert!(plan.time_limit(bad).is_err(), "{bad}");
        }
    }
}
