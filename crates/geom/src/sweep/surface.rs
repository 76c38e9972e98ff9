//! First meeting of a moving mesh or height field with a convex shape or another surface.
//!
//! Every triangle that the other shape can reach within the interval is a convex core of its own.

use super::{MovingCore, MovingShape, SweepScratch, Target, cores};
use crate::narrow::{ConvexCore, SupportFeature};
use crate::nonconvex::triangle_surface::TriangleSurface;
use crate::{Aabb, Shape};
use nalgebra::{Isometry3, Vector3};

/// A triangle as a convex core.
struct TriangleCore([Vector3<f64>; 3]);

impl ConvexCore for TriangleCore {
    fn support(&self, dir_S: &Vector3<f64>) -> Vector3<f64> {
        let [a, b, c] = self.0.map(|corner| corner.dot(dir_S));
        let farthest = if a >= b && a >= c { 0 } else { 1 + usize::from(c > b) };
        self.0[farthest]
    }

    fn radius(&self) -> f64 {
        0.0
    }

    fn centre(&self) -> Vector3<f64> {
        (self.0[0] + self.0[1] + self.0[2]) / 3.0
    }

    fn support_feature(&self, _dir_S: &Vector3<f64>, face: &mut SupportFeature) {
        for (id, corner) in self.0.iter().enumerate() {
            face.push(id as u32, *corner);
        }
    }
}

/// The first meeting of two shapes of which at least one is a surface.
pub(super) fn meeting(
    a: &MovingShape,
    b: &MovingShape,
    target: &Target,
    limit: f64,
    scratch: &mut SweepScratch,
) -> Option<f64> {
    match (surface_of(a.shape), surface_of(b.shape)) {
        (Some(one), Some(two)) => {
            let SweepScratch { outer, inner, .. } = scratch;
            let whole = MovingBounds {
                bounds_W: a.shape.bounds(&a.X_WS),
                radius: (a.X_WS.translation.vector - a.motion.centre).norm()
                    + a.shape.bounding_radius(),
                moving: a,
            };
            outer.clear();
            two.near(&whole.region_in(b, target, limit), outer);
            let mut first = None;
            for &t in outer.iter() {
                let triangle = TriangleCore(two.corners(t));
                let until = first.unwrap_or(limit);
                let met = against_core((one, a), (&triangle, b), target, until, inner);
                first = met.or(first);
            }
            first
        }
        (Some(surface), None) => {
            against_core((surface, a), (b.shape, b), target, limit, &mut scratch.outer)
        }
        (None, Some(surface)) => {
            against_core((surface, b), (a.shape, a), target, limit, &mut scratch.outer)
        }
        (None, None) => None,
    }
}

fn surface_of(shape: &Shape) -> Option<&dyn TriangleSurface> {
    match shape {
        Shape::Mesh(mesh) => Some(&**mesh),
        Shape::HeightField(field) => Some(&**field),
        _ => None,
    }
}

/// The first meeting of a surface with a convex core that moves with a shape.
fn against_core<C: BoundedCore + ?Sized>(
    (surface, with_surface): (&dyn TriangleSurface, &MovingShape),
    (core, with_core): (&C, &MovingShape),
    target: &Target,
    limit: f64,
    near: &mut Vec<u32>,
) -> Option<f64> {
    let moving = core.moving(with_core);
    let bounds_W = core.bounds_W(&with_core.X_WS);
    let radius = moving.radius + moving.core.radius();
    let swept = MovingBounds { bounds_W, radius, moving: with_core };
    near.clear();
    surface.near(&swept.region_in(with_surface, target, limit), near);
    let mut first = None;
    for &t in near.iter() {
        let triangle = TriangleCore(surface.corners(t));
        let until = first.unwrap_or(limit);
        first = cores(&triangle.moving(with_surface), &moving, target, until).or(first);
    }
    first
}

/// A convex core with bounds.
trait BoundedCore {
    /// The core with the motion of a shape.
    fn moving<'a>(&'a self, with: &MovingShape) -> MovingCore<'a>;
    /// Bounds in the world [m], the rounding included.
    fn bounds_W(&self, X_WS: &Isometry3<f64>) -> Aabb;
}

impl BoundedCore for Shape {
    fn moving<'a>(&'a self, with: &MovingShape) -> MovingCore<'a> {
        MovingCore::of(&MovingShape { shape: self, X_WS: with.X_WS, motion: with.motion })
    }

    fn bounds_W(&self, X_WS: &Isometry3<f64>) -> Aabb {
        self.bounds(X_WS)
    }
}

impl BoundedCore for TriangleCore {
    fn moving<'a>(&'a self, with: &MovingShape) -> MovingCore<'a> {
        let centre_S = with.X_WS.inverse_transform_point(&with.motion.centre.into()).coords;
        let radius = self.0.iter().fold(0.0, |most: f64, p| most.max((p - centre_S).norm()));
        let extent = self.0.iter().fold(0.0, |most: f64, p| most.max(p.norm()));
        MovingCore { core: self, X_WS: with.X_WS, motion: with.motion, radius, extent }
    }

    fn bounds_W(&self, X_WS: &Isometry3<f64>) -> Aabb {
        Aabb::of_points(self.0.iter().map(|p| X_WS * nalgebra::Point3::from(*p)).map(|p| p.coords))
    }
}

/// Bounds at the start of something that moves with a shape.
struct MovingBounds<'a> {
    bounds_W: Aabb,
    /// Largest distance from the centre of the motion [m].
    radius: f64,
    moving: &'a MovingShape<'a>,
}

impl MovingBounds<'_> {
    /// Region in the frame of another moving shape that these bounds, inflated by the target, can reach [m].
    fn region_in(&self, home: &MovingShape, target: &Target, limit: f64) -> Aabb {
        let (own, other) = (&self.moving.motion, &home.motion);
        let shift = limit * (own.shift - other.shift);
        // Distance from the centre about which the home turns, at any time.
        let lever = (own.centre - other.centre).norm() + self.radius + shift.norm();
        let turned = limit * (own.turn.norm() * self.radius + other.turn.norm() * lever);
        let Aabb { min, max } = self.bounds_W;
        let start = Aabb { min: min.inf(&(min + shift)), max: max.sup(&(max + shift)) };
        let X_SW = home.X_WS.inverse();
        let (centre, half) = (start.centre(), 0.5 * start.size());
        Aabb::of_box(&X_SW, centre, half).inflated(turned + target.distance + target.tolerance)
    }
}
