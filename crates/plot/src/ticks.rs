//! Positions and labels of the ticks of an axis.
//!
//! Linear axes step by 1, 2 or 5 times a power of ten; logarithmic axes by decades, by several
//! decades when there are many, and by the mantissas 1, 2, 5 when there are few.

use crate::axis::Scale;
use crate::projection::Projection;

/// The label of a tick.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Label {
    /// Plain text.
    Plain(String),
    /// `mantissa × 10^exponent`; a mantissa of one is not written.
    Power { mantissa: u32, exponent: i32 },
}

/// One tick; a tick without label is a minor tick.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    /// Position on the axis, in `[0, 1]`.
    pub position: f64,
    pub label: Option<Label>,
}

/// The ticks of one axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ticks {
    pub ticks: Vec<Tick>,
    /// Power of ten by which every plain label is multiplied; zero for none.
    pub factor: i32,
}

/// Ticks for an axis with space for about `space` labels.
pub(crate) fn ticks(map: &Projection, space: usize) -> Ticks {
    match map.scale {
        Scale::Linear => linear(map, space),
        Scale::Log => log(map, space),
    }
}

/// Smallest of 1, 2, 5 × 10^k that is at least `width / space`.
pub(crate) fn nice_step(width: f64, space: usize) -> f64 {
    let raw = width / space.max(1) as f64;
    let power = 10f64.powf(raw.log10().floor());
    // The tolerance absorbs round-off where the width is a whole number of steps.
    let steps = [1.0, 2.0, 5.0, 10.0].map(|m| m * power);
    steps.into_iter().find(|s| *s >= raw * (1.0 - 1e-9)).unwrap_or(raw)
}

fn linear(map: &Projection, space: usize) -> Ticks {
    let (low, high) = (map.low, map.high);
    let step = nice_step((high - low).min(f64::MAX), space);
    if !step.is_normal() {
        return Ticks { ticks: Vec::new(), factor: 0 }; // narrower than the spacing of numbers
    }
    let largest = low.abs().max(high.abs());
    let magnitude = largest.log10().floor() as i32;
    let factor = if (-3..5).contains(&magnitude) { 0 } else { magnitude };
    let shown_step = step.log10() - f64::from(factor);
    let decimals = (-(shown_step + 1e-9).floor()).clamp(0.0, 15.0) as usize;

    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    let tick = |k: i64| {
        let value = k as f64 * step;
        let shown = value / 10f64.powi(factor);
        let text = format!("{shown:.decimals$}").replace('-', "\u{2212}");
        let position = map.position(value)?.clamp(0.0, 1.0);
        Some(Tick { position, label: Some(Label::Plain(text)) })
    };
    Ticks { ticks: (first..=last).filter_map(tick).collect(), factor }
}

fn log(map: &Projection, space: usize) -> Ticks {
    let first = map.low.floor() as i32;
    let last = map.high.ceil() as i32;
    let decades = (map.high - map.low).max(f64::MIN_POSITIVE);
    let stride = [1, 2, 3, 4, 5, 10, 20, 50, 100]
        .into_iter()
        .find(|s| decades / f64::from(*s) <= space as f64)
        .unwrap_or(100);
    let labelled: &[u32] = match decades {
        d if d < 0.7 => &[1, 2, 3, 4, 5, 6, 7, 8, 9],
        d if d < 2.5 && space > 5 => &[1, 2, 5],
        _ => &[1],
    };
    let minor = if 2.0 * decades <= space as f64 { 1..=9 } else { 1..=1 };

    // Numbers of moderate size are written in full, not as powers of ten.
    let plain = map.low >= -2.0 - 1e-9 && map.high <= 3.5;
    let mut ticks = Vec::new();
    for exponent in first..=last {
        for mantissa in minor.clone() {
            let coordinate = f64::from(exponent) + f64::from(mantissa).log10();
            let position = (coordinate - map.low) / (map.high - map.low);
            if !(-1e-9..=1.0 + 1e-9).contains(&position) {
                continue;
            }
            let has_label = labelled.contains(&mantissa) && exponent.rem_euclid(stride) == 0;
            let label = has_label.then(|| {
                if plain {
                    let value = f64::from(mantissa) * 10f64.powi(exponent);
                    Label::Plain(format!("{value:.*}", (-exponent).max(0) as usize))
                } else {
                    Label::Power { mantissa, exponent }
                }
            });
            ticks.push(Tick { position: position.clamp(0.0, 1.0), label });
        }
    }
    Ticks { ticks, factor: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::Axis;

    fn labels(axis: Axis, space: usize) -> (Vec<String>, i32) {
        let found = ticks(&Projection::fit(&axis, std::iter::empty()), space);
        let text = |label: Label| match label {
            Label::Plain(text) => text,
            Label::Power { mantissa, exponent } => format!("{mantissa}e{exponent}"),
        };
        (found.ticks.into_iter().filter_map(|t| t.label).map(text).collect(), found.factor)
    }

    #[test]
    fn steps_are_one_two_or_five_times_a_power_of_ten() {
        for k in 0..400 {
            let width = 10f64.powf(-6.0 + 0.03 * f64::from(k));
            let step = nice_step(width, 5);
            let mantissa = step / 10f64.powf(step.log10().floor());
            let near = |m: f64| (mantissa - m).abs() < 1e-6;
            assert!(near(1.0) || near(2.0) || near(5.0) || near(10.0), "{width}: {step}");
            // Never more than `space` steps, and never fewer than 1/2.5 of them.
            assert!(width / step <= 5.0 + 1e-6 && width / step >= 2.0 - 1e-6, "{width}: {step}");
        }
    }

    #[test]
    fn linear_labels_carry_the_decimals_of_the_step() {
        assert_eq!(
            labels(Axis::linear("").range(0.0, 1.0), 5).0,
            ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        );
        assert_eq!(
            labels(Axis::linear("").range(-40.0, 40.0), 4).0,
            ["−40", "−20", "0", "20", "40"]
        );
    }

    #[test]
    fn very_small_and_very_large_values_share_a_power_of_ten() {
        assert_eq!(
            labels(Axis::linear("").range(0.0, 4e-6), 4),
            (["0", "1", "2", "3", "4"].map(String::from).to_vec(), -6)
        );
        assert_eq!(labels(Axis::linear("").range(0.0, 2e6), 4).1, 6);
    }

    #[test]
    fn many_decades_are_labelled_in_strides_with_every_decade_ticked() {
        let axis = Axis::log("").range(1e-16, 1e4);
        let (found, _) = labels(axis.clone(), 8);
        assert_eq!(found, ["1e-15", "1e-12", "1e-9", "1e-6", "1e-3", "1e0", "1e3"]);
        let all = ticks(&Projection::fit(&axis, std::iter::empty()), 8);
        assert_eq!(all.ticks.len(), 21);
    }

    #[test]
    fn less_than_three_decades_near_one_are_written_in_full() {
        let (found, _) = labels(Axis::log("").range(1.0, 100.0), 7);
        assert_eq!(found, ["1", "2", "5", "10", "20", "50", "100"]);
    }

    #[test]
    fn extreme_ranges_give_few_ticks() {
        for axis in [
            Axis::linear("").range(f64::MIN, f64::MAX),
            Axis::linear("").range(0.0, f64::from_bits(1)),
            Axis::linear("").range(1.0, 1.0 + f64::EPSILON),
            Axis::log("").range(f64::from_bits(1), f64::MAX),
            Axis::log("").range(1.0, 1.0 + f64::EPSILON),
        ] {
            let found = ticks(&Projection::fit(&axis, std::iter::empty()), 6);
            assert!(found.ticks.len() < 700, "{axis:?}: {}", found.ticks.len());
            assert!(found.ticks.iter().all(|t| (0.0..=1.0).contains(&t.position)), "{axis:?}");
        }
    }
}
