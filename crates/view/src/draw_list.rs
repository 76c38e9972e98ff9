//! The mesh instances and planes of a recording that are drawn, with their colours.
//!
//! The rules are those of the page. Where a body has visual shapes, its collision shapes are left out.
//! Shapes in the default grey get a colour per body. Static bodies around moving ones, such as a bin,
//! are walls.

use nalgebra::{Isometry3, Vector3};
use stiction_sim::record::{RecordedSoftBody, Recording};

use crate::crease::{self, CreasedSurface};
use crate::mesh::{Mesh, Meshes};

/// The default colour of a shape.
const DEFAULT_GREY: [f32; 3] = [0.6; 3];
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
pub struct MeshInstance {
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
    /// Linear red, green, blue and opacity, each from 0 to 1.
    pub colour: [f32; 4],
    /// Whether the body never moves.
    pub still: bool,
}

/// A half space z ≤ 0 of its pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlaneInstance {
    /// Index of the shape in the recording.
    pub shape: usize,
    /// Index of the body.
    pub body: usize,
    /// Pose in the frame of the body.
    pub pose: Isometry3<f64>,
}

/// The mesh instances and planes that are drawn.
#[derive(Debug)]
pub struct DrawList {
    /// Meshes, each once.
    pub meshes: Vec<Mesh>,
    /// Meshes on bodies.
    pub instances: Vec<MeshInstance>,
    /// Planes on bodies.
    pub planes: Vec<PlaneInstance>,
}

impl DrawList {
    /// The draw list of a recording. The more shapes are `expected`, the coarser each is drawn.
    pub fn new(recording: &Recording, expected: usize) -> Self {
        let mut meshes = Meshes::expecting(expected);
        let (mut instances, mut planes) = (Vec::new(), Vec::new());
        let mut has_visuals = vec![false; recording.bodies.len()];
        for seen in recording.shapes.iter().filter(|seen| !seen.collides && seen.body != 0) {
            has_visuals[seen.body] = true;
        }
        let slots = slots(recording);
        for (shape, seen) in recording.shapes.iter().enumerate() {
            if seen.collides && has_visuals[seen.body] {
                continue;
            }
            let colour = colour(seen.colour, seen.body, slots[seen.body]);
            for placed in meshes.of(&seen.geometry) {
                let pose = seen.pose * placed.pose;
                let Some(mesh) = placed.mesh else {
                    planes.push(PlaneInstance { shape, body: seen.body, pose });
                    continue;
                };
                instances.push(MeshInstance {
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
        Self { meshes: meshes.into_all(), instances, planes }
    }
}

/// Index of each body among the moving ones.
fn slots(recording: &Recording) -> Vec<Option<usize>> {
    let mut slots = vec![None; recording.bodies.len()];
    for (slot, &body) in recording.moving.iter().enumerate() {
        slots[body] = Some(slot);
    }
    slots
}

fn colour(own: [f32; 4], body: usize, slot: Option<usize>) -> [f32; 4] {
    let is_default = own.iter().zip(DEFAULT_GREY).all(|(c, grey)| (c - grey).abs() < SAME_COLOUR);
    let [r, g, b] = if is_default && body != 0 {
        body_colour(slot.unwrap_or(body))
    } else {
        [own[0], own[1], own[2]]
    };
    [linear(r), linear(g), linear(b), own[3].clamp(0.0, 1.0)]
}

/// The colour of a soft surface in linear RGB.
pub fn soft_colour(own: [f32; 4], index: usize) -> [f32; 4] {
    colour(own, index + 1, Some(index))
}

fn body_colour(index: usize) -> [f32; 3] {
    BODY_COLOURS[index % BODY_COLOURS.len()].map(|c| f32::from(c) / 255.0)
}

/// From sRGB to linear RGB [IEC 61966-2-1].
pub fn linear(c: f32) -> f32 {
    let c = c.clamp(0.0, 1.0);
    if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
}

/// The soft surfaces, cut at the creases of the first frame.
pub fn creases(recording: &Recording) -> Vec<CreasedSurface> {
    let mut first = 0;
    let split = |soft: &RecordedSoftBody| {
        let own = recording.frames.soft.get(first..first + soft.vertices);
        first += soft.vertices;
        crease::split(own.unwrap_or_default(), &soft.triangles)
    };
    recording.softs.iter().map(split).collect()
}
