//! Random and ill-conditioned matrices for tests.

use nalgebra::{Matrix3, Rotation3, Vector3};
use stiction_math::random::SplitMix64;

/// A matrix with entries uniform in `[-1, 1)`.
pub(crate) fn random_matrix(rng: &mut SplitMix64) -> Matrix3<f64> {
    Matrix3::from_fn(|_, _| rng.signed_unit())
}

/// A matrix of a uniform rotation.
pub(crate) fn random_rotation(rng: &mut SplitMix64) -> Matrix3<f64> {
    rng.rotation().to_rotation_matrix().into_inner()
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
