//! Clips a polygon (or a segment) to the prism over another polygon: the area two faces share.
//!
//! Sutherland and Hodgman's algorithm [Ericson05, Sec. 8.3.4], with feature ids for all resulting corners:
//! a vertex of either polygon keeps its id, the crossing of two edges combines both.

use super::convex_cores::{MISSED, SAME_PLACE};
use super::{SupportFeature, feature_id};
use nalgebra::Vector3;

/// Part of the size by which corners may lie outside a face and still count as on it [-].
pub const SLACK: f64 = 1e-6;

/// A corner of the clipped polygon.
#[derive(Clone, Copy, Debug)]
pub struct ClipVertex {
    /// Position [m].
    pub point: Vector3<f64>,
    /// Feature id, see [`feature_id`].
    pub feature: u32,
    /// The edge that begins here.
    edge: ClipEdge,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum ClipEdge {
    /// An edge of the incident polygon, by the id of its first vertex.
    Incident(u32),
    /// A side of the reference polygon, by its index.
    Reference(usize),
}

/// Scratch memory of clipping.
#[derive(Clone, Debug, Default)]
pub struct Clipper {
    corners: Vec<ClipVertex>,
    spare: Vec<ClipVertex>,
}

impl Clipper {
    /// Clips `incident` to the prism over `reference` along `axis`, which points out of the reference.
    /// Corners beyond a side by no more than `slack` [m] count as inside, and corners that nearly coincide, relative to
    /// `size` [m], are merged, so that round-off does not add or remove points. `flipped` is
    /// true if the reference belongs to B.
    pub fn clip(
        &mut self,
        reference: &SupportFeature,
        incident: &SupportFeature,
        axis: &Vector3<f64>,
        (size, slack): (f64, f64),
        flipped: bool,
    ) -> &[ClipVertex] {
        self.corners.clear();
        self.corners.extend(incident.points.iter().zip(&incident.ids).map(|(&point, &id)| {
            ClipVertex {
                point,
                feature: feature_id::vertex(id, !flipped),
                edge: ClipEdge::Incident(id),
            }
        }));
        let n = reference.points.len();
        for side in 0..n {
            let (p, q) = (reference.points[side], reference.points[(side + 1) % n]);
            // The polygon is counter-clockwise seen from outside: out is to the right of its side.
            let out = (q - p).cross(axis);
            let length = out.norm();
            if !(length > 0.0) || self.corners.is_empty() {
                continue;
            }
            self.cut(reference, side, &(out / length), &p, slack, flipped);
        }
        self.merge(axis, size);
        &self.corners
    }

    /// Removes what lies beyond one side of the reference.
    fn cut(
        &mut self,
        reference: &SupportFeature,
        side: usize,
        out: &Vector3<f64>,
        through: &Vector3<f64>,
        slack: f64,
        flipped: bool,
    ) {
        let offset = out.dot(through);
        if self.corners.iter().all(|corner| out.dot(&corner.point) - offset <= slack) {
            return;
        }
        self.spare.clear();
        let n = self.corners.len();
        for k in 0..n {
            let (from, to) = (self.corners[k], self.corners[(k + 1) % n]);
            let (d_from, d_to) = (out.dot(&from.point) - offset, out.dot(&to.point) - offset);
            let (from_inside, to_inside) = (d_from <= slack, d_to <= slack);
            if from_inside {
                self.spare.push(from);
            }
            if from_inside == to_inside {
                continue;
            }
            let share = (d_from / (d_from - d_to)).clamp(0.0, 1.0);
            let point = from.point + share * (to.point - from.point);
            let name = match from.edge {
                ClipEdge::Incident(id) => feature_id::crossing(reference.ids[side], id, flipped),
                // Two sides of the reference meet in one of its vertices.
                ClipEdge::Reference(other) => {
                    let m = reference.ids.len();
                    let at = if (other + 1) % m == side { side } else { (side + 1) % m };
                    feature_id::vertex(reference.ids[at], flipped)
                }
            };
            let edge = if from_inside { ClipEdge::Reference(side) } else { from.edge };
            self.spare.push(ClipVertex { point, feature: name, edge });
        }
        std::mem::swap(&mut self.corners, &mut self.spare);
    }

    /// Merges corners that nearly coincide: keeps the one nearest to the reference, the first of equals.
    fn merge(&mut self, axis: &Vector3<f64>, size: f64) {
        let square = (SAME_PLACE * size) * (SAME_PLACE * size);
        let near = |a: &ClipVertex, b: &ClipVertex| (a.point - b.point).norm_squared() <= square;
        let lower =
            |a: &ClipVertex, b: &ClipVertex| axis.dot(&(a.point - b.point)) < -MISSED * size;
        let mut kept = 0;
        for k in 0..self.corners.len() {
            let corner = self.corners[k];
            let last = if kept > 0 && near(&corner, &self.corners[kept - 1]) {
                kept - 1
            } else if kept > 1 && near(&corner, &self.corners[0]) {
                0
            } else {
                self.corners[kept] = corner;
                kept += 1;
                continue;
            };
            if lower(&corner, &self.corners[last]) {
                self.corners[last] = corner;
            }
        }
        self.corners.truncate(kept);
    }
}
