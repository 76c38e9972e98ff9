//! Forward kinematics: body poses, motion subspaces and link inertias in the world, from q.
//!
//! One pass from the roots to the leaves. Fills the position stage of [`Data`]. Joints act in order
//! on the frame of their body; spatial vectors are then shifted to the tree's reference point, the
//! centre of mass of its root link.

use crate::data::Data;
use crate::model::{Link, Model};
use crate::spatial::motion_at;
use crate::tendon::inertia;
use nalgebra::{Isometry3, Matrix3, Vector3};
use stiction_math::spatial::Inertia10;

/// Fills the position stage of `data` for coordinates `q`. Quaternions need not have unit length.
pub fn kinematics(model: &Model, q: &[f64], data: &mut Data) {
    for tree in 0..model.trees.len() {
        tree_kinematics(model, tree, q, data);
    }
}

/// [`kinematics`] of one tree; `q` is that of the whole model.
#[inline]
pub fn tree_kinematics(model: &Model, tree: usize, q: &[f64], data: &mut Data) {
    let range = &model.trees[tree];
    // Pose of the previous link, reused where it is the parent.
    let (mut previous, mut X_WP) = (usize::MAX, Isometry3::identity());
    for link in &model.links[range.links.clone()] {
        let mut X_WB = match link.parent {
            Some(parent) if parent == previous => X_WP * link.pose,
            Some(parent) => data.body_pose[parent] * link.pose,
            None => link.pose,
        };
        apply_joints(model, link, q, &mut X_WB, data);
        (previous, X_WP) = (link.body, X_WB);
        let R_WB = X_WB.rotation.to_rotation_matrix().into_inner();
        let p_WBcm = X_WB.translation.vector + R_WB * link.com;
        if link.parent.is_none() {
            data.reference[tree] = p_WBcm;
        }
        let p_WO = data.reference[tree];
        for dof in link.dofs.clone() {
            let S = &mut data.subspace[dof];
            *S = motion_at(S, &(p_WO - data.anchor[dof]));
        }
        data.link_inertia[link.body] = inertia_about(link, &R_WB, p_WBcm - p_WO);
        data.body_pose[link.body] = X_WB;
    }
    for &body in &model.welded[range.welded.clone()] {
        let entry = &model.bodies[body];
        if let Some(link) = entry.link {
            data.body_pose[body] = data.body_pose[link] * entry.pose_in_link;
        }
    }
    inertia::update_gradients(model, tree, data);
}

/// Moves the frame of a link by its joints and writes its columns S, taken at the joint anchors.
#[inline]
fn apply_joints(model: &Model, link: &Link, q: &[f64], X_WB: &mut Isometry3<f64>, data: &mut Data) {
    for joint in &model.joints[link.joints.clone()] {
        let dofs = joint.dofs.clone();
        let (S, anchor) = (&mut data.subspace[dofs.clone()], &mut data.anchor[dofs]);
        joint.update_frame(&q[joint.q.clone()], X_WB, S, anchor);
    }
}

/// Spatial inertia of a link in world axes about a point O, from the rotation `R_WB` of its body and
/// the position `p_OBcm_W` [m] of its centre of mass.
#[inline]
fn inertia_about(link: &Link, R_WB: &Matrix3<f64>, p_OBcm_W: Vector3<f64>) -> Inertia10 {
    let R = R_WB;
    let A = R * link.inertia;
    let entry =
        |i: usize, j: usize| A[(i, 0)] * R[(j, 0)] + A[(i, 1)] * R[(j, 1)] + A[(i, 2)] * R[(j, 2)];
    let (m, [x, y, z]) = (link.mass, [p_OBcm_W.x, p_OBcm_W.y, p_OBcm_W.z]);
    let rotational = [
        entry(0, 0) + m * (y * y + z * z),
        entry(1, 1) + m * (x * x + z * z),
        entry(2, 2) + m * (x * x + y * y),
        entry(0, 1) - m * x * y,
        entry(0, 2) - m * x * z,
        entry(1, 2) - m * y * z,
    ];
    Inertia10 { mass: m, moment: m * p_OBcm_W, rotational }
}
