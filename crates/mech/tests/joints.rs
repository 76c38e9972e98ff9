//! Every joint of the registry: its motion vectors are derivatives of its poses, and ⊕ and ⊖ are inverse.

#![allow(
    non_snake_case,
    clippy::needless_range_loop,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic
)]

mod common;

use common::{one, relative, state};
use nalgebra::{Point3, Vector3};
use stiction_math::random::SplitMix64;
use stiction_mech::*;

/// Angular and linear velocity of a body's origin by central differences of its pose.
fn by_difference(model: &Model, q: &[f64], v: &[f64], body: usize) -> (Vector3<f64>, Vector3<f64>) {
    let h = 1e-5;
    let mut data = Data::new(model);
    let mut moved = vec![0.0; model.nq()];
    let mut pose = |dt: f64| {
        integrate(model, q, v, dt, &mut moved);
        kinematics(model, &moved, &mut data);
        data.body_pose[body]
    };
    let (before, after) = (pose(-h), pose(h));
    let turn = (after.rotation * before.rotation.inverse()).scaled_axis();
    let shift = after.translation.vector - before.translation.vector;
    (turn / (2.0 * h), shift / (2.0 * h))
}

/// Truncation is of order h² = 1e-10 with lengths and rates near one, round-off ε/h = 2e-11.
const TOLERANCE: f64 = 2e-9;

#[test]
fn motions_are_derivatives_of_poses() {
    for place in 0..JOINTS.len() {
        let mut rng = SplitMix64::new(100 + place as u64);
        for _ in 0..10 {
            let model = one(&mut rng, place);
            let state = state(&mut rng, &model);
            let mut data = Data::new(&model);
            kinematics(&model, &state.q, &mut data);
            let nv = model.nv();
            for body in 1..3 {
                let origin = data.body_pose[body].translation.vector;
                let mut J = vec![0.0; 6 * nv];
                jacobian(&model, &data, BodyId(body), origin, &mut J);
                for k in 0..nv {
                    let mut unit = vec![0.0; nv];
                    unit[k] = 1.0;
                    let (angular, linear) = by_difference(&model, &state.q, &unit, body);
                    let column: Vec<_> = (0..6).map(|row| J[row * nv + k]).collect();
                    let error = (Vector3::new(column[0], column[1], column[2]) - angular).norm()
                        + (Vector3::new(column[3], column[4], column[5]) - linear).norm();
                    assert!(error <= TOLERANCE, "{} {k}: {error}", JOINTS[place].name);
                }
            }
        }
    }
}

#[test]
fn integrate_and_difference_are_inverse() {
    for place in 0..JOINTS.len() {
        let mut rng = SplitMix64::new(200 + place as u64);
        for _ in 0..20 {
            let model = one(&mut rng, place);
            let (from, v) = (state(&mut rng, &model).q, rng.values(model.nv()));
            let (mut to, mut back) = (vec![0.0; model.nq()], vec![0.0; model.nv()]);
            integrate(&model, &from, &v, 1.0, &mut to);
            difference(&model, &from, &to, &mut back);
            assert!(relative(&v, &back) <= 1e-14, "{}", JOINTS[place].name);
            // Conversely, from ⊕ (to ⊖ from) is the pose of to.
            let to = state(&mut rng, &model).q;
            let mut again = vec![0.0; model.nq()];
            difference(&model, &from, &to, &mut back);
            integrate(&model, &from, &back, 1.0, &mut again);
            let pose = |q: &[f64]| {
                let mut data = Data::new(&model);
                kinematics(&model, q, &mut data);
                data.body_pose[1] * Point3::new(0.3, 0.2, -0.1)
            };
            assert!((pose(&to) - pose(&again)).norm() <= 1e-13, "{}", JOINTS[place].name);
        }
    }
}

#[test]
fn bodies_have_their_declared_poses_at_the_reference_configuration() {
    for place in 0..JOINTS.len() {
        let mut rng = SplitMix64::new(300 + place as u64);
        let model = one(&mut rng, place);
        let mut data = Data::new(&model);
        kinematics(&model, model.q0(), &mut data);
        let declared = model.bodies()[1].spec.pose;
        let error = data.body_pose[1].to_homogeneous() - declared.to_homogeneous();
        assert!(error.amax() <= 1e-15, "{}: {error}", JOINTS[place].name);
    }
}

#[test]
fn a_quaternion_of_any_length_is_the_same_rotation() {
    let mut rng = SplitMix64::new(7);
    let model = one(&mut rng, 0);
    let q = state(&mut rng, &model).q;
    let scaled: Vec<_> = q.iter().map(|x| 3.0 * x).collect();
    let (mut a, mut b) = (Data::new(&model), Data::new(&model));
    kinematics(&model, &q, &mut a);
    kinematics(&model, &scaled, &mut b);
    assert!((a.body_pose[1].to_homogeneous() - b.body_pose[1].to_homogeneous()).amax() < 1e-15);
}

/// Mass matrix and bias of a model with one moving body, at given q and v.
fn dynamics(kinds: &[JointKind], q: &[f64], v: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let mut rng = SplitMix64::new(11);
    let mut builder = ModelBuilder::new();
    let (pose, mass) = (rng.pose(0.5), Some(common::mass(&mut rng)));
    let body = builder.body(BodySpec { pose, mass, ..Default::default() });
    for &kind in kinds {
        let anchor = Vector3::new(0.1, -0.2, 0.3);
        builder.joint(body, JointSpec { anchor, ..JointSpec::new(kind) });
    }
    let model = builder.build().unwrap();
    let mut data = Data::new(&model);
    kinematics(&model, q, &mut data);
    velocities(&model, v, &mut data);
    bias_forces(&model, v, &mut data);
    mass_matrix(&model, &mut data);
    (data.mass, data.bias)
}

#[test]
fn compound_joints_equal_their_parts() {
    let (q, v) = ([0.4, -0.7, 1.1], [1.3, -0.8, 0.6]);
    let axes = [Vector3::x(), Vector3::new(0.0, 0.8, 0.6)];
    let hinges = axes.map(|axis| JointKind::Hinge { axis });
    let universal = dynamics(&[JointKind::Universal { axes }], &q[..2], &v[..2]);
    assert_eq!(universal, dynamics(&hinges, &q[..2], &v[..2]));

    let (normal, x) = (Vector3::new(0.0, 0.6, 0.8), Vector3::x());
    let y = normal.cross(&x);
    let parts = [
        JointKind::Slide { axis: x },
        JointKind::Slide { axis: y },
        JointKind::Hinge { axis: normal },
    ];
    let (planar, parts) =
        (dynamics(&[JointKind::Planar { normal, x }], &q, &v), dynamics(&parts, &q, &v));
    assert!(relative(&planar.0, &parts.0) <= 1e-15 && relative(&planar.1, &parts.1) <= 1e-14);

    let screw = JointKind::Screw { axis: x, pitch: 0.0 };
    let hinge = JointKind::Hinge { axis: x };
    let (screw, hinge) =
        (dynamics(&[screw], &q[..1], &v[..1]), dynamics(&[hinge], &q[..1], &v[..1]));
    assert!(relative(&screw.0, &hinge.0) <= 1e-14 && relative(&screw.1, &hinge.1) <= 1e-14);
}

#[test]
fn a_nut_on_an_upright_screw_falls_with_its_inertia_and_mass() {
    // Energy ½ (I + m p²) q̇² + m g p q: acceleration −m g p/(I + m p²).
    let (m, I, p, g) = (2.0, 0.03, 0.05, 9.81);
    let mut builder = ModelBuilder::new();
    let inertia = nalgebra::Matrix3::from_diagonal(&Vector3::new(0.02, 0.02, I));
    let mass = Some(MassProperties::new(m, Vector3::zeros(), inertia).unwrap());
    let body = builder.body(BodySpec { mass, ..Default::default() });
    builder.joint(body, JointSpec::new(JointKind::Screw { axis: Vector3::z(), pitch: p }));
    let model = builder.build().unwrap();
    let (mut data, mut a) = (Data::new(&model), [0.0]);
    forward_dynamics_aba(&model, &mut data, &[0.7], &[3.0], &[0.0], &mut a);
    let exact = -m * g * p / (I + m * p * p);
    assert!((a[0] - exact).abs() <= 1e-14 * exact.abs());
    // One and a half revolutions lift by 3 π p.
    kinematics(&model, &[3.0 * std::f64::consts::PI], &mut data);
    assert!((data.body_pose[1].translation.z - 3.0 * std::f64::consts::PI * p).abs() <= 1e-15);
}
