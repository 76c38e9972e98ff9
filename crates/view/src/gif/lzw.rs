//! Compression by a growing dictionary of strings, as GIF has it [Welch84].

use std::collections::HashMap;

/// The longest code [bits].
const LONGEST: u32 = 12;

/// Codes of a row of symbols of some bits each, the lowest bit first.
pub fn encode(symbols: &[u8], bits: u8) -> Vec<u8> {
    let clear = 1_u32 << bits;
    let mut out = Bits::default();
    let mut dictionary: HashMap<(u32, u8), u32> = HashMap::new();
    // After the symbols come a code that clears the dictionary and one that ends.
    let (mut next, mut length) = (clear + 2, u32::from(bits) + 1);
    out.put(clear, length);
    let mut known: Option<u32> = None;
    for &symbol in symbols {
        let Some(prefix) = known else {
            known = Some(symbol.into());
            continue;
        };
        if let Some(&longer) = dictionary.get(&(prefix, symbol)) {
            known = Some(longer);
            continue;
        }
        out.put(prefix, length);
        if next == 1 << LONGEST {
            out.put(clear, length);
            dictionary.clear();
            (next, length) = (clear + 2, u32::from(bits) + 1);
        } else {
            dictionary.insert((prefix, symbol), next);
            // The decoder knows an entry one code later.
            if next == 1 << length {
                length += 1;
            }
            next += 1;
        }
        known = Some(symbol.into());
    }
    if let Some(prefix) = known {
        out.put(prefix, length);
        if next == 1 << length && length < LONGEST {
            length += 1;
        }
    }
    out.put(clear + 1, length);
    out.finish()
}

/// Bits, packed into bytes.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    waiting: u32,
    count: u32,
}

impl Bits {
    fn put(&mut self, code: u32, length: u32) {
        self.waiting |= code << self.count;
        self.count += length;
        while self.count >= 8 {
            self.bytes.push(self.waiting as u8);
            self.waiting >>= 8;
            self.count -= 8;
        }
    }

    fn finish(mut self) -> Vec<u8> {
        if self.count > 0 {
            self.bytes.push(self.waiting as u8);
        }
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_math::random::SplitMix64;

    /// Reads codes back, written from the description of the format.
    fn decode(bytes: &[u8], bits: u8) -> Vec<u8> {
        let (clear, end) = (1_usize << bits, (1_usize << bits) + 1);
        let fresh = || -> Vec<Vec<u8>> {
            (0..clear + 2).map(|k| if k < clear { vec![k as u8] } else { vec![] }).collect()
        };
        let (mut table, mut length) = (fresh(), u32::from(bits) + 1);
        let (mut out, mut last, mut at) = (Vec::new(), Vec::new(), 0);
        loop {
            let bit = |k: usize| usize::from(bytes[k / 8] >> (k % 8) & 1);
            let code: usize = (0..length as usize).map(|k| bit(at + k) << k).sum();
            at += length as usize;
            if code == end {
                assert!(bytes.len() * 8 - at < 8, "nothing follows the end");
                return out;
            }
            if code == clear {
                (table, length, last) = (fresh(), u32::from(bits) + 1, Vec::new());
                continue;
            }
            let entry: Vec<u8> = match table.get(code) {
                Some(entry) => entry.clone(),
                None => [last.as_slice(), &last[..1]].concat(),
            };
            if !last.is_empty() && table.len() < 1 << LONGEST {
                table.push([last.as_slice(), &entry[..1]].concat());
            }
            if table.len() == 1 << length && length < LONGEST {
                length += 1;
            }
            out.extend(&entry);
            last = entry;
        }
    }

    #[test]
    fn packing_and_unpacking_are_inverse() {
        let mut rng = SplitMix64::new(1);
        let noise: Vec<u8> = (0..30_000).map(|_| rng.below(256) as u8).collect();
        let steps: Vec<u8> = (0..60_000_u32).map(|k| (k / 700) as u8).collect();
        for symbols in [vec![], vec![7], vec![0; 100_000], noise, steps] {
            assert_eq!(decode(&encode(&symbols, 8), 8), symbols);
        }
        // Every length about the places where codes grow.
        for length in 200..900 {
            let symbols: Vec<u8> = (0..length).map(|_| rng.below(256) as u8).collect();
            assert_eq!(decode(&encode(&symbols, 8), 8), symbols);
        }
    }
}
