//! The ways of the two bottles of the scenario `pouring`, and the arms that move them.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use std::f64::consts::FRAC_PI_2;

use super::field_parts::{BOTTLE_HEIGHT, BOTTLE_MOUTH, THICKNESS};
use super::robots::bottle_arm::{BottleTask, GRASPED};
use super::robots::reach::eased;

/// Duration of the lift [s], of the tilt, and time after it.
const LIFT: f64 = 0.5;
const TILTING: f64 = 3.0;
const AFTER: f64 = 0.6;
/// Duration of the scenario [s].
pub const DURATION: f64 = GRASPED + LIFT + TILTING + AFTER;
/// Place of the lip over the middle of the lower bottle [m], and how far beside it the lifted bottle begins [m]; angle at which it has
/// come over it [rad].
const LIP: [f64; 2] = [-0.02, 0.15];
const BESIDE: f64 = 0.13;
const OVER: f64 = 1.1;
/// Heights of the grasps over the bottoms of the bottles [m].
const GRASP: [f64; 2] = [0.07, 0.04];

/// Wanted pose of the upper bottle at a time [s]: it stands, is lifted, brought over the other one and tilted by an angle [rad].
pub fn poured(tilt: f64, time: f64) -> Isometry3<f64> {
    let lifted = tilted(tilt * eased(time - GRASPED - LIFT, TILTING));
    let height = tilted(0.0).translation.z - 0.5 * THICKNESS;
    let down = height * (1.0 - eased(time - GRASPED, LIFT));
    Isometry3::translation(0.0, 0.0, -down) * lifted
}

/// Pose of the lifted bottle at an angle [rad].
fn tilted(angle: f64) -> Isometry3<f64> {
    let turn = UnitQuaternion::from_scaled_axis(Vector3::y() * angle);
    let beside = BESIDE * (1.0 - angle / OVER).max(0.0);
    let lip = Vector3::new(LIP[0] - beside, 0.0, LIP[1]);
    let in_bottle = Vector3::new(BOTTLE_MOUTH + 0.5 * THICKNESS, 0.0, BOTTLE_HEIGHT);
    Isometry3::from_parts(Translation3::from(lip - turn * in_bottle), turn)
}

/// Pose of the lower bottle, which stays where it stands.
pub fn steady() -> Isometry3<f64> {
    Isometry3::translation(0.0, 0.0, 0.5 * THICKNESS)
}

/// What the arms do with the upper and with the lower bottle.
pub fn tasks(tilt: f64) -> [BottleTask; 2] {
    let pour = BottleTask {
        base: turned(Vector3::new(-0.12, -0.55, 0.0), Vector3::z()),
        grasp: turned(Vector3::z() * GRASP[0], -Vector3::x()),
        path: Box::new(move |time| poured(tilt, time)),
    };
    let steady = BottleTask {
        base: turned(Vector3::new(0.0, 0.55, 0.0), -Vector3::z()),
        grasp: turned(Vector3::z() * GRASP[1], Vector3::x()),
        path: Box::new(|_| steady()),
    };
    [pour, steady]
}

/// A frame at a place [m], turned by a quarter turn about an axis.
fn turned(place: Vector3<f64>, axis: Vector3<f64>) -> Isometry3<f64> {
    let turn = UnitQuaternion::from_scaled_axis(axis * FRAC_PI_2);
    Isometry3::from_parts(Translation3::from(place), turn)
}
