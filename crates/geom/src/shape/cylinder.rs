//! A cylinder about z, with flat caps at −half_length and +half_length.

use crate::narrow::SupportFeature;
use nalgebra::{Matrix3, Vector3};
use std::f64::consts::PI;

/// Number of points of a rim that represent a cap's circle in a manifold.
///
/// They lie on the circle, so that gaps at them are exact.
const RIM_POINTS: usize = 8;

/// Sine of the tilt below which the rim's points are fixed in the cylinder.
///
/// The lowest point of the rim of an upright cylinder is determined by round-off alone; points chosen from
/// it would jump from step to step.
const UPRIGHT: f64 = 1e-6;

/// Volume \[m³\].
pub fn volume(radius: f64, half_length: f64) -> f64 {
    2.0 * PI * radius * radius * half_length
}

/// Inertia about the centre per unit of mass \[m²\].
pub fn unit_inertia(radius: f64, half_length: f64) -> Matrix3<f64> {
    let (r2, h2) = (radius * radius, half_length * half_length);
    let across = 0.25 * r2 + h2 / 3.0;
    Matrix3::from_diagonal(&Vector3::new(across, across, 0.5 * r2))
}

/// Farthest point along `dir` [m]; on the axis of a cap when `dir` is along z.
pub fn support(radius: f64, half_length: f64, dir: &Vector3<f64>) -> Vector3<f64> {
    let across = dir.x.hypot(dir.y);
    let scale = if across > 0.0 { radius / across } else { 0.0 };
    let z = if dir.z < 0.0 { -half_length } else { half_length };
    Vector3::new(scale * dir.x, scale * dir.y, z)
}

/// The cap as a polygon if `dir` is closer to the axis than to the radial plane, else the line on the side.
///
/// The polygon's first vertex is the point of the rim farthest along `dir`, so that the deepest point of
/// the circle is always one of the vertices, and all vertices move continuously.
pub fn face(radius: f64, half_length: f64, dir: &Vector3<f64>, face: &mut SupportFeature) {
    let across = dir.x.hypot(dir.y);
    let (cos, sin) = heading(dir);
    if dir.z.abs() <= across {
        let (x, y) = (radius * cos, radius * sin);
        face.push(0, Vector3::new(x, y, -half_length));
        face.push(1, Vector3::new(x, y, half_length));
        return;
    }
    let top = dir.z > 0.0;
    for k in 0..RIM_POINTS {
        // Counter-clockwise seen from outside: the lower cap is seen from below.
        let turn = if top { k } else { (RIM_POINTS - k) % RIM_POINTS };
        let (s, c) = (turn as f64 * (2.0 * PI / RIM_POINTS as f64)).sin_cos();
        let (x, y) = (radius * (cos * c - sin * s), radius * (sin * c + cos * s));
        let id = 2 + turn + if top { RIM_POINTS } else { 0 };
        face.push(id as u32, Vector3::new(x, y, if top { half_length } else { -half_length }));
    }
}

/// Cosine and sine of the direction about the axis in which the rim's first point lies.
pub fn heading(dir: &Vector3<f64>) -> (f64, f64) {
    let across = dir.x.hypot(dir.y);
    if across > UPRIGHT * dir.z.abs() { (dir.x / across, dir.y / across) } else { (1.0, 0.0) }
}

/// Second derivative of the support function at the unit vector `n` [m]: that of r ‖(n_x, n_y)‖;
/// `None` near the axis, where the cap is flat.
pub fn curvature(radius: f64, n: &Vector3<f64>) -> Option<Matrix3<f64>> {
    let across = n.x.hypot(n.y);
    let (x, y) = (n.x / across, n.y / across);
    let scale = radius / across;
    (across > UPRIGHT).then(|| {
        let (xx, xy, yy) = (scale * y * y, -scale * x * y, scale * x * x);
        Matrix3::new(xx, xy, 0.0, xy, yy, 0.0, 0.0, 0.0, 0.0)
    })
}
