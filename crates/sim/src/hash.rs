//! A hash of a state: equal for equal bits, on every machine.

use stiction_mech::State;

/// FNV-1a, 64 bits, of a sequence of bytes.
pub(crate) struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(Self::OFFSET)
    }
}

impl std::fmt::Write for Fnv {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.add(text.bytes());
        Ok(())
    }
}

impl Fnv {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;

    /// The hash of some bytes.
    pub fn of(bytes: impl Iterator<Item = u8>) -> u64 {
        let mut fnv = Self::default();
        fnv.add(bytes);
        fnv.0
    }

    /// Adds some bytes.
    pub fn add(&mut self, bytes: impl Iterator<Item = u8>) {
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(Self::PRIME);
        self.0 = bytes.fold(self.0, step);
    }

    /// Adds bytes eight at a time, for long columns: another hash than that of the bytes, and
    /// several times as fast. Every step is invertible, so that a single change always changes the hash.
    pub fn add_words(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            let mixed = (self.0 ^ u64::from_le_bytes(*word)).wrapping_mul(Self::PRIME);
            self.0 = mixed.rotate_left(29);
        }
        self.add(rest.iter().copied());
    }

    /// The hash of what was added.
    pub fn hash(&self) -> u64 {
        self.0
    }
}

/// FNV-1a over time, coordinates, velocities and activations, then positions and velocities of the vertices of soft
/// bodies, 64 bits.
pub fn state_hash(state: &State) -> u64 {
    let numbers =
        std::iter::once(&state.time).chain(&state.q).chain(&state.v).chain(&state.activation);
    let numbers = numbers.chain(state.x.iter().chain(&state.x_dot).flatten());
    Fnv::of(numbers.flat_map(|x| x.to_bits().to_le_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bit_changes_the_hash_and_a_copy_does_not() {
        let x = vec![nalgebra::Vector3::new(1.0, 2.0, 3.0)];
        let (q, v) = (vec![1.0, 2.0], vec![-3.0]);
        let activation = vec![0.25];
        let state = State { time: 0.5, q, v, activation, x_dot: x.clone(), x };
        let mut other = state.clone();
        assert_eq!(state_hash(&state), state_hash(&other));
        other.q[1] = f64::from_bits(2.0_f64.to_bits() + 1);
        assert_ne!(state_hash(&state), state_hash(&other));
        other.clone_from(&state);
        other.activation[0] = 0.5;
        assert_ne!(state_hash(&state), state_hash(&other));
        other.clone_from(&state);
        other.x_dot[0].z = f64::from_bits(3.0_f64.to_bits() + 1);
        assert_ne!(state_hash(&state), state_hash(&other));
    }
}
