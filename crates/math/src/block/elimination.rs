//! Symbolic factorization: the order of elimination and the block pattern of the factor.
//!
//! Computes from a [`Pattern`] an order of elimination ([`super::ordering`], then post-ordered along the
//! elimination tree) and, for each eliminated block, the list of later blocks it is coupled with:
//! those of the matrix and the fill from its children in the elimination tree [George81, Ch. 5]. The
//! cost is proportional to the number of blocks of the factor. Indices k, j, i below are positions in
//! the order of elimination.

use super::Pattern;
use super::ordering::minimum_degree;
use std::ops::Range;

const NONE: usize = usize::MAX;

/// Order of elimination and block structure of the factor.
#[derive(Clone, Debug, Default)]
pub(crate) struct Elimination {
    /// Block of the pattern that is eliminated k-th.
    pub(crate) order: Vec<usize>,
    /// Position of each block of the pattern in the order of elimination: the inverse of `order`.
    pub(crate) place: Vec<usize>,
    /// Size of the k-th block.
    pub(crate) size: Vec<usize>,
    /// First scalar index of the k-th block in the pattern's own order.
    pub(crate) start: Vec<usize>,
    /// First entry of column k in `below`, and the number of entries at the end.
    column: Vec<usize>,
    /// For each column k, the later blocks i > k it is coupled with, increasing.
    pub(crate) below: Vec<usize>,
    /// First entry of row j in `left`, and the number of entries at the end.
    row: Vec<usize>,
    /// For each row j, the columns k < j that hold it, increasing, each with the entry in `below`.
    pub(crate) left: Vec<(usize, usize)>,
}

impl Elimination {
    /// Computes an order and its symbolic factorization; blocks with `held` true are eliminated last, in
    /// their order.
    pub(crate) fn analyse(pattern: &Pattern, held: &[bool]) -> Self {
        Self::analyse_in(pattern, held, minimum_degree(pattern, held))
    }

    /// A fill-reducing order of all blocks, by minimum degree.
    pub(crate) fn order_of(pattern: &Pattern) -> Vec<usize> {
        minimum_degree(pattern, &vec![false; pattern.n_blocks()])
    }

    /// Symbolic factorization in a given order, in which held blocks come last.
    pub(crate) fn analyse_in(pattern: &Pattern, held: &[bool], order: Vec<usize>) -> Self {
        let n_free = held.iter().filter(|h| !**h).count();
        let (column, below) = factor_columns(pattern, &order);
        let parents: Vec<_> = (0..order.len())
            .map(|k| below[column[k]..column[k + 1]].iter().copied().min().unwrap_or(NONE))
            .collect();
        let post = post_order(&parents, n_free);
        let mut this = Self::in_order(pattern, post.iter().map(|&k| order[k]).collect());
        this.relabel(&post, &column, &below);
        this.list_rows();
        this
    }

    fn in_order(pattern: &Pattern, order: Vec<usize>) -> Self {
        let mut place = vec![0; order.len()];
        for (k, &block) in order.iter().enumerate() {
            place[block] = k;
        }
        Self {
            size: order.iter().map(|&block| pattern.size(block)).collect(),
            start: order.iter().map(|&block| pattern.start(block)).collect(),
            order,
            place,
            ..Self::default()
        }
    }

    /// Renumbers the columns to post-order; the structure does not change.
    fn relabel(&mut self, post: &[usize], column: &[usize], below: &[usize]) {
        let mut label = vec![0; post.len()];
        for (k, &old) in post.iter().enumerate() {
            label[old] = k;
        }
        self.column = Vec::with_capacity(post.len() + 1);
        self.column.push(0);
        self.below = Vec::with_capacity(below.len());
        for &old in post {
            let begin = self.below.len();
            self.below.extend(below[column[old]..column[old + 1]].iter().map(|&i| label[i]));
            self.below[begin..].sort_unstable();
            self.column.push(self.below.len());
        }
    }

    fn list_rows(&mut self) {
        let n = self.size.len();
        self.row = vec![0; n + 1];
        for &i in &self.below {
            self.row[i + 1] += 1;
        }
        for i in 0..n {
            self.row[i + 1] += self.row[i];
        }
        let mut fill = self.row.clone();
        self.left = vec![(0, 0); self.below.len()];
        for k in 0..n {
            for entry in self.column(k) {
                let i = self.below[entry];
                self.left[fill[i]] = (k, entry);
                fill[i] += 1;
            }
        }
    }

    /// Number of blocks.
    pub(crate) fn n_blocks(&self) -> usize {
        self.size.len()
    }

    /// Entries of column k in `below`.
    #[inline(always)]
    pub(crate) fn column(&self, k: usize) -> Range<usize> {
        self.column[k]..self.column[k + 1]
    }

    /// Entries of row j in `left`.
    #[inline(always)]
    pub(crate) fn row(&self, j: usize) -> Range<usize> {
        self.row[j]..self.row[j + 1]
    }

    /// Number of blocks below the diagonal of the factor.
    pub(crate) fn n_below(&self) -> usize {
        self.below.len()
    }

    /// Entry of block (i, k) in `below`, if the factor has it.
    pub(crate) fn find(&self, i: usize, k: usize) -> Option<usize> {
        let range = self.column(k);
        let begin = range.start;
        self.below[range].binary_search(&i).ok().map(|place| begin + place)
    }

    /// Scalar values of the factor, diagonal blocks counted in full.
    pub(crate) fn n_values(&self) -> usize {
        (0..self.n_blocks()).map(|k| self.size[k] * (self.size[k] + self.height(k))).sum()
    }

    /// Multiplications of a Cholesky factorization, to leading order.
    pub(crate) fn work(&self) -> f64 {
        let column_work = |k: usize| {
            let (s, h) = (self.size[k] as f64, self.height(k) as f64);
            s * s * s / 6.0 + s * s * h / 2.0 + s * h * h / 2.0
        };
        (0..self.n_blocks()).map(column_work).sum()
    }

    fn height(&self, k: usize) -> usize {
        self.below[self.column(k)].iter().map(|&i| self.size[i]).sum()
    }
}

/// Unsorted columns of the factor in a given order: (first entries, later blocks).
fn factor_columns(pattern: &Pattern, order: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let n = order.len();
    let mut place = vec![0; n];
    for (k, &block) in order.iter().enumerate() {
        place[block] = k;
    }
    // The matrix itself by columns of the order.
    let mut first = vec![0; n + 1];
    let off_diagonal = || pattern.entries().filter(|e| e.row != e.col);
    let ends = |e: super::PatternEntry| {
        let (a, b) = (place[e.row], place[e.col]);
        (a.min(b), a.max(b))
    };
    for e in off_diagonal() {
        first[ends(e).0 + 1] += 1;
    }
    for k in 0..n {
        first[k + 1] += first[k];
    }
    let mut later = vec![0; first[n]];
    let mut fill = first.clone();
    for e in off_diagonal() {
        let (k, i) = ends(e);
        later[fill[k]] = i;
        fill[k] += 1;
    }

    // The pattern of a column is the union of the matrix's column and the columns of its children.
    let (mut column, mut below) = (Vec::with_capacity(n + 1), Vec::with_capacity(2 * later.len()));
    let (mut first_child, mut sibling) = (vec![NONE; n], vec![NONE; n]);
    let mut mark = vec![NONE; n];
    column.push(0);
    for k in 0..n {
        mark[k] = k;
        let begin = below.len();
        for &i in &later[first[k]..first[k + 1]] {
            if mark[i] != k {
                mark[i] = k;
                below.push(i);
            }
        }
        let mut child = first_child[k];
        while child != NONE {
            for entry in column[child]..column[child + 1] {
                let i = below[entry];
                if mark[i] != k {
                    mark[i] = k;
                    below.push(i);
                }
            }
            child = sibling[child];
        }
        column.push(below.len());
        if let Some(&parent) = below[begin..].iter().min() {
            sibling[k] = first_child[parent];
            first_child[parent] = k;
        }
    }
    (column, below)
}

/// Depth-first order of the elimination forest; indices from `n_free` on keep their position.
fn post_order(parents: &[usize], n_free: usize) -> Vec<usize> {
    let (mut first_child, mut sibling) = (vec![NONE; n_free], vec![NONE; n_free]);
    let mut root = NONE;
    for k in (0..n_free).rev() {
        let list = if parents[k] < n_free { &mut first_child[parents[k]] } else { &mut root };
        sibling[k] = *list;
        *list = k;
    }
    let mut order = Vec::with_capacity(parents.len());
    while root != NONE {
        let mut k = root;
        loop {
            while first_child[k] != NONE {
                k = std::mem::replace(&mut first_child[k], NONE);
            }
            order.push(k);
            if k == root {
                break;
            }
            k = if sibling[k] != NONE { sibling[k] } else { parents[k] };
        }
        root = sibling[root];
    }
    order.extend(n_free..parents.len());
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use crate::testing;

    /// The factor's pattern by eliminating block after block in a full table.
    fn brute_force(pattern: &Pattern, order: &[usize]) -> Vec<(usize, usize)> {
        let n = order.len();
        let mut filled = vec![vec![false; n]; n];
        for k in 0..n {
            for i in k + 1..n {
                let (a, b) = (order[i].max(order[k]), order[i].min(order[k]));
                filled[i][k] = pattern.find(a, b).is_some();
            }
        }
        let mut places = Vec::new();
        for k in 0..n {
            let rows: Vec<_> = (k + 1..n).filter(|&i| filled[i][k]).collect();
            for &i in &rows {
                places.push((k, i));
                for &j in rows.iter().filter(|&&j| j < i) {
                    filled[i][j] = true;
                }
            }
        }
        places
    }

    #[test]
    fn the_structure_is_that_of_elimination_by_hand() {
        let mut rng = SplitMix64::new(6);
        for (n, degree) in (0..40).flat_map(|n| [(n, 2), (n, 4), (n, 9)]) {
            let pattern = testing::pattern(&mut rng, n, &[0, 3, 6], degree);
            let held: Vec<_> = (0..n).map(|i| degree == 4 && i % 5 == 0).collect();
            let elimination = Elimination::analyse(&pattern, &held);
            let found: Vec<_> = (0..n)
                .flat_map(|k| elimination.below[elimination.column(k)].iter().map(move |&i| (k, i)))
                .collect();
            assert_eq!(found, brute_force(&pattern, &elimination.order));
            for j in 0..n {
                for &(k, entry) in &elimination.left[elimination.row(j)] {
                    assert_eq!(elimination.find(j, k), Some(entry));
                }
            }
        }
    }

    #[test]
    fn children_stand_right_before_their_parents() {
        // In a post-order the descendants of k are the numbers just below k: its first later block
        // is never smaller than that of the numbers between them.
        let mut rng = SplitMix64::new(7);
        let pattern = testing::pattern(&mut rng, 80, &[6], 3);
        let elimination = Elimination::analyse(&pattern, &[false; 80]);
        let parent = |k: usize| elimination.below[elimination.column(k)].first().copied();
        for k in 0..80 {
            if let Some(p) = parent(k) {
                for between in k + 1..p {
                    assert!(parent(between).is_some_and(|q| q <= p));
                }
            }
        }
    }
}
