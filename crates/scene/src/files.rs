//! Files of a model, from disk or from memory.
//!
//! Every file that was read is kept, so that a model can be packed, sent elsewhere and loaded
//! again without the folder it came from.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::error::SceneError;
use crate::field_cache::FieldCache;

/// Largest file that is read [bytes].
const LARGEST: u64 = 1 << 30;

/// Files by path. Paths use forward slashes and hold no `.` and no `..` that could be resolved.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// Files that were read or inserted.
    held: BTreeMap<PathBuf, Arc<[u8]>>,
    /// Whether files that are not held may be read from disk.
    disk: bool,
    /// Signed distance fields of meshes.
    pub fields: FieldCache,
}

impl Files {
    /// Files on disk; fields that take long to build are kept in the user's folder for caches.
    pub fn on_disk() -> Self {
        Self { held: BTreeMap::new(), disk: true, fields: FieldCache::of_user() }
    }

    /// Files in memory, and nothing else.
    pub fn in_memory() -> Self {
        Self::default()
    }

    /// Adds a file, or replaces it.
    pub fn insert(&mut self, path: impl AsRef<Path>, bytes: impl Into<Arc<[u8]>>) {
        self.held.insert(without_dots(path.as_ref()), bytes.into());
    }

    /// The same files without access to the disk, for a packed model.
    pub fn packed(&self) -> Self {
        Self { held: self.held.clone(), ..Self::default() }
    }

    /// Whether files that are not held are read from disk.
    pub fn reads_disk(&self) -> bool {
        self.disk
    }

    /// The files held, in the order of paths.
    pub fn held(&self) -> impl Iterator<Item = (&Path, &[u8])> {
        self.held.iter().map(|(path, bytes)| (path.as_path(), &bytes[..]))
    }

    /// Whether there is such a file.
    pub fn contains(&self, path: &Path) -> bool {
        let path = without_dots(path);
        self.held.contains_key(&path) || (self.disk && path.is_file())
    }

    /// The bytes of a file.
    pub fn read(&mut self, path: &Path) -> Result<Arc<[u8]>, SceneError> {
        let path = without_dots(path);
        if let Some(bytes) = self.held.get(&path) {
            return Ok(bytes.clone());
        }
        let wrong = |what: String| SceneError::File { path: path.display().to_string(), what };
        if !self.disk {
            return Err(wrong("no such file among those in memory".into()));
        }
        let about = std::fs::metadata(&path).map_err(|error| wrong(error.to_string()))?;
        if !about.is_file() {
            return Err(wrong("expected a file, found something else".into()));
        }
        if about.len() > LARGEST {
            let found = about.len();
            return Err(wrong(format!("{found} bytes; expected at most {LARGEST}")));
        }
        let bytes: Arc<[u8]> = std::fs::read(&path).map_err(|e| wrong(e.to_string()))?.into();
        self.held.insert(path, bytes.clone());
        Ok(bytes)
    }

    /// A file as text.
    pub fn text(&mut self, path: &Path) -> Result<String, SceneError> {
        let bytes = self.read(path)?;
        String::from_utf8(bytes.to_vec()).map_err(|error| SceneError::File {
            path: path.display().to_string(),
            what: format!(
                "expected UTF-8 text; found a stray byte at position {}",
                error.utf8_error().valid_up_to()
            ),
        })
    }
}

/// A path without `.` and, where possible, without `..`.
pub fn without_dots(path: &Path) -> PathBuf {
    let mut tidied = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(tidied.components().next_back(), Some(Component::Normal(_))) =>
            {
                tidied.pop();
            }
            part => tidied.push(part),
        }
    }
    tidied
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_model_does_not_see_the_disk() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let mut files = Files::on_disk();
        assert!(files.read(&here).is_ok());
        let mut packed = files.packed();
        assert_eq!(packed.read(&here).unwrap(), files.read(&here).unwrap());
        assert!(packed.read(&here.with_file_name("src/lib.rs")).is_err());
    }

    #[test]
    fn a_file_is_found_by_every_spelling_of_its_path() {
        let mut files = Files::in_memory();
        files.insert("robots/arm/../meshes/link.stl", *b"solid");
        assert!(files.contains(Path::new("./robots/meshes/link.stl")));
        assert_eq!(without_dots(Path::new("../a/b/../c")), Path::new("../a/c"));
    }
}
