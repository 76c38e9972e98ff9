//! Clipping of line segments to a rectangle.
//!
//! Clipping before writing keeps every coordinate in the file finite and small, which an SVG clip
//! path would not.

/// A point of the drawing [px], x to the right, y downwards.
pub(crate) type Point = (f64, f64);

/// Part of the segment from `a` to `b` inside `[0, width] × [0, height]`, if there is one.
///
/// Each of the four half planes cuts the parameter interval of the segment.
pub(crate) fn segment(a: Point, b: Point, (width, height): Point) -> Option<(Point, Point)> {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    // p t ≤ q for the left, right, upper and lower side.
    for (p, q) in [(-dx, a.0), (dx, width - a.0), (-dy, a.1), (dy, height - a.1)] {
        if p == 0.0 {
            if q < 0.0 {
                return None;
            }
        } else if p < 0.0 {
            enter = enter.max(q / p);
        } else {
            leave = leave.min(q / p);
        }
    }
    let at = |t: f64| if t == 1.0 { b } else { (a.0 + t * dx, a.1 + t * dy) };
    (enter <= leave).then(|| (at(enter), at(leave)))
}

/// Whether `a` lies in `[0, width] × [0, height]`.
pub(crate) fn contains(a: Point, (width, height): Point) -> bool {
    (0.0..=width).contains(&a.0) && (0.0..=height).contains(&a.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diagonal_through_the_box_is_cut_at_its_corners() {
        let cut = segment((-10.0, -10.0), (20.0, 20.0), (10.0, 10.0)).unwrap();
        // Cut parameters 1/3 and 2/3 of a length of 30: round-off of a few ulp of 30.
        for (found, exact) in [(cut.0, 0.0), (cut.1, 10.0)] {
            assert!((found.0 - exact).abs() < 1e-13 && (found.1 - exact).abs() < 1e-13);
        }
    }

    #[test]
    fn a_segment_inside_is_kept_and_one_outside_is_dropped() {
        let size = (10.0, 5.0);
        assert_eq!(segment((1.0, 1.0), (9.0, 4.0), size), Some(((1.0, 1.0), (9.0, 4.0))));
        assert_eq!(segment((-3.0, -1.0), (20.0, -1.0), size), None);
        assert_eq!(segment((-2.0, 4.0), (1.0, 9.0), size), None); // passes a corner outside
        assert!(contains((0.0, 5.0), size) && !contains((0.0, 5.1), size));
    }
}
