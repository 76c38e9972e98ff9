//! Broad phase: the sorted list of pairs whose boxes overlap, updated incrementally.
//!
//! Every collider has a box enlarged by a margin. As long as the collider stays within it, its pairs cannot
//! change and nothing is done. A collider that leaves its box gets a new one, and its pairs are searched
//! again; all others keep theirs. Half spaces have no box: they are tested against the boxes of all moving
//! colliders. In a small set the pairs of a collider are searched among all its partners, in a large one in a grid.

use super::hashed_grid::HashedGrid;
use super::partners::Partners;
use super::separation_bound::SeparationBound;
use crate::{Aabb, Colliders};
use nalgebra::{Isometry3, Vector3};

/// Margin of the boxes as a part of the collider's size [-].
const MARGIN: f64 = 0.05;
/// Least margin of the boxes as a multiple of the distance within which contacts are reported [-]: this is about as
/// far as a collider moves in a step.
const STEPS_AHEAD: f64 = 8.0;
/// A box whose margin is this many times the present one is replaced: its collider has slowed down [-]. Such boxes are looked for
/// once in so many calls, since speeds change from step to step.
const LOOSE: f64 = 4.0;
const TIGHTENED_EVERY: u32 = 16;

/// Two colliders whose boxes overlap, `a < b`, and their contacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CandidatePair {
    /// Index of the first collider.
    pub a: u32,
    /// Index of the second collider.
    pub b: u32,
    /// Their first contact in the list of contacts.
    pub first: u32,
    /// Number of their contacts.
    pub count: u32,
}

impl CandidatePair {
    fn key(&self) -> (u32, u32) {
        (self.a, self.b)
    }
}

/// Region in which a collider may move before its pairs are searched again.
#[derive(Clone, Copy, Debug)]
enum BroadPhaseRegion {
    Box(Aabb),
    /// Points x with normal·x ≤ offset.
    HalfSpace {
        normal: Vector3<f64>,
        offset: f64,
    },
}

impl BroadPhaseRegion {
    fn overlaps(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Box(one), Self::Box(two)) => one.overlaps(two),
            (Self::Box(bounds), Self::HalfSpace { normal, offset })
            | (Self::HalfSpace { normal, offset }, Self::Box(bounds)) => {
                let lowest = (0..3).map(|k| {
                    normal[k] * if normal[k] > 0.0 { bounds.min[k] } else { bounds.max[k] }
                });
                lowest.sum::<f64>() <= *offset
            }
            (Self::HalfSpace { .. }, Self::HalfSpace { .. }) => false,
        }
    }
}

/// Least distance [m] between the faces of a box within another and those of the other; `None` if it is not within.
fn room_within(outer: &Aabb, inner: &Aabb) -> Option<f64> {
    let room = (inner.min - outer.min).min().min((outer.max - inner.max).min());
    (room >= 0.0).then_some(room)
}

/// State of the broad phase.
#[derive(Clone, Debug, Default)]
pub struct BroadPhase {
    regions: Vec<BroadPhaseRegion>,
    /// Margins of the boxes, and the least that they have [m].
    margins: Vec<f64>,
    least_margins: Vec<f64>,
    /// Path of each collider up to which it stays in its box, with the contact distance added [m].
    stays_until: Vec<f64>,
    half_spaces: Vec<u32>,
    /// Partners of the colliders of a small set; else the grid is used.
    partners: Option<Partners>,
    grid: HashedGrid,
    started: bool,
    /// Number of calls, modulo that after which loose boxes are replaced.
    calls: u32,
    pairs: Vec<CandidatePair>,
    /// Separation bound of each pair.
    apart: Vec<SeparationBound>,
    spare: Vec<CandidatePair>,
    spare_apart: Vec<SeparationBound>,
    /// Colliders that left their region since the pairs were last brought up to date.
    moved: Vec<u32>,
    is_moved: Vec<bool>,
    found: Vec<(u32, u32)>,
    found_below: Vec<(u32, u32)>,
}

impl BroadPhase {
    /// Broad phase for a set.
    pub fn new(set: &Colliders) -> Self {
        let nowhere = BroadPhaseRegion::Box(Aabb::NONE);
        let margin = |radius: f64| if radius.is_finite() { MARGIN * radius } else { 0.0 };
        let shapes = || set.as_slice().iter().map(|collider| &collider.shape);
        Self {
            regions: vec![nowhere; set.len()],
            margins: vec![0.0; set.len()],
            stays_until: vec![f64::NEG_INFINITY; set.len()],
            least_margins: shapes().map(|shape| margin(shape.bounding_radius())).collect(),
            half_spaces: (0..).zip(shapes()).filter(|(_, s)| is_plane(s)).map(|(k, _)| k).collect(),
            partners: Partners::new(set),
            is_moved: vec![false; set.len()],
            ..Self::default()
        }
    }

    /// Forgets poses and pairs; keeps the memory.
    pub fn forget(&mut self) {
        self.regions.fill(BroadPhaseRegion::Box(Aabb::NONE));
        self.margins.fill(0.0);
        self.stays_until.fill(f64::NEG_INFINITY);
        self.grid = HashedGrid::default();
        (self.started, self.calls) = (false, 0);
        self.pairs.clear();
        self.apart.clear();
        self.moved.clear();
        self.is_moved.fill(false);
    }

    /// The pairs, sorted.
    pub fn pairs(&self) -> &[CandidatePair] {
        &self.pairs
    }

    /// The pairs, mutable, to store the ranges of their contacts.
    pub fn pairs_mut(&mut self) -> &mut [CandidatePair] {
        &mut self.pairs
    }

    /// The pairs with their separation bounds.
    pub fn pairs_and_apart(&mut self) -> (&[CandidatePair], &mut [SeparationBound]) {
        (&self.pairs, &mut self.apart)
    }

    /// Updates the pose of a collider, the distance [m] beyond its surface within which contacts are
    /// reported, and a bound of the way that any of its points has gone [m].
    #[inline]
    pub fn update(
        &mut self,
        index: u32,
        set: &Colliders,
        X_WS: impl Fn() -> Isometry3<f64>,
        (contact_distance, path): (f64, f64),
    ) {
        let k = index as usize;
        let shape = &set.as_slice()[k].shape;
        let inside = if is_plane(shape) {
            let X_WS = X_WS();
            let normal = X_WS.rotation * Vector3::z();
            let offset = normal.dot(&X_WS.translation.vector) + contact_distance;
            let stays = matches!(self.regions[k],
                BroadPhaseRegion::HalfSpace { normal: n, offset: d } if n == normal && offset <= d);
            if !stays {
                self.regions[k] = BroadPhaseRegion::HalfSpace { normal, offset };
            }
            stays
        } else {
            let margin = self.least_margins[k].max(STEPS_AHEAD * contact_distance);
            let is_tight = self.calls != 0 || self.margins[k] <= LOOSE * margin;
            let needed = path + contact_distance;
            if is_tight && needed <= self.stays_until[k] {
                return;
            }
            let bounds = shape.bounds(&X_WS()).inflated(contact_distance);
            let room = match &self.regions[k] {
                BroadPhaseRegion::Box(region) if is_tight => room_within(region, &bounds),
                _ => None,
            };
            if room.is_none() {
                self.margins[k] = margin;
                self.regions[k] = BroadPhaseRegion::Box(bounds.inflated(margin));
            }
            // The bounds grow by no more than the points move.
            self.stays_until[k] = needed + room.unwrap_or(margin);
            room.is_some()
        };
        if !inside {
            self.moved.push(index);
        }
    }

    /// Brings the pairs up to date with all updates; true if the list of pairs changed.
    pub fn refresh(&mut self, set: &Colliders) -> bool {
        self.calls = (self.calls + 1) % TIGHTENED_EVERY;
        if self.moved.is_empty() {
            return false;
        }
        self.moved.sort_unstable();
        self.moved.iter().for_each(|&index| self.is_moved[index as usize] = true);
        if self.partners.is_some() {
            self.find_among_partners();
        } else {
            self.find_in_grid(set);
        }
        let changed = self.merge();
        for &index in &self.moved {
            self.is_moved[index as usize] = false;
        }
        self.moved.clear();
        changed
    }

    /// Largest extent [m] of most boxes, the median, so that most lie on one level of the grid.
    fn typical_extent(&self) -> f64 {
        let mut extents: Vec<f64> = self
            .regions
            .iter()
            .filter_map(|region| match region {
                BroadPhaseRegion::Box(bounds) => Some(bounds.size().max()),
                BroadPhaseRegion::HalfSpace { .. } => None,
            })
            .collect();
        extents.sort_unstable_by(f64::total_cmp);
        // Allowance for orientations and reaches that differ a little.
        1.1 * extents.get(extents.len() / 2).copied().unwrap_or(1.0)
    }

    /// Finds all pairs with a collider that moved, sorted, each once.
    fn find_among_partners(&mut self) {
        let Self { regions, partners, is_moved, found, .. } = self;
        found.clear();
        let Some(partners) = partners else { return };
        for index in 0..regions.len() as u32 {
            let (region, moved) = (&regions[index as usize], is_moved[index as usize]);
            for &other in partners.above(index) {
                if (moved || is_moved[other as usize]) && region.overlaps(&regions[other as usize])
                {
                    found.push((index, other));
                }
            }
        }
    }

    /// The same by the grid, into which the colliders that moved are inserted.
    fn find_in_grid(&mut self, set: &Colliders) {
        if !self.started {
            self.grid = HashedGrid::new(set.len(), self.typical_extent());
            self.started = true;
        }
        let Self { regions, grid, half_spaces, moved, is_moved, found, found_below, .. } = self;
        for &index in moved.iter() {
            if let BroadPhaseRegion::Box(bounds) = &regions[index as usize] {
                grid.insert(index, bounds);
            }
        }
        found.clear();
        found_below.clear();
        for &index in moved.iter() {
            let region = regions[index as usize];
            let start = found.len();
            let mut candidate = |other: u32| {
                let both = is_moved[other as usize];
                if other == index
                    || (both && other < index)
                    || !region.overlaps(&regions[other as usize])
                    || !set.may_touch(index, other)
                {
                    return;
                }
                if other < index {
                    found_below.push((other, index));
                } else {
                    found.push((index, other));
                }
            };
            match &region {
                BroadPhaseRegion::Box(bounds) => {
                    grid.visit(bounds, &mut candidate);
                    half_spaces.iter().for_each(|&other| candidate(other));
                }
                BroadPhaseRegion::HalfSpace { .. } => (0..regions.len() as u32).for_each(candidate),
            }
            found[start..].sort_unstable();
        }
        if !found_below.is_empty() {
            found.append(found_below);
            found.sort_unstable();
        }
    }

    /// Replaces the pairs of colliders that moved by those found; true if the list changed.
    fn merge(&mut self) -> bool {
        let Self { pairs, apart, spare, spare_apart, found, is_moved, .. } = self;
        spare.clear();
        spare_apart.clear();
        let mut keep = |pair: CandidatePair, known: SeparationBound| {
            spare.push(pair);
            spare_apart.push(known);
        };
        let fresh = |&(a, b): &(u32, u32)| CandidatePair { a, b, first: 0, count: 0 };
        let (mut changed, mut k) = (false, 0);
        for (pair, known) in pairs.iter().zip(apart.iter()) {
            while k < found.len() && found[k] < pair.key() {
                keep(fresh(&found[k]), SeparationBound::UNKNOWN);
                (changed, k) = (true, k + 1);
            }
            if k < found.len() && found[k] == pair.key() {
                keep(*pair, *known);
                k += 1;
            } else if is_moved[pair.a as usize] || is_moved[pair.b as usize] {
                changed = true;
            } else {
                keep(*pair, *known);
            }
        }
        changed |= k < found.len();
        found[k..].iter().for_each(|pair| keep(fresh(pair), SeparationBound::UNKNOWN));
        std::mem::swap(pairs, spare);
        std::mem::swap(apart, spare_apart);
        changed
    }
}

fn is_plane(shape: &crate::Shape) -> bool {
    matches!(shape, crate::Shape::Plane)
}
