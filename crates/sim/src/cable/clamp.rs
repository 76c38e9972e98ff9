//! Rows of cable ends on bodies that move: soft bilateral rows, one per strain.
//!
//! A spring k with damping d = k τ on a strain e, evaluated at the end of the step, is the law
//! `λ = −h k (e + w c)`, c the rate of the strain: a bilateral row with compliance `R = 1/(h k w)`
//! and bias `e/w`. With the next velocity `w = h + τ`; with the mean velocity `w = h/2 + τ`: the
//! velocity at the end of the step, with which the rod is damped, may oscillate from step to step
//! if a robot's link has it. In iterated schemes `w = θ (h θ_vq + τ)`, and the old rate adds its
//! own part to the bias. k is that of half a segment. Rotations are scaled by the cable's radius,
//! so that all rows are velocities [m/s]. Compliant rows cannot contradict one another or other
//! joints.

use nalgebra::{Vector3, Vector6};
use stiction_mech::{Rod, rod::Bond};
use stiction_solve::law::{Bilateral, Law};

use crate::rows::{ConstraintClass, ConstraintContext, ConstraintKey, RowBuilder};
use crate::scheme::Scheme;

/// Weights of the next and of the old rate in the strain that causes the force [s].
fn weights(scheme: Scheme, h: f64, tau: f64) -> (f64, f64) {
    if scheme.is_iterated() {
        let (theta, theta_vq) = (scheme.theta(), scheme.theta_vq());
        let old = h * theta * (1.0 - theta_vq) + tau * (1.0 - theta);
        return (theta * (h * theta_vq + tau), old);
    }
    // With the old velocity for positions, the strain at the end of the step is known.
    let old = (1.0 - scheme.theta_vq()) * h;
    (scheme.alpha() * h + tau, old)
}

/// Adds the rows of all cables; `v` are the present velocities.
pub(crate) fn add_rows(
    scheme: Scheme,
    h: f64,
    context: &ConstraintContext,
    v: &[f64],
    rows: &mut RowBuilder,
) {
    for (index, rod) in context.model.rods().iter().enumerate() {
        for end in [0, 1] {
            let clamp = rod.clamps[end].filter(|clamp| !clamp.grounded);
            let bond_index = if end == 0 { 0 } else { rod.len() };
            if clamp.is_none() || context.asleep[rod.trees.start] {
                continue;
            }
            if let Some(bond) = rod.bond(context.data, bond_index) {
                let end = ClampedEnd { index, rod, end, bond: &bond };
                add_end(scheme, h, context, v, &end, rows);
            }
        }
    }
}

/// An end of a cable that is clamped to a body.
struct ClampedEnd<'a> {
    /// Index of the cable.
    index: usize,
    rod: &'a Rod,
    /// 0 for the first end, 1 for the last.
    end: usize,
    bond: &'a Bond,
}

fn add_end(
    scheme: Scheme,
    h: f64,
    context: &ConstraintContext,
    v: &[f64],
    clamped: &ClampedEnd,
    rows: &mut RowBuilder,
) {
    let ClampedEnd { index, rod, end, bond } = *clamped;
    let Some(clamp) = rod.clamps[end] else { return };
    let segment = rod.spec.segments[if end == 0 { 0 } else { rod.len() - 1 }].0;
    let frame = context.data.body_pose[clamp.body.0] * clamp.pose;
    let middle = context.data.body_pose[segment];
    let [first, second] = bond.rows();
    let (on_body, on_segment) = if end == 0 { (first, second) } else { (second, first) };
    let (next, old) = weights(scheme, h, rod.spec.damping);
    for k in 0..6 {
        let b = (6 * end + k) as u32;
        let key =
            ConstraintKey { class: ConstraintClass::Clamp, a: index as u32, b, feature: 0, row: 0 };
        let unit = if k < 3 { 1.0 } else { rod.spec.radius };
        let strain = unit * (bond.strain[k] - bond.rest[k]);
        let compliance = unit * unit / (h * bond.stiffness[k] * next);
        rows.open(key, Law::Bilateral(Bilateral), strain, &[0.0], &[compliance]);
        let mut driven = 0.0;
        for (body, pose, row) in [
            (segment, &middle, on_segment.row(k).transpose()),
            (clamp.body.0, &frame, on_body.row(k).transpose()),
        ] {
            let (linear, angular) = split(&(unit * row));
            let (point, turn) = (pose.translation.vector, pose.rotation * angular);
            rows.add_point_velocity(context, body, &point, &[linear], 1.0);
            rows.add_angular_velocity(context, body, &[turn], 1.0);
            driven += linear.dot(&context.driven.point_velocity(body, &point))
                + turn.dot(&context.driven.angular_velocity(body));
        }
        let rate = if old == 0.0 { 0.0 } else { rows.rate(context, v) + driven };
        rows.set_bias((strain + old * rate) / next + driven);
        rows.close();
    }
}

fn split(row: &Vector6<f64>) -> (Vector3<f64>, Vector3<f64>) {
    (row.fixed_rows::<3>(0).into_owned(), row.fixed_rows::<3>(3).into_owned())
}
