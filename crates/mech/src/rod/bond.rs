//! A bond: the elastic joint between two frames, with its six strains and their rates.
//!
//! With rotations R_i, R_j (third columns along the rod), `φ = log(R_iᵀ R_j)`, the mean rotation
//! `R_m = R_i exp(φ/2)` and the gap `g` between the ends that meet,
//!
//! ```text
//! e = [R_mᵀ g; φ],   ψ = ½ (e − e₀)ᵀ K (e − e₀)      [Lee23, Eq. (7)]
//! ```
//!
//! The rates are exact: with `H = exp(φ/2)`, `P = ½ (1 + tan(θ/4) [n]×)` (θ, n angle and axis of φ)
//! and Q the inverse of the right Jacobian of rotations at φ, the angular velocity of frame m is
//! `P ω_j + Pᵀ ω_i`, with all angular velocities in their own frames, and
//!
//! ```text
//! ė_t = R_mᵀ (v_j − v_i) + (a_j H [e₃]× + [ε]× P) ω_j + (a_i Hᵀ [e₃]× + [ε]× Pᵀ) ω_i,   ε = R_mᵀ g
//! ė_r = Q ω_j − Qᵀ ω_i
//! ```
//!
//! where a_i, a_j are the distances of the frames' origins from the ends that meet.

use nalgebra::{Isometry3, Matrix3, Matrix6, Quaternion, UnitQuaternion, Vector3, Vector6};
use stiction_math::spatial::skew;

/// Angle [rad] below which functions of rotations are evaluated by their series.
const SMALL_ANGLE: f64 = 1e-4;

/// Strains, forces and rates of a bond.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bond {
    /// Two shears and the stretch [m], two bends and the twist [rad].
    pub strain: Vector6<f64>,
    /// Elastic force `K (e − e₀)` [N, N·m].
    pub force: Vector6<f64>,
    /// K [N/m, N·m/rad].
    pub stiffness: Vector6<f64>,
    /// Strains e₀ at rest [m, rad].
    pub rest: Vector6<f64>,
    /// Mean rotation R_m, from frame m to the world.
    pub(super) R_m: Matrix3<f64>,
    /// Derivatives of ė_t with respect to ω_i and ω_j [m].
    pub(super) J_w: [Matrix3<f64>; 2],
    /// P of the module documentation [-].
    pub(super) P: Matrix3<f64>,
    /// Q of the module documentation [-].
    pub(super) Q: Matrix3<f64>,
    /// Distances a_i and a_j [m].
    pub(super) arm: [f64; 2],
}

impl Bond {
    /// The bond between two frames (poses in the world), each with the distance [m] of its origin from
    /// the end that meets the other: along +z of the first frame and −z of the second.
    pub fn new(
        (X_i, a_i): (Isometry3<f64>, f64),
        (X_j, a_j): (Isometry3<f64>, f64),
        stiffness: &Vector6<f64>,
        rest: &Vector6<f64>,
    ) -> Self {
        let mut R_ij = X_i.rotation.conjugate() * X_j.rotation;
        if R_ij.w < 0.0 {
            R_ij = UnitQuaternion::new_unchecked(-R_ij.into_inner());
        }
        let phi = rotation_vector(&R_ij);
        // The quaternion of half the rotation is parallel to 1 + q.
        let half = UnitQuaternion::new_normalize(Quaternion::from_parts(1.0 + R_ij.w, R_ij.imag()));
        let H = half.to_rotation_matrix().into_inner();
        let R_m = (X_i.rotation * half).to_rotation_matrix().into_inner();
        let gap = (X_j.translation.vector - a_j * along(&X_j.rotation))
            - (X_i.translation.vector + a_i * along(&X_i.rotation));
        let epsilon = R_m.tr_mul(&gap);
        // tan(θ/4) n, from the quaternion of half the rotation.
        let quarter = half.imag() / half.w;
        let P = 0.5 * (Matrix3::identity() + skew(quarter));
        let (cross, arm) = (skew(epsilon), skew(Vector3::z()));
        let strain = stack(&epsilon, &phi);
        Self {
            strain,
            force: stiffness.component_mul(&(strain - rest)),
            stiffness: *stiffness,
            rest: *rest,
            R_m,
            J_w: [a_i * H.tr_mul(&arm) + cross * P.transpose(), a_j * H * arm + cross * P],
            P,
            Q: inverse_right_jacobian(&phi),
            arm: [a_i, a_j],
        }
    }

    /// Elastic energy ψ [J].
    pub fn energy(&self) -> f64 {
        0.5 * self.force.dot(&(self.strain - self.rest))
    }

    /// Jacobians of the strains with respect to the velocities `(v, ω)` of the two frames: v of the
    /// origin in world axes, ω in axes of the frame.
    pub fn rows(&self) -> [Matrix6<f64>; 2] {
        let (R_mW, Q) = (self.R_m.transpose(), self.Q);
        let rows = |linear: Matrix3<f64>, J_w: &Matrix3<f64>, bend: Matrix3<f64>| {
            let mut rows = Matrix6::zeros();
            rows.fixed_view_mut::<3, 3>(0, 0).copy_from(&linear);
            rows.fixed_view_mut::<3, 3>(0, 3).copy_from(J_w);
            rows.fixed_view_mut::<3, 3>(3, 3).copy_from(&bend);
            rows
        };
        [rows(-R_mW, &self.J_w[0], -Q.transpose()), rows(R_mW, &self.J_w[1], Q)]
    }

    /// Rates of the strains [m/s, rad/s] for the velocities `(v, ω)` of the two frames.
    pub fn rate(&self, first: &[f64], second: &[f64]) -> Vector6<f64> {
        let part = |v: &[f64], k: usize| Vector3::new(v[k], v[k + 1], v[k + 2]);
        let (w_i, w_j) = (part(first, 3), part(second, 3));
        let linear = self.R_m.tr_mul(&(part(second, 0) - part(first, 0)))
            + self.J_w[0] * w_i
            + self.J_w[1] * w_j;
        stack(&linear, &(self.Q * w_j - self.Q.tr_mul(&w_i)))
    }

    /// Generalized forces `Jᵀ λ` on the velocities of the two frames for forces λ on the strains.
    pub fn pull_back(&self, lambda: &Vector6<f64>) -> [Vector6<f64>; 2] {
        let (t, r) =
            (lambda.fixed_rows::<3>(0).into_owned(), lambda.fixed_rows::<3>(3).into_owned());
        let force = self.R_m * t;
        [
            stack(&-force, &(self.J_w[0].tr_mul(&t) - self.Q * r)),
            stack(&force, &(self.J_w[1].tr_mul(&t) + self.Q.tr_mul(&r))),
        ]
    }
}

fn stack(a: &Vector3<f64>, b: &Vector3<f64>) -> Vector6<f64> {
    Vector6::new(a.x, a.y, a.z, b.x, b.y, b.z)
}

/// The z axis of a frame.
fn along(rotation: &UnitQuaternion<f64>) -> Vector3<f64> {
    rotation * Vector3::z()
}

/// log of a rotation by no more than π [rad]; the real part of its quaternion is not negative.
fn rotation_vector(rotation: &UnitQuaternion<f64>) -> Vector3<f64> {
    let (w, v) = (rotation.w, rotation.imag());
    let s = v.norm();
    // θ = 2 atan(s/w), and θ/s → 2/w − 2 s²/(3 w³).
    let factor = if s < SMALL_ANGLE {
        2.0 / w * (1.0 - s * s / (3.0 * w * w))
    } else {
        2.0 * s.atan2(w) / s
    };
    factor * v
}

/// The inverse of the right Jacobian of rotations, `1 + ½ [φ]× + c [φ]×²` [Sola18, Eq. (144)], with
/// `c = 1/θ² − cot(θ/2)/(2 θ)`, which is regular up to π.
fn inverse_right_jacobian(phi: &Vector3<f64>) -> Matrix3<f64> {
    let (angle, cross) = (phi.norm(), skew(*phi));
    let c = if angle < 1e2 * SMALL_ANGLE {
        let squared = angle * angle;
        1.0 / 12.0 + squared / 720.0 + squared * squared / 30240.0
    } else {
        (1.0 - 0.5 * angle / (0.5 * angle).tan()) / (angle * angle)
    };
    Matrix3::identity() + 0.5 * cross + c * cross * cross
}
