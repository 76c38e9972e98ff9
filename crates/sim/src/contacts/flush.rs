//! Contacts of a body with shapes that are flush with one another: tiles, parts of a table, planks.
//!
//! Where a body slides from one shape onto a neighbour whose surface continues in the same plane, the direction
//! of least penetration of the new pair is at first lateral, and would stop the body at the seam. If the
//! normal m of another contact of the body also separates the new pair, no deeper than that contact is, the
//! neighbour does not rise above the plane of the contact: the pair touches along m, and nowhere else.

use std::cell::OnceCell;

use nalgebra::Vector3;
use stiction_geom::narrow::{self, Manifold};
use stiction_geom::{Contact, Shape};
use stiction_mech::Data;

use super::{pairs, posed, shape_pose};
use crate::world::World;

/// Cosine above which two normals are the same [-].
const SAME: f64 = 1.0 - 1e-12;
/// Cosine of the largest angle between the normals of flush contacts [-].
const OPPOSED: f64 = -0.1;

/// Memory of the pass.
#[derive(Debug, Default)]
pub(crate) struct FlushContacts {
    /// The contacts of a body that moves: frame of the body, index of the pair.
    by_frame: Vec<(u32, u32)>,
    /// First contact of every pair, and the number of all contacts.
    starts: Vec<u32>,
    /// Per pair: the normal that replaces its own, from A into B.
    replaced: Vec<Option<Vector3<f64>>>,
    manifold: Manifold,
}

impl FlushContacts {
    /// Copies the contacts to `out`; those of pairs that are flush with another contact get its normal.
    /// `slop` [m] is the largest step that counts as none, `reach` the distance within which contacts are
    /// reported, per frame [m].
    pub fn replace(
        &mut self,
        world: &World,
        data: &Data,
        contacts: &[Contact],
        slop: f64,
        reach: &[f64],
        out: &mut Vec<Contact>,
    ) {
        out.clear();
        if !self.find(world, data, contacts, slop) {
            out.extend_from_slice(contacts);
            return;
        }
        for (index, pair) in pairs(contacts).enumerate() {
            let Some(normal) = self.replaced[index] else {
                out.extend_from_slice(pair);
                continue;
            };
            let shapes = [pair[0].a, pair[0].b];
            let [X_WA, X_WB] = shapes.map(|id| shape_pose(world, data, id.index()));
            let [a, b] = shapes.map(|id| world.colliders.get(id));
            let distance = |frame: u32| reach.get(frame as usize).copied().unwrap_or(0.0);
            let within = distance(a.frame) + distance(b.frame) + a.margin + b.margin;
            self.manifold.clear();
            let cores = ((&a.shape as _, &X_WA), (&b.shape as _, &X_WB));
            narrow::cores_along(cores.0, cores.1, &normal, within, &mut self.manifold);
            // A pair that overlaps keeps its contacts unless the common normal has some.
            if self.manifold.points().is_empty() && pair.iter().any(|c| c.gap < -slop) {
                out.extend_from_slice(pair);
                continue;
            }
            self.manifold.points_mut().sort_unstable_by_key(|touch| touch.feature);
            out.extend(self.manifold.points().iter().map(|touch| Contact {
                feature: touch.feature,
                point: touch.point,
                normal: touch.normal,
                gap: touch.gap,
                ..pair[0]
            }));
        }
    }

    /// Finds the pairs whose normals are replaced; false if there are none.
    fn find(&mut self, world: &World, data: &Data, contacts: &[Contact], slop: f64) -> bool {
        self.list_pairs(world, contacts);
        let mut any = false;
        let by_frame = std::mem::take(&mut self.by_frame);
        for group in by_frame.chunk_by(|one, other| one.0 == other.0) {
            if group.len() < 2 || self.share_normal(group, contacts) {
                continue;
            }
            for &(frame, pair) in group {
                any |= self.replace_normal(world, data, contacts, slop, (frame, pair), group);
            }
        }
        self.by_frame = by_frame;
        any
    }

    /// Lists the pairs of every moving body that may be flush.
    fn list_pairs(&mut self, world: &World, contacts: &[Contact]) {
        self.by_frame.clear();
        self.starts.clear();
        let mut first = 0;
        for (index, pair) in pairs(contacts).enumerate() {
            self.starts.push(first);
            first += pair.len() as u32;
            let sides = [pair[0].a, pair[0].b].map(|id| world.colliders.get(id));
            // Two spheres have no faces.
            if sides.iter().all(|side| matches!(side.shape, Shape::Sphere { .. })) {
                continue;
            }
            for side in sides {
                if !world.colliders.is_fixed(side.frame) {
                    self.by_frame.push((side.frame, index as u32));
                }
            }
        }
        self.starts.push(first);
        self.by_frame.sort_unstable();
        self.replaced.clear();
        self.replaced.resize(self.starts.len(), None);
    }

    fn contacts_of<'a>(&self, pair: u32, contacts: &'a [Contact]) -> &'a [Contact] {
        &contacts[self.starts[pair as usize] as usize..self.starts[pair as usize + 1] as usize]
    }

    /// Whether all contacts of a group have the same normal, up to its sign.
    fn share_normal(&self, group: &[(u32, u32)], contacts: &[Contact]) -> bool {
        let first = self.contacts_of(group[0].1, contacts)[0].normal;
        let mut all = group.iter().flat_map(|(_, pair)| self.contacts_of(*pair, contacts));
        all.all(|contact| contact.normal.dot(&first).abs() > SAME)
    }

    /// Looks among the contacts of a body for one with which a pair is flush; returns whether there is one.
    fn replace_normal(
        &mut self,
        world: &World,
        data: &Data,
        contacts: &[Contact],
        slop: f64,
        (frame, pair): (u32, u32),
        group: &[(u32, u32)],
    ) -> bool {
        let own = self.contacts_of(pair, contacts);
        let shapes = [own[0].a, own[0].b];
        let [a, b] = shapes.map(|id| world.colliders.get(id));
        let is_bounded = |shape: &Shape| shape.is_convex() && !matches!(shape, Shape::Plane);
        if !is_bounded(&a.shape) || !is_bounded(&b.shape) || self.replaced[pair as usize].is_some()
        {
            return false;
        }
        // Normals point into the body.
        let sign = if b.frame == frame { 1.0 } else { -1.0 };
        let n = sign * own[0].normal;
        let poses = OnceCell::new();
        let separation = |m: &Vector3<f64>| {
            let [X_WA, X_WB] =
                poses.get_or_init(|| shapes.map(|id| shape_pose(world, data, id.index())));
            let (a, b) =
                (posed(world, shapes[0].index(), X_WA), posed(world, shapes[1].index(), X_WB));
            narrow::separation_along(a, b, &(sign * m))
        };
        let mut best: Option<(f64, Vector3<f64>)> = None;
        for &(_, other) in group.iter().filter(|(_, other)| *other != pair) {
            if self.replaced[other as usize].is_some() {
                continue;
            }
            let mut last = Vector3::zeros();
            for contact in self.contacts_of(other, contacts) {
                let into = if world.colliders.get(contact.b).frame == frame { 1.0 } else { -1.0 };
                let m = into * contact.normal;
                // Contacts of convex shapes share their normal, and the first that touches decides.
                if contact.gap > slop || m == last || !(OPPOSED..SAME).contains(&m.dot(&n)) {
                    continue;
                }
                last = m;
                let Some(separation) = separation(&m) else { continue };
                let is_flush = separation >= contact.gap.min(0.0) - slop;
                if is_flush && best.is_none_or(|(most, _)| separation > most) {
                    best = Some((separation, sign * m));
                }
            }
        }
        self.replaced[pair as usize] = best.map(|(_, normal)| normal);
        best.is_some()
    }
}
