//! Where the things of a recording are, so that a camera can look at them.
//!
//! Boxes about every part at a few times of the run, without the few that fly far away. What stands
//! still counts only if what moves does not end within it and is not lost in it.

use nalgebra::{Isometry3, Vector3};
use stiction_sim::record::Recording;

use crate::mesh::Mesh;
use crate::scenery::{Part, Scenery, poses_at, softs_at};

/// Times that are looked at.
const TIMES: usize = 24;
/// Parts that are looked at.
const PARTS: usize = 1500;
/// Part of the boxes' sides that may lie outside, at each end, if they lie far outside.
const OUTLIERS: f64 = 0.02;
/// How far that is, in extents of the others.
const FAR: f64 = 1.0;
/// What stands still is left out if it is so many times larger than what moves.
const LOST: f64 = 25.0;
/// Walls that can contain something.
const WALLS: usize = 4;
/// A mesh with more triangles than this, such as a bowl, counts for all of them.
const SIMPLE: usize = 12;
/// Part of what moves that must end inside.
const MOST: f64 = 0.6;
/// The least radius [m], for a camera that looks at nothing.
const LEAST: f64 = 1e-3;

/// A box along the axes of the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Least coordinates [m].
    pub low: Vector3<f64>,
    /// Largest coordinates [m].
    pub high: Vector3<f64>,
}

impl Bounds {
    const NOTHING: Self =
        Self { low: Vector3::new(-1.0, -1.0, 0.0), high: Vector3::new(1.0, 1.0, 1.0) };

    /// What is seen between two times [s].
    pub fn of(recording: &Recording, scenery: &Scenery, from: f64, to: f64) -> Self {
        Self::about(&boxes(recording, scenery, from, to))
    }

    /// A box about most of some boxes.
    pub fn about(boxes: &[Self]) -> Self {
        let mut ends: [Vec<f64>; 3] = std::array::from_fn(|axis| {
            let both = boxes.iter().flat_map(|found| [found.low[axis], found.high[axis]]);
            both.filter(|x| x.is_finite()).collect()
        });
        if ends.iter().any(Vec::is_empty) {
            return Self::NOTHING;
        }
        for list in &mut ends {
            list.sort_by(f64::total_cmp);
        }
        let range = |list: &[f64]| {
            let last = list.len() - 1;
            let outside = (OUTLIERS * last as f64) as usize;
            let (low, high) = (list[outside], list[last - outside]);
            let reach = FAR * (high - low);
            let end = |most: f64, end: f64| if (most - end).abs() > reach { end } else { most };
            [end(list[0], low), end(list[last], high)]
        };
        let ranges = [range(&ends[0]), range(&ends[1]), range(&ends[2])];
        Self {
            low: Vector3::from_fn(|axis, _| ranges[axis][0]),
            high: Vector3::from_fn(|axis, _| ranges[axis][1]),
        }
    }

    fn of_points(points: &[[f32; 3]]) -> Self {
        let points = || points.iter().map(|p| Vector3::from(*p).cast::<f64>());
        Self {
            low: points().fold(Vector3::repeat(f64::INFINITY), |a, b| a.inf(&b)),
            high: points().fold(Vector3::repeat(f64::NEG_INFINITY), |a, b| a.sup(&b)),
        }
    }

    fn of_mesh(mesh: &Mesh) -> Self {
        if mesh.positions.is_empty() {
            return Self { low: Vector3::zeros(), high: Vector3::zeros() };
        }
        Self::of_points(&mesh.positions)
    }

    /// The box about this one on a part of a body at a pose.
    fn placed(&self, part: &Part, body: &Isometry3<f64>) -> Self {
        let pose = body * part.pose;
        let corner = |k: usize| {
            let at =
                |axis: usize| if k >> axis & 1 == 1 { self.high[axis] } else { self.low[axis] };
            let local = Vector3::from_fn(|axis, _| at(axis)).component_mul(&part.scale);
            (pose * nalgebra::Point3::from(local)).coords
        };
        let first = corner(0);
        (1..8).map(corner).fold(Self { low: first, high: first }, |b, p| Self {
            low: b.low.inf(&p),
            high: b.high.sup(&p),
        })
    }

    /// The middle [m].
    pub fn centre(&self) -> Vector3<f64> {
        0.5 * (self.low + self.high)
    }

    /// Half the diagonal [m].
    pub fn radius(&self) -> f64 {
        (0.5 * (self.high - self.low).norm()).max(LEAST)
    }

    /// The eight corners [m].
    pub fn corners(&self) -> [Vector3<f64>; 8] {
        std::array::from_fn(|k| {
            Vector3::from_fn(
                |axis, _| {
                    if k >> axis & 1 == 1 { self.high[axis] } else { self.low[axis] }
                },
            )
        })
    }
}

/// Boxes about what is seen at some times between two [s].
pub fn boxes(recording: &Recording, scenery: &Scenery, from: f64, to: f64) -> Vec<Bounds> {
    let boxes: Vec<Bounds> = scenery.meshes.iter().map(Bounds::of_mesh).collect();
    let moving: Vec<&Part> = scenery.parts.iter().filter(|part| !part.still).collect();
    let size = |part: &Part| boxes[part.mesh].radius() * part.scale.amax();
    let largest = |still: bool| {
        let parts = scenery.parts.iter().filter(|part| part.still == still);
        parts.map(size).fold(0.0, f64::max)
    };
    let alone = !moving.is_empty()
        && (is_contained(recording, scenery) || largest(true) > LOST * largest(false));
    let parts = if alone { moving } else { scenery.parts.iter().collect() };
    let times = if from < to { TIMES.min(recording.len().max(1)) } else { 1 };
    let mut found = Vec::new();
    for k in 0..times {
        let time = if k == 0 { from } else { from + (to - from) * k as f64 / (times - 1) as f64 };
        let poses = poses_at(recording, time);
        for part in parts.iter().step_by((parts.len() / PARTS).max(1)) {
            found.push(boxes[part.mesh].placed(part, &poses[part.body]));
        }
        let soft = softs_at(recording, time);
        if !soft.is_empty() {
            found.push(Bounds::of_points(&soft));
        }
    }
    found
}

/// Whether most of what moves ends within what stands still, such as things in a bin.
pub fn is_contained(recording: &Recording, scenery: &Scenery) -> bool {
    let mut walls = 0;
    let mut about: Option<Bounds> = None;
    for part in scenery.parts.iter().filter(|part| part.still) {
        let mesh = &scenery.meshes[part.mesh];
        walls += if mesh.triangles.len() > SIMPLE { WALLS } else { 1 };
        let found = Bounds::of_mesh(mesh).placed(part, &recording.rest[part.body]);
        about = Some(about.map_or(found, |about| Bounds {
            low: about.low.inf(&found.low),
            high: about.high.sup(&found.high),
        }));
    }
    let Some(about) = about.filter(|_| walls >= WALLS) else { return false };
    let poses = poses_at(recording, f64::INFINITY);
    let inside = |body: &&usize| {
        let p = poses[**body].translation.vector;
        (0..3).all(|axis| about.low[axis] < p[axis] && p[axis] < about.high[axis])
    };
    let count = recording.moving.iter().filter(inside).count();
    count as f64 > MOST * recording.moving.len() as f64
}
