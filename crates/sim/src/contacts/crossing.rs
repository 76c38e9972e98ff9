//! Bodies whose centres would cross the plane of a contact within a step.
//!
//! A contact acts at a point of a body. A body that is small and turns fast may keep that point where it is and
//! pass through something thin with all the rest. Where the centre of mass of the smaller body of a contact, or the
//! middle of its extent across the plane of the contact, ends near or behind that plane, the contact gets another row at
//! the origin of the body, which no rotation circumvents: the centre stays as far from the plane as the body is thick.
//! An origin that is too near already moves away, no faster than it came: the row does no positive work.

use nalgebra::{Point3, Vector3};
use stiction_geom::{Collider, ColliderId, Contact};
use stiction_mech::Data;

use super::{RowContact, shape_pose};
use crate::rows::ConstraintContext;
use crate::world::World;

/// Share of its thickness by which a centre must approach a plane in the step, and share of the thickness that
/// must be left [-].
const SHARE: f64 = 0.5;
/// Difference of the feature of the row at the origin of a body from that of the contact.
const AT_ORIGIN: u32 = 0x9e37_79b9;

/// A contact with a row, and the centre of mass of its smaller body.
#[derive(Clone, Copy, Debug)]
struct WatchedContact {
    contact: Contact,
    /// The point of the larger body, in the frame of its shape [m].
    on_larger: Vector3<f64>,
    /// The same in the world, at the start of the step [m].
    on_larger_W: Vector3<f64>,
    /// Centre of mass and origin of the smaller body at the start of the step [m].
    centre: Vector3<f64>,
    origin: Vector3<f64>,
    /// Velocity at which the origin approaches the plane at the start of the step [m/s].
    approach: f64,
    /// Whether the smaller body is B.
    smaller_is_b: bool,
}

impl WatchedContact {
    /// Normal into the smaller body.
    fn normal(&self) -> Vector3<f64> {
        if self.smaller_is_b { self.contact.normal } else { -self.contact.normal }
    }

    /// Height of the centre over the plane of the contact at the start [m].
    fn height(&self) -> f64 {
        self.normal().dot(&(self.centre - self.on_larger_W))
    }
}

/// Contacts whose bodies may cross them, and rows that keep them from it.
#[derive(Debug, Default)]
pub(crate) struct CrossingGuard {
    watched: Vec<WatchedContact>,
    rows: Vec<RowContact>,
    /// Time step [s].
    time_step: f64,
}

/// Centre of mass of a body [m], or its origin if it does not move.
fn centre_of(world: &World, data: &Data, body: usize) -> Vector3<f64> {
    let model = &world.model;
    let links = model.bodies()[body].tree.map_or(0..0, |tree| model.trees()[tree].links.clone());
    let link = model.links()[links].iter().find(|link| link.body == body);
    let com = link.map_or(Vector3::zeros(), |link| link.com);
    (data.body_pose[body] * Point3::from(com)).coords
}

/// Middle of the extent of a shape along the unit vector `n` [m]; `None` unless it is convex and bounded.
fn middle_along(world: &World, data: &Data, id: ColliderId, n: &Vector3<f64>) -> Option<f64> {
    let X_WS = shape_pose(world, data, id.index());
    let n_S = X_WS.rotation.inverse_transform_vector(n);
    let shape = &world.colliders.get(id).shape;
    let (low, high) = (shape.support(&-n_S)?, shape.support(&n_S)?);
    Some(n.dot(&X_WS.translation.vector) + 0.5 * n_S.dot(&(low + high)))
}

impl CrossingGuard {
    /// Forgets the contacts of the last step.
    pub fn clear(&mut self) {
        self.watched.clear();
        self.rows.clear();
    }

    /// Watches a contact if its smaller body may approach it by more than its thickness within the step.
    /// `reach` bounds the way of each body [m].
    pub fn watch(
        &mut self,
        world: &World,
        context: &ConstraintContext,
        (h, reach): (f64, &[f64]),
        row: &RowContact,
    ) {
        let RowContact { contact, points, .. } = row;
        self.time_step = h;
        let ids = [contact.a, contact.b];
        let [thickness_A, thickness_B] = ids.map(|id| world.thickness[id.index()]);
        let bodies = world.bodies_of(contact);
        if reach[bodies[0]] + reach[bodies[1]] <= SHARE * thickness_A.min(thickness_B) {
            return;
        }
        let sides = ids.map(|id| world.colliders.get(id));
        let size = |side: &Collider| {
            let is_fixed = world.colliders.is_fixed(side.frame);
            if is_fixed { f64::INFINITY } else { side.shape.bounding_radius() }
        };
        let smaller_is_b = size(sides[1]) <= size(sides[0]);
        let (small, large) = if smaller_is_b { (1, 0) } else { (0, 1) };
        let spin = context.angular_velocity(bodies[small]).norm();
        let origin = context.data.body_pose[bodies[small]].translation.vector;
        // Contacts may change the turn into approach.
        let relative = context.point_velocity(bodies[small], &origin)
            - context.point_velocity(bodies[large], &points[large]);
        let speed = relative.norm() + spin * sides[small].shape.bounding_radius();
        let id = [contact.a, contact.b][small];
        if h * speed <= SHARE * world.thickness[id.index()] {
            return;
        }
        let centre = centre_of(world, context.data, bodies[small]);
        let on_larger_W = points[large];
        let id = if smaller_is_b { contact.a } else { contact.b };
        let X_WS = shape_pose(world, context.data, id.index());
        let on_larger = X_WS.inverse_transform_point(&on_larger_W.into()).coords;
        let n = if smaller_is_b { contact.normal } else { -contact.normal };
        self.watched.push(WatchedContact {
            contact: *contact,
            on_larger,
            on_larger_W,
            centre,
            origin,
            approach: -n.dot(&relative),
            smaller_is_b,
        });
    }

    /// Finds the contacts that centres cross; `data` holds the kinematics of the next state. Returns whether
    /// there are any.
    pub fn find(&mut self, world: &World, data: &Data) -> bool {
        let h = self.time_step;
        self.rows.clear();
        self.watched.retain(|watched| {
            let WatchedContact { contact, smaller_is_b, .. } = watched;
            let bodies = world.bodies_of(contact);
            let (body, small, large) = match smaller_is_b {
                true => (bodies[1], contact.b, contact.a),
                false => (bodies[0], contact.a, contact.b),
            };
            let (n, start) = (watched.normal(), watched.height());
            let X_WS = shape_pose(world, data, large.index());
            let on_larger = (X_WS * Point3::from(watched.on_larger)).coords;
            let end = n.dot(&(centre_of(world, data, body) - on_larger));
            let middle = middle_along(world, data, small, &n).unwrap_or(end + n.dot(&on_larger));
            let lower = end.min(middle - n.dot(&on_larger));
            let thickness = world.thickness[small.index()];
            let left = thickness.min(start);
            let crosses = start > 0.0 && start - end > SHARE * thickness && lower < SHARE * left;
            if crosses {
                // The centre of mass may turn about the origin to its lowest place.
                let origin = n.dot(&(watched.origin - watched.on_larger_W));
                let offset = middle - n.dot(&data.body_pose[body].translation.vector);
                let lever = (watched.centre - watched.origin).norm().max(offset.abs());
                let gap = origin - left - lever;
                let away = (-gap / h).clamp(0.0, watched.approach.max(0.0));
                let feature = contact.feature ^ AT_ORIGIN;
                let contact = Contact { feature, gap: gap.max(0.0), ..*contact };
                let points = match smaller_is_b {
                    true => [watched.on_larger_W, watched.origin],
                    false => [watched.origin, watched.on_larger_W],
                };
                self.rows.push(RowContact { contact, points, away });
            }
            !crosses
        });
        // One row for each pair: the nearest.
        let pair = |row: &RowContact| (row.contact.a, row.contact.b);
        self.rows.sort_unstable_by(|one, other| {
            pair(one).cmp(&pair(other)).then(one.contact.gap.total_cmp(&other.contact.gap))
        });
        self.rows.dedup_by_key(|row| pair(row));
        !self.rows.is_empty()
    }

    /// Whether a pair of shapes crosses each other.
    pub fn crosses(&self, contact: &Contact) -> bool {
        self.rows.iter().any(|row| row.contact.a == contact.a && row.contact.b == contact.b)
    }

    /// The rows that keep centres from crossing.
    pub fn rows(&self) -> &[RowContact] {
        &self.rows
    }
}
