//! Errors of problem files: the file, the array, what was found, what was expected.

use std::path::PathBuf;

/// A problem file that cannot be read, written or turned into a problem.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The operating system refused to read or write.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// The file, or what is compressed in it, is too large.
    #[error("{}: found {found} bytes; expected at most {most}", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its length, or that of what it holds [bytes].
        found: u64,
        /// The limit [bytes].
        most: u64,
    },
    /// The path names a directory, a device or a pipe.
    #[error("{}: not a regular file; expected a problem file (.npz, or FCLIB .h5/.hdf5)", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The content is neither a zip archive nor an HDF5 file.
    #[error(
        "{}: {found}; expected a problem file: a zip archive of NumPy arrays (.npz) or an FCLIB file in HDF5 (.h5/.hdf5)",
        path.display()
    )]
    UnknownFormat {
        /// The file.
        path: PathBuf,
        /// Description of its first bytes.
        found: String,
    },
    /// The zip archive itself is damaged.
    #[error("{}: damaged zip archive: {reason}", path.display())]
    Archive {
        /// The file.
        path: PathBuf,
        /// The error of the archive reader.
        reason: String,
    },
    /// The HDF5 container is damaged or uses a feature that is not read.
    #[error("{}: cannot read HDF5 object `{dataset}`: {reason}", path.display())]
    Hdf5 {
        /// The file.
        path: PathBuf,
        /// The requested object.
        dataset: String,
        /// The error of the HDF5 reader.
        reason: String,
    },
    /// A required array or dataset is absent.
    #[error("{}: `{key}` is missing; found {found}; required are {required}", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// The absent key.
        key: String,
        /// The keys of the file.
        found: String,
        /// The required keys.
        required: String,
    },
    /// An array contradicts its header or another array of the file.
    #[error("{}: `{key}`: found {found}; expected {expected}", path.display())]
    Array {
        /// The file.
        path: PathBuf,
        /// The array's key or dataset.
        key: String,
        /// The content found.
        found: String,
        /// The required content.
        expected: String,
    },
    /// A matrix that must be symmetric is not.
    #[error(
        "{}: `{key}` is not symmetric: ‖X − Xᵀ‖/‖X‖ = {asymmetry:.2e}; expected at most {limit:.0e}; \
         --symmetrise replaces it by its symmetric part, which is another problem",
        path.display()
    )]
    Asymmetric {
        /// The file.
        path: PathBuf,
        /// The matrix.
        key: String,
        /// Its relative asymmetry in the Frobenius norm [-].
        asymmetry: f64,
        /// The asymmetry that passes for round-off [-].
        limit: f64,
    },
    /// A matrix that must be positive semi-definite has a negative eigenvalue.
    #[error(
        "{}: `{key}` is not positive semi-definite: in the component of row {row}, smallest/largest eigenvalue = {ratio:.2e}; \
         expected at least {limit:.0e}",
        path.display()
    )]
    Indefinite {
        /// The file.
        path: PathBuf,
        /// The matrix.
        key: String,
        /// First row of the connected component in question.
        row: usize,
        /// Smallest eigenvalue over the largest magnitude [-].
        ratio: f64,
        /// The most negative ratio that passes for round-off [-].
        limit: f64,
    },
    /// A valid file with a feature outside of the problem form.
    #[error("{}: {what} is not supported; expected {expected}", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// The feature.
        what: String,
        /// The supported features.
        expected: String,
    },
}
