//! Chords of equal length along a path, with frames that do not twist.
//!
//! The first chord starts at the first point; each next point is where the path first leaves the ball
//! around the last one. The length with which the last chord ends at the last point is found by
//! bisection. Frames follow the tangent by the smallest rotation from chord to chord.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};

/// Steps of the bisection: each halves the error.
const HALVINGS: usize = 200;

/// An error in a path.
pub(super) struct CablePathError {
    pub what: String,
    pub expected: &'static str,
}

/// Poses in the middle of `count` chords, z axes along them, and their length [m].
pub(super) fn chords(
    points: &[Vector3<f64>],
    count: usize,
) -> Result<(Vec<Isometry3<f64>>, f64), CablePathError> {
    check(points)?;
    let whole: f64 = points.windows(2).map(|pair| (pair[1] - pair[0]).norm()).sum();
    let mut corners = Vec::with_capacity(count + 1);
    // Bracket: at length zero all chords fit; at `long` they fit only if the path is straight.
    let (mut short, mut long) = (0.0, whole / count as f64);
    if walk(points, long, count, &mut corners) == count {
        short = long; // straight path: the chord length is exact
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (short + long);
        if !(middle > short && middle < long) {
            break;
        }
        if walk(points, middle, count, &mut corners) == count {
            short = middle;
        } else {
            long = middle;
        }
    }
    let end = points[points.len() - 1];
    if walk(points, short, count, &mut corners) < count
        || (corners[count] - end).norm() > 1e-6 * whole
    {
        let what = format!("a path that {count} chords of equal length cannot follow to its end");
        return Err(CablePathError {
            what,
            expected: "more segments, or a path with less narrow turns",
        });
    }
    Ok((frames(&corners, short), short))
}

fn check(points: &[Vector3<f64>]) -> Result<(), CablePathError> {
    if points.len() < 2 {
        let what = format!("a path of {} points", points.len());
        return Err(CablePathError { what, expected: "at least two" });
    }
    for (k, point) in points.iter().enumerate() {
        if let Some(found) = point.iter().find(|x| !x.is_finite()) {
            let what = format!("point {k} of the path with {found}");
            return Err(CablePathError { what, expected: "finite numbers" });
        }
        if k > 0 && (point - points[k - 1]).norm() == 0.0 {
            let what = format!("points {} and {k} of the path that coincide", k - 1);
            return Err(CablePathError { what, expected: "points that follow one another apart" });
        }
    }
    Ok(())
}

/// Puts chords along the path, at most `count`, and returns how many there is room for. `corners`
/// are their ends.
fn walk(
    points: &[Vector3<f64>],
    chord: f64,
    count: usize,
    corners: &mut Vec<Vector3<f64>>,
) -> usize {
    corners.clear();
    corners.push(points[0]);
    // Round-off of a length that just fits.
    let slack = 1e-12 * chord;
    let mut at = points[0];
    for pair in points.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        let way = b - a;
        loop {
            if corners.len() > count {
                return count;
            }
            let leaves = (b - at).norm();
            if leaves < chord - slack {
                break;
            }
            // |a + s way − at| = chord, the larger root.
            let from = a - at;
            let (A, B) = (way.norm_squared(), from.dot(&way));
            let C = from.norm_squared() - chord * chord;
            let s = ((-B + (B * B - A * C).max(0.0).sqrt()) / A).clamp(0.0, 1.0);
            at = a + s * way;
            corners.push(at);
        }
    }
    corners.len() - 1
}

fn frames(corners: &[Vector3<f64>], length: f64) -> Vec<Isometry3<f64>> {
    let mut rotation = UnitQuaternion::identity();
    let mut along = Vector3::z();
    let mut poses = Vec::with_capacity(corners.len() - 1);
    for pair in corners.windows(2) {
        let tangent = (pair[1] - pair[0]) / length;
        // For half a turn the smallest rotation is not unique: any axis across the tangent is used.
        let turn = UnitQuaternion::rotation_between(&along, &tangent).unwrap_or_else(|| {
            let least = Vector3::ith(tangent.iamin(), 1.0);
            let axis = nalgebra::Unit::new_normalize(tangent.cross(&least));
            UnitQuaternion::from_axis_angle(&axis, std::f64::consts::PI)
        });
        rotation = UnitQuaternion::new_normalize((turn * rotation).into_inner());
        along = tangent;
        poses.push(Isometry3::from_parts(Translation3::from(0.5 * (pair[0] + pair[1])), rotation));
    }
    poses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chords_have_one_length_meet_at_their_ends_and_reach_the_end_of_the_path() {
        let helix: Vec<Vector3<f64>> = (0..400)
            .map(|k| 0.02 * f64::from(k))
            .map(|t| Vector3::new(t.cos(), t.sin(), 0.1 * t))
            .collect();
        let Ok((poses, length)) = chords(&helix, 37) else { panic!("no chords") };
        let half = Translation3::new(0.0, 0.0, 0.5 * length);
        let tip = |pose: &Isometry3<f64>, half: Translation3<f64>| (pose * half).translation.vector;
        for pair in poses.windows(2) {
            let gap = tip(&pair[1], half.inverse()) - tip(&pair[0], half);
            assert!(gap.norm() < 1e-12, "{gap}");
        }
        assert!((tip(&poses[0], half.inverse()) - helix[0]).norm() < 1e-12);
        // The bisection ends where the ends of the last chord and of the path differ by round-off,
        // magnified by the number of chords.
        assert!((tip(&poses[36], half) - helix[399]).norm() < 1e-9);
    }

    #[test]
    fn frames_along_a_closed_plane_curve_do_not_twist() {
        // A circle in a plane: the smallest rotations all turn about its normal.
        let circle: Vec<Vector3<f64>> = (0..=60)
            .map(|k| std::f64::consts::TAU * f64::from(k) / 60.0)
            .map(|t| Vector3::new(t.cos(), 0.0, t.sin()))
            .collect();
        let Ok((poses, _)) = chords(&circle, 60) else { panic!("no chords") };
        for pair in poses.windows(2) {
            let turn = (pair[0].rotation.inverse() * pair[1].rotation).scaled_axis();
            assert!(turn.z.abs() < 1e-12, "{turn}");
        }
    }
}
