//! Actuators: a scalar force law and the transmission through which it acts.
//!
//! An actuator measures a length ℓ and its rate ℓ̇ through its transmission, scaled by its gear. Its
//! force is f = gain·u + b₀ + b₁ ℓ + b₂ ℓ̇, clamped to its range; the transmission's Jacobian times
//! the gear maps f to generalized forces. This is MuJoCo's affine actuator without activation
//! states. [`crate::force`] determines which part of it a step treats implicitly.

use crate::body::BodyId;
use crate::force::ForceError;
use crate::force::error::SpecCheck;
use crate::joint::JointId;
use crate::model::Model;
use crate::tendon::{TendonId, compile};
use nalgebra::{Vector3, Vector6};

/// Index of an actuator of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActuatorId(pub usize);

/// The quantity that an actuator measures and acts on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Transmission {
    /// The only coordinate of a joint (hinge, slide, screw).
    Joint(JointId),
    /// One velocity coordinate of a joint; of a rotation, the component of its rotation vector.
    JointDof(JointId, usize),
    /// The length of a tendon.
    Tendon(TendonId),
    /// A wrench that is fixed in a body. It has a rate but no length.
    Body {
        /// The body that the wrench acts on.
        body: BodyId,
        /// Point of application in the body's frame [m].
        point: Vector3<f64>,
        /// Torque [N·m] and force [N] per unit of actuator force, in the body's axes, angular first.
        wrench: Vector6<f64>,
    },
}

/// Force f of an actuator as a function of its control u, length ℓ and rate ℓ̇.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ActuatorLaw {
    /// f = u: the control is the force [N or N·m].
    Motor,
    /// f = kp (u − ℓ) − kd ℓ̇: the control is the desired length [m or rad].
    Position {
        /// Stiffness [N/m or N·m/rad], not negative.
        kp: f64,
        /// Damping [N·s/m or N·m·s/rad], not negative.
        kd: f64,
    },
    /// f = kd (u − ℓ̇): the control is the desired rate [m/s or rad/s].
    Velocity {
        /// Damping [N·s/m or N·m·s/rad], not negative.
        kd: f64,
    },
    /// f = gain·u + b₀ + b₁ ℓ + b₂ ℓ̇.
    Affine {
        /// Force per unit of control.
        gain: f64,
        /// b₀, b₁ (per length), b₂ (per rate).
        bias: [f64; 3],
    },
}

impl ActuatorLaw {
    /// The law as gain and bias, the form of all of them.
    pub fn affine(&self) -> (f64, [f64; 3]) {
        match *self {
            Self::Motor => (1.0, [0.0; 3]),
            Self::Position { kp, kd } => (kp, [0.0, -kp, -kd]),
            Self::Velocity { kd } => (kd, [0.0, 0.0, -kd]),
            Self::Affine { gain, bias } => (gain, bias),
        }
    }

    /// Force before its clamp, for a control, a length and its rate.
    pub fn force(&self, control: f64, length: f64, rate: f64) -> f64 {
        let (gain, [b_0, b_length, b_rate]) = self.affine();
        gain * control + b_0 + b_length * length + b_rate * rate
    }
}

/// An actuator as its author describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct ActuatorSpec {
    /// Name, for messages and look-up.
    pub name: String,
    /// Where it acts.
    pub transmission: Transmission,
    /// Scales length and rate as measured and force as applied [-].
    pub gear: f64,
    /// Force law.
    pub law: ActuatorLaw,
    /// Controls outside are clamped to it.
    pub control_range: Option<(f64, f64)>,
    /// Forces outside are clamped to it [N or N·m], before the gear.
    pub force_range: Option<(f64, f64)>,
}

impl ActuatorSpec {
    /// A motor of unit gear and unlimited force.
    pub fn motor(name: impl Into<String>, transmission: Transmission) -> Self {
        Self {
            name: name.into(),
            transmission,
            gear: 1.0,
            law: ActuatorLaw::Motor,
            control_range: None,
            force_range: None,
        }
    }

    /// A servo that holds a length with stiffness `kp` and damping `kd`.
    pub fn position(name: impl Into<String>, on: Transmission, kp: f64, kd: f64) -> Self {
        Self { law: ActuatorLaw::Position { kp, kd }, ..Self::motor(name, on) }
    }

    /// A servo that holds a rate with damping `kd`.
    pub fn velocity(name: impl Into<String>, on: Transmission, kd: f64) -> Self {
        Self { law: ActuatorLaw::Velocity { kd }, ..Self::motor(name, on) }
    }

    /// The control clamped to its range, as it enters the force law.
    pub fn clamp_control(&self, control: f64) -> f64 {
        self.control_range.map_or(control, |(lower, upper)| control.clamp(lower, upper))
    }

    /// Bounds of the force [N or N·m], infinite without a force range.
    pub fn force_bounds(&self) -> (f64, f64) {
        self.force_range.unwrap_or((f64::NEG_INFINITY, f64::INFINITY))
    }

    /// Checks every number that does not depend on the rest of the model.
    pub(crate) fn check(&self) -> Result<(), ForceError> {
        let check = SpecCheck { what: "actuator", name: &self.name };
        check.finite("gear", self.gear)?;
        match self.law {
            ActuatorLaw::Motor => {}
            ActuatorLaw::Position { kp, kd } => {
                check.not_negative("kp", kp)?;
                check.not_negative("kd", kd)?;
            }
            ActuatorLaw::Velocity { kd } => check.not_negative("kd", kd)?,
            ActuatorLaw::Affine { gain, bias: [b_0, b_length, b_velocity] } => {
                check.finite("gain", gain)?;
                check.finite("bias b0", b_0)?;
                check.finite("bias b_length", b_length)?;
                check.finite("bias b_velocity", b_velocity)?;
            }
        }
        if let Some(range) = self.control_range {
            check.range("control range", range)?;
        }
        if let Some(range) = self.force_range {
            check.range("force range", range)?;
        }
        if let Transmission::Body { point, wrench, .. } = &self.transmission {
            point.iter().try_for_each(|x| check.finite("point of application", *x))?;
            wrench.iter().try_for_each(|x| check.finite("wrench", *x))?;
            let (_, [_, b_length, _]) = self.law.affine();
            check.require(
                b_length == 0.0,
                "stiffness on a body",
                b_length,
                "none, since the transmission has no length",
            )?;
        }
        Ok(())
    }
}

/// An actuator of a model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Actuator {
    /// The declaration, with bodies and joints in the model's numbering.
    pub spec: ActuatorSpec,
    /// The transmission by indices of the model.
    pub(crate) resolved: ResolvedTransmission,
}

/// A transmission, resolved in a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ResolvedTransmission {
    /// A coordinate and its velocity.
    Scalar { q: usize, dof: usize },
    /// A component of the rotation vector of a quaternion, and its velocity.
    Rotation { quaternion: usize, component: usize, dof: usize },
    /// A tendon.
    Tendon(usize),
    /// A wrench fixed in a body.
    Body { body: BodyId, point: Vector3<f64>, wrench: Vector6<f64> },
}

impl Actuator {
    /// Checks a declaration against the model and resolves its transmission.
    pub(crate) fn compile(
        model: &Model,
        mut spec: ActuatorSpec,
        check: &SpecCheck<'_>,
        n_tendons: usize,
    ) -> Result<Self, ForceError> {
        spec.check()?;
        let resolved = match &mut spec.transmission {
            Transmission::Joint(id) => {
                compile::renumber_joint(model, check, id)?;
                let joint = compile::scalar_joint(model, check, *id)?;
                ResolvedTransmission::Scalar { q: joint.q.start, dof: joint.dofs.start }
            }
            Transmission::JointDof(id, k) => {
                compile::renumber_joint(model, check, id)?;
                let joint = &model.joints()[id.0];
                if *k >= joint.dofs.len() {
                    return Err(ForceError::NoSuchDof {
                        who: check.who(),
                        joint: joint.spec.name.clone(),
                        found: *k,
                        dofs: joint.dofs.len(),
                    });
                }
                let dof = joint.dofs.start + *k;
                // The rotation comes last among the velocities, after as many scalars as precede
                // the quaternion among the coordinates.
                match joint.spec.kind.quaternion().filter(|scalars| *k >= *scalars) {
                    None => ResolvedTransmission::Scalar { q: joint.q.start + *k, dof },
                    Some(scalars) => ResolvedTransmission::Rotation {
                        quaternion: joint.q.start + scalars,
                        component: *k - scalars,
                        dof,
                    },
                }
            }
            Transmission::Tendon(id) => {
                check.known("tendon", id.0, n_tendons)?;
                ResolvedTransmission::Tendon(id.0)
            }
            Transmission::Body { body, point, wrench } => {
                compile::renumber_body(model, check, body)?;
                ResolvedTransmission::Body { body: *body, point: *point, wrench: *wrench }
            }
        };
        Ok(Self { spec, resolved })
    }
}
