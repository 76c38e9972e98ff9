//! Contacts of soft bodies: surfaces of triangles between moving nodes, against rigid shapes, against one
//! another and against themselves.
//!
//! [`SoftSurfaces`] is an immutable set of closed surfaces over one array of nodes; a [`SoftDetector`] is the
//! memory with which their contacts are found. Soft vertices are asked for their signed distance from a
//! shape (`signed_distance`); where a shape is small or sharp beside the triangles, its own points over their faces
//! (`shape_points`) and its crossing of their edges (`edge_contacts`) complete the picture. Soft surfaces meet vertex
//! against face, both ways (`soft_contacts`). A point of a soft surface is three nodes with weights, so that contact
//! needs no vertex where it happens.

mod contact;
mod deformed_surface;
mod detector;
mod edge_contacts;
mod rigid_contacts;
mod shape_points;
mod signed_distance;
mod soft_contacts;
mod surface_topology;
mod surfaces;
mod tree;

pub use contact::{FacePoint, SoftContact, SoftContactSide};
pub use detector::SoftDetector;
pub use surfaces::{SoftSurface, SoftSurfaceId, SoftSurfaces, SoftSurfacesBuilder};
