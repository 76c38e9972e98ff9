//! A convex shape A in the frame of a surface B: support points, containment, distance from a triangle.

use crate::narrow::{ConvexCore, GjkResult, SupportFeature, SupportPoint, distance_to_precision};
use crate::shape::triangle;
use crate::{Aabb, Shape};
use nalgebra::{Isometry3, Matrix3, Vector3};

/// Relative error of distances from triangles [-].
const PRECISION: f64 = 1e-7;

/// A convex shape in the frame of the surface.
pub struct ConvexInSurfaceFrame<'a> {
    pub shape: &'a Shape,
    pub X_BA: &'a Isometry3<f64>,
    R_BA: Matrix3<f64>,
    /// Bounds in A's own frame [m].
    bounds_A: Aabb,
    /// A point inside the shape [m].
    pub centre: Vector3<f64>,
    /// Radius by which the core is rounded [m].
    pub radius: f64,
}

/// How a convex shape lies to a triangle.
#[derive(Clone, Copy, Debug)]
pub enum TriangleProximity {
    /// Farther apart than the distance of interest.
    Far,
    /// Apart, with the nearest point of the triangle [m] and the unit normal from there into A.
    Apart {
        /// Distance [m].
        gap: f64,
        on_B: Vector3<f64>,
        normal: Vector3<f64>,
    },
    /// They intersect.
    Cut,
}

/// The corner of a triangle farthest along `dir` [m].
fn farthest(corners: &[Vector3<f64>; 3], dir: &Vector3<f64>) -> Vector3<f64> {
    let [a, b, c] = corners.map(|p| p.dot(dir));
    corners[if a >= b && a >= c { 0 } else { 1 + usize::from(c > b) }]
}

impl<'a> ConvexInSurfaceFrame<'a> {
    pub fn new(shape: &'a Shape, X_BA: &'a Isometry3<f64>) -> Self {
        let R_BA = X_BA.rotation.to_rotation_matrix().into_inner();
        let centre = R_BA * ConvexCore::centre(shape) + X_BA.translation.vector;
        let bounds_A = shape.bounds(&Isometry3::identity());
        Self { shape, X_BA, R_BA, bounds_A, centre, radius: ConvexCore::radius(shape) }
    }

    /// Farthest point of the core against `m` [m].
    pub fn lowest(&self, m: &Vector3<f64>) -> Vector3<f64> {
        let dir_A = -self.R_BA.tr_mul(m);
        self.place(&ConvexCore::support(self.shape, &dir_A))
    }

    /// Whether A is farther than `reach` [m] from the convex hull of `points` [m] along the direction to
    /// its centre. A quick conservative test: true proves the distance, false proves nothing.
    pub fn clears(&self, points: &[Vector3<f64>], reach: f64) -> bool {
        let middle = points.iter().sum::<Vector3<f64>>() / points.len() as f64;
        let Some(m) = (self.centre - middle).try_normalize(f64::MIN_POSITIVE) else { return false };
        let highest = points.iter().map(|p| m.dot(p)).fold(f64::NEG_INFINITY, f64::max);
        m.dot(&self.lowest(&m)) - self.radius - highest > reach
    }

    /// Whether A is farther than `reach` [m] from a triangle, by the box around A along its own axes and by
    /// [`Self::clears`]. True proves the distance, false proves nothing.
    pub fn clears_triangle(&self, corners: &[Vector3<f64>; 3], reach: f64) -> bool {
        if self.clears(corners, reach) {
            return true;
        }
        let triangle = Aabb::of_points(corners.map(|p| self.in_A(&p)));
        !triangle.overlaps(&self.bounds_A.inflated(reach))
    }

    fn in_A(&self, p: &Vector3<f64>) -> Vector3<f64> {
        self.R_BA.tr_mul(&(p - self.X_BA.translation.vector))
    }

    fn place(&self, p_A: &Vector3<f64>) -> Vector3<f64> {
        self.R_BA * p_A + self.X_BA.translation.vector
    }

    /// The support feature of the core against `m`, in B.
    pub fn face(&self, m: &Vector3<f64>, face: &mut SupportFeature) {
        face.clear();
        let dir_A = -self.R_BA.tr_mul(m);
        ConvexCore::support_feature(self.shape, &dir_A, face);
        face.points.iter_mut().for_each(|p| *p = self.place(p));
    }

    /// Whether A contains the point `p` [m], or nearly does: within `slack` [m] of each of its faces.
    pub fn contains(&self, p: &Vector3<f64>, slack: f64) -> bool {
        let p_A = self.in_A(p);
        match self.shape {
            Shape::Convex(hull) => (0..hull.faces()).all(|k| {
                let corner = hull.vertices()[hull.face_corners(k)[0] as usize];
                hull.face_normal(k).dot(&(p_A - corner)) <= slack
            }),
            _ => self.shape.nearest(&p_A).is_some_and(|found| found.distance <= slack),
        }
    }

    /// Whether A contains a point in its frame, where that takes few operations; false proves nothing.
    fn holds(&self, p_A: &Vector3<f64>) -> bool {
        match self.shape {
            Shape::Box(half) => (0..3).all(|i| p_A[i].abs() <= half[i]),
            Shape::Cylinder { radius, half_length } => {
                p_A.z.abs() <= *half_length && p_A.xy().norm_squared() <= radius * radius
            }
            _ => false,
        }
    }

    /// How A lies to the triangle with these corners [m]; farther away than `enough` [m] is far.
    pub fn proximity(&self, corners: &[Vector3<f64>; 3], enough: f64) -> TriangleProximity {
        let (distance, on_B, normal) = if let Shape::Sphere { .. } = self.shape {
            let [a, b, c] = corners;
            let on_B = triangle::nearest(&self.centre, a, b, c).0;
            let away = self.centre - on_B;
            let distance = away.norm();
            (distance, on_B, away / distance)
        } else {
            // In A's frame, so that only the triangle is rotated.
            let corners = corners.map(|p| self.in_A(&p));
            if corners.iter().any(|p| self.holds(p)) {
                return TriangleProximity::Cut;
            }
            let support = |dir: &Vector3<f64>| {
                let (a, b) = (ConvexCore::support(self.shape, dir), farthest(&corners, &-dir));
                SupportPoint { w: a - b, a, b }
            };
            let start = ConvexCore::centre(self.shape) - corners.iter().sum::<Vector3<f64>>() / 3.0;
            match distance_to_precision(support, start, enough + self.radius, PRECISION) {
                GjkResult::Far(_) => return TriangleProximity::Far,
                GjkResult::Overlap(_) => return TriangleProximity::Cut,
                GjkResult::Apart { normal, distance, b, .. } => {
                    (distance, self.place(&b), -(self.R_BA * normal))
                }
            }
        };
        let gap = distance - self.radius;
        if gap <= 0.0 {
            TriangleProximity::Cut
        } else if gap > enough {
            TriangleProximity::Far
        } else {
            TriangleProximity::Apart { gap, on_B, normal }
        }
    }
}
