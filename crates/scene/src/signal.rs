//! Controls as functions of time: constant, sinusoidal, or along waypoints.
//!
//! A [`SignalController`] writes them into the simulation before each step.

use stiction_sim::Simulation;

use crate::scene::Controller;

/// The control of one actuator over time; of one with several controls, the first.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// The actuator, counted as in the model.
    pub actuator: usize,
    /// Its control, in the unit of the actuator's law.
    pub course: SignalShape,
}

/// A number as a function of time.
#[derive(Clone, Debug, PartialEq)]
pub enum SignalShape {
    /// Always the same.
    Hold(f64),
    /// centre + amplitude sin(2π frequency t + phase).
    Sinusoid {
        /// Mean value.
        centre: f64,
        /// Largest distance from it.
        amplitude: f64,
        /// Frequency [Hz].
        frequency: f64,
        /// Phase at time zero [rad].
        phase: f64,
    },
    /// From waypoint to waypoint; constant before the first and after the last.
    Waypoints {
        /// Times [s], ascending.
        times: Vec<f64>,
        /// Values at these times.
        values: Vec<f64>,
        /// Interpolation between them.
        path: Interpolation,
        /// Whether it repeats after the last.
        repeat: bool,
    },
}

/// Interpolation between two waypoints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interpolation {
    /// A straight line.
    #[default]
    Linear,
    /// A cubic with zero rate at both.
    Smooth,
    /// The value of the earlier one, then a jump.
    Stepped,
}

impl SignalShape {
    /// The value at a time [s].
    pub fn at(&self, time: f64) -> f64 {
        match self {
            Self::Hold(value) => *value,
            Self::Sinusoid { centre, amplitude, frequency, phase } => {
                centre + amplitude * (std::f64::consts::TAU * frequency * time + phase).sin()
            }
            Self::Waypoints { times, values, path, repeat } => {
                along(times, values, *path, *repeat, time)
            }
        }
    }
}

/// The value of waypoints at a time; zero without waypoints.
fn along(times: &[f64], values: &[f64], path: Interpolation, repeat: bool, time: f64) -> f64 {
    let (Some(first), Some(last)) = (times.first(), times.last()) else { return 0.0 };
    let period = last - first;
    let time = match repeat && period > 0.0 {
        true => first + (time - first).rem_euclid(period),
        false => time,
    };
    let next = times.partition_point(|t| *t <= time);
    if next == 0 || next == times.len() {
        return values[if next == 0 { 0 } else { times.len() - 1 }];
    }
    let s = (time - times[next - 1]) / (times[next] - times[next - 1]);
    let part = match path {
        Interpolation::Linear => s,
        Interpolation::Smooth => s * s * (3.0 - 2.0 * s),
        Interpolation::Stepped => 0.0,
    };
    values[next - 1] + part * (values[next] - values[next - 1])
}

/// Writes signals into the controls of a simulation.
#[derive(Clone, Debug)]
pub struct SignalController {
    signals: Vec<Signal>,
}

impl SignalController {
    /// A controller of these signals.
    pub fn new(signals: Vec<Signal>) -> Self {
        Self { signals }
    }
}

impl Controller for SignalController {
    fn control(&mut self, simulation: &mut Simulation) {
        let time = simulation.state().time;
        for signal in &self.signals {
            let value = signal.course.at(time);
            // An unchanged control is not written: writing would wake sleeping bodies.
            let actuator = simulation.world().model().actuators().get(signal.actuator);
            let Some(index) = actuator.map(|actuator| actuator.controls.start) else { continue };
            match simulation.input().control.get(index) {
                Some(present) if *present != value => {
                    simulation.input_mut().control[index] = value;
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(path: Interpolation, repeat: bool) -> SignalShape {
        SignalShape::Waypoints {
            times: vec![1.0, 2.0, 4.0],
            values: vec![0.0, 1.0, -1.0],
            path,
            repeat,
        }
    }

    #[test]
    fn a_way_rests_at_its_ends_and_passes_its_points() {
        for path in [Interpolation::Linear, Interpolation::Smooth, Interpolation::Stepped] {
            let course = way(path, false);
            for (time, value) in [(0.0, 0.0), (1.0, 0.0), (2.0, 1.0), (4.0, -1.0), (9.0, -1.0)] {
                assert_eq!(course.at(time), value, "{path:?} at {time}");
            }
        }
        assert_eq!(way(Interpolation::Linear, false).at(2.5), 0.5);
        assert_eq!(way(Interpolation::Stepped, false).at(2.5), 1.0);
    }

    #[test]
    fn a_smooth_way_has_no_speed_at_its_points() {
        let (course, dt) = (way(Interpolation::Smooth, false), 1e-6);
        for time in [1.0, 2.0, 4.0] {
            // The cubic leaves a point by 3 s² of the distance, which is at most 2.
            assert!((course.at(time + dt) - course.at(time - dt)).abs() <= 6.0 * dt * dt + 1e-15);
        }
    }

    #[test]
    fn a_repeated_way_has_the_period_of_its_times() {
        let course = way(Interpolation::Linear, true);
        for time in [1.25, 2.0, 3.5] {
            assert_eq!(course.at(time), course.at(time + 3.0));
            assert_eq!(course.at(time), course.at(time - 6.0));
        }
    }

    #[test]
    fn a_sinusoid_swings_about_its_centre() {
        let course =
            SignalShape::Sinusoid { centre: 2.0, amplitude: 0.5, frequency: 2.0, phase: 0.0 };
        assert_eq!(course.at(0.0), 2.0);
        // A quarter and three quarters of a period of half a second.
        assert!((course.at(0.125) - 2.5).abs() <= 1e-15 && (course.at(0.375) - 1.5).abs() <= 1e-15);
    }
}
