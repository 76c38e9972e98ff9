//! The convex hull of points as vertices and polygons.
//!
//! `quickhull` finds the triangles with exact predicates, `coplanar` merges those of one plane to polygons,
//! `check` verifies that both are closed, oriented outwards and convex, and that no point lies outside.
//! Where the merged polygons fail, smaller tolerances are tried, in the end the exact triangles.
//! The points are scaled by a power of two for the predicates; the result refers to the points given.

mod check;
mod coplanar;
mod quickhull;

use crate::ShapeError;
use nalgebra::{Matrix3, Vector3};

/// Points thinner than this part of their size enclose no volume: files of meshes hold single precision,
/// whose rounding moves a point by at most half of this part of its distance from the origin, to either
/// side of a plane [-].
const THINNEST: f64 = f32::EPSILON as f64;

/// The same for the rounding of coordinates far from the origin in double precision, after a few
/// operations [-].
const THINNEST_ROUND_OFF: f64 = 64.0 * f64::EPSILON;

/// Part of the largest coordinate within which a point counts as on a facet: the round-off of a few
/// operations by which it may have been computed [-].
const ROUND_OFF: f64 = 8.0 * f64::EPSILON;

/// Triangles whose corners lie within this part of the size of one plane make one face [-].
const FLAT: f64 = 1e-9;

/// The same as a part of the thickness, which keeps the faces of thin hulls [-].
const FLAT_OF_THICKNESS: f64 = 1e-6;

/// Faces narrower than this part of the largest coordinate have no direction beyond round-off [-].
const NARROWEST: f64 = 64.0 * f64::EPSILON;

/// Coordinates below this part of the largest are zero for the predicates, whose products then do not
/// underflow [-].
const NEGLIGIBLE: f64 = f64::from_bits((1023 - 120) << 52); // 2⁻¹²⁰

/// Several lists of indices, one after the other.
#[derive(Clone, Debug, Default)]
pub struct Lists {
    /// All entries.
    pub entries: Vec<u32>,
    /// Start of each list in `entries`, and the end of the last.
    pub starts: Vec<u32>,
}

impl Lists {
    /// Number of lists.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Entries of list `k`.
    pub fn get(&self, k: usize) -> &[u32] {
        &self.entries[self.starts[k] as usize..self.starts[k + 1] as usize]
    }

    /// All lists in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.len()).map(|k| self.get(k))
    }
}

/// A closed convex polyhedron.
pub struct Hull {
    /// Vertices [m], all of them corners of faces.
    pub vertices: Vec<Vector3<f64>>,
    /// Corners of each face, counter-clockwise seen from outside.
    pub faces: Lists,
    /// Volume \[m³\], centre of mass [m] and central inertia per density \[m⁵\].
    pub integrals: (f64, Vector3<f64>, Matrix3<f64>),
}

/// The hull of `points` [m].
pub fn of_points(points: &[Vector3<f64>]) -> Result<Hull, ShapeError> {
    const SHAPE: &str = "convex";
    for (index, p) in points.iter().enumerate() {
        if !p.iter().all(|x| x.is_finite()) {
            return Err(ShapeError::Vertex { shape: SHAPE, index, found: [p.x, p.y, p.z] });
        }
    }
    if points.len() < 4 {
        let found = points.len();
        return Err(ShapeError::TooFew { shape: SHAPE, element: "points", found, expected: 4 });
    }
    let magnitude = points.iter().fold(0.0, |most: f64, p| most.max(p.amax()));
    let unit = power_of_two_near(magnitude);
    let scaled: Vec<_> = points
        .iter()
        .map(|p| (p / unit).map(|x| if x.abs() < NEGLIGIBLE { 0.0 } else { x }))
        .collect();
    let extent = Extent::of(&scaled);
    let magnitude = magnitude / unit;
    let least = (THINNEST * extent.size).max(THINNEST_ROUND_OFF * magnitude);
    if !(extent.thickness > least) {
        return Err(ShapeError::Flat {
            shape: SHAPE,
            vertices: points.len(),
            thickness: extent.thickness * unit,
            expected: least * unit,
        });
    }
    let tolerance = (FLAT * extent.size)
        .min(FLAT_OF_THICKNESS * extent.thickness)
        .max(2.0 * ROUND_OFF * magnitude);
    for slack in [ROUND_OFF * magnitude, 0.0] {
        let surface = quickhull::triangulate(&scaled, extent.corners, slack);
        if !check::is_exactly_convex(&scaled, &surface) {
            continue;
        }
        let narrowest = NARROWEST * magnitude;
        for (flat, narrowest) in [
            (tolerance, narrowest),
            (4.0 * tolerance, narrowest),
            (1e-2 * tolerance, 0.0),
            (0.0, 0.0),
        ] {
            let Some(faces) = coplanar::merge(&scaled, &surface, flat) else { continue };
            if !check::encloses(&scaled, &faces, tolerance.max(flat), narrowest) {
                continue;
            }
            let integrals = integrals(points, &surface.triangles, &extent.frame);
            let (vertices, faces) = used_only(points, faces);
            return Ok(Hull { vertices, faces, integrals });
        }
    }
    Err(ShapeError::Hull { shape: SHAPE, vertices: points.len() })
}

/// The power of two not above a positive number and above half of it; 1 for zero.
fn power_of_two_near(x: f64) -> f64 {
    let exponent = x.to_bits() & (0x7ff << 52);
    if exponent == 0 { 1.0 } else { f64::from_bits(exponent) }
}

/// Four points far apart: two at the ends of the longest extent found, one far from their line, one far
/// from their plane.
struct Extent {
    corners: [u32; 4],
    /// Distance of the first two [m].
    size: f64,
    /// Largest distance of a point from the plane of the first three [m]; the least width of the points
    /// lies between this and a small part of it.
    thickness: f64,
    /// Unit vectors along the line, in the plane across it, and across the plane, as rows.
    frame: Matrix3<f64>,
}

impl Extent {
    fn of(points: &[Vector3<f64>]) -> Self {
        let farthest = |measure: &dyn Fn(&Vector3<f64>) -> f64| {
            (0..).zip(points).fold((0, f64::NEG_INFINITY), |best: (u32, f64), (k, p)| {
                let value = measure(p);
                if value > best.1 { (k, value) } else { best }
            })
        };
        let at = |k: u32| points[k as usize];
        let first = farthest(&|x| (x - points[0]).norm_squared()).0;
        let p = at(first);
        let second = farthest(&|x| (x - p).norm_squared()).0;
        let (along, size) = direction(at(second) - p, Vector3::x());
        let third = farthest(&|x| along.cross(&(x - p)).norm_squared()).0;
        // Twice, because the first difference of a needle is mostly round-off along it.
        let without = |v: Vector3<f64>| v - along.dot(&v) * along;
        let (beside, _) = direction(without(at(third) - p), any_across(&along));
        let (across, _) = direction(without(beside), any_across(&along));
        let normal = along.cross(&across);
        let (fourth, thickness) = farthest(&|x| normal.dot(&(x - p)).abs());
        let frame =
            Matrix3::from_rows(&[along.transpose(), across.transpose(), normal.transpose()]);
        Self { corners: [first, second, third, fourth], size, thickness, frame }
    }
}

/// Unit vector along `v` and the length; `otherwise` if that is zero.
fn direction(v: Vector3<f64>, otherwise: Vector3<f64>) -> (Vector3<f64>, f64) {
    let length = v.norm();
    (if length > 0.0 { v / length } else { otherwise }, length)
}

/// A unit vector across `along`.
fn any_across(along: &Vector3<f64>) -> Vector3<f64> {
    let axis = if along.x.abs() < 0.7 { Vector3::x() } else { Vector3::y() };
    along.cross(&axis).normalize()
}

/// Volume \[m³\], centre of mass [m] and central inertia per density \[m⁵\] of a closed surface, by
/// tetrahedra from a point inside: ∫ x xᵀ over one with corners 0, a, b, c is
/// det/120 (Σ p pᵀ + (Σ p)(Σ p)ᵀ).
///
/// Summed along the axes of `frame`, so that the thickness of a thin surface is not the difference of large
/// numbers.
fn integrals(
    points: &[Vector3<f64>],
    triangles: &[[u32; 3]],
    frame: &Matrix3<f64>,
) -> (f64, Vector3<f64>, Matrix3<f64>) {
    let at = |k: &u32| points[*k as usize];
    let n = 3.0 * triangles.len() as f64;
    let origin: Vector3<f64> = triangles.iter().flatten().map(|k| at(k) / n).sum();
    let (mut six_volume, mut moment, mut second) = (0.0, Vector3::zeros(), Matrix3::zeros());
    for triangle in triangles {
        let [a, b, c] = [0, 1, 2].map(|k: usize| frame * (at(&triangle[k]) - origin));
        let determinant = a.dot(&b.cross(&c));
        let sum = a + b + c;
        six_volume += determinant;
        moment += determinant / 4.0 * sum;
        second += determinant / 20.0
            * (a * a.transpose() + b * b.transpose() + c * c.transpose() + sum * sum.transpose());
    }
    let offset = moment / six_volume;
    let central = (second - six_volume * offset * offset.transpose()) / 6.0;
    let inertia = Matrix3::from_diagonal_element(central.trace()) - central;
    let inertia = frame.tr_mul(&(inertia * frame));
    let inertia = 0.5 * (inertia + inertia.transpose());
    (six_volume / 6.0, origin + frame.tr_mul(&offset), inertia)
}

/// The vertices that faces use, and the faces with their indices.
fn used_only(points: &[Vector3<f64>], mut faces: Lists) -> (Vec<Vector3<f64>>, Lists) {
    let mut names = vec![u32::MAX; points.len()];
    let mut kept = Vec::new();
    for corner in &mut faces.entries {
        let name = &mut names[*corner as usize];
        if *name == u32::MAX {
            *name = kept.len() as u32;
            kept.push(points[*corner as usize]);
        }
        *corner = *name;
    }
    (kept, faces)
}
