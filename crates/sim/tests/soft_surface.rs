//! Contacts that are soft as in MuJoCo: the closed law of a sphere on a plane, and where loads come to rest.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use nalgebra::{Isometry3, Matrix3, Vector3};
use stiction_geom::Shape;
use stiction_mech::{BodyId, BodySpec, JointKind, JointSpec, MassProperties, SoftLaw};
use stiction_sim::{
    ConeScaling, Geom, Resistance, Scheme, Settings, Simulation, SoftSurface, Surface,
    TangentialLaw, WorldBuilder,
};

const GRAVITY: f64 = 9.81;

/// Four choices of `solref` and `solimp`: the default with another time, stiffness and damping, a ramp to an
/// impedance of almost one, and a ramp of another midpoint and power.
const LAWS: [SoftLaw; 4] = [
    SoftLaw { reference: [0.1, 0.6], impedance: [0.9, 0.95, 0.001, 0.5, 2.0] },
    SoftLaw { reference: [-1000.0, -10.0], impedance: [0.9, 0.95, 0.001, 0.5, 2.0] },
    SoftLaw { reference: [0.02, 1.0], impedance: [0.015, 1.0, 0.022, 0.5, 2.0] },
    SoftLaw { reference: [0.05, 2.0], impedance: [0.2, 0.7, 0.05, 0.3, 3.0] },
];

/// A surface of a law, without friction in the scaling of its compliance.
fn soft(law: SoftLaw, friction: f64) -> Surface {
    let cone = ConeScaling { pyramidal: false, impedance_ratio: 1.0 };
    let soft = SoftSurface { law, cone, ..SoftSurface::default() };
    Surface { soft: Some(soft), ..Surface::with_friction(friction) }
}

fn settings(time_step: f64) -> Settings {
    let scheme = Scheme::Euler;
    Settings { time_step, scheme, tolerance: 1e-13, ..Settings::default() }
}

/// A sphere of 0.1 m and a mass [kg] over a plane, at a height of its lowest point [m].
fn sphere(surface: Surface, mass: f64, height: f64) -> WorldBuilder {
    let mut builder = WorldBuilder::new();
    builder.geom(Geom::new(BodyId::WORLD, Shape::Plane).surface(surface));
    let pose = Isometry3::translation(0.0, 0.0, 0.1 + height);
    common::free(&mut builder, Shape::sphere(0.1).unwrap(), mass, pose, surface);
    builder
}

/// Impedance, stiffness and damping of a law, written out for positive and negative references.
fn law_at(law: &SoftLaw, depth: f64) -> (f64, f64, f64) {
    let [d0, d1, width, mid, p] = law.impedance;
    let d1 = d1.min(1.0 - 1e-4);
    let x = (depth.abs() / width).min(1.0);
    let y = if x <= mid {
        x.powf(p) / mid.powf(p - 1.0)
    } else {
        1.0 - (1.0 - x).powf(p) / (1.0 - mid).powf(p - 1.0)
    };
    let (k, b) = match law.reference {
        [time, ratio] if time > 0.0 => ((d1 * time * ratio).powi(-2), 2.0 / (d1 * time)),
        [stiffness, damping] => (-stiffness / (d1 * d1), -damping / d1),
    };
    (d0 + y * (d1 - d0), k, b)
}

#[test]
fn the_next_normal_velocity_of_a_sphere_is_that_of_the_closed_law() {
    let (h, mass) = (1e-3, 1.3);
    for law in LAWS {
        let builder = sphere(soft(law, 0.3), mass, 5e-4);
        let mut simulation = Simulation::new(builder.build().unwrap(), settings(h)).unwrap();
        simulation.state_mut().v[2] = -0.3;
        let (mut z, mut v) = (5e-4, -0.3);
        let mut touched = 0;
        for step in 0..100 {
            let free = v - h * GRAVITY;
            let next = if z < 0.0 {
                touched += 1;
                let (d, k, b) = law_at(&law, z);
                let target = v + h * (-b * v - k * d * z);
                // The bodies' inverse masses: that of the sphere and zero.
                let compliance = (1.0 - d) / d / mass;
                free + ((target - free) / (1.0 / mass + compliance)).max(0.0) / mass
            } else {
                free
            };
            let _ = simulation.step().unwrap();
            let state = simulation.state();
            // A handful of operations on numbers below one, but for the stiffness, at most 2500, times the depth.
            assert!((state.v[2] - next).abs() <= 1e-14, "step {step} of {law:?}: {}", state.v[2]);
            (z, v) = (state.q[2] - 0.1, state.v[2]);
        }
        assert!(touched > 20);
    }
}

/// The root of k d² r/(1 − d) = load Â, by bisection [m].
fn depth_at_rest(law: &SoftLaw, load: f64, inverse_weight: f64) -> f64 {
    let carries = |r: f64| {
        let (d, k, _) = law_at(law, r);
        k * d * d * r > (1.0 - d) * load * inverse_weight
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if carries(middle) { high = middle } else { low = middle }
    }
    low
}

#[test]
fn a_sphere_rests_where_the_law_carries_its_weight() {
    for law in LAWS {
        for mass in [0.02, 5.0] {
            let builder = sphere(soft(law, 0.3), mass, 0.0);
            let mut simulation = Simulation::new(builder.build().unwrap(), settings(2e-3)).unwrap();
            for _ in 0..4000 {
                let _ = simulation.step().unwrap();
            }
            let depth = 0.1 - simulation.state().q[2];
            let expected = depth_at_rest(&law, mass * GRAVITY, 1.0 / mass);
            // The slowest mode decays at a rate above 3/s: e⁻²⁴ after 8 s of a motion of 1 cm.
            assert!((depth - expected).abs() <= 1e-10, "{law:?}: {depth} against {expected}");
        }
    }
}

/// A trunk on a vertical slide and under it a foot on a horizontal one.
fn foot(law: SoftLaw, masses: [f64; 2]) -> WorldBuilder {
    let mut builder = WorldBuilder::new();
    let mut parent = BodyId::WORLD;
    for (mass, axis, z) in [(masses[0], Vector3::z(), 0.3), (masses[1], Vector3::x(), -0.28)] {
        let mass = MassProperties::new(mass, Vector3::zeros(), Matrix3::identity() * 1e-3).unwrap();
        let pose = Isometry3::translation(0.0, 0.0, z);
        let spec = BodySpec { parent, pose, mass: Some(mass), ..BodySpec::default() };
        parent = builder.mechanism.body(spec);
        builder.mechanism.joint(parent, JointSpec::new(JointKind::Slide { axis }));
    }
    let surface = soft(law, 0.8);
    builder.geom(Geom::new(BodyId::WORLD, Shape::Plane).surface(surface));
    builder.geom(Geom::new(parent, Shape::sphere(0.02).unwrap()).surface(surface));
    builder
}

#[test]
fn a_light_foot_under_a_heavy_trunk_sinks_by_the_load_and_the_inertia_of_the_foot() {
    let masses = [3.43, 0.17];
    for law in LAWS {
        let mut simulation =
            Simulation::new(foot(law, masses).build().unwrap(), settings(2e-3)).unwrap();
        let mut statuses = Vec::new();
        for _ in 0..4000 {
            statuses.push(simulation.step().unwrap().status());
        }
        assert!(statuses.iter().all(|status| status.name() == "ok"), "{law:?}: {statuses:?}");
        // Mean over the axes: the foot alone along x, all of it along z, nothing along y.
        let total = masses[0] + masses[1];
        let inverse_weight = (1.0 / masses[1] + 1.0 / total) / 3.0;
        let expected = depth_at_rest(&law, total * GRAVITY, inverse_weight);
        let depth = -simulation.state().q[0];
        assert!((depth - expected).abs() <= 1e-9, "{law:?}: {depth} against {expected}");
    }
}

#[test]
fn a_soft_foot_takes_the_pyramid_into_account() {
    // Rest under the weight with the compliance scaled by μ² (1 + μ²)/(impratio (n − 1)).
    let (law, mass, mu, ratio): (SoftLaw, f64, f64, f64) = (LAWS[0], 1.3, 0.7, 10.0);
    for (resistance, rows) in [(Resistance::Sliding, 2.0), (Resistance::Rolling, 5.0)] {
        let cone = ConeScaling { pyramidal: true, impedance_ratio: ratio };
        let soft = SoftSurface { law, cone, ..SoftSurface::default() };
        let surface = Surface { soft: Some(soft), resistance, ..Surface::with_friction(mu) };
        let builder = sphere(surface, mass, 0.0);
        let mut simulation = Simulation::new(builder.build().unwrap(), settings(2e-3)).unwrap();
        for _ in 0..4000 {
            let _ = simulation.step().unwrap();
        }
        let scale = mu * mu * (1.0 + mu * mu) / (ratio * rows);
        let expected = depth_at_rest(&law, mass * GRAVITY, scale / mass);
        assert!((0.1 - simulation.state().q[2] - expected).abs() <= 1e-10);
    }
}

#[test]
fn exact_friction_holds_a_soft_contact_on_a_slope_and_softened_friction_creeps() {
    let (law, mass, h) = (LAWS[0], 1.3, 2e-3);
    let slope: f64 = 0.2;
    let creep = |tangential| {
        let mut builder = WorldBuilder::new();
        builder.mechanism.gravity(Vector3::new(GRAVITY * slope.sin(), 0.0, -GRAVITY * slope.cos()));
        let surface = soft(law, 0.8);
        builder.geom(Geom::new(BodyId::WORLD, Shape::Plane).surface(surface));
        let shape = Shape::cuboid(Vector3::new(0.3, 0.3, 0.02)).unwrap();
        common::free(&mut builder, shape, mass, Isometry3::translation(0.0, 0.0, 0.02), surface);
        let settings = Settings { tangential, ..settings(h) };
        let mut simulation = Simulation::new(builder.build().unwrap(), settings).unwrap();
        for _ in 0..2000 {
            let _ = simulation.step().unwrap();
        }
        simulation.state().v[0]
    };
    // Sticking is exact to the tolerance of the solver.
    assert!(creep(TangentialLaw::Exact).abs() <= 1e-9);
    // v̂ − R λ = c at a constant velocity c: −h b c = R_t λ_t. Four contacts carry a quarter of the load each, with
    // the inverse mass of the box.
    let depth = depth_at_rest(&law, mass * GRAVITY * slope.cos() / 4.0, 1.0 / mass);
    let (d, _, b) = law_at(&law, depth);
    let pull = mass * GRAVITY * slope.sin() / 4.0;
    let expected = (1.0 - d) / d / mass * pull / b;
    let found = creep(TangentialLaw::Mujoco);
    // The moment of the pull about the contacts shifts the load between them; the impedance is 0.95 at either.
    assert!((found - expected).abs() <= 1e-2 * expected, "{found} against {expected}");
}
