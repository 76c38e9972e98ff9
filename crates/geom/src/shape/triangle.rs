//! One triangle: the point of it nearest to a given point, the feature on which that point lies, and the point
//! where a ray meets it.
//!
//! The plane of the triangle is divided into seven regions by the signs of the barycentric products
//! [Ericson05, Sec. 5.1.5]: one of the face, three of edges, three of corners. Constant cost. Adjacency is
//! in [`crate::shape::Mesh`].

use nalgebra::Vector3;

/// The part of a triangle on which a point lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// The interior of the face.
    Face,
    /// The edge from corner `k` to the next corner.
    Edge(usize),
    /// Corner `k`.
    Corner(usize),
}

/// Distance along the unit `direction` from `origin` [m] to a triangle, met from either side: Cramer's
/// rule for origin + s d = a + u (b−a) + v (c−a) [MoellerTrumbore97].
pub fn cast(
    origin: &Vector3<f64>,
    direction: &Vector3<f64>,
    [a, b, c]: &[Vector3<f64>; 3],
) -> Option<f64> {
    let (ab, ac, ao) = (b - a, c - a, origin - a);
    let across = direction.cross(&ac);
    let determinant = ab.dot(&across);
    let (u, turned) = (ao.dot(&across) / determinant, ao.cross(&ab));
    let v = direction.dot(&turned) / determinant;
    let s = ac.dot(&turned) / determinant;
    (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && s >= 0.0).then_some(s)
}

/// Nearest point of the triangle with corners `a`, `b`, `c` to the point `p` [m], and its feature.
pub fn nearest(
    p: &Vector3<f64>,
    a: &Vector3<f64>,
    b: &Vector3<f64>,
    c: &Vector3<f64>,
) -> (Vector3<f64>, Feature) {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(&ap), ac.dot(&ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return (*a, Feature::Corner(0));
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(&bp), ac.dot(&bp));
    if d3 >= 0.0 && d4 <= d3 {
        return (*b, Feature::Corner(1));
    }
    let weight_c = d1 * d4 - d3 * d2;
    if weight_c <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return (a + ab * (d1 / (d1 - d3)), Feature::Edge(0));
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(&cp), ac.dot(&cp));
    if d6 >= 0.0 && d5 <= d6 {
        return (*c, Feature::Corner(2));
    }
    let weight_b = d5 * d2 - d1 * d6;
    if weight_b <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return (a + ac * (d2 / (d2 - d6)), Feature::Edge(2));
    }
    let weight_a = d3 * d6 - d5 * d4;
    let (to_c, to_b) = (d4 - d3, d5 - d6);
    if weight_a <= 0.0 && to_c >= 0.0 && to_b >= 0.0 {
        return (b + (c - b) * (to_c / (to_c + to_b)), Feature::Edge(1));
    }
    let sum = weight_a + weight_b + weight_c;
    (a + ab * (weight_b / sum) + ac * (weight_c / sum), Feature::Face)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_point_is_no_farther_than_any_point_of_a_fine_sampling() {
        let (a, b, c) = (
            Vector3::new(0.1, -0.2, 0.3),
            Vector3::new(1.3, 0.1, -0.2),
            Vector3::new(0.2, 0.9, 0.4),
        );
        let steps = 40;
        for k in 0..200 {
            // A low-discrepancy sequence of points around the triangle.
            let t = k as f64;
            let p = Vector3::new(
                3.0 * (0.754877666 * t).fract() - 1.0,
                3.0 * (0.569840291 * t).fract() - 1.0,
                2.0 * (0.430159709 * t).fract() - 1.0,
            );
            let (q, feature) = nearest(&p, &a, &b, &c);
            let found = (p - q).norm();
            let mut sampled = f64::INFINITY;
            for i in 0..=steps {
                for j in 0..=steps - i {
                    let (u, v) = (i as f64 / steps as f64, j as f64 / steps as f64);
                    sampled = sampled.min((p - (a + (b - a) * u + (c - a) * v)).norm());
                }
            }
            // Samples lie on the triangle, so none is nearer; one lies within a cell's diameter.
            assert!(found <= sampled + 1e-14, "{feature:?}: {found} against {sampled}");
            assert!(sampled <= found + 2.0 * 1.5 / steps as f64);
        }
    }
}
