//! Scenes: a world with its start, settings, controller and physical check, ready to run.

use std::sync::Arc;

use nalgebra::Isometry3;
use stiction_mech::State;
use stiction_sim::{Settings, Simulation, StepReport, World};

use crate::error::SceneError;

/// A scene that is ready to run.
pub struct Scene {
    /// The world.
    pub world: Arc<World>,
    /// Settings of the step; a user may change them.
    pub settings: Settings,
    /// The state to start from; `None` for the reference configuration at rest.
    pub initial: Option<State>,
    /// Controls to start with; none if empty.
    pub control: Vec<f64>,
    /// Poses of driven bodies to start with; those of the world if empty.
    pub driven: Vec<Isometry3<f64>>,
    /// Default duration of a run [s].
    pub duration: f64,
    /// Sets inputs before each step.
    pub controller: Option<Box<dyn Controller>>,
    /// Observes the run and evaluates it.
    pub check: Box<dyn Check>,
}

impl Scene {
    /// A scene at rest in its reference configuration.
    pub fn new(
        world: impl Into<Arc<World>>,
        settings: Settings,
        duration: f64,
        check: impl Check + 'static,
    ) -> Self {
        Self {
            world: world.into(),
            settings,
            initial: None,
            control: Vec::new(),
            driven: Vec::new(),
            duration,
            controller: None,
            check: Box::new(check),
        }
    }

    /// Starts from a state.
    pub fn from_state(mut self, state: State) -> Self {
        self.initial = Some(state);
        self
    }

    /// With a controller.
    pub fn controlled(mut self, controller: impl Controller + 'static) -> Self {
        self.controller = Some(Box::new(controller));
        self
    }

    /// Starts a simulation, with its controller and its check.
    pub fn start(self) -> Result<SceneRun, SceneError> {
        let mut simulation = Simulation::new(self.world, self.settings)?;
        if let Some(state) = &self.initial {
            simulation.set_state(state)?;
        }
        if !self.control.is_empty() {
            simulation.input_mut().control.clone_from(&self.control);
        }
        if !self.driven.is_empty() {
            simulation.input_mut().driven_pose.clone_from(&self.driven);
            simulation.reset_driven_pose();
        }
        let mut check = self.check;
        check.begin(&mut simulation);
        Ok(SceneRun { simulation, controller: self.controller, check, duration: self.duration })
    }
}

/// Sets controls and wrenches before each step.
pub trait Controller: Send {
    /// Reads the state, writes the input.
    fn control(&mut self, simulation: &mut Simulation);
}

impl<F: FnMut(&mut Simulation) + Send> Controller for F {
    fn control(&mut self, simulation: &mut Simulation) {
        self(simulation);
    }
}

/// Result of a check.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Whether the check passed.
    pub passed: bool,
    /// The values found and expected, with units.
    pub detail: String,
}

/// The physical check of a scene.
pub trait Check: Send {
    /// Observes the initial state.
    fn begin(&mut self, _simulation: &mut Simulation) {}

    /// Observes a step.
    fn observe(&mut self, simulation: &mut Simulation, report: &StepReport);

    /// Evaluates the steps observed so far.
    fn verdict(&self) -> Verdict;

    /// Whether the check must observe the whole run: a run that was resumed in another process is
    /// then not checked.
    fn needs_start(&self) -> bool {
        false
    }

    /// Whether the error of the solver is what the check measures: problems that are not solved then do not
    /// let the run fail.
    fn measures_the_solver(&self) -> bool {
        false
    }
}

/// A running scene.
pub struct SceneRun {
    /// The simulation.
    pub simulation: Simulation,
    /// Sets inputs before each step.
    pub controller: Option<Box<dyn Controller>>,
    /// Observes and evaluates the run.
    pub check: Box<dyn Check>,
    /// Default duration of a run [s].
    pub duration: f64,
}

impl SceneRun {
    /// Makes one step: sets the inputs, steps the simulation, observes the result.
    pub fn step(&mut self) -> Result<StepReport, SceneError> {
        if let Some(controller) = &mut self.controller {
            controller.control(&mut self.simulation);
        }
        let report = self.simulation.step()?;
        self.check.observe(&mut self.simulation, &report);
        Ok(report)
    }

    /// Number of steps of the default duration.
    pub fn steps(&self) -> usize {
        (self.duration / self.simulation.settings().time_step).round() as usize
    }

    /// Runs to the end and returns the verdict.
    pub fn run(&mut self) -> Result<Verdict, SceneError> {
        for _ in 0..self.steps() {
            let _ = self.step()?;
        }
        Ok(self.check.verdict())
    }
}
