//! Rate of change of the Jacobian of a point that is fixed in a body, at the present velocities.
//!
//! Central differences of fourth order along the motion q ⊕ t v, for any kind of joint: with `τ = STEP/max(|v|)` the
//! truncation error is of the order STEP⁴ and the round-off of ε/STEP, relative to the Jacobian times the velocity. Cost:
//! four passes of kinematics.

use crate::body::BodyId;
use crate::data::Data;
use crate::integrate::integrate;
use crate::jacobian::jacobian;
use crate::kinematics::kinematics;
use crate::model::Model;
use nalgebra::Vector3;

/// Largest change of a coordinate in a difference [rad, m]: round-off and truncation are both below 1e-12.
const STEP: f64 = 1e-3;

/// Writes J̇, 6 × nv, row-major, as [`jacobian`] J: a point of the body that is at `point` [m] in the world at the
/// coordinates `q`. The position stage of `data` is that of other coordinates afterwards.
pub fn jacobian_rate(
    model: &Model,
    (q, v): (&[f64], &[f64]),
    body: BodyId,
    point: Vector3<f64>,
    data: &mut Data,
    out: &mut [f64],
) {
    let n = 6 * model.nv();
    out[..n].fill(0.0);
    let fastest = v.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
    if !(fastest > 0.0) {
        return;
    }
    kinematics(model, q, data);
    let fixed = data.body_pose[body.0].inverse_transform_point(&point.into());
    let (tau, mut moved, mut J) = (STEP / fastest, q.to_vec(), vec![0.0; n]);
    // f' = (f(−2τ) − 8 f(−τ) + 8 f(τ) − f(2τ))/(12 τ) + O(τ⁴).
    for (steps, weight) in [(-2.0, 1.0), (-1.0, -8.0), (1.0, 8.0), (2.0, -1.0)] {
        integrate(model, q, v, steps * tau, &mut moved);
        kinematics(model, &moved, data);
        let at = data.body_pose[body.0].transform_point(&fixed).coords;
        jacobian(model, data, body, at, &mut J);
        for (out, J) in out.iter_mut().zip(&J) {
            *out += weight * J / (12.0 * tau);
        }
    }
}
