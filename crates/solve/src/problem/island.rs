//! Islands: subsystems that constraints connect, directly or through others.
//!
//! Islands do not feel one another, so each can be solved apart. They are numbered in the order
//! of their first subsystem. An island without a constraint moves freely.

use stiction_math::sets::DisjointSets;

use super::{Jacobian, Mass};

/// The partition of subsystems and constraints into islands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Islands {
    of_subsystem: Vec<u32>,
    of_constraint: Vec<u32>,
    count: usize,
}

impl Islands {
    pub(super) fn find(&mut self, mass: &Mass, jacobian: &Jacobian) {
        let mut sets = DisjointSets::new(mass.subsystems());
        for i in 0..jacobian.constraints() {
            let mut touched = jacobian
                .constraint_entries(i)
                .iter()
                .map(|e| mass.subsystem_of(e.block as usize).0);
            if let Some(first) = touched.next() {
                for other in touched {
                    sets.union(first, other);
                }
            }
        }
        let mut labels = Vec::new();
        self.count = sets.components(&mut labels);
        self.of_subsystem.clear();
        self.of_subsystem.extend(labels.iter().map(|l| *l as u32));
        self.of_constraint.clear();
        for i in 0..jacobian.constraints() {
            let island = jacobian
                .constraint_entries(i)
                .first()
                .map_or(0, |e| self.of_subsystem[mass.subsystem_of(e.block as usize).0]);
            self.of_constraint.push(island);
        }
    }

    /// Everything is one island.
    pub(super) fn become_one(&mut self, subsystems: usize, constraints: usize) {
        self.of_subsystem.clear();
        self.of_subsystem.resize(subsystems, 0);
        self.of_constraint.clear();
        self.of_constraint.resize(constraints, 0);
        self.count = 1;
    }

    /// Number of islands.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The island of each subsystem.
    pub fn of_subsystem(&self) -> &[u32] {
        &self.of_subsystem
    }

    /// The island of each constraint.
    pub fn of_constraint(&self) -> &[u32] {
        &self.of_constraint
    }
}
