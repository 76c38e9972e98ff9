//! The soft constraint of MuJoCo as compliance and target velocity of a row.
//!
//! MuJoCo requires `a + R f = a_ref` of a constraint in acceleration space [Todorov14]. Times the step h it is
//! `c⁺ + R λ = v̂` for the next velocity c⁺ and the impulse λ of the row, with
//!
//! ```text
//! v̂ = c⁻ + h a_ref,   a_ref = −b c⁻ − k d(r) r,   R = (1 − d)/d · Â
//! ```
//!
//! - r: position error, negative in penetration, zero for dry friction;
//! - d(r): impedance between d₀ at r = 0 and d₁ at the width, along two powers that meet at the midpoint;
//! - k = 1/(d₁ T ζ)², b = 2/(d₁ T) for a reference (T, ζ); k = K/d₁², b = B/d₁ for (−K, −B);
//! - Â: inverse inertia along the row at the reference configuration ([`InverseWeights`](crate::InverseWeights)).
//!
//! At rest under a load the error is the root of `k d² r/(1 − d) = load · Â`: the force grows without bound
//! as d approaches one.

/// MuJoCo keeps impedances and midpoints away from 0 and 1 by this much [-].
const EDGE: f64 = 1e-4;
/// MuJoCo's least value of a compliance, of an inverse inertia and of denominators.
const LEAST: f64 = 1e-15;
/// Least time constant of a reference, in time steps: a stiffer one is unstable [-].
const LEAST_STEPS: f64 = 2.0;

/// Parameters of a soft constraint: MuJoCo's `solref` and `solimp`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftLaw {
    /// Time constant T [s] and damping ratio ζ [-], both positive; or stiffness −K [1/s²] and damping −B [1/s] per
    /// unit of mass, neither positive.
    pub reference: [f64; 2],
    /// Impedance without error [-] and at full width [-], width [m, rad], midpoint [-], power [-].
    pub impedance: [f64; 5],
}

impl Default for SoftLaw {
    /// MuJoCo's defaults.
    fn default() -> Self {
        Self { reference: [0.02, 1.0], impedance: [0.9, 0.95, 0.001, 0.5, 2.0] }
    }
}

/// Present errors of a row.
#[derive(Clone, Copy, Debug)]
pub struct SoftRowError {
    /// Position error r [m, rad]; negative in penetration.
    pub position: f64,
    /// Size of the error of the whole constraint, at which the impedance is evaluated [m, rad].
    pub size: f64,
    /// Velocity c⁻ at the start of the step [m/s, rad/s].
    pub velocity: f64,
}

/// Compliance and target velocity of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftRow {
    /// R [m/s per N·s, rad/s per N·m·s].
    pub compliance: f64,
    /// v̂ [m/s, rad/s].
    pub target: f64,
}

/// Lengths of time for which a row is computed [s].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LawSteps {
    /// The time over which the row acts: the time step, or a part of it.
    pub part: f64,
    /// The time step, which bounds the time constants of laws from below.
    pub whole: f64,
}

impl SoftLaw {
    /// Whether all numbers are finite.
    pub fn is_finite(&self) -> bool {
        self.reference.iter().chain(&self.impedance).all(|x| x.is_finite())
    }

    /// The parameters between two others: `weight` times `a` plus the rest of `b`. References of which one is
    /// given as stiffness do not mix: the stiffer counts.
    pub fn mix(a: &Self, b: &Self, weight: f64) -> Self {
        let mean = |x: f64, y: f64| weight * x + (1.0 - weight) * y;
        let are_times = a.reference[0] > 0.0 && b.reference[0] > 0.0;
        let reference = |k: usize| {
            let (x, y) = (a.reference[k], b.reference[k]);
            if are_times { mean(x, y) } else { x.min(y) }
        };
        Self {
            reference: std::array::from_fn(reference),
            impedance: std::array::from_fn(|k| mean(a.impedance[k], b.impedance[k])),
        }
    }

    /// d at an error of this size [m, rad].
    pub fn impedance_at(&self, size: f64) -> f64 {
        let [start, full, width, midpoint, power] = self.impedance;
        let inside = |x: f64| x.clamp(EDGE, 1.0 - EDGE);
        let (start, full, mid, p) = (inside(start), inside(full), inside(midpoint), power.max(1.0));
        if start == full || !(width > LEAST) {
            return 0.5 * (start + full);
        }
        let x = size.abs() / width;
        let y = if !(x < 1.0) {
            1.0
        } else if p == 1.0 {
            x
        } else if p == 2.0 {
            // MuJoCo's default.
            if x <= mid { x * x / mid } else { 1.0 - (1.0 - x) * (1.0 - x) / (1.0 - mid) }
        } else if x <= mid {
            x.powf(p) / mid.powf(p - 1.0)
        } else {
            1.0 - (1.0 - x).powf(p) / (1.0 - mid).powf(p - 1.0)
        };
        start + y * (full - start)
    }

    /// Stiffness k [1/s²] and damping b [1/s] of the reference acceleration, for a time step h [s].
    pub fn stiffness_and_damping(&self, time_step: f64) -> (f64, f64) {
        let full = self.impedance[1].clamp(EDGE, 1.0 - EDGE);
        let reference = match self.reference {
            [time, ratio] if (time > 0.0) != (ratio > 0.0) => Self::default().reference,
            reference => reference,
        };
        let [time, ratio] = reference;
        if !(time > 0.0) {
            return (-time / (full * full), -ratio / full);
        }
        let time = time.max(LEAST_STEPS * time_step);
        let stiffness = 1.0 / (full * full * time * time * ratio * ratio).max(LEAST);
        (stiffness, 2.0 / (full * time).max(LEAST))
    }

    /// Compliance and target velocity of a row with an inverse inertia Â [1/kg, 1/(kg·m²)].
    pub fn row(&self, error: SoftRowError, inverse_weight: f64, steps: LawSteps) -> SoftRow {
        let SoftRowError { position, size, velocity } = error;
        let d = self.impedance_at(size);
        let (k, b) = self.stiffness_and_damping(steps.whole);
        let acceleration = -b * velocity - k * d * position;
        SoftRow {
            compliance: ((1.0 - d) / d * inverse_weight.max(LEAST)).max(LEAST),
            target: velocity + steps.part * acceleration,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_impedance_is_monotone_and_meets_its_ends_and_its_midpoint() {
        for power in [1.0, 2.0, 3.5] {
            let law = SoftLaw { impedance: [0.2, 0.8, 0.01, 0.3, power], ..SoftLaw::default() };
            assert_eq!(law.impedance_at(0.0), 0.2);
            // One product and one sum.
            assert!((law.impedance_at(0.01) - 0.8).abs() <= 1e-15);
            assert!((law.impedance_at(1.0) - 0.8).abs() <= 1e-15);
            if power > 1.0 {
                // Both powers are mid at the midpoint: the impedance is that share of the way.
                assert!((law.impedance_at(0.003) - (0.2 + 0.3 * 0.6)).abs() <= 1e-14);
            }
            let values: Vec<f64> =
                (0..100).map(|k| law.impedance_at(f64::from(k) * 1.2e-4)).collect();
            assert!(values.is_sorted());
        }
        let narrow = SoftLaw { impedance: [0.2, 0.8, 0.0, 0.5, 2.0], ..SoftLaw::default() };
        assert_eq!(narrow.impedance_at(1.0), 0.5);
    }

    #[test]
    fn a_reference_as_stiffness_is_the_same_as_its_time_constant_and_ratio() {
        let (time, ratio): (f64, f64) = (0.1, 0.7);
        let times = SoftLaw { reference: [time, ratio], ..SoftLaw::default() };
        // k and b of both forms agree if K = 1/(T ζ)² and B = 2/T.
        let direct = [-1.0 / (time * ratio).powi(2), -2.0 / time];
        let direct = SoftLaw { reference: direct, ..SoftLaw::default() };
        let (a, b) = (times.stiffness_and_damping(1e-3), direct.stiffness_and_damping(1e-3));
        assert!((a.0 / b.0 - 1.0).abs() <= 1e-14 && (a.1 / b.1 - 1.0).abs() <= 1e-14);
    }

    #[test]
    fn time_constants_are_at_least_two_steps_and_mixed_signs_mean_the_default() {
        let fast = SoftLaw { reference: [1e-4, 1.0], ..SoftLaw::default() };
        let two_steps = SoftLaw { reference: [0.004, 1.0], ..SoftLaw::default() };
        assert_eq!(fast.stiffness_and_damping(0.002), two_steps.stiffness_and_damping(0.002));
        let mixed = SoftLaw { reference: [0.1, -1.0], ..SoftLaw::default() };
        let default = SoftLaw::default().stiffness_and_damping(0.002);
        assert_eq!(mixed.stiffness_and_damping(0.002), default);
    }

    #[test]
    fn equal_parameters_mix_to_themselves_and_stiffness_does_not_mix_with_time() {
        let law = SoftLaw { reference: [0.25, 0.5], ..SoftLaw::default() };
        assert_eq!(SoftLaw::mix(&law, &law, 0.5), law);
        let direct = SoftLaw { reference: [-100.0, -1.0], ..SoftLaw::default() };
        assert_eq!(SoftLaw::mix(&law, &direct, 0.5).reference, [-100.0, -1.0]);
        assert_eq!(SoftLaw::mix(&law, &SoftLaw::default(), 1.0), law);
    }
}
