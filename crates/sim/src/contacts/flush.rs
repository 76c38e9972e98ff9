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
use stiction_geom::{Contact, Shape};
use stiction_mech::Data;

use super::flush_plane::{BodyContact, ContactPlane, DEEP, SAME, Scene};
use super::{pairs, shape_pose};
use crate::world::World;

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
    /// Contacts of the present group to which others may yield, and all that touch.
    planes: Vec<ContactPlane>,
    normals: Vec<Vector3<f64>>,
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

    /// Drops contacts of a body with shapes that are not convex, for others of such shapes or, after that, for those of convex
    /// shapes whose normals are kept; returns whether there are any.
    fn drop_contacts(&mut self, scene: Scene, group: &[(u32, u32)], for_surfaces: bool) -> bool {
        self.list_planes(scene, group, for_surfaces);
        if self.planes.is_empty() {
            return false;
        }
        self.list_surface_contacts(scene, group);
        let Self { surface, dropped, seen, planes, .. } = self;
        let Scene { contacts, slop, .. } = scene;
        let mut any = false;
        for &(_, k) in &*surface {
            let (contact, own) = (&contacts[k as usize], &seen[k as usize]);
            let yields = planes.iter().filter(|plane| scene.may_yield(own, plane)).any(|plane| {
                let other = plane.index as usize;
                // Planes of contacts tell nothing about shapes deep in one another.
                let are_deep = contact.gap.max(contacts[other].gap) < -DEEP * slop;
                !are_deep && !dropped[other] && scene.yields(seen, k as usize, other, group[0].0)
            });
            if yields {
                dropped[k as usize] = true;
                any = true;
            }
        }
        any
    }

    /// Lists the planes of the contacts that touch: those with surfaces, or the others whose normals are kept. Contacts that did
    /// not yield to those with surfaces before do not later.
    fn list_planes(&mut self, scene: Scene, group: &[(u32, u32)], of_surfaces: bool) {
        let mut planes = std::mem::take(&mut self.planes);
        planes.clear();
        for &(_, pair) in group.iter().filter(|(_, pair)| self.replaced[*pair as usize].is_none()) {
            planes.extend(self.range_of(pair).filter_map(|k| {
                let BodyContact { normal, on_obstacle, is_convex, .. } = self.seen[k];
                let index = k as u32;
                let plane = ContactPlane { normal, height: normal.dot(&on_obstacle), index };
                let is_candidate = is_convex != of_surfaces && scene.contacts[k].gap <= scene.slop;
                (is_candidate && !self.dropped[k]).then_some(plane)
            }));
        }
        self.planes = planes;
    }

    /// Lists the contacts of a body with surfaces, those whose normals few share first.
    fn list_surface_contacts(&mut self, scene: Scene, group: &[(u32, u32)]) {
        let Self { starts, surface, dropped, seen, normals, .. } = self;
        let range = |pair: u32| starts[pair as usize] as usize..starts[pair as usize + 1] as usize;
        let all = || group.iter().flat_map(|(_, pair)| range(*pair));
        let touching = |k: &usize| scene.contacts[*k].gap <= scene.slop;
        normals.clear();
        normals.extend(all().filter(touching).map(|k| seen[k].normal));
        surface.clear();
        for k in all().filter(|k| !dropped[*k] && !seen[*k].is_convex) {
            let n = seen[k].normal;
            let same = |other: &&Vector3<f64>| other.dot(&n) > SAME;
            let shared = if touching(&k) { normals.iter().filter(same).count() } else { 0 };
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
