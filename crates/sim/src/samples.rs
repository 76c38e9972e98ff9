//! Samples of controls and sensors that are read later.
//!
//! Every control or sensor with a [`DelaySpec`] has a ring of samples. After a step, the control and the reading at its start
//! are added; sensors with a period only when it has passed. Before the first step the ring is full of zeros, at times
//! before the start. The rings are part of what later steps depend on, as in MuJoCo, whose rules these are.

use stiction_mech::{DelaySpec, SampleInterpolation};

use crate::world::World;

/// Times closer than this are the same [s].
const SAME_TIME: f64 = 1e-15;

/// A ring of samples in the order of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SampleRing {
    /// Times of the samples [s].
    pub times: Vec<f64>,
    /// Numbers of the samples, those of one after those of another.
    pub values: Vec<f64>,
    /// Place of the newest sample.
    pub newest: usize,
    /// The time at which the last period began [s].
    pub last_period: f64,
}

impl SampleRing {
    /// Zeros at times before `time` [s], as far apart as samples are.
    fn new(spec: &DelaySpec, dim: usize, (time, time_step): (f64, f64)) -> Self {
        let n = spec.samples;
        let mut ring = Self {
            times: vec![0.0; n],
            values: vec![0.0; n * dim],
            newest: n - 1,
            last_period: 0.0,
        };
        ring.start(spec, (time, time_step));
        ring
    }

    /// Fills the ring with zeros at times before `time`.
    fn start(&mut self, spec: &DelaySpec, (time, time_step): (f64, f64)) {
        let n = self.times.len();
        let first = if spec.phase == 0.0 { -spec.period } else { spec.phase };
        self.newest = n.saturating_sub(1);
        self.values.fill(0.0);
        self.last_period = time + if spec.period > 0.0 { first } else { -time_step };
        for (k, sample) in self.times.iter_mut().enumerate() {
            let before = if spec.period > 0.0 {
                // Samples are taken at starts of steps.
                ((first - (n - 1 - k) as f64 * spec.period) / time_step).ceil() * time_step
            } else {
                -((n - k) as f64) * time_step
            };
            *sample = time + before;
        }
    }

    /// Number of numbers in a sample.
    fn dim(&self) -> usize {
        self.values.len() / self.times.len().max(1)
    }

    /// Place of a sample, counted from the oldest.
    fn place(&self, age: usize) -> usize {
        (self.newest + 1 + age) % self.times.len()
    }

    fn value(&self, place: usize) -> &[f64] {
        let dim = self.dim();
        &self.values[place * dim..(place + 1) * dim]
    }

    /// Time of the newest sample [s].
    fn latest(&self) -> f64 {
        self.times[self.newest]
    }

    /// Whether a sample is due at `time`.
    fn is_due(&self, spec: &DelaySpec, time: f64) -> bool {
        spec.period <= 0.0 || self.last_period + spec.period <= time
    }

    /// Adds a sample that is due, in place of the oldest, or of one with the same time.
    fn add(&mut self, spec: &DelaySpec, time: f64, value: &[f64]) {
        if !self.is_due(spec, time) {
            return;
        }
        if spec.period > 0.0 {
            self.last_period += spec.period;
        }
        if (time - self.latest()).abs() >= SAME_TIME {
            self.newest = (self.newest + 1) % self.times.len();
            self.times[self.newest] = time;
        }
        let dim = self.dim();
        self.values[self.newest * dim..(self.newest + 1) * dim].copy_from_slice(value);
    }

    /// Reads the value at `time` [s]; before the oldest and after the newest sample it is constant.
    fn read(&self, time: f64, interpolation: SampleInterpolation, out: &mut [f64]) {
        let n = self.times.len();
        let at = |age: usize| self.times[self.place(age)];
        let value = |age: usize| self.value(self.place(age));
        // The first sample that is not before the time.
        let next = (0..n).find(|age| time <= at(*age) + SAME_TIME).unwrap_or(n);
        if next == 0 || next == n || (time - at(next)).abs() < SAME_TIME {
            return out.copy_from_slice(value(next.min(n - 1)));
        }
        let (low, high) = (next - 1, next);
        let (t_low, t_high) = (at(low), at(high));
        let step = t_high - t_low;
        let s = (time - t_low) / step;
        match interpolation {
            SampleInterpolation::Hold => out.copy_from_slice(value(low)),
            SampleInterpolation::Linear => {
                for (out, (a, b)) in out.iter_mut().zip(value(low).iter().zip(value(high))) {
                    *out = a + s * (b - a);
                }
            }
            SampleInterpolation::Cubic => {
                let slope = |from: usize, to: usize, k: usize| {
                    (value(to)[k] - value(from)[k]) / (at(to) - at(from))
                };
                for (k, out) in out.iter_mut().enumerate() {
                    let (a, b) = (value(low)[k], value(high)[k]);
                    let m_a = if low > 0 { slope(low - 1, high, k) } else { 0.0 };
                    let m_b = if high + 1 < n { slope(low, high + 1, k) } else { 0.0 };
                    // Hermite's polynomials.
                    let (s2, s3) = (s * s, s * s * s);
                    *out = (2.0 * s3 - 3.0 * s2 + 1.0) * a
                        + (s3 - 2.0 * s2 + s) * step * m_a
                        + (3.0 * s2 - 2.0 * s3) * b
                        + (s3 - s2) * step * m_b;
                }
            }
        }
    }

    /// Whether it has the size of a declaration.
    fn fits(&self, spec: &DelaySpec, dim: usize) -> bool {
        let n = spec.samples;
        self.times.len() == n && self.values.len() == n * dim && self.newest < n
    }
}

/// The rings of a simulation: those of actuators and sensors with delays, in the order of the world.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Samples {
    pub controls: Vec<SampleRing>,
    pub sensors: Vec<SampleRing>,
}

impl Samples {
    /// Rings of zeros.
    pub fn new(world: &World, (time, time_step): (f64, f64)) -> Self {
        let start = |(spec, dim)| SampleRing::new(spec, dim, (time, time_step));
        Self {
            controls: delayed_controls(world)
                .map(|(spec, range)| start((spec, range.len())))
                .collect(),
            sensors: delayed_sensors(world)
                .map(|(spec, range)| start((spec, range.len())))
                .collect(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.controls.is_empty() && self.sensors.is_empty()
    }

    /// Starts again if a state is earlier than the last sample.
    pub fn restart(&mut self, world: &World, (time, time_step): (f64, f64)) {
        let controls = self.controls.iter_mut().zip(delayed_controls(world).map(|found| found.0));
        let sensors = self.sensors.iter_mut().zip(delayed_sensors(world).map(|found| found.0));
        for (ring, spec) in controls.chain(sensors) {
            if time <= ring.latest() {
                ring.start(spec, (time, time_step));
            }
        }
    }

    /// Whether the rings have the sizes of a world.
    pub fn fits(&self, world: &World) -> bool {
        let controls = delayed_controls(world).collect::<Vec<_>>();
        let sensors = delayed_sensors(world).collect::<Vec<_>>();
        let fit = |rings: &[SampleRing], specs: &[(&DelaySpec, std::ops::Range<usize>)]| {
            let fits =
                |(ring, (spec, range)): (&SampleRing, &(&DelaySpec, std::ops::Range<usize>))| {
                    ring.fits(spec, range.len())
                };
            rings.len() == specs.len() && rings.iter().zip(specs).all(fits)
        };
        fit(&self.controls, &controls) && fit(&self.sensors, &sensors)
    }

    /// Adds the controls at the start of a step.
    pub fn add_controls(&mut self, world: &World, time: f64, control: &[f64]) {
        for (ring, (spec, range)) in self.controls.iter_mut().zip(delayed_controls(world)) {
            ring.add(spec, time, &control[range]);
        }
    }

    /// Replaces controls by those that act at `time`.
    /// `changed` becomes true if one is another than before.
    pub fn delay_controls(
        &self,
        world: &World,
        time: f64,
        control: &mut [f64],
        changed: &mut bool,
    ) {
        for (ring, (spec, range)) in self.controls.iter().zip(delayed_controls(world)) {
            // No actuator has more inputs.
            let mut acting = [0.0; 3];
            if let Some(acting) = acting.get_mut(..range.len()).filter(|_| spec.delay > 0.0) {
                ring.read(time - spec.delay, spec.interpolation, acting);
                *changed |= control[range.clone()] != *acting;
                control[range].copy_from_slice(acting);
            }
        }
    }

    /// Adds the readings of a step that began at `time`.
    pub fn add_readings(&mut self, world: &World, time: f64, readings: &[f64]) {
        for (ring, (spec, range)) in self.sensors.iter_mut().zip(delayed_sensors(world)) {
            ring.add(spec, time, &readings[range]);
        }
    }

    /// Replaces readings by those that sensors return at `time`.
    pub fn delay_readings(&self, world: &World, time: f64, readings: &mut [f64]) {
        for (ring, (spec, range)) in self.sensors.iter().zip(delayed_sensors(world)) {
            if spec.delay > 0.0 || !ring.is_due(spec, time) {
                ring.read(time - spec.delay, spec.interpolation, &mut readings[range]);
            }
        }
    }
}

/// Actuators with samples, and the ranges of their controls.
fn delayed_controls(world: &World) -> impl Iterator<Item = (&DelaySpec, std::ops::Range<usize>)> {
    let actuators = world.model.actuators().iter();
    actuators
        .filter_map(|actuator| Some((actuator.spec.delay.as_ref()?, actuator.controls.clone())))
}

/// Sensors with samples, and the ranges of their readings.
fn delayed_sensors(world: &World) -> impl Iterator<Item = (&DelaySpec, std::ops::Range<usize>)> {
    let sensors = world.sensors().iter().zip(world.sensor_ranges());
    sensors.filter_map(|(sensor, range)| Some((sensor.delay.as_ref()?, range)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(samples: usize, period: f64) -> DelaySpec {
        let interpolation = SampleInterpolation::Hold;
        DelaySpec { samples, delay: 0.0, interpolation, period, phase: 0.0 }
    }

    fn read(ring: &SampleRing, time: f64, interpolation: SampleInterpolation) -> f64 {
        let mut out = [f64::NAN];
        ring.read(time, interpolation, &mut out);
        out[0]
    }

    #[test]
    fn samples_are_read_as_polynomials_of_time() {
        // The square of the time at 0, 1, 2, 3; all numbers are dyadic.
        let spec = spec(4, 0.0);
        let mut ring = SampleRing::new(&spec, 1, (0.0, 1.0));
        assert_eq!(ring.times, [-4.0, -3.0, -2.0, -1.0]);
        (0..4).map(f64::from).for_each(|t| ring.add(&spec, t, &[t * t]));
        assert_eq!(read(&ring, 1.5, SampleInterpolation::Hold), 1.0);
        assert_eq!(read(&ring, 1.5, SampleInterpolation::Linear), 2.5);
        // The slopes over the neighbours are those of the square: the cubic is exact between inner samples.
        assert_eq!(read(&ring, 1.5, SampleInterpolation::Cubic), 2.25);
        for at in
            [SampleInterpolation::Hold, SampleInterpolation::Linear, SampleInterpolation::Cubic]
        {
            assert_eq!(read(&ring, 2.0, at), 4.0);
            assert_eq!([read(&ring, -9.0, at), read(&ring, 9.0, at)], [0.0, 9.0]);
        }
    }

    #[test]
    fn samples_with_a_period_are_taken_at_the_first_step_after_it() {
        // The example of MuJoCo's documentation: steps of 1, a period of 2.5.
        let spec = spec(20, 2.5);
        let mut ring = SampleRing::new(&spec, 1, (0.0, 1.0));
        let taken = |t: &f64| ring.is_due(&spec, *t);
        assert!(taken(&0.0));
        let mut times = Vec::new();
        for t in (0..14).map(f64::from) {
            let due = ring.is_due(&spec, t);
            ring.add(&spec, t, &[t]);
            times.extend(due.then_some(t));
        }
        assert_eq!(times, [0.0, 3.0, 5.0, 8.0, 10.0, 13.0]);
        assert_eq!(read(&ring, 7.0, SampleInterpolation::Hold), 5.0);
    }
}
