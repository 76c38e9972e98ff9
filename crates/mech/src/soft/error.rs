//! What can be wrong with a soft body.

use crate::material::MaterialError;
use thiserror::Error;

/// Why a soft body could not be built. Ids are those that the builder gave out.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("soft body {soft} '{name}': {fault}")]
#[non_exhaustive]
pub struct SoftError {
    /// The soft body.
    pub soft: usize,
    /// Its name.
    pub name: String,
    /// What is wrong with it.
    pub fault: SoftFault,
}

/// What is wrong with a soft body.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SoftFault {
    /// There are no tetrahedra.
    #[error("it has no tetrahedra; expected at least one")]
    Empty,
    /// There are more tetrahedra than numbers for them.
    #[error("it has {found} tetrahedra; expected fewer than {expected}")]
    TooMany {
        /// How many there are.
        found: usize,
        /// How many are too many.
        expected: usize,
    },
    /// A position is no point.
    #[error("vertex {vertex} = {found:?} m; expected finite numbers")]
    Vertex {
        /// The vertex.
        vertex: usize,
        /// Its position [m].
        found: [f64; 3],
    },
    /// A tetrahedron or the list of fixed vertices names a vertex that is not there.
    #[error("{place} names vertex {found}; expected one of 0 to {last}")]
    UnknownVertex {
        /// Where it is named.
        place: String,
        /// The vertex that was asked for.
        found: u32,
        /// The last vertex there is.
        last: usize,
    },
    /// The corners of a tetrahedron are in the wrong order.
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
    /// A tetrahedron is flat.
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
        /// The least volume [m³] of a tetrahedron with such an edge.
        expected: f64,
    },
    /// A vertex belongs to no tetrahedron, so that it has neither mass nor forces.
    #[error("vertex {vertex} belongs to no tetrahedron; expected every vertex to belong to one")]
    UnusedVertex {
        /// The vertex.
        vertex: usize,
    },
    /// The density is no positive number.
    #[error("density = {found} kg/m³; expected a finite number > 0")]
    Density {
        /// The density [kg/m³].
        found: f64,
    },
    /// A damping coefficient is negative or no number.
    #[error("{field} = {found} {unit}; expected a finite number ≥ 0")]
    Damping {
        /// Which of them.
        field: &'static str,
        /// Its value.
        found: f64,
        /// Its unit.
        unit: &'static str,
    },
    /// The material does not exist.
    #[error(transparent)]
    Material(#[from] MaterialError),
}
