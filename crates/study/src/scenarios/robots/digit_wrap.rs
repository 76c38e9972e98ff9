//! A digit of two links that wraps around a rod which lies on the palm, in the plane in which it bends.
//!
//! ```text
//!            ___ second link        the first link passes the rod at a distance, the second one touches it and
//!          ╱ ___ ╲                  presses it against the palm
//!   first │ ╱   ╲                   ρ from the axis of the palm, d along its z; angles turn from ρ towards d
//!   link  │ ╲rod╱ │
//!         o───────────  palm → ρ
//! ```

use nalgebra::Vector2;
use std::f64::consts::TAU;

use super::hand::Digit;

/// Hinges of a digit that bend it.
pub const BENDS: usize = 2;

/// A digit around a rod.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wrap {
    /// Angles of the hinges [rad].
    pub angles: [f64; BENDS],
    /// Torques of the hinges [N·m] per force [N] of the second link on the rod.
    pub levers: [f64; BENDS],
}

/// Distance at which the first link passes the rod [m].
const CLEAR: f64 = 4e-3;

/// A digit whose second link lies at a rod with its axis at the distance `depth` [m] above the middle of the palm; `radius` [m] is
/// that of the rod and of a link together.
pub fn around(digit: &Digit, depth: f64, radius: f64) -> Wrap {
    let axis = Vector2::new(0.0, depth);
    let foot = Vector2::new(digit.out, 0.0);
    let (first, _) = tangent(axis - foot, radius + CLEAR);
    let length = digit.links.first().map_or(0.0, |link| link[0]);
    let hinge = foot + along(first) * length;
    let (second, reach) = tangent(axis - hinge, radius);
    let touch = hinge + along(second) * reach - foot;
    // The link pushes across itself, towards the rod.
    let push = Vector2::new(-second.sin(), second.cos());
    Wrap { angles: [first, second - first], levers: [touch.perp(&push), reach] }
}

/// Angle [rad] of the tangent from the origin to a circle that it passes on the outer side, and the distance to where it touches [m].
fn tangent(centre: Vector2<f64>, radius: f64) -> (f64, f64) {
    let far = centre.norm().max(radius);
    let angle = centre.y.atan2(centre.x) - (radius / far).asin();
    (angle.rem_euclid(TAU), (far * far - radius * radius).sqrt())
}

fn along(angle: f64) -> Vector2<f64> {
    Vector2::new(angle.cos(), angle.sin())
}

#[cfg(test)]
mod tests {
    use super::super::hand::WRAPPING;
    use super::*;

    #[test]
    fn links_touch_the_rod_beyond_their_hinges_and_levers_are_those_of_the_push() {
        let digit = &WRAPPING.digits[0];
        let (depth, radius) = (0.05, 0.0465);
        let wrap = around(digit, depth, radius);
        let lengths = [digit.links[0][0], digit.links[1][0]];
        let (mut hinge, mut angle) = (Vector2::new(digit.out, 0.0), 0.0);
        let axis = Vector2::new(0.0, depth);
        let mut touch = hinge;
        for k in 0..BENDS {
            angle += wrap.angles[k];
            let on = (axis - hinge).dot(&along(angle));
            assert!((0.0..lengths[k]).contains(&on), "the link ends before the rod: {on}");
            touch = hinge + along(angle) * on;
            // Lengths below a metre, a dozen operations.
            assert!(((axis - touch).norm() - radius - [CLEAR, 0.0][k]).abs() < 1e-15);
            hinge += along(angle) * lengths[k];
        }
        let push = (axis - touch).normalize();
        let first = (touch - Vector2::new(digit.out, 0.0)).perp(&push);
        assert!((first - wrap.levers[0]).abs() < 1e-15, "{first} {wrap:?}");
        assert!(wrap.levers.iter().all(|lever| *lever > 0.0), "{wrap:?}");
    }
}
