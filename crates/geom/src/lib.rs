//! Shapes, distances and contact manifolds. Geometry only: no masses, forces or time steps.
//!
//! A [`Shape`] is rigid geometry in its own frame. [`Colliders`] is an immutable set of shapes carried
//! by moving frames; a [`Detector`] is the workspace that finds contacts between them:
//! [`detect`] contains the broad phase, [`narrow`] the pairs of convex shapes, [`nonconvex`] meshes, height
//! fields and compounds. [`sweep`] finds when two moving shapes first meet. A [`TetMesh`] is a solid meshed by [`tetrahedra`]; [`soft`] finds the contacts of
//! deforming surfaces, [`pressure`] the patches over which compliant shapes touch.

#![forbid(unsafe_code)]
#![allow(non_snake_case)] // matrices keep the capitals of the papers
#![allow(clippy::neg_cmp_op_on_partial_ord)] // NaN must fail a test, not pass it
#![allow(clippy::needless_range_loop)] // loops over matrix indices read as the formulas do
#![allow(rustdoc::broken_intra_doc_links)] // units and citations are written in brackets
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod bounds;
pub mod bvh;
mod collider;
mod contact;
pub mod detect;
mod error;
pub mod field;
mod local_height;
pub mod narrow;
pub mod nonconvex;
pub mod pressure;
pub mod sdf;
pub mod shape;
pub mod soft;
pub mod sweep;
pub mod tetrahedra;

pub use bounds::Aabb;
pub use collider::{Collider, ColliderId, Colliders, CollidersBuilder, Groups};
pub use contact::Contact;
pub use detect::{DetectionReach, Detector, FrameMotion};
pub use error::{ColliderError, PressureError, ShapeError, SoftSurfaceError, TetMeshError};
pub use field::{Field, FieldSolid};
pub use local_height::local_height;
pub use pressure::{Compliance, PatchDetector, PatchPolygon, PressureBodies, PressureBody};
pub use shape::{Ray, RayHit, SHAPES, Shape, ShapeEntry};
pub use soft::{
    FacePoint, SoftContact, SoftContactSide, SoftDetector, SoftSurface, SoftSurfaceId,
    SoftSurfaces, SoftSurfacesBuilder,
};
pub use tetrahedra::TetMesh;
