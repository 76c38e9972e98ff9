//! Errors in declarations of rods.

use thiserror::Error;

/// Why a rod could not be built. Ids are those that the builder returned.
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
        /// The permitted values.
        expected: &'static str,
    },
    /// A body that it names does not exist.
    #[error("{what} is body {found}; expected one of 0 to {last}")]
    UnknownBody {
        /// A segment or an end.
        what: String,
        /// The body.
        found: usize,
        /// The last declared body.
        last: usize,
    },
    /// A segment is not a single body on a free joint.
    #[error(
        "segment {segment}, body {body} '{name}', is not a single body on a free joint; expected a \
         body with a free joint and without descendants that have joints"
    )]
    NotFree {
        /// Index of the segment.
        segment: usize,
        /// Its body.
        body: usize,
        /// The name of the body.
        name: String,
    },
    /// Segments are not consecutive bodies.
    #[error(
        "segment {segment}, body {body} '{name}', does not follow the one before it; expected \
         segments declared one after the other, each once and in one rod only"
    )]
    Order {
        /// Index of the segment.
        segment: usize,
        /// Its body.
        body: usize,
        /// The name of the body.
        name: String,
    },
    /// An end is clamped to a segment of the same rod.
    #[error(
        "end {end} is clamped to body {body} '{name}', a segment of the same rod; expected a body \
         that is not one of its segments"
    )]
    OwnSegment {
        /// Index of the end, 0 or 1.
        end: usize,
        /// The body.
        body: usize,
        /// Its name.
        name: String,
    },
}
