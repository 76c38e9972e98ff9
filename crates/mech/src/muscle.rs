//! Muscles: active force by length and rate, passive force, and the dynamics of activation.
//!
//! A muscle of peak force F₀ and activation a pulls with `F₀ (FL(L) FV(V) a + FP(L))`; the force of the
//! actuator is the negative of it. L and V are length and rate in units of the optimal length L₀ and of
//! the largest speed of shortening. The curves are piecewise quadratic with continuous slopes, as
//! documented for MuJoCo [Todorov12]; activation follows a first-order filter whose time constants depend on
//! the activation [Millard13].

/// Least divisor, against degenerate parameters.
const LEAST: f64 = 1e-15;

/// Parameters of a muscle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Muscle {
    /// Length of the actuator at the ends of its range [m], which has L = `range`.
    pub length_range: [f64; 2],
    /// L at the ends of the range of lengths [-].
    pub range: [f64; 2],
    /// Peak active force F₀ at rest [N].
    pub peak_force: f64,
    /// L below which there is no active force [-].
    pub shortest: f64,
    /// L above which there is no active force [-].
    pub longest: f64,
    /// Largest speed of shortening [1/s], in units of L₀.
    pub fastest: f64,
    /// Passive force at `longest`, relative to F₀ [-].
    pub passive: f64,
    /// Active force at the saturated lengthening speed, relative to F₀ [-].
    pub lengthening: f64,
}

impl Muscle {
    /// Optimal length L₀ [m].
    pub fn optimal_length(&self) -> f64 {
        let lengths = self.length_range[1] - self.length_range[0];
        lengths / (self.range[1] - self.range[0]).max(LEAST)
    }

    /// Length in units of L₀, and its slope over the length [1/m].
    fn normalised_length(&self, length: f64) -> (f64, f64) {
        let per_length = 1.0 / self.optimal_length().max(LEAST);
        (self.range[0] + (length - self.length_range[0]) * per_length, per_length)
    }

    /// Active force per unit of activation [N], negative since it pulls, and its slopes over length and
    /// rate.
    pub fn gain(&self, length: f64, rate: f64) -> (f64, [f64; 2]) {
        let (L, per_length) = self.normalised_length(length);
        let per_rate = 1.0 / (self.optimal_length() * self.fastest).max(LEAST);
        let (FL, FL_slope) = self.active_by_length(L);
        let (FV, FV_slope) = self.active_by_rate(rate * per_rate);
        let F = -self.peak_force;
        (F * FL * FV, [F * FL_slope * per_length * FV, F * FL * FV_slope * per_rate])
    }

    /// Passive force [N], negative since it pulls, and its slope over the length.
    pub fn bias(&self, length: f64) -> (f64, f64) {
        let (L, per_length) = self.normalised_length(length);
        let width = (0.5 * (self.longest - 1.0)).max(LEAST);
        let x = (L - 1.0) / width;
        let (FP, slope) = if x <= 0.0 {
            (0.0, 0.0)
        } else if x <= 1.0 {
            (0.5 * x * x, x)
        } else {
            (x - 0.5, 1.0)
        };
        let F = -self.peak_force * self.passive;
        (F * FP, F * slope * per_length / width)
    }

    /// FL(L) and its slope: 1 at L = 1, zero outside of `shortest` … `longest`.
    fn active_by_length(&self, L: f64) -> (f64, f64) {
        if !(self.shortest <= L && L <= self.longest) {
            return (0.0, 0.0);
        }
        let (end, sign) = if L <= 1.0 { (self.shortest, 1.0) } else { (self.longest, -1.0) };
        let middle = 0.5 * (end + 1.0);
        // Half-parabolas that meet in the middle between the end and the peak.
        if sign * (L - middle) <= 0.0 {
            let width = (sign * (middle - end)).max(LEAST);
            let x = sign * (L - end) / width;
            (0.5 * x * x, sign * x / width)
        } else {
            let width = (sign * (1.0 - middle)).max(LEAST);
            let x = sign * (1.0 - L) / width;
            (1.0 - 0.5 * x * x, sign * x / width)
        }
    }

    /// FV(V) and its slope: zero at the largest speed of shortening, V = −1, and 1 at rest.
    fn active_by_rate(&self, V: f64) -> (f64, f64) {
        let excess = self.lengthening - 1.0;
        if V <= -1.0 {
            (0.0, 0.0)
        } else if V <= 0.0 {
            ((V + 1.0) * (V + 1.0), 2.0 * (V + 1.0))
        } else if V <= excess {
            let (left, width) = (excess - V, excess.max(LEAST));
            (self.lengthening - left * left / width, 2.0 * left / width)
        } else {
            (self.lengthening, 0.0)
        }
    }
}

/// Time constants of the activation of a muscle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MuscleActivation {
    /// Of activation [s].
    pub rise: f64,
    /// Of deactivation [s].
    pub fall: f64,
    /// Width of the smooth transition between the two, in units of the control [-]; zero for a jump.
    pub smoothing: f64,
}

impl MuscleActivation {
    /// Difference of the control and the activation, and the time constant with which it decays [s].
    pub fn decay(&self, control: f64, activation: f64) -> (f64, f64) {
        let excess = control.clamp(0.0, 1.0) - activation;
        let factor = 0.5 + 1.5 * activation.clamp(0.0, 1.0);
        let (rise, fall) = (self.rise * factor, self.fall / factor);
        let time = if self.smoothing < LEAST {
            if excess > 0.0 { rise } else { fall }
        } else {
            fall + (rise - fall) * sigmoid(excess / self.smoothing + 0.5)
        };
        (excess, time.max(LEAST))
    }
}

/// A polynomial step from 0 to 1 with continuous first and second derivatives.
fn sigmoid(x: f64) -> f64 {
    if x <= 0.0 {
        0.0
    } else if x >= 1.0 {
        1.0
    } else {
        x * x * x * (3.0 * x * (2.0 * x - 5.0) + 10.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn muscle() -> Muscle {
        Muscle {
            length_range: [0.1, 0.4],
            range: [0.75, 1.05],
            peak_force: 3.0,
            shortest: 0.5,
            longest: 1.6,
            fastest: 1.5,
            passive: 1.3,
            lengthening: 1.2,
        }
    }

    #[test]
    fn force_curves_are_continuous_and_have_continuous_slopes_inside_their_ranges() {
        let m = muscle();
        // Slopes in normalised units are at most 4/(1 − shortest)... of order 10: a jump of a curve
        // would exceed the change over ε by far.
        let eps = 1e-7;
        let bound = 20.0 * eps;
        for k in 0..200 {
            let L = 0.4 + 1.4 * f64::from(k) / 200.0;
            for (f, x) in [
                (m.active_by_length(L + eps).0 - m.active_by_length(L - eps).0, "FL"),
                (m.active_by_rate(L - 1.2 + eps).0 - m.active_by_rate(L - 1.2 - eps).0, "FV"),
            ] {
                assert!(f.abs() <= bound, "{x} jumps by {f} at {L}");
            }
        }
        // At the joints of the pieces the slopes agree from both sides, up to the second derivative (of
        // order 20) times the distance.
        for joint in [0.75, 1.0, 1.3] {
            let slope = |L| m.active_by_length(L).1;
            assert!(
                (slope(joint + eps) - slope(joint - eps)).abs() <= 100.0 * eps,
                "FL at {joint}"
            );
        }
        for joint in [-1.0, 0.2] {
            let slope = |V| m.active_by_rate(V).1;
            assert!(
                (slope(joint + eps) - slope(joint - eps)).abs() <= 100.0 * eps,
                "FV at {joint}"
            );
        }
    }

    #[test]
    fn slopes_are_the_derivatives_of_the_forces() {
        let m = muscle();
        let h = 1e-6;
        for k in 0..40 {
            let (length, rate) = (0.05 + 0.0231 * f64::from(k), -1.8 + 0.0931 * f64::from(k));
            let (_, [by_length, by_rate]) = m.gain(length, rate);
            let central = |f: &dyn Fn(f64) -> f64| (f(h) - f(-h)) / (2.0 * h);
            // Truncation h² f''' and round-off ε f/h are both below 1e-8 of the scale of slopes, 100 N/m;
            // at a joint of two pieces the second derivative jumps, an error of h f''.
            let tolerance = 1e-3;
            assert!((central(&|d| m.gain(length + d, rate).0) - by_length).abs() <= tolerance);
            assert!((central(&|d| m.gain(length, rate + d).0) - by_rate).abs() <= tolerance);
            assert!((central(&|d| m.bias(length + d).0) - m.bias(length).1).abs() <= tolerance);
        }
    }

    #[test]
    fn an_isometric_muscle_of_optimal_length_exerts_its_peak_force() {
        let m = muscle();
        // L = 1 lies 0.25 of L₀ = 1 m above the lower end of the range.
        let (gain, _) = m.gain(0.35, 0.0);
        assert!((gain + 3.0).abs() <= 1e-14);
        assert_eq!(m.bias(0.35).0, 0.0);
        // At `longest` there is no active force, and the passive force is fpmax (1.5 of half-parabolas
        // of height ½: ½ + 1).
        let at_longest = 0.35 + 0.6;
        assert!(m.gain(at_longest, 0.0).0.abs() <= 1e-12);
        assert!((m.bias(at_longest).0 + 3.0 * 1.3 * 1.5).abs() <= 1e-12);
    }

    #[test]
    fn activation_rises_and_falls_with_its_time_constants() {
        let jump = MuscleActivation { rise: 0.01, fall: 0.04, smoothing: 0.0 };
        let (excess, time) = jump.decay(1.0, 0.0);
        assert!((excess - 1.0).abs() <= 1e-15 && (time - 0.005).abs() <= 1e-15);
        let (excess, time) = jump.decay(0.0, 1.0);
        assert!((excess + 1.0).abs() <= 1e-15 && (time - 0.02).abs() <= 1e-15);
        // In the middle of the smooth transition the two are averaged.
        let smooth = MuscleActivation { smoothing: 0.4, ..jump };
        let (_, time) = smooth.decay(0.5, 0.5);
        let factor = 0.5 + 1.5 * 0.5;
        assert!((time - 0.5 * (0.01 * factor + 0.04 / factor)).abs() <= 1e-15);
    }
}
