//! A height field.

use crate::{Aabb, ShapeError};
use nalgebra::{Isometry3, Matrix3, Vector3};

/// A height field.
#[derive(Clone, Debug)]
pub struct HeightField {
    bounds: Aabb,
}

impl HeightField {
    /// Bounds in the world [m].
    pub fn bounds(&self, X_WS: &Isometry3<f64>) -> Aabb {
        Aabb::of_box(X_WS, self.bounds.centre(), 0.5 * self.bounds.size())
    }

    /// Radius about the shape's origin that holds all of it [m].
    pub fn bounding_radius(&self) -> f64 {
        self.bounds.min.abs().sup(&self.bounds.max.abs()).norm()
    }

    /// Mass [kg], centre of mass [m] and central inertia [kg·m²] at `density` [kg/m³].
    pub fn mass_properties(&self, _density: f64) -> (f64, Vector3<f64>, Matrix3<f64>) {
        (0.0, Vector3::zeros(), Matrix3::zeros())
    }

    /// Checks that the shape can exist.
    pub fn check(&self) -> Result<(), ShapeError> {
        Ok(())
    }
}
