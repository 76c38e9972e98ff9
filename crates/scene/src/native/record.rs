//! Recordings: `[record]` says what a run of the scene is to leave behind.
//!
//! Which kinds of files there are, and how pictures can look, is known to whoever writes them. Names lead
//! to nowhere but the folder of whoever runs the scene and those below it: a scene may come from
//! anyone.

use std::path::{Component, Path};

use super::table::Table;
use crate::error::SceneError;
use crate::import::Wishes;

/// Reads `[record]`.
pub(super) fn read(table: Table) -> Result<Wishes, SceneError> {
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
    let wishes = Wishes {
        files: files.into_iter().map(str::to_owned).collect(),
        fps,
        picture: table.text("picture")?.map(str::to_owned),
        place: table.place(),
    };
    table.finish()?;
    Ok(wishes)
}
