//! Unbounded planes: shaded, with shadows and a grid, fading into the distance.
//!
//! View rays are intersected with the plane in closed form, without triangles; grid lines have a width
//! in pixels.

use nalgebra::{Isometry3, Vector3};

use crate::bounds::Bounds;

/// The linear colour of the ground and of the background.
pub const COLOUR: [f32; 3] = [0.904, 0.913, 0.930];
/// Darkness of lines, and strength of shadows.
const LINES: f32 = 0.22;
const SHADOW: f32 = 0.75;
/// Lines per thicker line.
const MAJOR: f64 = 5.0;
/// Half width of lines [px].
const THIN: f64 = 1.1;
const THICK: f64 = 1.4;
/// Half width, in units of the scene's radius, of horizontal planes and of others.
const REACH_LEVEL: f64 = 9.0;
const REACH: f64 = 4.0;
/// Brightness factor of a tilted plane, to distinguish it from the background.
const TILTED: f32 = 0.86;
/// Opacity of a plane seen from below.
const BELOW: f32 = 0.25;
/// Relative depth offset of planes, so that surfaces lying in one stay visible.
const BEHIND: f64 = 1e-5;

/// A plane.
#[derive(Clone, Copy, Debug)]
pub struct Ground {
    origin: Vector3<f64>,
    x: Vector3<f64>,
    y: Vector3<f64>,
    normal: Vector3<f64>,
    /// Middle of the scene, projected onto the plane.
    middle: [f64; 2],
    reach: f64,
    cell: f64,
    level: bool,
    shadow: f32,
}

/// Where a view ray meets a plane.
#[derive(Clone, Copy, Debug)]
pub struct Hit {
    /// Inverse of the depth [1/m].
    pub inverse: f64,
    /// The point, in plane coordinates.
    place: [f64; 2],
    /// Its change from pixel to pixel.
    slope: [f64; 2],
}

impl Ground {
    /// The half space z ≤ 0 of a pose.
    pub fn new(pose: &Isometry3<f64>, bounds: &Bounds) -> Self {
        let [x, y, normal] = [Vector3::x(), Vector3::y(), Vector3::z()].map(|axis| pose * axis);
        let origin = pose.translation.vector;
        let offset = bounds.centre() - origin;
        let level = normal.z > 0.9999;
        let radius = bounds.radius();
        Self {
            origin,
            x,
            y,
            normal,
            middle: [offset.dot(&x), offset.dot(&y)],
            reach: radius * if level { REACH_LEVEL } else { REACH },
            cell: 10_f64.powf((radius / 4.0).log10().round()),
            level,
            shadow: SHADOW,
        }
    }

    /// A grid below the scene, for recordings without plane.
    pub fn below(bounds: &Bounds) -> Self {
        let centre = bounds.centre();
        let z = bounds.low.z - 0.02 * bounds.radius();
        let pose = Isometry3::translation(centre.x, centre.y, z);
        let mut ground = Self::new(&pose, bounds);
        // Keeps the grid lines at their positions without the shift.
        ground.origin -= Vector3::new(centre.x, centre.y, 0.0);
        ground.middle = [centre.x, centre.y];
        ground.shadow = 0.5 * SHADOW;
        ground
    }

    /// Where a ray from the eye meets the plane. Directions have unit depth; `columns` and `rows`
    /// are their changes from pixel to pixel.
    pub fn hit(
        &self,
        eye: &Vector3<f64>,
        ray: &Vector3<f64>,
        columns: &Vector3<f64>,
        rows: &Vector3<f64>,
    ) -> Option<Hit> {
        let height = self.height(eye);
        let sink = ray.dot(&self.normal);
        let depth = -height / sink;
        if !(depth > 0.0 && depth.is_finite()) {
            return None;
        }
        let in_plane = |ray: &Vector3<f64>| {
            let p = eye + ray * (-height / ray.dot(&self.normal)) - self.origin;
            [p.dot(&self.x), p.dot(&self.y)]
        };
        let place = in_plane(ray);
        if (0..2).any(|k| !((place[k] - self.middle[k]).abs() < self.reach)) {
            return None;
        }
        let (column, row) = (in_plane(&(ray + columns)), in_plane(&(ray + rows)));
        let slope = [0, 1].map(|k| (column[k] - place[k]).abs() + (row[k] - place[k]).abs());
        Some(Hit { inverse: (1.0 - BEHIND) / depth, place, slope })
    }

    /// The unit normal, upwards.
    pub fn normal(&self) -> Vector3<f32> {
        self.normal.cast()
    }

    /// Distance of a point from the plane [m], negative below it.
    pub fn height(&self, point: &Vector3<f64>) -> f64 {
        (point - self.origin).dot(&self.normal)
    }

    /// The position of a hit relative to a point [m].
    pub fn place(&self, hit: &Hit, centre: &Vector3<f64>) -> Vector3<f32> {
        let p = self.origin + self.x * hit.place[0] + self.y * hit.place[1];
        (p - centre).cast()
    }

    /// The linear colour and the opacity at a hit. `lit` is the light there relative to that without
    /// shadows.
    pub fn shade(&self, hit: &Hit, eye: &Vector3<f64>, lit: f32) -> ([f32; 3], f32) {
        let dim = 1.0 + (lit - 1.0) * self.shadow;
        let away = [0, 1].map(|k| (hit.place[k] - self.middle[k]) / self.reach);
        let away = (away[0] * away[0] + away[1] * away[1]).sqrt() as f32;
        let fade = 1.0 - smooth(0.25, 1.0, away);
        let minor = 0.55 * lines(hit, self.cell, THIN);
        let line = minor.max(lines(hit, self.cell * MAJOR, THICK)) * fade * LINES;
        let base = if self.level { 1.0 } else { TILTED };
        let colour = COLOUR.map(|c| (c * base * dim * (1.0 - line)).max(0.0));
        let mut opacity = if self.level { fade } else { 1.0 - smooth(0.55, 0.75, away) };
        if self.height(eye) < 0.0 {
            opacity *= BELOW;
        }
        (colour, opacity)
    }
}

fn smooth(from: f32, to: f32, x: f32) -> f32 {
    let t = ((x - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Coverage of a pixel by grid lines; zero where lines are closer than pixels.
fn lines(hit: &Hit, cell: f64, width: f64) -> f32 {
    let mut line: f64 = 0.0;
    for k in 0..2 {
        let (place, slope) = (hit.place[k] / cell, (hit.slope[k] / cell).max(1e-6));
        let distance = (place - place.round()).abs() / slope;
        let clear = 1.0 - f64::from(smooth(0.15, 0.5, slope as f32));
        line = line.max((1.0 - distance / width).max(0.0) * clear);
    }
    line as f32
}
