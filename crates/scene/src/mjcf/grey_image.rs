//! Grey images from PNG files, for height fields: the first channel of each pixel in eight bits.

use std::io::Cursor;

use png::{Decoder, DecodingError, Limits, Transformations};

/// First bytes of every PNG file.
pub(super) const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";

/// Largest memory of the decoder for each pixel [bytes]: four channels of 16 bits, twice.
const BYTES_PER_PIXEL: usize = 16;
/// Memory of the decoder besides pixels [bytes].
const OVERHEAD: usize = 1 << 20;

/// Error in a PNG file.
#[derive(Debug, thiserror::Error)]
pub(super) enum GreyImageError {
    #[error("found a picture that cannot be decoded: {0}; expected a whole PNG")]
    Damaged(#[from] DecodingError),
    #[error("found {0} pixels; expected at most {1}")]
    Large(usize, usize),
}

/// The first channel of a picture, upper rows first.
pub(super) struct GreyImage {
    pub width: usize,
    pub height: usize,
    pub grey: Vec<u8>,
}

/// Decodes a picture of at most `largest` pixels.
pub(super) fn read(bytes: &[u8], largest: usize) -> Result<GreyImage, GreyImageError> {
    let limits = Limits { bytes: largest * BYTES_PER_PIXEL + OVERHEAD };
    let mut decoder = Decoder::new_with_limits(Cursor::new(bytes), limits);
    // Colours of a palette and grey values of less than eight bits become whole bytes; of 16 bits the
    // upper eight are kept.
    decoder.set_transformations(Transformations::EXPAND | Transformations::STRIP_16);
    let (width, height) = decoder.read_header_info()?.size();
    let (width, height) = (width as usize, height as usize);
    let pixels = width.saturating_mul(height);
    if pixels > largest {
        return Err(GreyImageError::Large(pixels, largest));
    }
    let mut reader = decoder.read_info()?;
    let size = reader.output_buffer_size().ok_or(DecodingError::LimitsExceeded)?;
    let mut samples = vec![0; size];
    reader.next_frame(&mut samples)?;
    let channels = reader.output_color_type().0.samples();
    let grey = samples.into_iter().step_by(channels).collect();
    Ok(GreyImage { width, height, grey })
}

#[cfg(test)]
mod tests {
    use super::*;
    use png::{BitDepth, ColorType, Encoder};

    fn picture((width, height): (u32, u32), of: (ColorType, BitDepth), samples: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(&mut bytes, width, height);
        encoder.set_color(of.0);
        encoder.set_depth(of.1);
        if of.0 == ColorType::Indexed {
            encoder.set_palette(vec![7, 0, 0, 9, 1, 1]);
        }
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(samples).unwrap();
        writer.finish().unwrap();
        bytes
    }

    #[test]
    fn the_first_channel_is_kept_in_eight_bits() {
        for (size, of, samples, expected) in [
            ((2, 2), (ColorType::Grayscale, BitDepth::Eight), &[1, 2, 3, 4][..], &[1, 2, 3, 4][..]),
            ((2, 1), (ColorType::Rgb, BitDepth::Eight), &[7, 1, 2, 9, 3, 4], &[7, 9]),
            ((2, 1), (ColorType::Grayscale, BitDepth::Sixteen), &[7, 200, 9, 100], &[7, 9]),
            ((4, 1), (ColorType::Grayscale, BitDepth::Two), &[0b00_01_10_11], &[0, 85, 170, 255]),
            ((2, 1), (ColorType::Indexed, BitDepth::One), &[0b0100_0000], &[7, 9]),
        ] {
            let found = read(&picture(size, of, samples), 100).unwrap();
            assert_eq!(found.grey, expected, "{of:?}");
            assert_eq!((found.width, found.height), (size.0 as usize, size.1 as usize));
        }
    }

    #[test]
    fn truncated_damaged_and_oversized_pictures_are_refused() {
        let whole =
            picture((3, 2), (ColorType::Grayscale, BitDepth::Eight), &[1, 2, 3, 4, 5, 6]);
        // The last chunk, of twelve bytes, holds no data.
        for length in 0..whole.len() - 12 {
            assert!(read(&whole[..length], 100).is_err(), "{length}");
        }
        let mut damaged = whole.clone();
        let last = damaged.len() - 20;
        damaged[last] ^= 1;
        assert!(read(&damaged, 100).is_err());
        assert!(matches!(read(&whole, 5), Err(GreyImageError::Large(6, 5))));
    }
}
