//! Feature ids of the points of a manifold between two convex shapes.
//!
//! An id encodes the features that meet: a vertex of A (or B) and a face of the other, or an edge of each.
//! It does not depend on which of the two faces is the reference.

const VERTEX_OF_A: u32 = 0;
const VERTEX_OF_B: u32 = 1;
const CROSSING: u32 = 2;
const NEAREST: u32 = 3;

/// Bits of the id of one vertex.
const BITS: u32 = 15;
const MASK: u32 = (1 << BITS) - 1;

/// A vertex of A or of B on a face of the other.
pub fn vertex(id: u32, of_b: bool) -> u32 {
    ((if of_b { VERTEX_OF_B } else { VERTEX_OF_A }) << (2 * BITS)) | (id & MASK)
}

/// An edge of the reference and an edge of the incident polygon, each by the id of its first vertex;
/// `flipped` is true if the reference belongs to B.
pub fn crossing(reference: u32, incident: u32, flipped: bool) -> u32 {
    let (a, b) = if flipped { (incident, reference) } else { (reference, incident) };
    (CROSSING << (2 * BITS)) | ((a & MASK) << BITS) | (b & MASK)
}

/// The nearest points of the two shapes, when no other point of the manifold lies there.
pub fn nearest() -> u32 {
    NEAREST << (2 * BITS)
}

/// Shapes that are so far apart that their contact is not exact. It is never the same contact as another one.
pub fn apart() -> u32 {
    (NEAREST << (2 * BITS)) | 1
}
