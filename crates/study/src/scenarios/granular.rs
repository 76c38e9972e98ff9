//! GRANULAR: equal spheres fall into a closed box and settle [Tasora, Sec. 3.2], with the radius,
//! density, time step and bit-reproducible initial state of the benchmark GRAN-1.
//!
//! A heap of thousands of spheres is judged by its penetration and by the load on floor and walls, not
//! by the last digit of each impulse. The scenario sets a tolerance to match, and a solver that sweeps
//! over the contacts, which keeps exact friction and momentum and needs no factorization; the position
//! correction removes the remaining penetration.

use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use std::f64::consts::FRAC_PI_2;
use stiction_geom::Shape;
use stiction_math::random::Lcg32;
use stiction_mech::BodyId;
use stiction_scene::{Check, Scene, Verdict};
use stiction_sim::{Geom, Settings, Simulation, StepReport, Surface, WorldBuilder};

use super::Scenario;
use super::parts;
use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// The scenario.
pub const SCENARIO: Scenario = Scenario {
    name: "granular",
    cite: "Tasora",
    about: "spheres settle in a box: nothing penetrates, floor and walls carry the weight",
    parameters: &[
        Parameter { name: "bodies", default: 125.0, least: 1.0, most: 1e6, about: "spheres" },
        Parameter { name: "friction", default: 0.5, least: 0.0, most: 1e3, about: "μ [-]" },
    ],
    build,
};

/// Radius [m] and density [kg/m³] of a sphere.
const RADIUS: f64 = 0.01;
const DENSITY: f64 = 2000.0;
/// Distance of the grid on which spheres start, and largest offset from it [m].
const PITCH: f64 = 2.4 * RADIUS;
const OFFSET: f64 = 0.15 * RADIUS;
/// Shapes of the box: five planes.
const PLANES: usize = 5;

/// Spheres along an edge of the bottom layer.
fn per_edge(bodies: usize) -> usize {
    let mut n = (bodies as f64).cbrt().round() as usize;
    while n.pow(3) > bodies {
        n -= 1;
    }
    n.max(1)
}

/// Centres of the spheres at the start [m].
pub fn positions(bodies: usize) -> Vec<Vector3<f64>> {
    let n = per_edge(bodies);
    let mut rng = Lcg32::new(12345);
    let mut offset = || OFFSET * (2.0 * rng.unit() - 1.0);
    let on_grid = |index: usize| (index as f64 + 0.5) * PITCH;
    let place = |i: usize| {
        let x = on_grid(i % n) + offset();
        let y = on_grid((i / n) % n) + offset();
        let z = on_grid(i / (n * n)) + offset();
        Vector3::new(x, y, z)
    };
    (0..bodies).map(place).collect()
}

fn build(parameters: &Parameters) -> Result<Scene, StudyError> {
    let bodies = parameters.count("bodies");
    let width = per_edge(bodies) as f64 * PITCH;
    let surface = Surface::with_friction(parameters.get("friction"));
    let mut builder = WorldBuilder::new();
    parts::ground(&mut builder, surface);
    let tilt = UnitQuaternion::from_axis_angle;
    let (x, y) = (Vector3::x_axis(), Vector3::y_axis());
    for (at, turn) in [
        (Vector3::zeros(), tilt(&y, FRAC_PI_2)),  // normal along +x
        (Vector3::zeros(), tilt(&x, -FRAC_PI_2)), // normal along +y
        (width * Vector3::x(), tilt(&y, -FRAC_PI_2)), // normal along −x
        (width * Vector3::y(), tilt(&x, FRAC_PI_2)), // normal along −y
    ] {
        let pose = Isometry3::from_parts(at.into(), turn);
        builder.geom(Geom::new(BodyId::WORLD, Shape::Plane).at(pose).surface(surface));
    }
    let shape = Shape::sphere(RADIUS)?;
    let mass = shape.mass_properties(DENSITY).0;
    for (index, centre) in positions(bodies).into_iter().enumerate() {
        let (name, pose) =
            (format!("sphere-{index}"), Isometry3::translation(centre.x, centre.y, centre.z));
        parts::free_body(&mut builder, name, shape.clone(), mass, pose, surface)?;
    }
    let world = builder.build()?;
    let weight = bodies as f64 * mass * world.model().gravity().norm();
    let settings = Settings {
        time_step: 1e-3,
        tolerance: TOLERANCE,
        solver: SOLVER.to_owned(),
        friction_model: Some(stiction_solve::FrictionModel::Coulomb),
        ..Settings::default()
    };
    let check = GranularCheck { width, weight, mass, ..GranularCheck::default() };
    Ok(Scene::new(world, settings, 1.0, check))
}

/// Violation of the contact laws to reach, relative to the reference velocity.
const TOLERANCE: f64 = 1e-2;
/// The contact solver.
const SOLVER: &str = "psor";

/// All spheres are inside, penetration is small, and the force of the box equals the rate of momentum.
#[derive(Default)]
struct GranularCheck {
    width: f64,
    weight: f64,
    mass: f64,
    /// Vertical momentum at the start of the step [kg·m/s].
    momentum: f64,
    /// Largest penetration at the end of the last step [m].
    depth: f64,
    /// Force of floor and walls upwards in the last step, and the force that the change of
    /// momentum in it requires [N].
    support: f64,
    expected: f64,
    /// Largest error of the support over the weight: gravity and contact alone move the spheres, so
    /// that only the residual of momentum is left, which the tolerance of the step bounds.
    tolerance: f64,
    outside: usize,
    energy: (f64, f64),
}

/// Largest penetration over the radius, as published [Tasora, Sec. 3.2].
const DEPTH: f64 = 0.002;
impl GranularCheck {
    fn momentum(&self, simulation: &Simulation) -> f64 {
        simulation.state().v.chunks_exact(6).map(|v| self.mass * v[2]).sum()
    }
}

impl Check for GranularCheck {
    fn begin(&mut self, simulation: &mut Simulation) {
        self.momentum = self.momentum(simulation);
        self.energy = (simulation.energy(), simulation.energy());
    }

    fn observe(&mut self, simulation: &mut Simulation, report: &StepReport) {
        let momentum = self.momentum(simulation);
        let h = simulation.settings().time_step;
        self.expected = self.weight + (momentum - self.momentum) / h;
        self.momentum = momentum;
        self.depth = report.penetration;
        self.tolerance = simulation.settings().tolerance;
        let on_box = simulation.contacts().iter().filter(|c| c.geoms[0].min(c.geoms[1]) < PLANES);
        let lift = |geoms: [usize; 2]| if geoms[0] < PLANES { 1.0 } else { -1.0 };
        self.support = on_box.map(|c| lift(c.geoms) * c.force.z).sum();
        let inside = |x: f64| (0.0..=self.width).contains(&x);
        let is_in = |q: &[f64]| inside(q[0]) && inside(q[1]) && q[2] >= 0.0;
        self.outside = simulation.state().q.chunks_exact(7).filter(|q| !is_in(q)).count();
        self.energy.1 = simulation.energy();
    }

    fn verdict(&self) -> Verdict {
        let off = ((self.support - self.expected) / self.weight).abs();
        let depth = self.depth / RADIUS;
        let (before, after) = self.energy;
        Verdict {
            passed: self.outside == 0 && depth <= DEPTH && off <= self.tolerance && after < before,
            detail: format!(
                "{} outside; penetration {depth:.2e} r (at most {DEPTH} r); box carries {:.6} of \
                 the weight, {off:.1e} off what momentum asks for (at most {:e}); energy \
                 {before:.4} → {after:.4} J (must fall)",
                self.outside,
                self.support / self.weight,
                self.tolerance,
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_is_that_of_the_benchmark() {
        let found = positions(1000);
        // Given to twelve digits.
        let first = Vector3::new(0.010561208010, 0.010549643397, 0.012129467368);
        let last = Vector3::new(0.227477593482, 0.229117819011, 0.227576889753);
        assert!((found[0] - first).amax() <= 1e-12 && (found[999] - last).amax() <= 1e-12);
        let edges = [1000, 3000, 9000, 50_000, 100_000].map(per_edge);
        assert_eq!(edges, [10, 14, 20, 36, 46]);
    }
}
