//! Contacts of the last step as an array of fixed size: matched, reduced, and written field by field.
//!
//! The meaning of conditions, reductions and fields is MuJoCo's. The normal points from the first side to the
//! second; the force is that on the second side. Where the conditions give no direction, that of MuJoCo's
//! order of shapes is taken. Deviation: the first tangent follows from the normal alone. Contacts of soft bodies do
//! not count. Cost: contacts times slots.

use nalgebra::{Isometry3, Point3, Vector3};
use stiction_geom::Shape;
use stiction_mech::BodyId;

use super::frame::View;
use super::kind::SensorTarget;
use super::spec::{SensorFrame, TouchVolume};
use crate::contact_point::ContactPoint;
use crate::error::WorldError;
use crate::world::World;

/// Slots of one sensor, at most.
const MOST_SLOTS: usize = 10_000;

/// Condition on one side of a contact.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ContactSide {
    /// Anything.
    #[default]
    Any,
    /// A shape, by its index.
    Geom(usize),
    /// A shape of a body.
    Body(BodyId),
    /// A shape of a body or of something that it carries.
    Subtree(BodyId),
}

/// Selection of the contacts that are reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContactReduction {
    /// The first ones, in the order of detection.
    #[default]
    First,
    /// Those with the smallest gap, ascending.
    SmallestGap,
    /// Those with the largest force, descending.
    LargestForce,
    /// One with the force of all, at their centre weighted by force, in world axes.
    NetForce,
}

/// The fields of a slot, in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContactFields {
    /// Number of contacts that match; zero in an empty slot.
    pub found: bool,
    /// Force on the second side, in the frame of the contact [N].
    pub force: bool,
    /// Torque on the second side, in the frame of the contact [N·m].
    pub torque: bool,
    /// Gap, negative in penetration [m].
    pub distance: bool,
    /// Position in the world [m].
    pub position: bool,
    /// Normal from the first side to the second, world axes.
    pub normal: bool,
    /// First tangent, world axes; the second is normal × tangent.
    pub tangent: bool,
    /// Velocity of the second side relative to the first, in the frame of the contact [m/s].
    pub velocity: bool,
    /// Angular velocity of the second side relative to the first, in the frame of the contact [rad/s].
    pub angular_velocity: bool,
}

impl ContactFields {
    fn dim(&self) -> usize {
        let vectors = [
            self.force,
            self.torque,
            self.position,
            self.normal,
            self.tangent,
            self.velocity,
            self.angular_velocity,
        ];
        usize::from(self.found)
            + usize::from(self.distance)
            + 3 * vectors.iter().filter(|field| **field).count()
    }
}

/// Conditions on contacts, their number, and what is read of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactQuery {
    /// Conditions on the two sides, in either order.
    pub sides: [ContactSide; 2],
    /// A volume that contains the position.
    pub within: Option<(SensorFrame, TouchVolume)>,
    /// Selection.
    pub reduction: ContactReduction,
    /// Number of slots.
    pub slots: usize,
    /// What is read of each.
    pub fields: ContactFields,
}

impl Default for ContactQuery {
    /// The number of all contacts.
    fn default() -> Self {
        Self {
            sides: [ContactSide::Any; 2],
            within: None,
            reduction: ContactReduction::First,
            slots: 1,
            fields: ContactFields { found: true, ..ContactFields::default() },
        }
    }
}

/// A contact seen from the first side, or several as one.
#[derive(Clone, Copy, Debug)]
struct DirectedContact {
    force: Vector3<f64>,
    torque: Vector3<f64>,
    distance: f64,
    position: Vector3<f64>,
    normal: Vector3<f64>,
    tangent: Vector3<f64>,
    velocity: Vector3<f64>,
    angular_velocity: Vector3<f64>,
}

/// The last step, and the present state for angular velocities.
#[derive(Clone, Copy)]
pub(super) struct ContactContext<'a> {
    pub world: &'a World,
    /// The mechanism at the start of the step, where the contacts were found.
    pub view: View<'a>,
    pub contacts: &'a [ContactPoint],
}

impl ContactQuery {
    /// Numbers in a reading.
    pub fn dim(&self) -> usize {
        self.slots * self.fields.dim()
    }

    pub(super) fn wrong(&self) -> Option<(String, &'static str)> {
        let slots = self.slots;
        if !(1..=MOST_SLOTS).contains(&slots) {
            return Some((format!("{slots} contacts"), "1 to 10,000 contacts"));
        }
        if self.fields.dim() == 0 {
            return Some(("no field".into(), "at least one field of a contact"));
        }
        let moving = self.fields.velocity || self.fields.angular_velocity;
        if moving && self.reduction == ContactReduction::NetForce {
            return Some(("velocities of a net force".into(), "other fields"));
        }
        let size = self.within.and_then(|(_, volume)| volume.wrong_size())?;
        Some((format!("size {size}"), "positive numbers of m"))
    }

    pub(super) fn each_target(
        &mut self,
        mut change: impl FnMut(SensorTarget) -> Result<(), WorldError>,
    ) -> Result<(), WorldError> {
        for side in &mut self.sides {
            match side {
                ContactSide::Any => {}
                ContactSide::Geom(geom) => change(SensorTarget::Geom(geom))?,
                ContactSide::Body(body) | ContactSide::Subtree(body) => {
                    change(SensorTarget::Body(body))?;
                }
            }
        }
        match &mut self.within {
            Some((frame, _)) => change(SensorTarget::Frame(frame)),
            None => Ok(()),
        }
    }

    /// Reads all slots.
    pub(super) fn read(&self, context: &ContactContext, out: &mut [f64]) {
        out.fill(0.0);
        let volume = self.within.map(|(frame, volume)| (context.view.pose(&frame), volume));
        let matched = || {
            let all = context.contacts.iter().enumerate();
            all.filter_map(|(index, contact)| {
                let flip = self.matches(context, contact, volume.as_ref())?;
                Some((index, contact, flip))
            })
        };
        let found = matched().count();
        let mut slots = out.chunks_exact_mut(self.fields.dim());
        if self.reduction == ContactReduction::NetForce {
            if let (Some(slot), true) = (slots.next(), found > 0) {
                let contacts = matched().map(|(_, contact, flip)| context.directed(contact, flip));
                self.write(found, &net(contacts), slot);
            }
            return;
        }
        let key = |index: usize, contact: &ContactPoint| match self.reduction {
            ContactReduction::SmallestGap => (contact.gap, index),
            ContactReduction::LargestForce => (-contact.force.norm(), index),
            _ => (0.0, index),
        };
        let mut last = None;
        for slot in slots.take(found) {
            let later = matched()
                .map(|(index, contact, flip)| (key(index, contact), contact, flip))
                .filter(|(key, ..)| last.is_none_or(|last| *key > last));
            let least = later.reduce(|a, b| if b.0 < a.0 { b } else { a });
            let Some((key, contact, flip)) = least else { return };
            last = Some(key);
            self.write(found, &context.directed(contact, flip), slot);
        }
    }

    /// Whether a contact satisfies all conditions, and if so, whether its sides are reversed.
    fn matches(
        &self,
        context: &ContactContext,
        contact: &ContactPoint,
        volume: Option<&(Isometry3<f64>, TouchVolume)>,
    ) -> Option<bool> {
        if contact.is_soft() {
            return None;
        }
        if let Some((X_WV, volume)) = volume
            && !volume.contains(&X_WV.inverse_transform_point(&Point3::from(contact.point)).coords)
        {
            return None;
        }
        let world = context.world;
        let (first, second) = if context.is_ordered(contact) { (0, 1) } else { (1, 0) };
        let fits = |side: &ContactSide, end: usize| match side {
            ContactSide::Any => true,
            ContactSide::Geom(geom) => contact.geoms[end] == *geom,
            ContactSide::Body(body) => contact.bodies[end] == body.0,
            ContactSide::Subtree(body) => {
                world.sensors.subtree(*body).contains(&contact.bodies[end])
            }
        };
        let [one, other] = &self.sides;
        if fits(one, first) && fits(other, second) {
            Some(false)
        } else if fits(one, second) && fits(other, first) {
            Some(true)
        } else {
            None
        }
    }

    fn write(&self, found: usize, contact: &DirectedContact, slot: &mut [f64]) {
        let across = contact.normal.cross(&contact.tangent);
        let in_frame =
            |v: &Vector3<f64>| [v.dot(&contact.normal), v.dot(&contact.tangent), v.dot(&across)];
        let mut rest = slot;
        let mut put = |read: bool, numbers: &[f64]| {
            if read {
                let (now, later) = std::mem::take(&mut rest).split_at_mut(numbers.len());
                now.copy_from_slice(numbers);
                rest = later;
            }
        };
        let fields = &self.fields;
        put(fields.found, &[found as f64]);
        put(fields.force, &in_frame(&contact.force));
        put(fields.torque, &in_frame(&contact.torque));
        put(fields.distance, &[contact.distance]);
        put(fields.position, contact.position.as_slice());
        put(fields.normal, contact.normal.as_slice());
        put(fields.tangent, contact.tangent.as_slice());
        put(fields.velocity, &in_frame(&contact.velocity));
        put(fields.angular_velocity, &in_frame(&contact.angular_velocity));
    }
}

impl ContactContext<'_> {
    /// Whether the shapes of a contact are in MuJoCo's order: by kind, then by number.
    fn is_ordered(&self, contact: &ContactPoint) -> bool {
        let key = |geom: usize| (self.world.geoms.get(geom).map(|geom| rank(&geom.shape)), geom);
        key(contact.geoms[0]) <= key(contact.geoms[1])
    }

    /// A contact from the first side to the second of MuJoCo's order, or the reverse.
    fn directed(&self, contact: &ContactPoint, flip: bool) -> DirectedContact {
        let ordered = self.is_ordered(contact);
        let base = if ordered { contact.normal } else { -contact.normal };
        let sign = if ordered == flip { -1.0 } else { 1.0 };
        let turn = if flip { -1.0 } else { 1.0 };
        let [a, b] = contact
            .bodies
            .map(|body| stiction_mech::angular_velocity(self.view.data, BodyId(body)));
        DirectedContact {
            force: sign * contact.force,
            torque: sign * contact.torque,
            distance: contact.gap,
            position: contact.point,
            normal: turn * base,
            tangent: turn * tangent(&base),
            velocity: sign * contact.velocity,
            angular_velocity: sign * (b - a),
        }
    }
}

/// MuJoCo's order of kinds of shapes.
fn rank(shape: &Shape) -> usize {
    match shape {
        Shape::Plane => 0,
        Shape::HeightField(_) => 1,
        Shape::Sphere { .. } => 2,
        Shape::Capsule { .. } => 3,
        Shape::Ellipsoid { .. } => 4,
        Shape::Cylinder { .. } => 5,
        Shape::Box(_) => 6,
        Shape::Convex(_) | Shape::Mesh(_) | Shape::Compound(_) => 7,
        Shape::Field(_) => 8,
    }
}

/// The tangent nearest to y, or to z where the normal is near y.
fn tangent(normal: &Vector3<f64>) -> Vector3<f64> {
    let towards = if normal.y.abs() < 0.5 { Vector3::y() } else { Vector3::z() };
    (towards - normal * normal.dot(&towards)).normalize()
}

/// One contact with the wrench of several.
fn net(contacts: impl Iterator<Item = DirectedContact> + Clone) -> DirectedContact {
    let (mut weight, mut moment, mut force) = (0.0, Vector3::zeros(), Vector3::zeros());
    for contact in contacts.clone() {
        let size = contact.force.norm();
        weight += size;
        moment += size * contact.position;
        force += contact.force;
    }
    let position = if weight > 0.0 { moment / weight } else { Vector3::zeros() };
    let torque = contacts
        .map(|contact| contact.torque + (contact.position - position).cross(&contact.force))
        .sum();
    DirectedContact {
        force,
        torque,
        distance: 0.0,
        position,
        normal: Vector3::x(),
        tangent: Vector3::y(),
        velocity: Vector3::zeros(),
        angular_velocity: Vector3::zeros(),
    }
}
