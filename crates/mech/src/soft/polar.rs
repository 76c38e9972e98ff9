//! The rotation nearest to a 3×3 matrix F: R of the polar decomposition F = R S, with det R = 1 always.
//!
//! λ = tr(Rᵀ F) = σ₀ + σ₁ + σ₂ (σ₂ signed) is the largest root of
//! p(λ) = (λ² − I)² − 8 J λ − 4 II with I = ‖F‖², II = ½ (I² − ‖FᵀF‖²), J = det F,
//! and R = ∂λ/∂F follows by differentiating p = 0. Newton's method converges to λ monotonically from
//! the bound √(3 I). Where R is ill conditioned, that is, where two singular values nearly cancel, as
//! in inverted elements, the decomposition of `svd.rs` is used instead.

use super::lanes::{Lanes, Mat, dot};
use super::svd::svd;

/// Largest number of Newton steps; elements of moderate strain need four.
const STEPS: usize = 8;
/// Relative step below which the next step is round-off.
const LAST_STEP: f64 = 1e-8;
/// Smallest p′(λ) / (4 λ³) of a well-conditioned R: the error of R is inversely proportional to it.
const WELL_CONDITIONED: f64 = 1e-2;

/// The rotation nearest to F.
#[inline(always)]
pub(crate) fn rotation(F: &Mat) -> Mat {
    rotation_and_trace(F).0
}

/// The rotation R nearest to F, and tr(Rᵀ F).
#[inline(always)]
pub(crate) fn rotation_and_trace(F: &Mat) -> (Mat, Lanes) {
    let C = F.transposed_times(F);
    let cofactor = F.cofactor();
    let (I, J) = (C.trace(), dot(&F.0[0], &cofactor.0[0]));
    let half = Lanes::splat(0.5);
    let four_II = Lanes::splat(2.0) * (I * I - C.squared());
    let (two_J, four) = (J + J, Lanes::splat(4.0));

    let mut lambda = (Lanes::splat(3.0) * I).sqrt();
    let mut moving = Lanes::ONE.greater(Lanes::ZERO);
    for _ in 0..STEPS {
        let w = (lambda * lambda) - I;
        let slope = four * (lambda * w - two_J);
        let value = (w * w).fnma(four * lambda, two_J) - four_II;
        let step = moving.select(value / slope, Lanes::ZERO);
        lambda = lambda - step;
        moving = moving.and(step.abs().greater(Lanes::splat(LAST_STEP) * lambda));
        if !moving.any() {
            break;
        }
    }

    // R = [(λ² + I) F + 2 λ cof F − 2 F C] / (λ (λ² − I) − 2 J)
    let square = lambda * lambda;
    let divisor = (lambda * (square - I)) - two_J;
    let inverse = Lanes::ONE / divisor;
    let G = F.combine(half * (square + I), &F.times(&C), -Lanes::ONE);
    let R = G.combine(inverse + inverse, &cofactor, (lambda + lambda) * inverse);
    // One Newton-Schulz step makes R orthogonal to round-off.
    let defect = R.transposed_times(&R);
    let R = R.combine(Lanes::splat(1.5), &R.times(&defect), -half);

    let good = divisor.greater(Lanes::splat(WELL_CONDITIONED) * square * lambda);
    let good = good.and(moving.not());
    if good.all() {
        return (R, lambda);
    }
    let exact = svd(F);
    let trace = exact.sigma[0] + exact.sigma[1] + exact.sigma[2];
    (good.select_mat(&R, &exact.rotation()), good.select(lambda, trace))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::soft::testing::{Random, awkward_matrices};
    use nalgebra::{Matrix3, Vector3};

    #[test]
    fn the_nearest_rotation_leaves_a_symmetric_stretch() {
        let mut rng = Random(3);
        let random = (0..3000).map(|k| {
            let size = [0.01, 0.3, 1.0][k % 3];
            rng.rotation() * (Matrix3::identity() + size * rng.matrix())
        });
        for F in random.collect::<Vec<_>>().into_iter().chain(awkward_matrices()) {
            let (R, trace) = rotation_and_trace(&Mat::splat(&F));
            let R = R.lane(0);
            let S = R.transpose() * F;
            // The error is proportional to the condition number of R, which WELL_CONDITIONED bounds.
            let bound = 100.0 * f64::EPSILON / WELL_CONDITIONED;
            assert!((R.transpose() * R - Matrix3::identity()).norm() <= 1e-14, "{F}{R}");
            assert!((R.determinant() - 1.0).abs() <= 1e-14, "{F}{R}");
            assert!((S - S.transpose()).norm() <= bound * F.norm(), "{F}{R}");
            assert!((trace.0[0] - S.trace()).abs() <= bound * F.norm(), "{F}");
        }
    }

    #[test]
    fn an_inverted_matrix_flips_the_direction_of_its_smallest_singular_value() {
        let mut rng = Random(4);
        for _ in 0..200 {
            let (U, V) = (rng.rotation(), rng.rotation());
            let s = Matrix3::from_diagonal(&Vector3::new(1.3, 0.9, -0.4));
            let R = rotation(&Mat::splat(&(U * s * V.transpose()))).lane(0);
            assert!((R - U * V.transpose()).norm() <= 1e-13);
        }
    }

    #[test]
    fn a_lane_does_not_depend_on_its_neighbours() {
        let mut rng = Random(5);
        for _ in 0..200 {
            let alone = rng.matrix();
            let others = [rng.matrix(), Matrix3::zeros(), Matrix3::identity()];
            let group = Mat::from_fn(|i, j| {
                Lanes([alone[(i, j)], others[0][(i, j)], others[1][(i, j)], others[2][(i, j)]])
            });
            assert_eq!(rotation(&Mat::splat(&alone)).lane(0), rotation(&group).lane(0));
        }
    }
}
