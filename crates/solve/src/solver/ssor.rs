//! SSOR: projected relaxation in sweeps of alternating direction [Tasora, Algorithm, lines 5 to 8].
//!
//! Each direction counts as one sweep. Impulses travel both ways along a chain of contacts; on
//! stacks the plain order of PSOR is usually faster.

use super::Solver;
use super::sweep::{Direction, Relaxation};
use crate::law::FrictionModel;
use crate::monitor::{Monitor, Status};
use crate::problem::Problem;
use crate::setting::NamedSettings;
use crate::solution::Solution;

/// Projected symmetric successive over-relaxation.
#[derive(Default)]
pub struct Ssor {
    relaxation: Relaxation,
}

impl Solver for Ssor {
    fn models(&self) -> &'static [FrictionModel] {
        &[FrictionModel::Convex, FrictionModel::Coulomb]
    }

    fn worth_reducing(&self, _far: bool) -> f64 {
        1.0 // every constraint solves with A
    }

    fn settings(&self) -> Option<&dyn NamedSettings> {
        Some(&self.relaxation.settings)
    }

    fn settings_mut(&mut self) -> Option<&mut dyn NamedSettings> {
        Some(&mut self.relaxation.settings)
    }

    fn notes(&self) -> Vec<String> {
        self.relaxation.notes()
    }

    fn improve(
        &mut self,
        problem: &Problem,
        monitor: &mut Monitor,
        solution: &mut Solution,
    ) -> Status {
        self.relaxation.improve(problem, monitor, solution, |sweep| {
            if sweep % 2 == 1 { Direction::Forward } else { Direction::Backward }
        })
    }
}
