//! The contact problem of a step with the guess that its solver got, kept on the way through a simulation.

use std::sync::{Arc, Mutex, PoisonError};

use stiction_solve::setting::NamedSettings;
use stiction_solve::solver::Solver;
use stiction_solve::{FrictionModel, Monitor, Problem, Session, Solution, Status};

/// A problem and the velocities [m/s] from which it was solved: those of the step before.
#[derive(Clone, Debug)]
pub struct RecordedProblem {
    /// The problem.
    pub problem: Problem,
    /// Velocities at the start of the step.
    pub velocity: Vec<f64>,
}

/// What is to be recorded, and what was.
#[derive(Debug, Default)]
struct Slot {
    is_wanted: bool,
    found: Option<RecordedProblem>,
}

/// The end of a [`Recording`] that stays with the caller.
#[derive(Clone, Debug, Default)]
pub struct Recorder(Arc<Mutex<Slot>>);

impl Recorder {
    /// A session of SAP that records the problems it gets when asked.
    pub fn session(&self) -> Session {
        let solver = stiction_solve::solver::Sap::default();
        Session::with("sap", Box::new(Recording { solver, recorder: self.clone() }))
    }

    /// Records the first problem from now on.
    pub fn request(&self) {
        *self.slot() = Slot { is_wanted: true, found: None };
    }

    /// What was recorded since the last request.
    pub fn take(&self) -> Option<RecordedProblem> {
        std::mem::take(&mut *self.slot()).found
    }

    fn slot(&self) -> std::sync::MutexGuard<'_, Slot> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// SAP, and a recorder of its problems.
struct Recording {
    solver: stiction_solve::solver::Sap,
    recorder: Recorder,
}

impl Solver for Recording {
    fn models(&self) -> &'static [FrictionModel] {
        self.solver.models()
    }

    fn settings(&self) -> Option<&dyn NamedSettings> {
        self.solver.settings()
    }

    fn settings_mut(&mut self) -> Option<&mut dyn NamedSettings> {
        self.solver.settings_mut()
    }

    fn improve(
        &mut self,
        problem: &Problem,
        monitor: &mut Monitor,
        solution: &mut Solution,
    ) -> Status {
        let mut slot = self.recorder.slot();
        if slot.is_wanted && slot.found.is_none() {
            let velocity = solution.velocity.clone();
            slot.found = Some(RecordedProblem { problem: problem.clone(), velocity });
        }
        drop(slot);
        self.solver.improve(problem, monitor, solution)
    }
}
