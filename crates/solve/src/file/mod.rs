//! Contact problems in files: read, written, and brought into one neutral form.
//!
//! | file | reader | holds |
//! |---|---|---|
//! | `.npz` | [`npz`] | `A v = b + Jᵀ λ`, `c = J v + e + R∘λ` with a law per constraint |
//! | FCLIB `.h5`/`.hdf5` | [`fclib`] | `u = W r + q` (local) or `M v = H r + f`, `u = Hᵀ v + w` (global) |
//!
//! [`load`] distinguishes them by content and returns a [`RawProblem`]; [`embed`] does the algebra
//! for FCLIB.

mod archive;
mod array;
mod csr;
pub mod embed;
mod error;
pub mod fclib;
mod hdf5;
mod npy;
pub mod npz;
mod raw;

use std::path::Path;

pub use archive::{NpzFile, write_arrays};
pub use array::{Array, Values};
pub use csr::{Csr, CsrFault, CsrPart};
pub use error::FileError;
pub use raw::{Blocks, RawProblem, rows_of_kind};

/// How to load a file that does not quite fit the problem form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// Replace an asymmetric W or M of an FCLIB file by its symmetric part. That is another
    /// problem, so reference solutions in the file are left out.
    pub symmetrise: bool,
}

/// Loads a contact problem from a file of any known format, recognized by its content.
pub fn load(path: impl AsRef<Path>, options: LoadOptions) -> Result<RawProblem, FileError> {
    let path = path.as_ref();
    load_bytes(path, bytes_of(path)?, options)
}

/// Loads a contact problem from the content of a file; `path` names it in errors.
pub fn load_bytes(
    path: impl AsRef<Path>,
    bytes: Vec<u8>,
    options: LoadOptions,
) -> Result<RawProblem, FileError> {
    let path = path.as_ref();
    if bytes.starts_with(ZIP_MEMBER) || bytes.starts_with(ZIP_EMPTY) {
        return npz::read_bytes(path, &bytes);
    }
    if hdf5_pure::is_hdf5_bytes(&bytes) {
        let mut problem = fclib::read_bytes(path, bytes)?;
        if options.symmetrise {
            problem.symmetrise();
        }
        return embed::to_raw(&problem);
    }
    Err(FileError::UnknownFormat { path: path.to_path_buf(), found: describe(&bytes) })
}

/// Most bytes that a compressed file may hold, besides a multiple of its own length.
const MOST_INFLATED: u64 = 1 << 28;
/// Most bytes that a compressed file may hold for each of its own.
const MOST_INFLATED_PER_BYTE: u64 = 64;
/// Largest file that is read [bytes].
const LARGEST_FILE: u64 = 1 << 33;

/// Most bytes that a file of some length may hold when inflated: more would be a slip or an attack.
fn most_inflated(length: usize) -> u64 {
    MOST_INFLATED.saturating_add((length as u64).saturating_mul(MOST_INFLATED_PER_BYTE))
}

const ZIP_MEMBER: &[u8] = b"PK\x03\x04";
const ZIP_EMPTY: &[u8] = b"PK\x05\x06";

/// Describes unknown content.
fn describe(bytes: &[u8]) -> String {
    let start = &bytes[..bytes.len().min(24)];
    if bytes.is_empty() {
        "the file is empty".to_string()
    } else if bytes.starts_with(b"\x93NUMPY") {
        "a single NumPy array (.npy)".to_string()
    } else if start.iter().all(|byte| (b' '..=b'~').contains(byte) || byte.is_ascii_whitespace()) {
        format!("text that starts with {:?}", String::from_utf8_lossy(start))
    } else {
        format!("content that starts with the bytes {:02x?}", &start[..start.len().min(8)])
    }
}

/// The content of a regular file.
fn bytes_of(path: &Path) -> Result<Vec<u8>, FileError> {
    let failed = |source| FileError::Io { path: path.to_path_buf(), source };
    let about = std::fs::metadata(path).map_err(failed)?;
    if !about.is_file() {
        return Err(FileError::NotAFile { path: path.to_path_buf() });
    }
    if about.len() > LARGEST_FILE {
        let (path, found) = (path.to_path_buf(), about.len());
        return Err(FileError::TooLarge { path, found, most: LARGEST_FILE });
    }
    std::fs::read(path).map_err(failed)
}

/// The file's name without its ending.
fn name_of(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}
