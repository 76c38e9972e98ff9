//! `solref` and `solimp` as stiffness and dissipation of a surface.
//!
//! MuJoCo softens a contact of depth r by mixing, with an impedance 0 < d(r) < 1, the free
//! acceleration a₀ and a reference: `a + d (b ṙ + k r) = (1 − d) a₀`, where
//! `k = d/(d_max² T² ζ²)` and `b = 2/(d_max T)` for `solref = (T, ζ)`, and `k = K d/d_max²`,
//! `b = B/d_max` for `solref = (−K, −B)`; d_max is the impedance at full width.
//!
//! - At rest under gravity g: `d k r = (1 − d) g`. With `s = d_max T ζ` (or `d_max/√K`) the depth r
//!   is the root of `d(r)² r = (1 − d(r)) g s²`, whatever the mass m. The surface gets the
//!   stiffness that carries the same weight at the same depth, `m g/r`.
//! - In motion: the frequency is d/s and the damping ratio ζ (or `B/(2√K)`), whatever d. The
//!   surface gets the dissipation time `2 ζ √(m/stiffness)`, which gives the same ratio.
//!
//! m is the mass of the link that carries the surface; two soft links in contact then act as
//! springs in series, that is with their reduced mass, as in MuJoCo. Surfaces that cannot move have
//! no mass to refer to and stay rigid. MuJoCo's defaults are how it makes rigid contact solvable:
//! they mean a rigid surface.

/// MuJoCo's `solref`: time constant [s] and ratio of damping [-].
pub(super) const SOLREF: [f64; 2] = [0.02, 1.0];

/// MuJoCo's `solimp`: impedance at depth 0 and at full width, width [m], midpoint, power.
pub(super) const SOLIMP: [f64; 5] = [0.9, 0.95, 0.001, 0.5, 2.0];

/// MuJoCo keeps impedances and midpoints away from 0 and 1 by this much.
const EDGE: f64 = 1e-4;

/// Gravity under which a body sinks as deep as in MuJoCo [m/s²].
const GRAVITY: f64 = 9.81;

/// Stiffness [N/m] and dissipation time [s] of a surface on a link of a mass [kg]; `None` if rigid.
pub(super) fn stiffness_and_dissipation(
    solref: [f64; 2],
    solimp: [f64; 5],
    mass: f64,
) -> Option<(f64, f64)> {
    if (solref, solimp) == (SOLREF, SOLIMP) || !(mass > 0.0) {
        return None;
    }
    let impedance = Impedance::of(solimp);
    let (scale, damping) = match solref {
        [time, ratio] if time > 0.0 && ratio > 0.0 => (impedance.full * time * ratio, ratio),
        [stiffness, damping] if stiffness < 0.0 && damping <= 0.0 => {
            let root = (-stiffness).sqrt();
            (impedance.full / root, -damping / (2.0 * root))
        }
        // Mixed signs: MuJoCo falls back to its default.
        _ => return None,
    };
    let stiffness = mass * GRAVITY / impedance.depth_at_rest(GRAVITY * scale * scale);
    let dissipation = 2.0 * damping * (mass / stiffness).sqrt();
    let physical = |x: f64| x.is_finite() && x >= 0.0;
    (stiffness > 0.0 && physical(stiffness) && physical(dissipation))
        .then_some((stiffness, dissipation))
}

/// How the impedance grows with depth.
struct Impedance {
    start: f64,
    full: f64,
    width: f64,
    midpoint: f64,
    power: f64,
}

impl Impedance {
    fn of([start, full, width, midpoint, power]: [f64; 5]) -> Self {
        let inside = |x: f64| x.clamp(EDGE, 1.0 - EDGE);
        Self {
            start: inside(start),
            full: inside(full),
            width: width.max(0.0),
            midpoint: inside(midpoint),
            power: power.max(1.0),
        }
    }

    /// d(r) at a depth [m]: two powers that meet at the midpoint.
    fn at(&self, depth: f64) -> f64 {
        let x = depth / self.width;
        if !(x < 1.0) {
            return self.full;
        }
        let (mid, p) = (self.midpoint, self.power);
        let y = if x <= mid {
            mid * (x / mid).powf(p)
        } else {
            1.0 - (1.0 - mid) * ((1.0 - x) / (1.0 - mid)).powf(p)
        };
        self.start + y * (self.full - self.start)
    }

    /// The least root r of `d(r)² r = (1 − d(r)) reach`: where a body that comes from outside rests.
    fn depth_at_rest(&self, reach: f64) -> f64 {
        // An impedance that falls with depth may have several roots: the first is used.
        const PARTS: u32 = 64;
        let carries = |depth: f64| {
            let d = self.at(depth);
            d * d * depth > (1.0 - d) * reach
        };
        let part = self.width / f64::from(PARTS);
        let Some(end) = (1..=PARTS).map(|k| f64::from(k) * part).find(|depth| carries(*depth))
        else {
            return (1.0 - self.full) * reach / (self.full * self.full);
        };
        let (mut low, mut high) = (end - part, end);
        // Each pass halves the interval: enough for every digit of a depth above its 2⁻⁴⁰th.
        for _ in 0..96 {
            let middle = 0.5 * (low + high);
            if carries(middle) { high = middle } else { low = middle }
        }
        0.5 * (low + high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Depth [m] at which a mass rests on the surface.
    fn depth(solref: [f64; 2], solimp: [f64; 5], mass: f64) -> f64 {
        mass * GRAVITY / stiffness_and_dissipation(solref, solimp, mass).unwrap().0
    }

    #[test]
    fn a_constant_impedance_gives_the_closed_form() {
        let (d, time, ratio) = (0.8_f64, 0.1_f64, 0.5_f64);
        let exact = (1.0 - d) * GRAVITY * (time * ratio).powi(2);
        for mass in [1e-3, 1.0, 50.0] {
            let found = depth([time, ratio], [d, d, 0.001, 0.5, 2.0], mass);
            assert!((found - exact).abs() <= 1e-14 * exact, "{found} against {exact}");
            // The ratio of damping c/(2√(k m)) with c = k τ is that of solref.
            let (k, tau) =
                stiffness_and_dissipation([time, ratio], [d, d, 0.001, 0.5, 2.0], mass).unwrap();
            assert!((0.5 * tau * (k / mass).sqrt() - ratio).abs() <= 1e-14);
        }
    }

    #[test]
    fn a_sphere_sinks_as_deep_as_in_mujoco() {
        // Depths [m] at which a sphere rests on a plane of the same solref and solimp in MuJoCo
        // 4.0.0, after 40 s of steps of 1 ms with its Euler scheme; eight digits are settled.
        let [.., mid, power] = SOLIMP;
        for (solref, solimp, exact) in [
            ([0.1, 1.0], SOLIMP, 0.004905),
            ([-1000.0, -10.0], SOLIMP, 0.000637176216),
            ([0.02, 1.0], [0.015, 1.0, 0.022, mid, power], 0.010386924760),
            ([0.05, 2.0], [0.2, 0.7, 0.05, 0.3, 3.0], 0.034916703512),
            ([0.004, 1.0], [0.9, 0.99, 0.001, mid, power], 1.897711481e-5),
            ([0.05, 1.0], [0.9, 0.5, 0.01, 0.5, 1.0], 0.001292528358),
        ] {
            let found = depth(solref, solimp, 1.3);
            assert!((found - exact).abs() <= 1e-8 * exact, "{solref:?} {solimp:?}: {found}");
        }
    }

    #[test]
    fn defaults_and_what_has_no_mass_or_no_sense_are_rigid() {
        assert_eq!(stiffness_and_dissipation(SOLREF, SOLIMP, 1.0), None);
        assert_eq!(stiffness_and_dissipation([0.1, 1.0], SOLIMP, 0.0), None);
        assert_eq!(stiffness_and_dissipation([0.1, -1.0], SOLIMP, 1.0), None);
        assert_eq!(stiffness_and_dissipation([0.0, 0.0], SOLIMP, 1.0), None);
        assert_eq!(stiffness_and_dissipation([1e-308, 1e-308], SOLIMP, 1e308), None);
    }
}
