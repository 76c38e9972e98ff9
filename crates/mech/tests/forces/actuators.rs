//! Actuators: their laws, gears, bounds and transmissions.

use crate::joints::single;
use crate::mechanism::{DIFFERENCE, Random, STEP, Scene, tree};
use nalgebra::{UnitQuaternion, Vector3, Vector6};
use stiction_mech::{
    ActuatorLaw, ActuatorSpec, BodyId, DriveKind, JointId, JointKind, JointSpec, TendonPath,
    TendonSite, TendonSpec, Transmission, angular_velocity, mass_matrix, point_velocity,
};

const SLIDE: JointKind = JointKind::Slide { axis: Vector3::new(0.0, 0.0, 1.0) };

fn slide_with(spec: impl FnOnce(Transmission) -> ActuatorSpec) -> Scene {
    let (mut builder, joint) = single(JointSpec::new(SLIDE));
    builder.actuator(spec(Transmission::Joint(joint)));
    Scene::new(builder)
}

#[test]
fn the_affine_law_is_gain_times_control_plus_bias() {
    let gear = -2.0;
    let law = ActuatorLaw::Affine { gain: 3.0, bias: [0.5, 4.0, 7.0] };
    let mut scene = slide_with(|on| ActuatorSpec { law, gear, ..ActuatorSpec::motor("a", on) });
    (scene.state.q[0], scene.state.v[0], scene.input.control[0]) = (0.25, -0.5, 2.0);
    let forces = scene.evaluate();
    // Length and rate are multiplied by the gear: 3·2 + 0.5 + 4·(−0.5) + 7·1.
    assert_eq!(forces.actuator_force[0], 11.5);
    assert_eq!((forces.actuator_length[0], forces.actuator_rate[0]), (-0.5, 1.0));
    // Negative stiffness and damping are explicit.
    assert_eq!((forces.generalized[0], forces.stiffness[0], forces.damping[0]), (-23.0, 0.0, 0.0));
    assert!(forces.drives.is_empty());
}

#[test]
fn control_and_force_are_clamped_to_their_ranges() {
    let (control_range, force_range) = (Some((-1.0, 1.0)), Some((-0.75, 0.5)));
    let mut scene = slide_with(|on| ActuatorSpec {
        control_range,
        force_range,
        gear: 4.0,
        ..ActuatorSpec::motor("motor", on)
    });
    for (control, force) in [(0.25, 0.25), (1.0, 0.5), (9.0, 0.5), (-0.5, -0.5), (-9.0, -0.75)] {
        scene.input.control[0] = control;
        let forces = scene.evaluate();
        assert_eq!((forces.actuator_force[0], forces.generalized[0]), (force, 4.0 * force));
    }
}

#[test]
fn a_bounded_servo_is_a_drive_whose_bounds_follow_the_gear() {
    let gear = -2.0;
    let mut scene = slide_with(|on| ActuatorSpec {
        gear,
        force_range: Some((-1.0, 3.0)),
        ..ActuatorSpec::position("servo", on, 100.0, 5.0)
    });
    (scene.state.q[0], scene.state.v[0], scene.input.control[0]) = (0.5, 0.25, 1.0);
    let forces = scene.evaluate();
    let [drive] = forces.drives[..] else { panic!("{:?}", forces.drives) };
    // f = 100 (1 + 2·0.5) + 5·2·0.25 = 202.5, times −2 along the slide.
    assert_eq!((drive.force, drive.rate), (-405.0, 0.25));
    assert_eq!((drive.stiffness, drive.damping), (400.0, 20.0));
    assert_eq!((drive.lower, drive.upper), (-6.0, 2.0));
    assert_eq!(drive.kind, DriveKind::Servo(stiction_mech::ActuatorId(0)));
    assert_eq!((drive.present_force(), forces.actuator_force[0]), (-6.0, 3.0));
    assert_eq!((forces.generalized[0], forces.stiffness[0], forces.damping[0]), (0.0, 0.0, 0.0));
}

/// One implicit step as documented in `Forces`: (M + h (h K + D)) v' = M v + h f + h D v.
fn implicit_step(scene: &mut Scene, h: f64) {
    scene.evaluate();
    mass_matrix(&scene.model, &mut scene.data);
    let (m, forces) = (scene.data.mass[0], &scene.forces);
    let (k, d, f) = (forces.stiffness[0], forces.damping[0], forces.generalized[0]);
    let v = scene.state.v[0];
    scene.state.v[0] = (m * v + h * (f + d * v)) / (m + h * (h * k + d));
    scene.state.q[0] += h * scene.state.v[0];
}

#[test]
fn a_stiff_servo_reaches_its_target_in_implicit_steps() {
    let (kp, kd, h, target) = (1e8, 1e4, 0.01, 0.7);
    let mut scene = slide_with(|on| ActuatorSpec::position("servo", on, kp, kd));
    scene.state.v[0] = -3.0;
    scene.input.control[0] = target;
    // m (v' − v) = h (kp (u − q − h v') − kd v'), solved for v'.
    let m = scene.model.mass();
    let (mut q, mut v) = (0.0, -3.0);
    for _ in 0..50 {
        implicit_step(&mut scene, h);
        v = (m * v + h * kp * (target - q)) / (m + h * kd + h * h * kp);
        q += h * v;
        assert!((scene.state.q[0] - q).abs() <= 1e-12 && (scene.state.v[0] - v).abs() <= 1e-10);
    }
    // The slower mode decays by kd/(kd + h kp) = 1/101 a step.
    assert!((q - target).abs() <= 1e-12, "{q}");
}

#[test]
fn a_velocity_servo_reaches_its_rate_in_implicit_steps() {
    let mut scene = slide_with(|on| ActuatorSpec::velocity("servo", on, 1e6));
    scene.input.control[0] = 2.0;
    for _ in 0..5 {
        implicit_step(&mut scene, 0.01);
    }
    // Each step reduces the error by m/(m + h kd), about 1e-4.
    assert!((scene.state.v[0] - 2.0).abs() <= 1e-12);
}

#[test]
fn a_drive_is_linear_in_length_and_rate() {
    let mut rng = Random(41);
    let mut builder = tree(&mut rng, 10, false, |_, _| {});
    let sites = [3, 7, 10].map(|body| TendonSite { body: BodyId(body), point: rng.vector() });
    let tendon = builder.tendon(TendonSpec::new("string", TendonPath::through(sites)));
    let on = Transmission::Tendon(tendon);
    let servo = ActuatorSpec::position("servo", on, 50.0, 4.0);
    builder.actuator(ActuatorSpec { gear: 1.5, force_range: Some((-1.0, 1.0)), ..servo });
    let mut scene = Scene::new(builder);
    scene.shuffle(&mut rng).evaluate();
    let drive = scene.forces.drives[0];
    let length = scene.forces.tendon_length[0];
    let expected = 1.5 * (50.0 * (scene.input.control[0] - 1.5 * length) - 4.0 * 1.5 * drive.rate);
    assert!((drive.force - expected).abs() <= 1e-12);

    // At zero velocity the force changes with the length only.
    let v = std::mem::replace(&mut scene.state.v, vec![0.0; scene.model.nv()]);
    let slope = scene.along(&v, STEP, |scene| scene.evaluate().drives[0].force);
    assert!((slope + drive.stiffness * drive.rate).abs() <= 100.0 * DIFFERENCE);
    // The implicit force at the present rate over a step of zero length is the present force within its bounds.
    assert_eq!(drive.force_at(drive.rate, 0.0), drive.present_force());
    // Unbounded, a step h at rate u adds −h K u and a change of rate −D du.
    let free = stiction_mech::Drive { lower: f64::NEG_INFINITY, upper: f64::INFINITY, ..drive };
    let (h, rate) = (0.02, drive.rate + 0.3);
    let exact = drive.force - h * drive.stiffness * rate - 0.3 * drive.damping;
    assert!((free.force_at(rate, h) - exact).abs() <= 1e-12);
    // The compliant row has the same impulse.
    let (compliance, bias) = drive.compliance(h);
    let impulse = h * free.force_at(rate, h);
    assert!((rate + bias + compliance * impulse).abs() <= 1e-13);
}

#[test]
fn the_power_of_a_wrench_fixed_in_a_body_is_that_of_its_row() {
    let mut rng = Random(43);
    let mut builder = tree(&mut rng, 8, false, |_, _| {});
    let (point, torque, force) = (rng.vector(), rng.vector(), rng.vector());
    let parts = [torque.as_slice(), force.as_slice()].concat();
    let wrench = Vector6::from_column_slice(&parts);
    let body = BodyId(7);
    let on = Transmission::Body { body, point, wrench };
    builder.actuator(ActuatorSpec { gear: 3.0, ..ActuatorSpec::motor("jet", on) });
    let mut scene = Scene::new(builder);
    scene.shuffle(&mut rng).evaluate();
    let control = scene.input.control[0];
    let (model, data) = (&scene.model, &scene.data);
    let body = model.body_of_builder(body).unwrap();
    let X_WB = data.body_pose[body.0];
    let at = X_WB.translation.vector + X_WB.rotation * point;
    let rate = (X_WB.rotation * torque).dot(&angular_velocity(data, body))
        + (X_WB.rotation * force).dot(&point_velocity(model, data, body, at));
    assert!((scene.forces.actuator_rate[0] - 3.0 * rate).abs() <= 1e-13);
    assert!((scene.forces.power(&scene.state.v) - 3.0 * rate * control).abs() <= 1e-13);
}

#[test]
fn a_velocity_servo_on_a_body_is_a_drive_over_all_its_ancestors() {
    let (mut builder, _) = single(JointSpec::new(JointKind::Free));
    let wrench = Vector6::new(0.0, 0.0, 0.0, 1.0, 0.0, 0.0);
    let on = Transmission::Body { body: BodyId(1), point: Vector3::zeros(), wrench };
    builder.actuator(ActuatorSpec::velocity("brake", on, 2.0));
    let mut scene = Scene::new(builder);
    scene.state.v[0] = 0.5;
    scene.input.control[0] = 0.125;
    let forces = scene.evaluate();
    let drive = forces.drives[0];
    assert_eq!((drive.force, drive.rate, drive.damping), (-0.75, 0.5, 2.0));
    let total: f64 =
        forces.row(drive.row).iter().filter(|e| e.dof == 0).map(|e| e.coefficient).sum();
    assert_eq!(total, 1.0);
}

#[test]
fn one_velocity_of_a_ball_or_free_joint_measures_its_rotation_vector() {
    let turned = Vector3::new(0.4, -0.7, 0.2);
    let rotation = UnitQuaternion::from_scaled_axis(turned);
    let q = [rotation.w, rotation.i, rotation.j, rotation.k];
    for (kind, scalars) in [(JointKind::Ball, 0), (JointKind::Free, 3)] {
        let (mut builder, joint) = single(JointSpec::new(kind));
        let n = builder.clone().build().unwrap().nv();
        for k in 0..n {
            let on = Transmission::JointDof(joint, k);
            builder.actuator(ActuatorSpec::position(format!("{k}"), on, 2.0, 0.0));
        }
        let mut scene = Scene::new(builder);
        scene.state.q[scalars..].copy_from_slice(&q);
        (0..scalars).for_each(|k| scene.state.q[k] = k as f64);
        let forces = scene.evaluate();
        for k in 0..n {
            let exact = if k < scalars { k as f64 } else { turned[k - scalars] };
            assert!((forces.actuator_length[k] - exact).abs() <= 1e-15);
            assert!((forces.generalized[k] + 2.0 * exact).abs() <= 1e-15);
            assert_eq!(forces.stiffness[k], 2.0);
        }
    }
}

#[test]
fn actuators_follow_their_joints_when_the_builder_s_order_is_not_depth_first() {
    // World → a → c and world → b, declared a, b, c: the model puts c before b.
    let mut builder = stiction_mech::ModelBuilder::new();
    let spec = |name: &str, parent| stiction_mech::BodySpec {
        name: name.into(),
        parent,
        mass: crate::mechanism::mass(),
        ..Default::default()
    };
    let a = builder.body(spec("a", BodyId::WORLD));
    let b = builder.body(spec("b", BodyId::WORLD));
    let c = builder.body(spec("c", a));
    let joints: Vec<JointId> =
        [a, b, c].map(|body| builder.joint(body, JointSpec::new(SLIDE))).into();
    builder.actuator(ActuatorSpec::motor("on b", Transmission::Joint(joints[1])));
    builder.tendon(TendonSpec::new("c", TendonPath::Fixed(vec![(joints[2], 1.0)])));
    let mut scene = Scene::new(builder);
    scene.input.control[0] = 1.0;
    scene.state.q.copy_from_slice(&[0.0, 5.0, 0.0]);
    let forces = scene.evaluate();
    assert_eq!(forces.generalized, [0.0, 0.0, 1.0]);
    assert_eq!(forces.tendon_length, [5.0]);
}

/// A slide with a range of its actuators' forces.
fn ranged(range: (f64, f64), specs: impl IntoIterator<Item = ActuatorSpec>) -> Scene {
    let spec = JointSpec { actuator_force_range: Some(range), ..JointSpec::new(SLIDE) };
    let (mut builder, _) = single(spec);
    specs.into_iter().for_each(|spec| {
        builder.actuator(spec);
    });
    Scene::new(builder)
}

const ON_SLIDE: Transmission = Transmission::Joint(JointId(0));

#[test]
fn one_motor_keeps_within_the_range_of_its_joint() {
    let motor = ActuatorSpec { gear: -2.0, ..ActuatorSpec::motor("motor", ON_SLIDE) };
    let mut scene = ranged((-1.0, 3.0), [motor]);
    for (control, force) in [(0.25, -0.5), (9.0, -1.0), (-1.0, 2.0), (-9.0, 3.0)] {
        scene.input.control[0] = control;
        let forces = scene.evaluate();
        assert_eq!((forces.generalized[0], forces.actuation[0]), (force, force));
        // The joint's range is not the actuator's.
        assert_eq!(forces.actuator_force[0], control);
    }
}

#[test]
fn one_servo_has_the_bounds_of_its_own_range_and_of_its_joint() {
    let servo = |range| ActuatorSpec {
        gear: -2.0,
        force_range: range,
        ..ActuatorSpec::position("servo", ON_SLIDE, 100.0, 5.0)
    };
    // Through the gear −1 … 3 is −6 … 2; the joint allows −4 … 5.
    for (own, joint, expected) in [
        (Some((-1.0, 3.0)), (-4.0, 5.0), (-4.0, 2.0)),
        (None, (-4.0, 5.0), (-4.0, 5.0)),
        // An actuator whose range lies above the range of the joint gives the largest force of the joint.
        (Some((-8.0, -6.0)), (-4.0, 5.0), (5.0, 5.0)),
    ] {
        let mut scene = ranged(joint, [servo(own)]);
        scene.input.control[0] = 1.0;
        let forces = scene.evaluate();
        let [drive] = forces.drives[..] else { panic!("{:?}", forces.drives) };
        assert_eq!((drive.lower, drive.upper), expected);
        assert_eq!(forces.actuation[0], drive.present_force());
    }
}

#[test]
fn the_sum_of_several_actuators_on_a_joint_is_clamped() {
    let motor = |name: &str, gear| ActuatorSpec { gear, ..ActuatorSpec::motor(name, ON_SLIDE) };
    let servo = ActuatorSpec::position("servo", ON_SLIDE, 10.0, 2.0);
    let mut scene = ranged((-1.0, 2.0), [motor("one", 1.0), motor("two", -3.0), servo]);
    // Each alone would be outside; their sum is inside, and the stiffness and damping of the servo apply.
    scene.input.control.copy_from_slice(&[5.0, 2.0, 0.05]);
    let forces = scene.evaluate();
    assert_eq!((forces.generalized[0], forces.actuation[0]), (-0.5, -0.5));
    assert_eq!((forces.stiffness[0], forces.damping[0]), (10.0, 2.0));
    // Outside they do not apply.
    for (controls, force) in [([5.0, -2.0, 0.0], 2.0), ([-5.0, 0.0, 0.0], -1.0)] {
        scene.input.control.copy_from_slice(&controls);
        let forces = scene.evaluate();
        assert_eq!((forces.generalized[0], forces.actuation[0]), (force, force));
        assert_eq!((forces.stiffness[0], forces.damping[0]), (0.0, 0.0));
        assert!(forces.drives.is_empty());
    }
}

#[test]
fn a_tendon_force_is_clamped_on_a_joint_with_a_range_only() {
    let mut builder = stiction_mech::ModelBuilder::new();
    let ranges = [None, Some((-0.5, 0.5))];
    let joints = ranges.map(|actuator_force_range| {
        let mass = crate::mechanism::mass();
        let body = builder.body(stiction_mech::BodySpec { mass, ..Default::default() });
        builder.joint(body, JointSpec { actuator_force_range, ..JointSpec::new(SLIDE) })
    });
    let path = TendonPath::Fixed(vec![(joints[0], 2.0), (joints[1], -1.0)]);
    let tendon = builder.tendon(TendonSpec::new("sum", path));
    builder.actuator(ActuatorSpec::motor("pull", Transmission::Tendon(tendon)));
    let mut scene = Scene::new(builder);
    scene.input.control[0] = 3.0;
    let forces = scene.evaluate();
    assert_eq!(forces.generalized, [6.0, -0.5]);
    assert_eq!(forces.actuation, [6.0, -0.5]);
}

#[test]
fn drives_taken_explicitly_leave_dry_friction_and_the_same_total() {
    let mut rng = Random(47);
    let mut builder = tree(&mut rng, 8, true, |rng, joint| {
        joint.friction_loss = rng.positive();
        joint.damping = rng.positive();
    });
    let sites = [2, 5, 8].map(|body| TendonSite { body: BodyId(body), point: rng.vector() });
    let tendon = builder.tendon(TendonSpec {
        stiffness: 4.0,
        damping: 3.0,
        ..TendonSpec::new("string", TendonPath::through(sites))
    });
    let servo = ActuatorSpec::position("servo", Transmission::Tendon(tendon), 50.0, 4.0);
    builder.actuator(ActuatorSpec { force_range: Some((-1.0, 1.0)), ..servo });
    let mut scene = Scene::new(builder);
    scene.shuffle(&mut rng).evaluate();
    let mut total = vec![0.0; scene.model.nv()];
    scene.forces.add_total(&mut total);
    scene.forces.take_drives_explicitly();
    assert!(scene.forces.drives.iter().all(|drive| drive.kind.is_dry_friction()));
    assert_eq!(scene.forces.drives.len(), scene.model.nv());
    for (found, expected) in scene.forces.generalized.iter().zip(&total) {
        // The same sum in another order.
        assert!((found - expected).abs() <= 1e-13, "{found} against {expected}");
    }
}

#[test]
fn rate_slopes_are_the_derivatives_of_forces_by_velocities() {
    let mut rng = Random(53);
    let mut builder = tree(&mut rng, 8, true, |rng, joint| joint.damping = rng.positive());
    let sites = [2, 5, 8].map(|body| TendonSite { body: BodyId(body), point: rng.vector() });
    let tendon = builder.tendon(TendonSpec {
        stiffness: 4.0,
        damping: 3.0,
        ..TendonSpec::new("string", TendonPath::through(sites))
    });
    let on = [Transmission::Tendon(tendon), Transmission::Joint(JointId(3))];
    for (k, on) in on.into_iter().enumerate() {
        let law = ActuatorLaw::Affine { gain: 1.0, bias: [0.1, -2.0, -3.0 + 4.0 * k as f64] };
        let motor = ActuatorSpec::motor(format!("affine {k}"), on);
        builder.actuator(ActuatorSpec { law, gear: 1.5 - k as f64, ..motor });
    }
    // An actuator at the end of its range has no slope.
    let servo = ActuatorSpec::velocity("weak", Transmission::Joint(JointId(1)), 1e3);
    builder.actuator(ActuatorSpec { force_range: Some((-1e-3, 1e-3)), ..servo });
    let mut scene = Scene::new(builder);
    scene.shuffle(&mut rng);
    scene.input.control[2] = 1e3;
    scene.evaluate();
    let nv = scene.model.nv();
    let mut slope = vec![0.0; nv * nv];
    for (dof, damping) in scene.forces.joint_damping().iter().enumerate() {
        slope[dof * nv + dof] -= damping;
    }
    scene.forces.rate_slopes(&scene.model, |row, weight| {
        for one in row {
            for other in row {
                slope[one.dof * nv + other.dof] += weight * one.coefficient * other.coefficient;
            }
        }
    });
    let total = |scene: &mut Scene| {
        let mut out = vec![0.0; nv];
        scene.evaluate().add_total(&mut out);
        out
    };
    let v = scene.state.v.clone();
    for column in 0..nv {
        let at = |scene: &mut Scene, change: f64| {
            scene.state.v[column] = v[column] + change;
            let found = total(scene);
            scene.state.v[column] = v[column];
            found
        };
        let (after, before) = (at(&mut scene, 0.5), at(&mut scene, -0.5));
        for row in 0..nv {
            // Forces are linear in velocities: differences are exact up to round-off.
            let (found, expected) = (slope[row * nv + column], after[row] - before[row]);
            assert!((found - expected).abs() <= 1e-11, "{row} {column}: {found} {expected}");
        }
    }
}
