//! Seeded pseudo-random numbers: the same sequence on every machine, in every run.
//!
//! [`SplitMix64`] is the generator of the project: scenes, generated problems, restarts of solvers
//! and tests draw from it. [`Lcg32`] exists for scenes whose initial positions are defined by its
//! sequence. Neither is fit for cryptography.

use nalgebra::{Isometry3, Quaternion, UnitQuaternion, Vector3, Vector6};

/// SplitMix64 [Steele14, Sec. 5]: one addition and three mixing steps per number.
#[derive(Clone, Debug)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// The increment of the state: 2⁶⁴ over the golden ratio, made odd [Steele14, Sec. 5].
    const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

    /// A generator whose sequence is determined by `seed`.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(Self::GAMMA);
        mix64(self.state)
    }

    /// Uniform in `[0, 1)`, a multiple of 2⁻⁵³.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in `[-1, 1)`.
    pub fn signed_unit(&mut self) -> f64 {
        self.uniform(-1.0, 1.0)
    }

    /// Uniform in `[low, high)`.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Uniform in the logarithm, between two positive numbers.
    pub fn log_uniform(&mut self, low: f64, high: f64) -> f64 {
        self.uniform(low.ln(), high.ln()).exp()
    }

    /// Standard normal, by the Box-Muller transform; takes two draws.
    pub fn normal(&mut self) -> f64 {
        let (u, angle) = (1.0 - self.unit(), std::f64::consts::TAU * self.unit());
        (-2.0 * u.ln()).sqrt() * angle.cos()
    }

    /// Uniform among the integers `0..n`; 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        ((self.unit() * n as f64) as usize).min(n.saturating_sub(1))
    }

    /// `n` numbers, each uniform in `[-1, 1)`.
    pub fn values(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.signed_unit()).collect()
    }

    /// A vector with components uniform in `[-1, 1)`.
    pub fn vector3(&mut self) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.signed_unit())
    }

    /// A vector with components uniform in `[-1, 1)`.
    pub fn vector6(&mut self) -> Vector6<f64> {
        Vector6::from_fn(|_, _| self.signed_unit())
    }

    /// A unit vector, uniform on the sphere, by rejection from the cube around it.
    pub fn direction(&mut self) -> Vector3<f64> {
        loop {
            let v = self.vector3();
            // Vectors near zero are rejected too: their direction has few random bits.
            if (0.1..1.0).contains(&v.norm()) {
                return v.normalize();
            }
        }
    }

    /// A rotation, uniform in SO(3): four normal numbers, normalized to a quaternion.
    pub fn rotation(&mut self) -> UnitQuaternion<f64> {
        let mut n = || self.normal();
        UnitQuaternion::from_quaternion(Quaternion::new(n(), n(), n(), n()))
    }

    /// A pose with a translation of components in `[-reach, reach)` [m] and a uniform rotation.
    pub fn pose(&mut self, reach: f64) -> Isometry3<f64> {
        let translation = reach * self.vector3();
        Isometry3::from_parts(translation.into(), self.rotation())
    }
}

/// The output function of SplitMix64 [Steele14, Sec. 5], a bijection of 64-bit words in which every
/// bit of the input affects every bit of the output. Serves as a hash of one word, too.
pub fn mix64(word: u64) -> u64 {
    let mut z = word;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The 32-bit linear congruential generator of [Press07, Sec. 7.1]: `s ← 1664525 s + 1013904223`.
#[derive(Clone, Debug)]
pub struct Lcg32 {
    state: u32,
}

impl Lcg32 {
    /// A generator whose sequence is determined by `seed`.
    pub fn new(seed: u32) -> Self {
        Self { state: seed }
    }

    /// Uniform in `[0, 1)`, from the upper 24 bits of the next state.
    pub fn unit(&mut self) -> f64 {
        self.state = self.state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(self.state >> 8) / f64::from(1 << 24)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_starts_with_the_published_words() {
        // The first words of SplitMix64 from seed 0, as published with reference implementations.
        let mut rng = SplitMix64::new(0);
        let words = [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f];
        assert_eq!(words.map(|_| rng.bits()), words);
    }

    #[test]
    fn draws_have_the_mean_and_the_variance_of_their_distribution() {
        let (n, mut rng) = (100_000, SplitMix64::new(1));
        let mut moments = |draw: fn(&mut SplitMix64) -> f64, mean: f64, variance: f64| {
            let draws: Vec<_> = (0..n).map(|_| draw(&mut rng)).collect();
            let found = draws.iter().sum::<f64>() / n as f64;
            let spread = draws.iter().map(|x| (x - found).powi(2)).sum::<f64>() / n as f64;
            // Six standard errors of the mean; those of the variance are at most √2 times larger.
            let error = 6.0 * (variance / n as f64).sqrt();
            assert!((found - mean).abs() < error, "{found} instead of {mean}");
            assert!((spread / variance - 1.0).abs() < 6.0 * (2.0 / n as f64).sqrt(), "{spread}");
        };
        moments(SplitMix64::unit, 0.5, 1.0 / 12.0);
        moments(SplitMix64::signed_unit, 0.0, 1.0 / 3.0);
        moments(SplitMix64::normal, 0.0, 1.0);
        moments(|rng| rng.below(5) as f64, 2.0, 2.0);
        moments(|rng| rng.direction().z, 0.0, 1.0 / 3.0);
        // An entry of a uniform rotation matrix is uniform in [-1, 1].
        moments(|rng| rng.rotation().to_rotation_matrix()[(0, 1)], 0.0, 1.0 / 3.0);
    }

    #[test]
    fn below_zero_is_zero() {
        assert_eq!(SplitMix64::new(3).below(0), 0);
    }
}
