//! The root of an increasing function of one variable.
//!
//! Newton's method kept inside a shrinking bracket, with bisection where a Newton step would leave
//! it or falls short of halving the step before last [Press07, Sec. 9.4]. It needs values and slopes
//! of a continuous function whose slope may jump; three to eight evaluations are usual.

/// Evaluations after which the bracket is narrower than the spacing of floating-point numbers.
const MOST_EVALUATIONS: usize = 100;

/// Finds x with f(x) = 0 for an increasing f with f(lo) ≤ 0 ≤ f(hi), starting from `start`.
///
/// `f_and_slope` returns the pair (f(x), f′(x)). Stops when a step is at most `tol`·max(1, |x|).
/// Returns the root and the number of evaluations. If f does not change sign between the ends, the
/// end nearest to a change is approached.
pub fn increasing(
    mut f_and_slope: impl FnMut(f64) -> (f64, f64),
    lo: f64,
    hi: f64,
    start: f64,
    tol: f64,
) -> (f64, usize) {
    let (mut lo, mut hi) = (lo.min(hi), hi.max(lo));
    let mut x = start.clamp(lo, hi);
    let (mut step, mut last_step) = (hi - lo, hi - lo);
    for evaluations in 1..=MOST_EVALUATIONS {
        let (f, slope) = f_and_slope(x);
        if f == 0.0 {
            return (x, evaluations);
        }
        *(if f < 0.0 { &mut lo } else { &mut hi }) = x;

        let newton = x - f / slope;
        let inside = newton >= lo && newton <= hi; // false for NaN, too
        let next = if inside && 2.0 * f.abs() <= (last_step * slope).abs() {
            last_step = step;
            step = f / slope;
            newton
        } else {
            last_step = step;
            step = 0.5 * (hi - lo);
            lo + step
        };
        if (next - x).abs() <= tol * x.abs().max(1.0) {
            return (next, evaluations);
        }
        x = next;
    }
    (x, MOST_EVALUATIONS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_solved_by_one_newton_step() {
        let (x, evaluations) = increasing(|x| (2.0 * x - 1.0, 2.0), 0.0, 1.5, 1.0, 1e-14);
        assert_eq!(x, 0.5);
        assert_eq!(evaluations, 2);
    }

    #[test]
    fn smooth_and_kinked_functions_are_solved_to_the_tolerance() {
        type Case = (fn(f64) -> (f64, f64), f64);
        let cases: [Case; 4] = [
            (|x| (x * x * x - 2.0, 3.0 * x * x), 2f64.cbrt()),
            (|x| (x.exp() - 5.0, x.exp()), 5f64.ln()),
            // Slope one below the kink at 0.3, a thousand above it.
            (
                |x| {
                    if x < 0.3 { (x - 0.4, 1.0) } else { (1e3 * (x - 0.3) - 0.1, 1e3) }
                },
                0.3001,
            ),
            // Flat but for a steep step: Newton alone would leave every bracket.
            (|x| ((50.0 * (x - 1.2)).tanh(), 50.0 / (50.0 * (x - 1.2)).cosh().powi(2)), 1.2),
        ];
        for (k, (f, exact)) in cases.into_iter().enumerate() {
            let (x, evaluations) = increasing(f, -1.0, 4.0, 1.0, 1e-14);
            // A step below the tolerance, plus the rounding of f over its slope.
            assert!((x - exact).abs() <= 1e-13, "case {k}: {x} against {exact}");
            assert!(evaluations <= 60, "case {k}: {evaluations}");
        }
    }

    #[test]
    fn a_function_of_one_sign_is_followed_to_the_end_of_the_bracket() {
        let (x, _) = increasing(|x| (x - 10.0, 1.0), 0.0, 1.0, 0.5, 1e-14);
        assert!((x - 1.0).abs() <= 1e-13);
    }

    #[test]
    fn a_slope_of_zero_or_nan_is_bisected() {
        for slope in [0.0, f64::NAN] {
            let (x, _) = increasing(|x| (x - 0.7, slope), 0.0, 1.0, 0.0, 1e-14);
            assert!((x - 0.7).abs() <= 1e-13);
        }
    }
}
