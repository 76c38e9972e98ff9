//! Models from texts, for tests.

use std::path::Path;

use crate::error::SceneError;
use crate::files::Files;
use crate::import::{Imported, Options, load_with};

/// Reads the first of several files, all given as texts.
pub(super) fn load(texts: &[(&str, &str)]) -> Result<Imported, SceneError> {
    let mut files = Files::in_memory();
    for (path, text) in texts {
        files.insert(path, text.as_bytes());
    }
    load_with(files, Path::new(texts[0].0), &Options::default())
}

/// Reads the text between `<mujoco>` and `</mujoco>`.
pub(super) fn model(inner: &str) -> Imported {
    match load(&[("main.xml", &format!("<mujoco>{inner}</mujoco>"))]) {
        Ok(imported) => imported,
        Err(error) => panic!("{error}\n{inner}"),
    }
}

/// Reads the content of `<worldbody>`.
pub(super) fn world(inner: &str) -> Imported {
    model(&format!("<worldbody>{inner}</worldbody>"))
}

/// The message of a text between `<mujoco>` and `</mujoco>` that cannot be read.
pub(super) fn error(inner: &str) -> String {
    match load(&[("main.xml", &format!("<mujoco>{inner}</mujoco>"))]) {
        Ok(_) => panic!("expected an error for {inner}"),
        Err(error) => error.to_string(),
    }
}
