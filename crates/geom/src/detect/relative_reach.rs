//! Distance within which the contacts of a pair are reported.
//!
//! The sum of the distances that two shapes may travel is far too much for shapes that are bound to travel
//! together: the links of a robot that walks or falls. Shapes that only happen to do so, such as bodies that fall
//! one above the other, part when the first of them lands, and keep the sum. With the displacements of their frames to first order, a
//! point x of the smaller shape, with centre c, and a point y of the other move relative to one another by
//!
//! ```text
//! Δ(c) + (θ_a − θ_b) × (x − c) + θ_b × (x − y),
//! ```
//!
//! where Δ(c) is the relative displacement at c and θ are the rotations. Points at a distance d can meet
//! only if `d ≤ |Δ(c)| + |θ_a − θ_b| r + |θ_b| d`, with r the radius of the smaller shape.

use nalgebra::Vector3;

/// Rotation of a frame above which the sum of the distances travelled is used [rad].
const LARGE_TURN: f64 = 0.5;

/// Displacement of a frame that is expected until the next detection, to first order, enlarged as contacts
/// are to be found ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FrameMotion {
    /// Displacement of the frame's origin [m].
    pub shift: Vector3<f64>,
    /// Rotation vector [rad].
    pub turn: Vector3<f64>,
    /// The group of frames to which it belongs, such as the links of a mechanism: those of one group travel
    /// together.
    pub group: u32,
    /// Distance by which any point may move beside that [m].
    pub slack: f64,
}

impl FrameMotion {
    /// The motion of a shape whose centre lies at `offset` [m] from the frame's origin.
    pub(super) fn at(&self, offset: &Vector3<f64>) -> Self {
        Self { shift: self.shift + self.turn.cross(offset), ..*self }
    }
}

/// Bound of the distance [m] by which two shapes approach each other, given the motions at their centres
/// and their radii [m]; infinite for frames of different groups, or if a shape turns too far for the bound.
pub(super) fn approach(
    (a, centre_a, radius_a): (&FrameMotion, &Vector3<f64>, f64),
    (b, centre_b, radius_b): (&FrameMotion, &Vector3<f64>, f64),
) -> f64 {
    let (small, large, offset, radius) = if radius_a <= radius_b {
        (a, b, centre_a - centre_b, radius_a)
    } else {
        (b, a, centre_b - centre_a, radius_b)
    };
    if a.group != b.group {
        return f64::INFINITY;
    }
    let turn = large.turn.norm();
    if !(turn < LARGE_TURN && radius.is_finite()) {
        return f64::INFINITY;
    }
    let relative = small.shift - large.shift - large.turn.cross(&offset);
    let bound = relative.norm() + (small.turn - large.turn).norm() * radius;
    a.slack + b.slack + bound / (1.0 - turn)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_math::random::SplitMix64;

    #[test]
    fn the_bound_holds_for_every_pair_of_points_that_meet() {
        let mut random = SplitMix64::new(7);
        let mut vector = |size: f64| size * random.vector3();
        for _ in 0..2000 {
            let motion = |shift, turn| FrameMotion { shift, turn, group: 1, slack: 0.0 };
            let a = motion(vector(0.1), vector(0.2));
            let b = motion(vector(0.1), vector(0.2));
            let (centre_a, centre_b) = (vector(0.5), vector(0.5));
            let (radius_a, radius_b) = (0.3, 0.7);
            // A point of A, and the point at which a point of B must be to end at the same place.
            let x = centre_a + vector(1.0).normalize() * radius_a;
            let end = x + a.shift + a.turn.cross(&(x - centre_a));
            // y + s + θ × (y − c) = end, by iteration: θ is small.
            let mut y = x;
            for _ in 0..100 {
                y = end - b.shift - b.turn.cross(&(y - centre_b));
            }
            let bound = approach((&a, &centre_a, radius_a), (&b, &centre_b, radius_b));
            let distance = (x - y).norm();
            // Up to the round-off of a few sums.
            assert!(distance <= bound * (1.0 + 1e-12), "{distance} exceeds {bound}");
        }
    }

    #[test]
    fn shapes_on_one_frame_do_not_approach() {
        let frame = FrameMotion {
            shift: Vector3::new(0.1, 0.2, 0.3),
            turn: Vector3::new(-0.1, 0.05, 0.2),
            group: 1,
            slack: 0.0,
        };
        let (p, q) = (Vector3::new(0.2, 0.0, -0.1), Vector3::new(-0.3, 0.4, 0.0));
        let found = approach((&frame.at(&p), &p, 0.1), (&frame.at(&q), &q, 0.2));
        // Sums of three terms of size 0.1.
        assert!(found <= 1e-16, "{found}");
    }
}
