//! Spatial velocities of the bodies and the bias accelerations of their joints, from v.
//!
//! V_i = V_parent + S_i v_i and c_i = Ṡ_i v_i, one pass from the roots to the leaves
//! [Featherstone08, Sec. 5.3]. Needs the position stage of [`Data`].

use crate::body::BodyId;
use crate::data::Data;
use crate::fused::add_cross_motion;
use crate::model::Model;
use crate::spatial::{angular, linear};
use nalgebra::{Vector3, Vector6};
use stiction_math::simd::{self, Job};

/// Fills `velocity` and `joint_bias` of `data` for velocities `v`.
pub fn velocities(model: &Model, v: &[f64], data: &mut Data) {
    for tree in 0..model.trees.len() {
        tree_velocities(model, tree, v, data);
    }
}

/// [`velocities`] of one tree; `v` is that of the whole model.
pub fn tree_velocities(model: &Model, tree: usize, v: &[f64], data: &mut Data) {
    simd::dispatch(TreePass { model, tree, v, data });
}

/// The pass over the links of a tree.
struct TreePass<'a> {
    model: &'a Model,
    tree: usize,
    v: &'a [f64],
    data: &'a mut Data,
}

impl Job for TreePass<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { model, tree, v, data } = self;
        let range = &model.trees[tree];
        // Velocity of the previous link, reused where it is the parent.
        let (mut previous, mut last) = (usize::MAX, Vector6::zeros());
        for link in &model.links[range.links.clone()] {
            let parent = match link.parent {
                Some(parent) if parent == previous => last,
                Some(parent) => data.velocity[parent],
                None => Vector6::zeros(),
            };
            let (V, bias) = if link.hinge.is_some() {
                let (S, v) = (&data.subspace[link.dofs.start], v[link.dofs.start]);
                let rate = S * v;
                (parent + rate, add_cross_motion(&Vector6::zeros(), &parent, &rate))
            } else {
                let (mut V, mut bias) = (parent, Vector6::zeros());
                for joint in &model.joints[link.joints.clone()] {
                    let dofs = joint.dofs.clone();
                    joint.add_velocity(&data.subspace[dofs.clone()], &v[dofs], &mut V, &mut bias);
                }
                (V, bias)
            };
            data.velocity[link.body] = V;
            data.joint_bias[link.body] = bias;
            (previous, last) = (link.body, V);
        }
        for &body in &model.welded[range.welded.clone()] {
            if let Some(link) = model.bodies[body].link {
                data.velocity[body] = data.velocity[link];
            }
        }
    }
}

/// Velocity [m/s] of the body-fixed point at `point` [m]; both in the world frame.
pub fn point_velocity(
    model: &Model,
    data: &Data,
    body: BodyId,
    point: Vector3<f64>,
) -> Vector3<f64> {
    let Some(tree) = model.tree(body) else { return Vector3::zeros() };
    let V = &data.velocity[body.0];
    linear(V) + angular(V).cross(&(point - data.reference[tree]))
}

/// Angular velocity [rad/s] of a body, world frame.
pub fn angular_velocity(data: &Data, body: BodyId) -> Vector3<f64> {
    angular(&data.velocity[body.0])
}
