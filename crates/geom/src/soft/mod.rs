//! Contacts of soft bodies: deforming triangle surfaces against rigid shapes, one another and themselves.
//!
//! [`SoftSurfaces`] is an immutable set of closed surfaces over one array of nodes; a [`SoftDetector`] is
//! the workspace that finds their contacts. Soft vertices make contacts by their signed distance from a
//! shape (`signed_distance`); where a shape is small or sharp compared with the triangles, its own points
//! over their faces (`shape_points`) and its crossings of their edges (`edge_contacts`) are added. Two soft
//! surfaces are tested vertex against face, both ways (`soft_contacts`). A point of a soft surface is given
//! by three nodes with barycentric weights.

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

pub use contact::{FacePoint, SoftContact, SoftContactSide};
pub use detector::SoftDetector;
pub use surfaces::{SoftSurface, SoftSurfaceId, SoftSurfaces, SoftSurfacesBuilder};
