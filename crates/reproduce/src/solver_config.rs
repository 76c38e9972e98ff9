//! A solver with its stopping rule and settings, and the start of a scene with it.

use stiction_scene::{Scene, SceneError, SceneRun};
use stiction_sim::Simulation;
use stiction_solve::Session;

use crate::baselines::PreparationTime;
use crate::baselines::apgd::Apgd;
use crate::baselines::ccs::Ccs;
use crate::baselines::pgs::Pgs;
use crate::error::ReproduceError;

/// Stopping rule of a solver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StoppingRule {
    /// At a change of the unknowns below a threshold, as in the paper.
    Paper(f64),
    /// When the measured relative residual is below a threshold.
    Residual(f64),
    /// After a number of iterations.
    Iterations(usize),
}

impl StoppingRule {
    /// Text for a table.
    pub fn text(self) -> String {
        match self {
            Self::Paper(theta) => format!("θ < {theta:.0e}"),
            Self::Residual(most) => format!("r < {most:.0e}"),
            Self::Iterations(n) => format!("{n} iterations"),
        }
    }
}

/// A solver with its rule and settings.
#[derive(Clone, Debug)]
pub struct SolverConfig {
    /// Its name.
    pub solver: &'static str,
    /// When it stops.
    pub rule: StoppingRule,
    /// Settings of the solver by name.
    pub settings: Vec<(&'static str, &'static str)>,
}

/// Tolerance that no solver reaches, so that the number of iterations alone stops it.
const NEVER: f64 = 1e-15;
/// Threshold below any change of the unknowns.
const NO_CHANGE: &str = "1e-300";
/// Name of the penalty of contact constraint splitting, which has no other setting.
pub const PENALTY: &str = "penalty";

impl SolverConfig {
    /// With the solver's own settings.
    pub fn new(solver: &'static str, rule: StoppingRule) -> Self {
        Self { solver, rule, settings: Vec::new() }
    }

    /// Label for captions.
    pub fn label(&self) -> String {
        format!("{}, {}", self.solver, self.rule.text())
    }

    /// A session with the solver, which adds the time of its preparation to `preparation`.
    pub fn session(&self, preparation: &PreparationTime) -> Result<Session, ReproduceError> {
        let preparation = preparation.clone();
        let mut session = match (self.solver, self.rule) {
            ("apgd", StoppingRule::Paper(theta)) => {
                Session::with("apgd", Box::new(Apgd::new(theta, preparation)))
            }
            ("pgs", StoppingRule::Paper(theta)) => {
                Session::with("pgs", Box::new(Pgs::new(theta, preparation)))
            }
            ("ccs", StoppingRule::Iterations(n)) => {
                let penalty = self.settings.iter().find(|(key, _)| *key == PENALTY);
                let penalty = penalty.and_then(|(_, value)| value.parse().ok());
                let mut ccs = Ccs::new(n, preparation);
                ccs.penalty = penalty.unwrap_or(ccs.penalty);
                Session::with("ccs", Box::new(ccs))
            }
            (name, _) => Session::new(name)?,
        };
        if self.solver == "cond" {
            match self.rule {
                StoppingRule::Paper(theta) => {
                    session.set("stop", "paper")?;
                    session.set("theta", &theta.to_string())?;
                }
                StoppingRule::Iterations(_) => {
                    session.set("stop", "paper")?;
                    session.set("theta", NO_CHANGE)?;
                }
                StoppingRule::Residual(_) => {}
            }
        }
        for (key, value) in self.settings.iter().filter(|(key, _)| *key != PENALTY) {
            session.set(key, value)?;
        }
        Ok(session)
    }

    /// Starts a scene with this solver.
    pub fn start(
        &self,
        scene: Scene,
        preparation: &PreparationTime,
    ) -> Result<SceneRun, ReproduceError> {
        let mut settings = scene.settings;
        settings.solver_settings.clear();
        match self.rule {
            StoppingRule::Iterations(n) => {
                (settings.max_iterations, settings.tolerance) = (Some(n), NEVER);
            }
            StoppingRule::Residual(most) => settings.tolerance = most,
            StoppingRule::Paper(_) => {}
        }
        let session = self.session(preparation)?;
        let mut simulation =
            Simulation::with_session(scene.world, settings, session).map_err(SceneError::from)?;
        if let Some(state) = &scene.initial {
            simulation.set_state(state).map_err(SceneError::from)?;
        }
        if !scene.control.is_empty() {
            simulation.input_mut().control.clone_from(&scene.control);
        }
        let mut check = scene.check;
        check.begin(&mut simulation);
        Ok(SceneRun { simulation, controller: scene.controller, check, duration: scene.duration })
    }
}
