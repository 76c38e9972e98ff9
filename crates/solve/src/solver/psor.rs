//! PSOR: projected successive over-relaxation without a matrix [Tasora, Algorithm, line 5].
//!
//! Every sweep runs through the constraints in their order. Linear in constraints per sweep and in
//! memory, unless a subsystem is sparse. With the safe step it converges to the convex model
//! wherever impulses exist; with exact friction it uses the strict operator, without a proof of
//! convergence.

use super::Solver;
use super::sweep::{Direction, Relaxation};
use crate::law::FrictionModel;
use crate::monitor::{Monitor, Status};
use crate::problem::Problem;
use crate::setting::NamedSettings;
use crate::solution::Solution;

/// Projected successive over-relaxation.
#[derive(Default)]
pub struct Psor {
    relaxation: Relaxation,
}

impl Solver for Psor {
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
        self.relaxation.improve(problem, monitor, solution, |_| Direction::Forward)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::{Coulomb, Law};
    use crate::monitor::Goal;
    use crate::problem::Map;

    /// Free blocks of six velocities in a row, one contact between neighbours.
    fn chain(length: usize) -> Problem {
        let mut builder = Problem::builder("chain");
        let identity: Vec<f64> = (0..36).map(|k| f64::from(k % 7 == 0)).collect();
        let ports: Vec<_> = (0..length)
            .map(|_| {
                let block = builder.dense(&identity, &[0.0, 0.0, -1.0, 0.0, 0.0, 0.0]);
                builder.port(block, Map::Coordinates { first: 0, count: 3 })
            })
            .collect();
        let (plus, minus): (Vec<f64>, Vec<f64>) =
            [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0].iter().map(|x| (*x, -x)).unzip();
        let law = Law::Coulomb(Coulomb::new(0.5).unwrap());
        for pair in ports.windows(2) {
            let terms = [(pair[1], plus.as_slice()), (pair[0], minus.as_slice())];
            builder.constraint(law, &[0.0; 3], &[0.0; 3], &terms);
        }
        builder.constraint(law, &[0.0; 3], &[0.0; 3], &[(ports[0], plus.as_slice())]);
        builder.build().unwrap()
    }

    #[test]
    fn memory_is_linear_in_velocities_and_rows() {
        for length in [10, 100, 1000] {
            let problem = chain(length);
            let mut solver = Psor::default();
            let (mut monitor, mut solution) = (Monitor::default(), Solution::cold(&problem));
            monitor.start(
                &problem,
                &Goal::default(),
                FrictionModel::Convex,
                problem.free_velocity(),
            );
            let _ = solver.improve(&problem, &mut monitor, &mut solution);
            // A contact stores 18 numbers on each of two sides, bias, compliance, step, friction
            // and two offsets: at most 45 for its 3 rows. x has six more for what does not move.
            let bound = 15 * problem.rows() + problem.dofs() + 6;
            assert!(solver.relaxation.stored_numbers() <= bound, "{length}");
        }
    }
}
