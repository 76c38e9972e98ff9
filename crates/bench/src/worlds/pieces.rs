//! Shapes as convex pieces, triangles or half spaces, and their relation by brute force.

use nalgebra::{Isometry3, Vector3};
use stiction_geom::Shape;

use super::convex::{ConvexSet, PlacedConvex, PlacedTriangle, Separation, is_checked, separation};
use super::field_relation::{HalfSpace, PlacedField, ScaledConvex, Solid, field_relation};

/// Shrinkage of the smaller of two convex shapes under which they still overlap, and of a shape against a
/// triangle, which has no inside [-].
const SHRINK: f64 = 1e-3;
const SHRINK_AT_TRIANGLE: f64 = 1e-2;

/// A shape at a pose in the world, in parts that are checked.
pub enum Pieces<'a> {
    /// The half space below the plane z = 0 of a pose.
    HalfSpace(Isometry3<f64>),
    /// Convex parts.
    Convex(Vec<PlacedConvex<'a>>),
    /// Triangles of a closed surface, or of a height field with all that is below it.
    Triangles(Vec<PlacedTriangle>),
    /// A solid given by a signed distance field.
    Field(PlacedField<'a>),
}

impl<'a> Pieces<'a> {
    /// The parts of a shape; `None` if one is of a kind that is not checked.
    pub fn of(shape: &'a Shape, pose: &Isometry3<f64>) -> Option<Self> {
        let placed = |corners: [Vector3<f64>; 3]| {
            PlacedTriangle(corners.map(|p| pose.translation.vector + pose.rotation * p))
        };
        match shape {
            Shape::Plane => Some(Self::HalfSpace(*pose)),
            Shape::Compound(compound) => {
                let parts = compound.parts().iter();
                let parts = parts.map(|(X, part)| {
                    is_checked(part).then(|| PlacedConvex { shape: part, pose: pose * X })
                });
                parts.collect::<Option<_>>().map(Self::Convex)
            }
            Shape::Field(field) => Some(Self::Field(PlacedField { field, pose: *pose })),
            Shape::Mesh(mesh) if mesh.is_closed() => {
                let count = mesh.triangles().len() as u32;
                Some(Self::Triangles((0..count).map(|t| placed(mesh.corners(t))).collect()))
            }
            Shape::HeightField(field) => {
                let corners = |t: u32| field.triangle(t).map(|v| field.vertex(v));
                Some(Self::Triangles((0..field.triangles()).map(|t| placed(corners(t))).collect()))
            }
            shape if is_checked(shape) => {
                Some(Self::Convex(vec![PlacedConvex { shape, pose: *pose }]))
            }
            _ => None,
        }
    }

    /// Bound of the error of distances [m].
    pub fn error_bound(&self) -> f64 {
        match self {
            Self::Field(placed) => placed.field.error_bound(),
            _ => 0.0,
        }
    }

    /// Half of the smallest extent of a part [m]; infinite for surfaces.
    pub fn size(&self) -> f64 {
        match self {
            Self::Convex(parts) => {
                parts.iter().map(PlacedConvex::size).fold(f64::INFINITY, f64::min)
            }
            Self::Field(placed) => field_size(placed),
            _ => f64::INFINITY,
        }
    }
}

/// The relation of two shapes: a distance that is proven, and whether they overlap by more than a part of their
/// size. `None` if the pair is not checked.
pub fn relation(a: &Pieces, b: &Pieces) -> Option<Separation> {
    match (a, b) {
        (Pieces::HalfSpace(plane), Pieces::Convex(parts))
        | (Pieces::Convex(parts), Pieces::HalfSpace(plane)) => {
            Some(nearest(parts.iter().map(|part| {
                let gap = part.above_plane(plane);
                Separation { distance: gap, overlaps: gap < -SHRINK * part.size() }
            })))
        }
        (Pieces::Convex(one), Pieces::Convex(other)) => {
            let pairs = one.iter().flat_map(|a| other.iter().map(move |b| (a, b)));
            Some(nearest(pairs.map(|(a, b)| convex_pair(a, b))))
        }
        (Pieces::Convex(parts), Pieces::Triangles(triangles))
        | (Pieces::Triangles(triangles), Pieces::Convex(parts)) => {
            let pairs = parts.iter().flat_map(|a| triangles.iter().map(move |b| (a, b)));
            let mut found = nearest(pairs.map(|(part, triangle)| at_triangle(part, triangle)));
            // A part whose middle is behind the nearest surface may be inside.
            if found.distance > 0.0 && parts.iter().any(|part| is_behind(&part.middle(), triangles))
            {
                found.distance = f64::NEG_INFINITY;
            }
            Some(found)
        }
        (Pieces::Field(field), other) | (other, Pieces::Field(field)) => {
            let deep = SHRINK * field_size(field).min(other.size()) + field.field.error_bound();
            match other {
                Pieces::HalfSpace(plane) => Some(field_relation(field, &HalfSpace(plane), deep)),
                Pieces::Field(two) => {
                    Some(field_relation(field, two, deep + two.field.error_bound()))
                }
                Pieces::Convex(parts) => {
                    Some(nearest(parts.iter().map(|part| field_and_convex(field, part, deep))))
                }
                Pieces::Triangles(_) => None,
            }
        }
        _ => None,
    }
}

fn field_size(placed: &PlacedField) -> f64 {
    0.5 * placed.field.local_bounds().size().min()
}

fn field_and_convex(field: &PlacedField, part: &PlacedConvex, deep: f64) -> Separation {
    let (one, two) = (field.cube(), (part.middle(), part.radius()));
    let apart = (one.0 - two.0).norm() - one.1 - two.1;
    if apart > 0.0 {
        return Separation { distance: apart, overlaps: false };
    }
    let whole = field_relation(field, &ScaledConvex(part, 1.0), deep);
    let overlaps =
        whole.overlaps && field_relation(field, &ScaledConvex(part, 1.0 - SHRINK), deep).overlaps;
    Separation { distance: whole.distance, overlaps }
}

/// The least distance of all, and whether one of them overlaps.
fn nearest(all: impl Iterator<Item = Separation>) -> Separation {
    let none = Separation { distance: f64::INFINITY, overlaps: false };
    all.fold(none, |found, next| Separation {
        distance: found.distance.min(next.distance),
        overlaps: found.overlaps || next.overlaps,
    })
}

fn convex_pair(a: &PlacedConvex, b: &PlacedConvex) -> Separation {
    let apart = (a.middle() - b.middle()).norm() - a.radius() - b.radius();
    if apart > 0.0 {
        return Separation { distance: apart, overlaps: false };
    }
    let (one, other) = if a.size() <= b.size() { (a, b) } else { (b, a) };
    let whole = separation(one, other, 1.0);
    let overlaps = whole.overlaps && separation(one, other, 1.0 - SHRINK).overlaps;
    Separation { distance: whole.distance, overlaps }
}

fn at_triangle(part: &PlacedConvex, triangle: &PlacedTriangle) -> Separation {
    let apart = (part.middle() - triangle.middle()).norm() - part.radius() - triangle.radius();
    if apart > 0.0 {
        return Separation { distance: apart, overlaps: false };
    }
    let whole = separation(part, triangle, 1.0);
    let overlaps = whole.overlaps && separation(part, triangle, 1.0 - SHRINK_AT_TRIANGLE).overlaps;
    Separation { distance: whole.distance, overlaps }
}

/// Whether a point is behind the triangle nearest to it; in doubt it is.
fn is_behind(p: &Vector3<f64>, triangles: &[PlacedTriangle]) -> bool {
    let winding: f64 = triangles.iter().map(|triangle| solid_angle(p, triangle)).sum();
    // 4π inside of a closed surface, nothing outside; ±2π close to a height field and far from its border.
    winding > 0.5
}

/// Angle under which a triangle appears from a point [sr], signed [VanOosterom83].
fn solid_angle(p: &Vector3<f64>, PlacedTriangle(corners): &PlacedTriangle) -> f64 {
    let [a, b, c] = corners.map(|corner| corner - p);
    let (x, y, z) = (a.norm(), b.norm(), c.norm());
    let volume = a.dot(&b.cross(&c));
    let rest = x * y * z + a.dot(&b) * z + b.dot(&c) * x + c.dot(&a) * y;
    2.0 * volume.atan2(rest)
}
