//! Axis-aligned bounding boxes, the conservative test of whether two things may touch.

use nalgebra::{Isometry3, Vector3};

/// Axis-aligned bounding box, from its lowest to its highest corner [m].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    /// Lowest corner [m].
    pub min: Vector3<f64>,
    /// Highest corner [m].
    pub max: Vector3<f64>,
}

impl Aabb {
    /// All of space: the bounds of a plane.
    pub const ALL: Self = Self {
        min: Vector3::new(f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY),
        max: Vector3::new(f64::INFINITY, f64::INFINITY, f64::INFINITY),
    };

    /// The empty box: its union with any box is that box.
    pub const NONE: Self = Self { min: Self::ALL.max, max: Self::ALL.min };

    /// The box of half extents `half` [m] around `centre` [m].
    pub fn around(centre: Vector3<f64>, half: Vector3<f64>) -> Self {
        Self { min: centre - half, max: centre + half }
    }

    /// Bounds in the world of the box of half extents `half` [m] around `centre` [m] in the frame S.
    pub fn of_box(X_WS: &Isometry3<f64>, centre: Vector3<f64>, half: Vector3<f64>) -> Self {
        let R_WS = X_WS.rotation.to_rotation_matrix().into_inner();
        Self::around(R_WS * centre + X_WS.translation.vector, R_WS.abs() * half)
    }

    /// The smallest box that contains all `points` [m].
    pub fn of_points(points: impl IntoIterator<Item = Vector3<f64>>) -> Self {
        points
            .into_iter()
            .fold(Self::NONE, |sum, p| Self { min: sum.min.inf(&p), max: sum.max.sup(&p) })
    }

    /// The smallest box that contains both.
    pub fn union(&self, other: &Self) -> Self {
        Self { min: self.min.inf(&other.min), max: self.max.sup(&other.max) }
    }

    /// This box, larger by `distance` [m] on every side.
    pub fn inflated(&self, distance: f64) -> Self {
        self.inflated_by(Vector3::repeat(distance))
    }

    /// This box, larger on every side by the components of `distance` [m].
    pub fn inflated_by(&self, distance: Vector3<f64>) -> Self {
        Self { min: self.min - distance, max: self.max + distance }
    }

    /// Whether the two boxes share a point.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.min.x <= other.max.x
            && other.min.x <= self.max.x
            && self.min.y <= other.max.y
            && other.min.y <= self.max.y
            && self.min.z <= other.max.z
            && other.min.z <= self.max.z
    }

    /// Whether `other` lies within this box.
    pub fn contains(&self, other: &Self) -> bool {
        self.min.x <= other.min.x
            && other.max.x <= self.max.x
            && self.min.y <= other.min.y
            && other.max.y <= self.max.y
            && self.min.z <= other.min.z
            && other.max.z <= self.max.z
    }

    /// Whether the point `p` [m] lies within this box.
    pub fn contains_point(&self, p: &Vector3<f64>) -> bool {
        (0..3).all(|axis| self.min[axis] <= p[axis] && p[axis] <= self.max[axis])
    }

    /// Squared distance of the point `p` [m] from this box [m²].
    pub fn distance_squared(&self, p: &Vector3<f64>) -> f64 {
        (self.min - p).sup(&(p - self.max)).sup(&Vector3::zeros()).norm_squared()
    }

    /// Whether all corners are finite.
    pub fn is_finite(&self) -> bool {
        (0..3).all(|axis| self.min[axis].is_finite() && self.max[axis].is_finite())
    }

    /// Centre [m].
    pub fn centre(&self) -> Vector3<f64> {
        0.5 * (self.min + self.max)
    }

    /// Edge lengths [m].
    pub fn size(&self) -> Vector3<f64> {
        self.max - self.min
    }
}
