//! Points at which a surface of triangles touches a solid given by its signed distance, or is near it.
//!
//! Triangles that are farther away are culled by the tree of the surface: a value minus the Lipschitz bound times the radius of a box
//! excludes all of it. Of the rest, vertices are contacts unless the surface falls towards a neighbour, and the lowest points inside
//! triangles and on edges [`triangle_minimum`]. Points where the surface faces away from the solid are left out: the other
//! side of a thin wall. O(log n + triangles near).

use super::around;
use super::distance_field::DistanceField;
use super::triangle_minimum::{self, TriangleMinimum};
use crate::Aabb;
use crate::field::{Field, FieldSample};
use crate::nonconvex::candidate::{FeatureKind, feature_id};
use crate::shape::Mesh;
use nalgebra::{Isometry3, Point3, Vector3};
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
/// Cells along the longest side of the area.
const CELLS: f64 = 8.0;
/// Share of the size below which depths count as equal [-].
const EQUAL: f64 = 1e-6;

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
    raw: Vec<RawPoint>,
}

/// A point of the surface before it is moved onto the exact one.
#[derive(Clone, Copy, Debug)]
struct RawPoint {
    feature: u32,
    /// In the frame of the surface [m].
    p_M: Vector3<f64>,
    sample: FieldSample,
    cell: u64,
    /// Order within a cell: depth in steps, then the distance from the middle [m].
    order: (f64, f64),
}

impl VertexSamples {
    fn start(&mut self, vertices: usize) {
        self.near.clear();
        self.used.clear();
        self.raw.clear();
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

/// Writes the points of the surface at `X_DM` within `reach` [m] of the solid; where it is far away relative to its size, those that
/// are hardly farther than the nearest.
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
    let reach = limited_reach(mesh, place, field, reach);
    let (L, home) = (field.lipschitz(), around(&field.bounds(), reach));
    mesh.tree().visit_leaves(
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
    let mut raw = std::mem::take(&mut memory.raw);
    let mut add = |feature: u32, p_M: Vector3<f64>, sample: FieldSample| {
        raw.push(RawPoint { feature, p_M, sample, cell: 0, order: (0.0, 0.0) });
    };
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
            add(feature_id(FeatureKind::FieldVertex, v, side.pass), p, *own);
        }
    }
    for &t in &memory.near {
        let corners = mesh.triangles()[t as usize];
        let Some(samples) = corners_known(memory, &corners) else { continue };
        let normal = R_DM * mesh.normal(t);
        let places = mesh.corners(t).map(|p| place(&p));
        let longest = (places[1] - places[0]).norm().max((places[2] - places[0]).norm());
        let least = samples.iter().fold(f64::INFINITY, |least, s| least.min(s.value));
        let faces_away = samples.iter().all(|s| s.gradient.dot(&normal) > AWAY);
        // No point of the triangle is lower than this.
        if faces_away || least - L * longest > reach {
            continue;
        }
        if side.own.is_some_and(|own| is_parallel(mesh, own, t, &samples, &R_DM.into_inner())) {
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
        let p_M = X_DM.inverse_transform_point(&Point3::from(point)).coords;
        add(feature_id(FeatureKind::FieldFace, t, side.pass), p_M, sample);
    }
    if raw.len() > VERY_MANY {
        deepest_of_cells(&mut raw);
    }
    let emit = Emitter { side, X_DM, field, reach };
    found.extend(raw.iter().filter_map(|raw| emit.at(raw.feature, &raw.p_M, &raw.sample)));
    memory.raw = raw;
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

/// Keeps the deepest point of each cell with each main direction of its normal, of equally deep ones the outermost.
fn deepest_of_cells(raw: &mut Vec<RawPoint>) {
    let area = Aabb::of_points(raw.iter().map(|raw| raw.p_M));
    let (size, middle) = (area.size().max(), area.centre());
    for raw in raw.iter_mut() {
        let at = (raw.p_M - area.min) * (CELLS / size);
        let axis = raw.sample.gradient.iamax();
        let side = 2 * axis as u64 + u64::from(raw.sample.gradient[axis] < 0.0);
        raw.cell = ((at.x as u64 * 64 + at.y as u64) * 64 + at.z as u64) * 8 + side;
        let depth = (raw.sample.value / (EQUAL * size)).floor();
        raw.order = (depth, -(raw.p_M - middle).norm_squared());
    }
    raw.sort_unstable_by(|a, b| {
        let order = |x: (f64, f64), y: (f64, f64)| x.0.total_cmp(&y.0).then(x.1.total_cmp(&y.1));
        a.cell.cmp(&b.cell).then(order(a.order, b.order)).then(a.feature.cmp(&b.feature))
    });
    raw.dedup_by(|b, a| a.cell == b.cell);
}

fn corners_known(memory: &VertexSamples, corners: &[u32; 3]) -> Option<[FieldSample; 3]> {
    let [a, b, c] = corners.map(|v| memory.known(v).copied());
    Some([a?, b?, c?])
}

/// Whether the exact surface is nearly parallel to the solid at the lowest corner of a triangle, on its side: then that corner stands
/// for the triangle. The triangle itself may be inclined there, because it is a chord of the surface.
fn is_parallel(
    mesh: &Mesh,
    own: &Field,
    t: u32,
    samples: &[FieldSample; 3],
    R_DM: &nalgebra::Matrix3<f64>,
) -> bool {
    let low = (1..3).fold(0, |low, k| if samples[k].value < samples[low].value { k } else { low });
    let corners = mesh.corners(t);
    let g = R_DM.tr_mul(&samples[low].gradient);
    let rises = |normal: &Vector3<f64>| {
        (0..3).filter(|&k| k != low).all(|k| {
            let way = corners[k] - corners[low];
            let along = way - normal * normal.dot(&way);
            g.dot(&along) > -PARALLEL * way.norm()
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
