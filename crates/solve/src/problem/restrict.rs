//! One island of a problem as a problem of its own.
//!
//! Copies the data that solvers read and keeps the memory: restricting to the same island of a problem
//! of the same shape again allocates nothing. Ports are not copied; solvers of islands read only J.

use super::{Problem, SubsystemId};

/// A problem that holds one island at a time.
#[derive(Clone, Debug)]
pub struct Restriction {
    problem: Problem,
    velocities: Vec<u32>,
    rows: Vec<u32>,
    new_block: Vec<u32>,
}

impl Restriction {
    /// The restriction of `whole` to one of its islands.
    pub fn new(whole: &Problem, island: usize) -> Self {
        let mut restriction = Self {
            problem: Problem::default(),
            velocities: Vec::new(),
            rows: Vec::new(),
            new_block: Vec::new(),
        };
        restriction.restrict(whole, island);
        restriction
    }

    /// The island as a problem.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Index in the whole problem of each velocity of the island.
    pub fn velocities(&self) -> &[u32] {
        &self.velocities
    }

    /// Index in the whole problem of each row of the island.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Releases the factorizations shared with the whole problem, so that the whole can be rebuilt in
    /// its own memory.
    pub fn release(&mut self) {
        self.problem.mass.release();
    }

    /// Replaces the contents by the restriction of `whole` to one of its islands, in the same memory.
    pub fn restrict(&mut self, whole: &Problem, island: usize) {
        let members = whole.islands.subsystems(island);
        let part = &mut self.problem;
        part.mass.restrict(&whole.mass, members, &mut self.new_block);
        self.velocities.clear();
        for s in members {
            self.velocities.extend(whole.mass.dofs(SubsystemId(*s as usize)).map(|d| d as u32));
        }
        let pick = |from: &[f64], to: &mut Vec<f64>, order: &[u32]| {
            to.clear();
            to.extend(order.iter().map(|k| from[*k as usize]));
        };
        pick(&whole.momentum, &mut part.momentum, &self.velocities);
        pick(&whole.estimate, &mut part.estimate, &self.velocities);
        part.free.reset();

        self.rows.clear();
        part.rows.copy_laws(&whole.rows, whole.islands.constraints(island));
        part.jacobian.clear();
        part.delassus.clear();
        for &i in whole.islands.constraints(island) {
            let i = i as usize;
            self.rows.extend(whole.row_range(i).map(|r| r as u32));
            part.jacobian.push_constraint(whole.jacobian.dim(i));
            for e in whole.jacobian.constraint_entries(i) {
                let block = self.new_block[e.block as usize] as usize;
                part.jacobian.push_values(block, whole.jacobian.block(e));
            }
            part.delassus.push(whole.delassus.block(i), whole.delassus.scale(i));
        }
        part.jacobian.finish(part.mass.matrix().pattern());
        part.islands.become_one(part.mass.subsystems(), part.rows.len());
        part.reference_velocity = whole.reference_velocity;
    }
}
