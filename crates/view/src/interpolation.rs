//! Poses and soft vertices of a recording at any time, interpolated between its frames.

use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion, Vector3};
use stiction_sim::record::Recording;

/// Poses of all bodies at a time [s], interpolated between the two frames around it. Before the first
/// and after the last frame, the poses of that frame; without frames, the poses at rest.
pub fn poses_at(recording: &Recording, time: f64) -> Vec<Isometry3<f64>> {
    let mut poses = recording.rest.clone();
    let Some((from, to, fraction)) = frames_around(&recording.frames.time, time) else {
        return poses;
    };
    let (frames, moving) = (&recording.frames, recording.moving.len());
    for (slot, &body) in recording.moving.iter().enumerate() {
        let of = |frame: usize| {
            let (position, [w, x, y, z]) =
                (frames.position[frame * moving + slot], frames.rotation[frame * moving + slot]);
            (Vector3::from(position), Quaternion::new(w, x, y, z))
        };
        let ((p, q), (p_to, q_to)) = (of(from), of(to));
        // q and −q are the same rotation: interpolate to the nearer one.
        let q_to = if q.dot(&q_to) < 0.0 { -q_to } else { q_to };
        let turned = if from == to { q } else { q.lerp(&q_to, fraction) };
        poses[body] = Isometry3::from_parts(
            Translation3::from(p.lerp(&p_to, fraction)),
            UnitQuaternion::from_quaternion(turned),
        );
    }
    poses
}

/// Vertices of all soft surfaces at a time [s], interpolated like [`poses_at`].
pub fn softs_at(recording: &Recording, time: f64) -> Vec<[f32; 3]> {
    let count = crate::columns::soft_vertices(recording);
    let Some((from, to, fraction)) = frames_around(&recording.frames.time, time) else {
        return Vec::new();
    };
    let of = |frame: usize| &recording.frames.soft[frame * count..][..count];
    let between = |(a, b): (&[f32; 3], &[f32; 3])| {
        std::array::from_fn(|k| a[k] + (b[k] - a[k]) * fraction as f32)
    };
    of(from).iter().zip(of(to)).map(between).collect()
}

/// The frame nearest to a time [s]; `None` without frames.
pub fn nearest(recording: &Recording, time: f64) -> Option<usize> {
    frames_around(&recording.frames.time, time)
        .map(|(from, to, fraction)| if fraction < 0.5 { from } else { to })
}

/// Frames before and after a time, and the fraction of the way between them, from 0 to 1.
fn frames_around(times: &[f64], time: f64) -> Option<(usize, usize, f64)> {
    let last = times.len().checked_sub(1)?;
    let after = times.partition_point(|t| *t <= time);
    if after == 0 || after > last {
        let end = after.min(last);
        return Some((end, end, 0.0));
    }
    let (from, to) = (times[after - 1], times[after]);
    if from == time {
        Some((after - 1, after - 1, 0.0))
    } else {
        Some((after - 1, after, (time - from) / (to - from)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_lies_between_two_frames_or_at_an_end() {
        let times = [1.0, 2.0, 4.0];
        assert_eq!(frames_around(&[], 1.0), None);
        assert_eq!(frames_around(&times, 0.0), Some((0, 0, 0.0)));
        assert_eq!(frames_around(&times, 2.0), Some((1, 1, 0.0)));
        assert_eq!(frames_around(&times, 3.0), Some((1, 2, 0.5)));
        assert_eq!(frames_around(&times, 4.0), Some((2, 2, 0.0)));
        assert_eq!(frames_around(&times, 9.0), Some((2, 2, 0.0)));
        assert_eq!(frames_around(&times, f64::NAN), Some((0, 0, 0.0)));
    }
}
