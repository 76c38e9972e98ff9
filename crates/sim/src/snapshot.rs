//! Snapshots: all of a simulation that later steps depend on, to the bit.
//!
//! Beside state and input these are the impulses and velocities from which solvers start, who
//! sleeps and since when others are still, and the names of the contacts. Solvers keep memory, but
//! none that changes an answer. A snapshot belongs to a world and to settings: the numbers of parts
//! are checked, and that the settings are the same is left to the user.
//!
//! As bytes: a magic word and a version, then the fields in their order, little-endian; lists are
//! preceded by their length, and a checksum ends it.

use nalgebra::{Isometry3, Quaternion, UnitQuaternion, Vector3, Vector6};
use stiction_geom::{ColliderId, Contact};
use stiction_mech::{Input, SoftId, State};

use crate::error::SnapshotError;
use crate::hash::Fnv;
use crate::rows::{Class, Key};
use crate::sensor::LastStep;
use crate::simulation::ContactPoint;

/// The first bytes of every snapshot.
const MAGIC: &[u8; 8] = b"stictsnp";
/// Changes with the layout.
const VERSION: u32 = 2;

/// All of a simulation that later steps depend on.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Snapshot {
    /// Time, coordinates and velocities.
    pub state: State,
    /// Controls and wrenches.
    pub input: Input,
    /// The contacts of the last step with their forces.
    pub contacts: Vec<ContactPoint>,
    pub(crate) kept: Kept,
}

/// What only later steps read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Kept {
    /// Velocities on which the laws acted.
    pub lawful: Vec<f64>,
    /// The same per node of soft bodies.
    pub soft_lawful: Vec<Vector3<f64>>,
    /// Impulses of the last step by the key of their constraint: key, number of rows.
    pub keys: Vec<(Key, u32)>,
    pub impulses: Vec<f64>,
    /// Per tree: whether it sleeps, how long it has been still, with whom it fell asleep.
    pub asleep: Vec<bool>,
    pub still: Vec<f64>,
    pub group: Vec<u32>,
    pub groups: u32,
    /// Where driven bodies stand.
    pub driven: Vec<Isometry3<f64>>,
    /// Whether the contacts found belong to the state, and with which reach.
    pub seen: bool,
    pub reach: Vec<f64>,
    pub found: Vec<Contact>,
    /// What sensors read of the last step.
    pub last_step: LastStep,
}

impl Snapshot {
    /// As bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer(Vec::new());
        out.0.extend_from_slice(MAGIC);
        out.u32(VERSION);
        out.f64(self.state.time);
        out.list(&self.state.q, |out, x| out.f64(*x));
        out.list(&self.state.v, |out, x| out.f64(*x));
        out.list(&self.state.x, Writer::vector);
        out.list(&self.state.x_dot, Writer::vector);
        out.list(&self.input.control, |out, x| out.f64(*x));
        out.list(&self.input.wrench, Writer::wrench);
        out.list(&self.input.driven_pose, Writer::pose);
        out.list(&self.contacts, Writer::contact);
        let kept = &self.kept;
        out.list(&kept.lawful, |out, x| out.f64(*x));
        out.list(&kept.soft_lawful, Writer::vector);
        out.list(&kept.keys, |out, (key, dim)| {
            [key.class as u32, key.a, key.b, key.feature, u32::from(key.row), *dim]
                .iter()
                .for_each(|x| out.u32(*x));
        });
        out.list(&kept.impulses, |out, x| out.f64(*x));
        out.list(&kept.asleep, |out, asleep| out.u32(u32::from(*asleep)));
        out.list(&kept.still, |out, x| out.f64(*x));
        out.list(&kept.group, |out, x| out.u32(*x));
        out.u32(kept.groups);
        out.u32(u32::from(kept.seen));
        out.list(&kept.driven, Writer::pose);
        out.list(&kept.reach, |out, x| out.f64(*x));
        out.list(&kept.found, |out, contact| {
            [contact.a.0, contact.b.0, contact.feature].iter().for_each(|x| out.u32(*x));
            out.f64(contact.gap);
            out.vector(&contact.point);
            out.vector(&contact.normal);
        });
        out.last_step(&kept.last_step);
        let sum = Fnv::of(out.0.iter().copied());
        out.0.extend_from_slice(&sum.to_le_bytes());
        out.0
    }

    /// From bytes; anything but a whole snapshot of this version is an error.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SnapshotError> {
        let Some(rest) = bytes.strip_prefix(MAGIC) else { return Err(SnapshotError::Foreign) };
        let mut from = Reader { bytes: rest, total: bytes.len() };
        let version = from.u32()?;
        if version != VERSION {
            return Err(SnapshotError::Version { found: version, expected: VERSION });
        }
        let (body, sum) = bytes.split_at(bytes.len().saturating_sub(size_of::<u64>()));
        if Fnv::of(body.iter().copied()).to_le_bytes() != sum {
            return Err(SnapshotError::Damaged { bytes: bytes.len() });
        }
        from.bytes = from.bytes.get(..from.bytes.len() - sum.len()).unwrap_or_default();
        let state = State {
            time: from.f64()?,
            q: from.list(Reader::f64)?,
            v: from.list(Reader::f64)?,
            x: from.list(Reader::vector)?,
            x_dot: from.list(Reader::vector)?,
        };
        let input = Input {
            control: from.list(Reader::f64)?,
            wrench: from.list(Reader::wrench)?,
            driven_pose: from.list(Reader::pose)?,
        };
        let contacts = from.list(Reader::contact)?;
        let kept = Kept {
            lawful: from.list(Reader::f64)?,
            soft_lawful: from.list(Reader::vector)?,
            keys: from.list(|from| {
                let class = Class::from_number(from.u32()?)
                    .ok_or(SnapshotError::Damaged { bytes: from.total })?;
                let (a, b, feature) = (from.u32()?, from.u32()?, from.u32()?);
                let key = Key { class, a, b, feature, row: from.u32()? as u8 };
                Ok((key, from.u32()?))
            })?,
            impulses: from.list(Reader::f64)?,
            asleep: from.list(|from| Ok(from.u32()? != 0))?,
            still: from.list(Reader::f64)?,
            group: from.list(Reader::u32)?,
            groups: from.u32()?,
            seen: from.u32()? != 0,
            driven: from.list(Reader::pose)?,
            reach: from.list(Reader::f64)?,
            found: from.list(|from| {
                let (a, b, feature) = (from.u32()?, from.u32()?, from.u32()?);
                Ok(Contact {
                    a: ColliderId(a),
                    b: ColliderId(b),
                    feature,
                    gap: from.f64()?,
                    point: from.vector()?,
                    normal: from.vector()?,
                })
            })?,
            last_step: from.last_step()?,
        };
        if !from.bytes.is_empty() {
            return Err(SnapshotError::Damaged { bytes: bytes.len() });
        }
        Ok(Self { state, input, contacts, kept })
    }
}

struct Writer(Vec<u8>);

impl Writer {
    fn u32(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn f64(&mut self, value: f64) {
        self.0.extend_from_slice(&value.to_bits().to_le_bytes());
    }

    fn vector(&mut self, value: &Vector3<f64>) {
        value.iter().for_each(|x| self.f64(*x));
    }

    fn pose(&mut self, value: &Isometry3<f64>) {
        self.vector(&value.translation.vector);
        value.rotation.coords.iter().for_each(|x| self.f64(*x));
    }

    fn wrench(&mut self, wrench: &Vector6<f64>) {
        wrench.iter().for_each(|x| self.f64(*x));
    }

    fn contact(&mut self, contact: &ContactPoint) {
        contact.geoms.iter().chain(&contact.bodies).for_each(|index| self.u32(*index as u32));
        contact.soft.iter().for_each(|soft| self.u32(soft.map_or(0, |id| id.0 as u32 + 1)));
        self.f64(contact.gap);
        for vector in
            [contact.point, contact.normal, contact.force, contact.torque, contact.velocity]
        {
            self.vector(&vector);
        }
    }

    fn last_step(&mut self, last: &LastStep) {
        self.u32(u32::from(last.taken));
        self.f64(last.time_step);
        let LastStep { q, v, acceleration, control, equality, tendon_force, .. } = last;
        for numbers in [q, v, acceleration, control, equality, tendon_force] {
            self.list(numbers, |out, x| out.f64(*x));
        }
        self.list(&last.wrench, Self::wrench);
        self.list(&last.contacts, Self::contact);
    }

    fn list<T>(&mut self, items: &[T], write: impl Fn(&mut Self, &T)) {
        self.0.extend_from_slice(&(items.len() as u64).to_le_bytes());
        items.iter().for_each(|item| write(self, item));
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    /// Length of the whole, for messages.
    total: usize,
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], SnapshotError> {
        let damaged = SnapshotError::Damaged { bytes: self.total };
        let (head, rest) = self.bytes.split_first_chunk::<N>().ok_or(damaged)?;
        self.bytes = rest;
        Ok(*head)
    }

    fn u32(&mut self) -> Result<u32, SnapshotError> {
        self.take().map(u32::from_le_bytes)
    }

    fn f64(&mut self) -> Result<f64, SnapshotError> {
        self.take().map(|bytes| f64::from_bits(u64::from_le_bytes(bytes)))
    }

    fn vector(&mut self) -> Result<Vector3<f64>, SnapshotError> {
        Ok(Vector3::new(self.f64()?, self.f64()?, self.f64()?))
    }

    fn pose(&mut self) -> Result<Isometry3<f64>, SnapshotError> {
        let place = self.vector()?;
        let [x, y, z, w] = [self.f64()?, self.f64()?, self.f64()?, self.f64()?];
        // Bits are kept as they were.
        let turn = UnitQuaternion::new_unchecked(Quaternion::new(w, x, y, z));
        Ok(Isometry3::from_parts(place.into(), turn))
    }

    fn wrench(&mut self) -> Result<Vector6<f64>, SnapshotError> {
        let mut wrench = Vector6::zeros();
        wrench.iter_mut().try_for_each(|x| self.f64().map(|value| *x = value))?;
        Ok(wrench)
    }

    fn contact(&mut self) -> Result<ContactPoint, SnapshotError> {
        let [a, b, c, d] = [self.u32()?, self.u32()?, self.u32()?, self.u32()?];
        Ok(ContactPoint {
            geoms: [a as usize, b as usize],
            bodies: [c as usize, d as usize],
            soft: [self.soft()?, self.soft()?],
            gap: self.f64()?,
            point: self.vector()?,
            normal: self.vector()?,
            force: self.vector()?,
            torque: self.vector()?,
            velocity: self.vector()?,
        })
    }

    /// A soft body, or none.
    fn soft(&mut self) -> Result<Option<SoftId>, SnapshotError> {
        Ok((self.u32()? as usize).checked_sub(1).map(SoftId))
    }

    fn last_step(&mut self) -> Result<LastStep, SnapshotError> {
        Ok(LastStep {
            taken: self.u32()? != 0,
            time_step: self.f64()?,
            q: self.list(Self::f64)?,
            v: self.list(Self::f64)?,
            acceleration: self.list(Self::f64)?,
            control: self.list(Self::f64)?,
            equality: self.list(Self::f64)?,
            tendon_force: self.list(Self::f64)?,
            wrench: self.list(Self::wrench)?,
            contacts: self.list(Self::contact)?,
        })
    }

    fn list<T>(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<T, SnapshotError>,
    ) -> Result<Vec<T>, SnapshotError> {
        let count = self.take().map(u64::from_le_bytes)?;
        // Nothing is reserved on the word of a number: every item needs at least four bytes.
        if count > self.bytes.len() as u64 {
            return Err(SnapshotError::Damaged { bytes: self.total });
        }
        (0..count).map(|_| read(self)).collect()
    }
}
