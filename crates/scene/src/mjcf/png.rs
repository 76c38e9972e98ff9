//! PNG pictures [RFC 2083] of height fields: the first channel of each pixel in eight bits, without
//! interlacing. Checksums are not checked.

use std::io::{ErrorKind, Read};

use flate2::read::DeflateDecoder;

/// First bytes of every picture.
pub(super) const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";

/// Error in a picture.
#[derive(Debug, thiserror::Error)]
pub(super) enum PngError {
    #[error("found a picture that ends early; expected a whole PNG")]
    Truncated,
    #[error("found a damaged picture: {0}; expected a PNG")]
    Damaged(&'static str),
    #[error("found a PNG with {0}; expected one without")]
    Unsupported(&'static str),
    #[error("found {0} pixels; expected at most {1}")]
    Large(usize, usize),
}

/// The first channel of a picture, upper rows first.
pub(super) struct GreyImage {
    pub width: usize,
    pub height: usize,
    pub grey: Vec<u8>,
}

struct Header {
    width: usize,
    height: usize,
    depth: usize,
    channels: usize,
    palette: bool,
}

/// Reads a picture of at most `largest` pixels.
pub(super) fn grey(bytes: &[u8], largest: usize) -> Result<GreyImage, PngError> {
    let mut rest = bytes.get(SIGNATURE.len()..).ok_or(PngError::Truncated)?;
    let (mut header, mut palette, mut stream) = (None, Vec::new(), Vec::new());
    loop {
        let length = rest.get(..4).ok_or(PngError::Truncated)?;
        let length = u32::from_be_bytes([length[0], length[1], length[2], length[3]]) as usize;
        let kind = rest.get(4..8).ok_or(PngError::Truncated)?;
        let body = rest.get(8..).and_then(|r| r.get(..length)).ok_or(PngError::Truncated)?;
        match kind {
            b"IHDR" => header = Some(read_header(body, largest)?),
            b"PLTE" => palette = body.chunks_exact(3).map(|rgb| rgb[0]).collect(),
            b"IDAT" => stream.extend_from_slice(body),
            b"IEND" => break,
            _ => {}
        }
        // Length, name, body and checksum.
        rest = rest.get(12 + length..).ok_or(PngError::Truncated)?;
    }
    let header = header.ok_or(PngError::Damaged("no header"))?;
    let bits = header.width * header.channels * header.depth;
    let row = bits.div_ceil(8);
    let packed = stream.get(2..).ok_or(PngError::Truncated)?;
    let raw = inflate(packed, (row + 1) * header.height)?;
    if raw.len() < (row + 1) * header.height {
        return Err(PngError::Truncated);
    }
    let rows = unfilter(&raw, row, header.height, (header.channels * header.depth).div_ceil(8))?;
    let mut grey = Vec::with_capacity(header.width * header.height);
    for line in rows.chunks_exact(row.max(1)) {
        for column in 0..header.width {
            grey.push(sample(line, column, &header, &palette)?);
        }
    }
    Ok(GreyImage { width: header.width, height: header.height, grey })
}

fn read_header(body: &[u8], largest: usize) -> Result<Header, PngError> {
    let &[a, b, c, d, e, f, g, h, depth, colour, _, _, interlaced] = body else {
        return Err(PngError::Damaged("a header of the wrong length"));
    };
    let (width, height) = (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]));
    let (width, height, depth) = (width as usize, height as usize, usize::from(depth));
    let pixels = width.saturating_mul(height);
    if pixels > largest {
        return Err(PngError::Large(pixels, largest));
    }
    let (channels, depths): (usize, &[usize]) = match colour {
        0 => (1, &[1, 2, 4, 8, 16]),
        2 => (3, &[8, 16]),
        3 => (1, &[1, 2, 4, 8]),
        4 => (2, &[8, 16]),
        6 => (4, &[8, 16]),
        _ => return Err(PngError::Damaged("an unknown kind of colour")),
    };
    if pixels == 0 || !depths.contains(&depth) {
        return Err(PngError::Damaged("an invalid header"));
    }
    if interlaced != 0 {
        return Err(PngError::Unsupported("interlacing"));
    }
    Ok(Header { width, height, depth, channels, palette: colour == 3 })
}

/// The first channel of one pixel in eight bits.
fn sample(line: &[u8], column: usize, header: &Header, palette: &[u8]) -> Result<u8, PngError> {
    let value = match header.depth {
        16 => line[2 * column * header.channels],
        8 => line[column * header.channels],
        depth => {
            let at = column * depth;
            let shift = 8 - depth - at % 8;
            (line[at / 8] >> shift) & ((1 << depth) - 1)
        }
    };
    if header.palette {
        return palette.get(usize::from(value)).copied().ok_or(PngError::Damaged("no such colour"));
    }
    // Values of less than eight bits are scaled to the range of eight.
    Ok(match header.depth {
        8 | 16 => value,
        depth => (u32::from(value) * 255 / ((1 << depth) - 1)) as u8,
    })
}

/// Undoes the prediction of each row [RFC 2083, Sec. 6].
fn unfilter(raw: &[u8], row: usize, height: usize, step: usize) -> Result<Vec<u8>, PngError> {
    let mut rows = vec![0_u8; row * height];
    for y in 0..height {
        let line = &raw[y * (row + 1)..(y + 1) * (row + 1)];
        let (done, rest) = rows.split_at_mut(y * row);
        let above = if y > 0 { &done[(y - 1) * row..] } else { &[][..] };
        for x in 0..row {
            let left = if x >= step { rest[x - step] } else { 0 };
            let up = above.get(x).copied().unwrap_or(0);
            let corner = if x >= step { above.get(x - step).copied().unwrap_or(0) } else { 0 };
            let predicted = match line[0] {
                0 => 0,
                1 => left,
                2 => up,
                3 => ((u16::from(left) + u16::from(up)) / 2) as u8,
                4 => paeth(left, up, corner),
                _ => return Err(PngError::Damaged("an unknown filter")),
            };
            rest[x] = line[x + 1].wrapping_add(predicted);
        }
    }
    Ok(rows)
}

fn paeth(left: u8, up: u8, corner: u8) -> u8 {
    let [a, b, c] = [left, up, corner].map(i16::from);
    let guess = a + b - c;
    let (to_left, to_up, to_corner) = ((guess - a).abs(), (guess - b).abs(), (guess - c).abs());
    if to_left <= to_up && to_left <= to_corner {
        left
    } else if to_up <= to_corner {
        up
    } else {
        corner
    }
}

/// Expands a deflate stream [RFC 1951] to at most `most` bytes.
fn inflate(bytes: &[u8], most: usize) -> Result<Vec<u8>, PngError> {
    let mut raw = Vec::new();
    match DeflateDecoder::new(bytes).take(most as u64).read_to_end(&mut raw) {
        Ok(_) => Ok(raw),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(PngError::Truncated),
        Err(_) => Err(PngError::Damaged("a damaged stream")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A picture whose stream is one stored block.
    fn picture(width: u32, height: u32, depth: u8, colour: u8, raw: &[u8]) -> Vec<u8> {
        let mut bytes = SIGNATURE.to_vec();
        let mut chunk = |kind: &[u8], body: &[u8]| {
            bytes.extend((body.len() as u32).to_be_bytes());
            bytes.extend_from_slice(kind);
            bytes.extend_from_slice(body);
            bytes.extend([0; 4]);
        };
        let mut header = [width.to_be_bytes(), height.to_be_bytes()].concat();
        header.extend([depth, colour, 0, 0, 0]);
        chunk(b"IHDR", &header);
        let length = raw.len() as u16;
        let mut stream = vec![0x78, 0x01, 0x01];
        stream.extend(length.to_le_bytes());
        stream.extend((!length).to_le_bytes());
        stream.extend_from_slice(raw);
        chunk(b"IDAT", &stream);
        chunk(b"IEND", &[]);
        bytes
    }

    #[test]
    fn every_filter_gives_the_pixels_back() {
        // Rows 10 20 30 and 15 25 40, the second predicted in five ways.
        for (filter, row) in [
            (0, [15, 25, 40]),
            (1, [15, 10, 15]),
            (2, [5, 5, 10]),
            (3, [10, 8, 13]),
            // Nearest to left + up − corner: 10, then 25 → 20 (up), then 35 → 30 (up).
            (4, [5, 5, 10]),
        ] {
            let raw = [&[0, 10, 20, 30][..], &[filter], &row].concat();
            let found = grey(&picture(3, 2, 8, 0, &raw), 100).unwrap();
            assert_eq!(found.grey, [10, 20, 30, 15, 25, 40], "filter {filter}");
        }
    }

    #[test]
    fn channels_and_depths_other_than_eight_bits_of_grey_keep_the_first_channel() {
        let colours = picture(2, 1, 8, 2, &[0, 7, 1, 2, 9, 3, 4]);
        assert_eq!(grey(&colours, 100).unwrap().grey, [7, 9]);
        let wide = picture(2, 1, 16, 0, &[0, 7, 200, 9, 100]);
        assert_eq!(grey(&wide, 100).unwrap().grey, [7, 9]);
        let narrow = picture(4, 1, 2, 0, &[0, 0b00_01_10_11]);
        assert_eq!(grey(&narrow, 100).unwrap().grey, [0, 85, 170, 255]);
    }

    #[test]
    fn a_fixed_code_expands_with_repetitions() {
        // Fixed codes: literal 'a' (0x61 → 8 bits 10010001), a repetition of length 3 at distance 1
        // (length symbol 257 → 0000001, distance symbol 0 → 00000), end (0000000). Codes stand
        // highest bit first in a stream of lowest bits first.
        let bits = "1 10 10010001 0000001 00000 0000000".replace(' ', "");
        let mut bytes = vec![0_u8; bits.len().div_ceil(8)];
        for (k, bit) in bits.bytes().enumerate() {
            bytes[k / 8] |= (bit - b'0') << (k % 8);
        }
        assert_eq!(inflate(&bytes, 100).unwrap(), b"aaaa");
    }

    #[test]
    fn truncated_and_oversized_pictures_are_refused() {
        let whole = picture(3, 2, 8, 0, &[0, 1, 2, 3, 0, 4, 5, 6]);
        // The last checksum is not verified.
        for length in 0..whole.len() - 4 {
            assert!(grey(&whole[..length], 100).is_err(), "{length}");
        }
        assert!(matches!(grey(&whole, 5), Err(PngError::Large(6, 5))));
    }
}
