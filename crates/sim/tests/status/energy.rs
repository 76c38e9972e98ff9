//! The balance of energy against energies computed by hand.

use crate::*;
use stiction_mech::{ActuatorSpec, JointId, Transmission};

const G: f64 = 9.81;

/// A mass of 2 kg on a slide along x, without weight.
fn slide(stiffness: f64, damping: f64, scheme: Scheme, time_step: f64) -> Simulation {
    let mut builder = WorldBuilder::new();
    builder.mechanism.gravity(Vector3::zeros());
    let mass = MassProperties::new(2.0, Vector3::zeros(), Matrix3::identity()).unwrap();
    let body = builder.mechanism.body(BodySpec { mass: Some(mass), ..BodySpec::default() });
    let joint = JointSpec::new(JointKind::Slide { axis: Vector3::x() });
    builder.mechanism.joint(body, JointSpec { stiffness, damping, ..joint });
    let motor = ActuatorSpec::motor("motor", Transmission::Joint(JointId(0)));
    builder.mechanism.actuator(motor);
    let settings = Settings { scheme, time_step, ..Settings::default() };
    Simulation::new(builder.build().unwrap(), settings).unwrap()
}

fn assert_near(found: f64, exact: f64, scale: f64, what: &str) {
    // A few operations on numbers of this size.
    assert!((found - exact).abs() <= 1e-12 * scale, "{what}: {found} against {exact}");
}

#[test]
fn friction_takes_from_a_block_on_an_incline_what_its_force_times_its_path_is() {
    let (mu, angle, h) = (0.3_f64, 0.6_f64, 1e-3);
    let mut builder = common::on_ground(mu);
    builder.mechanism.gravity(Vector3::new(G * angle.sin(), 0.0, -G * angle.cos()));
    common::cube(&mut builder, 0.1, 0.0, 0.1, mu);
    let mut simulation = common::start(builder, h);
    simulation.state_mut().v[0] = 1.0;
    for _ in 0..200 {
        let (x, v) = (simulation.state().q[0], simulation.state().v[0]);
        let report = simulation.step().unwrap();
        let (x1, v1) = (simulation.state().q[0], simulation.state().v[0]);
        let (balance, mean) = (report.energy, 0.5 * (v + v1));
        // Relative error 1e-6 of the solver, in impulses of the size of the weight.
        let near = |found: f64, exact: f64| (found - exact).abs() <= 1e-5 * G * h * v1.max(1.0);
        assert!(near(balance.kinetic, 0.5 * (v1 * v1 - v * v)), "{balance:?}");
        assert!(near(balance.potential, -G * angle.sin() * (x1 - x)), "{balance:?}");
        assert!(near(balance.constraints, -mu * G * angle.cos() * h * mean), "{balance:?}");
        assert!(near(balance.residual(), 0.0) && balance.forces == 0.0, "{balance:?}");
    }
}

#[test]
fn a_spring_and_a_damper_exchange_what_the_scheme_prescribes() {
    let (k, c, m, h) = (50.0, 3.0, 2.0, 1e-2);
    let mut simulation = slide(k, c, Scheme::Euler, h);
    simulation.state_mut().q[0] = 0.3;
    simulation.state_mut().v[0] = 1.0;
    for _ in 0..100 {
        let (x, v) = (simulation.state().q[0], simulation.state().v[0]);
        let balance = simulation.step().unwrap().energy;
        // MuJoCo's Euler: symplectic, with an implicit damper.
        let v1 = (m * v - h * k * x) / (m + h * c);
        let x1 = x + h * v1;
        let (kinetic, potential) = (0.5 * m * (v1 * v1 - v * v), 0.5 * k * (x1 * x1 - x * x));
        let damper = -h * c * v1 * 0.5 * (v + v1);
        assert_near(balance.kinetic, kinetic, 5.0, "kinetic");
        assert_near(balance.potential, potential, 5.0, "potential");
        assert_near(balance.forces, damper, 5.0, "damper");
        assert_near(balance.residual(), kinetic + potential - damper, 5.0, "residual");
        // What remains: the spring works with v₁, its impulse with the mean.
        let remains = h * k * (x * 0.5 * (v1 - v) + 0.5 * h * v1 * v1);
        assert_near(balance.residual(), remains, 5.0, "formula");
        assert!(balance.is_kept());
    }
}

#[test]
fn a_damped_oscillator_without_constraints_keeps_its_balance_at_any_stiffness() {
    // From ω h = 0.1 and hardly any damping to a decay by e⁻²⁰ in one step.
    let (m, h) = (2.0_f64, 1e-2_f64);
    for (turn, decay) in [(0.1_f64, 0.0), (0.1, 0.1), (0.0, 1.0), (0.1, 20.0)] {
        let (k, c) = (m * (turn / h).powi(2), m * decay / h);
        let mut simulation = slide(k, c, Scheme::Refined, h);
        simulation.state_mut().q[0] = 0.01;
        simulation.state_mut().v[0] = 1.0;
        for step in 0..50 {
            let before = simulation.energy();
            let report = simulation.step().unwrap();
            assert_eq!(report.status(), StepStatus::Ok, "{decay}, {step}: {}", told(&report));
            let change = simulation.energy() - before;
            // The forces take what is missing; only dampers do.
            assert_near(report.energy.forces, change - report.energy.residual(), 2.0, "damper");
            assert!(report.energy.forces <= 1e-15);
        }
    }
}

#[test]
fn a_motor_gives_a_body_its_force_times_the_mean_velocity() {
    for scheme in [Scheme::Euler, Scheme::Refined, Scheme::Midpoint, Scheme::Implicit] {
        let (force, m, h) = (7.0, 2.0, 1e-2);
        let mut simulation = slide(0.0, 0.0, scheme, h);
        simulation.input_mut().control[0] = force;
        for step in 0..50 {
            let balance = simulation.step().unwrap().energy;
            let v = force / m * h * f64::from(step);
            let v1 = v + force / m * h;
            assert_near(balance.kinetic, 0.5 * m * (v1 * v1 - v * v), 5.0, "kinetic");
            assert_near(balance.forces, force * h * 0.5 * (v + v1), 5.0, "motor");
            assert_near(balance.residual(), 0.0, 5.0, "residual");
        }
    }
}

#[test]
fn a_body_that_the_correction_lifts_gains_weight_times_height() {
    let mut builder = common::on_ground(0.5);
    common::cube(&mut builder, 0.1, 0.0, 0.05, 0.5);
    let h = 1e-3;
    let mut simulation = common::start(builder, h);
    let before = simulation.energy();
    let report = simulation.step().unwrap();
    let balance = report.energy;
    let lifted = simulation.state().q[2] - 0.05;
    // It is lifted at the largest speed of corrections, 1 m/s, and does not move otherwise.
    assert!((lifted - h).abs() <= 1e-5 * h, "{lifted}");
    assert_near(balance.correction, G * lifted, 1.0, "correction");
    let change = simulation.energy() - before;
    assert_near(balance.residual() + balance.correction, change, 1.0, "all");
    assert_eq!(report.status(), StepStatus::Ok, "{}", told(&report));
}
