//! The ways of the two bottles of the scenario `pouring`, and of the hands that hold them.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use std::f64::consts::FRAC_PI_2;

use super::field_parts::{BOTTLE_HEIGHT, BOTTLE_MOUTH, THICKNESS};
use super::robots::bottle_arm::BottlePath;
use super::robots::reach::eased;

/// Time in which the hands approach [s], that in which they close, and that after which they hold the bottles.
const APPROACH: f64 = 0.5;
const CLOSE: f64 = 0.3;
/// Time after which the hands hold the bottles [s].
pub const GRASPED: f64 = APPROACH + CLOSE + 0.05;
/// Duration of the lift [s], of the tilt, and time after it.
const LIFT: f64 = 0.5;
const TILTING: f64 = 3.0;
const AFTER: f64 = 0.6;
/// Duration of the scenario [s].
pub const DURATION: f64 = GRASPED + LIFT + TILTING + AFTER;
/// How far the hands are away from the bottles at the start [m].
const AWAY: f64 = 0.12;
/// Place of the lip over the middle of the lower bottle [m], and how far beside it the lifted bottle begins [m]; angle at which it has
/// come over it [rad].
const LIP: [f64; 2] = [-0.02, 0.15];
const BESIDE: f64 = 0.13;
const OVER: f64 = 1.1;
/// Heights of the grasps over the bottoms of the bottles [m].
const GRASP: [f64; 2] = [0.07, 0.04];

/// The upper bottle is lifted, brought over the other one and tilted.
#[derive(Clone, Copy, Debug)]
pub struct Pour {
    /// Angle in the end [rad].
    pub tilt: f64,
}

impl Pour {
    /// Pose of the lifted bottle at an angle [rad].
    fn tilted(angle: f64) -> Isometry3<f64> {
        let turn = UnitQuaternion::from_scaled_axis(Vector3::y() * angle);
        let beside = BESIDE * (1.0 - angle / OVER).max(0.0);
        let lip = Vector3::new(LIP[0] - beside, 0.0, LIP[1]);
        let in_bottle = Vector3::new(BOTTLE_MOUTH + 0.5 * THICKNESS, 0.0, BOTTLE_HEIGHT);
        Isometry3::from_parts(Translation3::from(lip - turn * in_bottle), turn)
    }
}

impl BottlePath for Pour {
    fn bottle(&self, time: f64) -> Isometry3<f64> {
        let angle = self.tilt * eased(time - GRASPED - LIFT, TILTING);
        let lifted = Self::tilted(angle);
        let low = lifted.translation.z - 0.5 * THICKNESS;
        let down = low * (1.0 - eased(time - GRASPED, LIFT));
        // The tilt begins when the bottle is up.
        Isometry3::translation(0.0, 0.0, -down) * lifted
    }

    fn grasp(&self) -> Isometry3<f64> {
        grasp(GRASP[0], -1.0)
    }

    fn approach(&self, time: f64) -> f64 {
        approach(time)
    }

    fn closed(&self, time: f64) -> f64 {
        eased(time - APPROACH, CLOSE)
    }

    fn base(&self) -> Isometry3<f64> {
        base([-0.12, -0.55], 1.0)
    }
}

/// The lower bottle stays where it stands.
#[derive(Clone, Copy, Debug)]
pub struct Steady;

impl BottlePath for Steady {
    fn bottle(&self, _: f64) -> Isometry3<f64> {
        Isometry3::translation(0.0, 0.0, 0.5 * THICKNESS)
    }

    fn grasp(&self) -> Isometry3<f64> {
        grasp(GRASP[1], 1.0)
    }

    fn approach(&self, time: f64) -> f64 {
        approach(time)
    }

    fn closed(&self, time: f64) -> f64 {
        eased(time - APPROACH, CLOSE)
    }

    fn base(&self) -> Isometry3<f64> {
        base([0.0, 0.55], -1.0)
    }
}

/// Frame of a grasp in the bottle: on its axis at a height [m], z along y (−1) or against it (1), and y along the axis of the bottle.
fn grasp(height: f64, side: f64) -> Isometry3<f64> {
    let turn = UnitQuaternion::from_scaled_axis(Vector3::x() * (side * FRAC_PI_2));
    Isometry3::from_parts(Translation3::new(0.0, 0.0, height), turn)
}

/// An arm that stands at (x, y) [m] and looks along y (1) or against it (−1).
fn base([x, y]: [f64; 2], side: f64) -> Isometry3<f64> {
    let turn = UnitQuaternion::from_scaled_axis(Vector3::z() * (side * FRAC_PI_2));
    Isometry3::from_parts(Translation3::new(x, y, 0.0), turn)
}

/// How far the hand is still away from its place at the bottle [m].
fn approach(time: f64) -> f64 {
    AWAY * (1.0 - eased(time, APPROACH))
}
