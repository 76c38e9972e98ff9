//! Fill-reducing order of elimination of the blocks.
//!
//! Approximate minimum degree on the quotient graph [AmestoyDavisDuff96], with each block weighted
//! by its size, element absorption, mass elimination and detection of indistinguishable blocks.
//! Computes a permutation from a [`Pattern`]; nearly linear in practice. Blocks may be held: they count
//! in the degrees but are ordered last, by increasing index. It is deterministic, and the
//! permutation is not yet post-ordered (see [`super::Elimination`]).

use super::Pattern;

/// Order of elimination: the k-th entry is the k-th block to eliminate.
/// Blocks for which `held` is true come last, by increasing number.
pub(super) fn minimum_degree(pattern: &Pattern, held: &[bool]) -> Vec<usize> {
    let n_free = held.iter().filter(|h| !**h).count();
    let mut graph = Quotient::new(pattern, held);
    let mut order = Vec::with_capacity(pattern.n_blocks());
    while order.len() < n_free {
        graph.eliminate_one(&mut order);
    }
    order.extend((0..pattern.n_blocks()).filter(|&i| held[i]));
    order
}

const NONE: usize = usize::MAX;

#[derive(Clone, Copy, PartialEq)]
enum Role {
    /// A block, or several indistinguishable ones, still to be eliminated.
    Variable,
    /// An eliminated block whose neighbours form a clique.
    Element,
    /// Merged into another variable, or absorbed by another element.
    Gone,
}

struct Quotient<'a> {
    held: &'a [bool],
    role: Vec<Role>,
    /// Lists of neighbours: elements first, then variables; of an element, its variables.
    arena: Vec<usize>,
    begin: Vec<usize>,
    n_elements: Vec<usize>,
    n_variables: Vec<usize>,
    /// Scalar rows of a variable; of an element, those of its variables.
    weight: Vec<usize>,
    /// Upper bound of the scalar rows a variable is coupled with.
    degree: Vec<usize>,
    /// Scalar rows not yet eliminated.
    remaining: usize,
    /// Doubly linked lists of the free variables of each degree.
    head: Vec<usize>,
    next: Vec<usize>,
    previous: Vec<usize>,
    smallest: usize,
    /// Blocks that were merged into a variable, as a list that starts with the variable itself.
    follower: Vec<usize>,
    last_follower: Vec<usize>,
    /// `mark[i] == stamp`: i belongs to the current set.
    mark: Vec<usize>,
    stamp: usize,
    /// Weight of an element outside the pivot's element; valid where `seen` equals the stamp.
    outside: Vec<usize>,
    seen: Vec<usize>,
    /// Scratch of one elimination.
    kept: Vec<usize>,
    hashes: Vec<(usize, usize)>,
}

impl<'a> Quotient<'a> {
    fn new(pattern: &Pattern, held: &'a [bool]) -> Self {
        let n = pattern.n_blocks();
        let mut n_variables = vec![0; n];
        for e in pattern.entries().filter(|e| e.row != e.col) {
            n_variables[e.row] += 1;
            n_variables[e.col] += 1;
        }
        let mut begin = Vec::with_capacity(n);
        let mut end = 0;
        for count in &n_variables {
            begin.push(end);
            end += count;
        }
        let mut arena = Vec::with_capacity(4 * end);
        arena.resize(end, 0);
        let mut fill = begin.clone();
        // A block of size zero weighs something, too, so that a weight of zero means "no variable".
        let weight: Vec<_> = (0..n).map(|i| pattern.size(i).max(1)).collect();
        let mut degree = vec![0; n];
        for e in pattern.entries().filter(|e| e.row != e.col) {
            for (i, j) in [(e.row, e.col), (e.col, e.row)] {
                arena[fill[i]] = j;
                fill[i] += 1;
                degree[i] += weight[j];
            }
        }
        let remaining = weight.iter().sum();
        let mut graph = Self {
            held,
            role: vec![Role::Variable; n],
            arena,
            begin,
            n_elements: vec![0; n],
            n_variables,
            weight,
            degree,
            remaining,
            head: vec![NONE; remaining + 1],
            next: vec![NONE; n],
            previous: vec![NONE; n],
            smallest: 0,
            follower: vec![NONE; n],
            last_follower: (0..n).collect(),
            mark: vec![0; n],
            stamp: 0,
            outside: vec![0; n],
            seen: vec![0; n],
            kept: Vec::new(),
            hashes: Vec::new(),
        };
        // Lists are last in, first out: enter in reverse so that ties go to the smaller number.
        for i in (0..n).rev() {
            graph.enlist(i);
        }
        graph
    }

    fn eliminate_one(&mut self, order: &mut Vec<usize>) {
        while self.head[self.smallest] == NONE {
            self.smallest += 1;
        }
        let pivot = self.head[self.smallest];
        self.delist(pivot);
        self.remaining -= self.weight[pivot];
        let clique = self.form_element(pivot);
        self.measure_overlaps(clique.clone());
        let clique_weight = self.prune_neighbours(pivot, clique.clone());
        self.merge_indistinguishable();
        self.finish_element(pivot, clique, clique_weight);
        let mut block = pivot;
        while block != NONE {
            order.push(block);
            block = self.follower[block];
        }
    }

    /// Collects the variables next to the pivot at the end of the arena and marks them.
    fn form_element(&mut self, pivot: usize) -> std::ops::Range<usize> {
        self.stamp += 1;
        self.mark[pivot] = self.stamp;
        let start = self.arena.len();
        let own = self.begin[pivot];
        for k in own..own + self.n_elements[pivot] {
            let element = self.arena[k];
            if self.role[element] == Role::Element {
                let list = self.begin[element];
                for m in list..list + self.n_variables[element] {
                    self.join(self.arena[m]);
                }
                self.role[element] = Role::Gone;
            }
        }
        let own = own + self.n_elements[pivot];
        for k in own..own + self.n_variables[pivot] {
            self.join(self.arena[k]);
        }
        start..self.arena.len()
    }

    fn join(&mut self, variable: usize) {
        if self.role[variable] == Role::Variable && self.mark[variable] != self.stamp {
            self.mark[variable] = self.stamp;
            self.arena.push(variable);
            self.delist(variable);
        }
    }

    /// For each element next to the clique, the weight of its variables outside the clique.
    fn measure_overlaps(&mut self, clique: std::ops::Range<usize>) {
        for k in clique {
            let i = self.arena[k];
            for m in self.begin[i]..self.begin[i] + self.n_elements[i] {
                let e = self.arena[m];
                if self.role[e] == Role::Element {
                    if self.seen[e] != self.stamp {
                        self.seen[e] = self.stamp;
                        self.outside[e] = self.weight[e];
                    }
                    self.outside[e] -= self.weight[i];
                }
            }
        }
    }

    /// Rewrites the list of each variable of the clique; returns the clique's weight.
    fn prune_neighbours(&mut self, pivot: usize, clique: std::ops::Range<usize>) -> usize {
        let mut clique_weight: usize = clique.clone().map(|k| self.weight[self.arena[k]]).sum();
        self.hashes.clear();
        for k in clique {
            let i = self.arena[k];
            let (begin, n_elements) = (self.begin[i], self.n_elements[i]);
            self.kept.clear();
            let mut degree = 0;
            for m in begin..begin + n_elements {
                let e = self.arena[m];
                if self.role[e] == Role::Element {
                    if self.outside[e] == 0 {
                        self.role[e] = Role::Gone; // the pivot's element covers it
                    } else {
                        degree += self.outside[e];
                        self.kept.push(e);
                    }
                }
            }
            let other_elements = self.kept.len();
            self.kept.push(pivot);
            for m in begin + n_elements..begin + n_elements + self.n_variables[i] {
                let v = self.arena[m];
                if self.role[v] == Role::Variable && self.mark[v] != self.stamp {
                    degree += self.weight[v];
                    self.kept.push(v);
                }
            }
            if self.kept.len() == 1 && !self.held[i] {
                // Nothing but the clique: eliminated together with the pivot, without more fill.
                clique_weight -= self.weight[i];
                self.remaining -= self.weight[i];
                self.follow(i, pivot);
                continue;
            }
            // At least one entry fell away, an element of the pivot or the pivot itself.
            self.arena[begin..begin + self.kept.len()].copy_from_slice(&self.kept);
            self.n_elements[i] = other_elements + 1;
            self.n_variables[i] = self.kept.len() - other_elements - 1;
            self.degree[i] = self.degree[i].min(degree);
            let hash = self.kept.iter().fold(0usize, |sum, k| sum.wrapping_add(*k));
            if !self.held[i] {
                self.hashes.push((hash, i));
            }
        }
        clique_weight
    }

    /// Merges variables of the clique that have the same neighbours.
    fn merge_indistinguishable(&mut self) {
        let mut hashes = std::mem::take(&mut self.hashes);
        hashes.sort_unstable();
        for group in hashes.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1) {
            for (k, &(_, i)) in group.iter().enumerate() {
                if self.role[i] != Role::Variable {
                    continue;
                }
                self.stamp += 1;
                let length = self.n_elements[i] + self.n_variables[i];
                for m in self.begin[i]..self.begin[i] + length {
                    self.mark[self.arena[m]] = self.stamp;
                }
                for &(_, j) in &group[k + 1..] {
                    let same = self.role[j] == Role::Variable
                        && self.n_elements[j] == self.n_elements[i]
                        && self.n_variables[j] == self.n_variables[i]
                        && self.arena[self.begin[j]..self.begin[j] + length]
                            .iter()
                            .all(|m| self.mark[*m] == self.stamp);
                    if same {
                        self.weight[i] += self.weight[j];
                        self.follow(j, i);
                    }
                }
            }
        }
        self.hashes = hashes;
    }

    /// Turns the pivot into an element and puts its variables back into the degree lists.
    fn finish_element(
        &mut self,
        pivot: usize,
        clique: std::ops::Range<usize>,
        clique_weight: usize,
    ) {
        let mut end = clique.start;
        for k in clique.clone() {
            let i = self.arena[k];
            if self.role[i] == Role::Variable {
                self.arena[end] = i;
                end += 1;
                let others = clique_weight - self.weight[i];
                self.degree[i] = (self.degree[i] + others).min(self.remaining - self.weight[i]);
                self.enlist(i);
            }
        }
        self.arena.truncate(end);
        self.role[pivot] = if end == clique.start { Role::Gone } else { Role::Element };
        self.weight[pivot] = clique_weight;
        self.begin[pivot] = clique.start;
        self.n_elements[pivot] = 0;
        self.n_variables[pivot] = end - clique.start;
    }

    /// Block `i` and its followers are to be eliminated right after `leader` and its followers.
    fn follow(&mut self, i: usize, leader: usize) {
        self.role[i] = Role::Gone;
        self.follower[self.last_follower[leader]] = i;
        self.last_follower[leader] = self.last_follower[i];
    }

    fn enlist(&mut self, i: usize) {
        if self.held[i] {
            return;
        }
        let degree = self.degree[i];
        let head = self.head[degree];
        self.next[i] = head;
        self.previous[i] = NONE;
        if head != NONE {
            self.previous[head] = i;
        }
        self.head[degree] = i;
        self.smallest = self.smallest.min(degree);
    }

    fn delist(&mut self, i: usize) {
        if self.held[i] {
            return;
        }
        let (previous, next) = (self.previous[i], self.next[i]);
        if previous == NONE {
            self.head[self.degree[i]] = next;
        } else {
            self.next[previous] = next;
        }
        if next != NONE {
            self.previous[next] = previous;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Elimination;
    use crate::random::SplitMix64;
    use crate::testing;

    #[test]
    fn every_block_is_eliminated_once_and_held_blocks_come_last() {
        let mut rng = SplitMix64::new(4);
        for n in [0, 1, 2, 7, 60, 200] {
            let pattern = testing::pattern(&mut rng, n, &[0, 3, 6], 5);
            let held: Vec<_> = (0..n).map(|_| rng.below(4) == 0).collect();
            let order = minimum_degree(&pattern, &held);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..n).collect::<Vec<_>>());
            let n_free = held.iter().filter(|h| !**h).count();
            assert!(order[..n_free].iter().all(|&i| !held[i]));
            assert!(order[n_free..].is_sorted() && order[n_free..].iter().all(|&i| held[i]));
        }
    }

    #[test]
    fn a_tree_is_eliminated_without_fill() {
        let mut rng = SplitMix64::new(5);
        let n = 100;
        let edges: Vec<_> = (1..n).map(|i| (i, rng.below(i))).collect();
        let pattern = Pattern::new(&vec![6; n], edges);
        let elimination = Elimination::analyse(&pattern, &vec![false; n]);
        assert_eq!(elimination.n_below(), n - 1);
    }

    #[test]
    fn a_grid_fills_far_less_than_in_its_natural_order() {
        // Natural order of an m × m grid keeps a band: about m³ entries.
        let m = 30;
        let at = |x: usize, y: usize| x + m * y;
        let mut pairs = Vec::new();
        for y in 0..m {
            for x in 0..m {
                if x > 0 {
                    pairs.push((at(x, y), at(x - 1, y)));
                }
                if y > 0 {
                    pairs.push((at(x, y), at(x, y - 1)));
                }
            }
        }
        let pattern = Pattern::new(&vec![3; m * m], pairs);
        let elimination = Elimination::analyse(&pattern, &vec![false; m * m]);
        assert!(elimination.n_below() < m * m * m / 2, "{}", elimination.n_below());
    }
}
