//! Several shapes as one, each at its own pose. Parts may be of any bounded shape, compounds included.
//!
//! Volumes add up, so parts that overlap count twice in mass properties.

use super::Shape;
use crate::{Aabb, ShapeError};
use nalgebra::{Isometry3, Matrix3, Vector3};

/// Several shapes as one.
#[derive(Clone, Debug)]
pub struct Compound {
    parts: Vec<(Isometry3<f64>, Shape)>,
    bounds: Aabb,
    radius: f64,
}

impl Compound {
    /// Joins shapes at their poses in the frame of the compound.
    pub fn build(parts: Vec<(Isometry3<f64>, Shape)>) -> Result<Self, ShapeError> {
        let shape = "compound";
        if parts.is_empty() {
            return Err(ShapeError::TooFew { shape, element: "parts", found: 0, expected: 1 });
        }
        let (mut bounds, mut radius) = (Aabb::NONE, 0.0_f64);
        for (index, (pose, part)) in parts.iter().enumerate() {
            part.check()?;
            let expected = "a bounded shape at a finite pose";
            let region = part.bounds(pose);
            if !region.is_finite() {
                return Err(ShapeError::Part { shape, index, found: part.name(), expected });
            }
            bounds = bounds.union(&region);
            radius = radius.max(pose.translation.vector.norm() + part.bounding_radius());
        }
        Ok(Self { parts, bounds, radius })
    }

    /// The parts with their poses.
    pub fn parts(&self) -> &[(Isometry3<f64>, Shape)] {
        &self.parts
    }

    /// Bounds in the world [m].
    pub fn bounds(&self, X_WS: &Isometry3<f64>) -> Aabb {
        Aabb::of_box(X_WS, self.bounds.centre(), 0.5 * self.bounds.size())
    }

    /// Bounding radius about the shape's origin [m].
    pub fn bounding_radius(&self) -> f64 {
        self.radius
    }

    /// Mass [kg], centre of mass [m] and central inertia [kg·m²] at `density` [kg/m³]: the sums over the
    /// parts, by the parallel-axis theorem.
    pub fn mass_properties(&self, density: f64) -> (f64, Vector3<f64>, Matrix3<f64>) {
        let moved = |(pose, part): &(Isometry3<f64>, Shape)| {
            let (mass, centre, inertia) = part.mass_properties(density);
            let R = pose.rotation.to_rotation_matrix().into_inner();
            (mass, R * centre + pose.translation.vector, R * inertia * R.transpose())
        };
        let mass: f64 = self.parts.iter().map(|part| moved(part).0).sum();
        if !(mass > 0.0) {
            return (0.0, Vector3::zeros(), Matrix3::zeros());
        }
        let first = self.parts.iter().map(moved).map(|(m, c, _)| c * m);
        let centre = first.sum::<Vector3<f64>>() / mass;
        let mut inertia = Matrix3::zeros();
        for (m, c, central) in self.parts.iter().map(moved) {
            let arm = c - centre;
            let shift = Matrix3::identity() * arm.norm_squared() - arm * arm.transpose();
            inertia += central + shift * m;
        }
        (mass, centre, inertia)
    }

    /// Always succeeds: building validated the shape.
    pub fn check(&self) -> Result<(), ShapeError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_halves_have_the_mass_properties_of_the_whole() {
        let half = Shape::Box(Vector3::new(0.5, 1.0, 1.5));
        let at = |x: f64| Isometry3::translation(x, 2.0, 3.0);
        let both = Compound::build(vec![(at(0.5), half.clone()), (at(-0.5), half)]).unwrap();
        let (mass, centre, inertia) = both.mass_properties(2.0);
        let whole = Shape::Box(Vector3::new(1.0, 1.0, 1.5)).mass_properties(2.0);
        // Sums of a few numbers of order ten.
        assert!((mass - whole.0).abs() < 1e-13);
        assert!((centre - Vector3::new(0.0, 2.0, 3.0)).norm() < 1e-13);
        assert!((inertia - whole.2).norm() < 1e-12);
    }

    #[test]
    fn a_compound_of_nothing_or_of_a_plane_is_refused() {
        assert!(matches!(Compound::build(vec![]), Err(ShapeError::TooFew { .. })));
        let plane = vec![(Isometry3::identity(), Shape::Plane)];
        assert!(matches!(Compound::build(plane), Err(ShapeError::Part { index: 0, .. })));
    }
}
