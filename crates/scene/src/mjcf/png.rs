//! Pictures in the format PNG [RFC 2083], as far as heights need them: the first channel of each
//! pixel in eight bits, without interlacing. Streams are expanded after [RFC 1951]; checksums are
//! not checked.

/// First bytes of every picture.
pub(super) const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";

/// What is wrong with a picture.
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
pub(super) struct Grey {
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
pub(super) fn grey(bytes: &[u8], largest: usize) -> Result<Grey, PngError> {
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
    Ok(Grey { width: header.width, height: header.height, grey })
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
        return Err(PngError::Damaged("a header that cannot be"));
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
    // Few bits are spread over the range of eight.
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

/// Bits of a stream, lowest first.
struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    fn take(&mut self, count: usize) -> Result<usize, PngError> {
        let mut value = 0;
        for k in 0..count {
            let byte = self.bytes.get(self.at / 8).ok_or(PngError::Truncated)?;
            value |= usize::from(byte >> (self.at % 8) & 1) << k;
            self.at += 1;
        }
        Ok(value)
    }
}

/// A code of Huffman's, by the number of codes of each length and the symbols in their order.
struct Code {
    counts: [u16; 16],
    symbols: Vec<u16>,
}

impl Code {
    fn new(lengths: &[u8]) -> Self {
        let mut counts = [0; 16];
        lengths.iter().for_each(|length| counts[usize::from(*length)] += 1);
        counts[0] = 0;
        let mut symbols = Vec::new();
        for length in 1..16 {
            let of_length = (0..lengths.len()).filter(|k| lengths[*k] == length);
            symbols.extend(of_length.map(|k| k as u16));
        }
        Self { counts, symbols }
    }

    fn read(&self, bits: &mut Bits) -> Result<usize, PngError> {
        let (mut code, mut first, mut index) = (0_i32, 0_i32, 0_i32);
        for length in 1..16 {
            code |= bits.take(1)? as i32;
            let count = i32::from(self.counts[length]);
            if code - first < count {
                let symbol = self.symbols.get((index + code - first) as usize);
                return symbol.map(|s| usize::from(*s)).ok_or(PngError::Damaged("a bad code"));
            }
            index += count;
            first = (first + count) << 1;
            code <<= 1;
        }
        Err(PngError::Damaged("a bad code"))
    }
}

const LENGTH_BASE: [u16; 29] = [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131,
    163, 195, 227, 258,
];
const LENGTH_BITS: [u8; 29] =
    [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const DISTANCE_BASE: [u16; 30] = [
    1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537,
    2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577,
];
const DISTANCE_BITS: [u8; 30] = [
    0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13,
    13,
];

/// Expands a stream to at most `most` bytes [RFC 1951].
fn inflate(bytes: &[u8], most: usize) -> Result<Vec<u8>, PngError> {
    let mut bits = Bits { bytes, at: 0 };
    let mut out = Vec::with_capacity(most.min(1 << 20));
    loop {
        let last = bits.take(1)? == 1;
        match bits.take(2)? {
            0 => stored(&mut bits, &mut out)?,
            1 => {
                let mut lengths = [8_u8; 288];
                lengths[144..256].fill(9);
                lengths[256..280].fill(7);
                block(&mut bits, &Code::new(&lengths), &Code::new(&[5; 30]), &mut out, most)?;
            }
            2 => {
                let (symbols, distances) = codes(&mut bits)?;
                block(&mut bits, &symbols, &distances, &mut out, most)?;
            }
            _ => return Err(PngError::Damaged("an unknown block")),
        }
        if last || out.len() >= most {
            return Ok(out);
        }
    }
}

fn stored(bits: &mut Bits, out: &mut Vec<u8>) -> Result<(), PngError> {
    let at = bits.at.div_ceil(8);
    let head = bits.bytes.get(at..at + 4).ok_or(PngError::Truncated)?;
    let length = usize::from(u16::from_le_bytes([head[0], head[1]]));
    let body = bits.bytes.get(at + 4..at + 4 + length).ok_or(PngError::Truncated)?;
    out.extend_from_slice(body);
    bits.at = 8 * (at + 4 + length);
    Ok(())
}

/// The two codes of a block that brings its own.
fn codes(bits: &mut Bits) -> Result<(Code, Code), PngError> {
    const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
    let (symbols, distances, used) = (bits.take(5)? + 257, bits.take(5)? + 1, bits.take(4)? + 4);
    let mut lengths = [0_u8; 19];
    for &place in ORDER.iter().take(used) {
        lengths[place] = bits.take(3)? as u8;
    }
    let code = Code::new(&lengths);
    let mut lengths: Vec<u8> = Vec::with_capacity(symbols + distances);
    while lengths.len() < symbols + distances {
        let (value, times) = match code.read(bits)? {
            16 => {
                let before = *lengths.last().ok_or(PngError::Damaged("nothing to repeat"))?;
                (before, 3 + bits.take(2)?)
            }
            17 => (0, 3 + bits.take(3)?),
            18 => (0, 11 + bits.take(7)?),
            length => (length as u8, 1),
        };
        lengths.extend(std::iter::repeat_n(value, times));
    }
    if lengths.len() > symbols + distances {
        return Err(PngError::Damaged("too many codes"));
    }
    Ok((Code::new(&lengths[..symbols]), Code::new(&lengths[symbols..])))
}

fn block(
    bits: &mut Bits,
    symbols: &Code,
    distances: &Code,
    out: &mut Vec<u8>,
    most: usize,
) -> Result<(), PngError> {
    while out.len() < most {
        let symbol = symbols.read(bits)?;
        if symbol == 256 {
            return Ok(());
        }
        if symbol < 256 {
            out.push(symbol as u8);
            continue;
        }
        let k = symbol - 257;
        let base = *LENGTH_BASE.get(k).ok_or(PngError::Damaged("a bad length"))?;
        let length = usize::from(base) + bits.take(usize::from(LENGTH_BITS[k]))?;
        let k = distances.read(bits)?;
        let base = *DISTANCE_BASE.get(k).ok_or(PngError::Damaged("a bad distance"))?;
        let distance = usize::from(base) + bits.take(usize::from(DISTANCE_BITS[k]))?;
        let from = out.len().checked_sub(distance).ok_or(PngError::Damaged("a bad distance"))?;
        for at in from..from + length {
            out.push(out[at]);
        }
    }
    Ok(())
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
        // The last checksum is not looked at.
        for length in 0..whole.len() - 4 {
            assert!(grey(&whole[..length], 100).is_err(), "{length}");
        }
        assert!(matches!(grey(&whole, 5), Err(PngError::Large(6, 5))));
    }
}
