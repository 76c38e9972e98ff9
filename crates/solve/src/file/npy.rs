//! The NumPy array format: a header that names type, order and shape, then the bare elements.
//!
//! Reads versions 1.0 to 3.0, both byte orders, C and Fortran order, floats of 4 and 8 bytes,
//! integers of 1 to 8 bytes and booleans. Writes version 1.0, little-endian `f64` and `i64`, C
//! order. Other element types (text, complex, records) are distinguished from damage, so that a
//! reader can skip them. Memory is taken as bytes arrive, never as a header claims.

use std::io::{Read, Write};

use super::array::{Array, Values, element_count};

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// The header is padded so that the elements start at a multiple of this.
const ALIGNMENT: usize = 64;
/// A header longer than this describes no numeric array.
const LONGEST_HEADER: usize = 1 << 16;

/// Why the bytes are no array of numbers.
#[derive(Debug)]
pub(super) enum NpyFault {
    /// A well-formed array of a type that is not read.
    Type(String),
    /// Damage: what was found and what was expected.
    Damage { found: String, expected: String },
}

fn damage(found: impl Into<String>, expected: impl Into<String>) -> NpyFault {
    NpyFault::Damage { found: found.into(), expected: expected.into() }
}

/// How one element is stored.
#[derive(Clone, Copy)]
enum Element {
    Float,
    Signed,
    Unsigned,
    Bool,
}

struct Header {
    element: Element,
    size: usize,
    big_endian: bool,
    fortran_order: bool,
    shape: Vec<usize>,
}

/// Reads one array to the end of `source`.
pub(super) fn read(source: &mut impl Read) -> Result<Array, NpyFault> {
    let header = read_header(source)?;
    let bytes = element_count(&header.shape).and_then(|count| count.checked_mul(header.size));
    let Some(bytes) = bytes.filter(|&bytes| bytes < isize::MAX as usize) else {
        let found = format!("shape {:?}", header.shape);
        return Err(damage(found, "a shape that fits into memory"));
    };
    // One byte more than announced is read, so that surplus bytes are detected and checksums checked.
    let mut payload = Vec::new();
    source
        .take(bytes as u64 + 1)
        .read_to_end(&mut payload)
        .map_err(|error| damage(error.to_string(), "readable elements"))?;
    if payload.len() != bytes {
        let more = if payload.len() > bytes { "more than " } else { "" };
        let found = format!("{more}{} bytes of elements", payload.len().min(bytes));
        let shape = &header.shape;
        return Err(damage(found, format!("{bytes} bytes for the shape {shape:?}")));
    }
    let values = decode(&header, &payload)?;
    let values = if header.fortran_order { to_c_order(values, &header.shape) } else { values };
    Ok(Array { shape: header.shape, values })
}

/// Writes one array.
pub(super) fn write(sink: &mut impl Write, array: &Array) -> std::io::Result<()> {
    let descr = match array.values {
        Values::F64(_) => "<f8",
        Values::I64(_) => "<i8",
    };
    let extents: Vec<String> = array.shape.iter().map(usize::to_string).collect();
    let shape = match extents.as_slice() {
        [one] => format!("({one},)"),
        many => format!("({})", many.join(", ")),
    };
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let preamble = MAGIC.len() + 4;
    let unpadded = preamble + text.len() + 1;
    text.push_str(&" ".repeat(unpadded.next_multiple_of(ALIGNMENT) - unpadded));
    text.push('\n');
    let length = u16::try_from(text.len()).map_err(std::io::Error::other)?;
    sink.write_all(MAGIC)?;
    sink.write_all(&[1, 0])?;
    sink.write_all(&length.to_le_bytes())?;
    sink.write_all(text.as_bytes())?;
    let bytes: Vec<u8> = match &array.values {
        Values::F64(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        Values::I64(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
    };
    sink.write_all(&bytes)
}

fn read_header(source: &mut impl Read) -> Result<Header, NpyFault> {
    let truncated = |_| damage("a truncated header", "the header of a NumPy array");
    let mut start = [0u8; 8];
    source.read_exact(&mut start).map_err(truncated)?;
    if &start[..6] != MAGIC {
        return Err(damage("other bytes", "the signature of a NumPy array"));
    }
    let length = match start[6] {
        1 => {
            let mut length = [0u8; 2];
            source.read_exact(&mut length).map_err(truncated)?;
            usize::from(u16::from_le_bytes(length))
        }
        2 | 3 => {
            let mut length = [0u8; 4];
            source.read_exact(&mut length).map_err(truncated)?;
            u32::from_le_bytes(length) as usize
        }
        version => {
            let found = format!("array format version {version}.{}", start[7]);
            return Err(damage(found, "version 1, 2 or 3"));
        }
    };
    if length > LONGEST_HEADER {
        let found = format!("a header of {length} bytes");
        return Err(damage(found, format!("at most {LONGEST_HEADER}")));
    }
    let mut text = vec![0u8; length];
    source.read_exact(&mut text).map_err(truncated)?;
    let text = String::from_utf8_lossy(&text);
    parse_header(&text)
}

fn parse_header(text: &str) -> Result<Header, NpyFault> {
    let (mut descr, mut fortran_order, mut shape) = (None, None, None);
    let mut scan = Scan { text, rest: text.trim() };
    scan.expect("{")?;
    while !scan.eat("}") {
        let key = scan.string()?;
        scan.expect(":")?;
        match key {
            "descr" if scan.rest.starts_with(['\'', '"']) => descr = Some(scan.string()?),
            "descr" => return Err(NpyFault::Type("records".into())),
            "fortran_order" => fortran_order = Some(scan.boolean()?),
            "shape" => shape = Some(scan.tuple()?),
            _ => return Err(scan.fault()),
        }
        if !scan.eat(",") {
            scan.expect("}")?;
            break;
        }
    }
    let (Some(descr), Some(fortran_order), Some(shape)) = (descr, fortran_order, shape) else {
        return Err(scan.fault());
    };
    let (element, size, big_endian) = parse_descr(descr)?;
    Ok(Header { element, size, big_endian, fortran_order, shape })
}

/// Splits a type such as `<f8` into kind, size and whether it is big-endian.
fn parse_descr(descr: &str) -> Result<(Element, usize, bool), NpyFault> {
    let other = || NpyFault::Type(descr.to_string());
    let (order, kind) = match descr.strip_prefix(['<', '>', '|', '=']) {
        Some(kind) => (&descr[..1], kind),
        None => ("<", descr),
    };
    let (element, size) = match kind {
        "f4" | "f8" => (Element::Float, &kind[1..]),
        "i1" | "i2" | "i4" | "i8" => (Element::Signed, &kind[1..]),
        "u1" | "u2" | "u4" | "u8" => (Element::Unsigned, &kind[1..]),
        "b1" | "?" => (Element::Bool, "1"),
        _ => return Err(other()),
    };
    let size = size.parse().map_err(|_| other())?;
    Ok((element, size, order == ">"))
}

/// A cursor over the header's text, a Python dictionary of literals.
struct Scan<'a> {
    text: &'a str,
    rest: &'a str,
}

impl<'a> Scan<'a> {
    fn fault(&self) -> NpyFault {
        let shown: String = self.text.trim().chars().take(80).collect();
        damage(format!("header {shown:?}"), "{'descr': …, 'fortran_order': …, 'shape': …}")
    }

    fn eat(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str) -> Result<(), NpyFault> {
        if self.eat(token) { Ok(()) } else { Err(self.fault()) }
    }

    fn string(&mut self) -> Result<&'a str, NpyFault> {
        let quote = self.rest.chars().next().filter(|quote| matches!(quote, '\'' | '"'));
        let Some(quote) = quote else {
            return Err(self.fault());
        };
        let Some((string, rest)) = self.rest[1..].split_once(quote) else {
            return Err(self.fault());
        };
        self.rest = rest.trim_start();
        Ok(string)
    }

    fn boolean(&mut self) -> Result<bool, NpyFault> {
        if self.eat("True") {
            return Ok(true);
        }
        self.expect("False").map(|()| false)
    }

    fn tuple(&mut self) -> Result<Vec<usize>, NpyFault> {
        self.expect("(")?;
        let mut extents = Vec::new();
        while !self.eat(")") {
            let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
            let (number, rest) = self.rest.split_at(digits);
            extents.push(number.parse().map_err(|_| self.fault())?);
            self.rest = rest.trim_start();
            self.eat("L"); // Python 2 marks long integers so.
            if !self.eat(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok(extents)
    }
}

fn decode(header: &Header, payload: &[u8]) -> Result<Values, NpyFault> {
    // Each element as 8 little-endian bytes, sign not yet extended.
    let words = payload.chunks_exact(header.size).map(|chunk| {
        let mut word = [0u8; 8];
        word[..header.size].copy_from_slice(chunk);
        if header.big_endian {
            word[..header.size].reverse();
        }
        u64::from_le_bytes(word)
    });
    let unused_bits = 64 - 8 * header.size as u32;
    Ok(match header.element {
        Element::Float if header.size == 4 => {
            Values::F64(words.map(|word| f64::from(f32::from_bits(word as u32))).collect())
        }
        Element::Float => Values::F64(words.map(f64::from_bits).collect()),
        Element::Signed => {
            Values::I64(words.map(|word| ((word << unused_bits) as i64) >> unused_bits).collect())
        }
        Element::Unsigned => {
            let values: Result<Vec<i64>, _> = words.map(i64::try_from).collect();
            Values::I64(values.map_err(|_| {
                damage("an unsigned integer beyond the signed range", "integers below 2^63")
            })?)
        }
        Element::Bool => Values::I64(words.map(|word| i64::from(word != 0)).collect()),
    })
}

fn to_c_order(values: Values, shape: &[usize]) -> Values {
    fn reordered<T: Copy>(values: &[T], shape: &[usize]) -> Vec<T> {
        let mut index = vec![0usize; shape.len()];
        let mut ordered = Vec::with_capacity(values.len());
        for _ in 0..values.len() {
            // Fortran order: the first index runs fastest.
            let position = index.iter().zip(shape).rev().fold(0, |p, (&i, &extent)| p * extent + i);
            ordered.push(values[position]);
            for axis in (0..shape.len()).rev() {
                index[axis] += 1;
                if index[axis] < shape[axis] {
                    break;
                }
                index[axis] = 0;
            }
        }
        ordered
    }
    match values {
        Values::F64(values) => Values::F64(reordered(&values, shape)),
        Values::I64(values) => Values::I64(reordered(&values, shape)),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;

    fn bytes_of(version: u8, header: &str, payload: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([version, 0]);
        match version {
            1 => bytes.extend((header.len() as u16).to_le_bytes()),
            _ => bytes.extend((header.len() as u32).to_le_bytes()),
        }
        bytes.extend(header.as_bytes());
        bytes.extend(payload);
        bytes
    }

    fn read_one(
        descr: &str,
        fortran: &str,
        shape: &str,
        payload: &[u8],
    ) -> Result<Array, NpyFault> {
        let header =
            format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
        read(&mut bytes_of(1, &header, payload).as_slice())
    }

    #[test]
    fn every_numeric_type_widens_without_loss() {
        let floats = |array: Array| array.to_f64();
        assert_eq!(floats(read_one("<f4", "False", "(1,)", &1.5f32.to_le_bytes()).unwrap()), [1.5]);
        assert_eq!(floats(read_one(">f8", "False", "(1,)", &1.5f64.to_be_bytes()).unwrap()), [1.5]);
        assert_eq!(
            floats(read_one("<i2", "False", "(1,)", &(-7i16).to_le_bytes()).unwrap()),
            [-7.0]
        );
        assert_eq!(floats(read_one(">i4", "False", "()", &(-7i32).to_be_bytes()).unwrap()), [-7.0]);
        assert_eq!(floats(read_one("|i1", "False", "(1,)", &[0xff]).unwrap()), [-1.0]);
        assert_eq!(floats(read_one("|u1", "False", "(1,)", &[0xff]).unwrap()), [255.0]);
        assert_eq!(floats(read_one("|b1", "False", "(2,)", &[0, 1]).unwrap()), [0.0, 1.0]);
        let largest = u64::MAX.to_le_bytes();
        assert!(matches!(read_one("<u8", "False", "(1,)", &largest), Err(NpyFault::Damage { .. })));
    }

    #[test]
    fn fortran_order_is_brought_into_c_order() {
        // The matrix [[0, 1, 2], [3, 4, 5]] stored column by column.
        let array = read_one("|u1", "True", "(2, 3)", &[0, 3, 1, 4, 2, 5]).unwrap();
        assert_eq!(array.shape, [2, 3]);
        assert_eq!(array.to_f64(), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    }

    #[test]
    fn all_header_versions_are_read() {
        let header = "{\"shape\": (2L,), 'fortran_order': False, 'descr': '|u1'}";
        for version in [1, 2, 3] {
            let array = read(&mut bytes_of(version, header, &[3, 4]).as_slice()).unwrap();
            assert_eq!(array.to_f64(), [3.0, 4.0]);
        }
    }

    #[test]
    fn a_shape_beyond_memory_allocates_nothing() {
        for shape in
            ["(1000000000000000000,)", "(4294967296, 4294967296)", "(99999999999999999999,)"]
        {
            let fault = read_one("<f8", "False", shape, &[0; 8]);
            assert!(matches!(fault, Err(NpyFault::Damage { .. })), "{shape}");
        }
    }

    #[test]
    fn text_and_records_are_told_apart_from_damage() {
        assert!(matches!(read_one("<U3", "False", "()", &[0; 12]), Err(NpyFault::Type(_))));
        let header = "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}";
        let fault = read(&mut bytes_of(1, header, &[0; 8]).as_slice());
        assert!(matches!(fault, Err(NpyFault::Type(_))));
    }
}
