//! Declaration of a sensor: kind and frame, checked against the model.

use nalgebra::{Isometry3, Vector3};
use stiction_mech::{ActuatorId, BodyId, JointId, JointKind, Model, TendonId};

use super::{SENSORS, SensorEntry};
use crate::error::WorldError;
use crate::world::Renumber;

/// A frame that is fixed in a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SensorFrame {
    /// The body that carries it.
    pub body: BodyId,
    /// Pose in the frame of the body.
    pub pose: Isometry3<f64>,
}

impl SensorFrame {
    /// The frame of a body itself.
    pub fn of(body: BodyId) -> Self {
        Self { body, pose: Isometry3::identity() }
    }
}

/// A volume about the origin of a frame [m].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TouchVolume {
    /// A ball of this radius.
    Sphere(f64),
    /// A cylinder along z with half balls on its ends.
    Capsule {
        /// Radius.
        r: f64,
        /// Half the length of the cylinder.
        half: f64,
    },
    /// An ellipsoid with these semi-axes.
    Ellipsoid(Vector3<f64>),
    /// A cylinder along z.
    Cylinder {
        /// Radius.
        r: f64,
        /// Half the length.
        half: f64,
    },
    /// A box with these half-sides.
    Box(Vector3<f64>),
}

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
    /// Centre of mass of a body with all that it carries, in the world [m].
    SubtreeCom(BodyId),
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
            Self::SubtreeCom(_) => "subtreecom",
        }
    }

    /// Its line in [`SENSORS`].
    pub fn entry(&self) -> &'static SensorEntry {
        let index = SENSORS.partition_point(|entry| entry.name < self.name());
        &SENSORS[index]
    }

    /// Numbers in a reading.
    pub fn dim(&self) -> usize {
        self.entry().dim
    }

    /// Whether a cutoff clamps it; axes and orientations are not clamped, since they have unit length.
    pub(super) fn is_clamped(&self) -> bool {
        !matches!(
            self,
            Self::FrameOrientation { .. } | Self::FrameAxis { .. } | Self::BallOrientation(_)
        )
    }

    /// Whether it reads lengths or rates of actuators or tendons.
    pub(super) fn reads_lengths(&self) -> bool {
        matches!(
            self,
            Self::ActuatorPosition(_)
                | Self::ActuatorVelocity(_)
                | Self::TendonPosition(_)
                | Self::TendonVelocity(_)
        )
    }

    /// Whether it reads the wrench between a body and its parent.
    pub(super) fn reads_interaction(&self) -> bool {
        matches!(self, Self::Force(_) | Self::Torque(_))
    }

    /// Whether it reads forces of actuators.
    pub(super) fn reads_actuators(&self) -> bool {
        matches!(self, Self::ActuatorForce(_) | Self::JointActuatorForce(_))
    }

    /// Whether it reads anything of the last step.
    pub(super) fn reads_last_step(&self) -> bool {
        let other = matches!(
            self,
            Self::Accelerometer(_)
                | Self::FrameLinearAcceleration { .. }
                | Self::FrameAngularAcceleration { .. }
                | Self::Touch { .. }
        );
        other || self.reads_interaction() || self.reads_actuators()
    }

    /// Calls `change` for every frame.
    pub(crate) fn each_frame(
        &mut self,
        mut change: impl FnMut(&mut SensorFrame) -> Result<(), WorldError>,
    ) -> Result<(), WorldError> {
        match self {
            Self::Accelerometer(frame)
            | Self::Gyro(frame)
            | Self::Velocimeter(frame)
            | Self::Force(frame)
            | Self::Torque(frame)
            | Self::Magnetometer { at: frame, .. }
            | Self::Touch { at: frame, .. }
            | Self::FrameLinearAcceleration { of: frame }
            | Self::FrameAngularAcceleration { of: frame } => change(frame),
            Self::FramePosition { of, seen_from }
            | Self::FrameOrientation { of, seen_from }
            | Self::FrameAxis { of, seen_from, .. }
            | Self::FrameLinearVelocity { of, seen_from }
            | Self::FrameAngularVelocity { of, seen_from } => {
                change(of)?;
                seen_from.iter_mut().try_for_each(change)
            }
            _ => Ok(()),
        }
    }
}

/// Declaration of a sensor.
#[derive(Clone, Debug, PartialEq)]
pub struct SensorSpec {
    /// Name, empty or different from all others.
    pub name: String,
    /// The quantity that it reads, and its location.
    pub kind: SensorKind,
    /// Largest size of each number of a reading, in its unit; zero for none. Axes and quaternions
    /// are never clamped.
    pub cutoff: f64,
}

impl SensorSpec {
    /// A sensor without cutoff.
    pub fn new(name: impl Into<String>, kind: SensorKind) -> Self {
        Self { name: name.into(), kind, cutoff: 0.0 }
    }

    /// Converts the ids of the builder to those of the model.
    pub(crate) fn renumber(&mut self, to: &Renumber) -> Result<(), WorldError> {
        let name = &self.name;
        let owner = || format!("sensor \"{name}\"");
        self.kind.each_frame(|frame| {
            frame.body = to.body(frame.body, owner)?;
            Ok(())
        })?;
        match &mut self.kind {
            SensorKind::JointPosition(joint)
            | SensorKind::JointVelocity(joint)
            | SensorKind::JointActuatorForce(joint)
            | SensorKind::BallOrientation(joint)
            | SensorKind::BallVelocity(joint) => *joint = to.joint(*joint, owner)?,
            SensorKind::ActuatorPosition(actuator)
            | SensorKind::ActuatorVelocity(actuator)
            | SensorKind::ActuatorForce(actuator) => *actuator = to.actuator(*actuator, owner)?,
            SensorKind::TendonPosition(tendon) | SensorKind::TendonVelocity(tendon) => {
                *tendon = to.tendon(*tendon, owner)?;
            }
            SensorKind::SubtreeCom(body) => *body = to.body(*body, owner)?,
            _ => {}
        }
        Ok(())
    }

    /// Checks it against the model; its ids are those of the model.
    pub(crate) fn check(&mut self, model: &Model) -> Result<(), WorldError> {
        let name = &self.name;
        let wrong =
            |what: String, expected| WorldError::Sensor { name: name.clone(), what, expected };
        let cutoff = self.cutoff;
        if !(cutoff >= 0.0 && cutoff.is_finite()) {
            return Err(wrong(format!("cutoff = {cutoff}"), "a finite number, not negative"));
        }
        self.kind.each_frame(|frame| {
            let numbers =
                frame.pose.translation.vector.iter().chain(frame.pose.rotation.coords.iter());
            match numbers.copied().find(|x| !x.is_finite()) {
                Some(found) => Err(wrong(format!("pose with {found}"), "finite numbers")),
                None => Ok(()),
            }
        })?;
        let is_scalar = |joint: JointId| model.joints()[joint.0].dofs.len() == 1;
        let is_ball = |joint: JointId| model.joints()[joint.0].spec.kind == JointKind::Ball;
        let kind_of = |joint: JointId| {
            let spec = &model.joints()[joint.0].spec;
            format!("joint \"{}\" is of kind {}", spec.name, spec.kind.entry().name)
        };
        match self.kind {
            SensorKind::JointPosition(joint)
            | SensorKind::JointVelocity(joint)
            | SensorKind::JointActuatorForce(joint)
                if !is_scalar(joint) =>
            {
                Err(wrong(kind_of(joint), "a joint of one coordinate"))
            }
            SensorKind::BallOrientation(joint) | SensorKind::BallVelocity(joint)
                if !is_ball(joint) =>
            {
                Err(wrong(kind_of(joint), "a ball joint"))
            }
            SensorKind::FrameAxis { axis, .. } if axis > 2 => {
                Err(wrong(format!("axis {axis}"), "0, 1 or 2"))
            }
            SensorKind::Magnetometer { field, .. } if !field.iter().all(|x| x.is_finite()) => {
                Err(wrong(format!("field {field:?}"), "finite numbers"))
            }
            SensorKind::Touch { volume, .. } => match volume.wrong_size() {
                Some(found) => Err(wrong(format!("size {found}"), "positive numbers of m")),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }
}

impl TouchVolume {
    /// The first size that is not a positive finite number.
    fn wrong_size(&self) -> Option<f64> {
        let sizes = match *self {
            Self::Sphere(r) => [r; 3],
            Self::Capsule { r, half } | Self::Cylinder { r, half } => [r, half, half],
            Self::Ellipsoid(sizes) | Self::Box(sizes) => sizes.into(),
        };
        sizes.into_iter().find(|size| !(*size > 0.0 && size.is_finite()))
    }
}
