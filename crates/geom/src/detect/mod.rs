//! Detection: from the poses of the frames to the sorted contacts of all colliders.
//!
//! `broad` keeps the pairs whose boxes overlap, `apart` passes over those that were found apart and
//! cannot have met since, [`crate::narrow`] finds the manifold of each, `persist` gives its points lasting names. A pair of two resting frames is not visited; its
//! contacts stay as they are. Nothing is allocated once the memory has grown to the scene.

mod apart;
mod broad;
mod grid;
mod persist;

use crate::narrow::{self, Manifold, Placed};
use crate::{ColliderId, Colliders, Contact, Shape};
use apart::Apart;
use broad::{Broad, Pair};
use nalgebra::{Isometry3, Vector3};

/// Memory of detection: poses, bounds, broad phase, persistent manifolds. It holds no truth.
#[derive(Clone, Debug, Default)]
pub struct Detector {
    /// Poses X_WS of the colliders.
    poses: Vec<Isometry3<f64>>,
    /// Balls that hold the colliders.
    balls: Vec<Ball>,
    /// Colliders of each frame, one frame after the other, and where each frame starts.
    carried: Vec<u32>,
    starts: Vec<u32>,
    broad: Broad,
    /// Pairs to visit, as indices; all of them if `all_active`.
    active: Vec<u32>,
    all_active: bool,
    /// Which frames rested in the last call.
    rested: Vec<bool>,
    started: bool,
    contacts: Vec<Contact>,
    /// Contacts of the pairs visited, and how many each has.
    fresh: Vec<Contact>,
    counts: Vec<u32>,
    manifold: Manifold,
    narrow_calls: u64,
}

/// A ball around a collider, and the distance at which it is to be found.
#[derive(Clone, Copy, Debug)]
struct Ball {
    centre: Vector3<f64>,
    /// Infinite for a half space [m].
    radius: f64,
    /// Reach of the frame and margin of the collider [m].
    wanted: f64,
    /// Bound of the way that any point of the collider has gone [m]; not kept for half spaces.
    path: f64,
    /// Whether the collider is this ball.
    exact: bool,
}

impl Detector {
    /// Memory for a set.
    pub fn new(set: &Colliders) -> Self {
        let frames = set.frames();
        let mut starts = vec![0; frames + 1];
        for collider in set.as_slice() {
            starts[collider.frame as usize + 1] += 1;
        }
        for frame in 0..frames {
            starts[frame + 1] += starts[frame];
        }
        let (mut carried, mut at) = (vec![0; set.len()], starts.clone());
        for (index, collider) in set.as_slice().iter().enumerate() {
            let place = &mut at[collider.frame as usize];
            carried[*place as usize] = index as u32;
            *place += 1;
        }
        let ball = |shape: &Shape| Ball {
            centre: Vector3::zeros(),
            radius: shape.bounding_radius(),
            wanted: 0.0,
            path: 0.0,
            exact: matches!(shape, Shape::Sphere { .. }),
        };
        Self {
            poses: vec![Isometry3::identity(); set.len()],
            balls: set.as_slice().iter().map(|collider| ball(&collider.shape)).collect(),
            carried,
            starts,
            broad: Broad::new(set),
            rested: vec![false; frames],
            ..Self::default()
        }
    }

    /// Finds all contacts whose gap is at most the sum of both frames' `reach` [m] and both margins.
    ///
    /// `frames` are the poses X_WF, `reach` the distance per frame within which contacts are wanted
    /// before the surfaces touch, `resting` says which frames are as they were in the last call; their
    /// reach stays that of the call in which they last moved. Frames without a collider may be left
    /// out at the end. The contacts are sorted by (a, b, feature).
    ///
    /// Frames that the slices do not hold rest where they were.
    pub fn detect(
        &mut self,
        set: &Colliders,
        frames: &[Isometry3<f64>],
        reach: &[f64],
        resting: &[bool],
    ) -> &[Contact] {
        let flags_changed = self.place(set, frames, reach, resting);
        let pairs_changed = self.broad.refresh(set);
        if flags_changed || pairs_changed {
            self.activate(set);
        }
        let counts_changed = self.visit(set);
        self.gather(pairs_changed || counts_changed);
        &self.contacts
    }

    /// [`Detector::detect`] for a caller who keeps the contacts: `contacts` are those of the last call,
    /// and become those of this one.
    pub fn detect_into(
        &mut self,
        set: &Colliders,
        frames: &[Isometry3<f64>],
        reach: &[f64],
        resting: &[bool],
        contacts: &mut Vec<Contact>,
    ) {
        std::mem::swap(&mut self.contacts, contacts);
        self.detect(set, frames, reach, resting);
        std::mem::swap(&mut self.contacts, contacts);
    }

    /// Takes up the contacts of another detector of this set, names and all, as if it had found them
    /// itself with the frames at these poses and reaches. They are sorted as those it gave; what
    /// cannot touch there is left out.
    pub fn adopt(
        &mut self,
        set: &Colliders,
        frames: &[Isometry3<f64>],
        reach: &[f64],
        contacts: &[Contact],
    ) {
        *self = Self::new(set);
        // Nothing rests in the first call, whatever the flags say.
        self.place(set, frames, reach, &[]);
        self.broad.refresh(set);
        let mut rest = contacts;
        for pair in self.broad.pairs_mut() {
            let key = (pair.a, pair.b);
            let of = |contact: &Contact| (contact.a.0, contact.b.0);
            rest = &rest[rest.iter().take_while(|contact| of(contact) < key).count()..];
            let count = rest.iter().take_while(|contact| of(contact) == key).count();
            (pair.first, pair.count) = (self.contacts.len() as u32, count as u32);
            self.contacts.extend_from_slice(&rest[..count]);
            rest = &rest[count..];
        }
    }

    /// The contacts of the last call.
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// How often the narrow phase was asked so far, for pairs of balls too. Pairs that are known to be
    /// apart are not counted.
    pub fn narrow_calls(&self) -> u64 {
        self.narrow_calls
    }

    /// Pose in the world of a collider's shape, as of the last call.
    pub fn pose(&self, id: ColliderId) -> &Isometry3<f64> {
        &self.poses[id.index()]
    }

    /// Moves the colliders of all frames that do not rest; true if other frames rest than before.
    fn place(
        &mut self,
        set: &Colliders,
        frames: &[Isometry3<f64>],
        reach: &[f64],
        resting: &[bool],
    ) -> bool {
        let mut changed = !self.started;
        for frame in 0..self.rested.len() {
            let rests = resting.get(frame).copied().unwrap_or(true) || set.is_fixed(frame as u32);
            let rests = rests && self.started;
            changed |= self.rested[frame] != rests;
            self.rested[frame] = rests;
            let Some(X_WF) = frames.get(frame).filter(|_| !rests) else { continue };
            let reach = reach.get(frame).copied().unwrap_or(0.0);
            for k in self.starts[frame]..self.starts[frame + 1] {
                let index = self.carried[k as usize];
                let collider = &set.as_slice()[index as usize];
                let X_WS = X_WF * collider.pose;
                let ball = &mut self.balls[index as usize];
                ball.centre = X_WS.translation.vector;
                ball.wanted = reach + collider.margin;
                if ball.radius.is_finite() {
                    let X_WS_before = &self.poses[index as usize];
                    // Turning does not move a ball.
                    let radius = if ball.exact { 0.0 } else { ball.radius };
                    ball.path = apart::path(ball.path, X_WS_before, &X_WS, radius);
                }
                self.broad.update(index, set, &X_WS, ball.wanted);
                self.poses[index as usize] = X_WS;
            }
        }
        self.started = true;
        changed
    }

    /// Lists the pairs of which at least one frame does not rest.
    fn activate(&mut self, set: &Colliders) {
        let rests = |index: u32| self.rested[set.as_slice()[index as usize].frame as usize];
        self.active.clear();
        for (k, pair) in self.broad.pairs().iter().enumerate() {
            if !(rests(pair.a) && rests(pair.b)) {
                self.active.push(k as u32);
            }
        }
        self.all_active = self.active.len() == self.broad.pairs().len();
    }

    /// Finds the contacts of all active pairs; true if a pair has another number than before.
    fn visit(&mut self, set: &Colliders) -> bool {
        let Self { poses, balls, broad, active, contacts, fresh, counts, manifold, .. } = self;
        fresh.clear();
        counts.clear();
        let (pairs, apart) = broad.pairs_and_apart();
        let (mut changed, mut calls) = (false, 0);
        for &k in active.iter() {
            let pair = &pairs[k as usize];
            let (a, b) = (&balls[pair.a as usize], &balls[pair.b as usize]);
            let start = fresh.len();
            let reach = a.wanted + b.wanted;
            let ids = (ColliderId(pair.a), ColliderId(pair.b));
            if a.exact && b.exact {
                calls += 1;
                let touch =
                    narrow::sphere::two((&a.centre, a.radius), (&b.centre, b.radius), reach);
                if let Some((point, normal, gap)) = touch {
                    fresh.push(Contact { a: ids.0, b: ids.1, feature: 0, point, normal, gap });
                }
            } else if near(a, b, reach) {
                let placed = |index: u32| Placed {
                    shape: &set.as_slice()[index as usize].shape,
                    X_WS: &poses[index as usize],
                };
                let (known, path) = (&mut apart[k as usize], a.path + b.path);
                manifold.clear();
                let along = |axis: &_| narrow::clearance(placed(pair.a), placed(pair.b), axis);
                if !known.lasts(path, reach) && !known.renew(path, reach, along) {
                    calls += 1;
                    let found = narrow::contacts(placed(pair.a), placed(pair.b), reach, manifold);
                    *known = Apart::new(found, path);
                }
                let old = &contacts[pair.first as usize..(pair.first + pair.count) as usize];
                if !old.is_empty() {
                    persist::inherit(manifold.touches_mut(), old, a.radius.min(b.radius));
                }
                manifold.touches_mut().sort_unstable_by_key(|touch| touch.feature);
                fresh.extend(manifold.touches().iter().map(|touch| Contact {
                    a: ids.0,
                    b: ids.1,
                    feature: touch.feature,
                    point: touch.point,
                    normal: touch.normal,
                    gap: touch.gap,
                }));
            }
            let count = (fresh.len() - start) as u32;
            changed |= count != pair.count;
            counts.push(count);
        }
        self.narrow_calls += calls;
        changed
    }

    /// Puts the contacts found among those that were kept.
    fn gather(&mut self, moved: bool) {
        let Self { broad, active, counts, fresh, contacts, .. } = self;
        if self.all_active {
            // Everything was visited in order.
            std::mem::swap(fresh, contacts);
            if moved {
                let mut first = 0;
                for (pair, &count) in broad.pairs_mut().iter_mut().zip(counts.iter()) {
                    (pair.first, pair.count) = (first, count);
                    first += count;
                }
            }
            return;
        }
        if !moved {
            // Every pair has as many as before: write them where they were.
            let mut from = 0;
            for (&k, &count) in active.iter().zip(counts.iter()) {
                let (Pair { first, .. }, count) = (broad.pairs()[k as usize], count as usize);
                let to = first as usize;
                contacts[to..to + count].copy_from_slice(&fresh[from..from + count]);
                from += count;
            }
            return;
        }
        // Interleave what was found and what was kept, behind what was found.
        let (found, mut next, mut from) = (fresh.len(), 0, 0);
        for (k, pair) in broad.pairs_mut().iter_mut().enumerate() {
            let first = (fresh.len() - found) as u32;
            if active.get(next) == Some(&(k as u32)) {
                let count = counts[next];
                fresh.extend_from_within(from..from + count as usize);
                from += count as usize;
                next += 1;
                pair.count = count;
            } else {
                let old = pair.first as usize..(pair.first + pair.count) as usize;
                fresh.extend_from_slice(&contacts[old]);
            }
            pair.first = first;
        }
        contacts.clear();
        contacts.extend_from_slice(&fresh[found..]);
    }
}

/// Whether two balls come within `reach` [m] of each other; always for half spaces.
#[inline]
fn near(a: &Ball, b: &Ball, reach: f64) -> bool {
    let most = a.radius + b.radius + reach;
    (a.centre - b.centre).norm_squared() <= most * most
}
