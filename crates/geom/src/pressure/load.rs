//! Load on a polygon by a linear pressure.

use super::Polygon;
use super::element::LinearField;
use nalgebra::Vector3;

/// Area below which a polygon is dropped [m²].
const LEAST_AREA: f64 = 1e-14;

/// Area, mean pressure and centre of pressure of a polygon.
pub(super) struct Load {
    /// [m²].
    pub area: f64,
    /// Mean over the area [Pa].
    pub pressure: f64,
    /// [m].
    pub centre: Vector3<f64>,
}

impl Load {
    /// `None` if there is no pressure on the polygon.
    pub fn of(polygon: &Polygon, normal: &Vector3<f64>, field: &LinearField) -> Option<Self> {
        let corners = polygon.corners();
        let base = corners.first()?;
        let at = |x: &Vector3<f64>| field.at(x).max(0.0);
        let p = at(base);
        let (mut area, mut force, mut moment) = (0.0, 0.0, Vector3::zeros());
        for pair in corners[1..].windows(2) {
            // Positions relative to the first corner, at which they are zero.
            let (x, y) = (pair[0] - base, pair[1] - base);
            let (q, r) = (at(&pair[0]), at(&pair[1]));
            let part = 0.5 * x.cross(&y).dot(normal).abs();
            let sum = p + q + r;
            area += part;
            force += part * sum / 3.0;
            // ∫ x p over a triangle of linear p: area/12 (Σ x Σ p + Σ x p).
            moment += (part / 12.0) * ((x + y) * sum + x * q + y * r);
        }
        (area > LEAST_AREA && force > 0.0).then(|| Self {
            area,
            pressure: force / area,
            centre: base + moment / force,
        })
    }
}
