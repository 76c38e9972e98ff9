//! The way of a hand that piles dishes: it takes each from outside with digits all around, and sets it down on the pile.
//!
//! A plan is a function of time alone. Heights and widths of the grasps are those of the dishes in [`field_parts`](super::field_parts).

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector2, Vector3};
use std::f64::consts::PI;

use super::robots::digit_reach::{self, BENDS};
use super::robots::hand::HandSpec;
use super::robots::reach::eased;

/// How a dish is taken.
#[derive(Clone, Copy, Debug)]
pub struct DishGrasp {
    /// Height of the tips over the origin of the dish [m].
    pub height: f64,
    /// Distance of the surface from the axis where the tips touch it, measured to the centres of the tips [m].
    pub radius: f64,
    /// Depth of the tips below the middle of the palm [m], and direction of the last links [rad].
    pub depth: f64,
    /// Angle from outward towards below [rad].
    pub direction: f64,
    /// Force of each tip towards the axis [N].
    pub force: f64,
}

/// A dish that is moved from a place to the pile.
#[derive(Clone, Copy, Debug)]
pub struct Carry {
    /// Place at the start: angle [rad] and distance [m] about the arm.
    pub from: [f64; 2],
    /// Heights of the origin at the start and where the dish is let go [m].
    pub heights: [f64; 2],
    /// How it is taken.
    pub grasp: DishGrasp,
}

/// Durations [s]: to above the dish, down, close, lift, to above the pile, down, open, up.
const DURATIONS: [f64; 8] = [0.7, 0.5, 0.3, 0.6, 1.1, 0.6, 0.3, 0.4];
/// Time after the last dish was set down [s].
pub const AFTER: f64 = 0.6;
/// Height of the palm on the way [m].
const UP: f64 = 0.25;
/// How much wider than the dish the open hand is [m].
const OPENING: f64 = 0.014;

/// Carries one after the other onto a pile.
#[derive(Clone, Debug)]
pub struct PilingPlan {
    /// Place of the pile: angle [rad] and distance [m] about the arm.
    pub pile: [f64; 2],
    /// The dishes in their order.
    pub carries: Vec<Carry>,
}

/// Where a plan is at a time.
struct Moment<'a> {
    carry: &'a Carry,
    before: Option<&'a Carry>,
    /// Progress of the phases [-].
    done: [f64; DURATIONS.len()],
}

impl PilingPlan {
    /// Time of a carry [s].
    pub fn period() -> f64 {
        DURATIONS.iter().sum()
    }

    /// Time of all carries [s].
    pub fn duration(&self) -> f64 {
        self.carries.len() as f64 * Self::period()
    }

    /// Whether the hand holds the dish of a carry at a time [s]: it has closed and does not open.
    pub fn holds(&self, carry: usize, time: f64) -> bool {
        let of = time - carry as f64 * Self::period();
        let closed: f64 = DURATIONS[..3].iter().sum();
        let opens: f64 = DURATIONS[..6].iter().sum();
        (closed..opens).contains(&of)
    }

    fn moment(&self, time: f64) -> Option<Moment<'_>> {
        let last = self.carries.len().checked_sub(1)?;
        let k = ((time / Self::period()).max(0.0) as usize).min(last);
        let mut left = time - k as f64 * Self::period();
        let done = DURATIONS.map(|duration| {
            let part = eased(left, duration);
            left -= duration;
            part
        });
        let before = k.checked_sub(1).map(|k| &self.carries[k]);
        Some(Moment { carry: &self.carries[k], before, done })
    }

    /// Pose of the palm at a time [s]; above the pile at the start.
    pub fn palm(&self, time: f64) -> Isometry3<f64> {
        let (mut place, mut height) = (Vector2::from(self.pile), UP);
        if let Some(Moment { carry, done, .. }) = self.moment(time) {
            let [reached, down, _, lifted, back, lowered, _, raised] = done;
            place += (Vector2::from(carry.from) - place) * (reached - back);
            let above = carry.grasp.height + carry.grasp.depth;
            let [taken, left] = carry.heights.map(|height| height + above - UP);
            height += taken * (down - lifted) + left * (lowered - raised);
        }
        let yaw = UnitQuaternion::from_scaled_axis(Vector3::z() * place.x);
        let face_down = UnitQuaternion::from_scaled_axis(Vector3::x() * PI);
        let at = yaw * Vector3::new(place.y, 0.0, height);
        Isometry3::from_parts(Translation3::from(at), yaw * face_down)
    }

    /// Controls of the bending hinges of a digit at a time [s]: the angles at which its tip should be, ahead by what its servos,
    /// springs of a stiffness, turn into the force of the grasp.
    pub fn bends(&self, hand: &HandSpec, digit: usize, time: f64) -> [f64; BENDS] {
        let Some(Moment { carry, before, done }) = self.moment(time) else { return [0.0; BENDS] };
        let ([reached, _, closed, _, _, _, opened, _], digit) = (done, &hand.digits[digit]);
        let at = |grasp: &DishGrasp, wider: f64| {
            let tip = Vector2::new(grasp.radius + wider, grasp.depth);
            digit_reach::angles(digit, tip, grasp.direction)
        };
        let hold = closed - opened;
        let now = at(&carry.grasp, OPENING * (1.0 - hold));
        let push = Vector2::new(-carry.grasp.force * hold, 0.0);
        let torque = digit_reach::torques(digit, &now, push);
        let last = before.map_or(now, |carry| at(&carry.grasp, OPENING));
        let [stiffness, _] = hand.servo;
        std::array::from_fn(|k| last[k] + (now[k] - last[k]) * reached + torque[k] / stiffness)
    }
}
