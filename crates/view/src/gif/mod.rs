//! A recording as an animated GIF that loops in real time.
//!
//! All frames share one palette, see [`palette`], computed from some of them. After the first frame
//! only the rectangle that changes is written, and within it only the pixels that do (GIF89a).
//! Cost: drawing, see [`crate::raster`]; memory does not grow with the length of the run, apart from
//! that of the file itself.

pub mod lzw;
pub mod palette;

use std::path::Path;

use stiction_sim::record::Recording;

use crate::raster::{Picture, PictureRenderer, RenderSettings, film};
use crate::{PictureOptions, ViewError, exporter};
use palette::{COLOURS, Palette};

/// Size of the pictures [px].
const WIDTH: usize = 640;
const HEIGHT: usize = 400;
/// Time between frames [1/100 s]; viewers slow down what is faster than two.
const DELAY: u16 = 6;
/// Number of frames from which the palette is computed.
const SAMPLES: usize = 8;
/// Index of the transparent colour, beyond those of the palette.
const UNCHANGED: u8 = COLOURS as u8;
/// Bits of an index.
const BITS: u8 = 8;

/// Writes a recording to a file.
pub fn write(
    recording: &Recording,
    path: &Path,
    options: &PictureOptions,
) -> Result<(), ViewError> {
    write_with(recording, path, &options.apply_to(RenderSettings::moving(WIDTH, HEIGHT)))
}

/// Writes a recording with given settings of the renderer.
pub fn write_with(
    recording: &Recording,
    path: &Path,
    settings: &RenderSettings,
) -> Result<(), ViewError> {
    recording.check()?;
    let times = film(recording, 100.0 / f64::from(DELAY))?;
    let last = times.len() - 1;
    let renderer = PictureRenderer::new(recording, settings, times[0], times[last]);
    // Colours do not depend on the size.
    let small = RenderSettings {
        width: settings.width.div_ceil(2),
        height: settings.height.div_ceil(2),
        ..*settings
    };
    let sketch_renderer = PictureRenderer::new(recording, &small, times[0], times[last]);
    let some = (0..SAMPLES.min(times.len())).map(|k| times[last * k / (SAMPLES - 1)]);
    let sketches: Vec<Picture> = some.map(|time| sketch_renderer.render(time)).collect();
    let [width, height] = renderer.size();
    let mut animation = Animation::new(Palette::of(&sketches), width, height)
        .map_err(|source| exporter::unwritten(path, source))?;
    for picture in renderer.film(&times) {
        animation.add(&picture);
    }
    exporter::put(path, &animation.finish())
}

/// An animation while it is being made.
pub struct Animation {
    palette: Palette,
    width: u16,
    /// The last frame.
    last: Vec<u8>,
    bytes: Vec<u8>,
    /// Offset of the delay of the last frame in the file.
    delay_at: usize,
}

impl Animation {
    /// An animation of pictures of a size [px].
    pub fn new(palette: Palette, width: usize, height: usize) -> std::io::Result<Self> {
        let [width, height] = [width, height].map(u16::try_from);
        let (width, height) =
            (width.map_err(std::io::Error::other)?, height.map_err(std::io::Error::other)?);
        let mut bytes = b"GIF89a".to_vec();
        bytes.extend(width.to_le_bytes());
        bytes.extend(height.to_le_bytes());
        // A palette for all frames, of eight bits per colour, with 2^BITS entries.
        bytes.extend([0xf0 | (BITS - 1), 0, 0]);
        bytes.extend(palette.colours().as_flattened());
        bytes.resize(bytes.len() + 3 * ((1 << BITS) - palette.colours().len()), 0);
        // Loop for ever.
        bytes.extend(b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00");
        Ok(Self { palette, width, last: Vec::new(), bytes, delay_at: 0 })
    }

    /// Adds a frame; one equal to the last extends its delay.
    pub fn add(&mut self, picture: &Picture) {
        let indices = self.palette.indices(picture);
        let width = usize::from(self.width);
        let first = self.last.is_empty();
        let changed = |k: &usize| first || indices[*k] != self.last[*k];
        let places: Vec<usize> = (0..indices.len()).filter(changed).collect();
        let (Some(top), Some(bottom)) = (places.first(), places.last()) else {
            return self.stay();
        };
        let (top, bottom) = (top / width, bottom / width);
        let left = places.iter().map(|k| k % width).min().unwrap_or(0);
        let right = places.iter().map(|k| k % width).max().unwrap_or(0);
        let mut pixels = Vec::with_capacity((bottom - top + 1) * (right - left + 1));
        for row in top..=bottom {
            pixels.extend(
                (row * width + left..=row * width + right)
                    .map(|k| if changed(&k) { indices[k] } else { UNCHANGED }),
            );
        }
        // Frames are not disposed; the transparent colour keeps pixels of the last one.
        self.bytes.extend([0x21, 0xf9, 4, 0b101]);
        self.delay_at = self.bytes.len();
        self.bytes.extend(DELAY.to_le_bytes());
        self.bytes.extend([UNCHANGED, 0, 0x2c]);
        for place in [left, top, right - left + 1, bottom - top + 1] {
            self.bytes.extend((place as u16).to_le_bytes());
        }
        self.bytes.extend([0, BITS]);
        for block in lzw::encode(&pixels, BITS).chunks(255) {
            self.bytes.push(block.len() as u8);
            self.bytes.extend(block);
        }
        self.bytes.push(0);
        self.last = indices;
    }

    fn stay(&mut self) {
        let at = self.delay_at;
        let delay = u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]]).saturating_add(DELAY);
        self.bytes[at..at + 2].copy_from_slice(&delay.to_le_bytes());
    }

    /// The bytes of the file.
    pub fn finish(mut self) -> Vec<u8> {
        self.bytes.push(0x3b);
        self.bytes
    }
}
