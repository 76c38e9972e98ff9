//! Compression of numbers: columns of integers, predicted, split into byte planes and deflated.
//!
//! A column is quantised to integers: numbers with a known scale to multiples of a quantum, numbers
//! over many orders of magnitude to floats with a shorter mantissa, read as integers in the order of
//! their values. The prediction errors are small, have their sign in the lowest bit (zigzag) and are
//! stored as one plane per byte, so that the upper planes are mostly zero. All columns are
//! deflated together. The page's `codec.js` is the inverse.
//!
//! Error: half a quantum, or `2^(shift − 24)` relative to a float.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde_json::{Map, Value, json};

/// How a number is quantised to an integer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// `(x − offset) / quantum`, rounded. Values that are not finite become the offset, values
    /// out of range the largest integer.
    Quantum {
        /// Size of one step.
        quantum: f64,
        /// Value of the integer zero.
        offset: f64,
    },
    /// The upper bits of a 32-bit float.
    Float {
        /// Lower bits that are left out, at most 22.
        shift: u32,
    },
}

impl Scale {
    /// Whole numbers as they are.
    pub const WHOLE: Self = Self::Quantum { quantum: 1.0, offset: 0.0 };

    /// Multiples of a quantum.
    pub const fn quantum(quantum: f64) -> Self {
        Self::Quantum { quantum, offset: 0.0 }
    }

    /// Quantises a number.
    pub fn encode(self, x: f64) -> i32 {
        match self {
            Self::Quantum { quantum, offset } => {
                let steps = (x - offset) / quantum;
                // A cast saturates, and takes NaN to zero.
                if x.is_finite() { steps.round() as i32 } else { 0 }
            }
            Self::Float { shift } => {
                let half = if shift == 0 { 0 } else { 1 << (shift - 1) };
                in_order(x as f32).saturating_add(half) >> shift
            }
        }
    }

    /// The value of an integer.
    pub fn decode(self, k: i32) -> f64 {
        match self {
            Self::Quantum { quantum, offset } => offset + quantum * f64::from(k),
            Self::Float { shift } => {
                let ordered = k << shift;
                f64::from(f32::from_bits((ordered ^ ((ordered >> 31) & i32::MAX)) as u32))
            }
        }
    }

    fn describe(self) -> Map<String, Value> {
        let value = match self {
            Self::Quantum { quantum, offset } => json!({"quantum": quantum, "offset": offset}),
            Self::Float { shift } => json!({"shift": shift}),
        };
        if let Value::Object(map) = value { map } else { Map::new() }
    }
}

/// The bits of a float as an integer that grows with it.
fn in_order(x: f32) -> i32 {
    let bits = x.to_bits() as i32;
    bits ^ ((bits >> 31) & i32::MAX)
}

/// Quanta of the series of one column: powers of two, as runs of neighbouring series with the same
/// exponent. Values out of range of an integer become the largest one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quanta {
    runs: Vec<(usize, i32)>,
}

impl Quanta {
    /// Appends so many series with the quantum `2^exponent`.
    pub fn push(&mut self, series: usize, exponent: i32) {
        match self.runs.last_mut() {
            Some(last) if last.1 == exponent => last.0 += series,
            _ => self.runs.push((series, exponent)),
        }
    }

    /// The quantum of each series.
    pub fn each(&self) -> impl Iterator<Item = f64> {
        self.runs
            .iter()
            .flat_map(|&(series, exponent)| std::iter::repeat_n(f64::from(exponent).exp2(), series))
    }
}

/// Collects columns.
#[derive(Debug, Default)]
pub struct Packer {
    bytes: Vec<u8>,
    columns: Map<String, Value>,
}

impl Packer {
    /// Adds a column of `series` numbers per row, row after row. Each series is predicted from its
    /// own past, by its last value or by linear extrapolation, whichever leaves smaller errors.
    pub fn column(&mut self, name: impl Into<String>, series: usize, scale: Scale, rows: &[f64]) {
        let encoded: Vec<i32> = rows.iter().map(|x| scale.encode(*x)).collect();
        self.integers(name, series, scale, &encoded);
    }

    /// As [`Packer::column`], with a quantum of its own for each series.
    pub fn quantised(&mut self, name: impl Into<String>, quanta: &Quanta, rows: &[f64]) {
        let each: Vec<Scale> = quanta.each().map(Scale::quantum).collect();
        let encoded: Vec<i32> =
            rows.iter().zip(each.iter().cycle()).map(|(x, scale)| scale.encode(*x)).collect();
        let mut described = Map::new();
        let runs: Vec<Value> = quanta.runs.iter().map(|&(n, e)| json!([n, e])).collect();
        described.insert("quanta".into(), runs.into());
        self.predict(name, each.len(), described, &encoded);
    }

    /// As [`Packer::column`], for already quantised integers.
    pub fn integers(&mut self, name: impl Into<String>, series: usize, scale: Scale, rows: &[i32]) {
        self.predict(name, series, scale.describe(), rows);
    }

    fn predict(
        &mut self,
        name: impl Into<String>,
        series: usize,
        described: Map<String, Value>,
        rows: &[i32],
    ) {
        let candidates = [1, 2].map(|order| differences(rows, series, order));
        let weight = |left: &[i32]| left.iter().map(|&x| u64::from(zigzag(x))).sum::<u64>();
        let order = if weight(&candidates[1]) < weight(&candidates[0]) { 2 } else { 1 };
        self.store(name, series, order, described, &candidates[order - 1]);
    }

    /// Adds a column of prediction errors, series after series.
    pub fn predicted(
        &mut self,
        name: impl Into<String>,
        series: usize,
        scale: Scale,
        left: &[i32],
    ) {
        self.store(name, series, 0, scale.describe(), left);
    }

    fn store(
        &mut self,
        name: impl Into<String>,
        series: usize,
        order: usize,
        mut column: Map<String, Value>,
        left: &[i32],
    ) {
        let largest = left.iter().map(|&x| zigzag(x)).max().unwrap_or(0);
        let width = (32 - largest.leading_zeros() as usize).div_ceil(8);
        column.insert("at".into(), self.bytes.len().into());
        column.insert("count".into(), left.len().into());
        column.insert("width".into(), width.into());
        column.insert("series".into(), series.into());
        column.insert("order".into(), order.into());
        for plane in 0..width {
            self.bytes.extend(left.iter().map(|&x| (zigzag(x) >> (8 * plane)) as u8));
        }
        self.columns.insert(name.into(), column.into());
    }

    /// Everything deflated: length of the header, header, columns. The header is a JSON object; its
    /// member `columns` is written here.
    pub fn finish(self, mut header: Map<String, Value>) -> std::io::Result<Vec<u8>> {
        header.insert("columns".into(), self.columns.into());
        let header = Value::Object(header).to_string();
        let mut deflated = ZlibEncoder::new(Vec::new(), Compression::best());
        deflated.write_all(&(header.len() as u32).to_le_bytes())?;
        deflated.write_all(header.as_bytes())?;
        deflated.write_all(&self.bytes)?;
        deflated.finish()
    }
}

/// Sign into the lowest bit: 0, −1, 1, −2, … become 0, 1, 2, 3, …
fn zigzag(x: i32) -> u32 {
    ((x << 1) ^ (x >> 31)) as u32
}

/// Prediction errors of rows, series after series. Arithmetic wraps, here and in the inverse.
fn differences(rows: &[i32], series: usize, order: usize) -> Vec<i32> {
    let mut left = Vec::with_capacity(rows.len());
    for s in 0..series {
        let (mut last, mut slope) = (0_i32, 0_i32);
        for row in rows.chunks_exact(series) {
            let change = row[s].wrapping_sub(last);
            left.push(if order == 2 { change.wrapping_sub(slope) } else { change });
            // The first value has no slope.
            slope = if left.len() % (rows.len() / series) == 1 { 0 } else { change };
            last = row[s];
        }
    }
    left
}

/// Bytes as text, 6 bits per letter (RFC 4648).
pub fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let at = |k: usize| u32::from(group.get(k).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for k in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * k) & 63) as usize];
            text.push(if k <= group.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::io::Read;

    /// The inverse of a packer, as `codec.js` has it: the header and the columns row after row.
    pub fn unpack(deflated: &[u8]) -> (Value, impl Fn(&str) -> Vec<i32>) {
        let mut bytes = Vec::new();
        flate2::read::ZlibDecoder::new(deflated).read_to_end(&mut bytes).unwrap();
        let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
        let header: Value = serde_json::from_slice(&bytes[4..4 + length]).unwrap();
        let columns = header["columns"].clone();
        let data = bytes[4 + length..].to_vec();
        let column = move |name: &str| {
            let get = |key: &str| columns[name][key].as_u64().unwrap() as usize;
            let (at, count, width, series) = (get("at"), get("count"), get("width"), get("series"));
            let order = get("order");
            let mut rows = vec![0_i32; count];
            let n = count / series.max(1);
            for s in 0..series {
                let (mut last, mut slope) = (0_i32, 0_i32);
                for k in 0..n {
                    let place = s * n + k;
                    let z: u32 = (0..width)
                        .map(|p| u32::from(data[at + p * count + place]) << (8 * p))
                        .sum();
                    let left = (z >> 1) as i32 ^ -((z & 1) as i32);
                    let change = if order == 2 { left.wrapping_add(slope) } else { left };
                    let value = if order == 0 { left } else { last.wrapping_add(change) };
                    slope = if k == 0 { 0 } else { change };
                    last = value;
                    rows[k * series + s] = value;
                }
            }
            rows
        };
        (header, column)
    }

    #[test]
    fn columns_come_back_within_half_a_quantum() {
        let rows: Vec<f64> = (0..600).map(|k| (f64::from(k) * 0.37).sin() * 1e3 - 50.0).collect();
        let scales = [
            Scale::quantum(1e-3),
            Scale::Quantum { quantum: 0.25, offset: -50.0 },
            Scale::Float { shift: 12 },
            Scale::Float { shift: 0 },
        ];
        let mut packer = Packer::default();
        for (k, scale) in scales.iter().enumerate() {
            packer.column(format!("{k}"), 3, *scale, &rows);
        }
        let packed = packer.finish(Map::new()).unwrap();
        let (_, column) = unpack(&packed);
        for (k, scale) in scales.iter().enumerate() {
            for (x, found) in rows.iter().zip(column(&format!("{k}"))) {
                let bound = match scale {
                    Scale::Quantum { quantum, .. } => 0.5 * quantum * (1.0 + 1e-9),
                    Scale::Float { shift } => x.abs() * 2_f64.powi(*shift as i32 - 24),
                };
                let y = scale.decode(found);
                assert!((x - y).abs() <= bound, "{scale:?}: {x} became {y}");
            }
        }
    }

    #[test]
    fn motion_along_a_line_leaves_nothing() {
        let rows: Vec<f64> = (0..100).flat_map(|k| [f64::from(k) * 3.0, 7.0]).collect();
        let mut packer = Packer::default();
        packer.column("line", 2, Scale::WHOLE, &rows);
        let left = differences(&rows.iter().map(|x| *x as i32).collect::<Vec<_>>(), 2, 2);
        assert_eq!(left.iter().filter(|&&x| x != 0).count(), 2); // one slope, one constant
        let packed = packer.finish(Map::new()).unwrap();
        let (_, column) = unpack(&packed);
        assert!(column("line").iter().zip(&rows).all(|(a, b)| f64::from(*a) == *b));
    }

    #[test]
    fn numbers_at_the_edges_survive() {
        let float = Scale::Float { shift: 12 };
        for x in [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, 1e-30, -1e30] {
            let y = float.decode(float.encode(x));
            assert!(y == x || (x - y).abs() <= x.abs() * 2_f64.powi(-12), "{x} became {y}");
        }
        assert!(float.decode(float.encode(f64::NAN)).is_nan());
        let whole = Scale::WHOLE;
        assert_eq!(whole.encode(f64::NAN), 0);
        assert_eq!(whole.encode(1e300), i32::MAX);
        let mut packer = Packer::default();
        let rows = [i32::MAX, i32::MIN, 0, i32::MIN, i32::MAX];
        packer.integers("extremes", 1, whole, &rows);
        packer.integers("nothing", 3, whole, &[]);
        packer.integers("nowhere", 0, whole, &[]);
        let packed = packer.finish(Map::new()).unwrap();
        let (_, column) = unpack(&packed);
        assert_eq!(column("extremes"), rows);
        assert!(column("nothing").is_empty());
        assert!(column("nowhere").is_empty());
    }

    #[test]
    fn base64_follows_the_vectors_of_its_standard() {
        let vectors = ["", "f", "fo", "foo", "foob", "fooba", "foobar"];
        let expected = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
        for (plain, text) in vectors.iter().zip(expected) {
            assert_eq!(base64(plain.as_bytes()), text); // RFC 4648, Sec. 10
        }
    }
}
