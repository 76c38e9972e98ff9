//! Actuators: a scalar force law and the transmission through which it acts.
//!
//! An actuator measures a length ℓ and its rate ℓ̇ through its transmission, scaled by its gear. Its
//! force is f = gain·u + b₀ + b₁ ℓ + b₂ ℓ̇, clamped to its range; the transmission's Jacobian times
//! the gear maps f to generalized forces. Gain and bias may be those of a [`Muscle`], and u may be an
//! activation ([`ActivationSpec`]) that follows the control. [`crate::force`] determines which part of it a
//! step treats implicitly.

use crate::activation::ActivationSpec;
use crate::body::BodyId;
use crate::delay::DelaySpec;
use crate::force::ForceError;
use crate::force::error::SpecCheck;
use crate::joint::{JointId, JointKind};
use crate::model::Model;
use crate::muscle::Muscle;
use crate::pid::PidController;
use crate::tendon::{TendonId, compile};
use crate::two_frame_transmission::{SitePair, SliderCrank};
use nalgebra::{Vector3, Vector6};
use std::ops::Range;

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
    /// Several directions of a ball joint or a free joint.
    JointWrench(JointWrench),
    /// The length of a tendon.
    Tendon(TendonId),
    /// A site relative to a reference site.
    Sites(SitePair),
    /// A slider-crank.
    SliderCrank(SliderCrank),
    /// Adhesion of a body: the force pulls at its contacts, along their normals, and is shared by them. It has
    /// neither length nor rate. Contacts are not known here: the simulation applies the force.
    Contacts(BodyId),
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

impl Transmission {
    /// Whether it measures a length: otherwise no force law may depend on one.
    pub fn has_length(&self) -> bool {
        !matches!(self, Self::Contacts(_) | Self::Body { .. })
    }
}

/// A force and a torque on a ball joint or a free joint, per unit of actuator force. The length is the rotation
/// vector of a ball joint times the torque; a free joint has none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointWrench {
    /// The joint.
    pub joint: JointId,
    /// Force on the translation of a free joint; zero for a ball joint.
    pub force: Vector3<f64>,
    /// Torque on the rotation.
    pub torque: Vector3<f64>,
    /// Whether the torque is in the frame of the parent and not in that of the body.
    pub in_parent: bool,
}

/// Force per unit of the signal u.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ActuatorGain {
    /// g₀ + g₁ ℓ + g₂ ℓ̇.
    Affine([f64; 3]),
    /// Active force of a muscle.
    Muscle(Muscle),
}

/// Force without signal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ActuatorBias {
    /// b₀ + b₁ ℓ + b₂ ℓ̇.
    Affine([f64; 3]),
    /// Passive force of a muscle.
    Muscle(Muscle),
}

/// Force f of an actuator as a function of its signal u, length ℓ and rate ℓ̇. The signal is the control
/// or, of an actuator with one, the activation.
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
    /// f = gain(ℓ, ℓ̇)·u + bias(ℓ, ℓ̇).
    General {
        /// Force per unit of the signal.
        gain: ActuatorGain,
        /// Force without signal.
        bias: ActuatorBias,
    },
}

impl ActuatorLaw {
    /// The law as gain and bias, if it is linear in signal, length and rate.
    pub fn affine(&self) -> Option<(f64, [f64; 3])> {
        match *self {
            Self::Motor => Some((1.0, [0.0; 3])),
            Self::Position { kp, kd } => Some((kp, [0.0, -kp, -kd])),
            Self::Velocity { kd } => Some((kd, [0.0, 0.0, -kd])),
            Self::Affine { gain, bias } => Some((gain, bias)),
            Self::General { .. } => None,
        }
    }

    /// Force before its clamp, for a signal, a length and its rate.
    pub fn force(&self, signal: f64, length: f64, rate: f64) -> f64 {
        self.force_and_slopes(signal, length, rate).0
    }

    /// Force before its clamp, and its slopes over length and rate.
    pub fn force_and_slopes(&self, signal: f64, length: f64, rate: f64) -> (f64, [f64; 2]) {
        let along = |[b_0, b_length, b_rate]: [f64; 3]| {
            (b_0 + b_length * length + b_rate * rate, [b_length, b_rate])
        };
        let (gain, bias) = match *self {
            Self::General { gain, bias } => (gain, bias),
            _ => {
                let (gain, bias) = self.affine().unwrap_or_default();
                let (force, slopes) = along(bias);
                return (gain * signal + force, slopes);
            }
        };
        let (gain, gain_slopes) = match gain {
            ActuatorGain::Affine(gain) => along(gain),
            ActuatorGain::Muscle(muscle) => muscle.gain(length, rate),
        };
        let (bias, bias_slopes) = match bias {
            ActuatorBias::Affine(bias) => along(bias),
            ActuatorBias::Muscle(muscle) => {
                let (force, slope) = muscle.bias(length);
                (force, [slope, 0.0])
            }
        };
        let slope = |k: usize| gain_slopes[k] * signal + bias_slopes[k];
        (gain * signal + bias, [slope(0), slope(1)])
    }

    /// Whether force and slopes involve the curves of a muscle.
    pub fn is_muscle(&self) -> bool {
        matches!(self, Self::General { gain: ActuatorGain::Muscle(_), .. })
            || matches!(self, Self::General { bias: ActuatorBias::Muscle(_), .. })
    }

    /// Whether the force depends on the length.
    fn has_length(&self) -> bool {
        match self {
            Self::General { gain, bias } => {
                !matches!(gain, ActuatorGain::Affine([_, 0.0, _]))
                    || !matches!(bias, ActuatorBias::Affine([_, 0.0, _]))
            }
            _ => self.affine().is_some_and(|(_, [_, b_length, _])| b_length != 0.0),
        }
    }

    /// Checks the numbers.
    fn check(&self, check: &SpecCheck<'_>) -> Result<(), ForceError> {
        let all = |what: [&'static str; 3], numbers: [f64; 3]| {
            what.into_iter().zip(numbers).try_for_each(|(what, x)| check.finite(what, x))
        };
        let bias_names = ["bias b0", "bias b_length", "bias b_velocity"];
        let muscle_is_finite = |m: &Muscle| {
            let Muscle { length_range, range, .. } = m;
            let rest = [m.peak_force, m.shortest, m.longest, m.fastest, m.passive, m.lengthening];
            let mut numbers = length_range.iter().chain(range).chain(&rest);
            numbers.try_for_each(|x| check.finite("parameter of the muscle", *x))
        };
        match self {
            Self::Motor => Ok(()),
            Self::Position { kp, kd } => {
                check.not_negative("kp", *kp)?;
                check.not_negative("kd", *kd)
            }
            Self::Velocity { kd } => check.not_negative("kd", *kd),
            Self::Affine { gain, bias } => {
                check.finite("gain", *gain)?;
                all(bias_names, *bias)
            }
            Self::General { gain, bias } => {
                match gain {
                    ActuatorGain::Affine(gain) => all(["gain g0", "gain g1", "gain g2"], *gain)?,
                    ActuatorGain::Muscle(muscle) => muscle_is_finite(muscle)?,
                }
                match bias {
                    ActuatorBias::Affine(bias) => all(bias_names, *bias),
                    ActuatorBias::Muscle(muscle) => muscle_is_finite(muscle),
                }
            }
        }
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
    /// State between control and force law; without it the control is the signal of the law.
    pub activation: Option<ActivationSpec>,
    /// Controller of a PID servo, which has several controls and activations of its own; the control range is that of
    /// the desired length. The law has the gain 1, and its bias is the feedback of length and rate.
    pub pid: Option<PidController>,
    /// Samples of the controls: with a delay, controls act later.
    pub delay: Option<DelaySpec>,
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
            activation: None,
            pid: None,
            delay: None,
        }
    }

    /// Number of controls.
    pub fn control_count(&self) -> usize {
        self.pid.as_ref().map_or(1, PidController::control_count)
    }

    /// Number of activations.
    pub fn activation_count(&self) -> usize {
        match &self.pid {
            Some(pid) => pid.activation_count(),
            None => usize::from(self.activation.is_some()),
        }
    }

    /// Range of each of its controls.
    pub fn control_ranges(&self) -> impl Iterator<Item = Option<(f64, f64)>> {
        let pid = self.pid.iter().flat_map(|pid| pid.control_ranges(self.control_range));
        let one = std::iter::once(self.control_range).filter(|_| self.pid.is_none());
        pid.chain(one)
    }

    /// The signal of the force law: the control within its range, the activation, or what the controller of a PID
    /// servo computes. `activation` holds the activations of the actuator, or none if all are zero.
    pub fn signal(&self, controls: &[f64], activation: &[f64]) -> f64 {
        let first = |of: &[f64]| of.first().copied().unwrap_or(0.0);
        if let Some(pid) = &self.pid {
            let (_, bias) = self.law.affine().unwrap_or_default();
            return pid.signal(pid.inputs(self.control_range, controls), bias, activation);
        }
        match self.activation {
            Some(_) => first(activation),
            None => self.clamp_control(first(controls)),
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
        self.law.check(&check)?;
        if let Some(activation) = &self.activation {
            activation.check(&check)?;
        }
        if let Some(pid) = &self.pid {
            pid.check(&check)?;
        }
        if let Some(delay) = self.delay.filter(|delay| delay.wrong().is_some()) {
            let (who, what, found) = (check.who(), "delay", delay.delay);
            let expected = "not negative, with 1 to 1,000,000 samples";
            return Err(ForceError::Number { who, what, found, expected });
        }
        if let Some(range) = self.control_range {
            check.range("control range", range)?;
        }
        if let Some(range) = self.force_range {
            check.range("force range", range)?;
        }
        self.check_transmission(&check)
    }

    /// Checks the numbers of the transmission, and that the law does not need a length that it lacks.
    fn check_transmission(&self, check: &SpecCheck<'_>) -> Result<(), ForceError> {
        match &self.transmission {
            Transmission::Joint(_) | Transmission::JointDof(..) | Transmission::Tendon(_) => {
                return Ok(());
            }
            Transmission::JointWrench(wrench) => {
                let mut numbers = wrench.force.iter().chain(wrench.torque.iter());
                return numbers.try_for_each(|x| check.finite("wrench", *x));
            }
            Transmission::Sites(pair) => {
                pair.site.check(check)?;
                pair.reference.check(check)?;
                let mut numbers = pair.force.iter().chain(pair.torque.iter());
                return numbers.try_for_each(|x| check.finite("wrench", *x));
            }
            Transmission::SliderCrank(pair) => {
                pair.crank.check(check)?;
                pair.slider.check(check)?;
                return check.positive("length of the rod", pair.rod);
            }
            Transmission::Contacts(_) => {}
            Transmission::Body { point, wrench, .. } => {
                point.iter().try_for_each(|x| check.finite("point of application", *x))?;
                wrench.iter().try_for_each(|x| check.finite("wrench", *x))?;
            }
        }
        if self.law.has_length() {
            return Err(ForceError::NoLength { who: check.who() });
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
    /// Indices of its controls in [`Input::control`](crate::Input::control).
    pub controls: Range<usize>,
    /// Indices of its activations in [`State::activation`](crate::State::activation).
    pub activations: Range<usize>,
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
    /// Directions of a ball joint or a free joint.
    JointWrench(JointWrench),
    /// A tendon.
    Tendon(usize),
    /// A site relative to another.
    Sites(SitePair),
    /// A slider-crank.
    SliderCrank(SliderCrank),
    /// Adhesion.
    Contacts,
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
            Transmission::JointWrench(wrench) => {
                compile::renumber_joint(model, check, &mut wrench.joint)?;
                let joint = &model.joints()[wrench.joint.0];
                if !matches!(joint.spec.kind, JointKind::Ball | JointKind::Free) {
                    return Err(ForceError::NotRotation {
                        who: check.who(),
                        joint: joint.spec.name.clone(),
                        kind: joint.spec.kind.entry().name,
                    });
                }
                ResolvedTransmission::JointWrench(*wrench)
            }
            Transmission::Tendon(id) => {
                check.known("tendon", id.0, n_tendons)?;
                ResolvedTransmission::Tendon(id.0)
            }
            Transmission::Sites(pair) => {
                compile::renumber_body(model, check, &mut pair.site.body)?;
                compile::renumber_body(model, check, &mut pair.reference.body)?;
                ResolvedTransmission::Sites(*pair)
            }
            Transmission::SliderCrank(pair) => {
                compile::renumber_body(model, check, &mut pair.crank.body)?;
                compile::renumber_body(model, check, &mut pair.slider.body)?;
                ResolvedTransmission::SliderCrank(*pair)
            }
            Transmission::Contacts(body) => {
                compile::renumber_body(model, check, body)?;
                ResolvedTransmission::Contacts
            }
            Transmission::Body { body, point, wrench } => {
                compile::renumber_body(model, check, body)?;
                ResolvedTransmission::Body { body: *body, point: *point, wrench: *wrench }
            }
        };
        Ok(Self { spec, controls: 0..0, activations: 0..0, resolved })
    }
}
