//! A solver with a rule that ends its iterations, put into a scene.

use stiction_scene::{Act, SceneError, Stage};
use stiction_sim::Simulation;
use stiction_solve::Session;

use crate::baselines::Preparation;
use crate::baselines::apgd::Apgd;
use crate::baselines::ccs::Ccs;
use crate::baselines::pgs::Pgs;
use crate::error::BenchError;

/// When a solve ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// At a change of the unknowns below a threshold, as in the paper.
    Paper(f64),
    /// When the yardstick finds the tolerance of the scene met.
    Honest,
    /// After so many iterations.
    Iterations(usize),
}

impl Rule {
    /// In a cell.
    pub fn text(self) -> String {
        match self {
            Self::Paper(theta) => format!("θ < {theta:.0e}"),
            Self::Honest => "r".to_owned(),
            Self::Iterations(n) => format!("{n} iterations"),
        }
    }
}

/// A solver with its rule and settings.
#[derive(Clone, Debug)]
pub struct Contender {
    /// Its name.
    pub solver: &'static str,
    /// When it stops.
    pub rule: Rule,
    /// Settings of the solver by name.
    pub settings: Vec<(&'static str, &'static str)>,
}

/// Tolerance that no solver meets: iterations alone count.
const NEVER: f64 = 1e-15;
/// Threshold below every change of unknowns.
const NO_CHANGE: &str = "1e-300";

impl Contender {
    /// With the solver's own settings.
    pub fn new(solver: &'static str, rule: Rule) -> Self {
        Self { solver, rule, settings: Vec::new() }
    }

    /// For captions.
    pub fn label(&self) -> String {
        format!("{}, {}", self.solver, self.rule.text())
    }

    /// A session with the solver, which adds the time of its preparation to `preparation`.
    pub fn session(&self, preparation: &Preparation) -> Result<Session, BenchError> {
        let preparation = preparation.clone();
        let mut session = match (self.solver, self.rule) {
            ("apgd", Rule::Paper(theta)) => {
                Session::with("apgd", Box::new(Apgd::new(theta, preparation)))
            }
            ("pgs", Rule::Paper(theta)) => {
                Session::with("pgs", Box::new(Pgs::new(theta, preparation)))
            }
            ("ccs", Rule::Iterations(n)) => {
                Session::with("ccs", Box::new(Ccs::new(n, preparation)))
            }
            (name, _) => Session::new(name)?,
        };
        if self.solver == "cond" {
            match self.rule {
                Rule::Paper(theta) => {
                    session.set("stop", "paper")?;
                    session.set("theta", &theta.to_string())?;
                }
                Rule::Iterations(_) => {
                    session.set("stop", "paper")?;
                    session.set("theta", NO_CHANGE)?;
                }
                Rule::Honest => {}
            }
        }
        for (key, value) in &self.settings {
            session.set(key, value)?;
        }
        Ok(session)
    }

    /// Puts it into a scene at its start.
    pub fn start(&self, stage: Stage, preparation: &Preparation) -> Result<Act, BenchError> {
        let mut settings = stage.settings;
        settings.solver_settings.clear();
        if let Rule::Iterations(n) = self.rule {
            (settings.max_iterations, settings.tolerance) = (Some(n), NEVER);
        }
        let session = self.session(preparation)?;
        let mut simulation =
            Simulation::with_session(stage.world, settings, session).map_err(SceneError::from)?;
        if let Some(state) = &stage.initial {
            simulation.set_state(state).map_err(SceneError::from)?;
        }
        if !stage.control.is_empty() {
            simulation.input_mut().control.clone_from(&stage.control);
        }
        let mut check = stage.check;
        check.begin(&mut simulation);
        Ok(Act { simulation, controller: stage.controller, check, duration: stage.duration })
    }
}
