//! A partition of `0..n` that grows coarser (union-find).
//!
//! The smallest member of a set is its root, so that neither the order of joins nor anything else
//! changes how sets are numbered: by first member.

/// Disjoint sets of `0..n`.
#[derive(Clone, Debug, Default)]
pub struct DisjointSets {
    parent: Vec<usize>,
}

impl DisjointSets {
    /// Every member alone.
    pub fn new(n: usize) -> Self {
        Self { parent: (0..n).collect() }
    }

    /// Every member alone, in the same memory.
    pub fn reset(&mut self, n: usize) {
        self.parent.clear();
        self.parent.extend(0..n);
    }

    /// The smallest member of the set of `x`.
    pub fn root(&mut self, mut x: usize) -> usize {
        while self.parent[x] != x {
            self.parent[x] = self.parent[self.parent[x]];
            x = self.parent[x];
        }
        x
    }

    /// Joins the sets of two members.
    pub fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b)] = a.min(b);
    }

    /// The number of each member's set, and how many sets there are.
    pub fn components(&mut self) -> (Vec<usize>, usize) {
        let mut labels = Vec::new();
        let count = self.components_into(&mut labels);
        (labels, count)
    }

    /// As [`Self::components`], in the caller's memory.
    pub fn components_into(&mut self, labels: &mut Vec<usize>) -> usize {
        labels.clear();
        let mut count = 0;
        for x in 0..self.parent.len() {
            let root = self.root(x);
            if root == x {
                labels.push(count);
                count += 1;
            } else {
                labels.push(labels[root]); // a root comes before its other members
            }
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_numbered_by_first_member_whatever_the_order_of_joins() {
        for joins in [[(4, 2), (0, 4), (5, 1)], [(5, 1), (2, 0), (4, 0)]] {
            let mut sets = DisjointSets::new(6);
            for (a, b) in joins {
                sets.join(a, b);
            }
            assert_eq!(sets.components(), (vec![0, 1, 0, 2, 0, 1], 3));
        }
    }
}
