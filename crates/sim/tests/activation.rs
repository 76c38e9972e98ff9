//! Actuators with activation in a step: filters, integrators and muscles.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;

use nalgebra::{Matrix3, Vector3};
use stiction_mech::*;
use stiction_sim::{Scheme, Settings, Simulation, Snapshot, World, WorldBuilder, state_hash};

/// A mass of 2 kg on a slide without weight, with one actuator.
fn slide(spec: impl Fn(Transmission) -> ActuatorSpec) -> Arc<World> {
    let mut builder = WorldBuilder::new();
    let b = &mut builder.mechanism;
    let mass = MassProperties::new(2.0, Vector3::zeros(), Matrix3::identity()).unwrap();
    let body = b.body(BodySpec { mass: Some(mass), ..BodySpec::default() });
    let joint = b.joint(body, JointSpec::new(JointKind::Slide { axis: Vector3::x() }));
    b.actuator(spec(Transmission::Joint(joint)));
    Arc::new(builder.build().unwrap())
}

fn run(world: &Arc<World>, scheme: Scheme, h: f64, steps: usize, control: f64) -> State {
    let settings = Settings { scheme, time_step: h, ..Settings::default() };
    let mut simulation = Simulation::new(world.clone(), settings).unwrap();
    simulation.input_mut().control[0] = control;
    for _ in 0..steps {
        let report = simulation.step().unwrap();
        assert!(!report.unresolved, "the energy of the step balances");
    }
    simulation.state().clone()
}

fn filtered_motor(on: Transmission) -> ActuatorSpec {
    let dynamics = ActivationDynamics::Filter { time_constant: 0.1, exact: false };
    let activation = Some(ActivationSpec::new(dynamics));
    ActuatorSpec { activation, ..ActuatorSpec::motor("filtered", on) }
}

#[test]
fn a_filtered_motor_moves_a_mass_as_the_closed_form_with_order_two() {
    let world = slide(filtered_motor);
    // m v̇ = u (1 − e^{−t/τ}): v = u/m (t − τ (1 − e^{−t/τ})).
    let (u, t, tau) = (3.0, 0.4, 0.1);
    let exact_v = u / 2.0 * (t - tau * (1.0 - f64::exp(-t / tau)));
    let mut errors = Vec::new();
    for steps in [20, 40, 80] {
        let state = run(&world, Scheme::Refined, t / steps as f64, steps, u);
        // The filter itself is exact: steps roundings.
        let exact = u * (1.0 - f64::exp(-t / tau));
        assert!((state.activation[0] - exact).abs() <= 1e-13);
        errors.push((state.v[0] - exact_v).abs());
    }
    // Halving the step divides the error by four, up to terms of higher order.
    assert!(errors[0] / errors[1] > 3.7 && errors[1] / errors[2] > 3.7, "{errors:?}");
}

#[test]
fn euler_reads_activations_at_the_start_of_the_step_or_early_at_its_end() {
    for early in [false, true] {
        let world = slide(|on| {
            let mut spec = filtered_motor(on);
            spec.activation.as_mut().unwrap().early = early;
            spec
        });
        let (h, u, tau) = (0.01, 3.0, 0.1);
        let state = run(&world, Scheme::Euler, h, 2, u);
        let first = h * u / tau;
        let second = first + h * (u - first) / tau;
        assert!((state.activation[0] - second).abs() <= 1e-15);
        let forces = if early { first + second } else { first };
        assert!((state.v[0] - h * forces / 2.0).abs() <= 1e-15);
    }
}

#[test]
fn an_integrated_velocity_servo_follows_its_control_and_stops_at_its_range() {
    let world = slide(|on| {
        let range = Some((-1.0, 0.2));
        let activation =
            Some(ActivationSpec { range, ..ActivationSpec::new(ActivationDynamics::Integrator) });
        ActuatorSpec { activation, ..ActuatorSpec::position("servo", on, 2000.0, 200.0) }
    });
    let state = run(&world, Scheme::Refined, 0.005, 600, 0.5);
    assert_eq!(state.activation[0], 0.2);
    // A damped servo has come to rest at its target: e^{−10 t/2 ...} of the motion is far below.
    assert!((state.q[0] - 0.2).abs() <= 1e-6, "{}", state.q[0]);
}

fn muscle(on: Transmission) -> ActuatorSpec {
    let muscle = Muscle {
        length_range: [-0.3, 0.3],
        range: [0.75, 1.05],
        peak_force: 20.0,
        shortest: 0.5,
        longest: 1.6,
        fastest: 1.5,
        passive: 1.3,
        lengthening: 1.2,
    };
    let dynamics = MuscleActivation { rise: 0.02, fall: 0.05, smoothing: 0.2 };
    ActuatorSpec {
        law: ActuatorLaw::General {
            gain: ActuatorGain::Muscle(muscle),
            bias: ActuatorBias::Muscle(muscle),
        },
        activation: Some(ActivationSpec::new(ActivationDynamics::Muscle(dynamics))),
        ..ActuatorSpec::motor("muscle", on)
    }
}

#[test]
fn a_snapshot_holds_activations_and_continues_with_the_same_bits() {
    let world = slide(muscle);
    let mut simulation = Simulation::new(world.clone(), Settings::default()).unwrap();
    simulation.input_mut().control[0] = 0.7;
    (0..5).for_each(|_| assert!(simulation.step().unwrap().converged()));
    let bytes = simulation.snapshot().to_bytes();
    let read = Snapshot::from_bytes(&bytes).unwrap();
    assert_eq!(read, simulation.snapshot());
    let mut other = Simulation::new(world, Settings::default()).unwrap();
    other.restore(&read).unwrap();
    for simulation in [&mut simulation, &mut other] {
        (0..5).for_each(|_| assert!(simulation.step().unwrap().converged()));
    }
    assert!(simulation.state().activation[0] > 0.1);
    assert_eq!(state_hash(simulation.state()), state_hash(other.state()));
    // A state without its activation is refused.
    let mut lost = simulation.state().clone();
    lost.activation.clear();
    assert!(simulation.set_state(&lost).is_err());
    lost.activation.push(f64::NAN);
    assert!(simulation.set_state(&lost).is_err());
}

#[test]
fn a_muscle_shortens_no_faster_than_its_largest_speed() {
    let world = slide(muscle);
    let mut simulation = Simulation::new(world, Settings::default()).unwrap();
    simulation.input_mut().control[0] = 1.0;
    // L0 = 0.6/0.3 = 2 m: at most 3 m/s, towards which force and acceleration vanish.
    let mut fastest = 0.0_f64;
    for _ in 0..200 {
        assert!(!simulation.step().unwrap().unresolved);
        fastest = fastest.max(-simulation.state().v[0]);
    }
    assert!(fastest > 0.5 && fastest < 3.0, "{fastest}");
}

#[test]
fn quaternions_of_any_length_are_normalised_when_a_state_is_set() {
    let mut builder = WorldBuilder::new();
    let mass = MassProperties::new(2.0, Vector3::zeros(), Matrix3::identity()).unwrap();
    let body = builder.mechanism.body(BodySpec { mass: Some(mass), ..BodySpec::default() });
    builder.mechanism.joint(body, JointSpec::new(JointKind::Free));
    let mut simulation =
        Simulation::new(Arc::new(builder.build().unwrap()), Settings::default()).unwrap();
    let mut state = simulation.state().clone();
    state.q[3..].copy_from_slice(&[0.0, 3.0, 4.0, 0.0]);
    simulation.set_state(&state).unwrap();
    assert_eq!(simulation.state().q[3..], [0.0, 0.6, 0.8, 0.0]);
    state.q[3..].fill(0.0);
    simulation.set_state(&state).unwrap();
    assert_eq!(simulation.state().q[3..], [1.0, 0.0, 0.0, 0.0]);
    // Also where the state is changed in place.
    simulation.state_mut().q[3..].copy_from_slice(&[2.0, 0.0, 0.0, 0.0]);
    assert!(simulation.step().unwrap().converged());
    assert_eq!(simulation.state().q[3..], [1.0, 0.0, 0.0, 0.0]);
}

/// A PID servo of stiffness kp and damping kv.
fn pid_servo(on: Transmission, pid: PidController, kp: f64, kv: f64) -> ActuatorSpec {
    let law = ActuatorLaw::Affine { gain: 1.0, bias: [0.0, -kp, -kv] };
    ActuatorSpec { law, pid: Some(pid), ..ActuatorSpec::motor("pid", on) }
}

#[test]
fn a_setpoint_moves_at_its_largest_rate_and_stops_at_the_control() {
    let pid = PidController { slew_limit: Some(2.0), ..PidController::default() };
    let world = slide(|on| pid_servo(on, pid, 0.0, 0.0));
    for scheme in [Scheme::Refined, Scheme::Euler, Scheme::Rk4] {
        // Eight steps of 2·0.05, as many roundings.
        let state = run(&world, scheme, 0.05, 8, -1.0);
        assert!((state.activation[0] + 0.8).abs() <= 1e-15, "{scheme:?}");
        // The stages of a Runge–Kutta step approach the control in steps of their own, as in MuJoCo.
        if scheme != Scheme::Rk4 {
            let state = run(&world, scheme, 0.05, 12, -1.0);
            assert!((state.activation[0] + 1.0).abs() <= 1e-15, "{scheme:?}");
        }
    }
}

#[test]
fn an_integral_part_moves_a_mass_as_the_closed_form_with_order_two() {
    // m v̇ = ki I, İ = u − x: x⃛ = ki/m (u − x). With u − x = e, e⃛ = −w³ e and e(0) = u, ė = ë = 0 the solution is
    // e = u/3 (e^{−wt} + 2 e^{wt/2} cos(√3/2 wt)).
    let pid = PidController { ki: 16.0, ..PidController::default() };
    let world = slide(|on| pid_servo(on, pid, 0.0, 0.0));
    let (u, t, w) = (0.5, 0.8, 2.0);
    let phase = 3.0_f64.sqrt() / 2.0 * w * t;
    let exact = u - u / 3.0 * (f64::exp(-w * t) + 2.0 * f64::exp(0.5 * w * t) * phase.cos());
    let errors = [40, 80, 160].map(|steps| {
        let state = run(&world, Scheme::Refined, t / f64::from(steps), steps as usize, u);
        (state.q[0] - exact).abs()
    });
    // Halving the step divides the error by four, up to terms of higher order.
    assert!(errors[0] / errors[1] > 3.7 && errors[1] / errors[2] > 3.7, "{errors:?}");
}

#[test]
fn a_pid_servo_has_a_control_per_input_and_holds_a_mass_against_a_force() {
    let pid = PidController {
        has_velocity: true,
        has_feedforward: true,
        ki: 30.0,
        integral_bound: Some(IntegralBound::Stop(5.0)),
        ..PidController::default()
    };
    let world = slide(|on| pid_servo(on, pid, 40.0, 20.0));
    let mut simulation = Simulation::new(world, Settings::default()).unwrap();
    assert_eq!(simulation.input().control.len(), 3);
    // The force that the integral has to balance is the feedforward of −6 N: I = 6/30.
    simulation.input_mut().control.copy_from_slice(&[0.3, 0.0, -6.0]);
    for _ in 0..20_000 {
        let _ = simulation.step().unwrap();
    }
    let state = simulation.state();
    // The slowest mode decays with e^{−0.9 t}, t = 20 s at the least.
    assert!((state.q[0] - 0.3).abs() <= 1e-7, "{}", state.q[0]);
    assert!((state.activation[0] - 0.2).abs() <= 1e-7, "{}", state.activation[0]);
}
