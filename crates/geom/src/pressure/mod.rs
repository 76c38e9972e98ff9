//! Pressure fields in shapes, and the patches over which two of them touch (hydroelastic contact).
//!
//! A compliant shape carries a pressure field: zero on its surface, its modulus on the medial axis, linear in each
//! tetrahedron of a mesh of the shape [Elandt19, Sec. III]. A rigid shape is a surface of triangles. Two shapes touch over
//! the surface on which their pressures agree, or over the part of the rigid surface that lies in the compliant shape:
//! a set of convex polygons, each of which is one compliant contact point [Masterjohn22, Sec. III].
//!
//! [`solids`] makes the meshes of round and flat shapes, `lattice` those of closed triangle meshes and distance fields,
//! [`PressureBody`] is the result for one shape. `clip` cuts polygons, [`intersect`] finds those of two bodies,
//! [`PatchDetector`] those of a whole set of colliders.

mod cells;
mod clip;
mod detector;
mod element;
mod intersect;
mod lattice;
mod load;
mod near;
mod patch;
pub mod solids;
mod writer;

pub use clip::Polygon;
pub use detector::{PatchDetector, PressureBodies};
pub use element::{LinearField, PressureElement};
pub use intersect::{PosedBody, intersect};
pub use patch::{Patch, PatchPolygon, PatchPolygons, PatchTotal, PolygonPiece};

use crate::bvh::Bvh;
use crate::{Aabb, PressureError, Shape};
use nalgebra::Vector3;

/// Most tetrahedra or triangles of one body: a resolution that asks for more is a slip.
pub const MOST_ELEMENTS: usize = 1 << 20;

/// How a shape yields.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compliance {
    /// Pressure on the medial axis, or at the depth `thickness` [Pa].
    pub modulus: f64,
    /// Depth at which the pressure is that of the modulus [m]; `None`: the largest depth of the shape. A half space needs one.
    pub thickness: Option<f64>,
    /// Length of the edges of the mesh on the surface [m]; `None`: a quarter of the mean side of the shape.
    pub resolution: Option<f64>,
}

impl Compliance {
    /// Checks the ranges of the numbers.
    pub fn check(&self) -> Result<(), PressureError> {
        let positive = |x: f64| x > 0.0 && x.is_finite();
        if !positive(self.modulus) {
            return Err(PressureError::Modulus { found: self.modulus });
        }
        for (parameter, value) in [("thickness", self.thickness), ("resolution", self.resolution)] {
            if let Some(found) = value.filter(|x| !positive(*x)) {
                return Err(PressureError::Length { parameter, found });
            }
        }
        Ok(())
    }
}

/// A triangle of a rigid surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidTriangle {
    /// Corners, counter-clockwise seen from outside [m].
    pub corners: [Vector3<f64>; 3],
    /// Outward unit normal [-].
    pub normal: Vector3<f64>,
    /// Number of its cell: triangles that follow one another in one plane make one contact.
    pub cell: u32,
}

impl RigidTriangle {
    /// Whether it makes one contact with the one before it: both lie in one plane and have an edge in common.
    fn shares_cell(&self, before: &Self) -> bool {
        let shared = self.corners.iter().filter(|x| before.corners.contains(x)).count();
        shared == 2 && (self.normal - before.normal).norm() <= SAME_PLANE
    }
}

/// Difference of unit normals below which two triangles lie in one plane [-].
const SAME_PLANE: f64 = 1e-12;
/// Joins elements that follow one another to cells, of at most two triangles or one grid cell. Before, the cell of each is
/// the number of the triangle or twice that of the grid cell that it comes from.
fn join_cells<T>(
    items: &mut [T],
    shares: impl Fn(&T, &T) -> bool,
    cell: impl Fn(&mut T) -> &mut u32,
) {
    let (mut number, mut first) = (0, 0);
    for index in 0..items.len() {
        let source = *cell(&mut items[index]);
        if index == 0 {
            first = source;
        } else if source > first + 1 || !shares(&items[index], &items[index - 1]) {
            (number, first) = (number + 1, source);
        }
        *cell(&mut items[index]) = number;
    }
}

/// A shape as contact patches see it, in its own frame S.
#[derive(Clone, Debug)]
pub enum PressureBody {
    /// A compliant half space z ≤ 0 with the pressure `gradient` · depth [Pa/m].
    HalfSpace {
        /// Pressure per depth [Pa/m].
        gradient: f64,
    },
    /// A rigid half space z ≤ 0.
    Plane,
    /// A compliant solid.
    Solid {
        /// Its tetrahedra, joined to convex cells where they have one field.
        elements: Vec<PressureElement>,
        /// The boxes around them.
        tree: Bvh,
    },
    /// A rigid surface.
    Surface {
        /// Its triangles.
        triangles: Vec<RigidTriangle>,
        /// The boxes around them.
        tree: Bvh,
    },
}

impl PressureBody {
    /// The body of a shape, compliant or rigid. `resolution` is that of a rigid surface [m].
    pub fn new(shape: &Shape, compliance: Option<&Compliance>) -> Result<Self, PressureError> {
        let Some(compliance) = compliance else { return Self::rigid(shape) };
        compliance.check()?;
        let Compliance { modulus, thickness, resolution } = *compliance;
        if matches!(shape, Shape::Plane) {
            let thickness = thickness.ok_or(PressureError::NoThickness)?;
            return Ok(Self::HalfSpace { gradient: modulus / thickness });
        }
        let resolution = resolution.unwrap_or_else(|| default_resolution(shape));
        let (mut elements, depth) = match shape {
            Shape::Mesh(_) | Shape::Field(_) => lattice::elements(shape, resolution)?,
            _ => solids::Skin::of(shape, resolution)?.elements()?,
        };
        let scale = thickness.map_or(modulus, |thickness| modulus * depth / thickness);
        elements.iter_mut().for_each(|element| element.scale_pressure(scale));
        join_cells(&mut elements, PressureElement::shares_cell, |element| &mut element.cell);
        if elements.is_empty() {
            return Err(PressureError::Resolution { shape: shape.name(), resolution });
        }
        Ok(Self::solid(cells::merge(&elements)))
    }

    fn solid(elements: Vec<PressureElement>) -> Self {
        let boxes: Vec<_> = elements.iter().map(PressureElement::bounds).collect();
        Self::Solid { elements, tree: Bvh::of_boxes(&boxes) }
    }

    fn rigid(shape: &Shape) -> Result<Self, PressureError> {
        let (vertices, faces) = match shape {
            Shape::Plane => return Ok(Self::Plane),
            Shape::HeightField(field) => field.soup(),
            Shape::Mesh(mesh) if !mesh.is_closed() => {
                return Err(PressureError::Open { borders: mesh.border_edges() });
            }
            Shape::Mesh(mesh) => (mesh.vertices().to_vec(), mesh.triangles().to_vec()),
            Shape::Field(field) => {
                (field.surface().vertices().to_vec(), field.surface().triangles().to_vec())
            }
            _ => {
                let skin = solids::Skin::of(shape, default_resolution(shape))?;
                (skin.vertices, skin.triangles)
            }
        };
        let triangle = |(number, t): (usize, &[u32; 3])| {
            let corners = t.map(|v| vertices[v as usize]);
            let [a, b, c] = corners;
            let normal = (b - a).cross(&(c - a)).try_normalize(0.0)?;
            Some(RigidTriangle { corners, normal, cell: number as u32 })
        };
        let mut triangles: Vec<_> = faces.iter().enumerate().filter_map(triangle).collect();
        join_cells(&mut triangles, RigidTriangle::shares_cell, |triangle| &mut triangle.cell);
        let boxes: Vec<_> = triangles.iter().map(|t| Aabb::of_points(t.corners)).collect();
        Ok(Self::Surface { triangles, tree: Bvh::of_boxes(&boxes) })
    }

    /// Whether the body yields.
    pub fn is_compliant(&self) -> bool {
        matches!(self, Self::HalfSpace { .. } | Self::Solid { .. })
    }

    /// Box around the body in its own frame [m]; all of space for a half space.
    pub fn bounds(&self) -> Aabb {
        match self {
            Self::HalfSpace { .. } | Self::Plane => Aabb::ALL,
            Self::Solid { tree, .. } | Self::Surface { tree, .. } => tree.bounds(),
        }
    }

    /// Number of elements or triangles; one for a half space.
    pub fn len(&self) -> usize {
        match self {
            Self::HalfSpace { .. } | Self::Plane => 1,
            Self::Solid { elements, .. } => elements.len(),
            Self::Surface { triangles, .. } => triangles.len(),
        }
    }

    /// Whether the body has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A quarter of the side of the square with the mean area of the faces of a shape's bounds [m].
fn default_resolution(shape: &Shape) -> f64 {
    let size = shape.bounds(&nalgebra::Isometry3::identity()).size();
    let area = (size.x * size.y + size.y * size.z + size.z * size.x) / 3.0;
    0.25 * area.sqrt()
}

#[cfg(test)]
mod tests;
