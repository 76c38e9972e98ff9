//! Soft bodies in models and states.

use crate::mesh::*;
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use stiction_mech::*;

fn two() -> Model {
    let mut builder = ModelBuilder::new();
    let first = SoftSpec { name: "a".into(), ..cuboid([0.1; 3], [1, 1, 1], RUBBER) };
    let pose = Isometry3::translation(0.0, 0.0, 1.0);
    let second = SoftSpec { name: "b".into(), ..cuboid([0.2; 3], [2, 1, 1], RUBBER) };
    assert_eq!(builder.soft(first), SoftId(0));
    assert_eq!(builder.soft(second.moved(&pose)), SoftId(1));
    assert_eq!(builder.declared().softs.len(), 2);
    builder.build().unwrap()
}

#[test]
fn vertices_of_all_soft_bodies_are_stored_one_body_after_the_other() {
    let model = two();
    assert_eq!((model.nodes(), model.nq(), model.nv()), (8 + 12, 0, 0));
    assert_eq!((model.softs()[0].nodes.clone(), model.softs()[1].nodes.clone()), (0..8, 8..20));
    assert_eq!((model.soft("b"), model.soft("c"), model.soft("")), (Some(SoftId(1)), None, None));
    let state = State::new(&model);
    assert_eq!((state.x.len(), state.x_dot.len()), (20, 20));
    assert_eq!(state.x[8..], model.softs()[1].spec.vertices[..]);
    assert!(state.x_dot.iter().all(|v| *v == Vector3::zeros()));
    assert_eq!(state.check(&model), Ok(()));
    let none = ModelBuilder::new().build().unwrap();
    assert_eq!((none.nodes(), State::new(&none).x.len()), (0, 0));
}

#[test]
fn energies_and_momenta_are_those_of_all_soft_bodies() {
    let (model, mut rng) = (two(), Random(61));
    let mut state = State::new(&model);
    state.x_dot = rng.vectors(20, 1.0);
    state.x.iter_mut().for_each(|x| *x += 0.01 * rng.vector());
    let (mut kinetic, mut potential) = (0.0, 0.0);
    let (mut p, mut l) = (Vector3::zeros(), Vector3::zeros());
    for soft in model.softs() {
        let (x, v) = (&state.x[soft.nodes.clone()], &state.x_dot[soft.nodes.clone()]);
        kinetic += soft.kinetic_energy(v);
        potential += soft.energy(x) + soft.gravity_energy(x, model.gravity());
        let (linear, angular) = soft.momentum(x, v, Vector3::x());
        p += linear;
        l += angular;
    }
    assert_eq!(soft_kinetic_energy(&model, &state.x_dot), kinetic);
    assert_eq!(soft_potential_energy(&model, &state.x), potential);
    assert_eq!(soft_momentum(&model, &state.x, &state.x_dot, Vector3::x()), (p, l));
    assert!(kinetic > 0.0 && potential > 0.0);
}

#[test]
fn a_moved_spec_is_the_same_body_at_another_pose() {
    let spec = cuboid([0.1, 0.2, 0.3], [1, 2, 1], RUBBER);
    let turn = UnitQuaternion::from_scaled_axis(Vector3::new(0.3, 0.5, -1.0));
    let pose = Isometry3::from_parts(Vector3::new(1.0, 2.0, 3.0).into(), turn);
    let (here, there) =
        (SoftBody::new(spec.clone()).unwrap(), SoftBody::new(spec.moved(&pose)).unwrap());
    assert!((here.total_mass() - there.total_mass()).abs() <= 1e-13);
    let centre = pose * nalgebra::Point3::from(here.centre_of_mass(&here.spec.vertices));
    assert!((there.centre_of_mass(&there.spec.vertices) - centre.coords).amax() <= 1e-14);
}

#[test]
fn a_state_with_invalid_vertices_is_rejected() {
    let model = two();
    let good = State::new(&model);
    let mut bad = good.clone();
    bad.x.pop();
    assert_eq!(bad.check(&model), Err(StateError::Length { what: "x", found: 19, expected: 20 }));
    let mut bad = good.clone();
    bad.x_dot[9].y = f64::NAN;
    let error = bad.check(&model).unwrap_err();
    let named = matches!(&error, StateError::VertexNotFinite { what: "x_dot", index: 9, vertex: 1, soft, .. } if soft == "b");
    assert!(named, "{error}");
    let mut bad = good;
    bad.x[0].x = f64::INFINITY;
    assert!(matches!(bad.check(&model), Err(StateError::VertexNotFinite { what: "x", .. })));
}
