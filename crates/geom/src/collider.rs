//! Colliders: shapes fixed to moving frames, and the rules for which of them may collide.
//!
//! Two colliders are tested against each other if they are an explicit pair. Otherwise they are tested if
//! their frames differ and are not both fixed, neither their frames nor the colliders themselves are
//! excluded, and their groups agree.

use crate::{ColliderError, Shape};
use nalgebra::Isometry3;

/// Index of a collider in its set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ColliderId(pub u32);

impl ColliderId {
    /// The index as a `usize`.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Collision filter: category and mask bits, as contype and conaffinity of MJCF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Groups {
    /// Categories of this collider, one bit each.
    pub category: u32,
    /// Categories that it collides with.
    pub mask: u32,
}

impl Default for Groups {
    fn default() -> Self {
        Self { category: 1, mask: 1 }
    }
}

impl Groups {
    /// Whether the mask of either accepts a category of the other.
    pub fn agree(&self, other: &Self) -> bool {
        (self.category & other.mask) != 0 || (other.category & self.mask) != 0
    }
}

/// A shape fixed to a moving frame.
#[derive(Clone, Debug)]
pub struct Collider {
    /// Geometry, in the shape's frame S.
    pub shape: Shape,
    /// Index of the moving frame F to which it is fixed.
    pub frame: u32,
    /// Pose of S in F.
    pub pose: Isometry3<f64>,
    /// Collision filter.
    pub groups: Groups,
    /// Distance [m] within which its contacts are reported, whatever the motion.
    pub margin: f64,
}

/// An immutable set of colliders with the rules for which of them may collide.
#[derive(Clone, Debug, Default)]
pub struct Colliders {
    colliders: Vec<Collider>,
    /// Excluded pairs of frames, smaller first, sorted.
    excludes: Vec<(u32, u32)>,
    /// Excluded pairs of colliders, smaller first, sorted.
    excluded_pairs: Vec<(u32, u32)>,
    /// Explicit pairs of colliders, smaller first, sorted.
    pairs: Vec<(u32, u32)>,
    /// Fixed frames, indexed by frame.
    fixed: Vec<bool>,
    /// Whether the motion of a frame is given; such frames touch only what moves freely.
    driven: Vec<bool>,
    /// Per collider: whether it yields by a pressure field, so that its contacts are patches; empty if none does.
    compliant: Vec<bool>,
    frames: usize,
}

/// Collects colliders and rules; [`CollidersBuilder::build`] checks them.
#[derive(Clone, Debug, Default)]
pub struct CollidersBuilder {
    set: Colliders,
}

impl CollidersBuilder {
    /// Adds a collider and returns its id.
    pub fn add(&mut self, collider: Collider) -> ColliderId {
        let id = ColliderId(self.set.colliders.len() as u32);
        self.set.colliders.push(collider);
        id
    }

    /// The collider added as `id`; `None` if there is none.
    pub fn get(&self, id: ColliderId) -> Option<&Collider> {
        self.set.colliders.get(id.index())
    }

    /// Number of colliders added.
    pub fn len(&self) -> usize {
        self.set.colliders.len()
    }

    /// Whether no collider was added.
    pub fn is_empty(&self) -> bool {
        self.set.colliders.is_empty()
    }

    /// Excludes all pairs of colliders of these two frames, explicit pairs excepted.
    pub fn exclude(&mut self, frame_a: u32, frame_b: u32) {
        self.set.excludes.push(ordered(frame_a, frame_b));
    }

    /// Excludes this pair of colliders, unless it is an explicit pair as well.
    pub fn exclude_pair(&mut self, a: ColliderId, b: ColliderId) {
        self.set.excluded_pairs.push(ordered(a.0, b.0));
    }

    /// Tests these two colliders against each other whatever their groups, frames and excludes.
    pub fn pair(&mut self, a: ColliderId, b: ColliderId) {
        self.set.pairs.push(ordered(a.0, b.0));
    }

    /// Marks a frame as one that never moves; two fixed frames are not tested against each other.
    pub fn fixed(&mut self, frame: u32) {
        let frame = frame as usize;
        if self.set.fixed.len() <= frame {
            self.set.fixed.resize(frame + 1, false);
        }
        self.set.fixed[frame] = true;
    }

    /// Declares that the motion of a frame is given: it touches neither fixed frames nor others whose
    /// motion is given.
    pub fn driven(&mut self, frame: u32) {
        let frame = frame as usize;
        if self.set.driven.len() <= frame {
            self.set.driven.resize(frame + 1, false);
        }
        self.set.driven[frame] = true;
    }

    /// Declares that a collider yields by a pressure field: its contacts are patches, which [`crate::pressure`] finds.
    pub fn compliant(&mut self, id: ColliderId) {
        let n = self.set.compliant.len().max(id.index() + 1);
        self.set.compliant.resize(n, false);
        self.set.compliant[id.index()] = true;
    }

    /// Validates everything once; a [`Colliders`] needs no further checks.
    pub fn build(self) -> Result<Colliders, ColliderError> {
        let mut set = self.set;
        for (index, item) in set.colliders.iter().enumerate() {
            let collider = index as u32;
            item.shape.check().map_err(|source| ColliderError::Shape { collider, source })?;
            let numbers =
                item.pose.translation.vector.iter().chain(item.pose.rotation.coords.iter());
            if !numbers.clone().all(|x| x.is_finite()) {
                return Err(ColliderError::Pose { collider, frame: item.frame });
            }
            if !(item.margin >= 0.0 && item.margin.is_finite()) {
                return Err(ColliderError::Margin { collider, found: item.margin });
            }
            set.frames = set.frames.max(item.frame as usize + 1);
        }
        let n = set.colliders.len();
        for &(a, b) in &set.pairs {
            if a == b || b as usize >= n {
                return Err(ColliderError::Pair { a, b, colliders: n });
            }
        }
        set.fixed.resize(set.frames.max(set.fixed.len()), false);
        set.excludes.sort_unstable();
        set.excludes.dedup();
        set.excluded_pairs.sort_unstable();
        set.excluded_pairs.dedup();
        set.pairs.sort_unstable();
        set.pairs.dedup();
        Ok(set)
    }
}

impl Colliders {
    /// An empty set to add to.
    pub fn builder() -> CollidersBuilder {
        CollidersBuilder::default()
    }

    /// Number of colliders.
    pub fn len(&self) -> usize {
        self.colliders.len()
    }

    /// Whether there is no collider.
    pub fn is_empty(&self) -> bool {
        self.colliders.is_empty()
    }

    /// Number of frames that the colliders refer to: the least length of the frames given to a detector.
    pub fn frames(&self) -> usize {
        self.frames
    }

    /// All colliders, by id.
    pub fn as_slice(&self) -> &[Collider] {
        &self.colliders
    }

    /// One collider.
    pub fn get(&self, id: ColliderId) -> &Collider {
        &self.colliders[id.index()]
    }

    /// The explicit pairs, smaller id first, sorted.
    pub fn explicit_pairs(&self) -> &[(u32, u32)] {
        &self.pairs
    }

    /// Whether a frame never moves.
    pub fn is_fixed(&self, frame: u32) -> bool {
        self.fixed.get(frame as usize).copied().unwrap_or(false)
    }

    /// Whether a frame is fixed, or its motion given.
    fn is_given(&self, frame: u32) -> bool {
        self.is_fixed(frame) || self.driven.get(frame as usize).copied().unwrap_or(false)
    }

    /// Whether a collider yields by a pressure field.
    pub fn is_compliant(&self, id: ColliderId) -> bool {
        self.compliant.get(id.index()).copied().unwrap_or(false)
    }

    /// Whether the rules allow contact at points between the colliders with these indices. Those of which one yields
    /// touch in patches.
    pub fn may_touch(&self, a: u32, b: u32) -> bool {
        !self.is_patch(a, b) && self.is_allowed(a, b)
    }

    /// Whether the rules allow a patch between the colliders with these indices.
    pub fn may_touch_in_patch(&self, a: u32, b: u32) -> bool {
        self.is_patch(a, b) && self.is_allowed(a, b)
    }

    fn is_patch(&self, a: u32, b: u32) -> bool {
        !self.compliant.is_empty() && [a, b].iter().any(|id| self.is_compliant(ColliderId(*id)))
    }

    fn is_allowed(&self, a: u32, b: u32) -> bool {
        let (one, two) = (&self.colliders[a as usize], &self.colliders[b as usize]);
        let by_rule = one.frame != two.frame
            && one.groups.agree(&two.groups)
            && !(self.is_given(one.frame) && self.is_given(two.frame))
            && (self.excludes.is_empty()
                || self.excludes.binary_search(&ordered(one.frame, two.frame)).is_err())
            && (self.excluded_pairs.is_empty()
                || self.excluded_pairs.binary_search(&ordered(a, b)).is_err());
        by_rule || (!self.pairs.is_empty() && self.pairs.binary_search(&ordered(a, b)).is_ok())
    }
}

fn ordered(a: u32, b: u32) -> (u32, u32) {
    (a.min(b), a.max(b))
}
