//! Bounding boxes of a recording, for placing a camera.
//!
//! Boxes of every mesh instance at a few times of the run, without outliers that fly far away. Static
//! instances count only if the moving ones do not end inside them and are not tiny beside them.

use nalgebra::{Isometry3, Vector3};
use stiction_sim::record::Recording;

use crate::draw_list::{DrawList, MeshInstance};
use crate::interpolation::{poses_at, softs_at};
use crate::mesh::Mesh;

/// Number of sampled times.
const TIMES: usize = 24;
/// Number of sampled mesh instances.
const PARTS: usize = 1500;
/// Fraction of the boxes' sides that may be dropped at each end as outliers.
const OUTLIERS: f64 = 0.02;
/// Distance from which on a box is an outlier, in extents of the others.
const FAR: f64 = 1.0;
/// Static instances are left out if they are this many times larger than the moving ones.
const LOST: f64 = 25.0;
/// Least number of walls of a container.
const WALLS: usize = 4;
/// A mesh with more triangles than this, such as a bowl, counts as a whole container.
const SIMPLE: usize = 12;
/// Fraction of the moving instances that must end inside a container.
const MOST: f64 = 0.6;
/// Least radius [m], for an empty scene.
const LEAST: f64 = 1e-3;

/// A bounding box along the axes of the world.
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

    /// Bounds of the drawn instances between two times [s].
    pub fn of(recording: &Recording, draw_list: &DrawList, from: f64, to: f64) -> Self {
        Self::about(&boxes(recording, draw_list, from, to))
    }

    /// Bounds of most of some boxes, without outliers.
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

    /// Bounds of this box, given in the frame of a mesh instance, for the body's pose `X_WB`.
    fn placed(&self, instance: &MeshInstance, body: &Isometry3<f64>) -> Self {
        let pose = body * instance.pose;
        let corner = |k: usize| {
            let at =
                |axis: usize| if k >> axis & 1 == 1 { self.high[axis] } else { self.low[axis] };
            let local = Vector3::from_fn(|axis, _| at(axis)).component_mul(&instance.scale);
            (pose * nalgebra::Point3::from(local)).coords
        };
        let first = corner(0);
        (1..8).map(corner).fold(Self { low: first, high: first }, |b, p| Self {
            low: b.low.inf(&p),
            high: b.high.sup(&p),
        })
    }

    /// A cube with a middle and a radius [m].
    pub fn around(centre: Vector3<f64>, radius: f64) -> Self {
        let half = Vector3::repeat(radius / 3.0_f64.sqrt());
        Self { low: centre - half, high: centre + half }
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

/// Boxes of the drawn instances at some times between two [s].
pub fn boxes(recording: &Recording, draw_list: &DrawList, from: f64, to: f64) -> Vec<Bounds> {
    let boxes: Vec<Bounds> = draw_list.meshes.iter().map(Bounds::of_mesh).collect();
    let moving: Vec<&MeshInstance> =
        draw_list.instances.iter().filter(|instance| !instance.still).collect();
    let size = |instance: &MeshInstance| boxes[instance.mesh].radius() * instance.scale.amax();
    let largest = |still: bool| {
        let instances = draw_list.instances.iter().filter(|instance| instance.still == still);
        instances.map(size).fold(0.0, f64::max)
    };
    let alone = !moving.is_empty()
        && (is_contained(recording, draw_list) || largest(true) > LOST * largest(false));
    let instances = if alone { moving } else { draw_list.instances.iter().collect() };
    let times = if from < to { TIMES.min(recording.len().max(1)) } else { 1 };
    let mut found = Vec::new();
    for k in 0..times {
        let time = if k == 0 { from } else { from + (to - from) * k as f64 / (times - 1) as f64 };
        let poses = poses_at(recording, time);
        for instance in instances.iter().step_by((instances.len() / PARTS).max(1)) {
            found.push(boxes[instance.mesh].placed(instance, &poses[instance.body]));
        }
        let soft = softs_at(recording, time);
        if !soft.is_empty() {
            found.push(Bounds::of_points(&soft));
        }
    }
    found
}

/// Whether most moving instances end inside static ones, such as objects in a bin.
pub fn is_contained(recording: &Recording, draw_list: &DrawList) -> bool {
    let mut walls = 0;
    let mut about: Option<Bounds> = None;
    for instance in draw_list.instances.iter().filter(|instance| instance.still) {
        let mesh = &draw_list.meshes[instance.mesh];
        walls += if mesh.triangles.len() > SIMPLE { WALLS } else { 1 };
        let found = Bounds::of_mesh(mesh).placed(instance, &recording.rest[instance.body]);
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
