//! NumPy archives: a zip of one `.npy` member per array.
//!
//! Reading accepts stored and deflated members; writing stores them uncompressed, with the same
//! bytes for the same content, under a temporary name that is renamed when complete, so that a
//! file is whole or absent. Cost: one pass over the bytes.

use std::collections::BTreeMap;
use std::io::{BufWriter, Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::array::{Array, Values};
use super::error::FileError;
use super::npy::{self, NpyFault};
use super::raw::fault;

/// All numeric arrays of one archive.
#[derive(Clone, Debug)]
pub struct NpzFile {
    path: PathBuf,
    arrays: BTreeMap<String, Array>,
    /// Members that are skipped, each with a description of its content.
    ignored: BTreeMap<String, String>,
}

impl NpzFile {
    /// Reads every numeric array of the archive at `path`.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let path = path.as_ref();
        Self::from_bytes(path, &super::bytes_of(path)?)
    }

    /// Reads every numeric array of an archive in memory; `path` names it in errors.
    pub fn from_bytes(path: impl AsRef<Path>, bytes: &[u8]) -> Result<Self, FileError> {
        let path = path.as_ref().to_path_buf();
        let damaged = |error: zip::result::ZipError| FileError::Archive {
            path: path.clone(),
            reason: error.to_string(),
        };
        let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(damaged)?;
        let mut arrays = BTreeMap::new();
        let mut ignored = BTreeMap::new();
        let most = super::most_inflated(bytes.len());
        let mut inflated = 0_u64;
        for index in 0..archive.len() {
            let mut member = archive.by_index(index).map_err(damaged)?;
            inflated = inflated.saturating_add(member.size());
            if inflated > most {
                return Err(FileError::TooLarge { path, found: inflated, most });
            }
            let size = member.size();
            let name = member.name().map_err(damaged)?.into_owned();
            let Some(key) = name.strip_suffix(".npy") else {
                ignored.insert(name, "no array".to_string());
                continue;
            };
            // What a member holds beyond its declared size is not inflated.
            match npy::read(&mut (&mut member).take(size.saturating_add(1))) {
                Ok(array) => {
                    arrays.insert(key.to_string(), array);
                }
                Err(NpyFault::Type(kind)) => {
                    ignored.insert(name, format!("elements of type {kind}"));
                }
                Err(NpyFault::Damage { found, expected }) => {
                    return Err(fault(&path, key, found, expected));
                }
            }
        }
        Ok(Self { path, arrays, ignored })
    }

    /// The file, as errors name it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Members that are no numeric arrays (text, records, other files), which are skipped.
    pub fn ignored(&self) -> impl Iterator<Item = &str> {
        self.ignored.keys().map(String::as_str)
    }

    /// The keys present, in alphabetical order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.arrays.keys().map(String::as_str)
    }

    /// The array under a key.
    pub fn get(&self, key: &str) -> Option<&Array> {
        self.arrays.get(key)
    }

    /// Removes and returns the array under a key; `required` lists, for the error, what must be there.
    pub fn take(&mut self, key: &str, required: &[&str]) -> Result<Array, FileError> {
        if let Some(array) = self.arrays.remove(key) {
            return Ok(array);
        }
        if let Some(found) = self.ignored.get(&format!("{key}.npy")) {
            return Err(fault(&self.path, key, found.clone(), "a numeric array".into()));
        }
        let keys: Vec<&str> = self.keys().collect();
        Err(FileError::Missing {
            path: self.path.clone(),
            key: key.to_string(),
            found: if keys.is_empty() { "no arrays".into() } else { keys.join(", ") },
            required: required.join(", "),
        })
    }

    /// A required vector of numbers.
    pub fn take_f64(&mut self, key: &str, required: &[&str]) -> Result<Vec<f64>, FileError> {
        let array = self.take(key, required)?;
        self.check_vector(key, &array)?;
        Ok(match array.values {
            Values::F64(values) => values,
            Values::I64(values) => values.into_iter().map(|value| value as f64).collect(),
        })
    }

    /// A required vector of integers.
    pub fn take_i64(&mut self, key: &str, required: &[&str]) -> Result<Vec<i64>, FileError> {
        let array = self.take(key, required)?;
        self.check_vector(key, &array)?;
        self.integers(key, array)
    }

    /// A required vector of indices.
    pub fn take_usize(&mut self, key: &str, required: &[&str]) -> Result<Vec<usize>, FileError> {
        let integers = self.take_i64(key, required)?;
        self.indices(key, &integers)
    }

    /// A required count: a scalar, or a vector with one element.
    pub fn take_count(&mut self, key: &str, required: &[&str]) -> Result<usize, FileError> {
        let array = self.take(key, required)?;
        let shape = array.shape.clone();
        let indices = self.integers(key, array)?;
        match self.indices(key, &indices)?.as_slice() {
            &[count] => Ok(count),
            _ => Err(fault(&self.path, key, format!("shape {shape:?}"), "one number".into())),
        }
    }

    /// Everything that has not been taken.
    pub fn into_rest(self) -> BTreeMap<String, Array> {
        self.arrays
    }

    fn check_vector(&self, key: &str, array: &Array) -> Result<(), FileError> {
        if array.shape.len() == 1 {
            return Ok(());
        }
        let found = format!("shape {:?}", array.shape);
        Err(fault(&self.path, key, found, "a vector (one axis)".into()))
    }

    fn integers(&self, key: &str, array: Array) -> Result<Vec<i64>, FileError> {
        match array.values {
            Values::I64(values) => Ok(values),
            // An empty list has no type of its own: NumPy makes it floating-point.
            Values::F64(values) if values.is_empty() => Ok(Vec::new()),
            Values::F64(_) => {
                let found = "floating-point elements".to_string();
                Err(fault(&self.path, key, found, "integers".into()))
            }
        }
    }

    fn indices(&self, key: &str, integers: &[i64]) -> Result<Vec<usize>, FileError> {
        let convert = |(k, &value): (usize, &i64)| {
            usize::try_from(value).map_err(|_| {
                let found = format!("{value} at position {k}");
                fault(&self.path, key, found, "integers ≥ 0".into())
            })
        };
        integers.iter().enumerate().map(convert).collect()
    }
}

/// Writes arrays into an uncompressed archive that `numpy.load` opens.
///
/// The file appears complete or not at all: it is written beside its destination and renamed.
pub fn write_arrays(path: impl AsRef<Path>, arrays: &[(&str, Array)]) -> Result<(), FileError> {
    let path = path.as_ref();
    let mut keys: Vec<&str> = arrays.iter().map(|(key, _)| *key).collect();
    keys.sort_unstable();
    if let Some(pair) = keys.windows(2).find(|pair| pair[0] == pair[1]) {
        let found = "the key twice".to_string();
        return Err(fault(path, pair[0], found, "each key once".into()));
    }
    if let Some((key, array)) = arrays.iter().find(|(_, array)| !array.is_consistent()) {
        let expected = format!("as many as the shape {:?} has", array.shape);
        return Err(fault(path, key, format!("{} elements", array.len()), expected));
    }
    let failed = |source| FileError::Io { path: path.to_path_buf(), source };
    let (file, temporary) = create_beside(path).map_err(failed)?;
    let written = write_members(file, arrays).and_then(|()| std::fs::rename(&temporary, path));
    written.map_err(|source| {
        // The first failure is the one to report; a temporary file that stays behind is harmless.
        let _ = std::fs::remove_file(&temporary);
        failed(source)
    })
}

fn write_members(file: std::fs::File, arrays: &[(&str, Array)]) -> std::io::Result<()> {
    let mut archive = zip::ZipWriter::new(BufWriter::new(file));
    for (key, array) in arrays {
        // Members from 4 GiB on need the longer zip fields; half of that leaves room for the header.
        let options = zip::write::SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Stored)
            .last_modified_time(zip::DateTime::default())
            .large_file(array.len() >= (1 << 31) / size_of::<f64>());
        archive.start_file(format!("{key}.npy"), options).map_err(std::io::Error::from)?;
        npy::write(&mut archive, array)?;
    }
    let mut sink = archive.finish().map_err(std::io::Error::from)?;
    sink.flush()?;
    sink.get_ref().sync_all()
}

/// Creates a file with an unused name in the directory of `path`.
fn create_beside(path: &Path) -> std::io::Result<(std::fs::File, PathBuf)> {
    static ATTEMPT: AtomicU64 = AtomicU64::new(0);
    let Some(name) = path.file_name() else {
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "no file name"));
    };
    loop {
        let attempt = ATTEMPT.fetch_add(1, Ordering::Relaxed);
        let mut temporary = std::ffi::OsString::from(".");
        temporary.push(name);
        temporary.push(format!(".{}-{attempt}.part", std::process::id()));
        let temporary = path.with_file_name(temporary);
        match std::fs::OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Ok(file) => return Ok((file, temporary)),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}
