//! PID servos: `<pid>`, `<general gaintype="pid">` and the plugin `mujoco.pid`.
//!
//! MuJoCo keeps ki in `gainprm`, −kp and −kv in `biasprm`, and the bound of the integral and the largest rate of the setpoint in
//! `dynprm`. The plugin has the same parameters in its configuration; its `imax` bounds the force of the integral.

use std::collections::HashMap;

use stiction_mech::{IntegralBound, PidController};

use super::law::{Dynamics, ForceSource, Law, not_negative, range};
use crate::error::SceneError;
use crate::xml::Element;

/// Inputs in the order of their controls.
const INPUTS: [&str; 3] = ["pos", "vel", "ff"];

/// Configurations of plugins by the names of their instances.
pub(in crate::mjcf) type PluginInstances = HashMap<String, Vec<(String, String)>>;

/// Reads the instances of plugins that `<extension>` declares.
pub(in crate::mjcf) fn read_instances(section: &Element, instances: &mut PluginInstances) {
    for plugin in section.all("plugin") {
        plugin.get("plugin");
        for instance in plugin.all("instance") {
            let name = instance.get("name").unwrap_or_default().to_owned();
            instances.insert(name, configuration(instance));
        }
    }
}

/// Keys and values of a plugin.
pub(in crate::mjcf) fn configuration(element: &Element) -> Vec<(String, String)> {
    let pair = |config: &Element| {
        Some((config.get("key")?.to_owned(), config.get("value").unwrap_or_default().to_owned()))
    };
    element.all("config").filter_map(pair).collect()
}

/// Inputs of a PID servo, and the ranges of those after the first.
#[derive(Clone, Copy, Debug)]
pub(super) struct PidInputs {
    /// Whether there is a desired length, a desired rate, an added force.
    has: [bool; 3],
    velocity_range: Option<(f64, f64)>,
    feedforward_range: Option<(f64, f64)>,
    is_plugin: bool,
    /// Whether the range of the control is that of every input.
    pub has_one_range: bool,
}

impl Default for PidInputs {
    fn default() -> Self {
        let has = [true, true, false];
        let (is_plugin, has_one_range) = (false, false);
        Self { has, velocity_range: None, feedforward_range: None, is_plugin, has_one_range }
    }
}

impl PidInputs {
    /// Some of a desired length, a desired rate and an added force, which have the same range.
    pub fn with_one_range(has: [bool; 3]) -> Self {
        Self { has, has_one_range: true, ..Self::default() }
    }

    /// Inputs and ranges that a layer gives.
    pub fn read(&mut self, layer: &Element) -> Result<(), SceneError> {
        self.velocity_range = range(layer, "velrange")?.or(self.velocity_range);
        self.feedforward_range = range(layer, "ffrange")?.or(self.feedforward_range);
        let Some(words) = layer.get("input") else { return Ok(()) };
        let mut next = 0;
        let mut has = [false; 3];
        for word in words.split_ascii_whitespace() {
            let place = INPUTS.iter().position(|input| *input == word);
            let Some(place) = place.filter(|place| *place >= next) else {
                return Err(layer.wrong("input", "some of pos, vel and ff, in this order"));
            };
            (has[place], next) = (true, place + 1);
        }
        self.has = if next == 0 { Self::default().has } else { has };
        Ok(())
    }
}

impl Law {
    /// `<pid>`.
    pub(super) fn pid(&mut self, layer: &Element) -> Result<(), SceneError> {
        let is_pid = self.gain_source == ForceSource::Pid;
        let [kp, rate, ki] =
            if is_pid { [-self.bias[1], self.bias[2], self.gain[0]] } else { [1.0, 0.0, 0.0] };
        let [imax, slewmax] =
            if self.dynamics == Dynamics::Pid { [self.times[0], self.times[1]] } else { [0.0; 2] };
        let kp = layer.number("kp")?.unwrap_or(kp);
        let rate = self.damping_coefficient(layer)?.unwrap_or(rate);
        let ki = layer.number("ki")?.unwrap_or(ki);
        let imax = not_negative(layer, "imax")?.unwrap_or(imax);
        let slewmax = not_negative(layer, "slewmax")?.unwrap_or(slewmax);
        if let Some(range) = range(layer, "posrange")? {
            (self.control_range, self.inherit) = (Some(range), 0.0);
        }
        let inputs = if is_pid { self.inputs } else { PidInputs::default() };
        self.start_again();
        self.inputs = inputs;
        self.inputs.read(layer)?;
        (self.gain_source, self.gain[0]) = (ForceSource::Pid, ki);
        (self.bias_source, self.bias[1], self.bias[2]) = (ForceSource::Affine, -kp, rate);
        if ki != 0.0 || slewmax > 0.0 {
            self.dynamics = Dynamics::Pid;
            (self.times[0], self.times[1]) = (imax, slewmax);
        }
        Ok(())
    }

    /// `<plugin plugin="mujoco.pid">`; other plugins have no force.
    pub(super) fn plugin(
        &mut self,
        layer: &Element,
        instances: &PluginInstances,
    ) -> Result<(), SceneError> {
        let configuration = match layer.get("instance") {
            Some(instance) => instances.get(instance).cloned().unwrap_or_default(),
            None => configuration(layer),
        };
        let dynamics = layer.get("dyntype").is_none_or(|word| word == "none");
        if layer.get("plugin") != Some("mujoco.pid") || !dynamics {
            return self.other(layer, "plugin");
        }
        let number = |key: &str| match configuration.iter().find(|(name, _)| name == key) {
            None => Ok(None),
            Some((_, value)) => match value.trim().parse::<f64>() {
                Ok(number) if number.is_finite() => Ok(Some(number)),
                _ => Err(layer.error(format_args!("{key} is \"{value}\"; expected a number"))),
            },
        };
        let [kp, ki, kd] = ["kp", "ki", "kd"].map(number);
        let [kp, ki, kd] = [kp?, ki?, kd?].map(|number| number.unwrap_or(0.0));
        let (imax, slewmax) = (number("imax")?, number("slewmax")?);
        self.start_again();
        self.inputs =
            PidInputs { has: [true, false, false], is_plugin: true, ..Default::default() };
        (self.gain_source, self.gain[0]) = (ForceSource::Pid, ki);
        (self.bias_source, self.bias[1], self.bias[2]) = (ForceSource::Affine, -kp, -kd);
        self.dynamics = Dynamics::Pid;
        self.times[0] = imax.filter(|_| ki != 0.0).map_or(0.0, |imax| imax / ki);
        self.times[1] = slewmax.unwrap_or(0.0);
        layer.get("actdim");
        Ok(())
    }

    /// The controller, if this is a PID servo.
    pub(super) fn controller(
        &self,
        element: &Element,
    ) -> Result<Option<PidController>, SceneError> {
        if self.gain_source != ForceSource::Pid {
            return Ok(None);
        }
        let [has_position, has_velocity, has_feedforward] = self.inputs.has;
        let (ki, [imax, slewmax, ..]) = (self.gain[0], self.times);
        let has_states = self.dynamics == Dynamics::Pid && (ki != 0.0 || slewmax > 0.0);
        if self.bias_source != ForceSource::Affine {
            return Err(element.error("gaintype pid; expected biastype affine"));
        }
        if !matches!(self.dynamics, Dynamics::Pid | Dynamics::None) {
            return Err(element.error("gaintype pid; expected dyntype none or pid"));
        }
        if ki != 0.0 && self.dynamics == Dynamics::None {
            return Err(element.error("gaintype pid with ki (gainprm); expected dyntype pid"));
        }
        if has_states && !has_position {
            return Err(element.error("ki or slewmax; expected pos among the inputs"));
        }
        let ordered = |range: Option<(f64, f64)>| range.filter(|(lower, upper)| lower < upper);
        let bound = match (self.inputs.is_plugin, self.inputs.has_one_range) {
            (true, _) => IntegralBound::Clamp,
            (false, true) => IntegralBound::StopAndClamp,
            (false, false) => IntegralBound::Stop,
        };
        Ok(Some(PidController {
            has_position,
            has_velocity,
            has_feedforward,
            velocity_range: ordered(self.inputs.velocity_range),
            feedforward_range: ordered(self.inputs.feedforward_range),
            ki: if has_states { ki } else { 0.0 },
            integral_bound: Some(imax).filter(|imax| *imax > 0.0).map(bound),
            slew_limit: Some(slewmax).filter(|limit| has_states && *limit > 0.0),
            is_plugin: self.inputs.is_plugin,
        }))
    }
}
