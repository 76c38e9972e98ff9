//! A camera in perspective that looks at a box, or at a point, from some side.

use nalgebra::Vector3;

use crate::bounds::Bounds;

/// Angle of view over the height of the picture [rad].
const FIELD_OF_VIEW: f64 = 0.6;
/// Part of the picture that stays free around what is seen.
const BORDER: f64 = 0.12;
/// How often the target is moved to the middle, each time with what is left of the error squared.
const CENTRINGS: usize = 6;
/// What lies nearer than this part of the distance to the target is not seen.
const NEAR: f64 = 0.02;

/// Where the camera stands relative to what it looks at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// Angle about z from x to the camera [rad].
    pub yaw: f64,
    /// Angle above the ground [rad].
    pub pitch: f64,
    /// The point in the middle of the picture [m]; the middle of what is seen if absent.
    pub target: Option<Vector3<f64>>,
    /// Distance from that point [m]; so that everything just fits if absent.
    pub distance: Option<f64>,
    /// How many times closer than that [-].
    pub zoom: f64,
}

impl Default for View {
    fn default() -> Self {
        Self { yaw: -0.95, pitch: 0.42, target: None, distance: None, zoom: 1.0 }
    }
}

/// A camera.
#[derive(Clone, Copy, Debug)]
pub struct Camera {
    /// Where it stands [m].
    pub eye: Vector3<f64>,
    /// Unit vector to the right of the picture.
    pub right: Vector3<f64>,
    /// Unit vector up in the picture.
    pub up: Vector3<f64>,
    /// Unit vector from the target to the eye.
    pub backward: Vector3<f64>,
    /// Half the height of the picture at unit distance, its inverse.
    pub focal: f64,
    /// Depth from which on things are seen [m].
    pub near: f64,
}

impl Camera {
    /// A camera that sees what lies in some boxes and in the one about them, as near as their
    /// corners allow; `aspect` is width over height.
    pub fn fitting(bounds: &Bounds, boxes: &[Bounds], view: &View, aspect: f64) -> Self {
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
        // target moves until what is seen is in the middle of the picture.
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

    /// Right, up and forward of the eye [m].
    pub fn seen(&self, point: &Vector3<f64>) -> Vector3<f64> {
        let p = point - self.eye;
        Vector3::new(p.dot(&self.right), p.dot(&self.up), -p.dot(&self.backward))
    }
}
