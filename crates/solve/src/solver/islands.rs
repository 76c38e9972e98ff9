//! Solves the islands of a problem separately, in parallel where that is faster.
//!
//! Islands do not interact: their solutions together solve the whole problem, and an island that
//! has converged costs nothing more. Each has its own solver and its own work memory, so that the
//! bits do not depend on the number of threads.

use rayon::prelude::*;

use super::Solver;
use crate::law::FrictionModel;
use crate::monitor::{Goal, Monitor, Status};
use crate::problem::{Problem, Restriction, SubsystemId};
use crate::solution::Solution;

/// From this many rows on, islands are solved in parallel.
const PARALLEL_FROM: usize = 300;

/// One island with its problem, solver, monitor and solution.
struct Island {
    restriction: Restriction,
    solver: Box<dyn Solver>,
    monitor: Monitor,
    solution: Solution,
    status: Status,
}

/// Solves islands separately, each with its own instance of the same solver.
pub(super) struct Islands {
    build: fn() -> Box<dyn Solver>,
    /// [`Solver::worth_reducing`] of its solvers close to the solution and far from it.
    worth_reducing: [f64; 2],
    /// Solves the whole problem at once where there is one island, and where a trace is recorded,
    /// which islands do not have.
    whole: Option<Box<dyn Solver>>,
    /// Whether it solved the last problem.
    solved_whole: bool,
    islands: Vec<Island>,
    used: usize,
    constrained: Vec<u32>,
}

impl Islands {
    pub fn new(build: fn() -> Box<dyn Solver>) -> Self {
        Self {
            build,
            worth_reducing: [false, true].map(|far| build().worth_reducing(far)),
            whole: None,
            solved_whole: false,
            islands: Vec::new(),
            used: 0,
            constrained: Vec::new(),
        }
    }

    /// [`Solver::worth_reducing`] of its solvers.
    pub fn worth_reducing(&self, far: bool) -> f64 {
        self.worth_reducing[usize::from(far)]
    }

    /// Number of islands that have a constraint.
    pub fn count(&mut self, problem: &Problem) -> usize {
        self.constrained.clear();
        self.constrained.extend_from_slice(problem.islands().of_constraint());
        self.constrained.sort_unstable();
        self.constrained.dedup();
        self.constrained.len()
    }

    /// Improves a solution island by island. Subsystems without constraints move freely. The
    /// iterations that count are those of the island that needed most.
    pub fn improve(
        &mut self,
        problem: &Problem,
        monitor: &mut Monitor,
        solution: &mut Solution,
    ) -> Status {
        // A problem of one island is solved directly, without a copy.
        self.used = 0;
        self.solved_whole = monitor.is_tracing() || problem.islands().count() == 1;
        if self.solved_whole {
            let solver = self.whole.get_or_insert_with(self.build);
            return solver.improve(problem, monitor, solution);
        }
        if monitor.solves_all_parts(problem, &solution.velocity, &solution.impulse) {
            return Status::Converged;
        }
        self.used = self.count(problem);
        let model = monitor.model();
        for (k, &island) in self.constrained.iter().enumerate() {
            if k < self.islands.len() {
                self.islands[k].restriction.restrict(problem, island as usize);
            } else {
                self.islands.push(Island {
                    restriction: Restriction::new(problem, island as usize),
                    solver: (self.build)(),
                    monitor: Monitor::default(),
                    solution: Solution::default(),
                    status: Status::Stalled,
                });
            }
        }
        let islands = &mut self.islands[..self.used];
        let start = &*solution;
        let watch = &*monitor;
        let solve = |island: &mut Island| island.solve(&watch.goal_for_part(), model, start);
        if problem.rows() >= PARALLEL_FROM {
            islands.par_iter_mut().for_each(solve);
        } else {
            islands.iter_mut().for_each(solve);
        }
        for island in islands.iter_mut() {
            island.restriction.release();
        }
        move_freely(problem, &mut solution.velocity);
        let mut worst = Status::Converged;
        let mut most = 0;
        for island in islands.iter() {
            for (x, to) in island.solution.velocity.iter().zip(island.restriction.velocities()) {
                solution.velocity[*to as usize] = *x;
            }
            for (x, to) in island.solution.impulse.iter().zip(island.restriction.rows()) {
                solution.impulse[*to as usize] = *x;
            }
            most = most.max(island.monitor.iterations());
            if island.status != Status::Converged {
                worst = island.status;
            }
        }
        monitor.count(most);
        let _ = monitor.observe(problem, &solution.velocity, &solution.impulse);
        worst
    }

    /// Notes of the solvers of all islands, sorted, without duplicates.
    pub fn notes(&self) -> Vec<String> {
        let whole = self.whole.iter().filter(|_| self.solved_whole).map(|s| s.notes());
        let parts = self.islands[..self.used].iter().map(|island| island.solver.notes());
        let mut notes: Vec<String> = whole.chain(parts).flatten().collect();
        notes.sort_unstable();
        notes.dedup();
        notes
    }
}

/// Sets subsystems without constraints to their free velocity.
fn move_freely(problem: &Problem, v: &mut [f64]) {
    let (mass, islands) = (problem.mass(), problem.islands());
    for s in 0..mass.subsystems() {
        if islands.constraints(islands.of_subsystem()[s] as usize).is_empty() {
            let dofs = mass.dofs(SubsystemId(s));
            v[dofs.clone()].copy_from_slice(&problem.momentum()[dofs.clone()]);
            mass.solve_subsystem(SubsystemId(s), &mut v[dofs]);
        }
    }
}

impl Island {
    fn solve(&mut self, goal: &Goal, model: FrictionModel, start: &Solution) {
        let pick = |from: &[f64], to: &mut Vec<f64>, order: &[u32]| {
            to.clear();
            to.extend(order.iter().map(|k| from[*k as usize]));
        };
        let problem = self.restriction.problem();
        pick(&start.velocity, &mut self.solution.velocity, self.restriction.velocities());
        pick(&start.impulse, &mut self.solution.impulse, self.restriction.rows());
        self.monitor.start(problem, goal, model, &self.solution.velocity);
        self.status = self.solver.improve(problem, &mut self.monitor, &mut self.solution);
    }
}
