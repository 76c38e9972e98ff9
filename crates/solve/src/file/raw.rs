//! One contact problem as plain arrays: the common output of all file readers.
//!
//! `A v = b + Jᵀ λ`, `c = J v + e + R∘λ` [Lee25, Eq. (8)], with one law per constraint. The arrays
//! fit together (lengths, ranges, one owner per row) when they come from a reader of this module;
//! whether A is positive definite and friction is valid is checked where a problem is built.

use std::collections::BTreeMap;
use std::path::Path;

use super::array::Array;
use super::csr::{Csr, CsrPart};
use super::error::FileError;

/// Subsystems as `(block_ptr, block_dofs)`: subsystem i is `block_dofs[block_ptr[i]..block_ptr[i+1]]`.
pub type Blocks = (Vec<usize>, Vec<usize>);

/// One contact problem as plain arrays.
#[derive(Clone, Debug, PartialEq)]
pub struct RawProblem {
    /// Name of the problem: the file's name without its ending.
    pub name: String,
    /// Number of velocities.
    pub n: usize,
    /// Number of constraint rows.
    pub m: usize,
    /// A, `n × n` \[kg\], symmetric.
    pub a: Csr,
    /// J, `m × n`.
    pub j: Csr,
    /// b, `n` numbers [N·s].
    pub b: Vec<f64>,
    /// Law of each constraint: 0 bilateral, 1 unilateral, 2 contact, 3 bounded.
    pub kinds: Vec<i64>,
    /// First row of each constraint; rows of a contact are ordered normal, tangent, tangent.
    pub row_start: Vec<usize>,
    /// Friction of each constraint [-], 0 where there is no contact.
    pub mu: Vec<f64>,
    /// Bias of each row [m/s].
    pub e: Vec<f64>,
    /// Compliance of each row [m/s per N·s].
    pub r: Vec<f64>,
    /// Subsystems on which A is block diagonal, if the file has them.
    pub blocks: Option<Blocks>,
    /// Everything else the file holds: reference solutions, time step, extensions.
    pub extra: BTreeMap<String, Array>,
}

/// Number of rows of a constraint of this kind, or `None` when there is no such kind.
pub fn rows_of_kind(kind: i64) -> Option<usize> {
    match kind {
        0 | 1 | 3 => Some(1),
        2 => Some(3),
        _ => None,
    }
}

impl RawProblem {
    /// Checks that the arrays fit together; `path` names the file in errors.
    pub fn check(&self, path: &Path) -> Result<(), FileError> {
        self.check_matrix(path, "A", &self.a, (self.n, self.n))?;
        self.check_matrix(path, "J", &self.j, (self.m, self.n))?;
        let constraints = self.kinds.len();
        for (key, length, expected, why) in [
            ("b", self.b.len(), self.n, "n"),
            ("e", self.e.len(), self.m, "m"),
            ("R", self.r.len(), self.m, "m"),
            ("row_start", self.row_start.len(), constraints, "the length of kinds"),
            ("mu", self.mu.len(), constraints, "the length of kinds"),
        ] {
            if length != expected {
                return Err(fault(
                    path,
                    key,
                    format!("{length} elements"),
                    format!("{expected}, {why}"),
                ));
            }
        }
        self.check_rows(path)?;
        self.check_blocks(path)?;
        match self.extra.iter().find(|(_, array)| !array.is_consistent()) {
            Some((key, array)) => Err(fault(
                path,
                key,
                format!("{} elements", array.len()),
                format!("as many as the shape {:?} has", array.shape),
            )),
            None => Ok(()),
        }
    }

    /// Checks that every number that enters the problem is finite; `path` names the file in errors.
    pub fn check_finite(&self, path: &Path) -> Result<(), FileError> {
        for (key, values) in [
            ("A_data", &self.a.data),
            ("J_data", &self.j.data),
            ("b", &self.b),
            ("mu", &self.mu),
            ("e", &self.e),
            ("R", &self.r),
        ] {
            check_finite(path, key, values)?;
        }
        Ok(())
    }

    fn check_matrix(
        &self,
        path: &Path,
        key: &str,
        matrix: &Csr,
        (rows, cols): (usize, usize),
    ) -> Result<(), FileError> {
        if (matrix.rows, matrix.cols) != (rows, cols) {
            let found = format!("{} × {}", matrix.rows, matrix.cols);
            return Err(fault(path, key, found, format!("{rows} × {cols}")));
        }
        matrix
            .check()
            .map_err(|wrong| fault(path, &csr_key(key, wrong.part), wrong.found, wrong.expected))
    }

    /// Checks that each row belongs to exactly one constraint.
    fn check_rows(&self, path: &Path) -> Result<(), FileError> {
        let mut owner: Vec<Option<usize>> = vec![None; self.m];
        for (k, (&kind, &start)) in self.kinds.iter().zip(&self.row_start).enumerate() {
            let Some(rows) = rows_of_kind(kind) else {
                let expected = "0 (bilateral), 1 (unilateral) or 2 (contact)".to_string();
                return Err(fault(path, "kinds", format!("{kind} at position {k}"), expected));
            };
            let end = start.checked_add(rows).filter(|&end| end <= self.m);
            let Some(end) = end else {
                let found = format!("{start} at position {k}, a constraint of {rows} rows");
                let expected = format!("rows below m = {}", self.m);
                return Err(fault(path, "row_start", found, expected));
            };
            for (row, slot) in owner.iter_mut().enumerate().take(end).skip(start) {
                if let Some(other) = slot.replace(k) {
                    let found = format!("row {row} in constraints {other} and {k}");
                    return Err(fault(path, "row_start", found, "one owner per row".into()));
                }
            }
        }
        match owner.iter().position(Option::is_none) {
            Some(row) => Err(fault(
                path,
                "row_start",
                format!("no constraint with row {row}"),
                format!("an owner for each of the m = {} rows", self.m),
            )),
            None => Ok(()),
        }
    }

    /// Checks that each velocity belongs to one subsystem and that A does not couple two of them.
    fn check_blocks(&self, path: &Path) -> Result<(), FileError> {
        let Some((ptr, dofs)) = &self.blocks else {
            return Ok(());
        };
        if ptr.first() != Some(&0) || !ptr.is_sorted() || ptr.last() != Some(&dofs.len()) {
            return Err(fault(
                path,
                "block_ptr",
                format!("{} numbers from {:?} to {:?}", ptr.len(), ptr.first(), ptr.last()),
                format!("numbers that never decrease from 0 to {}", dofs.len()),
            ));
        }
        let mut block_of: Vec<Option<usize>> = vec![None; self.n];
        for (block, range) in ptr.windows(2).enumerate() {
            for &dof in &dofs[range[0]..range[1]] {
                let Some(slot) = block_of.get_mut(dof) else {
                    let expected = format!("velocities below n = {}", self.n);
                    return Err(fault(path, "block_dofs", format!("{dof}"), expected));
                };
                if slot.replace(block).is_some() {
                    let expected = "each velocity in one subsystem".to_string();
                    return Err(fault(path, "block_dofs", format!("{dof} twice"), expected));
                }
            }
        }
        if let Some(dof) = block_of.iter().position(Option::is_none) {
            let expected = "each velocity in one subsystem".to_string();
            return Err(fault(path, "block_dofs", format!("no velocity {dof}"), expected));
        }
        for row in 0..self.n {
            let outside =
                self.a.row(row).find(|&(col, x)| x != 0.0 && block_of[col] != block_of[row]);
            if let Some((col, x)) = outside {
                return Err(fault(
                    path,
                    "block_dofs",
                    format!("A[{row}, {col}] = {x:e} between two subsystems"),
                    "A block diagonal on the subsystems".into(),
                ));
            }
        }
        Ok(())
    }
}

/// Checks that an array holds no infinity and no NaN.
pub(super) fn check_finite(path: &Path, key: &str, values: &[f64]) -> Result<(), FileError> {
    match values.iter().position(|value| !value.is_finite()) {
        Some(k) => {
            let found = format!("{} at position {k}", values[k]);
            Err(fault(path, key, found, "finite numbers".into()))
        }
        None => Ok(()),
    }
}

/// The key of one array of the matrix `name`.
pub(super) fn csr_key(name: &str, part: CsrPart) -> String {
    let suffix = match part {
        CsrPart::Indptr => "indptr",
        CsrPart::Indices => "indices",
        CsrPart::Data => "data",
    };
    format!("{name}_{suffix}")
}

/// Shorthand for the error about one array.
pub(super) fn fault(path: &Path, key: &str, found: String, expected: String) -> FileError {
    FileError::Array { path: path.to_path_buf(), key: key.to_string(), found, expected }
}
