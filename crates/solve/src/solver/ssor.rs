//! SSOR: projected relaxation in sweeps of alternating direction [Tasora, Algorithm, lines 5 to 8].
//!
//! Each direction counts as one sweep. Impulses travel both ways along a chain of contacts; on
//! stacks the plain order of PSOR is usually faster.

use super::sweep::{Direction, Relaxation};
use super::{Setting, Solver};
use crate::law::FrictionModel;
use crate::monitor::{Monitor, Status};
use crate::problem::Problem;
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

    fn settings(&mut self) -> Vec<Setting<'_>> {
        self.relaxation.settings()
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
