//! Points at which a surface of triangles touches a solid given by its signed distance, or is near it.
//!
//! Triangles that are farther away are culled [`near_triangles`]. Of the rest, vertices are contacts unless the surface falls towards a neighbour, and the lowest points inside
//! triangles and on edges [`triangle_minimum`]. Points where the surface faces away from the solid are left out: the other
//! side of a thin wall. O(log n + triangles near).

use super::around;
use super::distance_field::DistanceField;
use super::near_triangles::{self, NearKey, NearLists};
use super::raw_points::{RawPoint, RawPoints};
use super::triangle_minimum::{self, TriangleMinimum};
use super::vertex_samples::VertexSamples;
use crate::Aabb;
use crate::field::Field;
use crate::nonconvex::candidate::{FeatureKind, feature_id};
use crate::shape::Mesh;
use nalgebra::{Isometry3, Matrix3, Point3, Vector3};
use std::cell::Cell;

/// Slope towards a neighbour from which on a vertex is not a contact [-].
const FALLS: f64 = 0.1;
/// Cosine between the normal of the surface and the gradient from which on the surface faces away [-].
const AWAY: f64 = 0.3;
/// Weight of a corner below which a point lies on the opposite edge [-].
const ON_EDGE: f64 = 1e-6;

/// Slope up to which the exact surface at a corner is parallel to the solid [-].
const PARALLEL: f64 = 5e-3;
/// Share of the way to the middle of a triangle at which its side of an edge is looked at [-].
const ASIDE: f64 = 0.05;
/// Distance beyond that of the nearest point within which others are of interest, relative to the size of the smaller solid [-].
const BEYOND: f64 = 0.1;
/// Number of points from which on only the deepest of each cell is kept.
const VERY_MANY: usize = 480;

/// A surface with the field that it approximates, if it does.
pub struct SurfaceSide<'a> {
    pub mesh: &'a Mesh,
    pub own: Option<&'a Field>,
    /// Number of the side within the pair, part of identities.
    pub pass: u32,
}

/// A point of the surface near the solid, in the frame of the solid.
#[derive(Clone, Copy, Debug)]
pub struct SurfacePoint {
    pub feature: u32,
    /// The point of the surface [m].
    pub point: Vector3<f64>,
    /// Unit normal out of the solid.
    pub normal: Vector3<f64>,
    /// Distance from the solid [m].
    pub gap: f64,
}

/// Memory of queries: near triangles of pairs that are visited again, samples at vertices, points.
#[derive(Debug, Default)]
pub struct SurfaceMemory {
    lists: NearLists,
    vertices: VertexSamples,
    raw: RawPoints,
}

/// Writes the points of the surface at `X_DM` within `reach` [m] of the solid; where it is far away relative to its size, those that
/// are hardly farther than the nearest.
pub fn find(
    side: &SurfaceSide,
    X_DM: &Isometry3<f64>,
    field: &impl DistanceField,
    reach: f64,
    memory: &mut SurfaceMemory,
    found: &mut Vec<SurfacePoint>,
) {
    found.clear();
    let mesh = side.mesh;
    let R_DM = X_DM.rotation.to_rotation_matrix().into_inner();
    let reach = limited_reach(mesh, |p| R_DM * p + X_DM.translation.vector, field, reach);
    let key = side.own.zip(field.identity()).map(|(own, other)| NearKey {
        surface: own.identity(),
        field: other,
        pass: side.pass,
    });
    let SurfaceMemory { lists, vertices, raw } = memory;
    let mut near = lists.take(key, mesh, X_DM, field, reach);
    vertices.fill(mesh, &near.triangles, (&R_DM, X_DM), field);
    near.trim(mesh, vertices, field.lipschitz());
    let query = Query {
        side,
        X_DM,
        R_DM,
        field,
        reach,
        home: around(&field.bounds(), reach),
        known: vertices,
    };
    raw.points.clear();
    raw.points.extend(vertices.used.iter().filter_map(|&v| query.vertex(v)));
    raw.points.extend(near.triangles.iter().filter_map(|&t| query.triangle(t)));
    if raw.points.len() > VERY_MANY {
        raw.keep_deepest_of_cells();
    }
    found.extend(raw.points.iter().filter_map(|raw| query.emit(raw)));
    lists.keep(near);
}

/// A surface at a pose before a field, with the samples at its vertices.
struct Query<'a, D> {
    side: &'a SurfaceSide<'a>,
    X_DM: &'a Isometry3<f64>,
    R_DM: Matrix3<f64>,
    field: &'a D,
    reach: f64,
    /// Region beyond which nothing is within reach, in the frame of the field.
    home: Aabb,
    known: &'a VertexSamples,
}

impl<D: DistanceField> Query<'_, D> {
    /// A vertex as a point of contact, unless the surface faces away there or falls towards a neighbour.
    fn vertex(&self, v: u32) -> Option<RawPoint> {
        let (mesh, own) = (self.side.mesh, self.known.get(v));
        let value = own.sample.value;
        if !(value <= self.reach) || !self.home.contains_point(&own.place) {
            return None;
        }
        let outward = mesh.pseudo_normal(v);
        if own.gradient_M.dot(&outward) > AWAY * outward.norm() {
            return None;
        }
        let p = mesh.vertices()[v as usize];
        let falls = mesh.ring(v).iter().any(|&u| {
            let fall = self.known.value(u).map_or(0.0, |other| value - other);
            fall > 0.0 && fall > FALLS * (mesh.vertices()[u as usize] - p).norm()
        });
        let feature = feature_id(FeatureKind::FieldVertex, v, self.side.pass);
        (!falls).then_some(RawPoint { feature, p_M: p, sample: own.sample })
    }

    /// The lowest point of a triangle that is not one of its corners, if it is a point of contact.
    fn triangle(&self, t: u32) -> Option<RawPoint> {
        let mesh = self.side.mesh;
        let corners = mesh.triangles()[t as usize].map(|v| self.known.get(v));
        let normal = mesh.normal(t);
        if corners.iter().all(|corner| corner.gradient_M.dot(&normal) > AWAY) {
            return None;
        }
        let values = corners.map(|corner| corner.sample.value);
        let places = corners.map(|corner| corner.place);
        if near_triangles::excludes(&places, &values, self.field.lipschitz(), self.reach) {
            return None;
        }
        let samples = corners.map(|corner| corner.sample);
        let low = (1..3).fold(0, |low, k| if values[k] < values[low] { k } else { low });
        if triangle_minimum::is_lowest(low, &places, &samples)
            || self
                .side
                .own
                .is_some_and(|own| is_parallel(mesh, own, t, low, &corners[low].gradient_M))
        {
            return None;
        }
        let lowest = triangle_minimum::of(&places, &samples, self.field)?;
        let TriangleMinimum { point, sample, .. } = lowest;
        let is_corner = lowest.weights.iter().any(|w| *w > 1.0 - ON_EDGE);
        if is_corner
            || !(sample.value <= self.reach)
            || !self.home.contains_point(&point)
            || sample.gradient.dot(&(self.R_DM * normal)) > AWAY
            || falls_beyond(mesh, t, &lowest, &self.R_DM)
        {
            return None;
        }
        let p_M = self.X_DM.inverse_transform_point(&Point3::from(point)).coords;
        let feature = feature_id(FeatureKind::FieldFace, t, self.side.pass);
        Some(RawPoint { feature, p_M, sample })
    }

    /// The contact at a point of the surface, moved onto the exact surface.
    fn emit(&self, raw: &RawPoint) -> Option<SurfacePoint> {
        let (p_M, side) = (&raw.p_M, self.side);
        let exact = side.own.and_then(|own| own.project(p_M));
        // Far away the projection is not the point that the triangle stands for.
        let near = |p: &Vector3<f64>| (p - p_M).norm() <= side.mesh.mesh_width();
        let p = exact.filter(near).unwrap_or(*p_M);
        let point = (self.X_DM * Point3::from(p)).coords;
        let sample = if p == *p_M { raw.sample } else { self.field.sample(&point) };
        let (gap, normal) = sample.to_surface()?;
        let feature = raw.feature;
        (gap <= self.reach).then_some(SurfacePoint { feature, point, normal, gap })
    }
}

/// The reach [m], if it is large relative to the size of the smaller solid no more than a share of this size beyond the vertex that
/// is nearest to the other: otherwise all of a small solid would be within reach.
fn limited_reach(
    mesh: &Mesh,
    place: impl Fn(&Vector3<f64>) -> Vector3<f64>,
    field: &impl DistanceField,
    reach: f64,
) -> f64 {
    let size = mesh.bounding_radius().min(0.5 * field.bounds().size().norm());
    if reach <= BEYOND * size {
        return reach;
    }
    let (L, home) = (field.lipschitz(), around(&field.bounds(), reach));
    let least = Cell::new(reach);
    mesh.tree().visit_leaves(
        |bounds| {
            let (centre, radius) = (place(&bounds.centre()), 0.5 * bounds.size().norm());
            home.distance_squared(&centre) <= radius * radius
                && field.sample(&centre).value < least.get() + L * radius
        },
        |t| {
            for p in mesh.corners(t) {
                least.set(least.get().min(field.sample(&place(&p)).value));
            }
        },
    );
    reach.min(least.get().max(0.0) + BEYOND * size)
}

/// Whether the exact surface is nearly parallel to the solid at the lowest corner of a triangle, on its side, where the solid has the
/// gradient `g` in the frame of the surface: then that corner stands for the triangle. The triangle itself may be inclined there, because it is a chord of the surface.
fn is_parallel(mesh: &Mesh, own: &Field, t: u32, low: usize, g: &Vector3<f64>) -> bool {
    let corners = mesh.corners(t);
    let rises = |normal: &Vector3<f64>| {
        (0..3).filter(|&k| k != low).all(|k| {
            let way = corners[k] - corners[low];
            let along = way - normal * normal.dot(&way);
            let fall = -g.dot(&along);
            fall <= 0.0 || fall * fall < PARALLEL * PARALLEL * way.norm_squared()
        })
    };
    let smooth = mesh.pseudo_normal(mesh.triangles()[t as usize][low]).normalize();
    if rises(&smooth) {
        return true;
    }
    // At an edge of the solid, the surface on the side of the triangle.
    let middle = (corners[0] + corners[1] + corners[2]) / 3.0;
    let aside = corners[low] + ASIDE * (middle - corners[low]);
    own.sample(&aside).to_surface().is_some_and(|(_, normal)| rises(&normal))
}

/// Whether the lowest point of a triangle lies on an edge across which the value falls farther.
fn falls_beyond(mesh: &Mesh, t: u32, lowest: &TriangleMinimum, R_DM: &Matrix3<f64>) -> bool {
    (0..3).any(|k| {
        // The edge from corner k to the next is opposite to the third corner.
        if lowest.weights[(k + 2) % 3] > ON_EDGE {
            return false;
        }
        let edge = &mesh.edges()[mesh.sides(t)[k] as usize];
        let other = edge.faces.iter().flatten().find(|&&face| face != t);
        let Some(&other) = other else { return false };
        let ends = edge.ends.map(|v| mesh.vertices()[v as usize]);
        let along = (ends[1] - ends[0]).normalize();
        let inner = mesh.corners(other).iter().sum::<Vector3<f64>>() / 3.0 - ends[0];
        let across = inner - along * along.dot(&inner);
        let slope = lowest.sample.gradient.dot(&(R_DM * across)) / across.norm();
        slope < -FALLS
    })
}
