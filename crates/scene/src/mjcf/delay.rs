//! `nsample`, `interp`, `delay` and `interval` of sensors and actuators: samples of the past.

use stiction_mech::{DelaySpec, SampleInterpolation};

use crate::error::SceneError;
use crate::xml::Element;

/// The attributes, as the layers of an actuator refine them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DelayAttributes {
    samples: i64,
    delay: f64,
    interpolation: SampleInterpolation,
    interval: [f64; 2],
}

/// The samples that an element has after those of its outer layers; `None` without any.
pub(super) fn read(
    element: &Element,
    given: &mut DelayAttributes,
) -> Result<Option<DelaySpec>, SceneError> {
    let words = [
        ("zoh", SampleInterpolation::Hold),
        ("linear", SampleInterpolation::Linear),
        ("cubic", SampleInterpolation::Cubic),
    ];
    given.samples = element.integer("nsample")?.unwrap_or(given.samples);
    given.delay = element.number("delay")?.unwrap_or(given.delay);
    given.interpolation = element.choice("interp", &words)?.unwrap_or(given.interpolation);
    given.interval = element.array_or("interval", given.interval)?;
    let DelayAttributes { samples, delay, interpolation, interval: [period, phase] } = *given;
    if samples < 0 {
        return Err(element.wrong("nsample", "a number that is not negative"));
    }
    if samples == 0 {
        if delay > 0.0 || period > 0.0 {
            return Err(element.error("delay or interval without nsample; expected nsample > 0"));
        }
        return Ok(None);
    }
    let samples = usize::try_from(samples).unwrap_or(usize::MAX);
    let spec = DelaySpec { samples, delay, interpolation, period, phase };
    match spec.wrong() {
        Some((found, expected)) => Err(element.error(format_args!("{found}; expected {expected}"))),
        None => Ok(Some(spec)),
    }
}
