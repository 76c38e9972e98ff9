//! The sparsity pattern of a symmetric block matrix.
//!
//! Computes, from the sizes of the blocks and the pairs that are coupled, the sorted lower triangle
//! (all diagonal blocks included) and where each block's values lie in one flat array. Blocks are
//! stored row-major, block row by block row, the diagonal block last in its row.
//! Cost: linear in the number of blocks and pairs. It holds no values.

use std::ops::Range;

/// Index of a block among the stored blocks of a [`Pattern`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId(pub usize);

/// One stored block: block row `row` ≥ block column `col`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PatternEntry {
    /// Index of the block.
    pub id: BlockId,
    /// Block row.
    pub row: usize,
    /// Block column, at most `row`.
    pub col: usize,
    /// Where the block's values start in the flat array of a matrix with this pattern.
    pub offset: usize,
}

/// The lower triangle of a symmetric block pattern, with all diagonal blocks.
#[derive(Debug, Default)]
pub struct Pattern {
    /// First scalar index of each block, and the dimension at the end.
    start: Vec<usize>,
    /// First stored block of each block row, and their number at the end.
    row: Vec<usize>,
    /// Block column of each stored block.
    col: Vec<usize>,
    /// First value of each stored block, and their number at the end.
    offset: Vec<usize>,
    /// First value of each mirrored off-diagonal block in an array without diagonal blocks.
    mirror: Vec<usize>,
    /// Scratch of `rebuild`: the pairs in the given order, and the fill mark of each row.
    pairs: Vec<(usize, usize)>,
    next: Vec<usize>,
}

impl Clone for Pattern {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, source: &Self) {
        self.start.clone_from(&source.start);
        self.row.clone_from(&source.row);
        self.col.clone_from(&source.col);
        self.offset.clone_from(&source.offset);
        self.mirror.clone_from(&source.mirror);
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        // The offsets follow from the sizes and the block indices.
        self.start == other.start && self.row == other.row && self.col == other.col
    }
}

impl Eq for Pattern {}

impl Pattern {
    /// Pattern of blocks of the given sizes with the given couplings.
    ///
    /// A pair may come in either order and more than once; diagonal blocks need not be named.
    /// A block of size zero is allowed and has no values.
    ///
    /// # Panics
    /// If a pair has the index of a block that does not exist.
    pub fn new(sizes: &[usize], pairs: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut pattern = Self::default();
        pattern.rebuild(sizes, pairs);
        pattern
    }

    /// Replaces the pattern by that of [`Pattern::new`]; keeps the allocations.
    ///
    /// # Panics
    /// If a pair has the index of a block that does not exist.
    pub fn rebuild(&mut self, sizes: &[usize], pairs: impl IntoIterator<Item = (usize, usize)>) {
        let n = sizes.len();
        self.start.clear();
        self.start.push(0);
        self.start.extend(sizes.iter().scan(0, |sum, size| {
            *sum += size;
            Some(*sum)
        }));

        // Sort by row with one counting pass, then each short row by column.
        self.pairs.clear();
        self.pairs.extend(pairs.into_iter().map(|(i, j)| (i.max(j), i.min(j))));
        self.next.clear();
        self.next.resize(n + 1, 0);
        for &(i, _) in &self.pairs {
            assert!(i < n, "block {i} of a coupled pair; expected one of {n} blocks");
            self.next[i + 1] += 1;
        }
        for i in 0..n {
            self.next[i + 1] += self.next[i] + 1; // one more for the diagonal block
        }
        self.offset.clear(); // holds the unmerged columns for the moment
        self.offset.resize(self.pairs.len() + n, 0);
        for &(i, j) in &self.pairs {
            self.offset[self.next[i]] = j;
            self.next[i] += 1;
        }
        let (mut begin, columns) = (0, &mut self.offset);
        self.row.clear();
        self.col.clear();
        self.row.push(0);
        for i in 0..n {
            let end = self.next[i];
            columns[end] = i;
            let one_row = &mut columns[begin..=end];
            one_row.sort_unstable();
            let mut last = None;
            for &mut j in one_row {
                if last != Some(j) {
                    self.col.push(j);
                    last = Some(j);
                }
            }
            self.row.push(self.col.len());
            begin = end + 1;
        }
        self.place_values();
    }

    fn place_values(&mut self) {
        let (mut value, mut mirrored) = (0, 0);
        self.offset.clear();
        self.mirror.clear();
        for i in 0..self.n_blocks() {
            for id in self.row[i]..self.row[i + 1] {
                let j = self.col[id];
                let area = self.size(i) * self.size(j);
                self.offset.push(value);
                self.mirror.push(mirrored);
                value += area;
                mirrored += if i == j { 0 } else { area };
            }
        }
        self.offset.push(value);
        self.mirror.push(mirrored);
    }

    /// Number of blocks along the diagonal.
    pub fn n_blocks(&self) -> usize {
        self.start.len().saturating_sub(1)
    }

    /// Number of scalar rows.
    pub fn dim(&self) -> usize {
        self.start.last().copied().unwrap_or(0)
    }

    /// First scalar index of a block.
    pub fn start(&self, block: usize) -> usize {
        self.start[block]
    }

    /// Number of scalar rows of a block.
    pub fn size(&self, block: usize) -> usize {
        self.start[block + 1] - self.start[block]
    }

    /// Scalar indices of a block.
    pub fn range(&self, block: usize) -> Range<usize> {
        self.start[block]..self.start[block + 1]
    }

    /// Number of stored blocks.
    pub fn n_entries(&self) -> usize {
        self.col.len()
    }

    /// The block in block row `i` and block column `j` ≤ `i`, if it is stored.
    pub fn find(&self, i: usize, j: usize) -> Option<BlockId> {
        debug_assert!(j <= i, "block ({i}, {j}) lies above the diagonal");
        let begin = self.row[i];
        let columns = &self.col[begin..self.row[i + 1]];
        columns.binary_search(&j).ok().map(|k| BlockId(begin + k))
    }

    /// The diagonal block of block row `i`.
    pub fn diagonal(&self, i: usize) -> BlockId {
        BlockId(self.row[i + 1] - 1)
    }

    /// Every stored block, by rows.
    pub fn entries(&self) -> impl Iterator<Item = PatternEntry> + '_ {
        (0..self.n_blocks()).flat_map(|i| self.row_entries(i))
    }

    /// The stored blocks of block row `i`, by columns; the diagonal block is the last.
    pub fn row_entries(&self, i: usize) -> impl Iterator<Item = PatternEntry> + '_ {
        (self.row[i]..self.row[i + 1]).map(move |id| PatternEntry {
            id: BlockId(id),
            row: i,
            col: self.col[id],
            offset: self.offset[id],
        })
    }

    /// Number of values of a symmetric matrix.
    pub fn n_values(&self) -> usize {
        self.offset.last().copied().unwrap_or(0)
    }

    /// Number of values above the diagonal blocks of a general matrix.
    pub(crate) fn n_mirrored(&self) -> usize {
        self.mirror.last().copied().unwrap_or(0)
    }

    /// Values of a stored block.
    pub(crate) fn values(&self, id: BlockId) -> Range<usize> {
        self.offset[id.0]..self.offset[id.0 + 1]
    }

    /// Values of the mirror image of a stored block; empty for a diagonal block.
    pub(crate) fn mirrored(&self, id: BlockId) -> Range<usize> {
        self.mirror[id.0]..self.mirror[id.0 + 1]
    }

    /// The size that all blocks have in common, if they do.
    pub fn common_size(&self) -> Option<usize> {
        let first = (self.n_blocks() > 0).then(|| self.size(0))?;
        (0..self.n_blocks()).all(|i| self.size(i) == first).then_some(first)
    }

    /// The block that holds a scalar index.
    pub(crate) fn block_of(&self, index: usize) -> usize {
        self.start.partition_point(|&start| start <= index) - 1
    }

    /// Borrowed row starts, columns and offsets for loops over all blocks.
    pub(crate) fn raw(&self) -> (&[usize], &[usize], &[usize], &[usize]) {
        (&self.start, &self.row, &self.col, &self.offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_sorted_and_merged_and_the_diagonal_is_always_there() {
        let p = Pattern::new(&[2, 0, 3, 1], [(3, 0), (0, 3), (0, 2), (2, 2), (3, 2)]);
        let places: Vec<_> = p.entries().map(|e| (e.row, e.col, e.offset)).collect();
        // Areas: (0,0) 4, (1,1) 0, (2,0) 6, (2,2) 9, (3,0) 2, (3,2) 3, (3,3) 1.
        let expected =
            [(0, 0, 0), (1, 1, 4), (2, 0, 4), (2, 2, 10), (3, 0, 19), (3, 2, 21), (3, 3, 24)];
        assert_eq!(places, expected);
        assert_eq!((p.n_blocks(), p.dim(), p.n_values()), (4, 6, 25));
        assert_eq!(p.find(3, 2), Some(BlockId(5)));
        assert_eq!(p.find(3, 1), None);
        assert_eq!(p.diagonal(2), BlockId(3));
        assert_eq!((p.start(2), p.size(2), p.range(3)), (2, 3, 5..6));
    }

    #[test]
    fn a_rebuilt_pattern_equals_a_fresh_one() {
        let fresh = Pattern::new(&[6, 6, 6], [(0, 1), (2, 1)]);
        let mut reused = Pattern::new(&[3; 9], (1..9).map(|i| (i, i - 1)));
        assert!(reused != fresh);
        reused.rebuild(&[6, 6, 6], [(2, 1), (1, 0), (1, 0)]);
        assert_eq!(reused, fresh);
        assert_eq!(reused.n_values(), fresh.n_values());
        assert!(fresh != Pattern::new(&[6, 6, 6], [(0, 1), (2, 0)]));
        assert!(fresh != Pattern::new(&[6, 5, 7], [(0, 1), (2, 1)]));
    }

    #[test]
    fn the_empty_pattern_has_nothing() {
        for p in [Pattern::new(&[], []), Pattern::default()] {
            assert_eq!((p.n_blocks(), p.dim(), p.n_entries(), p.n_values()), (0, 0, 0, 0));
            assert_eq!(p.entries().count(), 0);
        }
    }
}
