//! First meeting of a moving signed distance field with another shape: the least gap of their contacts, advanced by a bound of the
//! speed of approach.

use super::{Advance, MOST_STEPS, MovingShape, SweepScratch, Target};
use crate::narrow::PosedShape;
use crate::nonconvex::field::least_gap;

/// The first meeting of two shapes of which at least one is a field.
pub(super) fn meeting(
    a: &MovingShape,
    b: &MovingShape,
    target: &Target,
    limit: f64,
    scratch: &mut SweepScratch,
) -> Option<f64> {
    let reach_of = |moving: &MovingShape| {
        let lever = (moving.X_WS.translation.vector - moving.motion.centre).norm();
        moving.motion.turn.norm() * (lever + moving.shape.bounding_radius())
    };
    let closing = (a.motion.shift - b.motion.shift).norm() + reach_of(a) + reach_of(b);
    let advance = Advance { closing, limit, tolerance: target.tolerance };
    let mut s = 0.0;
    for _ in 0..MOST_STEPS {
        let (X_WA, X_WB) = (a.pose(s), b.pose(s));
        let posed = |shape, X_WS| PosedShape { shape, X_WS };
        let reach = target.distance + target.tolerance + closing * (limit - s);
        let pair = (posed(a.shape, &X_WA), posed(b.shape, &X_WB));
        let left = least_gap(pair.0, pair.1, reach, &mut scratch.manifold)? - target.distance;
        if left <= target.tolerance {
            return Some(s);
        }
        s = advance.next(s, left)?;
    }
    Some(s)
}
