//! Points at which a surface of triangles touches a solid given by its signed distance, or is near it.
//!
//! Triangles that are farther away are culled by the tree of the surface: a value minus the Lipschitz bound times the radius of a box
//! excludes all of it. Of the rest, vertices are contacts unless the surface falls towards a neighbour, and the lowest points inside
//! triangles and on edges [`triangle_minimum`]. Points where the surface faces away from the solid are left out: the other
//! side of a thin wall. O(log n + triangles near).

use super::around;
use super::distance_field::DistanceField;
use super::triangle_minimum::{self, TriangleMinimum};
use crate::field::{Field, FieldSample};
use crate::nonconvex::candidate::{FeatureKind, feature_id};
use crate::shape::Mesh;
use nalgebra::{Isometry3, Point3, Vector3};

/// Slope towards a neighbour from which on a vertex is not a contact [-].
const FALLS: f64 = 0.1;
/// Cosine between the normal of the surface and the gradient from which on the surface faces away [-].
const AWAY: f64 = 0.3;
/// Weight of a corner below which a point lies on the opposite edge [-].
const ON_EDGE: f64 = 1e-6;

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

/// Samples at the vertices of a surface, each taken once per query.
#[derive(Debug, Default)]
pub struct VertexSamples {
    stamp: u32,
    stamps: Vec<u32>,
    samples: Vec<FieldSample>,
    near: Vec<u32>,
    used: Vec<u32>,
}

impl VertexSamples {
    fn start(&mut self, vertices: usize) {
        self.near.clear();
        self.used.clear();
        self.stamp = self.stamp.wrapping_add(1);
        if self.stamp == 0 {
            self.stamps.fill(0);
            self.stamp = 1;
        }
        if self.stamps.len() < vertices {
            let nothing = FieldSample { value: f64::INFINITY, gradient: Vector3::zeros() };
            self.stamps.resize(vertices, 0);
            self.samples.resize(vertices, nothing);
        }
    }

    fn known(&self, vertex: u32) -> Option<&FieldSample> {
        (self.stamps[vertex as usize] == self.stamp).then(|| &self.samples[vertex as usize])
    }
}

/// Writes the points of the surface at `X_DM` within `reach` [m] of the solid.
pub fn find(
    side: &SurfaceSide,
    X_DM: &Isometry3<f64>,
    field: &impl DistanceField,
    reach: f64,
    memory: &mut VertexSamples,
    found: &mut Vec<SurfacePoint>,
) {
    found.clear();
    let mesh = side.mesh;
    memory.start(mesh.vertices().len());
    let R_DM = X_DM.rotation.to_rotation_matrix();
    let place = |p: &Vector3<f64>| R_DM * p + X_DM.translation.vector;
    let (L, home) = (field.lipschitz(), around(&field.bounds(), reach));
    mesh.tree().visit_where(
        |bounds| {
            let (centre, radius) = (place(&bounds.centre()), 0.5 * bounds.size().norm());
            home.distance_squared(&centre) <= radius * radius
                && field.sample(&centre).value <= reach + L * radius
        },
        |t| memory.near.push(t),
    );
    for k in 0..memory.near.len() {
        for v in mesh.triangles()[memory.near[k] as usize] {
            if memory.stamps[v as usize] != memory.stamp {
                memory.stamps[v as usize] = memory.stamp;
                memory.samples[v as usize] = field.sample(&place(&mesh.vertices()[v as usize]));
                memory.used.push(v);
            }
        }
    }
    let emit = Emitter { side, X_DM, field, reach };
    for &v in &memory.used {
        let Some(own) = memory.known(v) else { continue };
        if !(own.value <= reach) {
            continue;
        }
        let p = mesh.vertices()[v as usize];
        let falls = mesh.ring(v).iter().any(|&u| {
            let way = (mesh.vertices()[u as usize] - p).norm();
            memory.known(u).is_some_and(|other| own.value - other.value > FALLS * way)
        });
        let outward = R_DM * mesh.pseudo_normal(v);
        if !falls && own.gradient.dot(&outward) <= AWAY * outward.norm() {
            let feature = feature_id(FeatureKind::FieldVertex, v, side.pass);
            found.extend(emit.at(feature, &p, own));
        }
    }
    for &t in &memory.near {
        let corners = mesh.triangles()[t as usize];
        let Some(samples) = corners_known(memory, &corners) else { continue };
        let normal = R_DM * mesh.normal(t);
        let places = mesh.corners(t).map(|p| place(&p));
        let longest = (places[1] - places[0]).norm().max((places[2] - places[0]).norm());
        let least = samples.iter().fold(f64::INFINITY, |least, s| least.min(s.value));
        // No point of the triangle is lower than this.
        if least - L * longest > reach {
            continue;
        }
        let Some(lowest) = triangle_minimum::of(&places, &samples, field) else { continue };
        let TriangleMinimum { point, sample, .. } = lowest;
        let is_corner = lowest.weights.iter().any(|w| *w > 1.0 - ON_EDGE);
        if is_corner
            || !(sample.value <= reach)
            || sample.gradient.dot(&normal) > AWAY
            || falls_beyond(mesh, t, &lowest, &R_DM.into_inner())
        {
            continue;
        }
        let feature = feature_id(FeatureKind::FieldFace, t, side.pass);
        let p_M = X_DM.inverse_transform_point(&Point3::from(point)).coords;
        found.extend(emit.at(feature, &p_M, &sample));
    }
}

fn corners_known(memory: &VertexSamples, corners: &[u32; 3]) -> Option<[FieldSample; 3]> {
    let [a, b, c] = corners.map(|v| memory.known(v).copied());
    Some([a?, b?, c?])
}

/// Whether the lowest point of a triangle lies on an edge across which the value falls farther.
fn falls_beyond(
    mesh: &Mesh,
    t: u32,
    lowest: &TriangleMinimum,
    R_DM: &nalgebra::Matrix3<f64>,
) -> bool {
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

/// What turns a point of the surface into a contact.
struct Emitter<'a, D> {
    side: &'a SurfaceSide<'a>,
    X_DM: &'a Isometry3<f64>,
    field: &'a D,
    reach: f64,
}

impl<D: DistanceField> Emitter<'_, D> {
    /// The contact at the point `p_M` [m] of the surface, moved onto the exact surface.
    fn at(&self, feature: u32, p_M: &Vector3<f64>, sample: &FieldSample) -> Option<SurfacePoint> {
        let exact = self.side.own.and_then(|own| own.project(p_M));
        // Far away the projection is not the point that the triangle stands for.
        let near = |p: &Vector3<f64>| (p - p_M).norm() <= self.side.mesh.mesh_width();
        let p = exact.filter(near).unwrap_or(*p_M);
        let point = (self.X_DM * Point3::from(p)).coords;
        let sample = if p == *p_M { *sample } else { self.field.sample(&point) };
        let (gap, normal) = sample.to_surface()?;
        (gap <= self.reach).then_some(SurfacePoint { feature, point, normal, gap })
    }
}
