//! What can be wrong with a rod.

use thiserror::Error;

/// Why a rod cannot be. Ids are those that the builder gave out.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum RodError {
    /// It has no segments.
    #[error("no segments; expected at least one")]
    Empty,
    /// A number is out of its range.
    #[error("{field} = {found}; expected {expected}")]
    Number {
        /// The quantity, with its unit.
        field: &'static str,
        /// The number.
        found: f64,
        /// What it should be.
        expected: &'static str,
    },
    /// A body that it names does not exist.
    #[error("{what} is body {found}; expected one of 0 to {last}")]
    UnknownBody {
        /// A segment or an end.
        what: String,
        /// The body.
        found: usize,
        /// The last body there is.
        last: usize,
    },
    /// A segment is no body alone on a free joint.
    #[error(
        "segment {segment}, body {body} '{name}', is not alone on a free joint; expected a body that \
         hangs on the world by a free joint and carries no joints"
    )]
    NotFree {
        /// Which segment.
        segment: usize,
        /// Its body.
        body: usize,
        /// The name of the body.
        name: String,
    },
    /// Segments do not follow one another.
    #[error(
        "segment {segment}, body {body} '{name}', does not follow the one before it; expected \
         segments declared one after the other, each once and in one rod only"
    )]
    Order {
        /// Which segment.
        segment: usize,
        /// Its body.
        body: usize,
        /// The name of the body.
        name: String,
    },
    /// An end is joined to the rod itself.
    #[error("end {end} is joined to body {body} '{name}', a segment of the rod; expected another")]
    OwnSegment {
        /// Which end, 0 or 1.
        end: usize,
        /// The body.
        body: usize,
        /// Its name.
        name: String,
    },
}
