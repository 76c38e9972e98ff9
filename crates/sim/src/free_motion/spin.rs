//! Free rotation of one body, without torques.
//!
//! The implicit midpoint rule in the body's frame, `I (ω₁ − ω₀) + s ω_m × I ω_m = 0` with
//! `ω_m = (ω₀ + ω₁)/2`, conserves the kinetic energy ½ ωᵀ I ω, since `ω_m` is perpendicular to the
//! gyroscopic torque. With the orientation turned by the Cayley map of `s ω_m` it conserves the
//! angular momentum in the world as well: `(1 + s [ω_m]×/2) I ω₁ = (1 − s [ω_m]×/2) I ω₀` is the same
//! equation [Hairer06, Sec. VII.5]. Neither depends on s, so that s is chosen: the Cayley map turns
//! by `2 atan(s |ω_m|/2)`, and `s = (2/Ω) tan(Ω τ/2)`, with the constant `Ω = ωᵀ I ω/|I ω|` of the
//! motion, makes the turn about a principal axis exact. A long turn takes several such substeps.

use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};
use stiction_math::spatial::skew;

/// Largest turn in one substep [rad]: the relative error of the rates of precession and nutation is a
/// twelfth of its square.
const SUBSTEP_TURN: f64 = 0.05;
/// Half a turn below which the tangent is the angle, to a third of its square [rad].
const NEGLIGIBLE_TURN: f64 = 1e-6;
/// Largest number of substeps.
const MAX_SUBSTEPS: usize = 256;
/// Largest number of Newton iterations in a substep, and of reductions of one iteration's length.
const NEWTON_STEPS: usize = 20;
const MAX_REDUCTIONS: usize = 12;
/// Error of the momentum at which the iteration ends, relative to the momentum [-]: round-off.
const TOLERANCE: f64 = 4.0 * f64::EPSILON;
/// Error relative to the momentum beyond which the equation counts as unsolved [-].
const UNSOLVED: f64 = 1e-12;

/// End of the free rotation of a body over a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spin {
    /// Angular velocity at the end, in the body's frame at the end [rad/s].
    pub w: Vector3<f64>,
    /// Orientation of the body at the end in its frame at the start, times a positive number.
    turn: Quaternion<f64>,
    /// Whether the equations of every substep were solved.
    pub solved: bool,
}

impl Spin {
    pub const NONE: Self = Self {
        w: Vector3::new(0.0, 0.0, 0.0),
        turn: Quaternion::new(1.0, 0.0, 0.0, 0.0),
        solved: true,
    };

    /// No rotation, at an angular velocity `w`.
    pub fn unchanged(w: Vector3<f64>) -> Self {
        Self { w, ..Self::NONE }
    }

    /// The rotation over a time `h` [s] from the angular velocity `start`, in the body's frame.
    /// `inertia` [kg·m²] turns with the body; `mass` is its block of the mass matrix, with armature.
    pub fn new(inertia: &Matrix3<f64>, mass: &Matrix3<f64>, start: Vector3<f64>, h: f64) -> Self {
        let mut spin = Self::unchanged(start);
        let turn = h * start.norm();
        if turn == 0.0 {
            return spin;
        }
        if !turn.is_finite() {
            return Self { solved: false, ..spin };
        }
        // The cast saturates.
        let substeps = ((turn / SUBSTEP_TURN).ceil() as usize).clamp(1, MAX_SUBSTEPS);
        let tau = h / substeps as f64;
        let mean_rate = start.dot(&(inertia * start)) / (inertia * start).norm();
        // Beyond half a turn per substep the tangent has another branch, and no choice is exact.
        let half = 0.5 * mean_rate * tau;
        let is_exact = half > NEGLIGIBLE_TURN && half < std::f64::consts::FRAC_PI_4;
        let s = if is_exact { 2.0 * half.tan() / mean_rate } else { tau };
        for _ in 0..substeps {
            let Some(mean) = mean_velocity(inertia, mass, spin.w, s) else {
                spin.solved = false;
                break;
            };
            spin.w = 2.0 * mean - spin.w;
            let half = 0.5 * s * mean;
            spin.turn *= Quaternion::new(1.0, half.x, half.y, half.z);
        }
        spin
    }

    /// Orientation of the body at the end in its frame at the start.
    pub fn turn(&self) -> UnitQuaternion<f64> {
        UnitQuaternion::new_normalize(self.turn)
    }
}

/// ω_m of one substep, by Newton's method with a line search on the error. `None` if it is not found.
fn mean_velocity(
    inertia: &Matrix3<f64>,
    mass: &Matrix3<f64>,
    start: Vector3<f64>,
    s: f64,
) -> Option<Vector3<f64>> {
    let momentum = mass * start;
    let scale = momentum.norm();
    let error_at = |w: &Vector3<f64>| mass * w - momentum + 0.5 * s * w.cross(&(inertia * w));
    let mut w = start;
    let mut error = error_at(&w);
    for _ in 0..NEWTON_STEPS {
        if error.norm() <= TOLERANCE * scale {
            break;
        }
        let slope = mass + 0.5 * s * (skew(w) * inertia - skew(inertia * w));
        let step = slope.try_inverse()? * error;
        let mut length = 1.0;
        let mut is_smaller = false;
        for _ in 0..MAX_REDUCTIONS {
            let next = w - length * step;
            let next_error = error_at(&next);
            is_smaller = next_error.norm() < error.norm();
            if is_smaller {
                (w, error) = (next, next_error);
                break;
            }
            length *= 0.5;
        }
        if !is_smaller {
            break;
        }
    }
    (error.norm() <= UNSOLVED * scale).then_some(w)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inertia(x: f64, y: f64, z: f64) -> Matrix3<f64> {
        Matrix3::from_diagonal(&Vector3::new(x, y, z))
    }

    #[test]
    fn energy_and_angular_momentum_are_constant_at_any_turn_per_step() {
        let bodies = [(1.0, 1.0, 1.0), (1.0, 1.0, 1.9), (0.05, 1.0, 1.0), (1e-4, 2e-3, 2.05e-3)];
        let direction = Vector3::new(0.3, -0.8, 0.52);
        for (x, y, z) in bodies {
            let I = inertia(x, y, z);
            for turn in [1e-6, 1e-3, 0.03, 0.3, 3.0, 12.0, 100.0] {
                let start = turn * direction;
                let spin = Spin::new(&I, &I, start, 1.0);
                assert!(spin.solved, "{turn}");
                let energy = |w: &Vector3<f64>| w.dot(&(I * w));
                // Round-off of some hundred substeps.
                let change = energy(&spin.w) / energy(&start) - 1.0;
                assert!(change.abs() <= 1e-12, "{turn}: {change}");
                let momentum = spin.turn() * (I * spin.w);
                let change = (momentum - I * start).norm() / (I * start).norm();
                assert!(change <= 1e-12, "{turn}: {change}");
            }
        }
    }

    #[test]
    fn a_turn_about_a_principal_axis_is_exact() {
        let I = inertia(1.0, 2.0, 2.5);
        for turn in [1e-3, 0.04, 0.2, 2.0] {
            let spin = Spin::new(&I, &I, Vector3::y() * turn, 1.0);
            assert!((spin.turn().angle() - turn).abs() <= 1e-13, "{turn}");
        }
    }
}
