//! Mechanisms whose motion is known: pendulums, spinning bodies, trees in free fall.

#![allow(non_snake_case, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::Random;
use nalgebra::{Isometry3, Matrix3, Vector3};
use stiction_mech::*;

const G: f64 = 9.81;

/// Accelerations without applied forces.
fn acceleration(model: &Model, data: &mut Data, q: &[f64], v: &[f64]) -> Vec<f64> {
    let (tau, mut a) = (vec![0.0; v.len()], vec![0.0; v.len()]);
    forward_dynamics_aba(model, data, q, v, &tau, &mut a);
    a
}

fn sum(x: &[f64], dt: f64, y: &[f64]) -> Vec<f64> {
    x.iter().zip(y).map(|(x, y)| x + dt * y).collect()
}

/// The explicit midpoint rule, of second order.
fn midpoint_step(model: &Model, data: &mut Data, state: &mut State, dt: f64) {
    let a = acceleration(model, data, &state.q, &state.v);
    let (mut q_mid, v_mid) = (state.q.clone(), sum(&state.v, 0.5 * dt, &a));
    integrate(model, &state.q, &state.v, 0.5 * dt, &mut q_mid);
    let a = acceleration(model, data, &q_mid, &v_mid);
    let q = state.q.clone();
    integrate(model, &q, &v_mid, dt, &mut state.q);
    state.v = sum(&state.v, dt, &a);
    state.time += dt;
}

/// The classical Runge-Kutta rule of fourth order, for coordinates whose rates are the velocities.
fn runge_kutta_step(model: &Model, data: &mut Data, state: &mut State, dt: f64) {
    let (q, v) = (state.q.clone(), state.v.clone());
    let a1 = acceleration(model, data, &q, &v);
    let v2 = sum(&v, 0.5 * dt, &a1);
    let a2 = acceleration(model, data, &sum(&q, 0.5 * dt, &v), &v2);
    let v3 = sum(&v, 0.5 * dt, &a2);
    let a3 = acceleration(model, data, &sum(&q, 0.5 * dt, &v2), &v3);
    let v4 = sum(&v, dt, &a3);
    let a4 = acceleration(model, data, &sum(&q, dt, &v3), &v4);
    for k in 0..v.len() {
        state.q[k] += dt / 6.0 * (v[k] + 2.0 * v2[k] + 2.0 * v3[k] + v4[k]);
        state.v[k] += dt / 6.0 * (a1[k] + 2.0 * a2[k] + 2.0 * a3[k] + a4[k]);
    }
    state.time += dt;
}

fn energy(model: &Model, state: &State) -> f64 {
    let mut data = Data::new(model);
    kinematics(model, &state.q, &mut data);
    velocities(model, &state.v, &mut data);
    kinetic_energy(model, &data, &state.v) + potential_energy(model, &data, &state.q)
}

fn momenta(model: &Model, state: &State, point: Vector3<f64>) -> (Vector3<f64>, Vector3<f64>) {
    let mut data = Data::new(model);
    kinematics(model, &state.q, &mut data);
    velocities(model, &state.v, &mut data);
    momentum(model, &data, point)
}

fn rod(mass: f64, com: f64, inertia: f64) -> Option<MassProperties> {
    let I = Matrix3::from_diagonal(&Vector3::new(inertia, inertia, inertia));
    Some(MassProperties::new(mass, Vector3::new(0.0, 0.0, -com), I).unwrap())
}

/// A chain of pendulums about y at distance `length`.
fn pendulum(n: usize, mass: f64, com: f64, inertia: f64, length: f64) -> Model {
    let mut builder = ModelBuilder::new();
    builder.gravity(Vector3::new(0.0, 0.0, -G));
    let mut parent = BodyId::WORLD;
    for k in 0..n {
        let pose = Isometry3::translation(0.0, 0.0, if k == 0 { 0.0 } else { -length });
        let mass = rod(mass, com, inertia);
        parent = builder.body(BodySpec { parent, pose, mass, ..Default::default() });
        builder.joint(parent, JointSpec::new(JointKind::Hinge { axis: Vector3::y() }));
    }
    builder.build().unwrap()
}

#[test]
fn a_pendulum_swings_with_the_period_of_the_elliptic_integral() {
    // T = 2π √(I/(m g l)) / agm(1, cos(θ₀/2)).
    let (m, l, I_c, amplitude) = (1.3, 0.4, 0.02, 1.0_f64);
    let (mut a, mut g) = (1.0, (0.5 * amplitude).cos());
    for _ in 0..6 {
        (a, g) = (0.5 * (a + g), (a * g).sqrt());
    }
    let period = std::f64::consts::TAU * ((I_c + m * l * l) / (m * G * l)).sqrt() / a;
    let model = pendulum(1, m, l, I_c, 0.0);
    let (mut data, mut state) = (Data::new(&model), State::new(&model));
    state.q[0] = amplitude;
    let n_steps = 2000;
    for _ in 0..n_steps {
        runge_kutta_step(&model, &mut data, &mut state, period / n_steps as f64);
    }
    // Fourth order with ω δt = 2π/2000: (ω δt)⁴ = 1e-10 per radian.
    assert!((state.q[0] - amplitude).abs() <= 1e-9, "{}", state.q[0]);
    assert!(state.v[0].abs() <= 1e-8, "{}", state.v[0]);
}

#[test]
fn a_double_pendulum_satisfies_its_equations_of_motion() {
    // Two point-like masses m on rods of length l, absolute angles θ₁, θ₂ (textbook equations with
    // the rotational inertia I of each bob added to the diagonal).
    let (m, l, I) = (0.7, 0.5, 0.01);
    let model = pendulum(2, m, l, I, l);
    let mut data = Data::new(&model);
    let (q, v) = ([0.8, -1.5], [1.2, 0.4]);
    let found = acceleration(&model, &mut data, &q, &v);
    let (t1, t2, w1, w2) = (q[0], q[0] + q[1], v[0], v[0] + v[1]);
    let (s, c) = ((t1 - t2).sin(), (t1 - t2).cos());
    let (M11, M12, M22) = (2.0 * m * l * l + I, m * l * l * c, m * l * l + I);
    let r1 = -m * l * l * s * w2 * w2 - 2.0 * m * G * l * t1.sin();
    let r2 = m * l * l * s * w1 * w1 - m * G * l * t2.sin();
    let D = M11 * M22 - M12 * M12;
    let (a1, a2) = ((M22 * r1 - M12 * r2) / D, (M11 * r2 - M12 * r1) / D);
    // Angles about y rotate from −z towards −x, with the same sign for both.
    assert!((found[0] - a1).abs() <= 1e-12 * a1.abs(), "{found:?} {a1} {a2}");
    assert!((found[0] + found[1] - a2).abs() <= 1e-12 * a2.abs(), "{found:?} {a1} {a2}");
}

#[test]
fn a_double_pendulum_keeps_its_energy_to_the_order_of_the_scheme() {
    let model = pendulum(2, 0.7, 0.5, 0.01, 0.5);
    let drift = |n_steps: usize| {
        let (mut data, mut state) = (Data::new(&model), State::new(&model));
        state.q = vec![1.0, 0.6];
        let before = energy(&model, &state);
        for _ in 0..n_steps {
            runge_kutta_step(&model, &mut data, &mut state, 2.0 / n_steps as f64);
        }
        (energy(&model, &state) - before).abs()
    };
    let (coarse, fine) = (drift(400), drift(800));
    // Halving the step of a fourth-order scheme gains at least 16, give or take higher orders.
    assert!(fine <= coarse / 12.0 && fine <= 1e-7, "{coarse:e} {fine:e}");
}

#[test]
fn a_free_spinning_body_keeps_momentum_and_energy_to_second_order() {
    for place in [0, 1] {
        let mut builder = ModelBuilder::new();
        builder.gravity(Vector3::zeros());
        let I = Matrix3::from_diagonal(&Vector3::new(1e-3, 2e-3, 2.5e-3));
        let com = if place == 1 { Vector3::new(0.03, -0.02, 0.01) } else { Vector3::zeros() };
        let mass = Some(MassProperties::new(0.5, com, I).unwrap());
        let body = builder.body(BodySpec { mass, ..Default::default() });
        let kind = [JointKind::Ball, JointKind::Free][place];
        builder.joint(body, JointSpec::new(kind));
        let model = builder.build().unwrap();
        let errors = |n_steps: usize| {
            let (mut data, mut state) = (Data::new(&model), State::new(&model));
            let n = state.v.len();
            state.v[n - 3..].copy_from_slice(&[1.0, 5.0, 0.1]);
            let (e0, (p0, l0)) =
                (energy(&model, &state), momenta(&model, &state, Vector3::zeros()));
            for _ in 0..n_steps {
                midpoint_step(&model, &mut data, &mut state, 1.0 / n_steps as f64);
            }
            let (p1, l1) = momenta(&model, &state, Vector3::zeros());
            let length: f64 = state.q[state.q.len() - 4..].iter().map(|x| x * x).sum();
            assert!((length - 1.0).abs() <= 1e-15);
            let scale = l0.norm();
            [(energy(&model, &state) - e0).abs() / e0, (l1 - l0).norm() / scale, (p1 - p0).norm()]
        };
        let (coarse, fine) = (errors(200), errors(400));
        for k in 0..3 {
            // Second order gains 4; errors already at round-off need not gain.
            let gains = fine[k] <= coarse[k] / 3.5 || fine[k] <= 1e-13;
            assert!(gains && fine[k] <= 1e-3, "{place} {k}: {coarse:?} {fine:?}");
        }
    }
}

#[test]
fn a_floating_tree_falls_with_g_and_keeps_its_angular_momentum() {
    // Gravity and internal forces: Ṗ = m g and L̇ = 0 about the centre of mass, by
    // differences along the motion.
    for seed in 0..40 {
        let mut rng = Random(3000 + seed);
        let mut builder = ModelBuilder::new();
        builder.gravity(Vector3::new(0.3, -0.2, -G));
        let mut bodies = vec![BodyId::WORLD];
        for k in 0..6 {
            let parent = if k == 0 { BodyId::WORLD } else { bodies[1 + rng.below(k)] };
            let (pose, mass) = (rng.pose(), Some(common::mass(&mut rng)));
            let body = builder.body(BodySpec { parent, pose, mass, ..Default::default() });
            let place = if k == 0 { 1 } else { [0, 2, 3, 4, 5, 6][rng.below(6)] };
            let kind = common::kind(&mut rng, place);
            builder.joint(body, JointSpec::new(kind));
            bodies.push(body);
        }
        let model = builder.build().unwrap();
        let mut state = common::state(&mut rng, &model);
        common::slow(&mut state.v);
        let mut data = Data::new(&model);
        let tau: Vec<_> = (0..model.nv()).map(|k| if k < 6 { 0.0 } else { rng.number() }).collect();
        let mut a = vec![0.0; model.nv()];
        forward_dynamics_aba(&model, &mut data, &state.q, &state.v, &tau, &mut a);
        let com = centre_of_mass(&model, &data).unwrap();
        let (p, _) = momentum(&model, &data, com);
        // Any motion with q̇ = v and v̇ = a at t = 0 serves.
        let rates = common::rate(|dt| {
            let mut moved = state.clone();
            integrate(&model, &state.q, &state.v, dt, &mut moved.q);
            moved.v = sum(&state.v, dt, &a);
            let (p, l) = momenta(&model, &moved, com + p / model.mass() * dt);
            p.iter().chain(&l).copied().collect()
        });
        let force = Vector3::from_column_slice(&rates[..3]) - model.mass() * model.gravity();
        let torque = Vector3::from_column_slice(&rates[3..]);
        // Momenta are linear in v, hence the accelerations in the bound.
        let largest = a.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
        let bound = common::RATE_TOLERANCE * model.mass() * largest;
        assert!(force.norm() <= bound && torque.norm() <= bound, "{seed}: {force} {torque}");
    }
}

#[test]
fn spring_forces_are_minus_the_gradient_of_their_energy() {
    // A ball with a spring: energy ½ k θ² for every axis; a slide: ½ k (q − rest)².
    let mut builder = ModelBuilder::new();
    builder.gravity(Vector3::zeros());
    let k = 3.0;
    let body = builder.body(BodySpec { mass: rod(1.0, 0.1, 0.02), ..Default::default() });
    let (stiffness, spring_reference) = (k, 0.2);
    let slide = JointKind::Slide { axis: Vector3::x() };
    builder.joint(body, JointSpec { stiffness, spring_reference, ..JointSpec::new(slide) });
    builder.joint(body, JointSpec { stiffness, ..JointSpec::new(JointKind::Ball) });
    let model = builder.build().unwrap();
    let (mut data, mut q) = (Data::new(&model), model.q0().to_vec());
    let angle = Vector3::new(0.3, -0.4, 1.2);
    let v = [0.7, angle.x, angle.y, angle.z];
    integrate(&model, model.q0(), &v, 1.0, &mut q);
    kinematics(&model, &q, &mut data);
    let exact = 0.5 * k * (0.5 * 0.5 + angle.norm_squared());
    assert!((potential_energy(&model, &data, &q) - exact).abs() <= 1e-14 * exact);
}
