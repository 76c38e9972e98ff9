//! Contacts of a body with shapes that are flush with one another: tiles, parts of a table, planks.
//!
//! Where a body slides from one shape onto a neighbour whose surface continues in the same plane, the direction
//! of least penetration of the new pair is at first lateral, and would stop the body at the seam. If the
//! normal m of another contact of the body also separates the new pair, no deeper than that contact is, the
//! neighbour does not rise above the plane of the contact: the pair touches along m, and nowhere else.
//!
//! Pairs of convex shapes get the contacts along m. Of meshes, height fields and compounds, which have contacts
//! with several normals, those are dropped whose points lie in the plane of a contact that is kept where the
//! surface does not rise above that plane. Normals that more contacts share are kept first: faces before edges
//! before vertices.
//!
//! Near a seam a face and an edge beside it touch with normals that differ by a small angle t, and each of the two is
//! flush with the other up to the slop. The one yields that rises less above the plane of the other: an edge or a
//! round body by its size times t², a face by its size times t.

use nalgebra::Vector3;
use stiction_geom::narrow::{self, Manifold};
use stiction_geom::{Contact, Shape, local_height};
use stiction_mech::Data;

use super::{pairs, posed, shape_pose};
use crate::world::World;

/// Cosine above which two normals are the same [-].
const SAME: f64 = 1.0 - 1e-12;
/// Cosine of the largest angle between the normals of flush contacts [-].
const OPPOSED: f64 = -0.1;

/// Depth of contacts of shapes that rest on one another, at most, relative to the slop [-].
const DEEP: f64 = 10.0;

/// Memory of the pass.
#[derive(Debug, Default)]
pub(crate) struct FlushContacts {
    /// The contacts of a body that moves: frame of the body, index of the pair.
    by_frame: Vec<(u32, u32)>,
    /// First contact of every pair, and the number of all contacts.
    starts: Vec<u32>,
    /// Per pair: the normal that replaces its own, from A into B.
    replaced: Vec<Option<Vector3<f64>>>,
    /// Per contact: whether it is dropped.
    dropped: Vec<bool>,
    /// Contacts of one body with surfaces: how many touch with the same normal, index.
    surface: Vec<(u32, u32)>,
    /// Contacts of one body that touch, one of each normal of a pair: pair, index.
    touching: Vec<(u32, u32)>,
    /// Per frame: whether a contact of its body touches; contacts of other bodies stay as they are.
    touched: Vec<bool>,
    /// Whether any pair has a shape that is not convex.
    any_surface: bool,
    /// Per contact: how the body of the present group has it; of others, that of an earlier group.
    seen: Vec<BodyContact>,
    manifold: Manifold,
}

/// A contact of a body with an obstacle.
#[derive(Clone, Copy, Debug)]
struct BodyContact {
    /// Unit normal into the body.
    normal: Vector3<f64>,
    /// Its point on the obstacle [m].
    on_obstacle: Vector3<f64>,
    /// Frame of the obstacle, and whether it never moves.
    obstacle: u32,
    is_fixed: bool,
    /// Whether both shapes are convex.
    is_convex: bool,
}

/// Inputs of the pass.
#[derive(Clone, Copy)]
struct Scene<'a> {
    world: &'a World,
    data: &'a Data,
    contacts: &'a [Contact],
    /// Largest step that counts as none [m].
    slop: f64,
}

impl Scene<'_> {
    /// Normal of a contact into the body of a frame.
    fn body_normal(&self, contact: &Contact, frame: u32) -> Vector3<f64> {
        let is_b = self.world.colliders.get(contact.b).frame == frame;
        if is_b { contact.normal } else { -contact.normal }
    }

    /// A contact of the body of a frame.
    fn seen_from(&self, contact: &Contact, frame: u32) -> BodyContact {
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
    fn is_convex_pair(&self, contact: &Contact) -> bool {
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
    fn pair_rise(&self, own: &[Contact], other: &Contact, frame: u32) -> Option<f64> {
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

    /// Whether a contact lies in the plane of another one and rises above it no more than the other rises above its own.
    fn yields(&self, seen: &[BodyContact], contact: usize, other: usize, frame: u32) -> bool {
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
        if !self.find(Scene { world, data, contacts, slop }) {
            out.extend_from_slice(contacts);
            return;
        }
        for (index, pair) in pairs(contacts).enumerate() {
            let Some(normal) = self.replaced[index] else {
                let kept = pair.iter().zip(&self.dropped[self.starts[index] as usize..]);
                out.extend(kept.filter(|(_, dropped)| !**dropped).map(|(contact, _)| contact));
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

    /// Finds the pairs whose normals are replaced and the contacts that are dropped; false if there are none.
    fn find(&mut self, scene: Scene) -> bool {
        // Normals are those of contacts that touch.
        if !scene.contacts.iter().any(|contact| contact.gap <= scene.slop) {
            return false;
        }
        self.list_pairs(scene);
        let mut any = false;
        let by_frame = std::mem::take(&mut self.by_frame);
        for group in by_frame.chunk_by(|one, other| one.0 == other.0) {
            if self.share_normal(group, scene.contacts) {
                continue;
            }
            if self.any_surface {
                self.see(scene, group);
            }
            any |= self.any_surface && self.drop_contacts(scene, group, true);
            if group.len() < 2 {
                continue;
            }
            self.list_touching(scene, group);
            if !self.touching.is_empty() {
                for &(frame, pair) in group {
                    any |= self.replace_normal(scene, (frame, pair));
                }
            }
            any |= self.any_surface && self.drop_contacts(scene, group, false);
        }
        self.by_frame = by_frame;
        any
    }

    /// Lists the pairs of every moving body that may be flush with a contact that touches.
    fn list_pairs(&mut self, Scene { world, contacts, slop, .. }: Scene) {
        self.touched.clear();
        self.touched.resize(world.colliders.frames(), false);
        for contact in contacts.iter().filter(|contact| contact.gap <= slop) {
            for id in [contact.a, contact.b] {
                self.touched[world.colliders.get(id).frame as usize] = true;
            }
        }
        self.by_frame.clear();
        self.starts.clear();
        self.any_surface = false;
        let mut first = 0;
        for (index, pair) in pairs(contacts).enumerate() {
            self.starts.push(first);
            first += pair.len() as u32;
            let sides = [pair[0].a, pair[0].b].map(|id| world.colliders.get(id));
            self.any_surface |= sides.iter().any(|side| !side.shape.is_convex());
            // Two spheres have no faces.
            if sides.iter().all(|side| matches!(side.shape, Shape::Sphere { .. })) {
                continue;
            }
            for side in sides {
                if self.touched[side.frame as usize] && !world.colliders.is_fixed(side.frame) {
                    self.by_frame.push((side.frame, index as u32));
                }
            }
        }
        self.starts.push(first);
        self.by_frame.sort_unstable();
        self.replaced.clear();
        self.replaced.resize(self.starts.len(), None);
        self.dropped.clear();
        self.dropped.resize(contacts.len(), false);
    }

    fn range_of(&self, pair: u32) -> std::ops::Range<usize> {
        self.starts[pair as usize] as usize..self.starts[pair as usize + 1] as usize
    }

    fn contacts_of<'a>(&self, pair: u32, contacts: &'a [Contact]) -> &'a [Contact] {
        &contacts[self.range_of(pair)]
    }

    /// Whether all contacts of a group have the same normal, up to its sign.
    fn share_normal(&self, group: &[(u32, u32)], contacts: &[Contact]) -> bool {
        let first = self.contacts_of(group[0].1, contacts)[0].normal;
        let mut all = group.iter().flat_map(|(_, pair)| self.contacts_of(*pair, contacts));
        all.all(|contact| contact.normal.dot(&first).abs() > SAME)
    }

    /// Writes the contacts of a body as it has them.
    fn see(&mut self, scene: Scene, group: &[(u32, u32)]) {
        let Some(first) = scene.contacts.first() else { return };
        self.seen.resize(scene.contacts.len(), scene.seen_from(first, group[0].0));
        for &(frame, pair) in group {
            for k in self.range_of(pair) {
                self.seen[k] = scene.seen_from(&scene.contacts[k], frame);
            }
        }
    }

    /// Drops contacts of a body with shapes that are not convex, for others of such shapes alone or for all whose normals
    /// are kept; returns whether there are any.
    fn drop_contacts(&mut self, scene: Scene, group: &[(u32, u32)], for_surfaces: bool) -> bool {
        self.list_surface_contacts(scene, group);
        let Self { starts, surface, dropped, replaced, seen, .. } = self;
        let Scene { contacts, slop, .. } = scene;
        let range = |pair: u32| starts[pair as usize] as usize..starts[pair as usize + 1] as usize;
        let mut any = false;
        for &(_, k) in &*surface {
            let contact = &contacts[k as usize];
            let keeps = |&&(_, pair): &&(u32, u32)| replaced[pair as usize].is_none();
            let mut kept =
                group.iter().filter(keeps).flat_map(|(_, pair)| range(*pair)).filter(|&other| {
                    let is_candidate = !for_surfaces || !seen[other].is_convex;
                    // Planes of contacts tell nothing about shapes deep in one another.
                    let are_deep = contact.gap.max(contacts[other].gap) < -DEEP * slop;
                    is_candidate && contacts[other].gap <= slop && !are_deep && !dropped[other]
                });
            if kept.any(|other| scene.yields(seen, k as usize, other, group[0].0)) {
                dropped[k as usize] = true;
                any = true;
            }
        }
        any
    }

    /// Lists the contacts of a body with shapes that are not convex, those whose normals few share first.
    fn list_surface_contacts(&mut self, scene: Scene, group: &[(u32, u32)]) {
        let Self { starts, surface, dropped, seen, .. } = self;
        let Scene { contacts, slop, .. } = scene;
        let touching = |k: usize| contacts[k].gap <= slop;
        let range = |pair: u32| starts[pair as usize] as usize..starts[pair as usize + 1] as usize;
        let all = || group.iter().flat_map(|(_, pair)| range(*pair));
        surface.clear();
        for k in all().filter(|k| !dropped[*k] && !seen[*k].is_convex) {
            let n = seen[k].normal;
            let same = |other: &usize| touching(*other) && seen[*other].normal.dot(&n) > SAME;
            let shared = if touching(k) { all().filter(same).count() } else { 0 };
            surface.push((shared as u32, k as u32));
        }
        surface.sort_unstable();
    }

    /// Lists the contacts of a body that touch, one of each normal of a pair.
    fn list_touching(&mut self, scene: Scene, group: &[(u32, u32)]) {
        let mut touching = std::mem::take(&mut self.touching);
        touching.clear();
        for &(frame, pair) in group {
            let mut last = Vector3::zeros();
            for k in self.range_of(pair).filter(|k| !self.dropped[*k]) {
                let contact = &scene.contacts[k];
                // Contacts of convex shapes share their normal, and the first that touches decides.
                if contact.gap <= scene.slop {
                    let m = scene.body_normal(contact, frame);
                    if m != last {
                        touching.push((pair, k as u32));
                        last = m;
                    }
                }
            }
        }
        self.touching = touching;
    }

    /// Looks among the contacts of a body that touch for one with which a pair is flush; returns whether there is one.
    fn replace_normal(&mut self, scene: Scene, (frame, pair): (u32, u32)) -> bool {
        let Scene { world, contacts, .. } = scene;
        let own = self.contacts_of(pair, contacts);
        let is_plane = |id| matches!(world.colliders.get(id).shape, Shape::Plane);
        if !scene.is_convex_pair(&own[0])
            || is_plane(own[0].a)
            || is_plane(own[0].b)
            || self.replaced[pair as usize].is_some()
        {
            return false;
        }
        // Normals of the world point from A into B.
        let sign = if world.colliders.get(own[0].b).frame == frame { 1.0 } else { -1.0 };
        let mut best: Option<(f64, Vector3<f64>)> = None;
        for &(other, k) in self.touching.iter().filter(|(other, _)| *other != pair) {
            if self.replaced[other as usize].is_some() {
                continue;
            }
            let contact = &contacts[k as usize];
            let Some(rise) = scene.pair_rise(own, contact, frame) else { continue };
            let other_yields = if scene.is_convex_pair(contact) {
                let others = self.contacts_of(other, contacts);
                scene.pair_rise(others, &own[0], frame).is_some_and(|opposite| opposite < rise)
            } else {
                scene.yields(&self.seen, k as usize, self.starts[pair as usize] as usize, frame)
            };
            if !other_yields && best.is_none_or(|(least, _)| rise < least) {
                best = Some((rise, sign * scene.body_normal(contact, frame)));
            }
        }
        self.replaced[pair as usize] = best.map(|(_, normal)| normal);
        best.is_some()
    }
}
