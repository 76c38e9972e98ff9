//! Solvers: one file each, one entry each in [`SOLVERS`].
//!
//! A solver improves a [`Solution`] until the [`Monitor`] stops it. It reads a checked problem and
//! keeps its work memory between solves. Convergence is measured by the monitor, on the problem.

mod admm;
mod alm;
mod apgd;
mod auto;
mod canal;
pub mod cond;
mod contact_sweep;
mod dual;
mod error;
mod infeasibility;
mod ipm;
mod islands;
mod local;
mod multiplier;
pub mod newton;
mod newton_al;
mod pgs;
mod psor;
mod reduced;
mod registry;
mod requirement;
mod sap;
mod session;
mod ssor;
mod sweep;

pub use admm::{AdmmSettings, PenaltyRule};
pub use alm::AlmSettings;
pub use apgd::ApgdSettings;
pub use auto::AutoSettings;
pub use canal::{Canal, CanalSettings};
pub use error::SolverError;
pub use ipm::IpmSettings;
pub use newton_al::NewtonAlSettings;
pub use pgs::{LocalSolve, PgsSettings};
pub use registry::{SOLVERS, SolverEntry};
pub use requirement::{ProblemFamily, ProblemSelection, Requirement};
pub use sap::{Sap, SapSettings};
pub use session::{Reduce, Session};
pub use sweep::{RelaxationSettings, StepRule};

use crate::law::FrictionModel;
use crate::monitor::{Monitor, Status};
use crate::problem::Problem;
use crate::setting::NamedSettings;
use crate::solution::Solution;

/// A method for contact problems.
pub trait Solver: Send {
    /// The friction models that it can solve for; the first is its default.
    fn models(&self) -> &'static [FrictionModel];

    /// Improves `solution`, which holds a guess of the right size, until `monitor` stops it.
    fn improve(
        &mut self,
        problem: &Problem,
        monitor: &mut Monitor,
        solution: &mut Solution,
    ) -> Status;

    /// Largest cost of factoring the Schur complement on the velocities that constraints touch,
    /// relative to that of factoring A, up to which the reduced problem is solved faster [-]; zero
    /// for never. `far`: the guess is far from the solution, so that many iterations follow.
    fn worth_reducing(&self, _far: bool) -> f64 {
        0.0
    }

    /// Its settings by name; `None` if it has none.
    fn settings(&self) -> Option<&dyn NamedSettings> {
        None
    }

    /// Its settings by name, to be changed.
    fn settings_mut(&mut self) -> Option<&mut dyn NamedSettings> {
        None
    }

    /// Remarks on the last solve: a choice made, a fallback taken.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}
