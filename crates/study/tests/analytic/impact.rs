//! Impacts: restitution, Painlevé's rod, the corner without an answer.

use crate::common::*;
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use stiction_geom::Shape;
use stiction_mech::{BodyId, BodySpec, JointKind, JointSpec, MassProperties};
use stiction_sim::{Geom, Scheme, Settings, Simulation, Surface, WorldBuilder};
use stiction_study::scenarios::parts;

/// Drops a ball with restitution from half a metre; returns the peaks, the ratios of speeds at the
/// impacts, and the state before the first one: its time and speed.
fn bounces(epsilon: f64, scheme: Scheme, peaks: usize) -> (Vec<f64>, Vec<f64>, f64, f64) {
    let (r, gap, h) = (0.05, 0.5, 1e-3);
    let mut ground = OnGround::sphere(r, 0.0);
    ground.height = r + gap;
    ground.surface.restitution = epsilon;
    let mut sim = ground.start(tight(h, scheme), Vector3::zeros());
    let (mut tops, mut ratios, mut first) = (Vec::new(), Vec::new(), None);
    while tops.len() < peaks {
        let before = velocity(&sim).0.z;
        let top = position(&sim).z - r;
        run(&mut sim, 1);
        let after = velocity(&sim).0.z;
        if before < 0.0 && after > 0.0 {
            ratios.push(-after / before);
            first.get_or_insert((sim.state().time, before));
        } else if before > 0.0 && after <= 0.0 {
            tops.push(top.max(position(&sim).z - r));
        }
        assert!(sim.state().time < 10.0, "does not bounce");
    }
    let (time, speed) = first.unwrap();
    (tops, ratios, time, speed)
}

#[test]
fn a_ball_rises_to_epsilon_squared_of_its_fall() {
    // Ballistic motion is exact with mean velocities; the impact is found to a step.
    for (epsilon, expected) in
        [(0.5, vec![0.12487]), (0.8, vec![0.32000, 0.20511, 0.13131]), (1.0, vec![0.5])]
    {
        let (tops, ratios, time, speed) = bounces(epsilon, Scheme::MidVelocity, expected.len());
        near("first impact", time, 0.3200, 1e-9);
        near("speed of the first impact", speed, -3.12939, 1e-9);
        for ratio in ratios {
            near("restitution", ratio, epsilon, 1e-10);
        }
        for (found, expected) in tops.iter().zip(expected) {
            near("peak", *found, expected, 1e-5);
        }
    }
}

#[test]
fn symplectic_steps_bounce_by_their_own_sums() {
    let h = 1e-3;
    for epsilon in [0.5, 0.8, 1.0] {
        let (tops, ratios, _, speed) = bounces(epsilon, Scheme::Symplectic, 1);
        near("restitution", ratios[0], epsilon, 1e-10);
        // After k steps of falling v = −g h k, gap = ½ − g h² k (k + 1)/2. The rebound lasts one step
        // at the full speed, then loses g h in each.
        let k = (-speed / (G * h)).round();
        let gap = 0.5 - G * h * h * k * (k + 1.0) / 2.0;
        let u = epsilon * G * h * k;
        let n = (u / (G * h) + 1e-9).floor();
        let top = gap + h * ((n + 1.0) * u - G * h * n * (n + 1.0) / 2.0);
        near("peak", tops[0], top, 1e-9);
    }
}

#[test]
fn without_restitution_nothing_bounces_in_either_convention() {
    for scheme in [Scheme::Symplectic, Scheme::MidVelocity, Scheme::Midpoint, Scheme::Implicit] {
        let mut ground = OnGround::sphere(0.05, 0.5);
        ground.height = 0.06;
        let mut sim = ground.start(tight(1e-3, scheme), -Vector3::z());
        let before = 0.5 + G * 0.01;
        for _ in 0..50 {
            run(&mut sim, 1);
        }
        let v = velocity(&sim).0;
        assert!(0.5 * v.norm_squared() < 1e-3 * before, "{}: {v}", scheme.name());
    }
}

/// A rod of one metre and one kilogram whose lower tip slides at −1 m/s along x.
///
/// ```text
///        ╱
///      ╱  θ from the ground; the centre is at (½ cos θ, ½ sin θ) from the tip
///   ──╳─────
/// ```
fn painleve(friction: f64) -> Simulation {
    let theta = 55.0_f64.to_radians();
    let surface = Surface::with_friction(friction);
    let mut builder = WorldBuilder::new();
    parts::ground(&mut builder, surface);
    let along = Vector3::new(theta.cos(), 0.0, theta.sin());
    let turn = UnitQuaternion::rotation_between(&Vector3::x(), &along).unwrap();
    // Thin: no inertia about its own axis to speak of.
    let inertia = nalgebra::Matrix3::from_diagonal(&Vector3::new(1e-6, 1.0 / 12.0, 1.0 / 12.0));
    let spec = BodySpec {
        name: "rod".to_owned(),
        pose: Isometry3::from_parts((0.5 * along).into(), turn),
        mass: Some(MassProperties::new(1.0, Vector3::zeros(), inertia).unwrap()),
        ..BodySpec::default()
    };
    let body = builder.mechanism.body(spec);
    builder.mechanism.joint(body, JointSpec::new(JointKind::Free));
    // A tiny ball whose lowest point is the tip.
    let r = 1e-3;
    let centre = turn.inverse() * (r * Vector3::z() - 0.5 * along);
    let ball = Geom::new(body, Shape::sphere(r).unwrap()).surface(surface);
    builder.geom(ball.at(Isometry3::from_parts(centre.into(), UnitQuaternion::identity())));
    let world = builder.build().unwrap();
    let state = parts::moving(&world, body, -Vector3::x(), Vector3::zeros());
    simulate(world, tight(0.01, Scheme::Symplectic), &state)
}

#[test]
fn painleves_rod_slips_below_its_critical_friction_and_jams_above() {
    let mut sim = painleve(1.0);
    run(&mut sim, 1);
    let contact = sim.contacts()[0];
    near("λ_n in slip", contact.force.z * 0.01, 0.16989047, 1e-8);
    near("u_t in slip", contact.velocity.x, -0.72758211, 1e-8);
    near("u_n in slip", contact.velocity.z, 0.0, 1e-10);
    // Critical: (1 + 3 cos²θ)/(3 sin θ cos θ) = 1.40966.
    for mu in [1.4, 1.45, 2.0] {
        let mut sim = painleve(mu);
        run(&mut sim, 1);
        let contact = sim.contacts()[0];
        near("λ_n in stick", contact.force.z * 0.01, 0.426279, 1e-6);
        near("λ_t in stick", contact.force.x * 0.01, 0.531311, 1e-6);
        near("u in stick", contact.velocity.norm(), 0.0, 1e-10);
    }
}

/// A ball of one kilogram, without gravity, that flies into a corner of three planes at `speed`
/// along each axis and must leave at ε times that.
fn corner(friction: f64, epsilon: f64, speed: f64, settings: Settings) -> Simulation {
    let surface = Surface { friction, restitution: epsilon, ..Surface::default() };
    let mut builder = WorldBuilder::new();
    builder.mechanism.gravity(Vector3::zeros());
    for axis in [Vector3::x(), Vector3::y(), Vector3::z()] {
        let turn = UnitQuaternion::rotation_between(&Vector3::z(), &axis).unwrap();
        let plane = Geom::new(BodyId::WORLD, Shape::Plane).surface(surface);
        builder.geom(plane.at(Isometry3::from_parts(Vector3::zeros().into(), turn)));
    }
    let pose = Isometry3::translation(0.1, 0.1, 0.1);
    let ball = Shape::sphere(0.1).unwrap();
    let body = parts::free_body(&mut builder, "ball", ball, 1.0, pose, surface).unwrap();
    let world = builder.build().unwrap();
    let state = parts::moving(&world, body, Vector3::repeat(-speed), Vector3::zeros());
    simulate(world, settings, &state)
}

#[test]
fn a_ball_leaves_a_corner_as_long_as_friction_lets_it() {
    // On each axis m (u + ε u) = λ_n (1 − √2 μ): the friction of two planes pulls at every normal.
    let (epsilon, u) = (0.25, 0.008);
    for (mu, lambda) in [(0.5, 0.034142), (0.6, 0.066019)] {
        let mut sim = corner(mu, epsilon, u, tight(0.01, Scheme::Symplectic));
        run(&mut sim, 1);
        for contact in sim.contacts() {
            let normal = contact.normal.dot(&contact.force) * 0.01;
            let exact = (1.0 + epsilon) * u / (1.0 - 2.0_f64.sqrt() * mu);
            near("λ_n", normal, exact, 1e-8);
            near("λ_n, derived by hand", normal, lambda, 1e-6);
        }
        near("speed", (velocity(&sim).0 - Vector3::repeat(epsilon * u)).norm(), 0.0, 1e-9);
    }
}

#[test]
fn a_corner_without_an_answer_is_flagged_and_survived() {
    // From μ = 1/√2 on no impulse fulfils the laws, although the velocity constraints alone could be.
    for mu in [0.75, 1.0, 3.0] {
        let settings = Settings { time_step: 0.01, ..Settings::default() };
        let mut sim = corner(mu, 0.5, 1.0, settings);
        let before = sim.energy();
        let report = sim.step().unwrap();
        assert!(!report.converged(), "μ = {mu}: {:?} {:?}", report.solver_status, report.residuals);
        for _ in 0..100 {
            let _ = sim.step().unwrap();
        }
        let (v, w) = velocity(&sim);
        assert!(v.iter().chain(w.iter()).all(|x| x.is_finite()));
        assert!(sim.energy() <= before, "μ = {mu}: gained energy");
        assert!(position(&sim).min() > 0.099, "μ = {mu}: fell through: {}", position(&sim));
    }
}
