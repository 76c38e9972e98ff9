//! Height of a shape along a direction near one of its points: whether its surface rises above a plane there.
//!
//! Convex shapes are taken as a whole, compounds by their parts near the point, meshes and height fields by
//! their triangles near it.

use crate::Aabb;
use crate::Shape;
use crate::narrow::PosedShape;
use crate::nonconvex::triangle_surface::TriangleSurface;
use crate::shape::triangle;
use nalgebra::{Point3, Vector3};

/// Cosine above which a direction is the normal of a plane [-].
const SAME: f64 = 1.0 - 1e-12;

/// Greatest height n·x [m] along the unit vector `n_W` of the shape near `point_W` [m]: of all points of the
/// convex parts and triangles that are within `near` [m] of the point; −∞ if there are none.
pub fn local_height(
    PosedShape { shape, X_WS }: PosedShape,
    point_W: &Vector3<f64>,
    n_W: &Vector3<f64>,
    near: f64,
) -> f64 {
    let origin = n_W.dot(&X_WS.translation.vector);
    let n_S = X_WS.rotation.inverse_transform_vector(n_W);
    let point_S = X_WS.inverse_transform_point(&Point3::from(*point_W)).coords;
    match shape {
        Shape::Plane if n_S.z > SAME => origin,
        Shape::Plane => f64::INFINITY,
        Shape::Compound(compound) => compound
            .parts()
            .iter()
            .filter(|(X_SP, part)| part.bounds(X_SP).inflated(near).contains_point(&point_S))
            .map(|(X_SP, part)| {
                let X_WS = &(X_WS * X_SP);
                local_height(PosedShape { shape: part, X_WS }, point_W, n_W, near)
            })
            .fold(f64::NEG_INFINITY, f64::max),
        Shape::Field(field) => origin + surface_height(field.surface(), &point_S, &n_S, near),
        Shape::Mesh(mesh) => origin + surface_height(&**mesh, &point_S, &n_S, near),
        Shape::HeightField(field) => origin + surface_height(&**field, &point_S, &n_S, near),
        _ => shape.support(&n_S).map_or(f64::INFINITY, |p| origin + n_S.dot(&p)),
    }
}

fn surface_height<S: TriangleSurface>(
    surface: &S,
    point: &Vector3<f64>,
    n: &Vector3<f64>,
    near: f64,
) -> f64 {
    let region = Aabb::around(*point, Vector3::repeat(near));
    let mut height = f64::NEG_INFINITY;
    surface.visit_near(&region, |t| {
        let corners = surface.corners(t);
        let (nearest, _) = triangle::nearest(point, &corners[0], &corners[1], &corners[2]);
        if (nearest - point).norm_squared() <= near * near {
            height = corners.iter().fold(height, |height, p| height.max(n.dot(p)));
        }
    });
    height
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::shape::generate;
    use nalgebra::Isometry3;

    #[test]
    fn the_upper_edge_of_a_slab_does_not_rise_above_its_face_and_the_foot_of_a_wall_does() {
        let at = |x: f64, z: f64| Isometry3::translation(x, 0.0, z);
        let slab = Vector3::new(1.0, 1.0, 0.1);
        let (vertices, triangles) = generate::cuboid(slab);
        let mesh = Shape::mesh(&vertices, &triangles).unwrap();
        let cuboid = |half| Shape::cuboid(half).unwrap();
        let step = vec![(at(0.0, 0.0), cuboid(slab)), (at(1.0, 0.2), cuboid(Vector3::repeat(0.1)))];
        let step = Shape::compound(step).unwrap();
        let home = Isometry3::identity();
        let height = |shape: &Shape, x: f64, near: f64| {
            let point = Vector3::new(x, 0.05, 0.1);
            local_height(PosedShape { shape, X_WS: &home }, &point, &Vector3::z(), near)
        };
        for shape in [&mesh, &cuboid(slab)] {
            assert!((height(shape, 1.0, 1e-5) - 0.1).abs() < 1e-15);
        }
        assert!((height(&step, 0.5, 1e-5) - 0.1).abs() < 1e-15);
        assert!((height(&step, 0.9, 1e-5) - 0.3).abs() < 1e-15);
        assert_eq!(height(&mesh, 1.1, 1e-3), f64::NEG_INFINITY);
        assert_eq!(height(&Shape::Plane, 0.0, 1.0), 0.0);
    }
}
