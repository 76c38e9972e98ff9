//! Means, medians and power laws of measurements.

/// The middle of the values, or the mean of the two in the middle; NaN if there are none.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[n / 2],
        n => 0.5 * (values[n / 2 - 1] + values[n / 2]),
    }
}

/// The mean; NaN if there are no values.
pub fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = values.into_iter().fold((0.0, 0.0), |(s, n), x| (s + x, n + 1.0));
    sum / count
}

/// Exponent of a power law through points, by least squares of logarithms.
pub fn power_law_exponent(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let log = |f: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>() / n;
    let (x, y) = (log(&|p| p.0.ln()), log(&|p| p.1.ln()));
    let cross: f64 = points.iter().map(|p| (p.0.ln() - x) * (p.1.ln() - y)).sum();
    let square: f64 = points.iter().map(|p| (p.0.ln() - x).powi(2)).sum();
    cross / square
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_ignores_the_order_and_halves_the_middle_pair() {
        assert_eq!(median([3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median([4.0, 1.0, 3.0, 2.0]), 2.5);
        assert!(median([]).is_nan() && mean([]).is_nan());
        assert_eq!(mean([1.0, 2.0, 6.0]), 3.0);
    }
}
