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
//! only if `d ≤ |Δ(c)| + |θ_a − θ_b| r + |θ_b| d`, with r the radius of the smaller shape. Seen from the larger shape, a plane
//! between them with normal n keeps them apart if their distance along n is more than `n·Δ(c) + |n × (θ_a − θ_b)| r`:
//! shapes that part or slide along one another do not meet.
//!
//! Of two mechanisms, or of one and what is fixed, either may stop, and nothing bounds how they move relative to one another. Still joints
//! guide both: along n each approaches the other by no more than its own motion, `(n·Δ_a)⁺ + |n × θ_a| r_a` and the same of b.

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
    /// Whether the joints of a mechanism guide it, so that impacts elsewhere turn its motion little.
    pub is_guided: bool,
}

impl FrameMotion {
    /// That of a frame which never moves.
    pub(super) const FIXED: Self = Self {
        shift: Vector3::new(0.0, 0.0, 0.0),
        turn: Vector3::new(0.0, 0.0, 0.0),
        group: 0,
        slack: 0.0,
        is_guided: true,
    };

    /// The motion of a shape whose centre lies at `offset` [m] from the frame's origin.
    pub(super) fn at(&self, offset: &Vector3<f64>) -> Self {
        Self { shift: self.shift + self.turn.cross(offset), ..*self }
    }
}

/// Share of the bound in all directions that is added along one [-]: for the curvature of paths, and accelerations.
const ACROSS: f64 = 0.25;

/// Motion of a shape A relative to a shape B of the same group.
#[derive(Clone, Copy, Debug)]
pub(super) struct RelativeMotion {
    /// Displacement of A relative to B at the centre of the smaller shape [m].
    shift: Vector3<f64>,
    /// Rotation relative to one another [rad].
    turn: Vector3<f64>,
    /// Radius of the smaller shape [m].
    radius: f64,
    /// 1/(1 − |θ_b|), for the rotation of the larger shape [-].
    stretch: f64,
    /// Distance by which points may move beside that [m].
    slack: f64,
    /// Bound of the distance [m] by which the shapes approach each other.
    approach: f64,
}

impl RelativeMotion {
    /// From the motions at the centres of two shapes and their radii [m]; `None` for frames of different groups, or if a
    /// shape turns too far for a bound.
    pub fn between(
        (a, centre_a, radius_a): (&FrameMotion, &Vector3<f64>, f64),
        (b, centre_b, radius_b): (&FrameMotion, &Vector3<f64>, f64),
    ) -> Option<Self> {
        if a.group != b.group {
            return None;
        }
        let (larger, radius, sign, offset) = if radius_a <= radius_b {
            (b, radius_a, 1.0, centre_a - centre_b)
        } else {
            (a, radius_b, -1.0, centre_b - centre_a)
        };
        let turn = larger.turn.norm();
        if !(turn < LARGE_TURN && radius.is_finite()) {
            return None;
        }
        let shift = a.shift - b.shift - sign * larger.turn.cross(&offset);
        let (turn, stretch) = (a.turn - b.turn, 1.0 / (1.0 - turn));
        let slack = a.slack + b.slack;
        let approach = slack + (shift.norm() + turn.norm() * radius) * stretch;
        Some(Self { shift, turn, radius, stretch, slack, approach })
    }

    /// Bound of the distance [m] by which the shapes approach each other.
    pub fn approach(&self) -> f64 {
        self.approach
    }

    /// Bound of the distance [m] by which the shapes approach each other along the unit vector `n` from A into B, which
    /// turns with the larger of them.
    pub fn approach_along(&self, n: &Vector3<f64>) -> f64 {
        let along = self.shift.dot(n).max(0.0) + self.turn.cross(n).norm() * self.radius;
        self.slack + along * self.stretch + ACROSS * self.approach()
    }
}

/// Motions of a shape A and a shape B of different mechanisms, or of one that is fixed.
#[derive(Clone, Copy, Debug)]
pub(super) struct GuidedMotions {
    /// Displacements of the centres, that of B with the opposite sign [m].
    shifts: [Vector3<f64>; 2],
    /// Rotations, times the radii [m].
    turns: [Vector3<f64>; 2],
    /// Distance by which points may move beside that, with the share for what moves across [m].
    slack: f64,
}

impl GuidedMotions {
    /// From the motions at the centres of two shapes and their radii [m]; `None` unless both are guided, or if a shape turns too
    /// far for a bound. `way` bounds the sum of both motions in all directions [m].
    pub fn between(
        (a, radius_a): (&FrameMotion, f64),
        (b, radius_b): (&FrameMotion, f64),
        way: f64,
    ) -> Option<Self> {
        let turns_little = |turn: &Vector3<f64>| turn.norm_squared() < LARGE_TURN * LARGE_TURN;
        let is_bounded = a.is_guided
            && b.is_guided
            && turns_little(&a.turn)
            && turns_little(&b.turn)
            && radius_a.is_finite()
            && radius_b.is_finite();
        is_bounded.then(|| {
            let turns = [radius_a * a.turn, radius_b * b.turn];
            let slack = a.slack + b.slack + ACROSS * way;
            Self { shifts: [a.shift, -b.shift], turns, slack }
        })
    }

    /// Bound of the distance [m] by which the shapes approach each other along the unit vector `n` from A into B.
    pub fn approach_along(&self, n: &Vector3<f64>) -> f64 {
        let [a, b] = [0, 1].map(|k| self.shifts[k].dot(n).max(0.0) + self.turns[k].cross(n).norm());
        self.slack + a + b
    }
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
            let motion =
                |shift, turn| FrameMotion { shift, turn, group: 1, ..FrameMotion::default() };
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
            let (on_a, on_b) = ((&a, &centre_a, radius_a), (&b, &centre_b, radius_b));
            let bound = RelativeMotion::between(on_a, on_b).unwrap().approach();
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
            ..FrameMotion::default()
        };
        let (p, q) = (Vector3::new(0.2, 0.0, -0.1), Vector3::new(-0.3, 0.4, 0.0));
        let (at_p, at_q) = (frame.at(&p), frame.at(&q));
        let motion = RelativeMotion::between((&at_p, &p, 0.1), (&at_q, &q, 0.2)).unwrap();
        let found = motion.approach().max(motion.approach_along(&Vector3::y()));
        // Sums of three terms of size 0.1.
        assert!(found <= 1e-16, "{found}");
    }

    #[test]
    fn shapes_that_part_or_slide_do_not_approach_along_the_normal() {
        let (n, centre) = (Vector3::z(), Vector3::new(0.0, 0.0, 0.5));
        let still = FrameMotion { group: 1, ..FrameMotion::default() };
        let along = |shift: Vector3<f64>| {
            let moving = FrameMotion { shift, ..still };
            let (a, b) = ((&moving, &Vector3::zeros(), 0.1), (&still, &centre, 0.2));
            RelativeMotion::between(a, b).unwrap().approach_along(&n)
        };
        // Products of numbers with few digits.
        assert!((along(0.1 * n) - (1.0 + ACROSS) * 0.1).abs() <= 1e-16);
        assert!((along(-0.1 * n) - ACROSS * 0.1).abs() <= 1e-16);
        assert!((along(0.1 * Vector3::x()) - ACROSS * 0.1).abs() <= 1e-16);
    }

    #[test]
    fn guided_shapes_approach_along_no_direction_by_more_than_the_bound_also_if_one_stops() {
        let mut random = SplitMix64::new(11);
        let mut vector = |size: f64| size * random.vector3();
        for _ in 0..2000 {
            let motion = |shift, turn, group| FrameMotion {
                shift,
                turn,
                group,
                is_guided: true,
                ..FrameMotion::default()
            };
            let a = motion(vector(0.1), vector(0.2), 1);
            let b = motion(vector(0.1), vector(0.2), 2);
            let (radius_a, radius_b) = (0.3, 0.7);
            let n = vector(1.0).normalize();
            let bound = GuidedMotions::between((&a, radius_a), (&b, radius_b), 0.0)
                .unwrap()
                .approach_along(&n);
            // Ways of points on the surfaces, to first order.
            let (x, y) = (vector(1.0).normalize() * radius_a, vector(1.0).normalize() * radius_b);
            let (of_a, of_b) = (a.shift + a.turn.cross(&x), b.shift + b.turn.cross(&y));
            for (of_a, of_b) in [(of_a, of_b), (of_a, Vector3::zeros()), (Vector3::zeros(), of_b)] {
                let approach = n.dot(&(of_a - of_b));
                // Up to the round-off of a few sums.
                assert!(approach <= bound + 1e-15, "{approach} exceeds {bound}");
            }
        }
    }

    #[test]
    fn what_joints_do_not_guide_has_no_bound_along_a_direction() {
        let loose = FrameMotion { group: 1, ..FrameMotion::default() };
        let fixed = FrameMotion::FIXED;
        assert!(GuidedMotions::between((&loose, 0.1), (&fixed, 0.1), 0.0).is_none());
        let guided = FrameMotion { is_guided: true, ..loose };
        assert!(GuidedMotions::between((&guided, 0.1), (&fixed, 0.1), 0.0).is_some());
        assert!(GuidedMotions::between((&guided, 0.1), (&fixed, f64::INFINITY), 0.0).is_none());
    }
}
