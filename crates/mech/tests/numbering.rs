//! Bodies declared in any order are numbered depth first in the model, with contiguous trees.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Random, mixed};
use nalgebra::{Matrix3, Vector3};
use stiction_mech::*;

#[test]
fn bodies_declared_breadth_first_are_renumbered_depth_first() {
    // world ─ base(1, fixed) ─┬─ a(2) ─ c(4)
    //                         └─ b(3) ─ d(5)
    let mut builder = ModelBuilder::new();
    let mass = Some(MassProperties::new(1.0, Vector3::zeros(), 0.1 * Matrix3::identity()).unwrap());
    let mut joints = Vec::new();
    for (name, parent) in [("base", 0), ("a", 1), ("b", 1), ("c", 2), ("d", 3)] {
        let (name, parent) = (name.to_string(), BodyId(parent));
        let id = builder.body(BodySpec { name, parent, mass, ..Default::default() });
        if id.0 > 1 {
            let kind = JointKind::Hinge { axis: Vector3::x() };
            joints.push(builder.joint(id, JointSpec::new(kind)));
        }
    }
    let model = builder.build().unwrap();
    let names: Vec<_> = model.bodies().iter().map(|body| body.spec.name.as_str()).collect();
    assert_eq!(names, ["", "base", "a", "c", "b", "d"]);
    assert_eq!(model.body_of_builder(BodyId(3)), model.body("b"));
    assert_eq!(model.joint_of_builder(joints[1]), Some(JointId(2)));
    assert_eq!(model.joints()[2].body, 4);
    assert_eq!(model.bodies()[5].spec.parent, BodyId(4));
    let trees: Vec<_> = model.trees().iter().map(|tree| tree.bodies.clone()).collect();
    assert_eq!(trees, [2..4, 4..6]);
    assert_eq!(model.dof_parents(), [None, Some(0), None, Some(0)]);
    assert_eq!(model.link(BodyId(1)), None);
    assert_eq!(model.body("nobody"), None);
}

#[test]
fn trees_are_contiguous_and_parents_come_first() {
    for seed in 0..100 {
        let mut rng = Random(seed);
        let model = mixed(&mut rng, 12, false);
        let (mut body, mut dof, mut q) = (0, 0, 0);
        for tree in model.trees() {
            assert!(tree.bodies.start >= body && tree.dofs.start == dof && tree.q.start == q);
            (body, dof, q) = (tree.bodies.end, tree.dofs.end, tree.q.end);
            for id in tree.bodies.clone() {
                let spec = &model.bodies()[id].spec;
                assert!(spec.parent.0 < id);
                assert!(id == tree.bodies.start || tree.bodies.contains(&spec.parent.0));
                assert!(tree.bodies.contains(&model.link(BodyId(id)).unwrap()));
            }
        }
        assert_eq!((dof, q), (model.nv(), model.nq()));
        for (dof, parent) in model.dof_parents().iter().enumerate() {
            let tree = model.trees().iter().find(|tree| tree.dofs.contains(&dof)).unwrap();
            assert!(parent.is_none_or(|parent| (parent as usize) < dof - tree.dofs.start));
        }
    }
}

#[test]
fn depth_first_declarations_keep_their_ids() {
    let mut builder = ModelBuilder::new();
    let mut rng = Random(3);
    for parent in [0, 1, 2, 2, 1, 0, 6] {
        let (parent, mass) = (BodyId(parent), Some(common::mass(&mut rng)));
        builder.body(BodySpec { parent, mass, ..Default::default() });
    }
    let model = builder.build().unwrap();
    assert!((0..8).all(|id| model.body_of_builder(BodyId(id)) == Some(BodyId(id))));
}
