//! A recording as an MP4 video, encoded by the program `ffmpeg`.
//!
//! Pictures are piped to the program one by one, see [`crate::raster`]. It writes a temporary file that
//! then replaces the target. [`ready`] checks before a run that the program is available.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use stiction_sim::record::Recording;

use crate::raster::{PictureRenderer, RenderSettings, film};
use crate::{PictureOptions, ViewError, exporter, output_file};

/// Size of the pictures [px], even as the format requires.
const WIDTH: usize = 1280;
const HEIGHT: usize = 800;
/// Frames per second.
const RATE: u32 = 30;
/// Encoders, the best first; builds of the program differ in which they have.
const ENCODERS: [&str; 3] = ["libx264", "libopenh264", "mpeg4"];

/// Writes a recording to a file.
pub fn write(
    recording: &Recording,
    path: &Path,
    options: &PictureOptions,
) -> Result<(), ViewError> {
    write_with(
        recording,
        path,
        &options.apply_to(RenderSettings::moving(WIDTH, HEIGHT)),
        OsStr::new("ffmpeg"),
    )
}

/// Checks that the program is available and has a usable encoder.
pub fn ready() -> Result<(), ViewError> {
    encoder(OsStr::new("ffmpeg")).map(|_| ())
}

/// Writes a recording with given settings of the renderer and a given program.
pub fn write_with(
    recording: &Recording,
    path: &Path,
    settings: &RenderSettings,
    program: &OsStr,
) -> Result<(), ViewError> {
    recording.check()?;
    let encoder = encoder(program)?;
    let times = film(recording, f64::from(RATE))?;
    // The format subsamples colour by two: sizes must be even.
    let settings = RenderSettings {
        width: settings.width.next_multiple_of(2),
        height: settings.height.next_multiple_of(2),
        ..*settings
    };
    let renderer = PictureRenderer::new(recording, &settings, times[0], times[times.len() - 1]);
    let [width, height] = renderer.size();
    let mut failure = None;
    let done = output_file::write_atomically_with(path, |part| {
        let mut fail = |reason: String| {
            failure = Some(failed(program, reason));
            io::Error::other("the program failed")
        };
        let mut child = Command::new(program)
            .args(["-y", "-loglevel", "error", "-f", "rawvideo", "-pixel_format", "rgb24"])
            .args(["-video_size", &format!("{width}x{height}")])
            .args(["-framerate", &RATE.to_string(), "-i", "-", "-an", "-c:v", encoder])
            .args(quality(encoder))
            .args(["-pix_fmt", "yuv420p", "-movflags", "+faststart", "-f", "mp4"])
            .arg(part)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| fail(error.to_string()))?;
        let mut fed = Ok(());
        if let Some(mut input) = child.stdin.take() {
            fed = renderer.film(&times).try_for_each(|picture| input.write_all(&picture.rgb));
        }
        let output = child.wait_with_output().map_err(|error| fail(error.to_string()))?;
        // The program's own message is more useful than the broken pipe.
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(fail(format!("{}: {}", output.status, said.trim())));
        }
        fed.map_err(|error| fail(error.to_string()))
    });
    done.map_err(|source| failure.unwrap_or_else(|| exporter::unwritten(path, source)))
}

fn failed(program: &OsStr, reason: String) -> ViewError {
    ViewError::Program { program: program.to_string_lossy().into(), reason }
}

/// The best encoder that the program has.
fn encoder(program: &OsStr) -> Result<&'static str, ViewError> {
    let failed = |reason: String| failed(program, reason);
    let output = Command::new(program)
        .args(["-hide_banner", "-encoders"])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| {
            failed(format!("{error}; it must be in PATH to write .mp4 (.gif needs no program)"))
        })?;
    let said = String::from_utf8_lossy(&output.stdout);
    let has = |name: &&&str| said.split_whitespace().any(|word| word == **name);
    ENCODERS
        .iter()
        .find(has)
        .copied()
        .ok_or_else(|| failed(format!("it has none of the encoders {}", ENCODERS.join(", "))))
}

fn quality(encoder: &str) -> [&'static str; 2] {
    match encoder {
        "libx264" => ["-crf", "18"],
        "libopenh264" => ["-b:v", "6M"],
        _ => ["-q:v", "3"],
    }
}
