//! `stiction view`: opens a recording in the browser, or converts it to another format.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use stiction_sim::record::{Recording, container};
use stiction_view::{html, native};

use crate::args::ViewArgs;
use crate::error::CommandError;
use crate::run_outputs::RecordingFiles;
use crate::{files, terminal};

/// File name extensions of pages.
const PAGES: [&str; 2] = ["html", "htm"];

/// Runs the command; always true.
pub fn run(args: &ViewArgs) -> Result<bool, CommandError> {
    let path = &args.file;
    let bytes = files::read(path)?;
    if !args.out.is_empty() {
        let outputs = RecordingFiles::prepare(&args.out, args.picture.as_ref())?;
        let recording = recording(path, &bytes)?;
        for written in outputs.write(&recording) {
            terminal::print(&format!("{}\n", written?.path().display()))?;
        }
        return Ok(true);
    }
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let is_page = PAGES.contains(&ending.to_lowercase().as_str());
    let page = match container::recognises(&bytes) || !is_page {
        true => temporary(path, &recording(path, &bytes)?)?,
        false => std::path::absolute(path).unwrap_or_else(|_| path.clone()),
    };
    terminal::print(&format!("{}\n", page.display()))?;
    if !args.no_open {
        open(&page)?;
    }
    Ok(true)
}

/// Reads a recording; warns if it is incomplete.
fn recording(path: &Path, bytes: &[u8]) -> Result<Recording, CommandError> {
    if !container::recognises(bytes) {
        return Err(CommandError::UnexpectedFile {
            path: path.to_owned(),
            found: "a file that is no Stiction recording".to_owned(),
            expected: "a file written by `run --record`: .html, .stiction or .part".to_owned(),
        });
    }
    let (found, note) = native::open(bytes)
        .map_err(|source| CommandError::Recording { path: path.to_owned(), source })?;
    if let Some(note) = note {
        terminal::warn(&format!("{}: {note}", path.display()));
    }
    Ok(found)
}

/// Writes the recording as a page in a new temporary folder.
fn temporary(path: &Path, recording: &Recording) -> Result<PathBuf, CommandError> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let folder = std::env::temp_dir().join(format!("stiction-{}-{now}", std::process::id()));
    std::fs::create_dir(&folder)
        .map_err(|source| CommandError::Write { path: folder.clone(), source })?;
    let name = path.file_stem().unwrap_or_default();
    let page = files::with_suffix(&folder.join(name), ".html");
    html::write(recording, &page)?;
    Ok(page)
}

/// Opens a page with the system's default program.
fn open(page: &Path) -> Result<(), CommandError> {
    let words: &[&str] = match std::env::consts::OS {
        "macos" => &["open"],
        // No command interpreter, to which characters of a name could be commands.
        "windows" => &["rundll32.exe", "url.dll,FileProtocolHandler"],
        _ => &["xdg-open"],
    };
    let failed = |reason: String| CommandError::Open {
        path: page.to_owned(),
        opener: words[0].to_owned(),
        reason,
    };
    let mut opener = Command::new(words[0]);
    opener.args(&words[1..]).arg(page).stdin(Stdio::null()).stdout(Stdio::null());
    let status = opener.status().map_err(|error| failed(error.to_string()))?;
    if status.success() { Ok(()) } else { Err(failed(status.to_string())) }
}
