//! Evaluating forces does not allocate once `Forces` exists.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use nalgebra::{Isometry3, Matrix3, Vector3, Vector6};
use stiction_mech::*;
use stiction_testkit::{CountingAllocator, allocations};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// A chain with every kind of force, with zero-width ranges so that every limit is active.
fn everything() -> Model {
    let mut builder = ModelBuilder::new();
    let mass = MassProperties::new(1.0, Vector3::zeros(), Matrix3::identity()).ok();
    let kinds = [
        JointKind::Hinge { axis: Vector3::x() },
        JointKind::Ball,
        JointKind::Universal { axes: [Vector3::x(), Vector3::y()] },
        JointKind::Slide { axis: Vector3::z() },
    ];
    let (mut parent, mut joints) = (BodyId::WORLD, Vec::new());
    for kind in kinds {
        let pose = Isometry3::translation(0.3, 0.1, 0.2);
        let spec = BodySpec { parent, pose, mass, gravity_compensation: 0.5, ..Default::default() };
        parent = builder.body(spec);
        joints.push(builder.joint(
            parent,
            JointSpec {
                stiffness: 1.0,
                damping: 1.0,
                friction_loss: 1.0,
                limit: Some(Limit { lower: 0.0, upper: 0.0, margin: 100.0 }),
                ..JointSpec::new(kind)
            },
        ));
    }
    let limit = Some(Limit { lower: 0.0, upper: 0.0, margin: 100.0 });
    let site = |body| Waypoint::Site(TendonSite { body: BodyId(body), point: Vector3::y() });
    let surface = |shape| {
        let (body, pose) = (BodyId(1), Isometry3::identity());
        Waypoint::Wrap(WrapSurface { body, pose, shape, radius: 0.2, side: None })
    };
    let path =
        vec![site(0), surface(WrapShape::Sphere), site(2), surface(WrapShape::Cylinder), site(4)];
    let whole = |path| TendonSpec {
        stiffness: 1.0,
        damping: 1.0,
        friction_loss: 1.0,
        limit,
        ..TendonSpec::new("", path)
    };
    let string = builder.tendon(whole(TendonPath::Spatial(path)));
    builder.tendon(whole(TendonPath::Fixed(vec![(joints[0], 1.0), (joints[3], 2.0)])));
    let wrench = Vector6::from_element(1.0);
    for on in [
        Transmission::Joint(joints[0]),
        Transmission::JointDof(joints[1], 2),
        Transmission::Tendon(string),
        Transmission::Body { body: parent, point: Vector3::zeros(), wrench },
    ] {
        let servo = ActuatorSpec::velocity("", on, 1.0);
        builder.actuator(ActuatorSpec { force_range: Some((-1.0, 1.0)), ..servo });
    }
    builder.build().unwrap()
}

#[test]
fn evaluating_forces_does_not_allocate() {
    let model = everything();
    let (mut state, mut data) = (State::new(&model), Data::new(&model));
    let (mut input, mut forces) = (Input::new(&model), Forces::new(&model));
    let v = vec![0.3; model.nv()];
    integrate(&model, model.q0(), &v, 1.0, &mut state.q);
    state.v.fill(1.0);
    input.wrench.fill(Vector6::from_element(1.0));
    kinematics(&model, &state.q, &mut data);
    let before = allocations();
    forces.evaluate(&model, (&state.q, &state.v), &data, &input, 0.01).unwrap();
    assert_eq!(allocations() - before, 0);
    // Two springs, two frictions of tendons, four servos, one friction per velocity.
    assert_eq!(forces.drives.len(), 8 + model.nv());
    // Two ends each of two tendons and four scalars, the angle of one ball.
    assert_eq!(forces.limits.len(), 2 * (2 + 4) + 1);
}
