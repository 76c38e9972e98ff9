//! Where the tip of a digit is, in the plane in which it bends, and the torques with which it pushes.
//!
//! ```text
//!     ρ →  first hinge o────╮ l₁       ρ is the distance from the axis of the palm, d the distance below the palm along
//!     d ↓                   │ l₂       the palm's z; angles turn from ρ towards d. The tip is the centre of the round
//!                          ╱ l₃        end of the last link.
//!                         ● tip
//! ```

use nalgebra::Vector2;

use super::hand::Digit;

/// Hinges of a digit that bend it.
pub const BENDS: usize = 3;

/// Angles [rad] of the bending hinges at which the tip is at (ρ, d) [m] and the last link points along `direction` [rad]; the other
/// links bow outward. A tip out of reach is approached with stretched links.
pub fn angles(digit: &Digit, tip: Vector2<f64>, direction: f64) -> [f64; BENDS] {
    let [first, second, last] = lengths(digit);
    let foot = Vector2::new(digit.out, 0.0);
    let wrist = tip - along(direction) * last - foot;
    let far = wrist.norm().clamp((first - second).abs(), first + second);
    // The law of cosines in the triangle of the first two links.
    let inner = (first * first + far * far - second * second) / (2.0 * first * far);
    let one = wrist.y.atan2(wrist.x) - inner.clamp(-1.0, 1.0).acos();
    let rest = wrist - along(one) * first;
    let two = rest.y.atan2(rest.x);
    [one, two - one, direction - two]
}

/// Place (ρ, d) of the tip [m] at angles [rad].
pub fn tip(digit: &Digit, angles: &[f64; BENDS]) -> Vector2<f64> {
    hinges(digit, angles)[BENDS]
}

/// Torques [N·m] of the bending hinges with which the tip pushes with a force (ρ, d) [N]: Jᵀ F.
pub fn torques(digit: &Digit, angles: &[f64; BENDS], force: Vector2<f64>) -> [f64; BENDS] {
    let hinges = hinges(digit, angles);
    std::array::from_fn(|k| {
        let lever = hinges[BENDS] - hinges[k];
        Vector2::new(-lever.y, lever.x).dot(&force)
    })
}

/// The hinges and the tip.
fn hinges(digit: &Digit, angles: &[f64; BENDS]) -> [Vector2<f64>; BENDS + 1] {
    let lengths = lengths(digit);
    let (mut at, mut angle) = (Vector2::new(digit.out, 0.0), 0.0);
    std::array::from_fn(|k| {
        let here = at;
        if k < BENDS {
            angle += angles[k];
            at += along(angle) * lengths[k];
        }
        here
    })
}

fn along(angle: f64) -> Vector2<f64> {
    Vector2::new(angle.cos(), angle.sin())
}

/// Lengths of the links; those that are missing have none.
fn lengths(digit: &Digit) -> [f64; BENDS] {
    std::array::from_fn(|k| digit.links.get(k).map_or(0.0, |link| link[0]))
}

#[cfg(test)]
mod tests {
    use super::super::hand::ROUND;
    use super::*;

    #[test]
    fn the_tip_is_where_it_should_be_and_points_along_its_direction() {
        let digit = &ROUND.digits[0];
        for place in [[0.08, 0.085], [0.09, 0.075], [0.126, 0.06]] {
            for direction in [1.5, 1.75] {
                let wanted = Vector2::from(place);
                let found = angles(digit, wanted, direction);
                // A dozen operations on lengths below a metre.
                assert!((tip(digit, &found) - wanted).norm() < 1e-15, "{place:?}");
                assert!((found.iter().sum::<f64>() - direction).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn torques_do_the_work_of_the_force() {
        let digit = &ROUND.digits[0];
        let (at, force, step) = ([-0.2, 1.4, 0.3], Vector2::new(-3.0, 1.0), 1e-6);
        for (k, torque) in torques(digit, &at, force).into_iter().enumerate() {
            let moved = |by: f64| {
                let mut angles = at;
                angles[k] += by;
                tip(digit, &angles)
            };
            let work = (moved(step) - moved(-step)).dot(&force) / (2.0 * step);
            // Central differences: the round-off of 0.1 m over the step, times the force.
            assert!((work - torque).abs() < 1e-9, "{k}: {work} {torque}");
        }
    }
}
