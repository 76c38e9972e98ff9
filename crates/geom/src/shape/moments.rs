//! Volume, centroid and second moments of a solid bounded by triangles.
//!
//! Each triangle spans a tetrahedron with a reference point; the integrals of 1, x and x xᵀ over
//! tetrahedra have closed forms and add up with the sign of the volume, so the sum is exact for every
//! closed, consistently oriented polyhedron, convex or not [Blow04]. O(triangles).

use nalgebra::{Matrix3, Vector3};

/// The integrals of 1, x and x xᵀ over a solid, about its centroid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// Volume [m³]; negative if the triangles face inwards.
    pub volume: f64,
    /// Centroid [m].
    pub centroid: Vector3<f64>,
    /// Integral of x xᵀ about the centroid [m⁵].
    pub second: Matrix3<f64>,
}

impl Moments {
    /// Integrates over the solid whose surface is made of these triangles (corners [m],
    /// counter-clockwise seen from outside). `reference` [m] is any point; near the solid is best.
    pub fn of(triangles: impl Iterator<Item = [Vector3<f64>; 3]>, reference: Vector3<f64>) -> Self {
        let (mut volume, mut first, mut second) = (0.0, Vector3::zeros(), Matrix3::zeros());
        for [a, b, c] in triangles.map(|corners| corners.map(|p| p - reference)) {
            let sum = a + b + c;
            let six_volumes = a.dot(&b.cross(&c));
            // With the fourth corner at the reference:
            // ∫x = V (a+b+c)/4,  ∫x xᵀ = V/20 [ (a+b+c)(a+b+c)ᵀ + a aᵀ + b bᵀ + c cᵀ ]  [Blow04].
            volume += six_volumes / 6.0;
            first += sum * (six_volumes / 24.0);
            let squares = a * a.transpose() + b * b.transpose() + c * c.transpose();
            second += (sum * sum.transpose() + squares) * (six_volumes / 120.0);
        }
        let centre = if volume == 0.0 { Vector3::zeros() } else { first / volume };
        Self {
            volume,
            centroid: reference + centre,
            second: second - centre * centre.transpose() * volume,
        }
    }

    /// Inertia about the centroid at unit density [m⁵]: tr(Σ) 1 − Σ for the second moment Σ.
    pub fn inertia(&self) -> Matrix3<f64> {
        Matrix3::identity() * self.second.trace() - self.second
    }
}
