//! Reader of MJCF, the model format of MuJoCo.

mod build;
mod compiler;
mod defaults;
mod flag;
mod softness;

use std::path::Path;

use crate::error::SceneError;
use crate::files::Files;
use crate::import::{Imported, Options};

/// Reads a file.
pub fn read(_files: &mut Files, path: &Path, _options: &Options) -> Result<Imported, SceneError> {
    Err(SceneError::File { path: path.display().to_string(), what: "cannot be read yet".into() })
}
