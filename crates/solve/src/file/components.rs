//! Connected components of the graph of a symmetric matrix.
//!
//! Union-find with path halving, the smaller index as root: near-linear, and the components come
//! out ordered by their first member, each with its members increasing, whatever the order of the
//! joins.

/// A partition of `0..size` that grows coarser.
pub(super) struct Partition {
    parent: Vec<usize>,
}

impl Partition {
    /// Every member alone.
    pub(super) fn new(size: usize) -> Self {
        Self { parent: (0..size).collect() }
    }

    /// Puts two members into one component.
    pub(super) fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b)] = a.min(b);
    }

    /// The components, ordered by first member: members of component i are
    /// `members[starts[i]..starts[i+1]]`.
    pub(super) fn components(mut self) -> (Vec<usize>, Vec<usize>) {
        let size = self.parent.len();
        let mut component = vec![0; size];
        let mut starts = vec![0];
        for member in 0..size {
            let root = self.root(member);
            if root == member {
                component[member] = starts.len() - 1;
                starts.push(0);
            } else {
                component[member] = component[root]; // a root comes before its members
            }
            starts[component[member] + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut next = starts.clone();
        let mut members = vec![0; size];
        for (member, &component) in component.iter().enumerate() {
            members[next[component]] = member;
            next[component] += 1;
        }
        (starts, members)
    }

    fn root(&mut self, mut member: usize) -> usize {
        while self.parent[member] != member {
            self.parent[member] = self.parent[self.parent[member]];
            member = self.parent[member];
        }
        member
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_ordered_by_first_member() {
        let mut partition = Partition::new(6);
        partition.join(5, 2);
        partition.join(4, 0);
        partition.join(2, 4);
        let (starts, members) = partition.components();
        assert_eq!(starts, [0, 4, 5, 6]);
        assert_eq!(members, [0, 2, 4, 5, 1, 3]);
    }
}
