//! A nut on the thread of a fixed bolt: many contacts on six degrees of freedom.
//!
//! Points are drawn on both flanks of the helix (r cos φ, r sin φ, p φ/2π). The nut is turned and
//! pulled along the thread, so that one flank carries and the other opens.

use nalgebra::Vector3;
use std::f64::consts::TAU;

use super::Variation;
use super::assembly::{Assembly, EntryDefaults, Solid};
use crate::error::ProblemError;
use crate::problem::Problem;

const MASS: f64 = 0.5; // [kg]
const RADIUS: f64 = 0.024; // of the thread [m]
const OUTER_RADIUS: f64 = 0.036; // of the nut [m]
const HEIGHT: f64 = 0.038; // of the nut [m]
const PITCH: f64 = 0.005; // [m]
const FLANK: f64 = 30.0; // [deg]
const GAP: f64 = 2e-5; // defaults deviation of the clearance [m]
const SPIN: f64 = 3.0; // about the axis [rad/s]
const WOBBLE: f64 = 0.02; // [m/s], and at the thread's radius for rotation

pub(super) fn build(variation: &Variation) -> Result<Problem, ProblemError> {
    let defaults = EntryDefaults {
        time_step: 0.01,
        friction: 0.3,
        mass_ratio: 1.0,
        size: 60,
        largest_size: 100_000,
    };
    let mut assembly = Assembly::new("bolt-nut", variation, defaults)?;
    let solid = Solid::tube(MASS, [RADIUS, OUTER_RADIUS], HEIGHT, Vector3::zeros());
    let linear = assembly.normal3() * WOBBLE;
    let angular = assembly.normal3() * (WOBBLE / RADIUS) + Vector3::z() * SPIN;
    let nut = assembly.rigid(&solid, linear, angular);
    let (sine, cosine) = FLANK.to_radians().sin_cos();
    let turns = HEIGHT / PITCH;
    for k in 0..assembly.size {
        let angle = TAU * turns * assembly.random.uniform(-0.5, 0.5);
        let gap = (GAP * assembly.random.normal()).abs();
        let outward = Vector3::new(angle.cos(), angle.sin(), 0.0);
        let point = RADIUS * outward + Vector3::z() * (PITCH * angle / TAU);
        let along = Vector3::new(-RADIUS * angle.sin(), RADIUS * angle.cos(), PITCH / TAU);
        let upward = outward.cross(&along).normalize();
        let side = if k % 2 == 0 { 1.0 } else { -1.0 };
        let normal = side * cosine * upward + sine * outward;
        assembly.contact(None, &nut, point, normal, gap);
    }
    assembly.build()
}
