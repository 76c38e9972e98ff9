//! A perspective camera, aimed at a box or at a point.

use nalgebra::Vector3;

use crate::bounds::Bounds;

/// Angle of view over the height of the picture [rad].
const FIELD_OF_VIEW: f64 = 0.6;
/// Fraction of the picture that stays free around the scene.
const BORDER: f64 = 0.12;
/// Number of corrections of the target; each squares the remaining error.
const CENTRINGS: usize = 6;
/// Distance of the near plane, relative to the distance to the target.
const NEAR: f64 = 0.02;

/// Direction, target, distance and zoom of a camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraView {
    /// Angle about z from x to the camera [rad].
    pub yaw: f64,
    /// Angle above the ground [rad].
    pub pitch: f64,
    /// The point in the middle of the picture [m]; the middle of the scene if absent.
    pub target: Option<Vector3<f64>>,
    /// Distance from that point [m]; such that the scene just fits if absent.
    pub distance: Option<f64>,
    /// Factor by which the camera is closer than that [-].
    pub zoom: f64,
}

impl Default for CameraView {
    fn default() -> Self {
        Self { yaw: -0.95, pitch: 0.42, target: None, distance: None, zoom: 1.0 }
    }
}

/// A camera.
#[derive(Clone, Copy, Debug)]
pub struct Camera {
    /// Position [m].
    pub eye: Vector3<f64>,
    /// Unit vector to the right of the picture.
    pub right: Vector3<f64>,
    /// Unit vector up in the picture.
    pub up: Vector3<f64>,
    /// Unit vector from the target to the eye.
    pub backward: Vector3<f64>,
    /// Focal length: one over half the height of the picture at unit distance.
    pub focal: f64,
    /// Depth of the near plane [m].
    pub near: f64,
}

impl Camera {
    /// A camera as near as possible that shows the corners of some boxes and of their bounds; `aspect`
    /// is width over height.
    pub fn fitting(bounds: &Bounds, boxes: &[Bounds], view: &CameraView, aspect: f64) -> Self {
        let within = |corner: Vector3<f64>| corner.sup(&bounds.low).inf(&bounds.high);
        let finite = |corner: &Vector3<f64>| corner.iter().all(|x| x.is_finite());
        let mut corners: Vec<Vector3<f64>> =
            boxes.iter().flat_map(Bounds::corners).filter(finite).map(within).collect();
        if corners.is_empty() {
            corners = bounds.corners().into();
        }
        let (sin, cos) = view.pitch.sin_cos();
        let backward = Vector3::new(cos * view.yaw.cos(), cos * view.yaw.sin(), sin);
        let right = Vector3::new(-view.yaw.sin(), view.yaw.cos(), 0.0);
        let up = backward.cross(&right);
        let half = (0.5 * FIELD_OF_VIEW).tan();
        let (tall, wide) = (half * (1.0 - BORDER), half * (1.0 - BORDER) * aspect);
        // Corners at target + backward · depth + … fit at the distance depth + |across| / wide; the
        // target moves until the scene is in the middle of the picture.
        let mut target = view.target.unwrap_or_else(|| bounds.centre());
        let mut distance = 0.0;
        for round in 0..CENTRINGS {
            let places: Vec<_> = corners.iter().map(|corner| corner - target).collect();
            let needed = |p: &Vector3<f64>| {
                let (across, along) = (p.dot(&right).abs() / wide, p.dot(&up).abs() / tall);
                p.dot(&backward) + f64::max(across, along)
            };
            distance = places.iter().map(needed).fold(0.5 * bounds.radius(), f64::max);
            if round + 1 == CENTRINGS || view.target.is_some() {
                break;
            }
            for axis in [right, up] {
                let seen = places.iter().map(|p| p.dot(&axis) / (distance - p.dot(&backward)));
                let (low, high) = seen
                    .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
                        (low.min(x), high.max(x))
                    });
                target += axis * (0.5 * (low + high) * distance);
            }
        }
        let distance = view.distance.unwrap_or(distance) / view.zoom;
        let eye = target + backward * distance;
        Self { eye, right, up, backward, focal: 1.0 / half, near: NEAR * distance }
    }

    /// A world point in the camera's frame: right, up and forward of the eye [m].
    pub fn to_camera_frame(&self, point: &Vector3<f64>) -> Vector3<f64> {
        let p = point - self.eye;
        Vector3::new(p.dot(&self.right), p.dot(&self.up), -p.dot(&self.backward))
    }
}
