//! `<dcmotor>`: an electric motor without inductance, as a law of the other actuators.
//!
//! With resistance R and motor constant K the voltage u gives the torque `K/R (u − K ω)`. A controller drives the voltage that gives
//! the torque of a PID servo, since it compensates K ω. Without inputs the motor is a brake. Motors with inductance,
//! temperature, cogging, bristles or a bound of the voltage, and those with a controller and a voltage, are listed.

use super::law::{Dynamics, ForceSource, Law};
use super::pid::PidInputs;
use crate::error::SceneError;
use crate::xml::Element;

/// Inputs in the order of their controls.
const INPUTS: [&str; 4] = ["pos", "vel", "ff", "voltage"];

/// Attributes, as layers refine them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MotorAttributes {
    /// Kt and Ke.
    constants: [f64; 2],
    resistance: f64,
    /// Voltage, stall torque and speed without load.
    nominal: [f64; 3],
    /// Largest torque, current and rate of the current.
    saturation: [f64; 3],
    /// kp, ki, kd, largest rate of the setpoint, bounds of the integral and of the voltage.
    controller: [f64; 6],
    /// Desired length, rate and torque, and the voltage; `None` for the voltage alone.
    inputs: Option<[bool; 4]>,
    /// Something that is not modelled here.
    other: bool,
}

impl MotorAttributes {
    fn read(&mut self, layer: &Element) -> Result<(), SceneError> {
        let part = |name: &str, given: &mut [f64]| {
            let numbers = layer.numbers(name)?.unwrap_or_default();
            given.iter_mut().zip(numbers).for_each(|(given, number)| *given = number);
            Ok::<_, SceneError>(())
        };
        part("motorconst", &mut self.constants)?;
        part("nominal", &mut self.nominal)?;
        part("saturation", &mut self.saturation)?;
        part("controller", &mut self.controller)?;
        self.resistance = layer.number("resistance")?.unwrap_or(self.resistance);
        for name in ["inductance", "cogging", "thermal", "lugre"] {
            let numbers = layer.numbers(name)?.unwrap_or_default();
            self.other |= numbers.iter().any(|number| *number != 0.0);
        }
        let Some(words) = layer.get("input") else { return Ok(()) };
        let (mut has, mut next) = ([false; 4], 0);
        for word in words.split_ascii_whitespace().filter(|word| *word != "none") {
            let place = INPUTS.iter().position(|input| *input == word);
            let Some(place) = place.filter(|place| *place >= next) else {
                return Err(layer.wrong("input", "none, or some of pos, vel, ff and voltage"));
            };
            (has[place], next) = (true, place + 1);
        }
        self.inputs = Some(has).filter(|_| !words.trim().is_empty());
        Ok(())
    }

    /// Motor constant and resistance; the nominal operating point gives what is missing.
    fn constants(&self, layer: &Element) -> Result<[f64; 2], SceneError> {
        let [voltage, stall, speed] = self.nominal;
        let [mut Kt, mut Ke] = self.constants;
        if voltage > 0.0 && speed > 0.0 {
            let nominal = voltage / speed;
            match [Kt > 0.0, Ke > 0.0] {
                [false, false] => (Kt, Ke) = (nominal, nominal),
                [true, false] => Ke = nominal,
                [false, true] => Kt = nominal,
                [true, true] => {}
            }
        }
        let K = if Kt > 0.0 && Ke > 0.0 { (Kt * Ke).sqrt() } else { Kt.max(Ke) };
        let mut R = self.resistance;
        if R == 0.0 && stall > 0.0 {
            R = K * voltage / stall;
        }
        if !(R > 0.0) {
            return Err(layer.error("no resistance; expected a positive resistance or nominal"));
        }
        let is_passive = self.inputs == Some([false; 4]);
        if !(K > 0.0 || K == 0.0 && is_passive) {
            return Err(layer.error("no motor constant; expected motorconst or nominal"));
        }
        Ok([K, R])
    }
}

impl Law {
    /// `<dcmotor>`.
    pub(super) fn dcmotor(&mut self, layer: &Element, is_last: bool) -> Result<(), SceneError> {
        self.motor.read(layer)?;
        self.start_again();
        self.inherit = 0.0;
        if !is_last {
            return Ok(());
        }
        let motor = self.motor;
        let [K, R] = motor.constants(layer)?;
        let [kp, ki, kd, slewmax, imax, vmax] = motor.controller;
        let has = motor.inputs.unwrap_or([false, false, false, true]);
        let [has_pos, has_vel, has_ff, has_voltage] = has;
        let is_controlled = has_pos || has_vel || has_ff;
        let [torque, current, current_rate] = motor.saturation;
        let most = if torque > 0.0 { torque } else { K * current };
        if most > 0.0 {
            (self.force_range, self.force_limited) = (Some((-most, most)), Some(true));
        }
        let has_other_slew = slewmax > 0.0 && !has_pos;
        let is_bounded = vmax > 0.0 || has_voltage || has_other_slew;
        if motor.other || current_rate > 0.0 || is_controlled && is_bounded {
            return self.other(layer, "model of an electric motor");
        }
        self.bias_source = ForceSource::Affine;
        if has_voltage {
            (self.gain[0], self.bias[2]) = (K / R, -K * K / R);
            return Ok(());
        }
        self.gain_source = ForceSource::Pid;
        self.inputs = PidInputs::with_one_range([has_pos, has_vel, has_ff]);
        if !is_controlled {
            (self.gain[0], self.bias[2]) = (0.0, -K * K / R);
            return Ok(());
        }
        self.gain[0] = ki;
        (self.bias[1], self.bias[2]) = (-kp, -kd);
        if ki != 0.0 || slewmax > 0.0 {
            self.dynamics = Dynamics::Pid;
            (self.times[0], self.times[1]) = (imax, slewmax);
        }
        Ok(())
    }
}
