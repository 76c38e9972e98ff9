//! Shapes: rigid geometry in a frame S of its own, axes along z.
//!
//! Each shape is one file of closed forms; this file dispatches to them. The capabilities of a shape select
//! the narrow-phase routine, see [`crate::narrow`].

pub mod capsule;
pub mod compound;
pub mod convex;
pub mod cuboid;
pub mod cylinder;
pub mod ellipsoid;
pub mod generate;
pub mod heightfield;
mod hull;
pub mod mesh;
pub mod moments;
mod nearest;
pub mod ray;
pub mod sphere;
mod support_quadtree;
pub mod triangle;

pub use compound::Compound;
pub use convex::Convex;
pub use heightfield::HeightField;
pub use mesh::Mesh;
pub use nearest::SurfaceDistance;
pub use ray::{Ray, RayHit};

use crate::field::{Field, FieldSolid};
use crate::narrow::{ConvexCore, SupportFeature};
use crate::{Aabb, ShapeError};
use nalgebra::{Isometry3, Matrix3, Vector3};
use std::sync::Arc;

/// Rigid geometry in the shape's frame S.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A box by half its edges [m].
    Box(Vector3<f64>),
    /// All points within a radius of a segment on z.
    Capsule {
        /// Radius [m].
        radius: f64,
        /// Half the length of the segment [m].
        half_length: f64,
    },
    /// Several shapes as one.
    Compound(Arc<Compound>),
    /// The convex hull of points.
    Convex(Arc<Convex>),
    /// A cylinder about z.
    Cylinder {
        /// Radius [m].
        radius: f64,
        /// Half the length [m].
        half_length: f64,
    },
    /// An ellipsoid along the axes.
    Ellipsoid {
        /// Its three radii [m].
        radii: Vector3<f64>,
    },
    /// A solid given by a signed distance field.
    Field(Arc<Field>),
    /// Heights over a grid in x and y.
    HeightField(Arc<HeightField>),
    /// A triangle mesh, not necessarily convex.
    Mesh(Arc<Mesh>),
    /// The half space z ≤ 0.
    Plane,
    /// A ball about the origin.
    Sphere {
        /// Radius [m].
        radius: f64,
    },
}

/// Entry of the list of shapes.
#[derive(Clone, Copy, Debug)]
pub struct ShapeEntry {
    /// Name, as in files and messages.
    pub name: &'static str,
    /// One-sentence description.
    pub about: &'static str,
}

/// All shapes, in alphabetical order.
pub static SHAPES: &[ShapeEntry] = &[
    ShapeEntry { name: "box", about: "Box by half its edges" },
    ShapeEntry { name: "capsule", about: "All points within a radius of a segment" },
    ShapeEntry { name: "compound", about: "Several shapes as one" },
    ShapeEntry { name: "convex", about: "Convex hull of points" },
    ShapeEntry { name: "cylinder", about: "Cylinder with flat caps" },
    ShapeEntry { name: "ellipsoid", about: "Ellipsoid by three radii" },
    ShapeEntry { name: "heightfield", about: "Heights over a grid, solid below" },
    ShapeEntry { name: "mesh", about: "Triangle mesh, convex or not" },
    ShapeEntry { name: "plane", about: "Half space below z = 0" },
    ShapeEntry { name: "sdf", about: "Solid given by a signed distance field" },
    ShapeEntry { name: "sphere", about: "Ball by its radius" },
];

impl Shape {
    /// A box by half its edges [m].
    pub fn cuboid(half_extents: Vector3<f64>) -> Result<Self, ShapeError> {
        Self::Box(half_extents).checked()
    }

    /// A capsule by its radius [m] and half the length of its segment [m].
    pub fn capsule(radius: f64, half_length: f64) -> Result<Self, ShapeError> {
        Self::Capsule { radius, half_length }.checked()
    }

    /// Shapes at their poses as one, see [`Compound::build`].
    pub fn compound(parts: Vec<(Isometry3<f64>, Self)>) -> Result<Self, ShapeError> {
        Ok(Self::Compound(Arc::new(Compound::build(parts)?)))
    }

    /// Heights over a grid, see [`HeightField::build`].
    pub fn height_field(
        rows: usize,
        columns: usize,
        heights: Vec<f64>,
        size: (f64, f64),
    ) -> Result<Self, ShapeError> {
        Ok(Self::HeightField(Arc::new(HeightField::build(rows, columns, heights, size)?)))
    }

    /// A solid given by a signed distance field, see [`Field::build`].
    pub fn field(solid: FieldSolid, width: Option<f64>) -> Result<Self, ShapeError> {
        Ok(Self::Field(Arc::new(Field::build(solid, width)?)))
    }

    /// A triangle mesh, see [`Mesh::build`].
    pub fn mesh(vertices: &[Vector3<f64>], triangles: &[[u32; 3]]) -> Result<Self, ShapeError> {
        Ok(Self::Mesh(Arc::new(Mesh::build(vertices, triangles)?)))
    }

    /// The convex hull of points [m].
    pub fn convex(points: &[Vector3<f64>]) -> Result<Self, ShapeError> {
        Ok(Self::Convex(Arc::new(Convex::hull(points)?)))
    }

    /// A cylinder by its radius [m] and half its length [m].
    pub fn cylinder(radius: f64, half_length: f64) -> Result<Self, ShapeError> {
        Self::Cylinder { radius, half_length }.checked()
    }

    /// An ellipsoid by its three radii [m].
    pub fn ellipsoid(radii: Vector3<f64>) -> Result<Self, ShapeError> {
        Self::Ellipsoid { radii }.checked()
    }

    /// A ball by its radius [m].
    pub fn sphere(radius: f64) -> Result<Self, ShapeError> {
        Self::Sphere { radius }.checked()
    }

    /// Name, as in [`SHAPES`].
    pub fn name(&self) -> &'static str {
        match self {
            Self::Box(_) => "box",
            Self::Capsule { .. } => "capsule",
            Self::Compound(_) => "compound",
            Self::Convex(_) => "convex",
            Self::Cylinder { .. } => "cylinder",
            Self::Ellipsoid { .. } => "ellipsoid",
            Self::Field(_) => "sdf",
            Self::HeightField(_) => "heightfield",
            Self::Mesh(_) => "mesh",
            Self::Plane => "plane",
            Self::Sphere { .. } => "sphere",
        }
    }

    /// Checks that all lengths are finite and positive.
    pub fn check(&self) -> Result<(), ShapeError> {
        let lengths: [(&'static str, f64); 3] = match self {
            Self::Box(h) => {
                [("half extent x", h.x), ("half extent y", h.y), ("half extent z", h.z)]
            }
            Self::Ellipsoid { radii: r } => {
                [("radius x", r.x), ("radius y", r.y), ("radius z", r.z)]
            }
            Self::Capsule { radius, half_length } | Self::Cylinder { radius, half_length } => {
                [("radius", *radius), ("half length", *half_length), ("radius", *radius)]
            }
            Self::Sphere { radius } => [("radius", *radius); 3],
            Self::Compound(compound) => return compound.check(),
            Self::HeightField(field) => return field.check(),
            Self::Mesh(mesh) => return mesh.check(),
            Self::Convex(_) | Self::Field(_) | Self::Plane => return Ok(()),
        };
        for (parameter, found) in lengths {
            if !(found > 0.0 && found.is_finite()) {
                return Err(ShapeError::Length { shape: self.name(), parameter, found });
            }
        }
        Ok(())
    }

    fn checked(self) -> Result<Self, ShapeError> {
        self.check()?;
        Ok(self)
    }

    /// Whether the shape is convex (the plane's half space is).
    pub fn is_convex(&self) -> bool {
        !matches!(self, Self::Compound(_) | Self::Field(_) | Self::HeightField(_) | Self::Mesh(_))
    }

    /// Bounds in the world [m]; infinite for a plane.
    pub fn bounds(&self, X_WS: &Isometry3<f64>) -> Aabb {
        let centre = X_WS.translation.vector;
        match self {
            Self::Box(half) => Aabb::of_box(X_WS, Vector3::zeros(), *half),
            Self::Capsule { radius, half_length } => {
                let axis = X_WS.rotation * Vector3::z();
                Aabb::around(centre, (axis * *half_length).abs().add_scalar(*radius))
            }
            Self::Compound(compound) => compound.bounds(X_WS),
            Self::Convex(convex) => convex.bounds(X_WS),
            Self::Cylinder { radius, half_length } => {
                // Along an axis at an angle of sine s to the cylinder's, the circle extends to r s.
                let axis = X_WS.rotation * Vector3::z();
                let half =
                    axis.map(|c| half_length * c.abs() + radius * (1.0 - c * c).max(0.0).sqrt());
                Aabb::around(centre, half)
            }
            Self::Ellipsoid { radii } => {
                // The support function along axis i is the length of row i of R_WS · diag(radii).
                let R_WS = X_WS.rotation.to_rotation_matrix().into_inner();
                let half = (0..3).map(|i| R_WS.row(i).transpose().component_mul(radii).norm());
                Aabb::around(centre, Vector3::from_iterator(half))
            }
            Self::Field(field) => {
                let bounds = field.local_bounds();
                Aabb::of_box(X_WS, bounds.centre(), 0.5 * bounds.size())
            }
            Self::HeightField(field) => field.bounds(X_WS),
            Self::Mesh(mesh) => mesh.bounds(X_WS),
            Self::Plane => Aabb::ALL,
            Self::Sphere { radius } => Aabb::around(centre, Vector3::repeat(*radius)),
        }
    }

    /// Bounding radius about the shape's origin [m]; infinite for a plane.
    pub fn bounding_radius(&self) -> f64 {
        match self {
            Self::Box(half) => half.norm(),
            Self::Capsule { radius, half_length } => radius + half_length,
            Self::Compound(compound) => compound.bounding_radius(),
            Self::Convex(convex) => convex.bounding_radius(),
            Self::Cylinder { radius, half_length } => radius.hypot(*half_length),
            Self::Ellipsoid { radii } => radii.max(),
            Self::Field(field) => field.bounding_radius(),
            Self::HeightField(field) => field.bounding_radius(),
            Self::Mesh(mesh) => mesh.bounding_radius(),
            Self::Plane => f64::INFINITY,
            Self::Sphere { radius } => *radius,
        }
    }

    /// Least distance of the surface from the centre [m]; for meshes half the least side of their bounds.
    /// Infinite for planes and height fields. A body that moves farther than this in a step may pass through
    /// something thin.
    pub fn least_half_extent(&self) -> f64 {
        match self {
            Self::Box(half) => half.min(),
            Self::Capsule { radius, .. } | Self::Sphere { radius } => *radius,
            Self::Compound(compound) => compound
                .parts()
                .iter()
                .fold(f64::INFINITY, |least, (_, part)| least.min(part.least_half_extent())),
            Self::Convex(convex) => convex.least_half_extent(),
            Self::Cylinder { radius, half_length } => radius.min(*half_length),
            Self::Ellipsoid { radii } => radii.min(),
            Self::Field(field) => 0.5 * field.local_bounds().size().min(),
            Self::Mesh(mesh) => 0.5 * mesh.local_bounds().size().min(),
            Self::HeightField(_) | Self::Plane => f64::INFINITY,
        }
    }

    /// Farthest point along `dir_S` [m], for shapes that are convex and bounded; `None` otherwise.
    pub fn support(&self, dir_S: &Vector3<f64>) -> Option<Vector3<f64>> {
        match self {
            Self::Compound(_)
            | Self::Field(_)
            | Self::HeightField(_)
            | Self::Mesh(_)
            | Self::Plane => None,
            _ => Some(ConvexCore::support(self, dir_S) + sphere::support(self.radius(), dir_S)),
        }
    }

    /// Volume \[m³\]; 0 for shapes without a finite one (plane, height field).
    pub fn volume(&self) -> f64 {
        self.mass_properties(1.0).0
    }

    /// Mass [kg], centre of mass [m] and inertia about it [kg·m²] in S, at `density` [kg/m³].
    ///
    /// All zero for shapes without a finite volume (plane, height field).
    pub fn mass_properties(&self, density: f64) -> (f64, Vector3<f64>, Matrix3<f64>) {
        let (volume, unit_inertia) = match self {
            Self::Box(half) => (cuboid::volume(half), cuboid::unit_inertia(half)),
            Self::Capsule { radius: r, half_length: h } => {
                (capsule::volume(*r, *h), capsule::unit_inertia(*r, *h))
            }
            Self::Cylinder { radius: r, half_length: h } => {
                (cylinder::volume(*r, *h), cylinder::unit_inertia(*r, *h))
            }
            Self::Ellipsoid { radii } => (ellipsoid::volume(radii), ellipsoid::unit_inertia(radii)),
            Self::Sphere { radius } => (sphere::volume(*radius), sphere::unit_inertia(*radius)),
            Self::Plane => (0.0, Matrix3::zeros()),
            Self::Compound(compound) => return compound.mass_properties(density),
            Self::Convex(convex) => return convex.mass_properties(density),
            Self::Field(field) => return field.surface().mass_properties(density),
            Self::HeightField(field) => return field.mass_properties(density),
            Self::Mesh(mesh) => return mesh.mass_properties(density),
        };
        let mass = density * volume;
        (mass, Vector3::zeros(), mass * unit_inertia)
    }
}

/// The convex, bounded shapes as rounded cores. The others have no core; the narrow phase does not call
/// these methods on them, and they return the origin.
impl ConvexCore for Shape {
    fn support(&self, dir_S: &Vector3<f64>) -> Vector3<f64> {
        match self {
            Self::Box(half) => cuboid::support(half, dir_S),
            Self::Capsule { half_length, .. } => capsule::support(*half_length, dir_S),
            Self::Convex(convex) => convex.support(dir_S),
            Self::Cylinder { radius, half_length } => {
                cylinder::support(*radius, *half_length, dir_S)
            }
            Self::Ellipsoid { radii } => ellipsoid::support(radii, dir_S),
            _ => Vector3::zeros(),
        }
    }

    fn radius(&self) -> f64 {
        match self {
            Self::Capsule { radius, .. } | Self::Sphere { radius } => *radius,
            _ => 0.0,
        }
    }

    fn centre(&self) -> Vector3<f64> {
        match self {
            Self::Convex(convex) => convex.centre(),
            _ => Vector3::zeros(),
        }
    }

    fn curvature(&self, dir_S: &Vector3<f64>) -> Option<Matrix3<f64>> {
        match self {
            Self::Cylinder { radius, .. } => cylinder::curvature(*radius, dir_S),
            Self::Ellipsoid { radii } => Some(ellipsoid::curvature(radii, dir_S)),
            _ => None,
        }
    }

    fn support_feature(&self, dir_S: &Vector3<f64>, face: &mut SupportFeature) {
        match self {
            Self::Box(half) => cuboid::face(half, dir_S, face),
            Self::Capsule { half_length, .. } => capsule::face(*half_length, face),
            Self::Convex(convex) => convex.face(dir_S, face),
            Self::Cylinder { radius, half_length } => {
                cylinder::face(*radius, *half_length, dir_S, face);
            }
            _ => face.push(0, ConvexCore::support(self, dir_S)),
        }
    }
}
