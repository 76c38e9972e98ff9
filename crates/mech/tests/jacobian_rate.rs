//! The rate of change of a Jacobian against the acceleration of a point at constant velocities.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use nalgebra::{Isometry3, Matrix3, Vector3};
use stiction_math::random::SplitMix64;
use stiction_mech::{
    BodyId, BodySpec, Data, JointKind, JointSpec, MassProperties, ModelBuilder, jacobian_rate,
    kinematics, velocities,
};

#[test]
fn a_point_at_constant_joint_rates_accelerates_by_the_rate_of_its_jacobian() {
    // A wheel on a turntable: hinge rates w₁ about z and w₂ about x, centre at distance r from the table's axis.
    let mut builder = ModelBuilder::new();
    let mass = MassProperties::new(1.0, Vector3::zeros(), Matrix3::identity()).ok();
    let spec = BodySpec { mass, ..BodySpec::default() };
    let table = builder.body(spec.clone());
    builder.joint(table, JointSpec::new(JointKind::Hinge { axis: Vector3::z() }));
    let r = 0.7;
    let pose = Isometry3::translation(r, 0.0, 0.0);
    let wheel = builder.body(BodySpec { parent: table, pose, ..spec });
    builder.joint(wheel, JointSpec::new(JointKind::Hinge { axis: Vector3::x() }));
    let model = builder.build().unwrap();
    let (v, wheel) = ([1.3, -2.1], BodyId(wheel.0));
    let mut data = Data::new(&model);
    let mut rate = vec![0.0; 12];
    let centre = Vector3::new(r, 0.0, 0.0);
    jacobian_rate(&model, (&[0.0, 0.0], &v), wheel, centre, &mut data, &mut rate);
    let product: Vec<f64> = rate.chunks_exact(2).map(|row| row[0] * v[0] + row[1] * v[1]).collect();
    // The axis of the wheel turns with the table, w₁ w₂ z × x; the centre moves on a circle.
    let exact = [0.0, v[0] * v[1], 0.0, -v[0] * v[0] * r, 0.0, 0.0];
    for (found, exact) in product.iter().zip(exact) {
        // Differences of fourth order with turns of a thousandth: truncation and round-off below 1e-12 of rates of a few 1/s².
        assert!((found - exact).abs() <= 1e-11, "{found} against {exact}");
    }
}

#[test]
fn the_rate_of_a_jacobian_times_the_velocities_is_the_bias_acceleration_of_any_joints() {
    let mut builder = ModelBuilder::new();
    let mass = MassProperties::new(1.0, Vector3::zeros(), Matrix3::identity()).ok();
    let mut parent = BodyId::WORLD;
    let axes = [Vector3::new(0.2, 1.0, 0.0), Vector3::z()];
    for kind in [
        JointKind::Free,
        JointKind::Ball,
        JointKind::Universal { axes },
        JointKind::Screw { axis: axes[0], pitch: 0.3 },
        JointKind::Slide { axis: axes[1] },
        JointKind::planar(axes[0]),
    ] {
        let pose = Isometry3::translation(0.2, 0.1, -0.1);
        parent = builder.body(BodySpec { parent, pose, mass, ..BodySpec::default() });
        builder.joint(parent, JointSpec::new(kind));
    }
    let model = builder.build().unwrap();
    let mut rng = SplitMix64::new(3);
    let v: Vec<f64> = (0..model.nv()).map(|_| rng.uniform(-1.0, 1.0)).collect();
    let mut q = model.q0().to_vec();
    stiction_mech::integrate(&model, model.q0(), &v, 0.4, &mut q);
    let mut data = Data::new(&model);
    // The acceleration of the tip's origin along q ⊕ t v by central differences of velocities.
    let velocity = |t: f64| {
        let mut data = Data::new(&model);
        let mut moved = q.clone();
        stiction_mech::integrate(&model, &q, &v, t, &mut moved);
        kinematics(&model, &moved, &mut data);
        velocities(&model, &v, &mut data);
        let place = data.body_pose[parent.0].translation.vector;
        stiction_mech::point_velocity(&model, &data, parent, place)
    };
    let h = 1e-4;
    let acceleration = (velocity(h) - velocity(-h)) / (2.0 * h);
    kinematics(&model, &q, &mut data);
    let place = data.body_pose[parent.0].translation.vector;
    let mut rate = vec![0.0; 6 * model.nv()];
    jacobian_rate(&model, (&q, &v), parent, place, &mut data, &mut rate);
    for k in 0..3 {
        let row = &rate[(3 + k) * model.nv()..][..model.nv()];
        let found: f64 = row.iter().zip(&v).map(|(rate, v)| rate * v).sum();
        // Second differences: h² times third derivatives of order ten, and round-off ε/h.
        assert!((found - acceleration[k]).abs() <= 1e-6, "{found} against {}", acceleration[k]);
    }
}
