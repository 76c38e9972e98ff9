//! The quantities that sensors read.

use nalgebra::Vector3;
use stiction_mech::{ActuatorId, BodyId, JointId, TendonId};

use super::contact::ContactQuery;
use super::ray::RayReadings;
use super::separation::{SensedShapes, SeparationReading};
use super::spec::{SensorFrame, TouchVolume};
use super::{SENSORS, SensorEntry};
use crate::error::WorldError;

/// The quantity that a sensor reads, and its location.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SensorKind {
    /// Acceleration of the frame's origin less that of free fall, in its axes [m/s²].
    Accelerometer(SensorFrame),
    /// Angular velocity in the axes of the frame [rad/s].
    Gyro(SensorFrame),
    /// Velocity of the frame's origin in its axes [m/s].
    Velocimeter(SensorFrame),
    /// Force on the frame's body from its parent, in the axes of the frame [N].
    Force(SensorFrame),
    /// Torque on the frame's body from its parent, about the frame's origin, in the axes of the frame [N·m].
    Torque(SensorFrame),
    /// A uniform field in the axes of the frame.
    Magnetometer {
        /// The frame.
        at: SensorFrame,
        /// The field in the world, in any unit.
        field: Vector3<f64>,
    },
    /// Sum of the normal contact forces on the frame's body [N] whose line of action, from the
    /// contact outwards, meets the volume.
    Touch {
        /// The frame.
        at: SensorFrame,
        /// The volume about its origin.
        volume: TouchVolume,
    },
    /// Position of a frame [m], in the world or relative to another frame.
    FramePosition {
        /// The frame.
        of: SensorFrame,
        /// The reference frame; `None` for the world.
        seen_from: Option<SensorFrame>,
    },
    /// Orientation of a frame as a quaternion (w, x, y, z), in the world or relative to another frame.
    FrameOrientation {
        /// The frame.
        of: SensorFrame,
        /// The reference frame; `None` for the world.
        seen_from: Option<SensorFrame>,
    },
    /// An axis of a frame, in the world or relative to another frame.
    FrameAxis {
        /// The frame.
        of: SensorFrame,
        /// The reference frame; `None` for the world.
        seen_from: Option<SensorFrame>,
        /// Which axis: 0, 1 or 2 for x, y or z.
        axis: usize,
    },
    /// Velocity of a frame's origin [m/s], in the world, or relative to another frame that moves
    /// and rotates.
    FrameLinearVelocity {
        /// The frame.
        of: SensorFrame,
        /// The reference frame; `None` for the world.
        seen_from: Option<SensorFrame>,
    },
    /// Angular velocity of a frame [rad/s], in the world, or relative to another frame.
    FrameAngularVelocity {
        /// The frame.
        of: SensorFrame,
        /// The reference frame; `None` for the world.
        seen_from: Option<SensorFrame>,
    },
    /// Acceleration of a frame's origin less that of free fall, in the world [m/s²].
    FrameLinearAcceleration {
        /// The frame.
        of: SensorFrame,
    },
    /// Angular acceleration of a frame in the world [rad/s²].
    FrameAngularAcceleration {
        /// The frame.
        of: SensorFrame,
    },
    /// The only coordinate of a joint [m or rad].
    JointPosition(JointId),
    /// The only velocity of a joint [m/s or rad/s].
    JointVelocity(JointId),
    /// Force of all actuators on the only coordinate of a joint [N or N·m].
    JointActuatorForce(JointId),
    /// Orientation of a ball joint as a quaternion (w, x, y, z).
    BallOrientation(JointId),
    /// Angular velocity of a ball joint in the child's axes [rad/s].
    BallVelocity(JointId),
    /// Length of an actuator's transmission with its gear [m or rad].
    ActuatorPosition(ActuatorId),
    /// Rate of an actuator's transmission with its gear [m/s or rad/s].
    ActuatorVelocity(ActuatorId),
    /// Force of an actuator before its gear [N or N·m].
    ActuatorForce(ActuatorId),
    /// Length of a tendon [m or rad].
    TendonPosition(TendonId),
    /// Rate of a tendon [m/s or rad/s].
    TendonVelocity(TendonId),
    /// How far a joint is beyond the end of its range, with its margin, as a negative number [m or rad]; zero
    /// within it.
    JointLimitPosition(JointId),
    /// Rate at which a joint leaves the end of its range that it has reached [m/s or rad/s]; zero within it.
    JointLimitVelocity(JointId),
    /// Force of the limit of a joint in the last step [N or N·m].
    JointLimitForce(JointId),
    /// How far a tendon is beyond the end of its range, with its margin, as a negative number [m or rad]; zero
    /// within it.
    TendonLimitPosition(TendonId),
    /// Rate at which a tendon leaves the end of its range that it has reached [m/s or rad/s]; zero within it.
    TendonLimitVelocity(TendonId),
    /// Force of the limit of a tendon in the last step [N or N·m].
    TendonLimitForce(TendonId),
    /// Force of all actuators on a tendon, before their gears [N or N·m].
    TendonActuatorForce(TendonId),
    /// Centre of mass of a body with all that it carries, in the world [m].
    SubtreeCom(BodyId),
    /// Velocity of that centre of mass, in the world [m/s].
    SubtreeLinearVelocity(BodyId),
    /// Angular momentum of a body with all that it carries about their centre of mass, in the world
    /// [kg·m²/s].
    SubtreeAngularMomentum(BodyId),
    /// Whether the origin of a frame is in a volume: 1 or 0.
    Inside {
        /// The frame whose origin counts.
        of: SensorFrame,
        /// The frame of the volume.
        at: SensorFrame,
        /// The volume about its origin.
        volume: TouchVolume,
    },
    /// The shortest segment between shapes, whether or not they collide. The cutoff is the largest distance at
    /// which it is found.
    Separation {
        /// The shapes on both sides.
        between: [SensedShapes; 2],
        /// What is read of it.
        reads: SeparationReading,
    },
    /// Where the ray along the z-axis of a frame first meets a shape that is not on the frame's body.
    Rangefinder {
        /// The frame.
        at: SensorFrame,
        /// What is read of it.
        reads: RayReadings,
    },
    /// Contacts of the last step that satisfy conditions.
    Contact(ContactQuery),
    /// Kinetic energy of all that moves [J].
    KineticEnergy,
    /// Potential energy of weight and springs [J].
    PotentialEnergy,
    /// Time [s].
    Clock,
    /// Numbers that users compute; they are zero here.
    User {
        /// How many.
        dim: usize,
    },
}

/// Something that a sensor refers to.
pub(crate) enum SensorTarget<'a> {
    Actuator(&'a mut ActuatorId),
    Body(&'a mut BodyId),
    Frame(&'a mut SensorFrame),
    Geom(&'a mut usize),
    Joint(&'a mut JointId),
    Tendon(&'a mut TendonId),
}

impl SensorKind {
    /// Its name in [`SENSORS`].
    pub fn name(&self) -> &'static str {
        match self {
            Self::Accelerometer(_) => "accelerometer",
            Self::Gyro(_) => "gyro",
            Self::Velocimeter(_) => "velocimeter",
            Self::Force(_) => "force",
            Self::Torque(_) => "torque",
            Self::Magnetometer { .. } => "magnetometer",
            Self::Touch { .. } => "touch",
            Self::FramePosition { .. } => "framepos",
            Self::FrameOrientation { .. } => "framequat",
            Self::FrameAxis { axis: 0, .. } => "framexaxis",
            Self::FrameAxis { axis: 1, .. } => "frameyaxis",
            Self::FrameAxis { .. } => "framezaxis",
            Self::FrameLinearVelocity { .. } => "framelinvel",
            Self::FrameAngularVelocity { .. } => "frameangvel",
            Self::FrameLinearAcceleration { .. } => "framelinacc",
            Self::FrameAngularAcceleration { .. } => "frameangacc",
            Self::JointPosition(_) => "jointpos",
            Self::JointVelocity(_) => "jointvel",
            Self::JointActuatorForce(_) => "jointactuatorfrc",
            Self::BallOrientation(_) => "ballquat",
            Self::BallVelocity(_) => "ballangvel",
            Self::ActuatorPosition(_) => "actuatorpos",
            Self::ActuatorVelocity(_) => "actuatorvel",
            Self::ActuatorForce(_) => "actuatorfrc",
            Self::TendonPosition(_) => "tendonpos",
            Self::TendonVelocity(_) => "tendonvel",
            Self::JointLimitPosition(_) => "jointlimitpos",
            Self::JointLimitVelocity(_) => "jointlimitvel",
            Self::JointLimitForce(_) => "jointlimitfrc",
            Self::TendonLimitPosition(_) => "tendonlimitpos",
            Self::TendonLimitVelocity(_) => "tendonlimitvel",
            Self::TendonLimitForce(_) => "tendonlimitfrc",
            Self::TendonActuatorForce(_) => "tendonactuatorfrc",
            Self::SubtreeCom(_) => "subtreecom",
            Self::SubtreeLinearVelocity(_) => "subtreelinvel",
            Self::SubtreeAngularMomentum(_) => "subtreeangmom",
            Self::Inside { .. } => "insidesite",
            Self::Separation { reads: SeparationReading::Distance, .. } => "distance",
            Self::Separation { reads: SeparationReading::Normal, .. } => "normal",
            Self::Separation { reads: SeparationReading::Segment, .. } => "fromto",
            Self::Rangefinder { .. } => "rangefinder",
            Self::Contact(_) => "contact",
            Self::KineticEnergy => "e_kinetic",
            Self::PotentialEnergy => "e_potential",
            Self::Clock => "clock",
            Self::User { .. } => "user",
        }
    }

    /// Its line in [`SENSORS`].
    pub fn entry(&self) -> &'static SensorEntry {
        let index = SENSORS.partition_point(|entry| entry.name < self.name());
        &SENSORS[index]
    }

    /// Numbers in a reading.
    pub fn dim(&self) -> usize {
        match self {
            Self::Rangefinder { reads, .. } => reads.dim(),
            Self::Contact(query) => query.dim(),
            Self::User { dim } => *dim,
            _ => self.entry().dim,
        }
    }

    /// Whether a cutoff clamps it; axes and orientations are not clamped, since they have unit length, nor are
    /// those of several quantities.
    pub(super) fn is_clamped(&self) -> bool {
        !matches!(
            self,
            Self::FrameOrientation { .. }
                | Self::FrameAxis { .. }
                | Self::BallOrientation(_)
                | Self::Separation { .. }
                | Self::Contact(_)
        )
    }

    /// Whether it reads lengths, rates or limits of actuators, tendons or joints.
    pub(super) fn reads_lengths(&self) -> bool {
        matches!(
            self,
            Self::ActuatorPosition(_)
                | Self::ActuatorVelocity(_)
                | Self::TendonPosition(_)
                | Self::TendonVelocity(_)
                | Self::JointLimitPosition(_)
                | Self::JointLimitVelocity(_)
                | Self::TendonLimitPosition(_)
                | Self::TendonLimitVelocity(_)
        )
    }

    /// Whether it reads the wrench between a body and its parent.
    pub(super) fn reads_interaction(&self) -> bool {
        matches!(self, Self::Force(_) | Self::Torque(_))
    }

    /// Whether it reads forces of actuators.
    pub(super) fn reads_actuators(&self) -> bool {
        matches!(
            self,
            Self::ActuatorForce(_) | Self::JointActuatorForce(_) | Self::TendonActuatorForce(_)
        )
    }

    /// Whether it reads anything of the last step.
    pub(crate) fn reads_last_step(&self) -> bool {
        let other = matches!(
            self,
            Self::Accelerometer(_)
                | Self::FrameLinearAcceleration { .. }
                | Self::FrameAngularAcceleration { .. }
                | Self::Touch { .. }
                | Self::Contact(_)
                | Self::JointLimitForce(_)
                | Self::TendonLimitForce(_)
        );
        other || self.reads_interaction() || self.reads_actuators()
    }

    /// Calls `change` for everything that it refers to.
    pub(crate) fn each_target(
        &mut self,
        mut change: impl FnMut(SensorTarget) -> Result<(), WorldError>,
    ) -> Result<(), WorldError> {
        match self {
            Self::Accelerometer(frame)
            | Self::Gyro(frame)
            | Self::Velocimeter(frame)
            | Self::Force(frame)
            | Self::Torque(frame)
            | Self::Magnetometer { at: frame, .. }
            | Self::Touch { at: frame, .. }
            | Self::Rangefinder { at: frame, .. }
            | Self::FrameLinearAcceleration { of: frame }
            | Self::FrameAngularAcceleration { of: frame } => change(SensorTarget::Frame(frame)),
            Self::Inside { of, at, .. } => {
                change(SensorTarget::Frame(of))?;
                change(SensorTarget::Frame(at))
            }
            Self::FramePosition { of, seen_from }
            | Self::FrameOrientation { of, seen_from }
            | Self::FrameAxis { of, seen_from, .. }
            | Self::FrameLinearVelocity { of, seen_from }
            | Self::FrameAngularVelocity { of, seen_from } => {
                change(SensorTarget::Frame(of))?;
                seen_from.iter_mut().try_for_each(|frame| change(SensorTarget::Frame(frame)))
            }
            Self::JointPosition(joint)
            | Self::JointVelocity(joint)
            | Self::JointLimitPosition(joint)
            | Self::JointLimitVelocity(joint)
            | Self::JointActuatorForce(joint)
            | Self::JointLimitForce(joint)
            | Self::BallOrientation(joint)
            | Self::BallVelocity(joint) => change(SensorTarget::Joint(joint)),
            Self::ActuatorPosition(actuator)
            | Self::ActuatorVelocity(actuator)
            | Self::ActuatorForce(actuator) => change(SensorTarget::Actuator(actuator)),
            Self::TendonPosition(tendon)
            | Self::TendonVelocity(tendon)
            | Self::TendonLimitPosition(tendon)
            | Self::TendonLimitVelocity(tendon)
            | Self::TendonLimitForce(tendon)
            | Self::TendonActuatorForce(tendon) => change(SensorTarget::Tendon(tendon)),
            Self::SubtreeCom(body)
            | Self::SubtreeLinearVelocity(body)
            | Self::SubtreeAngularMomentum(body) => change(SensorTarget::Body(body)),
            Self::Separation { between, .. } => {
                between.iter_mut().try_for_each(|side| match side {
                    SensedShapes::Geom(geom) => change(SensorTarget::Geom(geom)),
                    SensedShapes::Body(body) => change(SensorTarget::Body(body)),
                })
            }
            Self::Contact(query) => query.each_target(change),
            Self::KineticEnergy | Self::PotentialEnergy | Self::Clock | Self::User { .. } => Ok(()),
        }
    }
}
