//! Every invalid model or state is rejected with a specific error.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use nalgebra::{Isometry3, Matrix3, Vector3};
use stiction_mech::*;

const HINGE: JointKind = JointKind::Hinge { axis: Vector3::new(0.0, 0.0, 1.0) };

fn ball() -> Option<MassProperties> {
    Some(MassProperties::new(1.0, Vector3::zeros(), 0.1 * Matrix3::identity()).unwrap())
}

fn body(name: &str) -> BodySpec {
    BodySpec { name: name.into(), mass: ball(), ..Default::default() }
}

/// The error of a model with one body and this joint.
fn joint_error(spec: JointSpec) -> ModelError {
    let mut builder = ModelBuilder::new();
    let id = builder.body(body("b"));
    builder.joint(id, spec);
    builder.build().unwrap_err()
}

fn body_error(spec: BodySpec) -> ModelError {
    let mut builder = ModelBuilder::new();
    builder.body(spec);
    builder.build().unwrap_err()
}

#[test]
fn axes_must_have_a_direction() {
    for axis in [Vector3::zeros(), Vector3::new(f64::NAN, 0.0, 1.0)] {
        for kind in [
            JointKind::Hinge { axis },
            JointKind::Slide { axis },
            JointKind::Screw { axis, pitch: 0.1 },
            JointKind::Universal { axes: [Vector3::x(), axis] },
            JointKind::Planar { normal: axis, x: Vector3::x() },
        ] {
            let error = joint_error(JointSpec::new(kind));
            assert!(matches!(error, ModelError::Axis { joint: 0, .. }), "{error}");
        }
    }
    let (x, y) = (Vector3::x(), 2.0 * Vector3::x());
    for kind in [JointKind::Universal { axes: [x, y] }, JointKind::Planar { normal: x, x: y }] {
        let error = joint_error(JointSpec::new(kind));
        assert!(matches!(error, ModelError::ParallelAxes { .. }), "{error}");
    }
}

#[test]
fn numbers_must_be_finite_and_in_range() {
    let hinge = || JointSpec::new(HINGE);
    let not_finite = [
        JointSpec { stiffness: f64::NAN, ..hinge() },
        JointSpec { damping: f64::INFINITY, ..hinge() },
        JointSpec { reference: f64::NAN, ..hinge() },
        JointSpec { spring_reference: f64::NAN, ..hinge() },
        JointSpec { anchor: Vector3::new(0.0, f64::NAN, 0.0), ..hinge() },
        JointSpec::new(JointKind::Screw { axis: Vector3::x(), pitch: f64::NAN }),
    ];
    for spec in not_finite {
        let error = joint_error(spec);
        assert!(matches!(error, ModelError::NotFinite { what: "joint", .. }), "{error}");
    }
    let negative = [
        JointSpec { stiffness: -1.0, ..hinge() },
        JointSpec { damping: -1.0, ..hinge() },
        JointSpec { armature: -1.0, ..hinge() },
        JointSpec { friction_loss: -1.0, ..hinge() },
        JointSpec { limit: Some(Limit { lower: 0.0, upper: 1.0, margin: -1.0 }), ..hinge() },
    ];
    for spec in negative {
        let error = joint_error(spec);
        assert!(matches!(error, ModelError::Negative { joint: 0, .. }), "{error}");
    }
    let mut pose = Isometry3::identity();
    pose.translation.x = f64::NAN;
    let error = body_error(BodySpec { pose, ..body("b") });
    assert!(matches!(error, ModelError::NotFinite { what: "body", field: "pose", .. }), "{error}");
    let error = body_error(BodySpec { gravity_compensation: f64::NAN, ..body("b") });
    assert!(matches!(error, ModelError::NotFinite { what: "body", .. }), "{error}");
    let mut builder = ModelBuilder::new();
    builder.gravity(Vector3::new(0.0, 0.0, f64::NAN));
    let error = builder.build().unwrap_err();
    assert!(matches!(error, ModelError::NotFinite { what: "model", .. }), "{error}");
}

#[test]
fn limits_must_be_ordered_and_supported_by_the_joint() {
    for (lower, upper) in [(1.0, -1.0), (f64::NAN, 1.0), (0.0, f64::NAN)] {
        let limit = Some(Limit { lower, upper, margin: 0.0 });
        let error = joint_error(JointSpec { limit, ..JointSpec::new(HINGE) });
        assert!(matches!(error, ModelError::Limit { joint: 0, .. }), "{error}");
    }
    let limit = Some(Limit { lower: 0.0, upper: 1.0, margin: 0.0 });
    let error = joint_error(JointSpec { limit, ..JointSpec::new(JointKind::Free) });
    assert_eq!(
        error.to_string(),
        "joint 0 '' is free and has a limit; expected none for this kind"
    );
}

#[test]
fn names_are_unique_unless_empty() {
    let mut builder = ModelBuilder::new();
    builder.body(body("arm"));
    builder.body(body("arm"));
    let error = builder.build().unwrap_err();
    assert_eq!(error.to_string(), "body 1 and 2 are both named 'arm'; expected different names");

    let mut builder = ModelBuilder::new();
    let id = builder.body(body(""));
    for _ in 0..2 {
        builder.joint(id, JointSpec { name: "j".into(), ..JointSpec::new(HINGE) });
    }
    let error = builder.build().unwrap_err();
    assert!(matches!(error, ModelError::DuplicateName { what: "joint", .. }), "{error}");

    let mut builder = ModelBuilder::new();
    builder.body(body(""));
    builder.body(body(""));
    assert!(builder.build().is_ok());
}

#[test]
fn parents_and_bodies_must_exist() {
    for parent in [1, 7] {
        let error = body_error(BodySpec { parent: BodyId(parent), ..body("b") });
        assert!(matches!(error, ModelError::UnknownParent { body: 1, .. }), "{error}");
    }
    for found in [0, 5] {
        let mut builder = ModelBuilder::new();
        builder.body(body("b"));
        builder.joint(BodyId(found), JointSpec::new(HINGE));
        let error = builder.build().unwrap_err();
        assert!(matches!(error, ModelError::UnknownBody { joint: 0, .. }), "{error}");
    }
}

#[test]
fn moving_bodies_must_have_mass() {
    let mut builder = ModelBuilder::new();
    let id = builder.body(BodySpec { mass: None, ..body("hollow") });
    builder.joint(id, JointSpec::new(HINGE));
    assert_eq!(
        builder.clone().build().unwrap_err(),
        ModelError::Massless { body: 1, name: "hollow".into() }
    );
    // Mass of a welded body or of a descendant, or armature, is sufficient.
    let mut welded = builder.clone();
    welded.body(BodySpec { parent: id, ..body("part") });
    assert!(welded.build().is_ok());
    let mut carrying = builder.clone();
    let part = carrying.body(BodySpec { parent: id, ..body("part") });
    carrying.joint(part, JointSpec::new(JointKind::Hinge { axis: Vector3::x() }));
    assert!(carrying.build().is_ok());
    let mut geared = ModelBuilder::new();
    let id = geared.body(BodySpec { mass: None, ..body("rotor") });
    geared.joint(id, JointSpec { armature: 0.1, ..JointSpec::new(HINGE) });
    assert!(geared.build().is_ok());
    // A fixed frame needs no mass.
    let mut fixed = ModelBuilder::new();
    fixed.body(BodySpec { mass: None, ..body("frame") });
    assert_eq!(fixed.build().unwrap().nv(), 0);
}

#[test]
fn a_free_joint_is_the_only_joint_of_a_child_of_the_world() {
    let mut builder = ModelBuilder::new();
    let id = builder.body(body("b"));
    builder.joint(id, JointSpec::new(JointKind::Free));
    let mut twice = builder.clone();
    twice.joint(id, JointSpec::new(HINGE));
    let error = twice.build().unwrap_err();
    assert!(matches!(error, ModelError::Free { joint: 0, body: 1, .. }), "{error}");
    let child = builder.body(BodySpec { parent: id, ..body("c") });
    builder.joint(child, JointSpec::new(JointKind::Free));
    let error = builder.build().unwrap_err();
    assert!(matches!(error, ModelError::Free { joint: 1, body: 2, .. }), "{error}");
}

#[test]
fn states_must_fit_the_model() {
    let mut builder = ModelBuilder::new();
    let id = builder.body(body("b"));
    let name = "root".to_string();
    builder.joint(id, JointSpec { name, ..JointSpec::new(JointKind::Free) });
    let model = builder.build().unwrap();
    let good = State::new(&model);
    assert_eq!(good.check(&model), Ok(()));

    let mut short = good.clone();
    short.v.pop();
    let error = StateError::Length { what: "v", found: 5, expected: 6 };
    assert_eq!(short.check(&model), Err(error));

    let mut bad = good.clone();
    bad.q[1] = f64::NAN;
    let error = bad.check(&model).unwrap_err();
    assert_eq!(error.to_string(), "q[1] = NaN, of joint 'root'; expected a finite number");
    let mut bad = good.clone();
    bad.v[4] = f64::INFINITY;
    assert!(matches!(bad.check(&model), Err(StateError::NotFinite { what: "v", index: 4, .. })));
    let mut bad = good.clone();
    bad.time = f64::NAN;
    assert!(matches!(bad.check(&model), Err(StateError::NotFinite { what: "time", .. })));
    let mut bad = good.clone();
    bad.q[3..].fill(0.0);
    assert!(matches!(bad.check(&model), Err(StateError::Quaternion { index: 3, .. })));
    // Normalised, zeros are the identity, lengths of any size become one, and round-off stays.
    bad.normalise_quaternions(&model);
    assert_eq!(bad.q[3..], [1.0, 0.0, 0.0, 0.0]);
    assert!(bad.check(&model).is_ok());
    for scale in [1e-12, 3.0, 1e200] {
        bad.q[3..].copy_from_slice(&[0.0, 3.0 * scale, 0.0, -4.0 * scale]);
        bad.normalise_quaternions(&model);
        assert!((bad.q[4] - 0.6).abs() <= 1e-15 && (bad.q[6] + 0.8).abs() <= 1e-15, "{scale}");
    }
    let almost = [0.6, 0.8 + 1e-16, 0.0, 0.0];
    bad.q[3..].copy_from_slice(&almost);
    bad.normalise_quaternions(&model);
    assert_eq!(bad.q[3..], almost);
    bad.q[3] = f64::NAN;
    bad.normalise_quaternions(&model);
    assert!(matches!(bad.check(&model), Err(StateError::NotFinite { index: 3, .. })));
}

#[test]
fn two_joints_on_one_axis_have_a_singular_mass_matrix() {
    let mut builder = ModelBuilder::new();
    let id = builder.body(body("b"));
    builder.joint(id, JointSpec::new(HINGE));
    builder.joint(id, JointSpec::new(HINGE));
    let model = builder.build().unwrap();
    let mut data = Data::new(&model);
    mass_matrix(&model, &mut data);
    assert_eq!(factor_mass(&model, &mut data), Err(NotPositiveDefinite { tree: 0 }));
}

#[test]
fn an_actuator_force_range_needs_one_coordinate_and_ordered_ends() {
    let attempt = |kind, range| {
        let mut builder = ModelBuilder::new();
        let id = builder.body(body("b"));
        let spec = JointSpec { actuator_force_range: Some(range), ..JointSpec::new(kind) };
        builder.joint(id, spec);
        builder.build()
    };
    assert!(attempt(HINGE, (-1.0, 2.0)).is_ok());
    for range in [(1.0, -1.0), (f64::NAN, 1.0)] {
        let error = attempt(HINGE, range).unwrap_err();
        assert!(matches!(error, ModelError::ForceRange { joint: 0, .. }), "{error}");
    }
    let error = attempt(JointKind::Ball, (-1.0, 1.0)).unwrap_err();
    assert!(matches!(error, ModelError::ForceRangeOfKind { kind: "ball", .. }), "{error}");
}

#[test]
fn every_coordinate_of_a_leaf_joint_must_have_inertia() {
    let attempt = |com: Vector3<f64>, mass: f64, inertia: f64, kind, armature| {
        let mut builder = ModelBuilder::new();
        let inertia = nalgebra::Matrix3::identity() * inertia;
        let mass = MassProperties::new_lenient(mass, com, inertia).ok();
        let id = builder.body(BodySpec { mass, ..body("b") });
        builder.joint(id, JointSpec { armature, ..JointSpec::new(kind) });
        builder.build().map(|_| ())
    };
    let (centre, beside) = (Vector3::zeros(), Vector3::new(0.3, 0.4, 0.5));
    // A point mass on the axis has no inertia; mass off the axis, inertia without mass, or armature suffices.
    let error = attempt(centre, 1.0, 0.0, HINGE, 0.0).unwrap_err();
    assert!(matches!(error, ModelError::NoInertia { joint: 0, coordinate: 0, .. }), "{error}");
    assert!(attempt(beside, 1.0, 0.0, HINGE, 0.0).is_ok());
    assert!(attempt(centre, 0.0, 0.1, HINGE, 0.0).is_ok());
    assert!(attempt(centre, 1.0, 0.0, HINGE, 0.1).is_ok());
    // Inertia without mass is not sufficient for a slide or a free joint.
    let slide = JointKind::Slide { axis: Vector3::x() };
    assert!(attempt(centre, 0.0, 0.1, slide, 0.0).is_err());
    assert!(attempt(centre, 0.0, 0.1, JointKind::Free, 0.0).is_err());
}
