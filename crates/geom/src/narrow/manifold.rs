//! Output buffer of the narrow phase: points of contact between two shapes, before they become sorted
//! contacts. It keeps its capacity from pair to pair.

use super::SupportFeature;
use super::clip::Clipper;
use super::epa::Polytope;
use nalgebra::Vector3;

/// One point of a manifold, in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ManifoldPoint {
    /// Stable feature id within the pair.
    pub feature: u32,
    /// Midway between the surfaces [m].
    pub point: Vector3<f64>,
    /// Unit normal from A into B [-].
    pub normal: Vector3<f64>,
    /// Distance along the normal [m], negative when penetrating.
    pub gap: f64,
}

/// Depths of penetration that the search for them has not resolved within its limits.
///
/// The overlap along the reported normal is exact, but along another direction it may be less. A depth is
/// resolved if the proven lower bound of the overlap along all directions differs from it by little,
/// relative to the depth or to the size of the shapes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DepthDoubt {
    /// Number of pairs of convex shapes or parts whose depth is not resolved.
    pub pairs: u64,
    /// Largest difference between a depth and its lower bound among them [m].
    pub largest: f64,
}

impl DepthDoubt {
    /// Adds those of another count.
    pub fn add(&mut self, other: Self) {
        self.pairs += other.pairs;
        self.largest = self.largest.max(other.largest);
    }
}

/// The points of contact between two shapes.
#[derive(Clone, Debug, Default)]
pub struct Manifold {
    points: Vec<ManifoldPoint>,
    depth_doubt: DepthDoubt,
    /// Scratch memory of the routines that write here.
    pub(super) scratch: NarrowScratch,
}

/// Scratch memory of the general routine and of clipping.
#[derive(Clone, Debug, Default)]
pub(super) struct NarrowScratch {
    pub face_a: SupportFeature,
    pub face_b: SupportFeature,
    pub clipper: Clipper,
    pub polytope: Polytope,
}

impl Manifold {
    /// Removes all points, keeps the capacity.
    pub fn clear(&mut self) {
        self.points.clear();
        self.depth_doubt = DepthDoubt::default();
    }

    /// Depths that were not resolved since the points were cleared.
    pub fn depth_doubt(&self) -> DepthDoubt {
        self.depth_doubt
    }

    /// Counts a depth that is in doubt by `difference` [m], unless that is zero.
    pub(super) fn note_depth_doubt(&mut self, difference: f64) {
        if difference > 0.0 {
            self.depth_doubt.add(DepthDoubt { pairs: 1, largest: difference });
        }
    }

    /// Adds a point.
    pub fn push(&mut self, feature: u32, point: Vector3<f64>, normal: Vector3<f64>, gap: f64) {
        self.points.push(ManifoldPoint { feature, point, normal, gap });
    }

    /// The points so far.
    pub fn points(&self) -> &[ManifoldPoint] {
        &self.points
    }

    /// The points so far, mutable.
    pub fn points_mut(&mut self) -> &mut [ManifoldPoint] {
        &mut self.points
    }

    /// Number of points so far.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether there is no point.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Reverses the normals of the points from index `from` on: A and B change roles.
    pub fn flip(&mut self, from: usize) {
        for touch in &mut self.points[from..] {
            touch.normal = -touch.normal;
        }
    }

    /// Adds a point, or replaces the one from index `from` on that lies within `distance` [m] of it: the
    /// number of nearly coincident points would depend on round-off.
    pub(super) fn include(&mut self, from: usize, touch: ManifoldPoint, distance: f64) {
        let square = |other: &ManifoldPoint| (other.point - touch.point).norm_squared();
        let near = self.points[from..].iter_mut().find(|old| square(old) <= distance * distance);
        match near {
            Some(old) => *old = ManifoldPoint { feature: old.feature, ..touch },
            None => self.points.push(touch),
        }
    }

    /// Keeps at most `most` of the points from index `from` on: the deepest, then one after the
    /// other the point farthest from those kept. Deterministic.
    pub fn reduce(&mut self, from: usize, most: usize) {
        let n = self.points.len() - from;
        if n <= most {
            return;
        }
        let points = &mut self.points[from..];
        for kept in 0..most {
            let mut best = (kept, f64::NEG_INFINITY);
            for k in kept..n {
                let merit = if kept == 0 {
                    -points[k].gap
                } else {
                    // Squared distance [m²] from the nearest point kept.
                    points[..kept].iter().fold(f64::INFINITY, |least, other| {
                        least.min((points[k].point - other.point).norm_squared())
                    })
                };
                if merit > best.1 {
                    best = (k, merit);
                }
            }
            points.swap(kept, best.0);
        }
        self.points.truncate(from + most);
    }
}
