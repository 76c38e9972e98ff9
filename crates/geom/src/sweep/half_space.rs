//! First meeting of a moving half space with another shape: the lowest point of the shape over it.

use super::{Advance, MOST_STEPS, MovingShape, Target};
use crate::Shape;
use nalgebra::{Isometry3, Vector3};

/// The first meeting of the half space of `plane` with a shape that is convex and bounded or a mesh.
pub(super) fn meeting(
    plane: &MovingShape,
    other: &MovingShape,
    target: &Target,
    limit: f64,
) -> Option<f64> {
    if matches!(other.shape, Shape::Plane | Shape::HeightField(_)) {
        return None;
    }
    let (own, home) = (&other.motion, &plane.motion);
    let shift = own.shift - home.shift;
    let lever = (other.X_WS.translation.vector - own.centre).norm();
    let radius = lever + other.shape.bounding_radius();
    // Distance from the centre about which the plane turns, at any time.
    let from_home = (own.centre - home.centre).norm() + radius + shift.norm();
    let turned = own.turn.norm() * radius + home.turn.norm() * from_home;
    let mut s = 0.0;
    for _ in 0..MOST_STEPS {
        let (X_WP, X_WS) = (plane.pose(s), other.pose(s));
        let n = X_WP.rotation * Vector3::z();
        let left = height(&X_WP, other.shape, &X_WS) - target.distance;
        if left <= target.tolerance {
            return Some(s);
        }
        // The normal of a plane that rests does not change.
        let closing = if home.turn == Vector3::zeros() {
            own.turn.cross(&n).norm() * radius - shift.dot(&n)
        } else {
            shift.norm() + turned
        };
        let advance = Advance { closing, limit, tolerance: target.tolerance };
        s = advance.next(s, left)?;
        s = advance
            .along(s, |s| height(&plane.pose(s), other.shape, &other.pose(s)) - target.distance)?;
    }
    Some(s)
}

/// Height of the lowest point of a shape over the half space at X_WP [m].
fn height(X_WP: &Isometry3<f64>, shape: &Shape, X_WS: &Isometry3<f64>) -> f64 {
    let n = X_WP.rotation * Vector3::z();
    let n_S = X_WS.rotation.inverse_transform_vector(&n);
    let origin = n.dot(&(X_WS.translation.vector - X_WP.translation.vector));
    let lowest = match shape {
        Shape::Field(field) => {
            let vertices = field.surface().vertices().iter();
            vertices.fold(f64::INFINITY, |least, p| least.min(n_S.dot(p)))
        }
        Shape::Mesh(mesh) => {
            mesh.vertices().iter().fold(f64::INFINITY, |least, p| least.min(n_S.dot(p)))
        }
        _ => shape.support(&-n_S).map_or(f64::INFINITY, |p| n_S.dot(&p)),
    };
    origin + lowest
}
