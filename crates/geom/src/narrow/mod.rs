//! Narrow phase: the manifold between two shapes that may touch.
//!
//! Every routine writes into a [`Manifold`]; normals point from A into B, points lie midway between
//! the surfaces, gaps are measured along the normal. All quantities are in the world frame W.

mod box_box;
mod capsule_capsule;
mod clip;
mod convex_cores;
mod epa;
pub(crate) mod feature_id;
pub(crate) mod gjk;
mod manifold;
mod plane;
mod refine_normal;
pub(crate) mod sphere;

pub(crate) use convex_cores::FAR_OUT;
pub use convex_cores::contacts as cores;
pub use convex_cores::contacts_along as cores_along;
pub use gjk::Clearance;
pub(crate) use gjk::{GjkResult, SupportPoint, distance_to_precision};
pub use manifold::{DepthDoubt, Manifold, ManifoldPoint};

use crate::Shape;
use nalgebra::{Isometry3, Matrix3, Vector3};

/// A shape at its pose in the world.
#[derive(Clone, Copy, Debug)]
pub struct PosedShape<'a> {
    /// The shape.
    pub shape: &'a Shape,
    /// Pose of the shape's frame in the world.
    pub X_WS: &'a Isometry3<f64>,
}

/// Interface of the general convex routine to a shape: a convex core, rounded by a radius.
///
/// The shape is the set of all points within [`ConvexCore::radius`] of the core. All quantities are in the
/// shape's frame S.
pub trait ConvexCore {
    /// Farthest point of the core along `dir_S` (not zero, not necessarily a unit vector) [m].
    fn support(&self, dir_S: &Vector3<f64>) -> Vector3<f64>;
    /// Radius by which the core is rounded [m].
    fn radius(&self) -> f64;
    /// A point inside the core [m].
    fn centre(&self) -> Vector3<f64>;
    /// Second derivative of the support function h(n) = max n·x at the unit vector `dir_S` [m], for
    /// cores that are curved there.
    fn curvature(&self, dir_S: &Vector3<f64>) -> Option<Matrix3<f64>> {
        let _ = dir_S;
        None
    }
    /// The feature of the core that faces `dir_S`: one vertex, the two ends of an edge, or a convex
    /// polygon, counter-clockwise seen from outside, with stable ids of its vertices.
    fn support_feature(&self, dir_S: &Vector3<f64>, face: &mut SupportFeature);
}

/// A feature of a convex core, see [`ConvexCore::support_feature`].
#[derive(Clone, Debug, Default)]
pub struct SupportFeature {
    /// Its vertices, counter-clockwise seen from outside [m].
    pub points: Vec<Vector3<f64>>,
    /// Stable ids of the vertices, one each, below 2¹⁵.
    pub ids: Vec<u32>,
}

/// A distance [m] that depends on a unit vector.
pub type DistanceAlong<'a> = &'a dyn Fn(&Vector3<f64>) -> f64;

/// Distance within which contacts are of interest.
#[derive(Clone, Copy)]
pub struct Reach<'a> {
    /// In all directions [m].
    pub most: f64,
    /// Along a unit vector from A into B in the world [m]: shapes that a plane across it keeps farther apart do not meet.
    pub along: Option<DistanceAlong<'a>>,
    /// Gap up to which general convex shapes have a contact for each corner of the area that they share [m]; farther apart they
    /// have one, along a normal that separates them by nearly their distance: its gap is that separation.
    pub patch: f64,
}

/// Writes the contacts between any two shapes within `reach` [m] into `manifold`.
///
/// Returns a clearance if the shapes are proved to be farther apart.
pub fn contacts(
    a: PosedShape,
    b: PosedShape,
    reach: f64,
    manifold: &mut Manifold,
) -> Option<Clearance> {
    contacts_within(a, b, Reach { most: reach, along: None, patch: f64::INFINITY }, manifold)
}

/// [`contacts`] within a distance that may depend on the direction. General convex shapes that are proved to be farther apart
/// along some direction have none, and the clearance may be less than the largest distance.
pub fn contacts_within(
    a: PosedShape,
    b: PosedShape,
    reach: Reach,
    manifold: &mut Manifold,
) -> Option<Clearance> {
    if a.shape.is_convex() && b.shape.is_convex() {
        convex(a, b, reach, manifold)
    } else {
        crate::nonconvex::contacts(a, b, reach.most, manifold);
        None
    }
}

/// Lower bound [m] of the distance of two shapes along the axis of an earlier clearance (unit vector in A's
/// frame), at other poses.
pub fn clearance(a: PosedShape, b: PosedShape, axis_A: &Vector3<f64>) -> f64 {
    let X_AB = a.X_WS.inv_mul(b.X_WS);
    let pair = gjk::MinkowskiDifference { a: a.shape, b: b.shape, X_AB: &X_AB };
    pair.clearance(axis_A) - a.shape.radius() - b.shape.radius()
}

/// Separation [m] of two shapes along the unit vector `n_W` from A into B, negative if they overlap along it;
/// `None` unless both are convex and bounded.
pub fn separation_along(a: PosedShape, b: PosedShape, n_W: &Vector3<f64>) -> Option<f64> {
    let lowest_B = b.shape.support(&-b.X_WS.rotation.inverse_transform_vector(n_W))?;
    let highest_A = a.shape.support(&a.X_WS.rotation.inverse_transform_vector(n_W))?;
    let p_W = |X_WS: &Isometry3<f64>, p: Vector3<f64>| X_WS.rotation * p + X_WS.translation.vector;
    Some(n_W.dot(&(p_W(b.X_WS, lowest_B) - p_W(a.X_WS, highest_A))))
}

/// Writes the contacts between two convex shapes within `reach`; half spaces among them. A clearance is
/// returned for pairs that [`cores`] handles.
///
/// Capabilities of the shapes select the routine, not a table of pairs: a half space needs lowest points, a
/// sphere the nearest point of a surface, and any two cores are handled by [`cores`]. Two boxes and two
/// capsules have faster special routines.
fn convex(
    a: PosedShape,
    b: PosedShape,
    within: Reach,
    manifold: &mut Manifold,
) -> Option<Clearance> {
    let (from, reach) = (manifold.len(), within.most);
    match (a.shape, b.shape) {
        (Shape::Plane, Shape::Plane) => {}
        (Shape::Plane, _) => plane::contacts(a.X_WS, b, reach, manifold),
        (_, Shape::Plane) => {
            plane::contacts(b.X_WS, a, reach, manifold);
            manifold.flip(from);
        }
        (Shape::Sphere { radius }, _)
            if sphere::contact(&a.X_WS.translation.vector, *radius, b, reach, manifold) => {}
        (_, Shape::Sphere { radius })
            if sphere::contact(&b.X_WS.translation.vector, *radius, a, reach, manifold) =>
        {
            manifold.flip(from);
        }
        (Shape::Box(h_A), Shape::Box(h_B))
            if box_box::contacts((h_A, a), (h_B, b), (reach, within.patch), manifold) => {}
        (
            Shape::Capsule { radius: r_A, half_length: h_A },
            Shape::Capsule { radius: r_B, half_length: h_B },
        ) => capsule_capsule::contacts((*r_A, *h_A, a.X_WS), (*r_B, *h_B, b.X_WS), reach, manifold),
        _ => return cores((a.shape, a.X_WS), (b.shape, b.X_WS), within, manifold),
    }
    None
}

impl SupportFeature {
    /// Removes all vertices, keeps the capacity.
    pub fn clear(&mut self) {
        self.points.clear();
        self.ids.clear();
    }

    /// Adds a vertex with its id.
    pub fn push(&mut self, id: u32, point: Vector3<f64>) {
        self.points.push(point);
        self.ids.push(id);
    }
}
