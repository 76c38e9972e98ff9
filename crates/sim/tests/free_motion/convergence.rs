//! Order of the motion of mechanisms without contact.

use nalgebra::{Isometry3, Matrix3, Vector3};
use stiction_mech::{BodyId, BodySpec, JointKind, JointSpec, MassProperties};
use stiction_sim::WorldBuilder;

use super::energy::chain;
use super::{CONSERVING, runge_kutta, start};

/// A planar arm of two links of 0.1 m with geared motors, as Gymnasium's Reacher: level, so that its
/// weight does nothing.
fn reacher() -> WorldBuilder {
    let mut builder = WorldBuilder::new();
    let mut parent = BodyId::WORLD;
    for (x, length) in [(0.0, 0.1), (0.1, 0.11)] {
        let mass = 0.035;
        let across = mass * length * length / 12.0;
        let inertia = Matrix3::from_diagonal(&Vector3::new(0.1 * across, across, across));
        let com = Vector3::new(0.5 * length, 0.0, 0.0);
        parent = builder.mechanism.body(BodySpec {
            parent,
            pose: Isometry3::translation(x, 0.0, 0.0),
            mass: Some(MassProperties::new_lenient(mass, com, inertia).unwrap()),
            ..BodySpec::default()
        });
        let hinge = JointSpec::new(JointKind::Hinge { axis: Vector3::z() });
        builder.mechanism.joint(parent, JointSpec { damping: 2e-4, armature: 2e-4, ..hinge });
    }
    builder
}

/// Largest errors of coordinates [rad] and velocities [rad/s] after a time [s] at each time step.
fn errors(builder: &WorldBuilder, speed: &[f64], time: f64, steps: &[f64]) -> Vec<[f64; 2]> {
    let model = builder.clone().build().unwrap().model().clone();
    let (mut q, mut v) = (model.q0().to_vec(), speed.to_vec());
    runge_kutta(&model, &mut q, &mut v, time / 20_000.0, 20_000);
    let worst = |a: &[f64], b: &[f64]| {
        a.iter().zip(b).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()))
    };
    let mut found = Vec::new();
    for scheme in CONSERVING {
        for h in steps {
            let mut simulation = start(builder.clone(), scheme, *h);
            simulation.state_mut().v.copy_from_slice(speed);
            for _ in 0..(time / h).round() as usize {
                assert!(!simulation.step().unwrap().unresolved);
            }
            let state = simulation.state();
            found.push([worst(&state.q, &q), worst(&state.v, &v)]);
        }
    }
    found
}

#[test]
fn the_error_of_a_double_pendulum_falls_with_the_square_of_the_step() {
    let steps = [0.004, 0.002, 0.001];
    let found = errors(&chain(2, 0.3, 0.5), &[3.0, -2.0], 0.4, &steps);
    for errors in found.chunks(steps.len()) {
        for pair in errors.windows(2) {
            for (coarse, fine) in pair[0].iter().zip(&pair[1]) {
                let order = (coarse / fine).log2();
                assert!(order >= 1.9, "{order}: {errors:?}");
            }
        }
    }
}

#[test]
fn a_damped_arm_of_two_links_is_followed_to_a_third_of_a_milliradian() {
    let steps = [0.01, 0.005, 0.0025];
    let found = errors(&reacher(), &[6.0, -8.0], 0.1, &steps);
    for errors in found.chunks(steps.len()) {
        assert!(errors[0][0] <= 3e-4, "{errors:?}");
        for pair in errors.windows(2) {
            let order = (pair[0][0] / pair[1][0]).log2();
            assert!(order >= 1.9, "{order}: {errors:?}");
        }
    }
}

#[test]
fn a_stiff_damper_lets_a_hinge_decay_as_it_should() {
    // I ω' = −d ω: ω = ω₀ e^(−d t/I), exact at every step of one hinge.
    for z in [1e-4, 0.1, 1.0, 10.0, 100.0] {
        let h = 0.005;
        for scheme in CONSERVING {
            let mut builder = WorldBuilder::new();
            builder.mechanism.gravity(Vector3::zeros());
            let moments = Matrix3::identity() * 0.01;
            let mass = Some(MassProperties::new(1.0, Vector3::zeros(), moments).unwrap());
            let body = builder.mechanism.body(BodySpec { mass, ..BodySpec::default() });
            let hinge = JointSpec::new(JointKind::Hinge { axis: Vector3::y() });
            let damping = z * 0.01 / h;
            builder.mechanism.joint(body, JointSpec { damping, ..hinge });
            let mut simulation = start(builder, scheme, h);
            simulation.state_mut().v[0] = 2.0;
            for step in 1..=5 {
                let _ = simulation.step().unwrap();
                let exact = 2.0 * (-z * f64::from(step)).exp();
                // The weight is a difference of numbers of size 1/z, below the bound of a series.
                let bound = 1e-10 * f64::from(step) * exact + 1e-14;
                assert!((simulation.state().v[0] - exact).abs() <= bound, "{z}");
            }
        }
    }
}
