//! Polygons of contact patches for the page: bodies, pressure, and corners as differences from the corner before.

use stiction_sim::record::Recording;

use super::data::{REACH, ROUGH};
use crate::pack::{Packer, Scale};

/// Exponent of the quantum where no body has a known one.
const UNKNOWN: i32 = -14;

/// Adds the columns `patch.*`. `exponents` are those of the quanta of the bodies' places; corners have the finest of the bodies
/// with patches, or the resolution of a 32-bit float at the farthest corner.
pub(super) fn patches(recording: &Recording, exponents: &[i32], packer: &mut Packer) {
    let patches = &recording.frames.patches;
    let count: Vec<i32> =
        (0..patches.first.len()).map(|frame| patches.of(frame).len() as i32).collect();
    packer.integers("patch.count", 1, Scale::WHOLE, &count);
    let omitted: Vec<i32> = patches.omitted.iter().map(|&n| n as i32).collect();
    packer.integers("patch.omitted", 1, Scale::WHOLE, &omitted);
    let body = |shape: &u32| recording.shapes.get(*shape as usize).map_or(0, |seen| seen.body);
    let bodies: Vec<usize> = patches.shapes.iter().flatten().map(body).collect();
    let finest = bodies.iter().filter_map(|&body| exponents.get(body)).min().copied();
    let bodies: Vec<i32> = bodies.iter().map(|&body| body as i32).collect();
    packer.integers("patch.bodies", 2, Scale::WHOLE, &bodies);
    let pressure: Vec<f64> = patches.pressure.iter().map(|&p| f64::from(p)).collect();
    packer.column("patch.pressure", 1, ROUGH, &pressure);
    let corners: Vec<i32> = patches.corners.iter().map(|&n| i32::from(n)).collect();
    packer.integers("patch.corners", 1, Scale::WHOLE, &corners);
    let corner: Vec<f64> = patches.corner.iter().flatten().map(|&x| f64::from(x)).collect();
    let farthest = corner.iter().filter(|x| x.is_finite()).fold(0.0, |r: f64, x| r.max(x.abs()));
    let quantum = f64::from(finest.unwrap_or(UNKNOWN)).exp2().max(farthest * REACH);
    packer.column("patch.corner", 3, Scale::quantum(quantum), &corner);
}

#[cfg(test)]
mod tests {
    use crate::html::data::encode;
    use crate::pack::tests::unpack;
    use stiction_sim::record::{Frames, RecordedPatches, Recording};

    #[test]
    fn polygons_come_back_within_the_resolution_of_their_bodies() {
        let patches = RecordedPatches {
            first: vec![0, 2],
            first_corner: vec![0, 7],
            omitted: vec![0, 5],
            shapes: vec![[0, 1]; 3],
            pressure: vec![1.0e3, 0.0, 2.5e5],
            corners: vec![3, 4, 3],
            corner: (0..10).map(|k| [0.01 * k as f32, 0.5, -0.003 * k as f32]).collect(),
        };
        let frames = Frames { time: vec![0.0, 0.1], patches: patches.clone(), ..Frames::default() };
        let bodies = vec![String::new(); 2];
        let recording = Recording { frames, bodies, ..Recording::default() };
        let deflated = encode(&recording).unwrap();
        let (header, column) = unpack(&deflated);
        assert_eq!(column("patch.count"), [2, 1]);
        assert_eq!(column("patch.omitted"), [0, 5]);
        assert_eq!(column("patch.corners"), [3, 4, 3]);
        let quantum = header["columns"]["patch.corner"]["quantum"].as_f64().unwrap();
        // Without shapes, lengths have quanta of a tenth of a millimetre.
        assert!(quantum <= 1e-4, "{quantum}");
        for (found, expected) in column("patch.corner").iter().zip(patches.corner.as_flattened()) {
            let found = f64::from(*found) * quantum;
            assert!((found - f64::from(*expected)).abs() <= 0.5 * quantum, "{found} {expected}");
        }
    }
}
