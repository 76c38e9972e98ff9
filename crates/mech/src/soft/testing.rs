//! Random and ill-conditioned matrices for tests.

use nalgebra::{Matrix3, Rotation3, Vector3};

/// SplitMix64 [Steele14].
pub(crate) struct Random(pub u64);

impl Random {
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        2.0 * ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64 - 1.0
    }

    pub fn vector(&mut self) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.uniform())
    }

    pub fn matrix(&mut self) -> Matrix3<f64> {
        Matrix3::from_fn(|_, _| self.uniform())
    }

    pub fn rotation(&mut self) -> Matrix3<f64> {
        Rotation3::new(3.0 * self.vector()).into_inner()
    }
}

/// Matrices that are difficult for decompositions: singular, inverted, badly scaled, repeated values.
pub(crate) fn awkward_matrices() -> Vec<Matrix3<f64>> {
    let diagonal = |x, y, z| Matrix3::from_diagonal(&Vector3::new(x, y, z));
    let turn = Rotation3::new(Vector3::new(0.3, -1.2, 2.0)).into_inner();
    let mut list = vec![
        Matrix3::identity(),
        Matrix3::zeros(),
        -Matrix3::identity(),
        diagonal(1.0, 1.0, 0.0),
        diagonal(1.0, 0.0, 0.0),
        diagonal(0.0, 0.0, 2.0),
        diagonal(1.0, 1.0, -1.0),
        diagonal(1.0, 1.0, -1.0 + 1e-9),
        diagonal(3.0, 1e-9, -1e-9),
        diagonal(1e-9, 2e-9, 1e-9),
        diagonal(1e9, 2e9, -1e9),
        diagonal(1e6, 1.0, 1e-6),
        Matrix3::repeat(1.0),
        Matrix3::new(1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0),
    ];
    let rotated: Vec<_> = list.iter().map(|m| turn * m * turn.transpose()).collect();
    list.extend(rotated);
    list
}
