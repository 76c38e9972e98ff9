//! Contacts of soft bodies: surfaces of triangles between moving nodes, against rigid shapes, against one
//! another and against themselves.
//!
//! [`SoftSurfaces`] is an immutable set of closed surfaces over one array of nodes; a [`SoftDetector`] is the
//! memory with which their contacts are found. Soft vertices are asked for their signed distance from a
//! shape (`field`); where a shape is small or sharp beside the triangles, its own points over their faces
//! (`probe`) and its crossing of their edges (`crossing`) complete the picture. Soft surfaces meet vertex
//! against face, both ways (`pair`). A point of a soft surface is three nodes with weights, so that contact
//! needs no vertex where it happens.

mod contact;
mod crossing;
mod detector;
mod field;
mod form;
mod pair;
mod probe;
mod rigid;
mod skin;
mod surfaces;
mod tree;

pub use contact::{FacePoint, Side, SoftContact};
pub use detector::SoftDetector;
pub use surfaces::{SoftSurface, SoftSurfaceId, SoftSurfaces, SoftSurfacesBuilder};
