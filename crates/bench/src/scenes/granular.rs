//! The figures of the granular benchmark GRAN-1, computed from positions and velocities alone,
//! independently of the engine; only the forces of floor and walls are reported by the engine.
//!
//! Pairs are found by a sweep along x: quadratic in the number of spheres in a slab.

use nalgebra::Vector3;
use serde_json::{Value, json};
use stiction_sim::Simulation;

use stiction_reproduce::statistics::mean;

/// Radius [m], density [kg/m³], distance of the grid on which spheres start [m], gravity [m/s²].
const RADIUS: f64 = 0.01;
const DENSITY: f64 = 2000.0;
const PITCH: f64 = 2.4 * RADIUS;
const GRAVITY: f64 = 9.81;
/// Gap below which two spheres count as near [m].
const NEAR: f64 = 0.01 * RADIUS;
/// Steps at which penetration is measured, and the step from which forces are averaged.
const LOOKS_FROM: usize = 300;
const LOOKS_EVERY: usize = 100;
const FORCES_AFTER: usize = 900;

/// Observes a run and collects the figures.
pub struct GranularMeasures {
    spheres: usize,
    width: f64,
    deepest: f64,
    momentum_before: f64,
    forces: usize,
    floor: f64,
    support: f64,
}

impl GranularMeasures {
    /// For a number of spheres.
    pub fn new(spheres: usize) -> Self {
        let mut edge = (spheres as f64).cbrt().round() as usize;
        while edge.pow(3) > spheres {
            edge -= 1;
        }
        let width = edge as f64 * PITCH;
        let zero = 0.0;
        Self {
            spheres,
            width,
            deepest: zero,
            momentum_before: zero,
            forces: 0,
            floor: zero,
            support: zero,
        }
    }

    /// Updates the figures after a step.
    pub fn watch(&mut self, simulation: &Simulation, step: usize) {
        if step >= LOOKS_FROM && step.is_multiple_of(LOOKS_EVERY) {
            let (depths, _) = self.pairs(&positions(simulation));
            self.deepest = depths.iter().copied().fold(self.deepest, f64::max);
        }
        if step == FORCES_AFTER {
            self.momentum_before = vertical_momentum(simulation);
        }
        if step > FORCES_AFTER {
            self.forces += 1;
            for contact in simulation.contacts() {
                // Forces act on the second body; the world is body zero.
                let up = match contact.bodies {
                    [0, _] => contact.force.z,
                    [_, 0] => -contact.force.z,
                    _ => continue,
                };
                self.support += up;
                if contact.normal.z.abs() > 0.5 {
                    self.floor += up;
                }
            }
        }
    }

    /// The final figures, with the benchmark's names.
    pub fn json(&self, simulation: &Simulation) -> Value {
        let centres = positions(simulation);
        let (mut depths, near) = self.pairs(&centres);
        depths.sort_by(f64::total_cmp);
        let count = self.spheres as f64;
        let (m, r) = (mass(), RADIUS);
        let speeds: Vec<f64> = velocities(simulation).map(|v| v.norm_squared()).collect();
        let kinetic: f64 = speeds.iter().map(|s| 0.5 * m * s).sum();
        let height = mean(centres.iter().map(|x| x.z));
        let volume = count * mass() / DENSITY;
        let outside = |x: &&Vector3<f64>| {
            let within = |c: f64| (0.0..=self.width).contains(&c);
            !(within(x.x) && within(x.y) && x.z >= 0.0)
        };
        let weight = count * m * GRAVITY;
        let time = self.forces as f64 * simulation.settings().time_step;
        let change = vertical_momentum(simulation) - self.momentum_before;
        let deepest = depths.last().copied().unwrap_or(0.0);
        let p99 = depths.get((99 * depths.len()).div_ceil(100).max(1) - 1).copied().unwrap_or(0.0);
        json!({
            "pen_max_r": deepest / r,
            "pen_mean_r": if depths.is_empty() { 0.0 } else { mean(depths.iter().copied()) / r },
            "pen_p99_r": p99 / r,
            "pen_max_all_r": self.deepest.max(deepest) / r,
            "n_overlap": depths.len(),
            "n_near": near,
            "ke_norm": kinetic / (weight * r),
            "v_rms_mm_s": 1e3 * mean(speeds.iter().copied()).sqrt(),
            "v_max_mm_s": 1e3 * speeds.iter().copied().fold(0.0, f64::max).sqrt(),
            "phi": volume / (self.width * self.width * 2.0 * height),
            "escaped": centres.iter().filter(outside).count(),
            "floor_W": self.floor / self.forces as f64 / weight,
            "support_W": self.support / self.forces as f64 / weight,
            "support_expected": 1.0 + change / (weight * time),
        })
    }

    /// Penetrations [m] of all pairs and walls that overlap, and the number of near pairs.
    fn pairs(&self, centres: &[Vector3<f64>]) -> (Vec<f64>, usize) {
        let mut order: Vec<&Vector3<f64>> = centres.iter().collect();
        order.sort_by(|a, b| a.x.total_cmp(&b.x));
        let (mut depths, mut near) = (Vec::new(), 0);
        for (k, a) in order.iter().enumerate() {
            let walls = [a.x, a.y, self.width - a.x, self.width - a.y, a.z];
            depths.extend(walls.iter().map(|d| RADIUS - d).filter(|depth| *depth > 0.0));
            for b in order[k + 1..].iter().take_while(|b| b.x - a.x < 2.0 * RADIUS + NEAR) {
                let gap = (**b - **a).norm() - 2.0 * RADIUS;
                near += usize::from(gap < NEAR);
                if gap < 0.0 {
                    depths.push(-gap);
                }
            }
        }
        (depths, near)
    }
}

fn mass() -> f64 {
    DENSITY * 4.0 / 3.0 * std::f64::consts::PI * RADIUS.powi(3)
}

/// Centres of the spheres, the only moving bodies.
fn positions(simulation: &Simulation) -> Vec<Vector3<f64>> {
    simulation.state().q.chunks_exact(7).map(|q| Vector3::new(q[0], q[1], q[2])).collect()
}

fn velocities(simulation: &Simulation) -> impl Iterator<Item = Vector3<f64>> {
    simulation.state().v.chunks_exact(6).map(|v| Vector3::new(v[0], v[1], v[2]))
}

fn vertical_momentum(simulation: &Simulation) -> f64 {
    velocities(simulation).map(|v| mass() * v.z).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlaps_of_pairs_and_walls_are_found_wherever_they_lie() {
        let measures = GranularMeasures::new(1000);
        assert_eq!(measures.width, 10.0 * PITCH);
        let r = RADIUS;
        let at = |x: f64, y: f64, z: f64| Vector3::new(x * r, y * r, z * r);
        // Two that overlap by 0.1 r, one that is 0.005 r away from the second, one 0.2 r deep in
        // the floor, one 0.3 r deep in the wall at the far end.
        let far = measures.width / r - 0.7;
        let centres = [
            at(5.0, 5.0, 5.0),
            at(5.0, 6.9, 5.0),
            at(7.005, 6.9, 5.0),
            at(12.0, 12.0, 0.8),
            at(far, 12.0, 9.0),
        ];
        let (mut depths, near) = measures.pairs(&centres);
        depths.sort_by(f64::total_cmp);
        let expected = [0.1 * r, 0.2 * r, 0.3 * r];
        // Differences of lengths up to the width of the box, in double precision.
        let same = |(a, b): (&f64, &f64)| (a - b).abs() <= 8.0 * f64::EPSILON * measures.width;
        assert!(depths.len() == 3 && depths.iter().zip(&expected).all(same), "{depths:?}");
        assert_eq!(near, 2);
    }
}
