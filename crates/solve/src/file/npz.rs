//! Contact problems as NumPy archives: which key holds which array.
//!
//! `n`, `m`; `A_*`, `J_*` in compressed rows; `b`; `kinds`, `row_start`, `mu` per constraint; `e`,
//! `R` per row; optionally `block_ptr`, `block_dofs`. Every further numeric key travels along in
//! [`RawProblem::extra`].

use std::path::Path;

use super::archive::NpzFile;
use super::array::Array;
use super::csr::Csr;
use super::error::FileError;
use super::raw::{Blocks, RawProblem, csr_key, fault};
use super::{archive, bytes_of, name_of};

/// Keys without which there is no problem.
pub const REQUIRED_KEYS: [&str; 14] = [
    "n",
    "m",
    "A_data",
    "A_indices",
    "A_indptr",
    "J_data",
    "J_indices",
    "J_indptr",
    "b",
    "kinds",
    "row_start",
    "mu",
    "e",
    "R",
];

/// Reads the problem in the archive at `path`.
pub fn read(path: impl AsRef<Path>) -> Result<RawProblem, FileError> {
    let path = path.as_ref();
    read_bytes(path, &bytes_of(path)?)
}

/// Reads the problem in an archive in memory; `path` names it in errors and gives its name.
pub fn read_bytes(path: impl AsRef<Path>, bytes: &[u8]) -> Result<RawProblem, FileError> {
    let path = path.as_ref();
    let mut file = NpzFile::from_bytes(path, bytes)?;
    let keys = &REQUIRED_KEYS;
    let n = file.take_count("n", keys)?;
    let m = file.take_count("m", keys)?;
    let problem = RawProblem {
        name: name_of(path),
        n,
        m,
        a: take_matrix(&mut file, "A", n, n)?,
        j: take_matrix(&mut file, "J", m, n)?,
        b: file.take_f64("b", keys)?,
        kinds: file.take_i64("kinds", keys)?,
        row_start: file.take_usize("row_start", keys)?,
        mu: file.take_f64("mu", keys)?,
        e: file.take_f64("e", keys)?,
        r: file.take_f64("R", keys)?,
        blocks: take_blocks(&mut file)?,
        extra: file.into_rest(),
    };
    problem.check(path)?;
    problem.check_finite(path)?;
    Ok(problem)
}

/// Writes a problem, complete or not at all, as an uncompressed archive that `numpy.load` opens.
pub fn write(path: impl AsRef<Path>, problem: &RawProblem) -> Result<(), FileError> {
    let path = path.as_ref();
    problem.check(path)?;
    let RawProblem { a, j, .. } = problem;
    let mut arrays = vec![
        ("n", Array::scalar_i64(problem.n as i64)),
        ("m", Array::scalar_i64(problem.m as i64)),
        ("A_data", Array::from_f64(&a.data)),
        ("A_indices", Array::from_usize(&a.indices)),
        ("A_indptr", Array::from_usize(&a.indptr)),
        ("J_data", Array::from_f64(&j.data)),
        ("J_indices", Array::from_usize(&j.indices)),
        ("J_indptr", Array::from_usize(&j.indptr)),
        ("b", Array::from_f64(&problem.b)),
        ("kinds", Array::from_i64(&problem.kinds)),
        ("row_start", Array::from_usize(&problem.row_start)),
        ("mu", Array::from_f64(&problem.mu)),
        ("e", Array::from_f64(&problem.e)),
        ("R", Array::from_f64(&problem.r)),
    ];
    if let Some((ptr, dofs)) = &problem.blocks {
        arrays.push(("block_ptr", Array::from_usize(ptr)));
        arrays.push(("block_dofs", Array::from_usize(dofs)));
    }
    arrays.extend(problem.extra.iter().map(|(key, array)| (key.as_str(), array.clone())));
    archive::write_arrays(path, &arrays)
}

fn take_matrix(file: &mut NpzFile, name: &str, rows: usize, cols: usize) -> Result<Csr, FileError> {
    let indptr = file.take_usize(&format!("{name}_indptr"), &REQUIRED_KEYS)?;
    let indices = file.take_usize(&format!("{name}_indices"), &REQUIRED_KEYS)?;
    let data = file.take_f64(&format!("{name}_data"), &REQUIRED_KEYS)?;
    Csr::from_parts(rows, cols, indptr, indices, data).map_err(|wrong| {
        fault(file.path(), &csr_key(name, wrong.part), wrong.found, wrong.expected)
    })
}

/// The subsystems: both keys or none.
fn take_blocks(file: &mut NpzFile) -> Result<Option<Blocks>, FileError> {
    let together = ["block_ptr", "block_dofs"];
    if together.iter().all(|key| file.get(key).is_none()) {
        return Ok(None);
    }
    let ptr = file.take_usize("block_ptr", &together)?;
    let dofs = file.take_usize("block_dofs", &together)?;
    Ok(Some((ptr, dofs)))
}
