//! Maps values to positions on an axis: the range of the data, and the map onto `[0, 1]`.
//!
//! Limits are stored in the axis' own coordinate, the value itself or its decimal logarithm, so that
//! even the smallest positive number has a position.

use crate::axis::{Axis, Scale};

/// A linear axis with positive values starts at zero if the smallest value is below this fraction of
/// the largest [-].
const START_AT_ZERO_BELOW: f64 = 0.3;

/// Padding between the data and the ends of an axis, as a fraction of their extent [-].
const PAD: f64 = 0.04;

/// Extent [decades] beyond which a logarithmic axis ends at whole decades.
const WHOLE_DECADES_BEYOND: f64 = 2.5;

/// The map of one axis onto `[0, 1]`, low end to high end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Projection {
    pub scale: Scale,
    /// Lower limit in the axis' coordinate.
    pub low: f64,
    /// Upper limit in the axis' coordinate; greater than `low`.
    pub high: f64,
}

impl Projection {
    /// The projection with the range of the axis, or one that shows all `values` if it has none.
    pub fn fit(axis: &Axis, values: impl Iterator<Item = f64>) -> Self {
        let scale = axis.scale;
        let (low, high) = match (axis.range, scale) {
            (Some(range), Scale::Linear) => range,
            (Some((low, high)), Scale::Log) => (low.log10(), high.log10()),
            (None, Scale::Linear) => linear_limits(values),
            (None, Scale::Log) => log_limits(values),
        };
        Self { scale, low, high }
    }

    /// Position of `value`: 0 at the low end, 1 at the high end, `None` if it cannot be drawn.
    pub fn position(&self, value: f64) -> Option<f64> {
        let coordinate = match self.scale {
            _ if !value.is_finite() => return None,
            Scale::Linear => value,
            Scale::Log if value < 0.0 => return None,
            Scale::Log if value == 0.0 => self.low,
            Scale::Log => value.log10(),
        };
        // Halving first keeps the difference finite for limits of any size.
        Some((coordinate / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0))
    }
}

fn extent(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.filter(|v| v.is_finite()).fold(None, |seen, v| match seen {
        None => Some((v, v)),
        Some((low, high)) => Some((low.min(v), high.max(v))),
    })
}

fn linear_limits(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let Some((low, high)) = extent(values) else { return (0.0, 1.0) };
    if low == high {
        let pad = if low == 0.0 { 1.0 } else { 0.5 * low.abs() };
        return ((low - pad).max(f64::MIN), (low + pad).min(f64::MAX));
    }
    let pad = PAD * high - PAD * low;
    let start = if low >= 0.0 && low < START_AT_ZERO_BELOW * high { 0.0 } else { low - pad };
    (start.max(f64::MIN), (high + pad).min(f64::MAX))
}

/// Limits of a logarithmic axis: 1, 2 or 5 times a power of ten, or whole decades for a large range.
/// If a value is zero, one more decade is added below.
fn log_limits(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let mut has_zero = false;
    let positive = values.filter(|&v| {
        has_zero |= v == 0.0;
        v > 0.0
    });
    let Some((low, high)) = extent(positive).map(|(l, h)| (l.log10(), h.log10())) else {
        return (-1.0, 1.0);
    };
    let mantissas: &[f64] =
        if has_zero || high - low > WHOLE_DECADES_BEYOND { &[1.0] } else { &[1.0, 2.0, 5.0] };
    // The tolerance lets a value at a limit, up to the rounding of its logarithm, keep that limit.
    let slack = 1e-9;
    let ends = |decade: f64| mantissas.iter().map(move |m| decade + m.log10());
    let below = ends((low + slack).floor()).filter(|e| *e <= low + slack);
    let above = ends((high - slack).floor()).chain([(high - slack).floor() + 1.0]);
    let floor = below.fold(f64::NEG_INFINITY, f64::max);
    let ceiling = above.filter(|e| *e >= high - slack).fold(f64::INFINITY, f64::min);
    match (has_zero, floor < ceiling) {
        (true, _) => (floor - 1.0, ceiling.max(floor)),
        (false, true) => (floor, ceiling),
        (false, false) => (floor - 0.5, ceiling + 0.5),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decade_is_equally_long_everywhere_on_a_log_axis() {
        let axis = Axis::log("").range(1e-8, 1e2);
        let map = Projection::fit(&axis, std::iter::empty());
        for k in -8..=2 {
            let position = map.position(10f64.powi(k)).unwrap();
            // Closed form (k + 8)/10; round-off of log10 and powi is a few ulp of 8.
            assert!((position - f64::from(k + 8) / 10.0).abs() < 1e-14, "{k}: {position}");
        }
        let middle = map.position(1e-8f64.sqrt() * 1e2f64.sqrt()).unwrap();
        assert!((middle - 0.5).abs() < 1e-14); // the geometric mean of the ends lies halfway
    }

    #[test]
    fn zero_lies_at_the_lower_end_and_negative_or_non_finite_values_have_no_position() {
        let map = Projection::fit(&Axis::log(""), [0.0, 1e-3, 1.0].into_iter());
        assert_eq!((map.low, map.high), (-4.0, 0.0));
        assert_eq!(map.position(0.0), Some(0.0));
        for nowhere in [-1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(map.position(nowhere), None);
        }
    }

    #[test]
    fn few_decades_end_at_one_two_or_five_times_a_power_of_ten() {
        for (values, low, high) in [
            ([8.0, 256.0], 5.0, 500.0),
            ([1.0, 20.0], 1.0, 20.0),
            ([3e-9, 6e-9], 2e-9, 1e-8),
            ([3e-9, 6e2], 1e-9, 1e3),
        ] {
            let map = Projection::fit(&Axis::log(""), values.into_iter());
            let exact = (f64::log10(low), f64::log10(high));
            // Sums of logarithms of size 9 at most: a few ulp of 9.
            assert!((map.low - exact.0).abs() < 1e-14 && (map.high - exact.1).abs() < 1e-14);
        }
    }

    #[test]
    fn the_smallest_and_the_largest_number_have_a_position() {
        let log = Projection::fit(&Axis::log(""), [f64::from_bits(1), f64::MAX].into_iter());
        let linear = Projection::fit(&Axis::linear(""), [f64::MIN, f64::MAX].into_iter());
        for map in [log, linear] {
            let position = map.position(f64::MAX).unwrap();
            assert!((0.0..=1.0).contains(&position) && position > 0.9, "{position}");
        }
        assert_eq!(linear.position(0.0), Some(0.5));
    }

    #[test]
    fn without_data_there_is_still_an_axis() {
        for axis in [Axis::linear(""), Axis::log("")] {
            for values in [vec![], vec![f64::NAN], vec![0.0], vec![-3.0], vec![7.0, 7.0]] {
                let map = Projection::fit(&axis, values.into_iter());
                assert!(map.low < map.high && map.low.is_finite() && map.high.is_finite());
            }
        }
    }
}
