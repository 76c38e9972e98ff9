//! Rows of exact equalities that depend linearly on others, island by island.
//!
//! A row that depends on others adds nothing to the velocities. Its bias and its error contradict those of the others
//! by round-off, or by the last digits of a file, which no solver and no correction can resolve. Large islands are
//! searched equality by equality, since the cost grows with the square of the number of rows.

use stiction_math::sets::DisjointSets;

use super::rank::RowRank;
use super::{ConstraintContext, RowBuilder};

/// Largest number of rows of an island that are compared with one another.
const MAX_ISLAND_ROWS: usize = 64;

/// Finds rows that depend on others.
#[derive(Debug, Default)]
pub(super) struct DependentRows {
    trees: DisjointSets,
    /// Island, or island and equality, and index of each row, sorted.
    order: Vec<([u32; 2], u32)>,
    rank: RowRank,
    /// Rows that depend on others, sorted.
    found: Vec<u32>,
}

impl DependentRows {
    /// Finds the dependent ones among the constraints of the builder from `first` on, of one row each; false if there are none.
    pub fn find(&mut self, first: usize, rows: &RowBuilder, context: &ConstraintContext) -> bool {
        self.found.clear();
        if rows.records().len() - first < 2 {
            return false;
        }
        self.order_by_island(first, rows, context);
        let Self { order, rank, found, .. } = self;
        for group in order.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1) {
            rank.clear();
            for (_, index) in group {
                let terms = rows.rows().constraints()[*index as usize].terms();
                let values = rows.rows().terms()[terms.clone()].iter();
                let values = values.map(|term| rows.rows().values(term));
                rank.add(context, rows.ports()[terms].iter().copied().zip(values));
            }
            if rank.find_dependent() {
                let dependent = group.iter().enumerate().filter(|(k, _)| rank.is_dependent(*k));
                found.extend(dependent.map(|(_, (_, index))| *index));
            }
        }
        found.sort_unstable();
        !found.is_empty()
    }

    /// Keeps those for which a condition holds.
    pub fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        self.found.retain(|index| keep(*index as usize));
    }

    /// Whether a constraint was found to depend on others.
    pub fn contains(&self, index: usize) -> bool {
        self.found.binary_search(&(index as u32)).is_ok()
    }

    /// Lists the exact rows by island; those of large islands by equality as well.
    fn order_by_island(&mut self, first: usize, rows: &RowBuilder, context: &ConstraintContext) {
        let Self { trees, order, .. } = self;
        trees.reset(context.model.trees().len());
        order.clear();
        for index in first..rows.records().len() {
            let constraint = &rows.rows().constraints()[index];
            if rows.rows().compliance()[constraint.rows().start] > 0.0 {
                continue;
            }
            let mut read = rows.ports()[constraint.terms()].iter().filter_map(|port| port.tree());
            let Some(tree) = read.next() else { continue };
            read.for_each(|other| {
                trees.union(tree, other);
            });
            order.push(([tree as u32, 0], index as u32));
        }
        for (group, _) in order.iter_mut() {
            group[0] = trees.find(group[0] as usize) as u32;
        }
        order.sort_unstable();
        for island in order.chunk_by_mut(|a, b| a.0 == b.0) {
            if island.len() > MAX_ISLAND_ROWS {
                for (group, index) in island {
                    group[1] = rows.records()[*index as usize].key.a;
                }
            }
        }
    }
}
