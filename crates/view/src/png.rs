//! A picture of the last frame, or of any time, as PNG [ISO/IEC 15948].
//!
//! The encoder is small: eight bits of red, green and blue, each row as differences to the pixel
//! before or above, whichever is smaller, deflated. Cost: drawing, see [`crate::raster`].

use std::io::Write;
use std::path::Path;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};
use stiction_sim::record::Recording;

use crate::raster::{Picture, PictureRenderer, RenderSettings};
use crate::{PictureOptions, ViewError, exporter};

/// Writes a picture of the last frame, or of the time in the options, to a file.
pub fn write(
    recording: &Recording,
    path: &Path,
    options: &PictureOptions,
) -> Result<(), ViewError> {
    let time = options.time.unwrap_or(f64::INFINITY);
    write_with(recording, path, &options.apply_to(RenderSettings::still()), time)
}

/// A picture of the last frame, or of the time in the options.
pub fn picture(recording: &Recording, options: &PictureOptions) -> Result<Picture, ViewError> {
    recording.check()?;
    let time = options.time.unwrap_or(f64::INFINITY);
    Ok(PictureRenderer::new(recording, &options.apply_to(RenderSettings::still()), time, time)
        .render(time))
}

/// Writes a picture of a time [s] with given settings of the renderer, centred on the scene at that time.
pub fn write_with(
    recording: &Recording,
    path: &Path,
    settings: &RenderSettings,
    time: f64,
) -> Result<(), ViewError> {
    recording.check()?;
    let picture = PictureRenderer::new(recording, settings, time, time).render(time);
    let bytes = encode(&picture).map_err(|source| exporter::unwritten(path, source))?;
    exporter::put(path, &bytes)
}

/// The bytes of a PNG file.
pub fn encode(picture: &Picture) -> std::io::Result<Vec<u8>> {
    let mut header = Vec::new();
    for length in [picture.width, picture.height] {
        header.extend(u32::try_from(length).map_err(std::io::Error::other)?.to_be_bytes());
    }
    // Eight bits, red green blue, deflate, filter per row, rows in order.
    header.extend([8, 2, 0, 0, 0]);
    let mut deflate = ZlibEncoder::new(Vec::new(), Compression::default());
    let zeros = vec![0; 3 * picture.width];
    let mut above = zeros.as_slice();
    for row in picture.rgb.chunks(3 * picture.width) {
        let filtered = [left(row), up(row, above), paeth(row, above)];
        let weight = |bytes: &[u8]| -> u64 {
            bytes[1..].iter().map(|&b| u64::from((b as i8).unsigned_abs())).sum()
        };
        let smallest = filtered.iter().min_by_key(|bytes| weight(bytes));
        deflate.write_all(smallest.map_or(&[], Vec::as_slice))?;
        above = row;
    }
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(&mut file, b"IHDR", &header)?;
    chunk(&mut file, b"sRGB", &[0])?;
    chunk(&mut file, b"IDAT", &deflate.finish()?)?;
    chunk(&mut file, b"IEND", &[])?;
    Ok(file)
}

fn chunk(file: &mut Vec<u8>, kind: &[u8; 4], bytes: &[u8]) -> std::io::Result<()> {
    file.extend(u32::try_from(bytes.len()).map_err(std::io::Error::other)?.to_be_bytes());
    let mut crc = Crc::new();
    crc.update(kind);
    crc.update(bytes);
    file.extend(kind);
    file.extend(bytes);
    file.extend(crc.sum().to_be_bytes());
    Ok(())
}

/// Each filter begins with its number; bytes before the first are zeros.
fn left(row: &[u8]) -> Vec<u8> {
    let before = [0; 3].iter().chain(row);
    std::iter::once(1).chain(row.iter().zip(before).map(|(a, b)| a.wrapping_sub(*b))).collect()
}

fn up(row: &[u8], above: &[u8]) -> Vec<u8> {
    std::iter::once(2).chain(row.iter().zip(above).map(|(a, b)| a.wrapping_sub(*b))).collect()
}

/// The nearest of left, above and above left to left + above − above left.
fn paeth(row: &[u8], above: &[u8]) -> Vec<u8> {
    let before = [0; 3].iter().chain(row);
    let corner = [0; 3].iter().chain(above);
    let predicted = before.zip(above).zip(corner).map(|((&a, &b), &c)| {
        let [x, y, z] = [a, b, c].map(i16::from);
        let (from_a, from_b, from_c) = ((y - z).abs(), (x - z).abs(), (x + y - 2 * z).abs());
        if from_a <= from_b && from_a <= from_c {
            a
        } else if from_b <= from_c {
            b
        } else {
            c
        }
    });
    std::iter::once(4).chain(row.iter().zip(predicted).map(|(a, p)| a.wrapping_sub(p))).collect()
}
