//! A capsule: all points within a radius of the segment from −half_length to +half_length on z.

use super::sphere;
use crate::narrow::SupportFeature;
use nalgebra::{Matrix3, Vector3};
use std::f64::consts::PI;

/// Volume \[m³\]: a cylinder and a ball.
pub fn volume(radius: f64, half_length: f64) -> f64 {
    2.0 * PI * radius * radius * half_length + sphere::volume(radius)
}

/// Inertia about the centre per unit of mass \[m²\].
///
/// Each half ball has its centre of mass ⅜ r beyond the end of the segment.
pub fn unit_inertia(radius: f64, half_length: f64) -> Matrix3<f64> {
    let (r, h) = (radius, half_length);
    let (m_c, m_s) = (2.0 * PI * r * r * h, sphere::volume(r));
    let axial = 0.5 * m_c * r * r + 0.4 * m_s * r * r;
    let across = m_c * (0.25 * r * r + h * h / 3.0) + m_s * (0.4 * r * r + h * h + 0.75 * r * h);
    Matrix3::from_diagonal(&Vector3::new(across, across, axial)) / (m_c + m_s)
}

/// Farthest point of the segment along `dir` [m].
pub fn support(half_length: f64, dir: &Vector3<f64>) -> Vector3<f64> {
    Vector3::new(0.0, 0.0, if dir.z < 0.0 { -half_length } else { half_length })
}

/// The whole segment, for every direction.
pub fn face(half_length: f64, face: &mut SupportFeature) {
    face.push(0, Vector3::new(0.0, 0.0, -half_length));
    face.push(1, Vector3::new(0.0, 0.0, half_length));
}
