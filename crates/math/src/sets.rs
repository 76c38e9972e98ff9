//! Disjoint sets: the connected components of a graph.
//!
//! Union by size with path halving [Tarjan75]; nearly constant cost per operation. Components are
//! numbered by their smallest element, so that the numbering does not depend on the order of unions.

/// A partition of 0..n into sets that can be united.
#[derive(Clone, Debug, Default)]
pub struct DisjointSets {
    parent: Vec<usize>,
    size: Vec<usize>,
}

impl DisjointSets {
    /// Every element is a set of its own.
    pub fn new(n: usize) -> Self {
        Self { parent: (0..n).collect(), size: vec![1; n] }
    }

    /// Resets to `n` sets of one element each; keeps the allocation.
    pub fn reset(&mut self, n: usize) {
        self.parent.clear();
        self.parent.extend(0..n);
        self.size.clear();
        self.size.resize(n, 1);
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.parent.len()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.parent.is_empty()
    }

    /// The representative element of the set of `a`.
    pub fn find(&mut self, mut a: usize) -> usize {
        while self.parent[a] != a {
            self.parent[a] = self.parent[self.parent[a]];
            a = self.parent[a];
        }
        a
    }

    /// Unites the sets of `a` and `b`; false if they were one already.
    pub fn union(&mut self, a: usize, b: usize) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return false;
        }
        let (small, large) = if self.size[a] < self.size[b] { (a, b) } else { (b, a) };
        self.parent[small] = large;
        self.size[large] += self.size[small];
        true
    }

    /// Whether `a` and `b` are in one set.
    pub fn same(&mut self, a: usize, b: usize) -> bool {
        self.find(a) == self.find(b)
    }

    /// Writes the number of each element's component, counted by smallest elements; returns how many
    /// components there are.
    pub fn components(&mut self, out: &mut Vec<usize>) -> usize {
        const UNNUMBERED: usize = usize::MAX;
        out.clear();
        out.resize(self.len(), UNNUMBERED);
        let mut count = 0;
        for a in 0..self.len() {
            let root = self.find(a);
            // A root's number is written when the first element of its set is met.
            if out[root] == UNNUMBERED {
                out[root] = count;
                count += 1;
            }
            out[a] = out[root];
        }
        count
    }

    /// The members of each set, sets in order of their smallest members and members increasing:
    /// those of set i are `members[starts[i]..starts[i + 1]]`.
    pub fn groups(&mut self) -> (Vec<usize>, Vec<usize>) {
        let mut labels = Vec::new();
        let count = self.components(&mut labels);
        let mut members: Vec<usize> = (0..self.len()).collect();
        members.sort_by_key(|a| labels[*a]); // stable
        let mut starts = vec![0; count + 1];
        for label in labels {
            starts[label + 1] += 1;
        }
        for i in 0..count {
            starts[i + 1] += starts[i];
        }
        (starts, members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    #[test]
    fn components_are_numbered_by_their_smallest_elements() {
        let mut sets = DisjointSets::new(7);
        assert!(sets.union(5, 2) && sets.union(6, 3) && sets.union(2, 6));
        assert!(!sets.union(3, 5));
        assert!(sets.same(2, 3) && !sets.same(0, 2));
        let mut out = Vec::new();
        assert_eq!(sets.components(&mut out), 4);
        assert_eq!(out, [0, 1, 2, 2, 3, 2, 2]);
    }

    #[test]
    fn groups_list_their_members_in_order() {
        let mut sets = DisjointSets::new(6);
        assert!(sets.union(5, 2) && sets.union(4, 0) && sets.union(2, 4));
        assert_eq!(sets.groups(), (vec![0, 4, 5, 6], vec![0, 2, 4, 5, 1, 3]));
    }

    #[test]
    fn the_numbering_does_not_depend_on_the_order_of_unions() {
        let mut rng = SplitMix64::new(51);
        let mut pairs: Vec<_> = (0..60).map(|_| (rng.below(80), rng.below(80))).collect();
        let (mut first, mut second) = (Vec::new(), Vec::new());
        let mut sets = DisjointSets::new(80);
        pairs.iter().for_each(|&(a, b)| _ = sets.union(a, b));
        let count = sets.components(&mut first);
        pairs.reverse();
        sets.reset(80);
        pairs.iter().for_each(|&(a, b)| _ = sets.union(b, a));
        assert_eq!(sets.components(&mut second), count);
        assert_eq!(first, second);
    }

    #[test]
    fn no_elements_make_no_components() {
        assert!(DisjointSets::new(0).is_empty());
        assert_eq!(DisjointSets::new(0).components(&mut Vec::new()), 0);
    }
}
