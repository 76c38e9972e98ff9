//! J as a block matrix: one dense block per constraint and touched block of coordinates.
//!
//! Rows are the constraints in order, columns the blocks of coordinates of A. Products are also
//! available by columns, so that a transposed product can be split over blocks without a race.

use super::small;

/// One dense block of J.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JacobianEntry {
    /// The constraint.
    pub constraint: u32,
    /// The block of coordinates.
    pub block: u32,
    offset: u32,
    /// Columns outside of `first..first + len` of the block are zero.
    first: u32,
    len: u32,
}

/// From this width on, products leave out the columns at both ends of a block that are zero.
const WIDE: usize = 8;

/// The Jacobian of all constraints.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Jacobian {
    row_start: Vec<u32>,
    entry_start: Vec<u32>,
    entries: Vec<JacobianEntry>,
    values: Vec<f64>,
    block_start: Vec<u32>,
    column_start: Vec<u32>,
    column_entries: Vec<u32>,
}

impl Jacobian {
    pub(super) fn clear(&mut self) {
        self.row_start.clear();
        self.row_start.push(0);
        self.entry_start.clear();
        self.entry_start.push(0);
        self.entries.clear();
        self.values.clear();
    }

    /// Appends a constraint of `dim` rows; its blocks follow through `push_block`.
    pub(super) fn push_constraint(&mut self, dim: usize) {
        let rows = self.rows();
        self.row_start.push((rows + dim) as u32);
        self.entry_start.push(self.entries.len() as u32);
    }

    /// Appends a zero block to the last constraint and returns its values to be filled.
    pub(super) fn push_block(&mut self, block: usize, width: usize) -> &mut [f64] {
        let (offset, dim) = (self.values.len(), self.dim(self.constraints() - 1));
        self.push_entry(block);
        self.values.resize(offset + dim * width, 0.0);
        &mut self.values[offset..]
    }

    /// Appends a block with values to the last constraint.
    pub(super) fn push_values(&mut self, block: usize, values: &[f64]) {
        self.push_entry(block);
        self.values.extend_from_slice(values);
    }

    fn push_entry(&mut self, block: usize) {
        self.entries.push(JacobianEntry {
            constraint: (self.constraints() - 1) as u32,
            block: block as u32,
            offset: self.values.len() as u32,
            first: 0,
            len: 0,
        });
        if let Some(end) = self.entry_start.last_mut() {
            *end = self.entries.len() as u32;
        }
    }

    /// Range of the values of the last constraint's block at a block of coordinates, if it exists.
    fn place_in_last(&self, block: usize) -> Option<std::ops::Range<usize>> {
        let first = self.entry_start[self.entry_start.len() - 2] as usize;
        let found = self.entries[first..].iter().position(|e| e.block as usize == block)? + first;
        let end = self.entries.get(found + 1).map_or(self.values.len(), |e| e.offset as usize);
        Some(self.entries[found].offset as usize..end)
    }

    /// The block of the last constraint at a block of coordinates, appended if it does not exist.
    pub(super) fn block_of_last(&mut self, block: usize, width: usize) -> &mut [f64] {
        match self.place_in_last(block) {
            Some(place) => &mut self.values[place],
            None => self.push_block(block, width),
        }
    }

    /// Adds values to a block of the last constraint; a block of zeros is not appended.
    pub(super) fn add_block(&mut self, block: usize, values: &[f64]) {
        match self.place_in_last(block) {
            Some(place) => {
                for (out, x) in self.values[place].iter_mut().zip(values) {
                    *out += x;
                }
            }
            None if values.iter().all(|x| *x == 0.0) => {}
            None => self.push_values(block, values),
        }
    }

    /// Adds to a block of the last constraint by a function; a block of zeros is not appended.
    pub(super) fn add_to_last(&mut self, block: usize, width: usize, add: impl FnOnce(&mut [f64])) {
        let place = self.place_in_last(block);
        let (is_new, offset) = (place.is_none(), self.values.len());
        let out = match place {
            Some(place) => &mut self.values[place],
            None => self.push_block(block, width),
        };
        add(out);
        if is_new && self.values[offset..].iter().all(|x| *x == 0.0) {
            self.values.truncate(offset);
            self.entries.pop();
            if let Some(end) = self.entry_start.last_mut() {
                *end = self.entries.len() as u32;
            }
        }
    }

    /// Finishes: sorts the blocks of each constraint by column and lists them by columns of a
    /// pattern.
    pub(super) fn finish(&mut self, pattern: &stiction_math::block::Pattern) {
        let n_blocks = pattern.n_blocks();
        self.block_start.clear();
        self.block_start.extend((0..n_blocks).map(|k| pattern.start(k) as u32));
        self.block_start.push(pattern.dim() as u32);
        self.find_columns();
        for pair in self.entry_start.windows(2) {
            let entries = &mut self.entries[pair[0] as usize..pair[1] as usize];
            if !entries.is_sorted_by_key(|e| e.block) {
                entries.sort_unstable_by_key(|e| e.block);
            }
        }
        self.column_start.clear();
        self.column_start.resize(n_blocks + 1, 0);
        for e in &self.entries {
            self.column_start[e.block as usize + 1] += 1;
        }
        for k in 0..n_blocks {
            self.column_start[k + 1] += self.column_start[k];
        }
        self.column_entries.clear();
        self.column_entries.resize(self.entries.len(), 0);
        // Counting sort; `column_start` is shifted while filling and restored below.
        for (index, e) in self.entries.iter().enumerate() {
            let slot = &mut self.column_start[e.block as usize];
            self.column_entries[*slot as usize] = index as u32;
            *slot += 1;
        }
        for k in (1..=n_blocks).rev() {
            self.column_start[k] = self.column_start[k - 1];
        }
        self.column_start[0] = 0;
    }

    /// Finds the columns of each block that are not zero. A contact of a robot's foot reads the path from
    /// the foot to the root alone, a servo one coordinate.
    fn find_columns(&mut self) {
        let Self { row_start, entries, values, block_start, .. } = self;
        for e in entries {
            let (i, k) = (e.constraint as usize, e.block as usize);
            let (dim, width) =
                ((row_start[i + 1] - row_start[i]) as usize, block_start[k + 1] - block_start[k]);
            (e.first, e.len) = (0, width);
            let width = width as usize;
            if width < WIDE {
                continue;
            }
            let rows = &values[e.offset as usize..e.offset as usize + dim * width];
            let (mut first, mut end) = (width, 0);
            for row in rows.chunks_exact(width) {
                if let Some(found) = row[..first].iter().position(|x| *x != 0.0) {
                    first = found;
                }
                if let Some(found) = row[end..].iter().rposition(|x| *x != 0.0) {
                    end += found + 1;
                }
            }
            if first < end {
                (e.first, e.len) = (first as u32, (end - first) as u32);
            }
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.row_start.last().map_or(0, |r| *r as usize)
    }

    /// Number of constraints.
    pub fn constraints(&self) -> usize {
        self.row_start.len().saturating_sub(1)
    }

    /// Number of rows of a constraint.
    #[inline]
    pub fn dim(&self, constraint: usize) -> usize {
        (self.row_start[constraint + 1] - self.row_start[constraint]) as usize
    }

    /// Rows of a constraint.
    #[inline]
    pub fn row_range(&self, constraint: usize) -> std::ops::Range<usize> {
        self.row_start[constraint] as usize..self.row_start[constraint + 1] as usize
    }

    /// All blocks, by constraint and within it by column.
    #[inline]
    pub fn entries(&self) -> &[JacobianEntry] {
        &self.entries
    }

    /// Indices into [`Self::entries`] of a constraint's blocks.
    #[inline]
    pub fn entry_range(&self, constraint: usize) -> std::ops::Range<usize> {
        self.entry_start[constraint] as usize..self.entry_start[constraint + 1] as usize
    }

    /// The blocks of one constraint.
    #[inline]
    pub fn constraint_entries(&self, constraint: usize) -> &[JacobianEntry] {
        &self.entries[self.entry_range(constraint)]
    }

    /// Indices into [`Self::entries`] of the blocks in one column of blocks.
    #[inline]
    pub fn column_entries(&self, block: usize) -> &[u32] {
        let range = self.column_start[block] as usize..self.column_start[block + 1] as usize;
        &self.column_entries[range]
    }

    /// First coordinate and width of a block of coordinates.
    #[inline]
    pub fn block_range(&self, block: usize) -> std::ops::Range<usize> {
        self.block_start[block] as usize..self.block_start[block + 1] as usize
    }

    /// Values of a block, row-major, `dim × width`.
    #[inline]
    pub fn block(&self, entry: &JacobianEntry) -> &[f64] {
        let size =
            self.dim(entry.constraint as usize) * self.block_range(entry.block as usize).len();
        &self.values[entry.offset as usize..entry.offset as usize + size]
    }

    /// Columns of a block outside of which it is zero, counted from its first; all columns if the block is
    /// small.
    #[inline]
    pub(crate) fn columns(&self, entry: &JacobianEntry) -> std::ops::Range<usize> {
        entry.first as usize..(entry.first + entry.len) as usize
    }

    /// `out = J v`.
    pub fn mul(&self, v: &[f64], out: &mut [f64]) {
        for i in 0..self.constraints() {
            self.mul_constraint(i, v, &mut out[self.row_range(i)]);
        }
    }

    /// `out = J_i v`, the rows of one constraint.
    #[inline(always)]
    pub fn mul_constraint(&self, constraint: usize, v: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for e in self.constraint_entries(constraint) {
            let (v, columns) = (&v[self.block_range(e.block as usize)], self.columns(e));
            if columns.len() == v.len() {
                small::add_product(self.block(e), v, out);
                continue;
            }
            for (out, row) in out.iter_mut().zip(self.block(e).chunks_exact(v.len())) {
                *out += small::dot_in_lanes(&row[columns.clone()], &v[columns.clone()]);
            }
        }
    }

    /// `out += Jᵀ λ`.
    pub fn mul_transposed_add(&self, lambda: &[f64], out: &mut [f64]) {
        for i in 0..self.constraints() {
            self.mul_constraint_transposed_add(i, &lambda[self.row_range(i)], out);
        }
    }

    /// `out += J_iᵀ λ_i` for one constraint.
    #[inline(always)]
    pub fn mul_constraint_transposed_add(
        &self,
        constraint: usize,
        lambda: &[f64],
        out: &mut [f64],
    ) {
        if lambda.iter().all(|l| *l == 0.0) {
            return;
        }
        for e in self.constraint_entries(constraint) {
            let (x, columns) = (&mut out[self.block_range(e.block as usize)], self.columns(e));
            if columns.len() == x.len() {
                small::add_transposed_product(self.block(e), lambda, x);
                continue;
            }
            let width = x.len();
            for (row, l) in self.block(e).chunks_exact(width).zip(lambda) {
                for (x, j) in x[columns.clone()].iter_mut().zip(&row[columns.clone()]) {
                    *x += j * l;
                }
            }
        }
    }

    /// The rows of a constraint of a problem with one block of coordinates; empty if they are zero.
    pub(super) fn only_block(&self, constraint: usize) -> &[f64] {
        self.constraint_entries(constraint).first().map_or(&[], |entry| self.block(entry))
    }

    /// The rows of consecutive constraints of a problem with one block of coordinates, one after the other; `None` if those
    /// of one are zero, and left out.
    pub(super) fn adjacent_rows(&self, constraints: std::ops::Range<usize>) -> Option<&[f64]> {
        let (first, count) = (self.entry_start[constraints.start] as usize, constraints.len());
        let entries = self.entries.get(first..self.entry_start[constraints.end] as usize)?;
        let (start, last) = (entries.first()?, entries.last()?);
        let end = last.offset as usize + self.block(last).len();
        (entries.len() == count).then(|| &self.values[start.offset as usize..end])
    }

    /// Writes J as a dense matrix, row-major, in rows of `width` of which the last columns are zero.
    pub(crate) fn write_dense(&self, out: &mut Vec<f64>, width: usize) {
        out.clear();
        out.resize(self.rows() * width, 0.0);
        for entry in &self.entries {
            let (columns, filled) = (self.block_range(entry.block as usize), self.columns(entry));
            let (rows, size) = (self.row_range(entry.constraint as usize), columns.len());
            let place = columns.start + filled.start..columns.start + filled.end;
            for (row, values) in rows.zip(self.block(entry).chunks_exact(size)) {
                out[row * width..][place.clone()].copy_from_slice(&values[filled.clone()]);
            }
        }
    }

    /// Whether every block of a constraint is zero.
    pub(super) fn is_zero(&self, constraint: usize) -> bool {
        self.constraint_entries(constraint).iter().all(|e| self.block(e).iter().all(|x| *x == 0.0))
    }
}
