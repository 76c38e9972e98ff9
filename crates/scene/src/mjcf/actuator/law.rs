//! Force law of an actuator: gain, bias and activation, from the layers of its defaults.
//!
//! All shortcuts set the same members: `f = gain(ℓ, ℓ̇) a + bias(ℓ, ℓ̇)`, where a is the control or an
//! activation that follows it. A layer of another shortcut than the one before starts from MuJoCo's
//! defaults; `general` refines whatever came before, and what it leaves is refined by the next.

use stiction_mech::{ActivationDynamics, DelaySpec, MuscleActivation};

use super::super::delay::{self, DelayAttributes};
use super::dcmotor::MotorAttributes;
use super::pid::{PidInputs, PluginInstances};
use crate::error::SceneError;
use crate::xml::Element;

/// Parameters of muscles in MuJoCo: range, force, scale, lmin, lmax, vmax, fpmax, fvmax.
const MUSCLE: [f64; 10] = [0.75, 1.05, -1.0, 200.0, 0.5, 1.6, 1.5, 1.3, 1.2, 0.0];
/// Time constants of the activation of muscles in MuJoCo, and their smoothing.
const MUSCLE_TIMES: [f64; 3] = [0.01, 0.04, 0.0];

/// Gain or bias of a law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum LawTerm {
    /// An affine function of length and rate.
    Affine([f64; 3]),
    /// Force of a muscle, by MuJoCo's parameters.
    Muscle([f64; 10]),
}

/// Where the force comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ForceSource {
    /// No bias, or a fixed gain.
    Plain,
    /// An affine function of length and rate.
    Affine,
    /// A muscle.
    Muscle,
    /// The gain of a PID servo.
    Pid,
    /// A callback of a program; none is known here, as in MuJoCo without one.
    User,
    /// Something else.
    Other(&'static str),
}

/// Activation dynamics between control and force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dynamics {
    None,
    Integrator,
    Filter,
    FilterExact,
    Muscle,
    /// Setpoint and integral of a PID servo.
    Pid,
    /// A callback of a program; without one, the activation stays.
    User,
    /// Something else.
    Other(&'static str),
}

/// Members that all shortcuts share.
#[derive(Clone, Debug)]
pub(super) struct Law {
    /// The last shortcut other than `general`.
    shortcut: Option<String>,
    pub dynamics: Dynamics,
    pub times: [f64; 10],
    pub gain_source: ForceSource,
    pub gain: [f64; 10],
    pub bias_source: ForceSource,
    pub bias: [f64; 10],
    /// Share of the range of what is moved that becomes the range of the control.
    pub inherit: f64,
    /// Inputs of a PID servo.
    pub inputs: PidInputs,
    /// Attributes of an electric motor.
    pub motor: MotorAttributes,
    pub gear: [f64; 6],
    pub group: i64,
    pub control_range: Option<(f64, f64)>,
    pub control_limited: Option<bool>,
    pub force_range: Option<(f64, f64)>,
    pub force_limited: Option<bool>,
    pub activation_range: Option<(f64, f64)>,
    pub activation_limited: Option<bool>,
    /// Whether the force law reads the activation at the end of the step.
    pub early: bool,
    /// Inertia and damping on the side of the actuator.
    pub armature: f64,
    pub damping: f64,
    /// Length of the rod of a slider-crank [m].
    pub rod: f64,
    /// Range of the length, for muscles.
    pub length_range: Option<(f64, f64)>,
    /// Samples of the controls.
    pub delay: Option<DelaySpec>,
    delay_attributes: DelayAttributes,
    /// Unsupported parts, while the rest is supported.
    pub lost: Vec<String>,
}

impl Default for Law {
    fn default() -> Self {
        let (mut gain, mut times) = ([0.0; 10], [0.0; 10]);
        (gain[0], times[0]) = (1.0, 1.0);
        Self {
            shortcut: None,
            dynamics: Dynamics::None,
            times,
            gain_source: ForceSource::Plain,
            gain,
            bias_source: ForceSource::Plain,
            bias: [0.0; 10],
            inherit: 0.0,
            inputs: PidInputs::default(),
            motor: MotorAttributes::default(),
            gear: [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            group: 0,
            control_range: None,
            control_limited: None,
            force_range: None,
            force_limited: None,
            activation_range: None,
            activation_limited: None,
            early: false,
            armature: 0.0,
            damping: 0.0,
            rod: 0.0,
            length_range: None,
            delay: None,
            delay_attributes: DelayAttributes::default(),
            lost: Vec::new(),
        }
    }
}

impl Law {
    /// The law that layers make, weakest first.
    pub fn of(layers: &[&Element], plugins: &PluginInstances) -> Result<Self, SceneError> {
        let mut law = Self::default();
        for (index, layer) in layers.iter().enumerate() {
            law.common(layer)?;
            law.apply(layer, plugins, index + 1 == layers.len())?;
        }
        Ok(law)
    }

    /// Whether the bias is affine.
    pub fn is_affine(&self) -> bool {
        self.bias_source == ForceSource::Affine
    }

    /// Share of the range of what is moved that becomes that of the control, or of the activation of an
    /// integrator, for servos.
    pub fn inherited_range(&self) -> Option<f64> {
        let is_pid = self.gain_source == ForceSource::Pid;
        let servo = self.is_affine() && (is_pid || self.gain[0] == -self.bias[1]);
        Some(self.inherit).filter(|share| *share > 0.0 && servo)
    }

    /// Whether the control is the rate of the activation.
    pub fn integrates(&self) -> bool {
        self.dynamics == Dynamics::Integrator
    }

    /// Gain and bias, or what they are instead.
    pub fn terms(&self) -> Result<(LawTerm, LawTerm), String> {
        if let Dynamics::Other(what) = self.dynamics {
            return Err(what.to_owned());
        }
        let affine = |numbers: &[f64; 10]| LawTerm::Affine([numbers[0], numbers[1], numbers[2]]);
        let gain = match self.gain_source {
            ForceSource::Other(what) => return Err(what.to_owned()),
            ForceSource::Affine => affine(&self.gain),
            ForceSource::Plain => LawTerm::Affine([self.gain[0], 0.0, 0.0]),
            ForceSource::User | ForceSource::Pid => LawTerm::Affine([1.0, 0.0, 0.0]),
            ForceSource::Muscle => LawTerm::Muscle(self.gain),
        };
        let bias = match self.bias_source {
            ForceSource::Other(what) => return Err(what.to_owned()),
            ForceSource::Affine => affine(&self.bias),
            ForceSource::Plain | ForceSource::User | ForceSource::Pid => LawTerm::Affine([0.0; 3]),
            ForceSource::Muscle => LawTerm::Muscle(self.bias),
        };
        Ok((gain, bias))
    }

    /// Dynamics of the activation, if there is one.
    pub fn activation(&self) -> Option<ActivationDynamics> {
        let [time_constant, fall, smoothing, ..] = self.times;
        match self.dynamics {
            Dynamics::None | Dynamics::Pid | Dynamics::Other(_) => None,
            Dynamics::Integrator => Some(ActivationDynamics::Integrator),
            Dynamics::Filter => Some(ActivationDynamics::Filter { time_constant, exact: false }),
            Dynamics::FilterExact => {
                Some(ActivationDynamics::Filter { time_constant, exact: true })
            }
            Dynamics::Muscle => {
                let rise = time_constant;
                Some(ActivationDynamics::Muscle(MuscleActivation { rise, fall, smoothing }))
            }
            Dynamics::User => Some(ActivationDynamics::Constant),
        }
    }

    /// Attributes of every shortcut.
    fn common(&mut self, layer: &Element) -> Result<(), SceneError> {
        self.gear = layer.array_or("gear", self.gear)?;
        self.group = layer.integer("group")?.unwrap_or(self.group);
        let inherit = layer.number("inheritrange")?;
        if let Some(range) = range(layer, "ctrlrange")? {
            if inherit.is_some_and(|share| share > 0.0) {
                return Err(layer.error("ctrlrange and inheritrange; expected one of the two"));
            }
            (self.control_range, self.inherit) = (Some(range), 0.0);
        }
        if let Some(share) = inherit {
            if !(share >= 0.0) {
                return Err(layer.wrong("inheritrange", "a number that is not negative"));
            }
            self.inherit = share;
        }
        self.force_range = range(layer, "forcerange")?.or(self.force_range);
        self.control_limited = said(layer, "ctrllimited")?.unwrap_or(self.control_limited);
        self.force_limited = said(layer, "forcelimited")?.unwrap_or(self.force_limited);
        self.activation_range = range(layer, "actrange")?.or(self.activation_range);
        self.activation_limited = said(layer, "actlimited")?.unwrap_or(self.activation_limited);
        let words = [("true", true), ("false", false)];
        self.early = layer.choice("actearly", &words)?.unwrap_or(self.early);
        self.length_range = range(layer, "lengthrange")?.or(self.length_range);
        if layer.tag != "plugin" && layer.integer("actdim")?.is_some_and(|count| count > 1) {
            self.lost.push("actdim: several activations; it has one".to_owned());
        }
        self.rod = layer.number("cranklength")?.unwrap_or(self.rod);
        self.armature = not_negative(layer, "armature")?.unwrap_or(self.armature);
        if let Some([first, higher @ ..]) = layer.numbers("damping")?.as_deref() {
            if !(*first >= 0.0) {
                return Err(layer.wrong("damping", "a number that is not negative"));
            }
            self.damping = *first;
            if higher.iter().any(|number| *number != 0.0) {
                self.lost.push("damping that is not linear".to_owned());
            }
        }
        self.delay = delay::read(layer, &mut self.delay_attributes)?;
        Ok(())
    }

    fn apply(
        &mut self,
        layer: &Element,
        plugins: &PluginInstances,
        is_last: bool,
    ) -> Result<(), SceneError> {
        let tag = layer.tag.as_str();
        if tag == "general" {
            return self.general(layer);
        }
        if self.shortcut.as_deref().is_some_and(|shortcut| shortcut != tag) {
            self.start_again();
            self.motor = MotorAttributes::default();
        }
        self.shortcut = Some(tag.to_owned());
        match tag {
            "motor" => {
                self.start_again();
                self.inherit = 0.0;
                Ok(())
            }
            "position" => self.position(layer),
            "velocity" => self.velocity(layer),
            "cylinder" => self.cylinder(layer),
            "damper" => self.damper(layer),
            "intvelocity" => self.integrated_velocity(layer),
            "muscle" => self.muscle(layer),
            "adhesion" => self.adhesion(layer),
            "dcmotor" => self.dcmotor(layer, is_last),
            "orientation" => self.other(layer, "servo of an orientation"),
            "pid" => self.pid(layer),
            _ => self.plugin(layer, plugins),
        }
    }

    /// Gain, bias and dynamics of MuJoCo's defaults.
    pub fn start_again(&mut self) {
        let Self { dynamics, times, gain_source, gain, bias_source, bias, .. } = Self::default();
        (self.dynamics, self.times) = (dynamics, times);
        (self.gain_source, self.gain, self.bias_source, self.bias) =
            (gain_source, gain, bias_source, bias);
    }

    fn general(&mut self, layer: &Element) -> Result<(), SceneError> {
        let dynamics = [
            ("none", Dynamics::None),
            ("integrator", Dynamics::Integrator),
            ("filter", Dynamics::Filter),
            ("filterexact", Dynamics::FilterExact),
            ("muscle", Dynamics::Muscle),
            ("dcmotor", Dynamics::Other("model of an electric motor")),
            ("pid", Dynamics::Pid),
            ("user", Dynamics::User),
        ];
        let sources = [
            ("none", ForceSource::Plain),
            ("fixed", ForceSource::Plain),
            ("affine", ForceSource::Affine),
            ("muscle", ForceSource::Muscle),
            ("dcmotor", ForceSource::Other("model of an electric motor")),
            ("so3", ForceSource::Other("servo of an orientation")),
            ("pid", ForceSource::Pid),
            ("user", ForceSource::User),
        ];
        self.dynamics = layer.choice("dyntype", &dynamics)?.unwrap_or(self.dynamics);
        self.gain_source = layer.choice("gaintype", &sources[1..])?.unwrap_or(self.gain_source);
        let (none, others) = (sources[0], &sources[2..]);
        let sources: Vec<_> = [none].into_iter().chain(others.iter().copied()).collect();
        self.bias_source = layer.choice("biastype", &sources)?.unwrap_or(self.bias_source);
        self.gain = layer.array_or("gainprm", self.gain)?;
        self.bias = layer.array_or("biasprm", self.bias)?;
        self.times = layer.array_or("dynprm", self.times)?;
        if self.gain_source == ForceSource::Pid {
            self.inputs.read(layer)?;
        } else {
            // What the control is called has no effect.
            let _ = ["ffrange", "input", "velrange"].map(|name| layer.get(name).is_some());
        }
        let calls_back = |source| source == ForceSource::User;
        if self.dynamics == Dynamics::User
            || calls_back(self.gain_source)
            || calls_back(self.bias_source)
        {
            self.lost
                .push("user: a callback of a program; it acts as in MuJoCo without one".into());
        }
        Ok(())
    }

    fn position(&mut self, layer: &Element) -> Result<(), SceneError> {
        let kp = layer.number("kp")?.unwrap_or(self.gain[0]);
        let rate = self.damping_coefficient(layer)?.unwrap_or(self.bias[2]);
        let filter = not_negative(layer, "timeconst")?;
        let keeps = filter.is_none() && self.dynamics == Dynamics::FilterExact;
        let (dynamics, time) = match filter {
            Some(time) if time > 0.0 => (Dynamics::FilterExact, time),
            // Only the filter of an outer `position` is kept.
            _ if keeps && self.is_affine() => (Dynamics::FilterExact, self.times[0]),
            _ => (Dynamics::None, 1.0),
        };
        self.start_again();
        (self.dynamics, self.times[0]) = (dynamics, time);
        self.gain[0] = kp;
        (self.bias_source, self.bias[1], self.bias[2]) = (ForceSource::Affine, -kp, rate);
        Ok(())
    }

    /// Coefficient of the rate that a layer gives: −kv, or a positive ratio of damping.
    pub fn damping_coefficient(&self, layer: &Element) -> Result<Option<f64>, SceneError> {
        let (kv, ratio) = (not_negative(layer, "kv")?, not_negative(layer, "dampratio")?);
        if kv.is_some() && ratio.is_some() {
            return Err(layer.error("kv and dampratio; expected one of the two"));
        }
        Ok(ratio.or(kv.map(|kv| -kv)))
    }

    fn velocity(&mut self, layer: &Element) -> Result<(), SceneError> {
        let kv = not_negative(layer, "kv")?.unwrap_or(self.gain[0]);
        self.start_again();
        self.inherit = 0.0;
        self.gain[0] = kv;
        (self.bias_source, self.bias[2]) = (ForceSource::Affine, -kv);
        Ok(())
    }

    /// A servo of the integral of the control.
    fn integrated_velocity(&mut self, layer: &Element) -> Result<(), SceneError> {
        self.position(layer)?;
        self.dynamics = Dynamics::Integrator;
        self.activation_limited = Some(true);
        Ok(())
    }

    /// Damping in proportion to the control.
    fn damper(&mut self, layer: &Element) -> Result<(), SceneError> {
        let before = if self.gain_source == ForceSource::Affine { -self.gain[2] } else { 1.0 };
        let kv = not_negative(layer, "kv")?.unwrap_or(before);
        self.start_again();
        self.inherit = 0.0;
        (self.gain_source, self.gain[0], self.gain[2]) = (ForceSource::Affine, 0.0, -kv);
        self.control_limited = Some(true);
        if self.control_range.is_some_and(|(lower, _)| lower < 0.0) {
            return Err(layer.wrong("ctrlrange", "numbers that are not negative"));
        }
        Ok(())
    }

    /// A force that pulls at the contacts of a body.
    fn adhesion(&mut self, layer: &Element) -> Result<(), SceneError> {
        let gain = not_negative(layer, "gain")?.unwrap_or(self.gain[0]);
        self.start_again();
        (self.inherit, self.gain[0]) = (0.0, gain);
        self.control_limited = Some(true);
        if self.control_range.is_some_and(|(lower, _)| lower < 0.0) {
            return Err(layer.wrong("ctrlrange", "numbers that are not negative"));
        }
        Ok(())
    }

    /// A muscle.
    fn muscle(&mut self, layer: &Element) -> Result<(), SceneError> {
        let before = if self.gain_source == ForceSource::Muscle { self.gain } else { MUSCLE };
        let mut times = MUSCLE_TIMES;
        if self.dynamics == Dynamics::Muscle {
            times.copy_from_slice(&self.times[..3]);
        }
        let [rise, fall] = layer.array_or::<2>("timeconst", [times[0], times[1]])?;
        let smoothing = not_negative(layer, "tausmooth")?.unwrap_or(times[2]);
        self.start_again();
        self.inherit = 0.0;
        self.gain = before;
        let range = layer.array_or::<2>("range", [before[0], before[1]])?;
        self.gain[..2].copy_from_slice(&range);
        for (k, name) in
            ["force", "scale", "lmin", "lmax", "vmax", "fpmax", "fvmax"].iter().enumerate()
        {
            self.gain[2 + k] = layer.number(name)?.unwrap_or(before[2 + k]);
        }
        self.bias = self.gain;
        self.times[..3].copy_from_slice(&[rise, fall, smoothing]);
        self.dynamics = Dynamics::Muscle;
        (self.gain_source, self.bias_source) = (ForceSource::Muscle, ForceSource::Muscle);
        Ok(())
    }

    /// A pneumatic cylinder: force from a pressure that follows the control through a filter.
    fn cylinder(&mut self, layer: &Element) -> Result<(), SceneError> {
        let mut area = layer.number("area")?.unwrap_or(self.gain[0]);
        if let Some(diameter) = layer.number("diameter")? {
            area = 0.25 * std::f64::consts::PI * diameter * diameter;
        }
        let before = [self.bias[0], self.bias[1], self.bias[2]];
        let bias = layer.array_or::<3>("bias", before)?;
        let time = layer.number("timeconst")?.unwrap_or(self.times[0]);
        self.start_again();
        (self.dynamics, self.times[0], self.inherit) = (Dynamics::Filter, time, 0.0);
        self.gain[0] = area;
        self.bias_source = ForceSource::Affine;
        self.bias[..3].copy_from_slice(&bias);
        Ok(())
    }

    /// An unsupported shortcut.
    pub fn other(&mut self, layer: &Element, what: &'static str) -> Result<(), SceneError> {
        self.start_again();
        self.gain_source = ForceSource::Other(what);
        // Its own attributes have no effect: the actuator exerts no force.
        for attribute in &layer.attributes {
            layer.get(&attribute.name);
        }
        Ok(())
    }
}

pub(super) fn range(layer: &Element, name: &str) -> Result<Option<(f64, f64)>, SceneError> {
    Ok(layer.array::<2>(name)?.map(|[lower, upper]| (lower, upper)))
}

/// State of a limit: active, inactive, or decided by the range.
fn said(layer: &Element, name: &str) -> Result<Option<Option<bool>>, SceneError> {
    layer.choice(name, &[("true", Some(true)), ("false", Some(false)), ("auto", None)])
}

pub(super) fn not_negative(layer: &Element, name: &str) -> Result<Option<f64>, SceneError> {
    let found = layer.number(name)?;
    match found {
        Some(number) if number < 0.0 => Err(layer.wrong(name, "a number that is not negative")),
        found => Ok(found),
    }
}
