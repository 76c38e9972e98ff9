//! Errors in declarations of soft bodies.

use crate::material::MaterialError;
use thiserror::Error;

/// Why a soft body could not be built. Ids are those that the builder returned.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("soft body {soft} '{name}': {fault}")]
#[non_exhaustive]
pub struct SoftError {
    /// The soft body.
    pub soft: usize,
    /// Its name.
    pub name: String,
    /// The fault.
    pub fault: SoftFault,
}

/// A fault in the declaration of a soft body.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SoftFault {
    /// There are no tetrahedra.
    #[error("it has no tetrahedra; expected at least one")]
    Empty,
    /// There are too many tetrahedra for the integer type of their indices.
    #[error("it has {found} tetrahedra; expected fewer than {expected}")]
    TooMany {
        /// Number of tetrahedra.
        found: usize,
        /// Upper bound, exclusive.
        expected: usize,
    },
    /// A position is not finite.
    #[error("vertex {vertex} = {found:?} m; expected finite numbers")]
    Vertex {
        /// The vertex.
        vertex: usize,
        /// Its position [m].
        found: [f64; 3],
    },
    /// A tetrahedron or the list of fixed vertices refers to a vertex that does not exist.
    #[error("{referrer} refers to vertex {found}; expected one of 0 to {last}")]
    UnknownVertex {
        /// The tetrahedron or list that refers to it.
        referrer: String,
        /// The requested vertex.
        found: u32,
        /// The last vertex.
        last: usize,
    },
    /// A tetrahedron has negative volume.
    #[error(
        "tetrahedron {element} {vertices:?} is inverted: its volume = {volume} m³; expected a \
         positive volume (exchange two of its vertices)"
    )]
    Inverted {
        /// The tetrahedron.
        element: usize,
        /// Its vertices.
        vertices: [u32; 4],
        /// Its signed volume [m³].
        volume: f64,
    },
    /// A tetrahedron has (almost) zero volume.
    #[error(
        "tetrahedron {element} {vertices:?} is flat: its volume = {volume} m³ with edges of up to \
         {longest_edge} m; expected at least {expected} m³"
    )]
    Degenerate {
        /// The tetrahedron.
        element: usize,
        /// Its vertices.
        vertices: [u32; 4],
        /// Its volume [m³].
        volume: f64,
        /// Its longest edge [m].
        longest_edge: f64,
        /// The smallest permitted volume [m³] for this longest edge.
        expected: f64,
    },
    /// A vertex belongs to no tetrahedron, so that it has neither mass nor forces.
    #[error("vertex {vertex} belongs to no tetrahedron; expected every vertex to belong to one")]
    UnusedVertex {
        /// The vertex.
        vertex: usize,
    },
    /// The density is not a positive number.
    #[error("density = {found} kg/m³; expected a finite number > 0")]
    Density {
        /// The density [kg/m³].
        found: f64,
    },
    /// A damping coefficient is negative or not finite.
    #[error("{field} = {found} {unit}; expected a finite number ≥ 0")]
    Damping {
        /// Name of the coefficient.
        field: &'static str,
        /// Its value.
        found: f64,
        /// Its unit.
        unit: &'static str,
    },
    /// A material parameter is out of its range.
    #[error(transparent)]
    Material(#[from] MaterialError),
}
