//! What of a recording is drawn: meshes on bodies with their colours, planes, and poses over time.
//!
//! The rules are those of the page: where a body carries shapes made to be seen, those that it
//! touches with are left out; shapes in the grey that nobody chose get a colour per body; what
//! stands still around what moves, such as a bin, is a wall.

use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion, Vector3};
use stiction_sim::record::{Recording, Soft};

use crate::crease::{self, Creased};
use crate::mesh::{Mesh, Meshes};

/// The grey of a shape whose author chose no colour.
const UNCHOSEN: [f32; 3] = [0.6; 3];
const SAME_COLOUR: f32 = 1e-3;

/// Colours of bodies that have none of their own.
const BODY_COLOURS: [[u8; 3]; 10] = [
    [0x5b, 0x8d, 0xb8],
    [0xe3, 0xa8, 0x57],
    [0x79, 0xae, 0x82],
    [0xcf, 0x73, 0x69],
    [0x98, 0x87, 0xb8],
    [0x62, 0xb1, 0xb3],
    [0xd6, 0xbf, 0x63],
    [0xb7, 0x8a, 0x68],
    [0x8a, 0x9f, 0xb2],
    [0xd0, 0x8f, 0xae],
];

/// A mesh on a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// Index of the shape in the recording.
    pub shape: usize,
    /// Index of the body.
    pub body: usize,
    /// Index of the mesh.
    pub mesh: usize,
    /// Pose in the frame of the body.
    pub pose: Isometry3<f64>,
    /// Scale along the mesh's axes, before the pose.
    pub scale: Vector3<f64>,
    /// Red, green, blue (as light, linear) and opacity, each from 0 to 1.
    pub colour: [f32; 4],
    /// Whether the body never moves.
    pub still: bool,
}

/// What is drawn.
#[derive(Debug)]
pub struct Scenery {
    /// Meshes, each once.
    pub meshes: Vec<Mesh>,
    /// Meshes on bodies.
    pub parts: Vec<Part>,
    /// Half spaces z ≤ 0: body, and pose in the frame of the body.
    pub planes: Vec<(usize, Isometry3<f64>)>,
}

impl Scenery {
    /// What is drawn of a recording. `expected` shapes: with more of them each is drawn more coarsely.
    pub fn new(recording: &Recording, expected: usize) -> Self {
        let mut meshes = Meshes::expecting(expected);
        let (mut parts, mut planes) = (Vec::new(), Vec::new());
        let mut dressed = vec![false; recording.bodies.len()];
        for seen in recording.shapes.iter().filter(|seen| !seen.collides && seen.body != 0) {
            dressed[seen.body] = true;
        }
        let slots = slots(recording);
        for (shape, seen) in recording.shapes.iter().enumerate() {
            if seen.collides && dressed[seen.body] {
                continue;
            }
            let colour = colour(seen.colour, seen.body, slots[seen.body]);
            for placed in meshes.of(&seen.geometry) {
                let pose = seen.pose * placed.pose;
                let Some(mesh) = placed.mesh else {
                    planes.push((seen.body, pose));
                    continue;
                };
                parts.push(Part {
                    shape,
                    body: seen.body,
                    mesh,
                    pose,
                    scale: placed.scale.into(),
                    colour,
                    still: slots[seen.body].is_none(),
                });
            }
        }
        Self { meshes: meshes.into_all(), parts, planes }
    }
}

/// Place of each body among those that move.
fn slots(recording: &Recording) -> Vec<Option<usize>> {
    let mut slots = vec![None; recording.bodies.len()];
    for (slot, &body) in recording.moving.iter().enumerate() {
        slots[body] = Some(slot);
    }
    slots
}

fn colour(own: [f32; 4], body: usize, slot: Option<usize>) -> [f32; 4] {
    let unchosen = own.iter().zip(UNCHOSEN).all(|(c, grey)| (c - grey).abs() < SAME_COLOUR);
    let [r, g, b] = if unchosen && body != 0 {
        body_colour(slot.unwrap_or(body))
    } else {
        [own[0], own[1], own[2]]
    };
    [linear(r), linear(g), linear(b), own[3].clamp(0.0, 1.0)]
}

/// The colour of a soft surface, as light.
pub fn soft_colour(own: [f32; 4], index: usize) -> [f32; 4] {
    colour(own, index + 1, Some(index))
}

fn body_colour(index: usize) -> [f32; 3] {
    BODY_COLOURS[index % BODY_COLOURS.len()].map(|c| f32::from(c) / 255.0)
}

/// From a number of a picture to light [IEC 61966-2-1].
pub fn linear(c: f32) -> f32 {
    let c = c.clamp(0.0, 1.0);
    if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
}

/// Poses of all bodies at a time [s], between two frames between their poses, before the first and
/// after the last as in these; without frames at rest.
pub fn poses_at(recording: &Recording, time: f64) -> Vec<Isometry3<f64>> {
    let mut poses = recording.rest.clone();
    let Some((from, to, part)) = around(&recording.frames.time, time) else { return poses };
    let (frames, moving) = (&recording.frames, recording.moving.len());
    for (slot, &body) in recording.moving.iter().enumerate() {
        let of = |frame: usize| {
            let (position, [w, x, y, z]) =
                (frames.position[frame * moving + slot], frames.rotation[frame * moving + slot]);
            (Vector3::from(position), Quaternion::new(w, x, y, z))
        };
        let ((p, q), (p_to, q_to)) = (of(from), of(to));
        // The nearer of the two signs of the same orientation.
        let q_to = if q.dot(&q_to) < 0.0 { -q_to } else { q_to };
        let turned = if from == to { q } else { q.lerp(&q_to, part) };
        poses[body] = Isometry3::from_parts(
            Translation3::from(p.lerp(&p_to, part)),
            UnitQuaternion::from_quaternion(turned),
        );
    }
    poses
}

/// The soft surfaces, cut at the creases of the first frame.
pub fn creases(recording: &Recording) -> Vec<Creased> {
    let mut first = 0;
    let split = |soft: &Soft| {
        let own = recording.frames.soft.get(first..first + soft.vertices);
        first += soft.vertices;
        crease::split(own.unwrap_or_default(), &soft.triangles)
    };
    recording.softs.iter().map(split).collect()
}

/// Vertices of all soft surfaces at a time [s], as [`poses_at`].
pub fn softs_at(recording: &Recording, time: f64) -> Vec<[f32; 3]> {
    let count = crate::columns::soft_vertices(recording);
    let Some((from, to, part)) = around(&recording.frames.time, time) else { return Vec::new() };
    let of = |frame: usize| &recording.frames.soft[frame * count..][..count];
    let between = |(a, b): (&[f32; 3], &[f32; 3])| {
        std::array::from_fn(|k| a[k] + (b[k] - a[k]) * part as f32)
    };
    of(from).iter().zip(of(to)).map(between).collect()
}

/// The frame nearest to a time [s]; `None` without frames.
pub fn nearest(recording: &Recording, time: f64) -> Option<usize> {
    around(&recording.frames.time, time).map(|(from, to, part)| if part < 0.5 { from } else { to })
}

/// Frames before and after a time, and how far it lies between them, from 0 to 1.
fn around(times: &[f64], time: f64) -> Option<(usize, usize, f64)> {
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
        assert_eq!(around(&[], 1.0), None);
        assert_eq!(around(&times, 0.0), Some((0, 0, 0.0)));
        assert_eq!(around(&times, 2.0), Some((1, 1, 0.0)));
        assert_eq!(around(&times, 3.0), Some((1, 2, 0.5)));
        assert_eq!(around(&times, 4.0), Some((2, 2, 0.0)));
        assert_eq!(around(&times, 9.0), Some((2, 2, 0.0)));
        assert_eq!(around(&times, f64::NAN), Some((0, 0, 0.0)));
    }
}
