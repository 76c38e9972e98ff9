//! Shapes, distances and contact manifolds: where things touch, and nothing of why they move.
//!
//! A [`Shape`] is rigid geometry in its own frame. [`Colliders`] is an immutable set of shapes carried
//! by moving frames; a [`Detector`] is the memory with which contacts between them are found:
//! [`detect`] holds the broad phase, [`narrow`] the pairs of convex shapes, [`nonconvex`] meshes,
//! height fields and compounds. A [`TetMesh`] is a solid cut into [`tetrahedra`]; [`soft`] finds the contacts
//! of surfaces whose nodes move.

#![forbid(unsafe_code)]
#![allow(non_snake_case)] // matrices keep the capitals of the papers
#![allow(clippy::neg_cmp_op_on_partial_ord)] // NaN must fail a test, not pass it
#![allow(clippy::needless_range_loop)] // loops over matrix indices read as the formulas do
#![allow(rustdoc::broken_intra_doc_links)] // units and citations stand in brackets
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod bounds;
mod collider;
mod contact;
pub mod detect;
mod error;
pub mod narrow;
pub mod nonconvex;
pub mod sdf;
pub mod shape;
pub mod soft;
pub mod tetrahedra;

pub use bounds::Aabb;
pub use collider::{Collider, ColliderId, Colliders, CollidersBuilder, Groups};
pub use contact::Contact;
pub use detect::Detector;
pub use error::{ColliderError, ShapeError, SoftSurfaceError, TetMeshError};
pub use shape::{SHAPES, Shape, ShapeEntry};
pub use soft::{
    FacePoint, SoftContact, SoftContactSide, SoftDetector, SoftSurface, SoftSurfaceId,
    SoftSurfaces, SoftSurfacesBuilder,
};
pub use tetrahedra::TetMesh;
