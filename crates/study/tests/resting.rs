//! What rests, rests: no spin after a flat impact, no creep, no lift while sliding, forces that
//! balance the weight. Default settings throughout; only the time step is named.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use stiction_geom::Shape;
use stiction_mech::BodyId;
use stiction_scene::Verdict;
use stiction_sim::{Geom, SCHEMES, Scheme, Settings, Simulation, Surface, WorldBuilder};
use stiction_study::scenario;
use stiction_study::scenarios::parts;

const GRAVITY: f64 = 9.81;
/// The time steps at which resting is promised [s].
const STEPS: [f64; 2] = [0.002, 0.01];

fn settings(time_step: f64) -> Settings {
    Settings { time_step, ..Settings::default() }
}

/// A cube of half edge 0.1 m and mass 1 kg over a ground that is turned about y by `angle` [rad];
/// `gap` [m] is measured along the ground's normal.
fn cube(angle: f64, gap: f64, friction: f64, time_step: f64) -> (Simulation, BodyId) {
    let surface = Surface::with_friction(friction);
    let turn = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), angle);
    let mut builder = WorldBuilder::new();
    let tilted = Isometry3::from_parts(Translation3::identity(), turn);
    builder.geom(Geom::new(BodyId::WORLD, Shape::Plane).at(tilted).surface(surface));
    let pose = tilted * Isometry3::translation(0.0, 0.0, 0.1 + gap);
    let shape = Shape::cuboid(Vector3::repeat(0.1)).unwrap();
    let body = parts::free_body(&mut builder, "cube", shape, 1.0, pose, surface).unwrap();
    (Simulation::new(builder.build().unwrap(), settings(time_step)).unwrap(), body)
}

fn run(simulation: &mut Simulation, duration: f64, mut see: impl FnMut(&Simulation)) {
    let steps = (duration / simulation.settings().time_step).round() as usize;
    for _ in 0..steps {
        let report = simulation.step().unwrap();
        assert!(report.converged(), "{report:?}");
        see(simulation);
    }
}

#[test]
fn a_cube_dropped_flat_comes_to_rest_without_spinning() {
    for gap in [0.001, 0.05, 0.5, 1.2345] {
        let (mut simulation, body) = cube(0.0, gap, 0.5, 0.01);
        let mut spin: f64 = 0.0;
        run(&mut simulation, 2.0, |s| {
            spin = spin.max(parts::velocity(s.world(), s.state(), body).1.norm());
        });
        let (v, _) = parts::velocity(simulation.world(), simulation.state(), body);
        assert!(spin < 1e-6, "dropped from {gap} m: {spin:e} rad/s");
        assert!(v.norm() < 1e-6, "dropped from {gap} m: {v}");
        let z = parts::position(simulation.world(), simulation.state(), body).z;
        // Within the penetration that is left alone.
        let slop = simulation.settings().stabilisation.slop;
        assert!((z - 0.1).abs() <= 1.5 * slop, "dropped from {gap} m: {z}");
    }
}

#[test]
fn a_cube_on_the_floor_does_not_creep() {
    for time_step in STEPS {
        let (mut simulation, body) = cube(0.0, 0.0, 0.5, time_step);
        let start = parts::position(simulation.world(), simulation.state(), body);
        let mut fastest: f64 = 0.0;
        run(&mut simulation, 5.0, |s| {
            fastest =
                fastest.max(s.contacts().iter().fold(0.0, |v: f64, c| v.max(c.velocity.norm())));
        });
        let moved = parts::position(simulation.world(), simulation.state(), body) - start;
        assert!(fastest < 1e-6, "h = {time_step}: {fastest:e} m/s");
        assert!(moved.norm() < 5.0 * 1e-6, "h = {time_step}: {moved}");
    }
}

#[test]
fn a_cube_on_an_incline_below_the_friction_angle_does_not_creep() {
    // tan 20° = 0.364 < 0.5; friction holds m g sin α, the normal force is m g cos α.
    let angle = 20.0_f64.to_radians();
    for time_step in STEPS {
        let (mut simulation, body) = cube(angle, 0.0, 0.5, time_step);
        let start = parts::position(simulation.world(), simulation.state(), body);
        let mut fastest: f64 = 0.0;
        run(&mut simulation, 5.0, |s| {
            fastest =
                fastest.max(s.contacts().iter().fold(0.0, |v: f64, c| v.max(c.velocity.norm())));
        });
        let moved = parts::position(simulation.world(), simulation.state(), body) - start;
        assert!(fastest < 1e-6, "h = {time_step}: {fastest:e} m/s");
        assert!(moved.norm() < 5.0 * 1e-6, "h = {time_step}: {moved}");
        let force: Vector3<f64> = simulation.contacts().iter().map(|c| c.force).sum();
        // The tolerance of the step bounds velocities, hence forces, relative to gravity's.
        assert!((force.norm() - GRAVITY).abs() < 1e-5 * GRAVITY, "h = {time_step}: {force}");
    }
}

#[test]
fn a_cube_on_an_incline_above_the_friction_angle_slides() {
    // tan 30° = 0.577 > 0.5; symplectic Euler integrates the constant acceleration exactly.
    let angle = 30.0_f64.to_radians();
    let (mut simulation, body) = cube(angle, 0.0, 0.5, 0.01);
    run(&mut simulation, 0.5, |_| ());
    let (v, w) = parts::velocity(simulation.world(), simulation.state(), body);
    let expected = 0.5 * GRAVITY * (angle.sin() - 0.5 * angle.cos());
    assert!((v.norm() - expected).abs() < 1e-5 * expected, "{} not {expected}", v.norm());
    assert!(w.norm() < 1e-6, "{w}");
}

/// Slides a cube to rest with a scheme; returns where it stops, the lowest and the highest height.
fn slide(scheme: Scheme, speed: f64, friction: f64) -> (f64, f64, f64) {
    let (simulation, body) = cube(0.0, 0.0, friction, 0.01);
    let settings = Settings { scheme, ..settings(0.01) };
    let mut simulation = Simulation::new(simulation.world().clone(), settings).unwrap();
    let state =
        parts::moving(simulation.world(), body, Vector3::new(speed, 0.0, 0.0), Vector3::zeros());
    simulation.set_state(&state).unwrap();
    let (mut highest, mut lowest) = (f64::MIN, f64::MAX);
    run(&mut simulation, 1.0, |s| {
        let z = parts::position(s.world(), s.state(), body).z;
        (highest, lowest) = (z.max(highest), z.min(lowest));
    });
    let x = parts::position(simulation.world(), simulation.state(), body).x;
    println!("{} stops after {x} m, between {lowest} and {highest}", scheme.name());
    (x, lowest, highest)
}

#[test]
fn a_sliding_cube_does_not_lift_and_stops_where_friction_says() {
    let (speed, friction, h) = (2.0, 0.5, 0.01);
    let exact = speed * speed / (2.0 * friction * GRAVITY);
    for stiction_sim::SchemeEntry { name, scheme, .. } in SCHEMES {
        let (x, lowest, highest) = slide(*scheme, speed, friction);
        assert!(highest - 0.1 < 1e-4 && 0.1 - lowest < 1e-4, "{name}: {lowest} to {highest}");
        // Velocities fall linearly, so that positions that move with (1 − θ) v₀ + θ v end up
        // (½ − θ) h v₀ from the integral, which the mean meets. The last step, in which it
        // stops, adds less than μ g h² / 2.
        let offset = (0.5 - scheme.theta_vq()) * h * speed;
        let mean = matches!(scheme, Scheme::MidVelocity | Scheme::Refined);
        let offset = if mean { 0.0 } else { offset };
        let last = 0.5 * friction * GRAVITY * h * h;
        assert!((x - exact - offset).abs() <= last, "{name}: {x} m, not {exact} + {offset} m");
    }
}

#[test]
fn the_default_scheme_and_those_of_second_order_stop_within_a_percent_of_the_distance() {
    let (speed, friction) = (2.0, 0.5);
    let exact = speed * speed / (2.0 * friction * GRAVITY);
    for scheme in [Scheme::default(), Scheme::Midpoint, Scheme::MidVelocity] {
        let (x, ..) = slide(scheme, speed, friction);
        assert!((x - exact).abs() < 0.01 * exact, "{}: {x} m, not {exact} m", scheme.name());
    }
}

#[test]
fn stacks_stand_at_every_promised_time_step() {
    for time_step in STEPS {
        let set = [("time-step".to_owned(), time_step.to_string())];
        let verdict = scenario("stack", &set).unwrap().start().unwrap().run().unwrap();
        assert!(verdict.passed, "h = {time_step}: {}", verdict.detail);
    }
}

/// The verdict of a scenario with some parameters.
fn verdict(name: &str, set: &[(&str, &str)], duration: f64) -> Verdict {
    let set: Vec<_> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let mut scene = scenario(name, &set).unwrap();
    scene.duration = duration;
    scene.start().unwrap().run().unwrap()
}

#[test]
fn the_arch_stands_for_ten_minutes_with_friction() {
    let verdict = verdict("arch", &[("friction", "1")], 600.0);
    assert!(verdict.passed, "{}", verdict.detail);
    assert!(verdict.detail.contains("stands"), "{}", verdict.detail);
}

#[test]
fn the_arch_falls_with_little_friction() {
    let verdict = verdict("arch", &[("friction", "0.2")], 5.0);
    assert!(verdict.passed, "{}", verdict.detail);
    assert!(verdict.detail.contains("falls"), "{}", verdict.detail);
}

#[test]
fn the_card_house_stands_with_friction_and_falls_with_little() {
    for friction in ["0.6", "0.1"] {
        let verdict = verdict("card-house", &[("friction", friction)], 5.0);
        assert!(verdict.passed, "friction {friction}: {}", verdict.detail);
    }
}
