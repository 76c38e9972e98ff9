//! Force law of an actuator: gain, bias and activation, from the layers of its defaults.
//!
//! All shortcuts set the same members: `f = (g₀ + g₁ ℓ + g₂ ℓ̇) u + b₀ + b₁ ℓ + b₂ ℓ̇`. A layer of
//! another shortcut than the one before starts from MuJoCo's defaults; `general` refines whatever
//! came before, and what it leaves is refined by the next.

use crate::error::SceneError;
use crate::xml::Element;

/// Gain and bias b₀, b₁, b₂ of the affine law.
pub(super) type Affine = (f64, [f64; 3]);

/// Where the force comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ForceSource {
    /// No bias, or a fixed gain.
    Plain,
    /// An affine function of length and rate.
    Affine,
    /// Something else.
    Other(&'static str),
}

/// Activation dynamics between control and force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dynamics {
    None,
    /// A first-order filter.
    Filter,
    /// Something else.
    Other(&'static str),
}

/// Members that all shortcuts share.
#[derive(Clone, Debug)]
pub(super) struct Law {
    /// The last shortcut other than `general`.
    shortcut: Option<String>,
    dynamics: Dynamics,
    time_constant: f64,
    gain_source: ForceSource,
    gain: [f64; 10],
    bias_source: ForceSource,
    bias: [f64; 10],
    /// Share of the range of what is moved that becomes the range of the control.
    inherit: f64,
    pub gear: [f64; 6],
    pub group: i64,
    pub control_range: Option<(f64, f64)>,
    pub control_limited: Option<bool>,
    pub force_range: Option<(f64, f64)>,
    pub force_limited: Option<bool>,
    /// Unsupported parts, while the rest is supported.
    pub lost: Vec<String>,
}

impl Default for Law {
    fn default() -> Self {
        let mut gain = [0.0; 10];
        gain[0] = 1.0;
        Self {
            shortcut: None,
            dynamics: Dynamics::None,
            time_constant: 1.0,
            gain_source: ForceSource::Plain,
            gain,
            bias_source: ForceSource::Plain,
            bias: [0.0; 10],
            inherit: 0.0,
            gear: [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            group: 0,
            control_range: None,
            control_limited: None,
            force_range: None,
            force_limited: None,
            lost: Vec::new(),
        }
    }
}

impl Law {
    /// The law that layers make, weakest first.
    pub fn of(layers: &[&Element]) -> Result<Self, SceneError> {
        let mut law = Self::default();
        for layer in layers {
            law.common(layer)?;
            law.apply(layer)?;
        }
        if law.dynamics == Dynamics::Filter && law.time_constant > 0.0 {
            law.lost.push("filter of the control: it acts at once".into());
        }
        Ok(law)
    }

    /// Whether the bias is affine.
    pub fn is_affine(&self) -> bool {
        self.bias_source == ForceSource::Affine
    }

    /// Share of the range of what is moved that becomes that of the control, for servos.
    pub fn inherited_range(&self) -> Option<f64> {
        let servo = self.is_affine() && self.gain[0] == -self.bias[1];
        Some(self.inherit).filter(|share| *share > 0.0 && servo)
    }

    /// The affine law, or what it is instead.
    pub fn answer(&self) -> Result<Affine, String> {
        if let Dynamics::Other(what) = self.dynamics {
            return Err(what.to_owned());
        }
        let gain = match self.gain_source {
            ForceSource::Other(what) => return Err(what.to_owned()),
            ForceSource::Affine if self.gain[1] != 0.0 || self.gain[2] != 0.0 => {
                return Err("gain that depends on length or rate".into());
            }
            ForceSource::Affine | ForceSource::Plain => self.gain[0],
        };
        match self.bias_source {
            ForceSource::Other(what) => Err(what.to_owned()),
            ForceSource::Affine => Ok((gain, [self.bias[0], self.bias[1], self.bias[2]])),
            ForceSource::Plain => Ok((gain, [0.0; 3])),
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
        // These have a bearing on activations, which are not modelled, or on MuJoCo's compiler.
        for name in ["actdim", "actearly", "actlimited", "actrange", "lengthrange", "cranklength"] {
            layer.get(name);
        }
        for (name, what) in [
            ("armature", "armature: inertia of an actuator"),
            ("damping", "damping: of an actuator, beside its law"),
            ("delay", "delay of the control"),
        ] {
            let numbers = layer.numbers(name)?.unwrap_or_default();
            if numbers.iter().any(|number| *number != 0.0) {
                self.lost.push(what.to_owned());
            }
        }
        Ok(())
    }

    fn apply(&mut self, layer: &Element) -> Result<(), SceneError> {
        let tag = layer.tag.as_str();
        if tag == "general" {
            return self.general(layer);
        }
        if self.shortcut.as_deref().is_some_and(|shortcut| shortcut != tag) {
            self.start_again();
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
            "damper" => self.other(layer, "damping that the control sets"),
            "intvelocity" => self.other(layer, "activation: the integral of the control"),
            "muscle" => self.other(layer, "muscle"),
            "adhesion" => self.other(layer, "adhesion"),
            "dcmotor" => self.other(layer, "model of an electric motor"),
            "orientation" => self.other(layer, "servo of an orientation"),
            "pid" => self.other(layer, "servo with an integral part"),
            _ => self.other(layer, "plugin"),
        }
    }

    /// Gain, bias and dynamics of MuJoCo's defaults.
    fn start_again(&mut self) {
        let Self { dynamics, time_constant, gain_source, gain, bias_source, bias, .. } =
            Self::default();
        (self.dynamics, self.time_constant) = (dynamics, time_constant);
        (self.gain_source, self.gain, self.bias_source, self.bias) =
            (gain_source, gain, bias_source, bias);
    }

    fn general(&mut self, layer: &Element) -> Result<(), SceneError> {
        let dynamics = [
            ("none", Dynamics::None),
            ("integrator", Dynamics::Other("activation: the integral of the control")),
            ("filter", Dynamics::Filter),
            ("filterexact", Dynamics::Filter),
            ("muscle", Dynamics::Other("activation of a muscle")),
            ("dcmotor", Dynamics::Other("model of an electric motor")),
            ("pid", Dynamics::Other("servo with an integral part")),
            ("user", Dynamics::Other("activation by a callback")),
        ];
        let sources = [
            ("none", ForceSource::Plain),
            ("fixed", ForceSource::Plain),
            ("affine", ForceSource::Affine),
            ("muscle", ForceSource::Other("force of a muscle")),
            ("dcmotor", ForceSource::Other("model of an electric motor")),
            ("so3", ForceSource::Other("servo of an orientation")),
            ("pid", ForceSource::Other("servo with an integral part")),
            ("user", ForceSource::Other("force by a callback")),
        ];
        self.dynamics = layer.choice("dyntype", &dynamics)?.unwrap_or(self.dynamics);
        self.gain_source = layer.choice("gaintype", &sources[1..])?.unwrap_or(self.gain_source);
        let (none, others) = (sources[0], &sources[2..]);
        let sources: Vec<_> = [none].into_iter().chain(others.iter().copied()).collect();
        self.bias_source = layer.choice("biastype", &sources)?.unwrap_or(self.bias_source);
        self.gain = layer.array_or("gainprm", self.gain)?;
        self.bias = layer.array_or("biasprm", self.bias)?;
        if let Some([time, ..]) = layer.numbers("dynprm")?.as_deref() {
            self.time_constant = *time;
        }
        Ok(())
    }

    fn position(&mut self, layer: &Element) -> Result<(), SceneError> {
        let kp = layer.number("kp")?.unwrap_or(self.gain[0]);
        let mut rate = self.bias[2];
        if let Some(kv) = not_negative(layer, "kv")? {
            rate = -kv;
        }
        if let Some(ratio) = not_negative(layer, "dampratio")? {
            if layer.peek("kv").is_some() {
                return Err(layer.error("kv and dampratio; expected one of the two"));
            }
            rate = ratio;
        }
        let filter = not_negative(layer, "timeconst")?;
        let keeps = filter.is_none() && self.dynamics == Dynamics::Filter;
        let (dynamics, time) = match filter {
            Some(time) if time > 0.0 => (Dynamics::Filter, time),
            // Only the filter of an outer `position` is kept.
            _ if keeps && self.is_affine() => (Dynamics::Filter, self.time_constant),
            _ => (Dynamics::None, 1.0),
        };
        self.start_again();
        (self.dynamics, self.time_constant) = (dynamics, time);
        self.gain[0] = kp;
        (self.bias_source, self.bias[1], self.bias[2]) = (ForceSource::Affine, -kp, rate);
        Ok(())
    }

    fn velocity(&mut self, layer: &Element) -> Result<(), SceneError> {
        let kv = not_negative(layer, "kv")?.unwrap_or(self.gain[0]);
        self.start_again();
        self.inherit = 0.0;
        self.gain[0] = kv;
        (self.bias_source, self.bias[2]) = (ForceSource::Affine, -kv);
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
        let time = layer.number("timeconst")?.unwrap_or(self.time_constant);
        self.start_again();
        (self.dynamics, self.time_constant, self.inherit) = (Dynamics::Filter, time, 0.0);
        self.gain[0] = area;
        self.bias_source = ForceSource::Affine;
        self.bias[..3].copy_from_slice(&bias);
        Ok(())
    }

    /// An unsupported shortcut.
    fn other(&mut self, layer: &Element, what: &'static str) -> Result<(), SceneError> {
        self.start_again();
        self.gain_source = ForceSource::Other(what);
        // Its own attributes have no effect: the actuator exerts no force.
        for attribute in &layer.attributes {
            layer.get(&attribute.name);
        }
        Ok(())
    }
}

fn range(layer: &Element, name: &str) -> Result<Option<(f64, f64)>, SceneError> {
    Ok(layer.array::<2>(name)?.map(|[lower, upper]| (lower, upper)))
}

/// State of a limit: active, inactive, or decided by the range.
fn said(layer: &Element, name: &str) -> Result<Option<Option<bool>>, SceneError> {
    layer.choice(name, &[("true", Some(true)), ("false", Some(false)), ("auto", None)])
}

fn not_negative(layer: &Element, name: &str) -> Result<Option<f64>, SceneError> {
    let found = layer.number(name)?;
    match found {
        Some(number) if number < 0.0 => Err(layer.wrong(name, "a number that is not negative")),
        found => Ok(found),
    }
}
