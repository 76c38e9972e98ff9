//! The patches of a set of colliders.
//!
//! A pair of colliders is a patch if one of them yields. The broad phase sorts boxes along x. Patches are a function of the
//! poses alone. Nothing is allocated once the buffers have grown to the scene.

use super::intersect::{PosedBody, intersect};
use super::patch::{Patch, PatchPolygons};
use super::{Compliance, PressureBody};
use crate::{Aabb, ColliderId, Colliders, PressureError};
use nalgebra::Isometry3;

/// The pressure fields and rigid surfaces of the colliders that take part in patches.
#[derive(Clone, Debug, Default)]
pub struct PressureBodies {
    /// Per collider; empty if none yields.
    bodies: Vec<Option<PressureBody>>,
    /// Colliders that have a body.
    members: Vec<u32>,
}

impl PressureBodies {
    /// Makes the bodies of compliant colliders and of those that may touch them. An error names the collider.
    pub fn new(
        set: &Colliders,
        compliance: impl Fn(ColliderId) -> Option<Compliance>,
    ) -> Result<Self, (ColliderId, PressureError)> {
        let ids = || (0..set.len() as u32).map(ColliderId);
        let yielding: Vec<u32> = ids().filter(|id| set.is_compliant(*id)).map(|id| id.0).collect();
        if yielding.is_empty() {
            return Ok(Self::default());
        }
        let mut result = Self { bodies: vec![None; set.len()], members: Vec::new() };
        for id in ids() {
            let takes_part = set.is_compliant(id)
                || yielding.iter().any(|other| set.may_touch_in_patch(id.0, *other));
            if takes_part {
                let shape = &set.get(id).shape;
                let body = PressureBody::new(shape, compliance(id).as_ref());
                result.bodies[id.index()] = Some(body.map_err(|error| (id, error))?);
                result.members.push(id.0);
            }
        }
        Ok(result)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The body of a collider, if it takes part in patches.
    pub fn get(&self, id: ColliderId) -> Option<&PressureBody> {
        self.bodies.get(id.index())?.as_ref()
    }
}

/// Workspace of the detection of patches.
#[derive(Clone, Debug, Default)]
pub struct PatchDetector {
    /// Per member: pose and box in the world.
    poses: Vec<Isometry3<f64>>,
    boxes: Vec<Aabb>,
    /// Members in the order of the lower ends of their boxes along x.
    order: Vec<u32>,
    pairs: Vec<(u32, u32)>,
    patches: Vec<Patch>,
    found: PatchPolygons,
}

impl PatchDetector {
    /// A detector that also keeps the pieces of the polygons, for pictures.
    pub fn with_pieces() -> Self {
        let found = PatchPolygons { keeps_pieces: true, ..PatchPolygons::default() };
        Self { found, ..Self::default() }
    }

    /// Finds the patches at these poses of the frames X_WF. Pairs of frames neither of which is in `active` are left out; all
    /// are active beyond the end of the slice.
    pub fn detect(
        &mut self,
        set: &Colliders,
        bodies: &PressureBodies,
        frames: &[Isometry3<f64>],
        active: &[bool],
    ) {
        self.patches.clear();
        self.found.clear();
        if bodies.is_empty() {
            return;
        }
        self.update_boxes(set, bodies, frames);
        self.list_pairs(set, bodies, active);
        for &(a, b) in &self.pairs {
            let members = [a, b].map(|member| bodies.members[member as usize]);
            let posed = |member: u32| {
                let id = bodies.members[member as usize] as usize;
                let pose = &self.poses[member as usize];
                bodies.bodies[id].as_ref().map(|body| PosedBody { body, pose })
            };
            let (Some(first), Some(second)) = (posed(a), posed(b)) else { continue };
            let start = [self.found.polygons.len(), self.found.pieces.len()];
            intersect(first, second, &mut self.found);
            let polygons = start[0]..self.found.polygons.len();
            let pieces = start[1]..self.found.pieces.len();
            if !polygons.is_empty() {
                let [a, b] = members.map(ColliderId);
                self.patches.push(Patch { a, b, polygons, pieces });
            }
        }
    }

    /// The patches of the last call, sorted by colliders.
    pub fn patches(&self) -> &[Patch] {
        &self.patches
    }

    /// The polygons of the last call.
    pub fn found(&self) -> &PatchPolygons {
        &self.found
    }

    fn update_boxes(
        &mut self,
        set: &Colliders,
        bodies: &PressureBodies,
        frames: &[Isometry3<f64>],
    ) {
        self.poses.clear();
        self.boxes.clear();
        for &member in &bodies.members {
            let collider = set.get(ColliderId(member));
            let frame = frames.get(collider.frame as usize);
            let pose = frame.map_or(collider.pose, |X_WF| X_WF * collider.pose);
            let bounds = bodies.bodies[member as usize].as_ref().map_or(Aabb::NONE, |b| b.bounds());
            let world = if bounds.is_finite() {
                Aabb::of_box(&pose, bounds.centre(), 0.5 * bounds.size())
            } else {
                bounds
            };
            self.poses.push(pose);
            self.boxes.push(world);
        }
    }

    /// Lists the pairs of members whose boxes overlap.
    fn list_pairs(&mut self, set: &Colliders, bodies: &PressureBodies, active: &[bool]) {
        let Self { boxes, order, pairs, .. } = self;
        if order.len() != boxes.len() {
            order.clear();
            order.extend(0..boxes.len() as u32);
        }
        let low = |member: u32| boxes[member as usize].min.x;
        // Nearly sorted since the last call; ties by number, so that the order is a function of the boxes.
        for k in 1..order.len() {
            let mut at = k;
            while at > 0
                && low(order[at]).total_cmp(&low(order[at - 1])).then(order[at].cmp(&order[at - 1]))
                    == std::cmp::Ordering::Less
            {
                order.swap(at, at - 1);
                at -= 1;
            }
        }
        let is_active = |id: u32| {
            let frame = set.get(ColliderId(id)).frame as usize;
            active.get(frame).copied().unwrap_or(true) && !set.is_fixed(frame as u32)
        };
        pairs.clear();
        for (k, &one) in order.iter().enumerate() {
            let bounds = &boxes[one as usize];
            for &other in &order[k + 1..] {
                if low(other) > bounds.max.x {
                    break;
                }
                if !bounds.overlaps(&boxes[other as usize]) {
                    continue;
                }
                let pair = (one.min(other), one.max(other));
                let [a, b] = [pair.0, pair.1].map(|member| bodies.members[member as usize]);
                if set.may_touch_in_patch(a, b) && (is_active(a) || is_active(b)) {
                    pairs.push(pair);
                }
            }
        }
        pairs.sort_unstable();
    }
}
