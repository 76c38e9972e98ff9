//! Interface of contact detection to a triangle surface: triangles near a region, their adjacency, and the
//! inside.
//!
//! Implemented by [`Mesh`] from stored topology and by [`HeightField`] on the fly from the grid.

use crate::Aabb;
use crate::shape::HeightField;
use crate::shape::mesh::{EdgeConvexity, Mesh};
use crate::shape::triangle::{self, Feature};
use nalgebra::Vector3;

/// Region behind the triangles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SurfaceInterior {
    /// A solid with an inside and an outside.
    Solid,
    /// None: a thin sheet that keeps shapes on the side on which their centre lies.
    Sheet,
    /// Solid ground, however deep.
    Ground,
}

/// One side of a triangle.
#[derive(Clone, Copy, Debug)]
pub struct TriangleSide {
    /// Index of the edge, the same for both of its triangles.
    pub edge: u32,
    /// The triangle on the other side of the edge.
    pub across: Option<u32>,
    /// How the two triangles meet.
    pub convexity: EdgeConvexity,
}

/// A surface of triangles in its own frame.
pub trait TriangleSurface {
    /// Region behind the triangles.
    fn interior(&self) -> SurfaceInterior;
    /// Bounds [m].
    fn bounds(&self) -> Aabb;
    /// Mean length of the edges [m].
    fn mesh_width(&self) -> f64;
    /// Visits the triangles that may touch `region` [m] or, for ground, lie above it.
    fn visit_near(&self, region: &Aabb, visit: impl FnMut(u32))
    where
        Self: Sized;
    /// Appends the triangles that may touch `region` [m] or, for ground, lie above it.
    fn near(&self, region: &Aabb, found: &mut Vec<u32>);
    /// Vertices of a triangle, counter-clockwise seen from outside.
    fn triangle(&self, t: u32) -> [u32; 3];
    /// Position of a vertex [m].
    fn vertex(&self, v: u32) -> Vector3<f64>;
    /// Unit normal of a triangle.
    fn normal(&self, t: u32) -> Vector3<f64>;
    /// The side of triangle `t` from its corner `k` to the next.
    fn side(&self, t: u32, k: usize) -> TriangleSide;
    /// The triangle across the side of `t` from its corner `k` to the next.
    fn across(&self, t: u32, k: usize) -> Option<u32> {
        self.side(t, k).across
    }
    /// Whether a side of the triangle is convex or a border.
    fn ridged(&self, t: u32) -> bool {
        (0..3).any(|k| {
            matches!(self.side(t, k).convexity, EdgeConvexity::Convex | EdgeConvexity::Border)
        })
    }
    /// Whether the surface is known to turn by less than [`crate::shape::mesh::SMOOTH`] at all sides of the
    /// triangle.
    fn smooth(&self, _t: u32) -> bool {
        false
    }
    /// Coplanar patch of a triangle.
    fn patch(&self, t: u32) -> u32;
    /// Whether a vertex can touch from outside.
    fn exposed(&self, v: u32) -> bool;
    /// Whether `accept` is true for a vertex that an edge joins to `v`.
    fn any_neighbour(&self, v: u32, accept: impl FnMut(u32) -> bool) -> bool
    where
        Self: Sized;
    /// Whether all neighbours of vertex `v` lie on the far side of the plane through it across the unit
    /// vector `m`, up to the sine `slack`: then `v` is a local maximum along `m`.
    fn extremal(&self, v: u32, m: &Vector3<f64>, slack: f64) -> bool;
    /// Depth [m] of a point inside, the triangle nearest to it and the unit direction out; `None` for
    /// points outside and for sheets.
    fn inside(&self, point: &Vector3<f64>) -> Option<(f64, u32, Vector3<f64>)>;

    /// Depth of a point [m], negative outside; `None` where there is no inside.
    fn depth(&self, point: &Vector3<f64>) -> Option<f64>;

    /// The point nearest to `point` within `limit` [m], its triangle and the part on which it lies.
    fn nearest(&self, point: &Vector3<f64>, limit: f64) -> Option<(Vector3<f64>, u32, Feature)>;

    /// Corners of a triangle [m].
    fn corners(&self, t: u32) -> [Vector3<f64>; 3] {
        self.triangle(t).map(|v| self.vertex(v))
    }
}

/// Whether the neighbour at `to` [m] of the vertex at `from` [m] lies on the far side across `m`.
pub fn lies_back(from: &Vector3<f64>, to: &Vector3<f64>, m: &Vector3<f64>, slack: f64) -> bool {
    let along = to - from;
    along.dot(m) <= slack * along.norm()
}

impl TriangleSurface for Mesh {
    fn interior(&self) -> SurfaceInterior {
        if self.is_closed() { SurfaceInterior::Solid } else { SurfaceInterior::Sheet }
    }

    fn bounds(&self) -> Aabb {
        self.local_bounds()
    }

    fn mesh_width(&self) -> f64 {
        Mesh::mesh_width(self)
    }

    fn near(&self, region: &Aabb, found: &mut Vec<u32>) {
        self.visit_near(region, |t| found.push(t));
    }

    fn visit_near(&self, region: &Aabb, visit: impl FnMut(u32)) {
        self.tree().visit(region, visit);
    }

    fn triangle(&self, t: u32) -> [u32; 3] {
        self.triangles()[t as usize]
    }

    fn vertex(&self, v: u32) -> Vector3<f64> {
        self.vertices()[v as usize]
    }

    fn normal(&self, t: u32) -> Vector3<f64> {
        Mesh::normal(self, t)
    }

    fn side(&self, t: u32, k: usize) -> TriangleSide {
        let edge = self.sides(t)[k];
        let joint = &self.edges()[edge as usize];
        let across = if joint.faces[0] == Some(t) { joint.faces[1] } else { joint.faces[0] };
        TriangleSide { edge, across, convexity: joint.convexity }
    }

    fn ridged(&self, t: u32) -> bool {
        self.is_ridged(t)
    }

    fn smooth(&self, t: u32) -> bool {
        self.is_smooth(t)
    }

    fn patch(&self, t: u32) -> u32 {
        Mesh::patch(self, t)
    }

    fn exposed(&self, v: u32) -> bool {
        self.is_exposed(v)
    }

    fn any_neighbour(&self, v: u32, mut accept: impl FnMut(u32) -> bool) -> bool {
        self.ring(v).iter().any(|&u| accept(u))
    }

    fn extremal(&self, v: u32, m: &Vector3<f64>, slack: f64) -> bool {
        let from = self.vertex(v);
        self.ring(v).iter().all(|&u| lies_back(&from, &self.vertex(u), m, slack))
    }

    fn inside(&self, point: &Vector3<f64>) -> Option<(f64, u32, Vector3<f64>)> {
        if !self.is_closed() || !self.local_bounds().contains_point(point) {
            return None;
        }
        let found = self.signed_distance(point, f64::INFINITY)?;
        (found.distance < 0.0).then_some((-found.distance, found.nearest.triangle, found.gradient))
    }

    fn depth(&self, point: &Vector3<f64>) -> Option<f64> {
        if !self.is_closed() {
            return None;
        }
        self.signed_distance(point, f64::INFINITY).map(|found| -found.distance)
    }

    fn nearest(&self, point: &Vector3<f64>, limit: f64) -> Option<(Vector3<f64>, u32, Feature)> {
        Mesh::nearest(self, point, limit).map(|found| (found.point, found.triangle, found.feature))
    }
}

impl TriangleSurface for HeightField {
    fn interior(&self) -> SurfaceInterior {
        SurfaceInterior::Ground
    }

    fn bounds(&self) -> Aabb {
        self.local_bounds()
    }

    fn mesh_width(&self) -> f64 {
        self.spacing().0.hypot(self.spacing().1)
    }

    fn near(&self, region: &Aabb, found: &mut Vec<u32>) {
        self.visit_near(region, |t| found.push(t));
    }

    fn visit_near(&self, region: &Aabb, visit: impl FnMut(u32)) {
        self.cells_near(region, visit);
    }

    fn triangle(&self, t: u32) -> [u32; 3] {
        HeightField::triangle(self, t)
    }

    fn vertex(&self, v: u32) -> Vector3<f64> {
        HeightField::vertex(self, v)
    }

    fn normal(&self, t: u32) -> Vector3<f64> {
        HeightField::normal(self, t)
    }

    fn side(&self, t: u32, k: usize) -> TriangleSide {
        let (edge, across) = self.across(t, k);
        TriangleSide { edge, across, convexity: self.convexity(t, k) }
    }

    fn across(&self, t: u32, k: usize) -> Option<u32> {
        HeightField::across(self, t, k).1
    }

    fn patch(&self, t: u32) -> u32 {
        HeightField::patch(self, t)
    }

    fn exposed(&self, v: u32) -> bool {
        self.is_exposed(v)
    }

    fn any_neighbour(&self, v: u32, accept: impl FnMut(u32) -> bool) -> bool {
        self.ring(v).any(accept)
    }

    fn extremal(&self, v: u32, m: &Vector3<f64>, slack: f64) -> bool {
        let from = self.vertex(v);
        self.ring(v).all(|u| lies_back(&from, &self.vertex(u), m, slack))
    }

    fn inside(&self, point: &Vector3<f64>) -> Option<(f64, u32, Vector3<f64>)> {
        let t = self.triangle_under(point.x, point.y)?;
        let n = self.normal(t);
        let depth = n.dot(&(self.corners(t)[0] - point));
        (depth > 0.0).then_some((depth, t, n))
    }

    fn depth(&self, point: &Vector3<f64>) -> Option<f64> {
        let t = self.triangle_under(point.x, point.y)?;
        Some(self.normal(t).dot(&(self.corners(t)[0] - point)))
    }

    fn nearest(&self, point: &Vector3<f64>, limit: f64) -> Option<(Vector3<f64>, u32, Feature)> {
        let mut best: Option<(Vector3<f64>, u32, Feature)> = None;
        let mut bound = limit * limit;
        self.cells_near(&Aabb::around(*point, Vector3::repeat(limit)), |t| {
            let [a, b, c] = self.corners(t);
            let (on, feature) = triangle::nearest(point, &a, &b, &c);
            let squared = (point - on).norm_squared();
            if squared < bound {
                bound = squared;
                best = Some((on, t, feature));
            }
        });
        best
    }
}
