//! Clutter as published: near-rigid contacts with k = 1e12 N/m, τ_d = δt, μ = 1, δt = 10 ms, ε_r = 1e-5 [Castro22, Sec. VI-C].
//!
//! Rigid surfaces have this stiffness and this dissipation under `contact = sap`. The paper does not name its scheme; symplectic
//! Euler is used.

use stiction_scene::SceneError;
use stiction_sim::{ContactModel, ContactPoint, Scheme, Simulation, StepReport};
use stiction_study::scenario;

use super::recorder::{RecordedProblem, Recorder};
use crate::ExperimentOptions;
use crate::error::ReproduceError;
use crate::statistics::mean;

/// Time step [s], duration [s], and relative tolerance of SAP [-] [Castro22, Sec. VI-C].
pub const TIME_STEP: f64 = 0.01;
const DURATION: f64 = 10.0;
pub const TOLERANCE: f64 = 1e-5;
/// Friction coefficient [-] and acceleration of gravity [m/s²].
const FRICTION: f64 = 1.0;
const GRAVITY: f64 = 9.81;
/// Objects where their number is not varied.
pub const BODIES: usize = 40;
/// σ where it is not varied [-].
pub const SIGMA: f64 = 1e-3;

/// Steps of a run.
pub fn steps(options: &ExperimentOptions<'_>) -> usize {
    options.steps.unwrap_or((DURATION / TIME_STEP).round() as usize)
}

/// The largest slip that the paper expects while friction holds, σ μ δt g [m/s] [Castro22, Eq. (31)].
pub fn slip_bound(sigma: f64) -> f64 {
    sigma * FRICTION * TIME_STEP * GRAVITY
}

/// Mean tangential speed over the contacts that carry load [m/s].
pub fn mean_slip(contacts: &[ContactPoint]) -> f64 {
    let loaded = contacts.iter().filter(|c| c.force.dot(&c.normal) > 0.0);
    mean(loaded.map(|c| (c.velocity - c.normal * c.normal.dot(&c.velocity)).norm()))
}

/// A run whose problems can be recorded.
pub struct ClutterRun {
    /// The simulation.
    pub simulation: Simulation,
    recorder: Recorder,
}

impl ClutterRun {
    /// At the start.
    pub fn new(bodies: usize, walls: bool, sigma: f64) -> Result<Self, ReproduceError> {
        let set = [("bodies", bodies as f64), ("walls", f64::from(u8::from(walls)))];
        let scene = scenario("clutter", &set.map(|(k, v)| (k.to_owned(), v.to_string())))?;
        let mut settings = scene.settings;
        settings.time_step = TIME_STEP;
        settings.scheme = Scheme::Symplectic;
        settings.contact = ContactModel::Sap;
        settings.near_rigid.sigma = sigma;
        settings.tolerance = TOLERANCE;
        let recorder = Recorder::default();
        let mut session = recorder.session();
        session.set("epsilon-r", &TOLERANCE.to_string())?;
        let simulation = Simulation::with_session(scene.world, settings, session);
        Ok(Self { simulation: simulation.map_err(SceneError::from)?, recorder })
    }

    /// The recorder of its problems.
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// Makes a step.
    pub fn step(&mut self) -> Result<StepReport, ReproduceError> {
        Ok(self.simulation.step().map_err(SceneError::from)?)
    }

    /// Makes a step and returns its problem, if anything touched.
    pub fn recorded_step(
        &mut self,
    ) -> Result<(StepReport, Option<RecordedProblem>), ReproduceError> {
        self.recorder.request();
        let report = self.step()?;
        Ok((report, self.recorder.take()))
    }
}
