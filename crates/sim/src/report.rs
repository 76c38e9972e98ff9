//! What one step did, measured.

use std::time::{Duration, Instant};
use stiction_solve::law::FrictionModel;
use stiction_solve::{Residuals, Status};

/// The parts of a step, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Poses and velocities of bodies.
    Kinematics,
    /// Contacts.
    Collision,
    /// Mass matrices and forces.
    Dynamics,
    /// Ports, rows, laws, bias.
    Assembly,
    /// The contact problem.
    Solve,
    /// Positions, stabilisation, acceptance.
    Integrate,
}

/// Names of the phases, in their order.
pub const PHASES: [&str; 6] =
    ["kinematics", "collision", "dynamics", "assembly", "solve", "integrate"];

/// Time of each phase of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Phases([Duration; PHASES.len()]);

impl Phases {
    /// Time of one phase.
    pub fn of(&self, phase: Phase) -> Duration {
        self.0[phase as usize]
    }

    /// All of them, in their order.
    pub fn all(&self) -> &[Duration; PHASES.len()] {
        &self.0
    }

    /// The whole step.
    pub fn total(&self) -> Duration {
        self.0.iter().sum()
    }
}

/// Stops the time of phases.
#[derive(Debug)]
pub(crate) struct Clock {
    last: Instant,
    pub phases: Phases,
}

impl Clock {
    pub fn start() -> Self {
        Self { last: Instant::now(), phases: Phases::default() }
    }

    /// Ends a phase.
    pub fn lap(&mut self, phase: Phase) {
        let now = Instant::now();
        self.phases.0[phase as usize] += now - self.last;
        self.last = now;
    }
}

/// What a step did. Residuals are measured on the problem, not by the solver.
#[must_use = "a step that did not converge must not pass for one that did"]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepReport {
    /// How the contact problem ended; `Converged` if there was none.
    pub status: Status,
    /// The friction model that was solved for.
    pub friction_model: FrictionModel,
    /// Iterations of the solver.
    pub iterations: usize,
    /// Distance of the answer from the problem; zero if there was none.
    pub residuals: Residuals,
    /// Points of contact, also those still apart.
    pub contacts: usize,
    /// Rows of the contact problem.
    pub rows: usize,
    /// Deepest penetration after the step [m].
    pub penetration: f64,
    /// How far a coordinate or a tendon is beyond its range at most, after the step [m, rad].
    pub limit_error: f64,
    /// Largest position error of an equality after the step [m, rad].
    pub equality_error: f64,
    /// Whether the problem had no solution as it stood, and was solved with yielding constraints.
    pub softened: bool,
    /// Whether something moved faster than the time step resolves: a link or a segment of a cable turned
    /// by more than half a radian, vertices of an element moved against one another by more than half
    /// its size, an element of a soft body is inside out, or the body deeper in something than half its
    /// shortest edge, or the equations of an implicit scheme or of a nonlinear material were not solved.
    /// The motion is bounded but means little; a smaller step is called for.
    pub unresolved: bool,
    /// Elements of soft bodies that are inside out after the step.
    pub inverted: usize,
    /// Bodies that are asleep.
    pub asleep: usize,
    /// Time of the parts.
    pub phases: Phases,
}

impl StepReport {
    /// Whether the answer met the tolerance, on the problem as it stood.
    pub fn converged(&self) -> bool {
        self.status == Status::Converged && !self.softened
    }
}
