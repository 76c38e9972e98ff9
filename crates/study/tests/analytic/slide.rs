//! Sliding and rolling under constant forces. Velocities of all schemes are exact then, up to what
//! the solver leaves in each step.

use crate::common::*;
use nalgebra::Vector3;
use stiction_sim::{Grain, Scheme, Settings, Simulation, Surface, WorldBuilder};
use stiction_solve::FrictionModel;
use stiction_study::scenarios::parts;

/// Tolerance of the solver times the steps of a run, in units of the speeds here.
const EXACT: f64 = 1e-9;

#[test]
fn a_sliding_box_stops_where_the_sum_of_its_steps_says() {
    let (mu, v0, h) = (0.3, 1.0, 0.01);
    let mut sim = OnGround::cube(mu).start(tight(h, Scheme::Symplectic), v0 * Vector3::x());
    run(&mut sim, 10);
    near("v after 10 steps", velocity(&sim).0.x, 0.7057, EXACT);
    run(&mut sim, 50);
    // N full sliding steps, v_k = v₀ − μ g h k, and x = h Σ v_k.
    let n = (v0 / (mu * G * h)).floor();
    let sum = h * (n * v0 - mu * G * h * n * (n + 1.0) / 2.0);
    near("x at rest", position(&sim).x, sum, EXACT);
    near("x at rest, derived by hand", position(&sim).x, 0.1648977, 1e-7);
    near("v at rest", velocity(&sim).0.norm() + velocity(&sim).1.norm(), 0.0, EXACT);
    near("height", position(&sim).z, 0.1, 1e-12);
}

#[test]
fn with_mean_velocities_a_sliding_box_stops_where_it_should_in_continuous_time() {
    let (mu, v0, h) = (0.3, 1.0, 0.01);
    let mut sim = OnGround::cube(mu).start(tight(h, Scheme::MidVelocity), v0 * Vector3::x());
    run(&mut sim, 60);
    near("x at rest, derived by hand", position(&sim).x, 0.1698946, 1e-7);
    // The trapezoidal rule is exact but for the step in which the box stops: ⅛ μ g h² at most.
    near("x at rest", position(&sim).x, v0 * v0 / (2.0 * mu * G), mu * G * h * h / 8.0);
}

/// Slides a cube at 2 m/s with friction 0.5 at 10 ms; returns where it stops and how far it lifts.
fn fast_box(scheme: Scheme) -> (f64, f64) {
    let settings = Settings { time_step: 0.01, scheme, ..Settings::default() };
    let mut sim = OnGround::cube(0.5).start(settings, 2.0 * Vector3::x());
    let mut lift = 0.0_f64;
    for _ in 0..100 {
        run(&mut sim, 1);
        lift = lift.max((position(&sim).z - 0.1).abs());
    }
    let x = position(&sim).x;
    run(&mut sim, 1);
    near("it rests", position(&sim).x, x, 1e-7);
    (x, lift)
}

#[test]
fn schemes_of_mean_velocities_stop_a_fast_box_within_a_percent_without_lifting_it() {
    let exact = 4.0 / (2.0 * 0.5 * G);
    for scheme in [Scheme::MidVelocity, Scheme::Midpoint] {
        let (x, lift) = fast_box(scheme);
        near(scheme.name(), x, exact, 0.01 * exact);
        assert!(lift < 1e-4, "{} lifts it by {lift} m", scheme.name());
    }
}

#[test]
fn symplectic_steps_stop_a_fast_box_half_a_step_of_its_speed_early() {
    let (x, lift) = fast_box(Scheme::Symplectic);
    let exact = 4.0 / (2.0 * 0.5 * G);
    // x = h Σ v_k loses ½ v₀ h, and at most ⅛ μ g h² of the last step.
    near("x at rest", x, exact - 0.5 * 2.0 * 0.01, 0.5 * G * 1e-4);
    assert!(lift < 1e-4, "lifts it by {lift} m");
}

#[test]
fn convex_friction_lifts_a_sliding_box_by_what_its_relaxation_says() {
    let (mu, v0, h, m) = (0.2, 1.0, 0.01, 0.5);
    let mut settings = tight(h, Scheme::Symplectic);
    settings.friction_model = Some(FrictionModel::Convex);
    let mut ground = OnGround::cube(mu);
    ground.margin = 0.05;
    let mut sim = ground.start(settings, v0 * Vector3::x());
    let ratio = |sim: &_| (position(sim).z - 0.1) / (h * mu * velocity(sim).0.x);
    run(&mut sim, 1);
    let normal: f64 = sim.contacts().iter().map(|c| c.force.z).sum::<f64>() * h / m;
    let expected = (mu * v0 + G * h) / (1.0 + mu * mu);
    near("Σ λ_n/m", normal, expected, EXACT);
    near("Σ λ_n/m, derived by hand", expected, 0.2866346154, 1e-10);
    near("v_t", velocity(&sim).0.x, 0.9426730769, 1e-9);
    near("v_n = μ v_t", velocity(&sim).0.z, 0.1885346154, 1e-9);
    near("gap(1)", ratio(&sim), 1.0, 1e-8);
    for (step, expected) in [(2, 1.479671), (3, 1.439013), (4, 1.0), (5, 1.0)] {
        run(&mut sim, 1);
        near(&format!("gap({step})/(h μ v_t)"), ratio(&sim), expected, 1e-6);
    }
    run(&mut sim, 5);
    near("gap(10)", position(&sim).z - 0.1, 1.6091696e-3, 1e-10);
    near("v_t(10)", velocity(&sim).0.x, 0.8045848001, 1e-9);
}

#[test]
fn a_sphere_ends_up_rolling_at_five_sevenths_of_its_speed() {
    let (r, mu, v0, h) = (0.05, 0.2, 1.0, 0.005);
    for (scheme, x_end) in [(Scheme::Symplectic, 0.555806), (Scheme::MidVelocity, 0.556517)] {
        let mut sim = OnGround::sphere(r, mu).start(tight(h, scheme), v0 * Vector3::x());
        let mut rolls_from = None;
        let mut last = velocity(&sim);
        for _ in 0..150 {
            last = velocity(&sim);
            run(&mut sim, 1);
            // The velocity on which the laws act: the mean one swings, the states do not matter.
            let contact = sim.contacts().first().unwrap();
            if contact.velocity.xy().norm() < 1e-6 {
                rolls_from.get_or_insert(sim.state().time);
            }
        }
        let (v, w) = velocity(&sim);
        let (v, rim) = (0.5 * (v + last.0).x, 0.5 * r * (w + last.1).y);
        near("speed", v, 5.0 / 7.0 * v0, 1e-10);
        near("rim speed", rim, 5.0 / 7.0 * v0, 1e-10);
        near("x(0.75)", position(&sim).x, x_end, 1e-6);
        // Sliding takes 2 v₀/(7 μ g) = 0.14562 s; the step in which it ends counts whole.
        near("rolls from", rolls_from.unwrap(), 0.150, 1e-9);
    }
}

#[test]
fn convex_friction_makes_a_sphere_roll_too() {
    let (r, mu, v0, h) = (0.05, 0.2, 1.0, 0.005);
    let mut settings = tight(h, Scheme::Symplectic);
    settings.friction_model = Some(FrictionModel::Convex);
    let mut sim = OnGround::sphere(r, mu).start(settings, v0 * Vector3::x());
    run(&mut sim, 150);
    // Angular momentum about the point of contact stays. That point lies half a gap below the
    // sphere, and the gap is at most h μ v: impulses act on an arm longer by that part.
    let arm = 0.5 * h * mu * v0 / r;
    near("speed", velocity(&sim).0.x, 5.0 / 7.0 * v0, arm * 2.0 / 7.0 * v0);
    near("no slip", velocity(&sim).0.x - r * velocity(&sim).1.y, 0.0, 1e-9);
}

#[test]
fn a_box_sticks_below_the_friction_angle_and_slides_above() {
    let (mu, h) = (0.5, 0.01);
    for degrees in [10.0, 26.0, 26.5] {
        let ground = OnGround::cube(mu).tilted(degrees);
        let mut sim = ground.start(tight(h, Scheme::Symplectic), Vector3::zeros());
        run(&mut sim, 50);
        near("speed", velocity(&sim).0.norm(), 0.0, EXACT);
    }
    for (degrees, v, x) in [(26.6_f64, 0.0033450600, None), (30.0, 0.3285726972, Some(0.08378604))]
    {
        let ground = OnGround::cube(mu).tilted(degrees);
        let mut sim = ground.start(tight(h, Scheme::Symplectic), Vector3::zeros());
        let start = position(&sim);
        run(&mut sim, 50);
        let (sin, cos) = degrees.to_radians().sin_cos();
        let speed = velocity(&sim).0.dot(&ground.downhill());
        near("speed", speed, G * (sin - mu * cos) * 0.5, EXACT);
        near("speed, derived by hand", speed, v, 1e-9);
        if let Some(x) = x {
            near("distance", (position(&sim) - start).dot(&ground.downhill()), x, 1e-8);
        }
    }
}

#[test]
fn a_sphere_rolls_down_an_incline_if_friction_allows() {
    let (r, h, t, degrees) = (0.05, 0.01, 0.5, 20.0_f64);
    let (sin, cos) = degrees.to_radians().sin_cos();
    for (mu, v, rim) in [
        (0.5, 1.1982920022, 1.1982920022),
        (0.11, 1.1982920022, 1.1982920022),
        (0.05, 1.4471491878, 0.5761490381),
    ] {
        let ground = OnGround::sphere(r, mu).tilted(degrees);
        let mut sim = ground.start(tight(h, Scheme::Symplectic), Vector3::zeros());
        run(&mut sim, 50);
        let rolls = mu >= 2.0 / 7.0 * sin / cos;
        let exact = if rolls { 5.0 / 7.0 * G * sin * t } else { G * (sin - mu * cos) * t };
        let speed = velocity(&sim).0.dot(&ground.downhill());
        near("speed", speed, exact, EXACT);
        near("speed, derived by hand", speed, v, 1e-9);
        near("rim speed", r * velocity(&sim).1.y, rim, 1e-9);
    }
}

#[test]
fn a_tall_box_tips_where_its_weight_leaves_its_base() {
    let (w, h, dt) = (0.05, 0.2, 0.01);
    let tall = |degrees: f64| OnGround::new(cuboid(w, w, h), 1.0, h, 0.8).tilted(degrees);
    let mut sim = tall(14.0).start(tight(dt, Scheme::Symplectic), Vector3::zeros());
    run(&mut sim, 30);
    near("turning at 14.0°", velocity(&sim).1.norm(), 0.0, EXACT);
    let mut sim = tall(14.2).start(tight(dt, Scheme::Symplectic), Vector3::zeros());
    run(&mut sim, 30);
    near("turning at 14.2°, derived by hand", velocity(&sim).1.y, 0.0498, 5e-5);
    // About the edge, per mass: ω = (α/κ) sinh κt; symplectic steps of a growth κ are right to
    // second order in κ h up to the shift of half a step, (κ h)²/24 · κ t and below.
    let (sin, cos) = 14.2_f64.to_radians().sin_cos();
    let inertia = 4.0 / 3.0 * (w * w + h * h);
    let alpha = G * (h * sin - w * cos) / inertia;
    let kappa = (G * (h * cos + w * sin) / inertia).sqrt();
    let exact = alpha / kappa * (kappa * 0.3).sinh();
    near("turning at 14.2°", velocity(&sim).1.y, exact, exact * (kappa * dt).powi(2));
}

/// A flat box on a grain along x, thrown at 1 m/s along x and along y.
fn on_grain(scheme: Scheme) -> Simulation {
    let grain = Grain { along: Vector3::x_axis(), across_friction: 0.4 };
    let surface = Surface { friction: 0.2, grain: Some(grain), ..Surface::default() };
    let mut builder = WorldBuilder::new();
    parts::ground(&mut builder, surface);
    let pose = nalgebra::Isometry3::translation(0.0, 0.0, 0.005);
    let shape = cuboid(0.1, 0.1, 0.005);
    let body = parts::free_body(&mut builder, "box", shape, 0.5, pose, surface).unwrap();
    let world = builder.build().unwrap();
    let state = parts::moving(&world, body, Vector3::new(1.0, 1.0, 0.0), Vector3::zeros());
    simulate(world, tight(1e-3, scheme), &state)
}

#[test]
fn friction_along_and_across_a_grain_bends_the_path_as_dissipation_wants() {
    // v₂ = v₁⁴ for μ = (0.2, 0.4). Mean velocities are of second order.
    let mut sim = on_grain(Scheme::MidVelocity);
    run(&mut sim, 542);
    let (v, w) = velocity(&sim);
    near("v₁, derived by hand", v.x, 0.148107, 5e-7);
    near("v₂, derived by hand", v.y, 0.000481, 5e-7);
    near("v₂ = v₁⁴", v.y, v.x.powi(4), 1e-3 * v.y);
    near("turning", w.norm(), 0.0, 1e-8);
}

#[test]
fn symplectic_steps_follow_the_path_of_a_grain_to_first_order() {
    let (mu_1, mu_2, h) = (0.2, 0.4, 1e-3);
    let mut sim = on_grain(Scheme::Symplectic);
    for _ in 0..542 {
        run(&mut sim, 1);
        let (v, w) = velocity(&sim);
        near("turning", w.norm(), 0.0, 1e-8);
        // A step divides v_i by 1 + h κ μ_i², κ ≤ g/(μ₁ v₁): logarithms are off by half of
        // (h κ)² μ₂² (μ₂² − μ₁²), which sums to this.
        let bound = 0.5 * h * G / mu_1 * 4.0 * (mu_2 * mu_2 - mu_1 * mu_1) * (1.0 / v.x - 1.0);
        near("ln v₂ against 4 ln v₁", v.y.ln(), 4.0 * v.x.ln(), bound + 1e-9);
    }
    // Implicit steps of the two equations, solved apart from this program.
    near("v₁", velocity(&sim).0.x, 0.147848262997, 1e-9);
    near("v₂", velocity(&sim).0.y, 0.000509539688, 1e-9);
}
