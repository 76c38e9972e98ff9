//! Springs, dampers, friction and limits of joints.

use crate::mechanism::{DIFFERENCE, Random, STEP, Scene, mass, tree};
use nalgebra::{UnitQuaternion, Vector3};
use stiction_mech::{
    ActuatorSpec, BodySpec, DriveKind, JointId, JointKind, JointSpec, Limit, LimitSource,
    ModelBuilder, Transmission,
};

/// A child of the world with one joint, without gravity.
pub fn single(spec: JointSpec) -> (ModelBuilder, JointId) {
    let mut builder = ModelBuilder::new();
    builder.gravity(Vector3::zeros());
    let body = builder.body(BodySpec { mass: mass(), ..Default::default() });
    let joint = builder.joint(body, spec);
    (builder, joint)
}

#[test]
fn stiffness_and_damping_are_the_negative_slopes_of_the_force() {
    let mut rng = Random(31);
    let mut builder = tree(&mut rng, 9, true, |rng, joint| {
        joint.stiffness = 5.0 * rng.positive();
        joint.damping = 2.0 * rng.positive();
        joint.spring_reference = rng.number();
    });
    for joint in 0..9 {
        let on = Transmission::Joint(JointId(joint));
        let (kp, kd) = (10.0 * rng.positive(), rng.positive());
        let servo = ActuatorSpec::position(format!("servo {joint}"), on, kp, kd);
        builder.actuator(ActuatorSpec { gear: 2.0 * rng.number(), ..servo });
    }
    let mut scene = Scene::new(builder);
    scene.shuffle(&mut rng).evaluate();
    assert!(scene.forces.drives.is_empty());
    let (stiffness, damping) = (scene.forces.stiffness.clone(), scene.forces.damping.clone());
    for column in 0..scene.model.nv() {
        for row in 0..scene.model.nv() {
            let along = scene.unit(column);
            let found = scene.along(&along, STEP, |scene| scene.evaluate().generalized[row]);
            let exact = if row == column { -stiffness[row] } else { 0.0 };
            // Forces of the order of a hundred.
            assert!((found - exact).abs() <= 100.0 * DIFFERENCE, "{found} against {exact}");

            let v = scene.state.v[column];
            let mut at = |v| {
                scene.state.v[column] = v;
                scene.evaluate().generalized[row]
            };
            let found = (at(v + STEP) - at(v - STEP)) / (2.0 * STEP);
            scene.state.v[column] = v;
            let exact = if row == column { -damping[row] } else { 0.0 };
            assert!((found - exact).abs() <= 100.0 * DIFFERENCE, "{found} against {exact}");
        }
    }
}

#[test]
fn a_ball_spring_acts_along_the_rotation_vector() {
    let (builder, _) = single(JointSpec { stiffness: 3.0, ..JointSpec::new(JointKind::Ball) });
    let mut scene = Scene::new(builder);
    let turned = Vector3::new(0.3, -1.2, 0.9);
    let rotation = UnitQuaternion::from_scaled_axis(turned);
    scene.state.q.copy_from_slice(&[rotation.w, rotation.i, rotation.j, rotation.k]);
    let forces = scene.evaluate();
    for k in 0..3 {
        assert!((forces.generalized[k] + 3.0 * turned[k]).abs() <= 1e-14);
    }
    assert_eq!(forces.stiffness, [3.0; 3]);
    // Along the axis the stiffness is exact.
    let axis = turned.normalize();
    let torque = scene.along(axis.as_slice(), STEP, |scene| {
        scene.evaluate().generalized.iter().zip(axis.iter()).map(|(f, a)| f * a).sum()
    });
    assert!((torque + 3.0).abs() <= DIFFERENCE);
}

#[test]
fn dry_friction_is_a_drive_with_bounds_only() {
    let kind = JointKind::Universal { axes: [Vector3::x(), Vector3::y()] };
    let (builder, _) = single(JointSpec { friction_loss: 0.3, ..JointSpec::new(kind) });
    let mut scene = Scene::new(builder);
    scene.state.v.copy_from_slice(&[1.0, -2.0]);
    let forces = scene.evaluate();
    for (dof, drive) in forces.drives.iter().enumerate() {
        assert_eq!(drive.kind, DriveKind::JointFriction(dof));
        assert_eq!((drive.force, drive.stiffness, drive.damping), (0.0, 0.0, 0.0));
        assert_eq!((drive.lower, drive.upper), (-0.3, 0.3));
        assert_eq!(forces.rate(drive.row, &[1.0, -2.0]), drive.rate);
    }
    assert_eq!((forces.drives.len(), &forces.generalized[..]), (2, &[0.0, 0.0][..]));
}

#[test]
fn a_limit_is_listed_within_its_margin_and_reach() {
    let limit = Some(Limit { lower: -1.0, upper: 2.0, margin: 0.1 });
    let kind = JointKind::Hinge { axis: Vector3::z() };
    let (builder, joint) = single(JointSpec { limit, ..JointSpec::new(kind) });
    let mut scene = Scene::new(builder);
    let source = LimitSource::Joint(joint, 0);
    for (q, v, time_step, found) in [
        (0.0, 0.0, 0.01, None),
        (1.95, 0.0, 0.01, Some((0.05, -1.0))),
        (2.25, -1.0, 0.01, Some((-0.25, -1.0))),
        (-0.5, -4.0, 0.125, Some((0.5, 1.0))),
        (-0.5, -4.0, 0.05, None),
    ] {
        (scene.state.q[0], scene.state.v[0]) = (q, v);
        let forces = scene.evaluate_within(time_step);
        match found {
            None => assert!(forces.limits.is_empty(), "{:?}", forces.limits),
            Some((gap, sign)) => {
                let [row] = forces.limits[..] else { panic!("{:?}", forces.limits) };
                assert!((row.gap - gap).abs() <= 1e-15);
                assert_eq!((row.source, row.sign, row.gap_rate), (source, sign, sign * v));
            }
        }
    }
}

#[test]
fn the_angle_of_a_ball_joint_is_limited_along_its_axis() {
    let limit = Some(Limit { lower: 0.0, upper: 1.0, margin: 0.2 });
    let (builder, joint) = single(JointSpec { limit, ..JointSpec::new(JointKind::Ball) });
    let mut scene = Scene::new(builder);
    assert!(scene.evaluate_within(1.0).limits.is_empty());
    let axis = Vector3::new(0.48, -0.6, 0.64);
    let rotation = UnitQuaternion::from_scaled_axis(0.9 * axis);
    scene.state.q.copy_from_slice(&[rotation.w, rotation.i, rotation.j, rotation.k]);
    scene.state.v.copy_from_slice(&[0.5, 0.25, -1.0]);
    let gap = |scene: &mut Scene| scene.evaluate().limits[0].gap;
    assert!((gap(&mut scene) - 0.1).abs() <= 1e-15);
    let v = scene.state.v.clone();
    let by_difference = scene.along(&v, STEP, gap);
    let row = scene.evaluate().limits[0];
    assert_eq!((row.source, row.sign), (LimitSource::Joint(joint, 0), -1.0));
    assert!((row.gap_rate - by_difference).abs() <= DIFFERENCE);
    assert!((row.gap_rate + scene.forces.rate(row.row, &v)).abs() <= 1e-15);

    // Far from the limit and rotating across the axis: the angle may still reach it.
    let rotation = UnitQuaternion::from_scaled_axis(0.01 * axis);
    scene.state.q.copy_from_slice(&[rotation.w, rotation.i, rotation.j, rotation.k]);
    let across = axis.cross(&Vector3::z()) * 8.0;
    scene.state.v.copy_from_slice(across.as_slice());
    assert!(scene.evaluate_within(0.01).limits.is_empty());
    assert_eq!(scene.evaluate_within(0.2).limits.len(), 1);
}
