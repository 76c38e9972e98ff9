//! Sampled signed distance fields that were built before, kept in memory and on disk under the content that they were built from.
//!
//! The folder is `STICTION_CACHE` if that is set (nothing is kept on disk if it is empty), else `stiction` in the user's folder for
//! caches. A file that cannot be read or written is as good as none.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use stiction_geom::ShapeError;
use stiction_geom::field::{GridSign, MOST_BYTES, SampledGrid};
use stiction_geom::shape::Mesh;

/// Time of building from which on a field is kept on disk, and between two reports of progress.
const WORTH_KEEPING: Duration = Duration::from_millis(100);
const PAUSE: Duration = Duration::from_millis(50);
/// Largest file that is read [bytes]: more than the largest grid takes.
const LARGEST: u64 = 2 * MOST_BYTES;

/// Called now and then while a field is built, with the part of the work that is done, between 0 and 1; the last time with 1.
pub type FieldProgress = Arc<dyn Fn(f64) + Send + Sync>;

/// Fields by their content.
#[derive(Clone, Default)]
pub struct FieldCache {
    folder: Option<PathBuf>,
    held: BTreeMap<String, Arc<SampledGrid>>,
    progress: Option<FieldProgress>,
}

impl fmt::Debug for FieldCache {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let held: Vec<_> = self.held.keys().collect();
        f.debug_struct("FieldCache").field("folder", &self.folder).field("held", &held).finish()
    }
}

impl FieldCache {
    /// Fields in memory and in a folder, which is made when the first is kept.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self { folder: Some(folder.into()), ..Self::default() }
    }

    /// Fields in memory and in the user's folder, if there is one.
    pub fn of_user() -> Self {
        Self { folder: user_folder(), ..Self::default() }
    }

    /// Has progress reported while fields are built.
    pub fn watch(&mut self, progress: FieldProgress) {
        self.progress = Some(progress);
    }

    /// The field of a mesh with cells of the edge `cell` [m], built unless it is known.
    pub fn sampled(
        &mut self,
        mesh: Mesh,
        cell: f64,
        sign: GridSign,
    ) -> Result<Arc<SampledGrid>, ShapeError> {
        let key = SampledGrid::content_key(&mesh, cell, sign);
        if let Some(grid) = self.held.get(&key) {
            return Ok(grid.clone());
        }
        let file = self.folder.as_ref().map(|folder| folder.join(format!("{key}.sdf")));
        let known = file.as_deref().and_then(read);
        let known =
            known.and_then(|bytes| SampledGrid::from_bytes(mesh.clone(), cell, sign, &bytes));
        let grid = Arc::new(match known {
            Some(grid) => grid,
            None => self.build(mesh, cell, sign, file.as_deref())?,
        });
        self.held.insert(key, grid.clone());
        Ok(grid)
    }

    fn build(
        &self,
        mesh: Mesh,
        cell: f64,
        sign: GridSign,
        file: Option<&Path>,
    ) -> Result<SampledGrid, ShapeError> {
        let begin = Instant::now();
        let mut last = begin;
        let mut watch = |part: f64| {
            if let Some(progress) = &self.progress
                && last.elapsed() >= PAUSE
            {
                last = Instant::now();
                progress(part);
            }
        };
        let grid = SampledGrid::build_watched(mesh, cell, sign, MOST_BYTES, &mut watch)?;
        if let Some(progress) = self.progress.as_ref().filter(|_| last != begin) {
            progress(1.0);
        }
        if let Some(file) = file.filter(|_| begin.elapsed() >= WORTH_KEEPING) {
            // Without a file the field is built again.
            let _ = write(file, &grid.to_bytes());
        }
        Ok(grid)
    }
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let about = std::fs::metadata(path).ok()?;
    (about.is_file() && about.len() <= LARGEST).then(|| std::fs::read(path).ok()).flatten()
}

/// Writes a file that appears whole or not at all, also if two processes write it.
fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new(""));
    std::fs::create_dir_all(folder)?;
    let part = path.with_extension(format!("{}.part", std::process::id()));
    std::fs::write(&part, bytes)?;
    std::fs::rename(&part, path).inspect_err(|_| {
        let _ = std::fs::remove_file(&part);
    })
}

/// The user's folder for caches of this program.
fn user_folder() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from);
    if let Some(folder) = set("STICTION_CACHE") {
        return Some(folder).filter(|folder| !folder.as_os_str().is_empty());
    }
    let caches = if cfg!(windows) {
        set("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        set("HOME").map(|home| home.join("Library/Caches"))
    } else {
        set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")))
    };
    caches.filter(|caches| caches.is_absolute()).map(|caches| caches.join("stiction"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_geom::shape::generate;

    fn ring(cell: f64) -> (Mesh, f64) {
        let (vertices, triangles) = generate::torus(0.1, 0.03, 48, 24);
        (Mesh::build(&vertices, &triangles).unwrap(), cell)
    }

    fn scratch(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("stiction-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        folder
    }

    #[test]
    fn a_field_is_read_from_the_file_of_its_content_and_a_damaged_file_is_built_again() {
        let folder = scratch("field-cache");
        let (mesh, cell) = ring(0.004);
        let grid = SampledGrid::build(mesh.clone(), cell, GridSign::Closed, MOST_BYTES).unwrap();
        let key = SampledGrid::content_key(&mesh, cell, GridSign::Closed);
        let file = folder.join(format!("{key}.sdf"));
        write(&file, &grid.to_bytes()).unwrap();
        let sampled =
            |mesh| FieldCache::in_folder(&folder).sampled(mesh, cell, GridSign::Closed).unwrap();
        assert_eq!(sampled(mesh.clone()).to_bytes(), grid.to_bytes());
        std::fs::write(&file, b"damaged").unwrap();
        assert_eq!(sampled(mesh).to_bytes(), grid.to_bytes());
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_folder_that_cannot_be_written_does_not_matter() {
        let folder = scratch("field-cache-blocked");
        std::fs::write(&folder, b"a file, no folder").unwrap();
        let (mesh, cell) = ring(0.002);
        assert!(FieldCache::in_folder(&folder).sampled(mesh, cell, GridSign::Closed).is_ok());
        std::fs::remove_file(&folder).unwrap();
    }

    #[test]
    fn the_same_mesh_is_sampled_once() {
        let (mesh, cell) = ring(0.01);
        let mut cache = FieldCache::default();
        let one = cache.sampled(mesh.clone(), cell, GridSign::Closed).unwrap();
        let other = cache.sampled(mesh, cell, GridSign::Closed).unwrap();
        assert!(Arc::ptr_eq(&one, &other));
    }
}
