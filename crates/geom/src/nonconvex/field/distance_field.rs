//! Signed distances that triangles are tested against: fields, convex shapes, closed meshes.

use crate::field::{Field, FieldSample};
use crate::nonconvex::point_distance;
use crate::shape::Mesh;
use crate::{Aabb, Shape};
use nalgebra::Vector3;

/// A solid by its signed distance, in its own frame.
pub trait DistanceField {
    /// Value and gradient at a point.
    fn sample(&self, p: &Vector3<f64>) -> FieldSample;
    /// Bound of the change of the value per length [-].
    fn lipschitz(&self) -> f64;
    /// Bounds of the solid [m].
    fn bounds(&self) -> Aabb;
    /// A number that no other solid has, for those of which something is kept.
    fn identity(&self) -> Option<u64> {
        None
    }
}

impl DistanceField for Field {
    fn sample(&self, p: &Vector3<f64>) -> FieldSample {
        Field::sample(self, p)
    }

    fn lipschitz(&self) -> f64 {
        Field::lipschitz(self)
    }

    fn bounds(&self) -> Aabb {
        self.local_bounds()
    }

    fn identity(&self) -> Option<u64> {
        Some(Field::identity(self))
    }
}

/// A convex, bounded shape.
pub struct ConvexDistance<'a> {
    pub shape: &'a Shape,
    pub bounds: Aabb,
}

impl DistanceField for ConvexDistance<'_> {
    fn sample(&self, p: &Vector3<f64>) -> FieldSample {
        let found = point_distance::signed_distance(self.shape, p, |_| true);
        let (value, gradient) = found.unwrap_or((f64::INFINITY, Vector3::zeros()));
        FieldSample { value, gradient }
    }

    fn lipschitz(&self) -> f64 {
        1.0
    }

    fn bounds(&self) -> Aabb {
        self.bounds
    }
}

/// A closed mesh, by its exact distance.
pub struct MeshDistanceField<'a>(pub &'a Mesh);

impl DistanceField for MeshDistanceField<'_> {
    fn sample(&self, p: &Vector3<f64>) -> FieldSample {
        let found = self.0.signed_distance(p, f64::INFINITY);
        let found = found.map(|found| (found.distance, found.gradient));
        let (value, gradient) = found.unwrap_or((f64::INFINITY, Vector3::zeros()));
        FieldSample { value, gradient }
    }

    fn lipschitz(&self) -> f64 {
        1.0
    }

    fn bounds(&self) -> Aabb {
        self.0.local_bounds()
    }
}
