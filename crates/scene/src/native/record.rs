//! `[record]`: recordings that a run of the scene writes.
//!
//! Formats and options of pictures are checked by the exporters. File names must be below the working
//! directory of the run, since a scene may come from an untrusted
//! source.

use std::path::{Component, Path};

use super::table::Table;
use crate::error::SceneError;
use crate::import::RecordOptions;

/// Reads `[record]`.
pub(super) fn read(table: Table) -> Result<RecordOptions, SceneError> {
    let expected = "names of files below the folder of the run, such as [\"run.html\"]";
    let files = table.texts("files")?.ok_or_else(|| table.wrong("files", expected))?;
    let is_below = |name: &&str| {
        let mut parts = Path::new(name).components();
        !name.is_empty()
            && parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
    };
    if !files.iter().all(is_below) {
        return Err(table.wrong("files", expected));
    }
    let mut sorted = files.clone();
    sorted.sort_unstable();
    if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(table.wrong("files", "each name once"));
    }
    let fps = table.number_if("fps", "a number above zero, or inf for every step", |x| x > 0.0)?;
    let wishes = RecordOptions {
        files: files.into_iter().map(str::to_owned).collect(),
        fps,
        picture: table.text("picture")?.map(str::to_owned),
        place: table.place(),
    };
    table.finish()?;
    Ok(wishes)
}
