//! The root of an increasing function of one variable.

/// Finds x in `[low, high]` with `f(x) = 0` for an increasing f with `f(low) < 0 < f(high)`,
/// given as a pair (value, slope), and the number of evaluations.
///
/// Newton's method from `start`, with bisection whenever a step would leave the bracket or the
/// bracket does not shrink fast enough. Ends when a step is below `tolerance`, relative to
/// `max(1, |x|)`. The slope may jump, as that of a piecewise quadratic function does.
pub fn increasing(
    mut f: impl FnMut(f64) -> (f64, f64),
    low: f64,
    high: f64,
    start: f64,
    tolerance: f64,
) -> (f64, usize) {
    const LIMIT: usize = 100;
    let (mut lo, mut hi, mut x) = (low, high, start);
    let mut last_step = hi - lo;
    let (mut value, mut slope) = f(x);
    for evaluations in 1..=LIMIT {
        if value == 0.0 {
            return (x, evaluations);
        }
        if value < 0.0 {
            lo = x;
        } else {
            hi = x;
        }
        let newton = x - value / slope;
        let inside = newton > lo && newton < hi;
        let slow = (2.0 * value).abs() > (last_step * slope).abs();
        let next = if inside && !slow { newton } else { 0.5 * (lo + hi) };
        last_step = next - x;
        if last_step.abs() <= tolerance * x.abs().max(1.0) {
            return (next, evaluations);
        }
        x = next;
        (value, slope) = f(x);
    }
    (x, LIMIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_of_a_kinked_function_is_found_to_round_off() {
        // f = x − 1 below 2 and steep above; the root of f = 0 is 1.
        let kinked = |x: f64| if x < 2.0 { (x - 1.0, 1.0) } else { (1.0 + 1e6 * (x - 2.0), 1e6) };
        let (x, evaluations) = increasing(kinked, 0.0, 3.0, 3.0, 1e-15);
        assert!((x - 1.0).abs() <= 1e-15 && evaluations <= 10, "{x} {evaluations}");
    }

    #[test]
    fn a_flat_slope_is_bisected() {
        let cube = |x: f64| ((x - 0.3).powi(3), 0.0);
        let (x, _) = increasing(cube, 0.0, 1.0, 0.9, 1e-12);
        assert!((x - 0.3).abs() <= 1e-11, "{x}");
    }
}
