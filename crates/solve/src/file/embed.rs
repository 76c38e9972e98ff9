//! FCLIB problems in the form `A v = b + Jᵀ λ`, `u = J v + e`.
//!
//! A global problem is one already: `A = M`, `b = f`, `J = Hᵀ`, `e = w`. A local problem
//! `u = W r + q` has no velocities; it gets artificial ones with unit mass, `A = I`, `b = 0`,
//! `e = q` and a `J` with `J Jᵀ = W`. The factor comes from the eigenvalues of W, one connected
//! component of contacts at a time, so A keeps one subsystem per component. W need only be
//! positive semi-definite: directions without eigenvalue get no velocity.
//!
//! Cost: for each component of k rows, one dense eigendecomposition, O(k³), and a dense k × rank
//! block of J.

use std::collections::BTreeMap;
use std::path::Path;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Mat, Par};
use stiction_math::sets::DisjointSets;

use super::array::Array;
use super::csr::Csr;
use super::error::FileError;
use super::fclib::{Fclib, Global, Local, Solution};
use super::name_of;
use super::raw::{RawProblem, check_finite, fault};

/// Relative asymmetry that passes for round-off [-]. Symmetrising such a W moves `W r` by at most
/// half of it, relative to `‖W‖ ‖r‖`, far below the tolerances of solvers.
pub const ROUND_OFF_ASYMMETRY: f64 = 1e-10;

/// The most negative eigenvalue, relative to the largest, that passes for the rounded digits of a
/// semi-definite matrix written as text [-].
pub const ROUND_OFF_EIGENVALUE: f64 = -1e-6;

/// Components with more rows are refused: their dense eigendecomposition takes too long.
pub const LARGEST_COMPONENT: usize = 8192;

const ROWS_PER_CONTACT: usize = 3;
const CONTACT: i64 = 2;

/// Brings a problem of either form into the common one.
pub fn to_raw(problem: &Fclib) -> Result<RawProblem, FileError> {
    match problem {
        Fclib::Local(local) => local_to_raw(local),
        Fclib::Global(global) => global_to_raw(global),
    }
}

/// Embeds `u = W r + q` with artificial velocities of unit mass.
///
/// References become `lam_ncp`, `v_ncp`, `lam_ccp`, `v_ccp`, where `v = Jᵀ r`.
pub fn local_to_raw(local: &Local) -> Result<RawProblem, FileError> {
    let path = local.path.as_path();
    let rows = ROWS_PER_CONTACT * local.mu.len();
    check_length(path, "q", local.q.len(), rows)?;
    check_size(path, "W", &local.w, (rows, rows))?;
    for (key, values) in [("W", &local.w.data), ("q", &local.q), ("mu", &local.mu)] {
        check_finite(path, key, values)?;
    }
    let w = symmetric(path, "W", &local.w)?;
    let (j, block_ptr) = factor(path, &w)?;
    let n = j.cols;
    let mut extra = BTreeMap::new();
    for (law, solution) in [("ncp", &local.solution), ("ccp", &local.solution_ccp)] {
        if let Some(Solution { r, .. }) = solution {
            check_length(path, "solution", r.len(), rows)?;
            extra.insert(format!("lam_{law}"), Array::from_f64(r));
            extra.insert(format!("v_{law}"), Array::from_f64(&j.transpose_times(r)));
        }
    }
    let problem = RawProblem {
        name: name_of(path),
        n,
        m: rows,
        a: Csr::identity(n),
        j,
        b: vec![0.0; n],
        kinds: vec![CONTACT; local.mu.len()],
        row_start: (0..rows).step_by(ROWS_PER_CONTACT).collect(),
        mu: local.mu.clone(),
        e: local.q.clone(),
        r: vec![0.0; rows],
        blocks: Some((block_ptr, (0..n).collect())),
        extra,
    };
    problem.check(path)?;
    Ok(problem)
}

/// Renames `M v = H r + f`, `u = Hᵀ v + w`; subsystems follow from M alone.
///
/// References become `lam_ncp`, `v_ncp`, `lam_ccp`, `v_ccp`, as far as the file has them.
pub fn global_to_raw(global: &Global) -> Result<RawProblem, FileError> {
    let path = global.path.as_path();
    let rows = ROWS_PER_CONTACT * global.mu.len();
    let n = global.f.len();
    check_length(path, "w", global.w.len(), rows)?;
    check_size(path, "M", &global.m, (n, n))?;
    check_size(path, "H", &global.h, (n, rows))?;
    for (key, values) in [
        ("M", &global.m.data),
        ("H", &global.h.data),
        ("f", &global.f),
        ("w", &global.w),
        ("mu", &global.mu),
    ] {
        check_finite(path, key, values)?;
    }
    let a = symmetric(path, "M", &global.m)?;
    let mut extra = BTreeMap::new();
    for (law, solution) in [("ncp", &global.solution), ("ccp", &global.solution_ccp)] {
        let Some(Solution { r, v, .. }) = solution else {
            continue;
        };
        extra.insert(format!("lam_{law}"), Array::from_f64(r));
        if let Some(v) = v {
            extra.insert(format!("v_{law}"), Array::from_f64(v));
        }
    }
    let problem = RawProblem {
        name: name_of(path),
        n,
        m: rows,
        a,
        j: global.h.transposed(),
        b: global.f.clone(),
        kinds: vec![CONTACT; global.mu.len()],
        row_start: (0..rows).step_by(ROWS_PER_CONTACT).collect(),
        mu: global.mu.clone(),
        e: global.w.clone(),
        r: vec![0.0; rows],
        blocks: None,
        extra,
    };
    problem.check(path)?;
    Ok(problem)
}

/// The symmetric part of a matrix that is symmetric up to round-off.
fn symmetric(path: &Path, key: &str, matrix: &Csr) -> Result<Csr, FileError> {
    let asymmetry = matrix.asymmetry();
    if asymmetry <= ROUND_OFF_ASYMMETRY {
        return Ok(matrix.symmetrised());
    }
    Err(FileError::Asymmetric {
        path: path.to_path_buf(),
        key: key.to_string(),
        asymmetry,
        limit: ROUND_OFF_ASYMMETRY,
    })
}

fn join_coupled(partition: &mut DisjointSets, matrix: &Csr) {
    for row in 0..matrix.rows {
        for (col, value) in matrix.row(row) {
            if value != 0.0 {
                partition.union(row, col);
            }
        }
    }
}

/// J with `J Jᵀ = W`, and where the columns of each component start.
fn factor(path: &Path, w: &Csr) -> Result<(Csr, Vec<usize>), FileError> {
    let mut partition = DisjointSets::new(w.rows);
    join_coupled(&mut partition, w);
    for row in 0..w.rows {
        partition.union(row, row - row % ROWS_PER_CONTACT); // a contact stays in one piece
    }
    let (starts, members) = partition.groups();
    let mut block_ptr = vec![0];
    let mut row_of: Vec<(usize, Vec<f64>)> = vec![(0, Vec::new()); w.rows];
    for range in starts.windows(2) {
        let rows = &members[range[0]..range[1]];
        let first_column = block_ptr[block_ptr.len() - 1];
        let block = factor_component(path, w, rows)?;
        for (i, &row) in rows.iter().enumerate() {
            row_of[row] = (first_column, block.row(i).iter().copied().collect());
        }
        if block.ncols() > 0 {
            block_ptr.push(first_column + block.ncols());
        }
    }
    let mut j = Csr::zeros(w.rows, block_ptr[block_ptr.len() - 1]);
    for (row, (first_column, values)) in row_of.iter().enumerate() {
        for (col, &value) in values.iter().enumerate().filter(|&(_, &value)| value != 0.0) {
            j.indices.push(first_column + col);
            j.data.push(value);
        }
        j.indptr[row + 1] = j.indices.len();
    }
    Ok((j, block_ptr))
}

/// The rows of J of one component, in its own columns.
///
/// With D = diag(d), d the mean of the contact's diagonal entries, the eigenvalues are those of
/// `S = D^(-1/2) W D^(-1/2) = Q Λ Qᵀ`, and `J = D^(1/2) Q Λ^(1/2)`. Scaling first makes the error of
/// each entry of `J Jᵀ` small relative to its own contacts, also beside much lighter ones.
/// Eigenvalues below the round-off of the decomposition, rows × machine epsilon × the largest, are
/// left out: what they carry is smaller than the rounding of the product `W r` itself.
fn factor_component(path: &Path, w: &Csr, rows: &[usize]) -> Result<Mat<f64>, FileError> {
    let size = rows.len();
    if size > LARGEST_COMPONENT {
        return Err(FileError::Unsupported {
            path: path.to_path_buf(),
            what: format!("a connected component of W with {size} rows"),
            expected: format!("at most {LARGEST_COMPONENT}"),
        });
    }
    // Gather the component densely; each contact's rows are neighbours.
    let mut scaled = Mat::<f64>::zeros(size, size);
    for (i, &row) in rows.iter().enumerate() {
        for (col, value) in w.row(row) {
            if let Ok(k) = rows.binary_search(&col) {
                scaled[(i, k)] = value;
            }
        }
    }
    let largest = scaled.col_iter().flat_map(|col| col.iter()).fold(0.0f64, |l, x| l.max(x.abs()));
    if largest == 0.0 {
        return Ok(Mat::zeros(size, 0));
    }
    let scale: Vec<f64> = (0..size)
        .map(|i| {
            let contact = i - i % ROWS_PER_CONTACT;
            let trace: f64 = (contact..contact + ROWS_PER_CONTACT).map(|k| scaled[(k, k)]).sum();
            (trace / ROWS_PER_CONTACT as f64).max(f64::EPSILON * largest).sqrt()
        })
        .collect();
    for i in 0..size {
        for k in 0..size {
            scaled[(i, k)] /= scale[i] * scale[k];
        }
    }
    let indefinite = |ratio| FileError::Indefinite {
        path: path.to_path_buf(),
        key: "W".into(),
        row: rows[0],
        ratio,
        limit: ROUND_OFF_EIGENVALUE,
    };
    // An entry that overflows against its diagonal has a negative 2 × 2 minor.
    if scaled.col_iter().any(|col| col.iter().any(|x| !x.is_finite())) {
        return Err(indefinite(f64::NEG_INFINITY));
    }
    let (values, vectors) = eigen(&scaled).ok_or_else(|| {
        let found =
            format!("eigenvalues that do not converge, in the component of row {}", rows[0]);
        fault(path, "W", found, "a positive semi-definite matrix".into())
    })?;
    let top = values[size - 1].abs().max(values[0].abs());
    if values[0] < ROUND_OFF_EIGENVALUE * top {
        return Err(indefinite(values[0] / top));
    }
    let floor = size as f64 * f64::EPSILON * top;
    let kept: Vec<usize> = (0..size).rev().filter(|&k| values[k] > floor).collect();
    Ok(Mat::from_fn(size, kept.len(), |i, k| {
        scale[i] * vectors[(i, kept[k])] * values[kept[k]].sqrt()
    }))
}

/// Eigenvalues, increasing, and eigenvectors of a symmetric matrix.
fn eigen(matrix: &Mat<f64>) -> Option<(Vec<f64>, Mat<f64>)> {
    let size = matrix.nrows();
    let mut values = faer::diag::Diag::<f64>::zeros(size);
    let mut vectors = Mat::<f64>::zeros(size, size);
    let scratch = self_adjoint_evd_scratch::<f64>(
        size,
        ComputeEigenvectors::Yes,
        Par::Seq,
        Default::default(),
    );
    self_adjoint_evd(
        matrix.as_ref(),
        values.as_mut(),
        Some(vectors.as_mut()),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    )
    .ok()?;
    let values: Vec<f64> = values.column_vector().iter().copied().collect();
    values.iter().all(|value| value.is_finite()).then_some((values, vectors))
}

fn check_length(path: &Path, key: &str, length: usize, rows: usize) -> Result<(), FileError> {
    if length == rows {
        return Ok(());
    }
    let expected = format!("{rows}, three per contact");
    Err(fault(path, key, format!("{length} elements"), expected))
}

fn check_size(
    path: &Path,
    key: &str,
    matrix: &Csr,
    (rows, cols): (usize, usize),
) -> Result<(), FileError> {
    if (matrix.rows, matrix.cols) != (rows, cols) {
        let found = format!("{} × {}", matrix.rows, matrix.cols);
        return Err(fault(path, key, found, format!("{rows} × {cols}")));
    }
    matrix.check().map_err(|wrong| fault(path, key, wrong.found, wrong.expected))
}
