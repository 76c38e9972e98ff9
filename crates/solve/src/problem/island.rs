//! Islands: subsystems that constraints connect, directly or through others.
//!
//! No constraint couples two islands, so each can be solved separately. They are numbered in the order
//! of their first subsystem. An island without a constraint moves freely.

use stiction_math::sets::DisjointSets;

use super::{Jacobian, Mass};

/// The partition of subsystems and constraints into islands.
#[derive(Clone, Debug, Default)]
pub struct Islands {
    of_subsystem: Vec<u32>,
    of_constraint: Vec<u32>,
    subsystems: IslandMembers,
    constraints: IslandMembers,
    count: usize,
    sets: DisjointSets,
    labels: Vec<usize>,
}

/// The members of each island, increasing.
#[derive(Clone, Debug, Default)]
struct IslandMembers {
    start: Vec<u32>,
    members: Vec<u32>,
}

impl IslandMembers {
    /// Counting sort by island.
    fn fill(&mut self, island_of: &[u32], count: usize) {
        self.start.clear();
        self.start.resize(count + 1, 0);
        for island in island_of {
            self.start[*island as usize] += 1;
        }
        let mut end = 0;
        for start in &mut self.start {
            end += *start;
            *start = end;
        }
        self.members.clear();
        self.members.resize(island_of.len(), 0);
        for (member, island) in island_of.iter().enumerate().rev() {
            let slot = &mut self.start[*island as usize];
            *slot -= 1;
            self.members[*slot as usize] = member as u32;
        }
    }

    fn of(&self, island: usize) -> &[u32] {
        &self.members[self.start[island] as usize..self.start[island + 1] as usize]
    }
}

impl Islands {
    pub(super) fn find(&mut self, mass: &Mass, jacobian: &Jacobian) {
        if mass.subsystems() == 1 {
            return self.become_one(1, jacobian.constraints());
        }
        self.sets.reset(mass.subsystems());
        for i in 0..jacobian.constraints() {
            if let [first, others @ ..] = jacobian.constraint_entries(i) {
                let first = mass.subsystem_of(first.block as usize).0;
                for other in others {
                    self.sets.union(first, mass.subsystem_of(other.block as usize).0);
                }
            }
        }
        self.count = self.sets.components(&mut self.labels);
        self.of_subsystem.clear();
        self.of_subsystem.extend(self.labels.iter().map(|l| *l as u32));
        self.of_constraint.clear();
        for i in 0..jacobian.constraints() {
            let island = jacobian
                .constraint_entries(i)
                .first()
                .map_or(0, |e| self.of_subsystem[mass.subsystem_of(e.block as usize).0]);
            self.of_constraint.push(island);
        }
        self.list();
    }

    fn list(&mut self) {
        self.subsystems.fill(&self.of_subsystem, self.count);
        self.constraints.fill(&self.of_constraint, self.count);
    }

    /// Everything is one island.
    pub(super) fn become_one(&mut self, subsystems: usize, constraints: usize) {
        self.of_subsystem.clear();
        self.of_subsystem.resize(subsystems, 0);
        self.of_constraint.clear();
        self.of_constraint.resize(constraints, 0);
        self.count = 1;
        self.list();
    }

    /// The subsystems of an island, increasing.
    pub fn subsystems(&self, island: usize) -> &[u32] {
        self.subsystems.of(island)
    }

    /// The constraints of an island, increasing.
    pub fn constraints(&self, island: usize) -> &[u32] {
        self.constraints.of(island)
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
