//! Declaration of a sensor: kind and frame, checked against the model.

use nalgebra::{Isometry3, Vector3};
use stiction_mech::{BodyId, DelaySpec, JointId, JointKind, Model};

use super::kind::{SensorKind, SensorTarget};
use crate::error::WorldError;
use crate::world::Renumber;

/// Numbers of one user sensor, at most.
const MOST_USER_NUMBERS: usize = 1_000_000;
/// Numbers in all samples of one sensor, at most.
const MOST_SAMPLED_NUMBERS: usize = 10_000_000;

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
    /// Samples of its readings, which it returns later or for a period; without them readings are those of the present.
    pub delay: Option<DelaySpec>,
}

impl SensorSpec {
    /// A sensor without cutoff and delay.
    pub fn new(name: impl Into<String>, kind: SensorKind) -> Self {
        Self { name: name.into(), kind, cutoff: 0.0, delay: None }
    }

    /// Converts the ids of the builder to those of the model.
    pub(crate) fn renumber(&mut self, to: &Renumber) -> Result<(), WorldError> {
        let name = &self.name;
        let owner = || format!("sensor \"{name}\"");
        self.kind.each_target(|target| {
            match target {
                SensorTarget::Actuator(actuator) => *actuator = to.actuator(*actuator, owner)?,
                SensorTarget::Body(body) => *body = to.body(*body, owner)?,
                SensorTarget::Frame(frame) => frame.body = to.body(frame.body, owner)?,
                SensorTarget::Joint(joint) => *joint = to.joint(*joint, owner)?,
                SensorTarget::Tendon(tendon) => *tendon = to.tendon(*tendon, owner)?,
                SensorTarget::Geom(_) => {}
            }
            Ok(())
        })
    }

    /// Checks it against the model and its number of shapes; its ids are those of the model.
    pub(crate) fn check(&mut self, model: &Model, geoms: usize) -> Result<(), WorldError> {
        let name = &self.name;
        let wrong =
            |what: String, expected| WorldError::Sensor { name: name.clone(), what, expected };
        let cutoff = self.cutoff;
        if !(cutoff >= 0.0 && cutoff.is_finite()) {
            return Err(wrong(format!("cutoff = {cutoff}"), "a finite number, not negative"));
        }
        if let Some((found, expected)) = self.delay.and_then(|delay| delay.wrong()) {
            return Err(wrong(found, expected));
        }
        if self.delay.is_some_and(|delay| delay.samples * self.kind.dim() > MOST_SAMPLED_NUMBERS) {
            return Err(wrong("too many samples".into(), "at most 10,000,000 numbers in all"));
        }
        self.kind.each_target(|target| match target {
            SensorTarget::Frame(frame) => {
                let numbers =
                    frame.pose.translation.vector.iter().chain(frame.pose.rotation.coords.iter());
                match numbers.copied().find(|x| !x.is_finite()) {
                    Some(found) => Err(wrong(format!("pose with {found}"), "finite numbers")),
                    None => Ok(()),
                }
            }
            SensorTarget::Geom(geom) if *geom >= geoms => {
                Err(wrong(format!("shape {geom} of {geoms}"), "the index of a shape"))
            }
            _ => Ok(()),
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
            SensorKind::Touch { volume, .. } | SensorKind::Inside { volume, .. } => {
                match volume.wrong_size() {
                    Some(found) => Err(wrong(format!("size {found}"), "positive numbers of m")),
                    None => Ok(()),
                }
            }
            SensorKind::Contact(query) => match query.wrong() {
                Some((found, expected)) => Err(wrong(found, expected)),
                None => Ok(()),
            },
            SensorKind::Rangefinder { reads, .. } if reads.dim() == 0 => {
                Err(wrong("no quantity".into(), "at least one quantity of the ray"))
            }
            SensorKind::User { dim } if !(1..=MOST_USER_NUMBERS).contains(&dim) => {
                Err(wrong(format!("{dim} numbers"), "1 to 1,000,000 numbers"))
            }
            _ => Ok(()),
        }
    }
}

impl TouchVolume {
    /// The first size that is not a positive finite number.
    pub(super) fn wrong_size(&self) -> Option<f64> {
        let sizes = match *self {
            Self::Sphere(r) => [r; 3],
            Self::Capsule { r, half } | Self::Cylinder { r, half } => [r, half, half],
            Self::Ellipsoid(sizes) | Self::Box(sizes) => sizes.into(),
        };
        sizes.into_iter().find(|size| !(*size > 0.0 && size.is_finite()))
    }

    /// Whether a point of its frame [m] is in it.
    pub(super) fn contains(&self, p: &Vector3<f64>) -> bool {
        let across = p.x.hypot(p.y);
        match *self {
            Self::Sphere(r) => p.norm() <= r,
            Self::Capsule { r, half } => (p - Vector3::z() * p.z.clamp(-half, half)).norm() <= r,
            Self::Ellipsoid(axes) => p.component_div(&axes).norm() <= 1.0,
            Self::Cylinder { r, half } => across <= r && p.z.abs() <= half,
            Self::Box(sides) => (0..3).all(|axis| p[axis].abs() <= sides[axis]),
        }
    }
}
