//! Invalid declarations and inputs: each is rejected with the found and the expected value.

use crate::joints::single;
use crate::mechanism::Scene;
use nalgebra::{Isometry3, Vector3, Vector6};
use stiction_mech::{
    ActuatorLaw, ActuatorSpec, BodyId, DeadBand, Forces, JointId, JointKind, JointSpec, Limit,
    ModelBuilder, TendonId, TendonPath, TendonRest, TendonSite, TendonSpec, Transmission, Waypoint,
    WrapShape, WrapSurface,
};

const HINGE: JointKind = JointKind::Hinge { axis: Vector3::new(0.0, 0.0, 1.0) };

fn rejection(builder: ModelBuilder) -> String {
    builder.build().expect_err("a mistake").to_string()
}

fn rejected_actuator(kind: JointKind, edit: impl FnOnce(&mut ActuatorSpec)) -> String {
    let name = "elbow".into();
    let (mut builder, joint) = single(JointSpec { name, ..JointSpec::new(kind) });
    let mut spec = ActuatorSpec::motor("servo", Transmission::Joint(joint));
    edit(&mut spec);
    builder.actuator(spec);
    rejection(builder)
}

fn rejected_tendon(edit: impl FnOnce(&mut TendonSpec)) -> String {
    let (mut builder, joint) = single(JointSpec::new(HINGE));
    let mut spec = TendonSpec::new("flexor", TendonPath::Fixed(vec![(joint, 1.0)]));
    edit(&mut spec);
    builder.tendon(spec);
    rejection(builder)
}

#[test]
fn negative_or_non_finite_gains_are_rejected() {
    let message = rejected_actuator(HINGE, |spec| {
        spec.law = ActuatorLaw::Position { kp: f64::NAN, kd: 0.0 };
    });
    assert_eq!(message, "actuator 'servo': kp = NaN; expected a finite number ≥ 0");
    let message = rejected_actuator(HINGE, |spec| {
        spec.law = ActuatorLaw::Velocity { kd: f64::INFINITY };
    });
    assert_eq!(message, "actuator 'servo': kd = inf; expected a finite number ≥ 0");
    let message = rejected_actuator(HINGE, |spec| {
        spec.law = ActuatorLaw::Position { kp: -1.0, kd: 0.0 };
    });
    assert_eq!(message, "actuator 'servo': kp = -1; expected a finite number ≥ 0");
    let message = rejected_actuator(HINGE, |spec| {
        spec.law = ActuatorLaw::Affine { gain: 1.0, bias: [0.0, f64::NAN, 0.0] };
    });
    assert_eq!(message, "actuator 'servo': bias b_length = NaN; expected a finite number");
    let message = rejected_actuator(HINGE, |spec| spec.gear = f64::NEG_INFINITY);
    assert_eq!(message, "actuator 'servo': gear = -inf; expected a finite number");
    let message = rejected_tendon(|spec| spec.stiffness = f64::NAN);
    assert_eq!(message, "tendon 'flexor': stiffness = NaN; expected a finite number ≥ 0");
}

#[test]
fn inverted_ranges_are_rejected() {
    let message = rejected_actuator(HINGE, |spec| spec.force_range = Some((2.0, -2.0)));
    assert_eq!(message, "actuator 'servo': force range = 2 … -2; expected lower ≤ upper");
    let message = rejected_actuator(HINGE, |spec| spec.control_range = Some((0.0, f64::NAN)));
    assert_eq!(message, "actuator 'servo': control range = 0 … NaN; expected lower ≤ upper");
    let message = rejected_tendon(|spec| {
        spec.limit = Some(Limit { lower: 1.0, upper: 0.5, margin: 0.0 });
    });
    assert_eq!(message, "tendon 'flexor': limit = 1 … 0.5; expected lower ≤ upper");
    let message =
        rejected_tendon(|spec| spec.rest = TendonRest::Band(DeadBand { lower: 1.0, upper: 0.5 }));
    assert_eq!(message, "tendon 'flexor': dead band = 1 … 0.5; expected lower ≤ upper");
}

#[test]
fn unknown_ids_are_rejected() {
    let message =
        rejected_actuator(HINGE, |spec| spec.transmission = Transmission::Joint(JointId(4)));
    assert_eq!(message, "actuator 'servo': joint 4; expected one of the 1 that were declared");
    let message =
        rejected_actuator(HINGE, |spec| spec.transmission = Transmission::Tendon(TendonId(0)));
    assert_eq!(message, "actuator 'servo': tendon 0; expected one of the 0 that were declared");
    let message = rejected_actuator(HINGE, |spec| {
        let (point, wrench) = (Vector3::zeros(), Vector6::zeros());
        spec.transmission = Transmission::Body { body: BodyId(9), point, wrench };
    });
    assert_eq!(message, "actuator 'servo': body 9; expected one of the 2 that were declared");
    let message = rejected_tendon(|spec| spec.path = TendonPath::Fixed(vec![(JointId(7), 1.0)]));
    assert_eq!(message, "tendon 'flexor': joint 7; expected one of the 1 that were declared");
}

#[test]
fn a_joint_of_several_velocities_needs_one_of_them_named() {
    let message = rejected_actuator(JointKind::Ball, |_| {});
    assert_eq!(
        message,
        "actuator 'servo': joint 'elbow' is ball with 3 velocities; expected a joint with one \
         (hinge, slide, screw), or one of its velocities by number"
    );
    let message = rejected_actuator(JointKind::Ball, |spec| {
        spec.transmission = Transmission::JointDof(JointId(0), 3);
    });
    assert_eq!(message, "actuator 'servo': velocity 3 of joint 'elbow'; expected a number below 3");
}

#[test]
fn a_body_transmission_has_no_length_for_a_position_servo() {
    let message = rejected_actuator(HINGE, |spec| {
        let (point, wrench) = (Vector3::zeros(), Vector6::zeros());
        spec.transmission = Transmission::Body { body: BodyId(1), point, wrench };
        spec.law = ActuatorLaw::Position { kp: 1.0, kd: 0.0 };
    });
    assert_eq!(
        message,
        "actuator 'servo': its force depends on the length of a wrench on a body, which has none; \
         expected a law without stiffness"
    );
}

#[test]
fn invalid_paths_are_rejected() {
    let site = Waypoint::Site(TendonSite { body: BodyId(1), point: Vector3::zeros() });
    let ball = |radius| {
        let (pose, shape) = (Isometry3::identity(), WrapShape::Sphere);
        Waypoint::Wrap(WrapSurface { body: BodyId(0), pose, shape, radius, side: None })
    };
    let pulley = Waypoint::Pulley { divisor: 2.0 };
    for (path, message) in [
        (vec![site], "number of sites = 1; expected at least two"),
        (
            vec![site, site, ball(1.0)],
            "waypoint 2 is a surface; expected a site before and after it",
        ),
        (vec![site, ball(-1.0), site], "radius = -1; expected a finite number > 0"),
        (
            vec![site, pulley, site, site],
            "waypoint 0 is a site alone in its branch; expected another site after it",
        ),
        (vec![site, site, pulley], "waypoint 2 is a pulley; expected a site before and after it"),
    ] {
        let found = rejected_tendon(|spec| spec.path = TendonPath::Spatial(path));
        assert_eq!(found, format!("tendon 'flexor': {message}"));
    }
    let found = rejected_tendon(|spec| spec.path = TendonPath::Fixed(Vec::new()));
    assert_eq!(found, "tendon 'flexor': number of joints = 0; expected at least one");
}

#[test]
fn names_are_unique() {
    let (mut builder, joint) = single(JointSpec::new(HINGE));
    for _ in 0..2 {
        builder.actuator(ActuatorSpec::motor("twin", Transmission::Joint(joint)));
    }
    let message = rejection(builder);
    assert_eq!(message, "actuator 0 and 1 are both named 'twin'; expected different names");
}

#[test]
fn inputs_of_wrong_length_or_not_finite_are_rejected() {
    let (mut builder, joint) = single(JointSpec::new(HINGE));
    builder.actuator(ActuatorSpec::motor("motor", Transmission::Joint(joint)));
    let Scene { model, state, data, input, .. } = Scene::new(builder);
    let mut forces = Forces::new(&model);
    let mut rejection = |edit: &dyn Fn(&mut stiction_mech::Input)| {
        let mut input = input.clone();
        edit(&mut input);
        let result = forces.evaluate(&model, (&state.q, &state.v), &data, &input, 0.01);
        result.expect_err("a mistake").to_string()
    };
    let message = rejection(&|input| input.control[0] = f64::NAN);
    assert_eq!(message, "control[0] = NaN; expected a finite number");
    let message = rejection(&|input| input.wrench[1][4] = f64::INFINITY);
    assert_eq!(message, "wrench[1] = inf; expected a finite number");
    let message = rejection(&|input| input.control.push(0.0));
    assert_eq!(message, "control has 2 entries; expected 1");
    let message = rejection(&|input| input.wrench.clear());
    assert_eq!(message, "wrench has 0 entries; expected 2");
}
