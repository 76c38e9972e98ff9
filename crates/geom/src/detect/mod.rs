//! Detection: from the poses of the frames to the sorted contacts of all colliders.
//!
//! `broad_phase` keeps the pairs whose boxes overlap, `separation_bound` skips those that were separated
//! and cannot have touched since, [`crate::narrow`] finds the manifold of each, `feature_persistence` keeps
//! the feature ids of its points. A pair of two resting frames is not visited; its contacts stay as they
//! are. Nothing is allocated once the buffers have grown to the scene.

mod broad_phase;
mod feature_persistence;
mod hashed_grid;
mod oriented_box;
mod pair_reach;
mod partners;
mod relative_reach;
mod separation_bound;

pub use relative_reach::FrameMotion;

use crate::narrow::{self, DepthDoubt, Manifold, PosedShape};
use crate::{ColliderId, Colliders, Contact, Shape};
use broad_phase::{BroadPhase, CandidatePair};
use nalgebra::{Isometry3, Vector3};
use oriented_box::{LocalBox, OrientedBox};
use pair_reach::{BoundingSphere, EnlargedSphere, PairReach};
use separation_bound::SeparationBound;

/// Distances within which contacts are reported before surfaces touch.
#[derive(Clone, Copy, Debug)]
pub struct DetectionReach<'a> {
    /// Per frame [m].
    pub frames: &'a [f64],
    /// Per frame: its motion, where it is known.
    pub motions: &'a [FrameMotion],
    /// Gap beyond the margins up to which contacts of convex shapes are exact, one for each corner of the area that they share
    /// [m]; farther apart they have one, along a normal that separates them by nearly their distance.
    pub patch: f64,
}

/// Workspace of detection: poses, bounds, broad phase, persistent manifolds. It is not part of the state.
#[derive(Clone, Debug, Default)]
pub struct Detector {
    /// Poses X_WS of the colliders, up to date where they are needed, and which of them are not.
    poses: Vec<Isometry3<f64>>,
    is_outdated: Vec<bool>,
    /// Poses X_WF of the frames.
    frame_poses: Vec<Isometry3<f64>>,
    /// Bounding spheres of the colliders, and the same enlarged by the distances within which contacts are reported.
    spheres: Vec<BoundingSphere>,
    extents: Vec<EnlargedSphere>,
    /// Boxes around the colliders, `None` for half spaces: in their frames, and in the world.
    local_boxes: Vec<Option<LocalBox>>,
    boxes: Vec<Option<OrientedBox>>,
    /// Colliders of each frame, one frame after the other, and the start of each frame.
    carried: Vec<u32>,
    starts: Vec<u32>,
    broad_phase: BroadPhase,
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
    depth_doubt: DepthDoubt,
}

impl Detector {
    /// Detector for a set.
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
        let sphere = |shape: &Shape| BoundingSphere {
            centre: Vector3::zeros(),
            radius: shape.bounding_radius(),
            contact_distance: 0.0,
            path: 0.0,
            exact: matches!(shape, Shape::Sphere { .. }),
            margin: 0.0,
            motion: None,
        };
        Self {
            poses: vec![Isometry3::identity(); set.len()],
            is_outdated: vec![false; set.len()],
            frame_poses: vec![Isometry3::identity(); frames],
            extents: set
                .as_slice()
                .iter()
                .map(|collider| EnlargedSphere::of(&sphere(&collider.shape)))
                .collect(),
            spheres: set.as_slice().iter().map(|collider| sphere(&collider.shape)).collect(),
            local_boxes: set
                .as_slice()
                .iter()
                .map(|collider| LocalBox::of(&collider.shape))
                .collect(),
            boxes: vec![None; set.len()],
            carried,
            starts,
            broad_phase: BroadPhase::new(set),
            rested: vec![false; frames],
            ..Self::default()
        }
    }

    /// Finds all contacts whose gap is at most the sum of both frames' `reach` [m] and both margins.
    ///
    /// `frames` are the poses X_WF, `reach` the distance per frame within which contacts are reported
    /// before the surfaces touch, `resting` marks frames that have not moved since the last call; their
    /// reach stays that of the call in which they last moved. Trailing frames without a collider may be
    /// omitted. The contacts are sorted by (a, b, feature).
    ///
    /// Frames beyond the end of the slices count as resting.
    pub fn detect(
        &mut self,
        set: &Colliders,
        frames: &[Isometry3<f64>],
        reach: &[f64],
        resting: &[bool],
    ) -> &[Contact] {
        let reach = DetectionReach { frames: reach, motions: &[], patch: f64::INFINITY };
        self.run(set, frames, reach, resting);
        &self.contacts
    }

    fn run(
        &mut self,
        set: &Colliders,
        frames: &[Isometry3<f64>],
        reach: DetectionReach,
        resting: &[bool],
    ) {
        let flags_changed = self.update_poses(set, frames, reach, resting);
        let pairs_changed = self.broad_phase.refresh(set);
        if flags_changed || pairs_changed {
            self.list_active_pairs(set);
        }
        let counts_changed = self.run_narrow_phase(set, reach.patch);
        self.merge_contacts(pairs_changed || counts_changed);
    }

    /// [`Detector::detect`] for a caller who keeps the contacts, `contacts` are those of the last call and
    /// become those of this one, and who knows the motions of the frames: contacts of shapes that move
    /// together are reported only within the distance by which they approach each other.
    pub fn detect_into(
        &mut self,
        set: &Colliders,
        frames: &[Isometry3<f64>],
        reach: DetectionReach,
        resting: &[bool],
        contacts: &mut Vec<Contact>,
    ) {
        std::mem::swap(&mut self.contacts, contacts);
        self.run(set, frames, reach, resting);
        std::mem::swap(&mut self.contacts, contacts);
    }

    /// Replaces the contacts by those of another detector of this set, including feature ids, as if this
    /// detector had found them with the frames at these poses and reaches. They must be sorted as
    /// [`Detector::detect`] returns them; pairs that cannot touch at these poses are dropped.
    pub fn restore_contacts(
        &mut self,
        set: &Colliders,
        frames: &[Isometry3<f64>],
        reach: &[f64],
        contacts: &[Contact],
    ) {
        if self.poses.len() == set.len() {
            self.forget();
        } else {
            *self = Self::new(set);
        }
        // In the first call no frame counts as resting.
        let reach = DetectionReach { frames: reach, motions: &[], patch: f64::INFINITY };
        self.update_poses(set, frames, reach, &[]);
        self.broad_phase.refresh(set);
        let mut rest = contacts;
        for pair in self.broad_phase.pairs_mut() {
            let key = (pair.a, pair.b);
            let of = |contact: &Contact| (contact.a.0, contact.b.0);
            rest = &rest[rest.iter().take_while(|contact| of(contact) < key).count()..];
            let count = rest.iter().take_while(|contact| of(contact) == key).count();
            (pair.first, pair.count) = (self.contacts.len() as u32, count as u32);
            self.contacts.extend_from_slice(&rest[..count]);
            rest = &rest[count..];
        }
    }

    /// Forgets all earlier calls; keeps the memory.
    fn forget(&mut self) {
        self.poses.fill(Isometry3::identity());
        self.is_outdated.fill(false);
        self.frame_poses.fill(Isometry3::identity());
        for sphere in &mut self.spheres {
            (sphere.centre, sphere.path, sphere.motion) = (Vector3::zeros(), 0.0, None);
            (sphere.contact_distance, sphere.margin) = (0.0, 0.0);
        }
        for (extent, sphere) in self.extents.iter_mut().zip(&self.spheres) {
            *extent = EnlargedSphere::of(sphere);
        }
        self.broad_phase.forget();
        self.active.clear();
        (self.all_active, self.started) = (false, false);
        self.rested.fill(false);
        self.contacts.clear();
        (self.narrow_calls, self.depth_doubt) = (0, DepthDoubt::default());
    }

    /// The contacts of the last call.
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// Number of calls of the narrow phase so far, pairs of spheres included. Pairs skipped by their
    /// separation bounds are not counted.
    pub fn narrow_calls(&self) -> u64 {
        self.narrow_calls
    }

    /// Depths that were not resolved among the pairs visited in the last call of [`Detector::detect`]:
    /// shapes deep in one another for which the search reached its limit. Their contacts have a direction
    /// along which the overlap is exact, but the least overlap may be along another.
    pub fn depth_doubt(&self) -> DepthDoubt {
        self.depth_doubt
    }

    /// Moves the colliders of all frames that do not rest; true if other frames rest than before.
    fn update_poses(
        &mut self,
        set: &Colliders,
        frames: &[Isometry3<f64>],
        DetectionReach { frames: reach, motions, .. }: DetectionReach,
        resting: &[bool],
    ) -> bool {
        let mut changed = !self.started;
        for frame in 0..self.rested.len() {
            let rests = resting.get(frame).copied().unwrap_or(true) || set.is_fixed(frame as u32);
            let rests = rests && self.started;
            if self.rested[frame] != rests {
                changed = true;
                self.rested[frame] = rests;
                if rests {
                    self.forget_motion(set, frame);
                }
            }
            let Some(X_WF) = frames.get(frame).filter(|_| !rests) else { continue };
            let reach = reach.get(frame).copied().unwrap_or(0.0);
            let motion = motions.get(frame);
            let R_WF = X_WF.rotation.to_rotation_matrix();
            let before = std::mem::replace(&mut self.frame_poses[frame], *X_WF);
            let turn = separation_bound::turn(&before.rotation, &X_WF.rotation);
            for k in self.starts[frame]..self.starts[frame + 1] {
                let index = self.carried[k as usize];
                let collider = &set.as_slice()[index as usize];
                let sphere = &mut self.spheres[index as usize];
                let offset = R_WF * collider.pose.translation.vector;
                let centre = offset + X_WF.translation.vector;
                let before = std::mem::replace(&mut sphere.centre, centre);
                sphere.contact_distance = reach + collider.margin;
                sphere.margin = collider.margin;
                sphere.motion = motion.map(|m| m.at(&offset));
                if sphere.radius.is_finite() {
                    // Rotation does not move a sphere.
                    let radius = if sphere.exact { 0.0 } else { sphere.radius };
                    sphere.path =
                        separation_bound::path(sphere.path, [&before, &centre], (turn, radius));
                }
                self.extents[index as usize] = EnlargedSphere::of(sphere);
                let way = (sphere.contact_distance, sphere.path);
                self.broad_phase.update(index, set, || X_WF * collider.pose, way);
                self.is_outdated[index as usize] = true;
            }
        }
        self.started = true;
        changed
    }

    /// Forgets the motion of a frame that comes to rest, which is not part of the state; what is fixed has a known one.
    fn forget_motion(&mut self, set: &Colliders, frame: usize) {
        let motion = set.is_fixed(frame as u32).then_some(FrameMotion::FIXED);
        for k in self.starts[frame]..self.starts[frame + 1] {
            self.spheres[self.carried[k as usize] as usize].motion = motion;
        }
    }

    /// Lists the pairs of which at least one frame does not rest.
    fn list_active_pairs(&mut self, set: &Colliders) {
        let rests = |index: u32| self.rested[set.as_slice()[index as usize].frame as usize];
        self.active.clear();
        for (k, pair) in self.broad_phase.pairs().iter().enumerate() {
            if !(rests(pair.a) && rests(pair.b)) {
                self.active.push(k as u32);
            }
        }
        self.all_active = self.active.len() == self.broad_phase.pairs().len();
    }

    /// Finds the contacts of all active pairs; true if a pair has another number than before.
    fn run_narrow_phase(&mut self, set: &Colliders, patch: f64) -> bool {
        let Self { poses, spheres, extents, boxes, broad_phase, active, contacts, .. } = self;
        let (local_boxes, frame_poses) = (&self.local_boxes, &self.frame_poses);
        let is_outdated = &mut self.is_outdated;
        let (fresh, counts, manifold) = (&mut self.fresh, &mut self.counts, &mut self.manifold);
        fresh.clear();
        counts.clear();
        counts.resize(active.len(), 0);
        let (pairs, apart) = broad_phase.pairs_and_apart();
        let (mut changed, mut calls, mut depth_doubt) = (false, 0, DepthDoubt::default());
        for (&k, new_count) in active.iter().zip(counts.iter_mut()) {
            let pair = &pairs[k as usize];
            // Most pairs are far apart however they move.
            if !extents[pair.a as usize].meets(&extents[pair.b as usize]) {
                changed |= pair.count != 0;
                continue;
            }
            let (a, b) = (&spheres[pair.a as usize], &spheres[pair.b as usize]);
            let path = a.path + b.path;
            if apart[k as usize].lasts(path, PairReach::bound(a, b)) {
                changed |= pair.count != 0;
                continue;
            }
            let start = fresh.len();
            let reach = PairReach::of(a, b);
            let ids = (ColliderId(pair.a), ColliderId(pair.b));
            if a.exact && b.exact {
                calls += 1;
                let touch =
                    narrow::sphere::two((&a.centre, a.radius), (&b.centre, b.radius), reach.most);
                if let Some((point, normal, gap)) = touch {
                    fresh.push(Contact { a: ids.0, b: ids.1, feature: 0, point, normal, gap });
                }
            } else if reach.includes_spheres(a, b) {
                for k in [pair.a as usize, pair.b as usize] {
                    if std::mem::take(&mut is_outdated[k]) {
                        let collider = &set.as_slice()[k];
                        poses[k] = frame_poses[collider.frame as usize] * collider.pose;
                        boxes[k] = local_boxes[k].map(|local| local.at(&poses[k]));
                    }
                }
                let placed = |index: u32| PosedShape {
                    shape: &set.as_slice()[index as usize].shape,
                    X_WS: &poses[index as usize],
                };
                let known = &mut apart[k as usize];
                manifold.clear();
                let along = |axis: &_| narrow::clearance(placed(pair.a), placed(pair.b), axis);
                let lasts = known.lasts(path, reach.most);
                if !lasts
                    && !reach.excludes(&boxes[pair.a as usize], &boxes[pair.b as usize])
                    && !known.renew(path, reach.most, along)
                {
                    calls += 1;
                    let shapes = [placed(pair.a), placed(pair.b)];
                    let along = |n: &Vector3<f64>| reach.along(n);
                    let along: Option<&dyn Fn(&_) -> f64> =
                        if reach.is_directional() { Some(&along) } else { None };
                    let patch = patch + a.margin + b.margin;
                    let within = narrow::Reach { most: reach.most, along, patch };
                    let found = narrow::contacts_within(shapes[0], shapes[1], within, manifold);
                    depth_doubt.add(manifold.depth_doubt());
                    *known = SeparationBound::new(found, path);
                    if reach.excludes_contacts(shapes, manifold.points()) {
                        manifold.clear();
                    }
                }
                let old = &contacts[pair.first as usize..(pair.first + pair.count) as usize];
                if !old.is_empty() {
                    feature_persistence::inherit_ids(
                        manifold.points_mut(),
                        old,
                        a.radius.min(b.radius),
                    );
                }
                manifold.points_mut().sort_unstable_by_key(|touch| touch.feature);
                fresh.extend(manifold.points().iter().map(|touch| Contact {
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
            *new_count = count;
        }
        self.narrow_calls += calls;
        self.depth_doubt = depth_doubt;
        changed
    }

    /// Merges the new contacts with those that were kept.
    fn merge_contacts(&mut self, moved: bool) {
        let Self { broad_phase, active, counts, fresh, contacts, .. } = self;
        if self.all_active {
            // Everything was visited in order.
            std::mem::swap(fresh, contacts);
            if moved {
                let mut first = 0;
                for (pair, &count) in broad_phase.pairs_mut().iter_mut().zip(counts.iter()) {
                    (pair.first, pair.count) = (first, count);
                    first += count;
                }
            }
            return;
        }
        if !moved {
            // Every pair has as many contacts as before: overwrite them in place.
            let mut from = 0;
            for (&k, &count) in active.iter().zip(counts.iter()) {
                let (CandidatePair { first, .. }, count) =
                    (broad_phase.pairs()[k as usize], count as usize);
                let to = first as usize;
                contacts[to..to + count].copy_from_slice(&fresh[from..from + count]);
                from += count;
            }
            return;
        }
        // Interleave new and kept contacts, behind the new ones in the buffer.
        let (found, mut next, mut from) = (fresh.len(), 0, 0);
        for (k, pair) in broad_phase.pairs_mut().iter_mut().enumerate() {
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
