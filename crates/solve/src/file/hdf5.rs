//! Typed access to the datasets of an HDF5 file in memory, with errors that name the dataset.
//!
//! The size that a dataset declares is checked against the size of the file before it is read.

use std::path::{Path, PathBuf};

use hdf5_pure::{DType, Dataset, Error, File, FormatError};

use super::error::FileError;
use super::raw::fault;

/// An open HDF5 file.
pub(super) struct Hdf5 {
    path: PathBuf,
    size: u64,
    file: File,
}

impl Hdf5 {
    pub(super) fn open(path: &Path, bytes: Vec<u8>) -> Result<Self, FileError> {
        let size = bytes.len() as u64;
        let file = File::from_bytes(bytes).map_err(|error| FileError::Hdf5 {
            path: path.to_path_buf(),
            dataset: "/".into(),
            reason: error.to_string(),
        })?;
        Ok(Self { path: path.to_path_buf(), size, file })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn has_group(&self, name: &str) -> Result<bool, FileError> {
        self.exists(name, self.file.group(name).map(drop))
    }

    pub(super) fn has_dataset(&self, name: &str) -> Result<bool, FileError> {
        self.exists(name, self.file.dataset(name).map(drop))
    }

    /// The groups at the root, for an error message.
    pub(super) fn root_groups(&self) -> String {
        match self.file.root().groups() {
            Ok(names) if !names.is_empty() => {
                let names: Vec<String> = names.iter().map(|name| format!("/{name}")).collect();
                names.join(", ")
            }
            _ => "no groups".into(),
        }
    }

    /// All elements of a dataset of floating-point numbers or integers.
    pub(super) fn floats(&self, name: &str) -> Result<Vec<f64>, FileError> {
        let dataset = self.dataset(name)?;
        let kind = dataset.dtype().map_err(|error| self.failed(name, &error))?;
        if !matches!(kind, DType::F32 | DType::F64) && !is_integer(&kind) {
            let found = format!("elements of type {kind}");
            return Err(fault(&self.path, name, found, "numbers".into()));
        }
        dataset.read_f64().map_err(|error| self.failed(name, &error))
    }

    /// All elements of a dataset of integers.
    pub(super) fn integers(&self, name: &str) -> Result<Vec<i64>, FileError> {
        let dataset = self.dataset(name)?;
        let kind = dataset.dtype().map_err(|error| self.failed(name, &error))?;
        if !is_integer(&kind) {
            let found = format!("elements of type {kind}");
            return Err(fault(&self.path, name, found, "integers".into()));
        }
        dataset.read_i64().map_err(|error| self.failed(name, &error))
    }

    /// The only element of a dataset of integers.
    pub(super) fn integer(&self, name: &str) -> Result<i64, FileError> {
        match self.integers(name)?.as_slice() {
            &[value] => Ok(value),
            values => {
                let found = format!("{} elements", values.len());
                Err(fault(&self.path, name, found, "one integer".into()))
            }
        }
    }

    /// All elements of a dataset of indices.
    pub(super) fn indices(&self, name: &str) -> Result<Vec<usize>, FileError> {
        let convert = |(k, value): (usize, i64)| {
            usize::try_from(value).map_err(|_| {
                let found = format!("{value} at position {k}");
                fault(&self.path, name, found, "integers ≥ 0".into())
            })
        };
        self.integers(name)?.into_iter().enumerate().map(convert).collect()
    }

    /// A text, or nothing when there is none that can be read: it takes no part in the problem.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        let text = self.dataset(name).ok()?.read_string().ok()?.into_iter().next()?;
        let text = text.trim_end_matches('\0').trim();
        (!text.is_empty()).then(|| text.to_string())
    }

    /// Opens a dataset whose claimed size the file can hold.
    fn dataset(&self, name: &str) -> Result<Dataset, FileError> {
        let dataset = match self.file.dataset(name) {
            Ok(dataset) => dataset,
            Err(error) if is_absent(&error) => {
                return Err(FileError::Missing {
                    path: self.path.clone(),
                    key: format!("/{name}"),
                    found: self.root_groups(),
                    required: "the datasets of FCLIB's layout".into(),
                });
            }
            Err(error) => return Err(self.failed(name, &error)),
        };
        let shape = dataset.shape().map_err(|error| self.failed(name, &error))?;
        let element = dataset.element_size().map_err(|error| self.failed(name, &error))?;
        let bytes = shape.iter().try_fold(element, |bytes, &extent| bytes.checked_mul(extent));
        let limit = super::most_inflated(self.size as usize);
        if bytes.is_none_or(|bytes| bytes > limit) {
            let found = format!("shape {shape:?} with {element} bytes per element");
            let expected = format!("what a file of {} bytes can hold", self.size);
            return Err(fault(&self.path, name, found, expected));
        }
        Ok(dataset)
    }

    fn exists(&self, name: &str, opened: Result<(), Error>) -> Result<bool, FileError> {
        match opened {
            Ok(()) => Ok(true),
            Err(error) if is_absent(&error) => Ok(false),
            Err(error) => Err(self.failed(name, &error)),
        }
    }

    fn failed(&self, name: &str, error: &Error) -> FileError {
        FileError::Hdf5 {
            path: self.path.clone(),
            dataset: format!("/{name}"),
            reason: error.to_string(),
        }
    }
}

fn is_absent(error: &Error) -> bool {
    matches!(error, Error::Format(FormatError::PathNotFound(_)))
}

fn is_integer(kind: &DType) -> bool {
    use DType::{I8, I16, I32, I64, U8, U16, U32, U64};
    matches!(kind, I8 | I16 | I32 | I64 | U8 | U16 | U32 | U64)
}
