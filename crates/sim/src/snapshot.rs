//! Snapshots: all of a simulation that later steps depend on, to the bit.
//!
//! A snapshot is a copy of state, input, [`StepHistory`] and changed parameters. It belongs to a world and to settings:
//! the sizes of arrays are checked; that the settings are the same is left to the user.
//!
//! As bytes: a magic word and a version, then the fields in their order, little-endian; lists are
//! preceded by their length, and a checksum ends it.

use nalgebra::{Isometry3, Quaternion, UnitQuaternion, Vector3, Vector6};
use stiction_geom::{ColliderId, Contact};
use stiction_mech::{Input, SoftId, State};

use crate::contact_point::ContactPoint;
use crate::energy_drift::EnergyDrift;
use crate::error::SnapshotError;
use crate::hash::Fnv;
use crate::history::StepHistory;
use crate::parameters::{ChangedParameter, ParameterEntry};
use crate::position_correction::{LastingError, LastingErrors, TreeCorrection};
use crate::rows::{ConstraintClass, ConstraintKey};
use crate::samples::{SampleRing, Samples};
use crate::sensor::LastStep;
use crate::sleep::SleepState;
use crate::start_errors::{OpenEqualities, YieldingConstraints};
use crate::warm_start::WarmStart;
use crate::world::World;

/// The first bytes of every snapshot.
const MAGIC: &[u8; 8] = b"stictsnp";
/// Changes with the layout.
const VERSION: u32 = 12;
/// The version before parameters, generalized forces and patches: still read, with the parameters of the world, without such forces
/// and areas of contacts, and with fewer classes of constraints.
const VERSION_WITHOUT_PARAMETERS: u32 = 11;
/// The version before the number of steps that were not solved: still read, as after one that was.
const VERSION_WITHOUT_UNSOLVED: u32 = 10;
/// The version before samples of delayed controls and sensors, forces of limits and changes of impulses: still read, since
/// nothing was delayed, with guesses that do not change.
const VERSION_WITHOUT_SAMPLES: u32 = 9;
/// The version before the largest error of equalities that yield: still read, without a bound of it in the next step.
const VERSION_WITHOUT_LARGEST_OPEN: u32 = 8;
/// The version before constraints that yield since the start: still read, as after a state that was set.
const VERSION_WITHOUT_YIELDING: u32 = 7;
/// The version before switches of equalities: still read, since equalities could not be switched.
const VERSION_WITHOUT_SWITCHES: u32 = 6;
/// The version before mean forces of actuators: still read, since force laws give them.
const VERSION_WITHOUT_ACTUATOR_FORCES: u32 = 5;
/// The version before position errors one by one and balances of energy: still read, as after a state that was set.
const VERSION_WITHOUT_BALANCES: u32 = 4;
/// The version before activations: still read, since a world without them has none.
const VERSION_WITHOUT_ACTIVATIONS: u32 = 3;

/// All of a simulation that later steps depend on.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Snapshot {
    /// Time, coordinates, velocities and activations.
    pub state: State,
    /// Controls and wrenches.
    pub input: Input,
    pub(crate) history: StepHistory,
    /// Parameters that were changed.
    pub(crate) parameters: Vec<ChangedParameter>,
}

impl Snapshot {
    /// The contacts of the last step with their forces.
    pub fn contacts(&self) -> &[ContactPoint] {
        &self.history.contacts
    }

    /// The parameters that were changed, with all their values, one after the other.
    pub fn parameters(&self) -> impl Iterator<Item = (&'static ParameterEntry, &[f64])> {
        self.parameters.iter().map(|changed| (changed.entry, &changed.values[..]))
    }

    /// Whether it belongs to a world, judged by the sizes of its arrays.
    pub(crate) fn check(&self, world: &World) -> Result<(), SnapshotError> {
        let model = &world.model;
        for (what, found, expected) in [
            ("controls", self.input.control.len(), model.nu()),
            ("wrenches", self.input.wrench.len(), model.bodies().len()),
            ("generalized forces", self.input.force.len(), self.state.v.len()),
            ("driven poses", self.input.driven_pose.len(), model.driven().len()),
        ] {
            if found != expected {
                return Err(SnapshotError::OtherWorld { what, found, expected });
            }
        }
        self.history.check(world)?;
        Ok(self.state.check(model)?)
    }

    /// As bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = SnapshotWriter(Vec::new());
        out.0.extend_from_slice(MAGIC);
        out.u32(VERSION);
        out.f64(self.state.time);
        out.list(&self.state.q, |out, x| out.f64(*x));
        out.list(&self.state.v, |out, x| out.f64(*x));
        out.list(&self.state.activation, |out, x| out.f64(*x));
        out.list(&self.state.x, SnapshotWriter::vector);
        out.list(&self.state.x_dot, SnapshotWriter::vector);
        out.list(&self.input.control, |out, x| out.f64(*x));
        out.list(&self.input.wrench, SnapshotWriter::wrench);
        out.list(&self.input.driven_pose, SnapshotWriter::pose);
        let history = &self.history;
        out.list(&history.contacts, SnapshotWriter::contact);
        out.list(&history.contact_velocity, |out, x| out.f64(*x));
        out.list(&history.node_contact_velocity, SnapshotWriter::vector);
        let (keys, [impulses, changes]) = history.warm_start.parts();
        out.list(&keys.collect::<Vec<_>>(), |out, (key, dim)| {
            out.key(key);
            out.u32(*dim);
        });
        out.list(impulses, |out, x| out.f64(*x));
        let SleepState { asleep, still, group, groups } = &history.sleep;
        out.list(asleep, |out, asleep| out.u32(u32::from(*asleep)));
        out.list(still, |out, x| out.f64(*x));
        out.list(group, |out, x| out.u32(*x));
        out.u32(*groups);
        out.list(&history.correction, |out, tree| {
            // In place of a depth that versions up to 4 had.
            out.f64(0.0);
            let (error, counts) = tree.parts();
            out.f64(error);
            counts.iter().for_each(|x| out.u32(u32::from(*x)));
        });
        out.u32(u32::from(history.detection_is_current));
        out.list(&history.driven_pose, SnapshotWriter::pose);
        out.list(&history.reach, |out, x| out.f64(*x));
        out.list(&history.detected, |out, contact| {
            [contact.a.0, contact.b.0, contact.feature].iter().for_each(|x| out.u32(*x));
            out.f64(contact.gap);
            out.vector(&contact.point);
            out.vector(&contact.normal);
        });
        out.last_step(&history.last_step);
        out.u32(u32::from(history.lasting_errors.known));
        out.list(&history.lasting_errors.errors, |out, lasting| {
            out.key(&lasting.key);
            out.f64(lasting.error);
        });
        out.list(&history.energy_drift, |out, drift| {
            [drift.gained, drift.exchanged].iter().for_each(|x| out.f64(*x));
        });
        out.list(&history.equality_active, |out, active| out.u32(u32::from(*active)));
        out.u32(u32::from(history.yielding.follows));
        out.list(&history.yielding.keys, SnapshotWriter::key);
        let OpenEqualities { sum, largest } = history.yielding.open;
        [sum, largest].into_iter().for_each(|x| out.f64(x));
        out.list(&history.samples.controls, SnapshotWriter::ring);
        out.list(&history.samples.sensors, SnapshotWriter::ring);
        let LastStep { joint_limit_force, tendon_limit_force, .. } = &history.last_step;
        for numbers in [&joint_limit_force[..], &tendon_limit_force[..], changes] {
            out.list(numbers, |out, x| out.f64(*x));
        }
        out.u32(history.unsolved);
        out.list(&self.parameters, |out, ChangedParameter { entry, values }| {
            out.list(entry.name.as_bytes(), |out, byte| out.u32(u32::from(*byte)));
            out.list(values, |out, x| out.f64(*x));
        });
        out.list(&self.input.force, |out, x| out.f64(*x));
        let sum = Fnv::of(out.0.iter().copied());
        out.0.extend_from_slice(&sum.to_le_bytes());
        out.0
    }

    /// From bytes; anything but a whole snapshot of a version that is read is an error.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SnapshotError> {
        let Some(rest) = bytes.strip_prefix(MAGIC) else { return Err(SnapshotError::Foreign) };
        let mut from = SnapshotReader { bytes: rest, total: bytes.len(), version: VERSION };
        from.version = from.u32()?;
        let version = from.version;
        if !(VERSION_WITHOUT_ACTIVATIONS..=VERSION).contains(&version) {
            return Err(SnapshotError::Version { found: version, expected: VERSION });
        }
        let (body, sum) = bytes.split_at(bytes.len().saturating_sub(size_of::<u64>()));
        if Fnv::of(body.iter().copied()).to_le_bytes() != sum {
            return Err(SnapshotError::Damaged { bytes: bytes.len() });
        }
        from.bytes = from.bytes.get(..from.bytes.len() - sum.len()).unwrap_or_default();
        let state = State {
            time: from.f64()?,
            q: from.list(SnapshotReader::f64)?,
            v: from.list(SnapshotReader::f64)?,
            activation: from.numbers_after(VERSION_WITHOUT_ACTIVATIONS)?,
            x: from.list(SnapshotReader::vector)?,
            x_dot: from.list(SnapshotReader::vector)?,
        };
        let mut input = Input {
            control: from.list(SnapshotReader::f64)?,
            wrench: from.list(SnapshotReader::wrench)?,
            driven_pose: from.list(SnapshotReader::pose)?,
            force: vec![0.0; state.v.len()],
        };
        let damaged = SnapshotError::Damaged { bytes: bytes.len() };
        let history = from.history()?.ok_or(damaged)?;
        let parameters = from.parameters()?;
        if from.version > VERSION_WITHOUT_PARAMETERS {
            input.force = from.list(SnapshotReader::f64)?;
        }
        if !from.bytes.is_empty() {
            return Err(SnapshotError::Damaged { bytes: bytes.len() });
        }
        Ok(Self { state, input, history, parameters })
    }
}

struct SnapshotWriter(Vec<u8>);

impl SnapshotWriter {
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

    fn key(&mut self, key: &ConstraintKey) {
        [key.class as u32, key.a, key.b, key.feature, u32::from(key.row)]
            .iter()
            .for_each(|x| self.u32(*x));
    }

    fn contact(&mut self, contact: &ContactPoint) {
        contact.geoms.iter().chain(&contact.bodies).for_each(|index| self.u32(*index as u32));
        contact.soft.iter().for_each(|soft| self.u32(soft.map_or(0, |id| id.0 as u32 + 1)));
        self.f64(contact.gap);
        self.f64(contact.area);
        for vector in
            [contact.point, contact.normal, contact.force, contact.torque, contact.velocity]
        {
            self.vector(&vector);
        }
    }

    fn last_step(&mut self, last: &LastStep) {
        self.u32(u32::from(last.taken));
        self.f64(last.time_step);
        let LastStep { q, v, acceleration, control, activation, .. } = last;
        let LastStep { actuator_force, equality, tendon_force, .. } = last;
        for numbers in
            [q, v, acceleration, control, activation, actuator_force, equality, tendon_force]
        {
            self.list(numbers, |out, x| out.f64(*x));
        }
        self.list(&last.wrench, Self::wrench);
        self.list(&last.contacts, Self::contact);
    }

    fn ring(&mut self, ring: &SampleRing) {
        self.list(&ring.times, |out, x| out.f64(*x));
        self.list(&ring.values, |out, x| out.f64(*x));
        self.u32(ring.newest as u32);
        self.f64(ring.last_period);
    }

    fn list<T>(&mut self, items: &[T], write: impl Fn(&mut Self, &T)) {
        self.0.extend_from_slice(&(items.len() as u64).to_le_bytes());
        items.iter().for_each(|item| write(self, item));
    }
}

struct SnapshotReader<'a> {
    bytes: &'a [u8],
    /// Length of the whole, for messages.
    total: usize,
    /// Version of the layout.
    version: u32,
}

impl SnapshotReader<'_> {
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
            area: if self.version > VERSION_WITHOUT_PARAMETERS { self.f64()? } else { 0.0 },
            point: self.vector()?,
            normal: self.vector()?,
            force: self.vector()?,
            torque: self.vector()?,
            velocity: self.vector()?,
        })
    }

    /// The history of steps; `None` if keys and impulses do not fit together.
    fn history(&mut self) -> Result<Option<StepHistory>, SnapshotError> {
        let contacts = self.list(Self::contact)?;
        let contact_velocity = self.list(Self::f64)?;
        let node_contact_velocity = self.list(Self::vector)?;
        let keys = self.list(Self::key)?;
        let impulses = self.list(Self::f64)?;
        let sleep = SleepState {
            asleep: self.list(|from| Ok(from.u32()? != 0))?,
            still: self.list(Self::f64)?,
            group: self.list(Self::u32)?,
            groups: self.u32()?,
        };
        let mut history = StepHistory {
            contacts,
            contact_velocity,
            node_contact_velocity,
            sleep,
            correction: self.list(|from| {
                let [_, error] = [from.f64()?, from.f64()?];
                Ok(TreeCorrection::from_parts(error, [from.u32()? as u8, from.u32()? as u8]))
            })?,
            detection_is_current: self.u32()? != 0,
            driven_pose: self.list(Self::pose)?,
            reach: self.list(Self::f64)?,
            detected: self.list(Self::detected_contact)?,
            last_step: self.last_step()?,
            ..StepHistory::default()
        };
        history.energy_drift.resize(history.correction.len(), EnergyDrift::default());
        if self.version > VERSION_WITHOUT_BALANCES {
            history.lasting_errors = LastingErrors {
                known: self.u32()? != 0,
                errors: self.list(|from| {
                    Ok(LastingError { key: from.constraint_key()?, error: from.f64()? })
                })?,
            };
            let drift =
                |from: &mut Self| Ok(EnergyDrift { gained: from.f64()?, exchanged: from.f64()? });
            history.energy_drift = self.list(drift)?;
        }
        if self.version > VERSION_WITHOUT_SWITCHES {
            history.equality_active = self.list(|from| Ok(from.u32()? != 0))?;
        }
        if self.version > VERSION_WITHOUT_YIELDING {
            history.yielding = YieldingConstraints {
                follows: self.u32()? != 0,
                keys: self.list(Self::constraint_key)?,
                open: OpenEqualities {
                    sum: self.f64()?,
                    largest: match self.version > VERSION_WITHOUT_LARGEST_OPEN {
                        true => self.f64()?,
                        false => f64::INFINITY,
                    },
                },
            };
        }
        if self.version > VERSION_WITHOUT_SAMPLES {
            let (controls, sensors) = (self.list(Self::ring)?, self.list(Self::ring)?);
            history.samples = Samples { controls, sensors };
            history.last_step.joint_limit_force = self.list(Self::f64)?;
            history.last_step.tendon_limit_force = self.list(Self::f64)?;
        }
        let changes = self.numbers_after(VERSION_WITHOUT_SAMPLES)?;
        if self.version > VERSION_WITHOUT_UNSOLVED {
            history.unsolved = self.u32()?;
        }
        Ok(WarmStart::from_parts(&keys, impulses, changes)
            .map(|warm_start| StepHistory { warm_start, ..history }))
    }

    fn parameters(&mut self) -> Result<Vec<ChangedParameter>, SnapshotError> {
        if self.version <= VERSION_WITHOUT_PARAMETERS {
            return Ok(Vec::new());
        }
        self.list(|from| {
            let letter = |from: &mut Self| Ok(char::from(from.u32()? as u8));
            let name: String = from.list(letter)?.into_iter().collect();
            Ok(ChangedParameter {
                entry: ParameterEntry::find(&name)?,
                values: from.list(Self::f64)?,
            })
        })
    }

    fn ring(&mut self) -> Result<SampleRing, SnapshotError> {
        Ok(SampleRing {
            times: self.list(Self::f64)?,
            values: self.list(Self::f64)?,
            newest: self.u32()? as usize,
            last_period: self.f64()?,
        })
    }

    /// The key of a constraint and its number of rows.
    fn key(&mut self) -> Result<(ConstraintKey, u32), SnapshotError> {
        Ok((self.constraint_key()?, self.u32()?))
    }

    fn constraint_key(&mut self) -> Result<ConstraintKey, SnapshotError> {
        let number = self.u32()?;
        let is_shifted =
            self.version <= VERSION_WITHOUT_PARAMETERS && number >= ConstraintClass::Patch as u32;
        let class = ConstraintClass::from_number(number.saturating_add(u32::from(is_shifted)))
            .ok_or(SnapshotError::Damaged { bytes: self.total })?;
        let (a, b, feature) = (self.u32()?, self.u32()?, self.u32()?);
        Ok(ConstraintKey { class, a, b, feature, row: self.u32()? as u8 })
    }

    fn detected_contact(&mut self) -> Result<Contact, SnapshotError> {
        let (a, b, feature) = (self.u32()?, self.u32()?, self.u32()?);
        Ok(Contact {
            a: ColliderId(a),
            b: ColliderId(b),
            feature,
            gap: self.f64()?,
            point: self.vector()?,
            normal: self.vector()?,
        })
    }

    /// Numbers that later versions than this one have.
    fn numbers_after(&mut self, version: u32) -> Result<Vec<f64>, SnapshotError> {
        if self.version > version { self.list(Self::f64) } else { Ok(Vec::new()) }
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
            activation: self.numbers_after(VERSION_WITHOUT_ACTIVATIONS)?,
            actuator_force: self.numbers_after(VERSION_WITHOUT_ACTUATOR_FORCES)?,
            equality: self.list(Self::f64)?,
            tendon_force: self.list(Self::f64)?,
            wrench: self.list(Self::wrench)?,
            contacts: self.list(Self::contact)?,
            joint_limit_force: Vec::new(),
            tendon_limit_force: Vec::new(),
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
