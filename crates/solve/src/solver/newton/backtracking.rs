//! Backtracking line search with Armijo's criterion [Castro22, Sec. IV-B].
//!
//! Deviation: among the lengths α_max ρᵏ the search goes on as long as the cost falls, so that near the solution the full
//! Newton step 1 = α_max ρ is taken instead of the first length that is accepted, α_max.
//! Cost: one evaluation of the cost per length.

/// Longest step α_max, 1/ρ, factor ρ and parameter c of Armijo's criterion [-].
const SHRINK: f64 = 0.8;
const LONGEST: f64 = 1.0 / SHRINK;
const ARMIJO: f64 = 1e-4;
/// Most lengths that are tried: the last is 1e-10 of the first.
const MOST_TRIALS: usize = 100;
/// Decrease of the cost that is promised, relative to the cost, below which differences of costs are round-off [-].
const ROUND_OFF: f64 = 1e-14;

/// A step length at which the cost has fallen enough. `cost` is the cost at a length, `slope` its derivative at zero, which
/// is negative, and `size` the magnitude of its terms. `None` if no length is accepted.
pub(super) fn search(cost: impl Fn(f64) -> f64, slope: f64, size: f64) -> Option<f64> {
    let start = cost(0.0);
    if -slope <= ROUND_OFF * size {
        return Some(1.0);
    }
    let is_enough = |length: f64, cost: f64| cost < start + ARMIJO * length * slope;
    let (mut length, mut last) = (LONGEST, cost(LONGEST));
    for _ in 0..MOST_TRIALS {
        let shorter = SHRINK * length;
        let next = cost(shorter);
        if is_enough(length, last) && !(next < last) {
            return Some(length);
        }
        (length, last) = (shorter, next);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_full_step_is_taken_on_a_quadratic_cost() {
        let cost = |x: f64| 3.0 - x + 0.5 * x * x;
        let found = search(cost, -1.0, 3.0).unwrap();
        // 1.25 · 0.8, to round-off.
        assert!((found - 1.0).abs() <= 1e-15, "{found}");
    }

    #[test]
    fn a_step_that_is_too_long_is_shortened_until_the_cost_falls() {
        // Its minimum is at x = 0.1, beyond which it rises steeply.
        let cost = |x: f64| if x < 0.1 { -x } else { -0.1 + 100.0 * (x - 0.1) };
        let found = search(cost, -1.0, 1.0).unwrap();
        assert!(cost(found) < -ARMIJO * found && found >= 0.08, "{found}");
        assert_eq!(search(|x| x, -1.0, 1.0), None);
    }
}
