//! External wrenches and gravity compensation.

use crate::mechanism::{Random, Scene, mass, tree};
use nalgebra::{Vector3, Vector6};
use stiction_mech::{
    BodySpec, JointKind, JointSpec, ModelBuilder, angular_velocity, bias_forces, point_velocity,
};

#[test]
fn the_power_of_a_wrench_is_that_of_its_body_at_the_centre_of_mass() {
    for seed in 0..10 {
        let mut rng = Random(300 + seed);
        let mut scene = Scene::new(tree(&mut rng, 10, false, |_, _| {}));
        scene.shuffle(&mut rng);
        scene.input.wrench.iter_mut().for_each(|w| *w = Vector6::from_fn(|_, _| rng.number()));
        scene.evaluate();
        let mut power = 0.0;
        for id in 1..scene.model.bodies().len() {
            let id = stiction_mech::BodyId(id);
            let X_WB = scene.data.body_pose[id.0];
            let com = X_WB.translation.vector + X_WB.rotation * mass().unwrap().com();
            let wrench = scene.input.wrench[id.0];
            let (torque, force) = (wrench.fixed_rows::<3>(0), wrench.fixed_rows::<3>(3));
            power += torque.dot(&angular_velocity(&scene.data, id))
                + force.dot(&point_velocity(&scene.model, &scene.data, id, com));
        }
        // A sum of a few hundred products of order one.
        assert!((scene.forces.power(&scene.state.v) - power).abs() <= 1e-12);
    }
}

#[test]
fn a_fully_compensated_body_is_weightless() {
    let mut builder = ModelBuilder::new();
    builder.gravity(Vector3::new(1.0, 2.0, -9.81));
    let spec = BodySpec { gravity_compensation: 1.0, mass: mass(), ..Default::default() };
    let base = builder.body(spec.clone());
    builder.joint(base, JointSpec::new(JointKind::Free));
    let tip = builder.body(BodySpec { parent: base, ..spec });
    builder.joint(tip, JointSpec::new(JointKind::Hinge { axis: Vector3::x() }));
    let mut scene = Scene::new(builder);
    scene.shuffle(&mut Random(5)).state.v.fill(0.0);
    scene.evaluate();
    bias_forces(&scene.model, &scene.state.v, &mut scene.data);
    for (lift, weight) in scene.forces.generalized.iter().zip(&scene.data.bias) {
        assert!((lift - weight).abs() <= 1e-13, "{lift} against {weight}");
    }
}
