//! A hash of a state: equal for equal bits, on every machine.

use stiction_mech::State;

/// FNV-1a, 64 bits.
pub(crate) struct Fnv;

impl Fnv {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;

    /// The hash of some bytes.
    pub fn of(bytes: impl Iterator<Item = u8>) -> u64 {
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(Self::PRIME);
        bytes.fold(Self::OFFSET, step)
    }
}

/// FNV-1a over time, coordinates and velocities, 64 bits.
pub fn state_hash(state: &State) -> u64 {
    let numbers = std::iter::once(&state.time).chain(&state.q).chain(&state.v);
    Fnv::of(numbers.flat_map(|x| x.to_bits().to_le_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bit_changes_the_hash_and_a_copy_does_not() {
        let state = State { time: 0.5, q: vec![1.0, 2.0], v: vec![-3.0] };
        let mut other = state.clone();
        assert_eq!(state_hash(&state), state_hash(&other));
        other.q[1] = f64::from_bits(2.0_f64.to_bits() + 1);
        assert_ne!(state_hash(&state), state_hash(&other));
    }
}
