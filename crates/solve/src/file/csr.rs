//! Compressed sparse rows as plain arrays: checked construction from the encodings found in
//! files, transpose, product, and how far a matrix is from symmetric.
//!
//! Every construction ends in canonical form: within each row the columns increase strictly,
//! duplicates are summed. All operations cost O(nonzeros + rows), sorting aside.
//! It passes matrices between files and problems; solvers use another type.

/// A sparse matrix in compressed rows: row `i` holds `indices[indptr[i]..indptr[i+1]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Csr {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Start of each row in `indices` and `data`, and the end of the last: `rows + 1` numbers.
    pub indptr: Vec<usize>,
    /// Column of each entry.
    pub indices: Vec<usize>,
    /// Value of each entry.
    pub data: Vec<f64>,
}

/// Why arrays do not make a matrix: which array, what was found, what was expected.
#[derive(Clone, Debug, PartialEq)]
pub struct CsrFault {
    /// The array at fault.
    pub part: CsrPart,
    /// Its content.
    pub found: String,
    /// The required content.
    pub expected: String,
}

/// One of the three arrays of a sparse matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CsrPart {
    /// Starts of the rows; among triplets, the rows themselves.
    Indptr,
    /// Columns.
    Indices,
    /// Values.
    Data,
}

impl Csr {
    /// The matrix without entries.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Self { rows, cols, indptr: vec![0; rows + 1], indices: Vec::new(), data: Vec::new() }
    }

    /// The identity.
    pub fn identity(size: usize) -> Self {
        Self {
            rows: size,
            cols: size,
            indptr: (0..=size).collect(),
            indices: (0..size).collect(),
            data: vec![1.0; size],
        }
    }

    /// Checks the three arrays and brings them into canonical form.
    ///
    /// Memory is taken in proportion to the arrays given, never to `rows` or `cols` alone.
    pub fn from_parts(
        rows: usize,
        cols: usize,
        indptr: Vec<usize>,
        indices: Vec<usize>,
        data: Vec<f64>,
    ) -> Result<Self, CsrFault> {
        let matrix = Self { rows, cols, indptr, indices, data };
        matrix.check()?;
        Ok(if matrix.is_canonical() { matrix } else { matrix.canonical() })
    }

    /// Sums the triplets `(row_of[k], col_of[k], value_of[k])` into a matrix.
    ///
    /// The caller has checked that the slices are equally long and `rows` is not absurd.
    pub(super) fn from_triplets(
        rows: usize,
        cols: usize,
        row_of: &[usize],
        col_of: &[usize],
        value_of: &[f64],
    ) -> Result<Self, CsrFault> {
        let mut indptr = vec![0; rows + 1];
        for (k, &row) in row_of.iter().enumerate() {
            if row >= rows {
                return Err(CsrFault {
                    part: CsrPart::Indptr,
                    found: format!("index {row} at position {k}"),
                    expected: format!("indices below {rows}"),
                });
            }
            indptr[row + 1] += 1;
        }
        for row in 0..rows {
            indptr[row + 1] += indptr[row];
        }
        let mut next = indptr.clone();
        let mut indices = vec![0; row_of.len()];
        let mut data = vec![0.0; row_of.len()];
        for ((&row, &col), &value) in row_of.iter().zip(col_of).zip(value_of) {
            indices[next[row]] = col;
            data[next[row]] = value;
            next[row] += 1;
        }
        Self::from_parts(rows, cols, indptr, indices, data)
    }

    /// Checks lengths, monotone row starts and the range of the columns.
    pub fn check(&self) -> Result<(), CsrFault> {
        let fault = |part, found, expected| Err(CsrFault { part, found, expected });
        if self.rows.checked_add(1) != Some(self.indptr.len()) {
            let found = format!("{} numbers", self.indptr.len());
            return fault(CsrPart::Indptr, found, format!("one more than the {} rows", self.rows));
        }
        if self.indptr[0] != 0 {
            return fault(CsrPart::Indptr, format!("first {}", self.indptr[0]), "first 0".into());
        }
        if let Some(row) = (0..self.rows).find(|&row| self.indptr[row] > self.indptr[row + 1]) {
            let found = format!("{} before {} at {row}", self.indptr[row], self.indptr[row + 1]);
            return fault(CsrPart::Indptr, found, "numbers that never decrease".into());
        }
        let entries = self.indptr[self.rows];
        for (part, length) in
            [(CsrPart::Indices, self.indices.len()), (CsrPart::Data, self.data.len())]
        {
            if length != entries {
                let expected = format!("{entries}, the end of the last row");
                return fault(part, format!("{length} entries"), expected);
            }
        }
        match self.indices.iter().position(|&col| col >= self.cols) {
            Some(k) => fault(
                CsrPart::Indices,
                format!("index {} at position {k}", self.indices[k]),
                format!("indices below {}", self.cols),
            ),
            None => Ok(()),
        }
    }

    /// Columns and values of one row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.indptr[row]..self.indptr[row + 1];
        self.indices[range.clone()].iter().copied().zip(self.data[range].iter().copied())
    }

    /// The transpose, in canonical form if this matrix is.
    pub fn transposed(&self) -> Self {
        let mut indptr = vec![0; self.cols + 1];
        for &col in &self.indices {
            indptr[col + 1] += 1;
        }
        for col in 0..self.cols {
            indptr[col + 1] += indptr[col];
        }
        let mut next = indptr.clone();
        let mut indices = vec![0; self.indices.len()];
        let mut data = vec![0.0; self.data.len()];
        for row in 0..self.rows {
            for (col, value) in self.row(row) {
                indices[next[col]] = row;
                data[next[col]] = value;
                next[col] += 1;
            }
        }
        Self { rows: self.cols, cols: self.rows, indptr, indices, data }
    }

    /// The product `X x`; `x` has one number per column.
    pub fn times(&self, x: &[f64]) -> Vec<f64> {
        (0..self.rows).map(|row| self.row(row).map(|(col, value)| value * x[col]).sum()).collect()
    }

    /// The product `Xᵀ y`; `y` has one number per row.
    pub fn transpose_times(&self, y: &[f64]) -> Vec<f64> {
        let mut product = vec![0.0; self.cols];
        for (row, &factor) in y.iter().enumerate().take(self.rows) {
            for (col, value) in self.row(row) {
                product[col] += value * factor;
            }
        }
        product
    }

    /// Relative asymmetry `‖X − Xᵀ‖_F / ‖X‖_F` [-]: 0 for the zero matrix, infinite if not square.
    pub fn asymmetry(&self) -> f64 {
        if self.rows != self.cols {
            return f64::INFINITY;
        }
        // Entries are divided by the largest, so that squares neither overflow nor vanish.
        let scale = self.data.iter().fold(0.0f64, |scale, value| scale.max(value.abs()));
        if scale == 0.0 {
            return 0.0;
        }
        let (mut difference, mut total) = (0.0, 0.0);
        self.merge_with_transpose(|_, _, here, there| {
            difference += ((here - there) / scale).powi(2);
            total += (here / scale).powi(2);
        });
        (difference / total).sqrt()
    }

    /// The symmetric part `(X + Xᵀ)/2` of a square matrix; any other matrix unchanged.
    pub fn symmetrised(&self) -> Self {
        if self.rows != self.cols {
            return self.clone();
        }
        let mut part = Self::zeros(self.rows, self.cols);
        self.merge_with_transpose(|row, col, here, there| {
            part.indices.push(col);
            part.data.push(0.5 * here + 0.5 * there);
            part.indptr[row + 1] = part.indices.len();
        });
        for row in 0..self.rows {
            part.indptr[row + 1] = part.indptr[row + 1].max(part.indptr[row]);
        }
        part
    }

    /// Calls `visit(row, col, X_rc, X_cr)` for the union of both patterns, row by row, columns
    /// increasing. Needs a square matrix.
    fn merge_with_transpose(&self, mut visit: impl FnMut(usize, usize, f64, f64)) {
        let canonical;
        let matrix = if self.is_canonical() {
            self
        } else {
            canonical = self.clone().canonical();
            &canonical
        };
        let transpose = matrix.transposed();
        for row in 0..matrix.rows {
            let mut here = matrix.row(row).peekable();
            let mut there = transpose.row(row).peekable();
            loop {
                let col = match (here.peek(), there.peek()) {
                    (Some(&(a, _)), Some(&(b, _))) => a.min(b),
                    (Some(&(a, _)), None) => a,
                    (None, Some(&(b, _))) => b,
                    (None, None) => break,
                };
                let x = here.next_if(|&(c, _)| c == col).map_or(0.0, |(_, value)| value);
                let y = there.next_if(|&(c, _)| c == col).map_or(0.0, |(_, value)| value);
                visit(row, col, x, y);
            }
        }
    }

    /// Whether the columns of each row increase strictly.
    fn is_canonical(&self) -> bool {
        (0..self.rows).all(|row| {
            self.indices[self.indptr[row]..self.indptr[row + 1]].is_sorted_by(|a, b| a < b)
        })
    }

    /// Sorts each row by column and sums duplicates, in the order in which they are stored.
    fn canonical(self) -> Self {
        let mut sorted = Self::zeros(self.rows, self.cols);
        sorted.indices.reserve(self.indices.len());
        sorted.data.reserve(self.data.len());
        let mut entries: Vec<(usize, f64)> = Vec::new();
        for row in 0..self.rows {
            entries.clear();
            entries.extend(self.row(row));
            entries.sort_by_key(|&(col, _)| col);
            let start = sorted.indices.len();
            for &(col, value) in &entries {
                match sorted.indices[start..].last() {
                    Some(&last) if last == col => {
                        if let Some(sum) = sorted.data.last_mut() {
                            *sum += value;
                        }
                    }
                    _ => {
                        sorted.indices.push(col);
                        sorted.data.push(value);
                    }
                }
            }
            sorted.indptr[row + 1] = sorted.indices.len();
        }
        sorted
    }
}
