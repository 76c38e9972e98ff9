//! Contact problems in the HDF5 layout of FCLIB, the collection of frictional contact problems.
//!
//! Local problems are `u = W r + q` in `/fclib_local`, global ones `M v = H r + f`, `u = Hᵀ v + w` in
//! `/fclib_global`; contact rows are ordered normal, tangent, tangent. `/solution` holds a solution
//! of the Signorini-Coulomb problem, `/solution_ccp` one of its convex relaxation. Sparse matrices
//! come in the three encodings of CSparse. Problems in the plane and problems with additional
//! equality constraints are refused. All sizes are checked against one another before memory is
//! taken in proportion to them.

use std::path::{Path, PathBuf};

use super::csr::{Csr, CsrFault, CsrPart};
use super::error::FileError;
use super::hdf5::Hdf5;
use super::raw::fault;
use super::{bytes_of, name_of};

/// Rows of one contact.
const ROWS: usize = 3;

/// One problem of the collection.
#[derive(Clone, Debug, PartialEq)]
pub enum Fclib {
    /// In terms of the contacts alone.
    Local(Local),
    /// With velocities.
    Global(Global),
}

/// `u = W r + q` with Coulomb's law at each contact.
#[derive(Clone, Debug, PartialEq)]
pub struct Local {
    /// The file.
    pub path: PathBuf,
    /// Title, if the file has one.
    pub title: Option<String>,
    /// Description, if the file has one.
    pub description: Option<String>,
    /// Delassus matrix [1/kg], three rows per contact.
    pub w: Csr,
    /// Velocity without impulses [m/s].
    pub q: Vec<f64>,
    /// Friction of each contact [-].
    pub mu: Vec<f64>,
    /// Solution with Coulomb friction.
    pub solution: Option<Solution>,
    /// Solution of the convex relaxation.
    pub solution_ccp: Option<Solution>,
}

/// `M v = H r + f`, `u = Hᵀ v + w` with Coulomb's law at each contact.
#[derive(Clone, Debug, PartialEq)]
pub struct Global {
    /// The file.
    pub path: PathBuf,
    /// Title, if the file has one.
    pub title: Option<String>,
    /// Description, if the file has one.
    pub description: Option<String>,
    /// Mass matrix \[kg\].
    pub m: Csr,
    /// Transposed constraint Jacobian, one column per contact row.
    pub h: Csr,
    /// Momentum without contact impulses [N·s].
    pub f: Vec<f64>,
    /// Bias of each contact row [m/s].
    pub w: Vec<f64>,
    /// Friction of each contact [-].
    pub mu: Vec<f64>,
    /// Solution with Coulomb friction.
    pub solution: Option<Solution>,
    /// Solution of the convex relaxation.
    pub solution_ccp: Option<Solution>,
}

/// A solution that comes with a problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// Contact impulses [N·s].
    pub r: Vec<f64>,
    /// Contact velocities [m/s].
    pub u: Vec<f64>,
    /// Velocities [m/s], in global problems.
    pub v: Option<Vec<f64>>,
}

impl Fclib {
    /// The file it came from.
    pub fn path(&self) -> &Path {
        match self {
            Self::Local(local) => &local.path,
            Self::Global(global) => &global.path,
        }
    }

    /// The file's name without its ending.
    pub fn name(&self) -> String {
        name_of(self.path())
    }

    /// Number of contacts.
    pub fn contacts(&self) -> usize {
        match self {
            Self::Local(local) => local.mu.len(),
            Self::Global(global) => global.mu.len(),
        }
    }

    /// Replaces W or M by its symmetric part. Solutions solve the problem as it was, so they go,
    /// unless the matrix was symmetric to round-off.
    pub fn symmetrise(&mut self) {
        let (matrix, solution, solution_ccp) = match self {
            Self::Local(local) => (&mut local.w, &mut local.solution, &mut local.solution_ccp),
            Self::Global(global) => (&mut global.m, &mut global.solution, &mut global.solution_ccp),
        };
        if matrix.asymmetry() > super::embed::ROUND_OFF_ASYMMETRY {
            *solution = None;
            *solution_ccp = None;
        }
        *matrix = matrix.symmetrised();
    }
}

/// Reads the problem in the file at `path`.
pub fn read(path: impl AsRef<Path>) -> Result<Fclib, FileError> {
    let path = path.as_ref();
    read_bytes(path, bytes_of(path)?)
}

/// Reads the problem in the content of a file; `path` names it in errors.
pub fn read_bytes(path: impl AsRef<Path>, bytes: Vec<u8>) -> Result<Fclib, FileError> {
    let file = Hdf5::open(path.as_ref(), bytes)?;
    if file.has_group("fclib_local")? {
        return read_local(&file).map(Fclib::Local);
    }
    if file.has_group("fclib_global")? {
        return read_global(&file).map(Fclib::Global);
    }
    Err(FileError::Missing {
        path: file.path().to_path_buf(),
        key: "/fclib_local".into(),
        found: file.root_groups(),
        required: "either /fclib_local or /fclib_global".into(),
    })
}

fn read_local(file: &Hdf5) -> Result<Local, FileError> {
    let root = "fclib_local";
    check_form(file, root, &["V", "R"])?;
    let mu = file.floats(&format!("{root}/vectors/mu"))?;
    let rows = ROWS * mu.len();
    let q = floats_of_length(file, &format!("{root}/vectors/q"), rows, "three per contact")?;
    Ok(Local {
        path: file.path().to_path_buf(),
        title: file.text(&format!("{root}/info/title")),
        description: file.text(&format!("{root}/info/description")),
        w: read_matrix(file, &format!("{root}/W"), rows, rows)?,
        q,
        mu,
        solution: read_solution(file, "solution", rows, None)?,
        solution_ccp: read_solution(file, "solution_ccp", rows, None)?,
    })
}

fn read_global(file: &Hdf5) -> Result<Global, FileError> {
    let root = "fclib_global";
    check_form(file, root, &["G"])?;
    let mu = file.floats(&format!("{root}/vectors/mu"))?;
    let rows = ROWS * mu.len();
    let w = floats_of_length(file, &format!("{root}/vectors/w"), rows, "three per contact")?;
    let f = file.floats(&format!("{root}/vectors/f"))?;
    Ok(Global {
        path: file.path().to_path_buf(),
        title: file.text(&format!("{root}/info/title")),
        description: file.text(&format!("{root}/info/description")),
        m: read_matrix(file, &format!("{root}/M"), f.len(), f.len())?,
        h: read_matrix(file, &format!("{root}/H"), f.len(), rows)?,
        solution: read_solution(file, "solution", rows, Some(f.len()))?,
        solution_ccp: read_solution(file, "solution_ccp", rows, Some(f.len()))?,
        f,
        w,
        mu,
    })
}

/// Refuses what lies outside of the problem form: the plane, and equality constraints.
fn check_form(file: &Hdf5, root: &str, equality_matrices: &[&str]) -> Result<(), FileError> {
    let unsupported = |what: String, expected: &str| {
        let path = file.path().to_path_buf();
        Err(FileError::Unsupported { path, what, expected: expected.into() })
    };
    let dimension = file.integer(&format!("{root}/spacedim"))?;
    if dimension != ROWS as i64 {
        return unsupported(format!("{root}/spacedim = {dimension}"), "contacts in space (3)");
    }
    for name in equality_matrices {
        let group = format!("{root}/{name}");
        if file.has_group(&group)? {
            let expected = "contacts only, without equality constraints";
            return unsupported(format!("the matrix {group}"), expected);
        }
    }
    Ok(())
}

fn read_solution(
    file: &Hdf5,
    group: &str,
    rows: usize,
    dofs: Option<usize>,
) -> Result<Option<Solution>, FileError> {
    if !file.has_group(group)? {
        return Ok(None);
    }
    let v = match dofs {
        Some(dofs) if file.has_dataset(&format!("{group}/v"))? => {
            Some(floats_of_length(file, &format!("{group}/v"), dofs, "as many as f has")?)
        }
        _ => None,
    };
    Ok(Some(Solution {
        r: floats_of_length(file, &format!("{group}/r"), rows, "three per contact")?,
        u: floats_of_length(file, &format!("{group}/u"), rows, "three per contact")?,
        v,
    }))
}

fn floats_of_length(
    file: &Hdf5,
    dataset: &str,
    length: usize,
    why: &str,
) -> Result<Vec<f64>, FileError> {
    let values = file.floats(dataset)?;
    if values.len() == length {
        return Ok(values);
    }
    let found = format!("{} elements", values.len());
    Err(fault(file.path(), dataset, found, format!("{length}, {why}")))
}

/// Reads a sparse matrix whose size follows from the vectors.
///
/// `nz` gives the encoding: -2 compressed rows (`p` row starts, `i` columns), -1 compressed columns
/// (`p` column starts, `i` rows), otherwise that many triplets (`p` columns, `i` rows). The arrays may
/// be longer than what is used.
fn read_matrix(file: &Hdf5, group: &str, rows: usize, cols: usize) -> Result<Csr, FileError> {
    let key = |name: &str| format!("{group}/{name}");
    for (name, expected) in [("m", rows), ("n", cols)] {
        let found = file.integer(&key(name))?;
        if usize::try_from(found) != Ok(expected) {
            let expected = format!("{expected}, from the lengths of the vectors");
            return Err(fault(file.path(), &key(name), found.to_string(), expected));
        }
    }
    let nz = file.integer(&key("nz"))?;
    let p = file.indices(&key("p"))?;
    let mut i = file.indices(&key("i"))?;
    let mut x = file.floats(&key("x"))?;
    let used = match nz {
        -2 | -1 => p.last().copied().unwrap_or(0),
        0.. => usize::try_from(nz).unwrap_or(usize::MAX),
        _ => {
            let expected = "-2 (rows), -1 (columns) or a number of triplets";
            return Err(fault(file.path(), &key("nz"), nz.to_string(), expected.into()));
        }
    };
    let triplet_columns = if nz >= 0 { p.len() } else { used };
    for (name, length) in [("i", i.len()), ("x", x.len()), ("p", triplet_columns)] {
        if length < used {
            let found = format!("{length} elements");
            return Err(fault(file.path(), &key(name), found, format!("at least {used}")));
        }
    }
    i.truncate(used);
    x.truncate(used);
    // The name that each array has under this encoding.
    let (built, [indptr, indices]) = match nz {
        -2 => (Csr::from_parts(rows, cols, p, i, x), ["p", "i"]),
        -1 => (
            Csr::from_parts(cols, rows, p, i, x).map(|by_column| by_column.transposed()),
            ["p", "i"],
        ),
        _ => (Csr::from_triplets(rows, cols, &i, &p[..used], &x), ["i", "p"]),
    };
    built.map_err(|CsrFault { part, found, expected }| {
        let name = match part {
            CsrPart::Indptr => indptr,
            CsrPart::Indices => indices,
            CsrPart::Data => "x",
        };
        fault(file.path(), &key(name), found, expected)
    })
}
