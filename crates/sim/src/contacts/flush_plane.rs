//! Comparisons between two contacts of a body: whether the one lies in the plane of the other, and by how much its shapes rise above it.

use nalgebra::Vector3;
use stiction_geom::narrow;
use stiction_geom::{Contact, local_height};
use stiction_mech::Data;

use super::{posed, shape_pose};
use crate::world::World;

/// Cosine above which two normals are the same [-].
pub(super) const SAME: f64 = 1.0 - 1e-12;
/// Cosine of the largest angle between the normals of flush contacts [-].
const OPPOSED: f64 = -0.1;
/// Depth of contacts of shapes that rest on one another, at most, relative to the slop [-].
pub(super) const DEEP: f64 = 10.0;

/// A contact of a body with an obstacle.
#[derive(Clone, Copy, Debug)]
pub(super) struct BodyContact {
    /// Unit normal into the body.
    pub(super) normal: Vector3<f64>,
    /// Its point on the obstacle [m].
    pub(super) on_obstacle: Vector3<f64>,
    /// Frame of the obstacle, and whether it never moves.
    pub(super) obstacle: u32,
    pub(super) is_fixed: bool,
    /// Whether both shapes are convex.
    pub(super) is_convex: bool,
}

/// The plane of a contact of a body.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContactPlane {
    pub(super) normal: Vector3<f64>,
    /// Height of the plane along its normal [m].
    pub(super) height: f64,
    pub(super) index: u32,
}

/// Inputs of the pass.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    pub(super) world: &'a World,
    pub(super) data: &'a Data,
    pub(super) contacts: &'a [Contact],
    /// Largest step that counts as none [m].
    pub(super) slop: f64,
}

impl Scene<'_> {
    /// Normal of a contact into the body of a frame.
    pub(super) fn body_normal(&self, contact: &Contact, frame: u32) -> Vector3<f64> {
        let is_b = self.world.colliders.get(contact.b).frame == frame;
        if is_b { contact.normal } else { -contact.normal }
    }

    /// A contact of the body of a frame.
    pub(super) fn seen_from(&self, contact: &Contact, frame: u32) -> BodyContact {
        let normal = self.body_normal(contact, frame);
        let [a, b] = [contact.a, contact.b].map(|id| self.world.colliders.get(id).frame);
        let obstacle = if b == frame { a } else { b };
        BodyContact {
            normal,
            on_obstacle: contact.point - 0.5 * contact.gap * normal,
            obstacle,
            is_fixed: self.world.colliders.is_fixed(obstacle),
            is_convex: self.is_convex_pair(contact),
        }
    }

    /// Whether both shapes of a contact are convex.
    pub(super) fn is_convex_pair(&self, contact: &Contact) -> bool {
        [contact.a, contact.b].into_iter().all(|id| self.world.colliders.get(id).shape.is_convex())
    }

    /// Separation [m] of the shapes of a contact of a body along the unit vector `m` into the body; `None` unless both
    /// are convex and bounded.
    fn separation(&self, contact: &Contact, frame: u32, m: &Vector3<f64>) -> Option<f64> {
        let ids = [contact.a, contact.b];
        let [X_WA, X_WB] = ids.map(|id| shape_pose(self.world, self.data, id.index()));
        let a = posed(self.world, contact.a.index(), &X_WA);
        let b = posed(self.world, contact.b.index(), &X_WB);
        let is_b = self.world.colliders.get(contact.b).frame == frame;
        narrow::separation_along(a, b, &if is_b { *m } else { -m })
    }

    /// How far the shapes of a convex pair of a body, with its contacts `own`, rise above the plane of another contact
    /// more than they do above their own [m]; `None` if they are not flush with it.
    pub(super) fn pair_rise(&self, own: &[Contact], other: &Contact, frame: u32) -> Option<f64> {
        let (n, m) = (self.body_normal(&own[0], frame), self.body_normal(other, frame));
        // The plane of a contact tells nothing about a shape deep in another.
        if !(OPPOSED..SAME).contains(&m.dot(&n)) || other.gap < -DEEP * self.slop {
            return None;
        }
        let separation = self.separation(&own[0], frame, &m)?;
        let is_flush = separation >= other.gap.min(0.0) - self.slop;
        let least = own.iter().fold(f64::INFINITY, |least, contact| least.min(contact.gap));
        is_flush.then_some(least - separation)
    }

    /// Whether a contact may lie in a plane and below the slop over it; if not, it does not yield to the contact of that plane.
    pub(super) fn may_yield(&self, seen: &BodyContact, plane: &ContactPlane) -> bool {
        (OPPOSED..SAME).contains(&plane.normal.dot(&seen.normal))
            && !(plane.normal.dot(&seen.on_obstacle) - plane.height > self.slop)
    }

    /// Whether a contact lies in the plane of another one and rises above it no more than the other rises above its own.
    pub(super) fn yields(
        &self,
        seen: &[BodyContact],
        contact: usize,
        other: usize,
        frame: u32,
    ) -> bool {
        self.rise(seen, contact, other, frame).is_some_and(|rise| {
            self.rise(seen, other, contact, frame).is_none_or(|opposite| rise <= opposite)
        })
    }

    /// How far the obstacle of a contact of a body rises above the plane of another one, and the body below it [m];
    /// `None` if that is more than the slop, or the contact does not lie in the plane.
    fn rise(&self, seen: &[BodyContact], contact: usize, other: usize, frame: u32) -> Option<f64> {
        let (one, two) = (&seen[contact], &seen[other]);
        let (n, m) = (one.normal, two.normal);
        if !(OPPOSED..SAME).contains(&m.dot(&n)) {
            return None;
        }
        // Obstacles that move apart from one another do not stand in for one another.
        if one.obstacle != two.obstacle && !(one.is_fixed && two.is_fixed) {
            return None;
        }
        let (contact, other) = (&self.contacts[contact], &self.contacts[other]);
        let p = one.on_obstacle;
        let plane = m.dot(&two.on_obstacle);
        // A contact below the plane by no more than its depth and that of the other contradicts a body above the plane. One that lies
        // lower belongs to a part of the body that is lower, as the inner side of a hollow one.
        let height = m.dot(&p) - plane;
        let depths = contact.gap.min(0.0) + other.gap.min(0.0);
        if height > self.slop || height < depths - self.slop {
            return None;
        }
        let is_b = self.world.colliders.get(contact.b).frame == frame;
        let (obstacle, body) = if is_b { (contact.a, contact.b) } else { (contact.b, contact.a) };
        let X_WB = shape_pose(self.world, self.data, body.index());
        let on_body = contact.point + 0.5 * contact.gap * n;
        let below = local_height(posed(self.world, body.index(), &X_WB), &on_body, &-m, self.slop)
            + plane
            + other.gap.min(0.0);
        if below > self.slop {
            return None;
        }
        let X_WO = shape_pose(self.world, self.data, obstacle.index());
        let above =
            local_height(posed(self.world, obstacle.index(), &X_WO), &p, &m, self.slop) - plane;
        (above <= self.slop).then_some(above.max(0.0) + below.max(0.0))
    }
}
