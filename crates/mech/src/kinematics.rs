//! Forward kinematics: body poses, motion subspaces and link inertias in the world, from q.
//!
//! One pass from the roots to the leaves. Fills the position stage of [`Data`]. Joints act in order
//! on the frame of their body; spatial vectors are then shifted to the tree's reference point, the
//! centre of mass of its root link. A link on one hinge, the most common one, has its parameters side by side.

use crate::data::Data;
use crate::fused::{
    Columns, Lanes, columns, cross, inertia_about, join, lanes, product, transform, vector,
};
use crate::model::{HingeLink, Link, Model};
use crate::spatial::motion_at;
use crate::tendon::inertia;
use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion, Vector3, Vector6};
use stiction_math::simd::{self, Job};

/// Fills the position stage of `data` for coordinates `q`. Quaternions need not have unit length.
pub fn kinematics(model: &Model, q: &[f64], data: &mut Data) {
    for tree in 0..model.trees.len() {
        tree_kinematics(model, tree, q, data);
    }
}

/// [`kinematics`] of one tree; `q` is that of the whole model.
pub fn tree_kinematics(model: &Model, tree: usize, q: &[f64], data: &mut Data) {
    simd::dispatch(TreePass::<true> { model, tree, q, data });
    place_welded(model, tree, data);
    inertia::update_gradients(model, tree, data);
}

/// Writes the poses of all bodies that joints move for coordinates `q`; the other arrays of the position stage are invalid
/// afterwards.
pub fn body_poses(model: &Model, q: &[f64], data: &mut Data) {
    for tree in 0..model.trees.len() {
        simd::dispatch(TreePass::<false> { model, tree, q, data });
        place_welded(model, tree, data);
    }
}

/// Poses of the bodies without joints.
fn place_welded(model: &Model, tree: usize, data: &mut Data) {
    for &body in &model.welded[model.trees[tree].welded.clone()] {
        let entry = &model.bodies[body];
        if let Some(link) = entry.link {
            data.body_pose[body] = data.body_pose[link] * entry.pose_in_link;
        }
    }
}

/// The pass over the links of a tree; without dynamics, the link inertias and the reference point are left out.
struct TreePass<'a, const DYNAMICS: bool> {
    model: &'a Model,
    tree: usize,
    q: &'a [f64],
    data: &'a mut Data,
}

/// Pose of a link, with its rotation in both forms.
#[derive(Clone, Copy)]
struct Frame {
    rotation: UnitQuaternion<f64>,
    R: Columns,
    p: Lanes,
}

impl<const DYNAMICS: bool> Job for TreePass<'_, DYNAMICS> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { model, tree, q, data } = self;
        for link in &model.links[model.trees[tree].links.clone()] {
            // The world is the first body.
            let parent = link.parent.unwrap_or(0);
            let (X_WP, R_WP) = (&data.body_pose[parent], &data.rotation[parent]);
            let parent =
                Frame { rotation: X_WP.rotation, R: *R_WP, p: lanes(&X_WP.translation.vector) };
            let (frame, hinge) = match &link.hinge {
                Some(hinge) => {
                    let (frame, anchor) = turned_frame(&parent, link, hinge, q[hinge.q]);
                    (frame, Some((hinge, anchor)))
                }
                None => (jointed_frame(model, &parent, link, q, data), None),
            };
            data.rotation[link.body] = frame.R;
            data.body_pose[link.body] =
                Isometry3::from_parts(Translation3::from(vector(&frame.p)), frame.rotation);
            if !DYNAMICS {
                continue;
            }
            let p_WBcm = vector(&transform(&frame.R, &link.com, &frame.p));
            if link.parent.is_none() {
                data.reference[tree] = p_WBcm;
            }
            let p_WO = data.reference[tree];
            if let Some((hinge, anchor)) = hinge {
                let (axis, anchor) =
                    (vector(&transform(&frame.R, &hinge.axis, &[0.0; 4])), vector(&anchor));
                let dof = link.dofs.start;
                data.anchor[dof] = anchor;
                data.subspace[dof] = join(axis, cross(&axis, &(p_WO - anchor)));
            } else {
                for dof in link.dofs.clone() {
                    let S: &mut Vector6<f64> = &mut data.subspace[dof];
                    *S = motion_at(S, &(p_WO - data.anchor[dof]));
                }
            }
            data.link_inertia[link.body] =
                inertia_about(link.mass, &link.inertia, &frame.R, &(p_WBcm - p_WO));
        }
    }
}

/// Frame of a link on one hinge, and a point on the axis in the world.
#[inline(always)]
fn turned_frame(parent: &Frame, link: &Link, hinge: &HingeLink, q: f64) -> (Frame, Lanes) {
    let (sin, cos) = (0.5 * (q - hinge.reference)).sin_cos();
    let turn = sin * hinge.axis;
    let turn = UnitQuaternion::new_unchecked(Quaternion::new(cos, turn.x, turn.y, turn.z));
    let rotation = product(&product(&parent.rotation, &link.pose.rotation), &turn);
    let R = columns(&rotation);
    let anchor = transform(&parent.R, &hinge.anchor_in_parent, &parent.p);
    let p = transform(&R, &-hinge.anchor, &anchor);
    (Frame { rotation, R, p }, anchor)
}

/// Frame of a link on any joints; writes its columns S, taken at the joint anchors.
#[inline(always)]
fn jointed_frame(model: &Model, parent: &Frame, link: &Link, q: &[f64], data: &mut Data) -> Frame {
    let p = transform(&parent.R, &link.pose.translation.vector, &parent.p);
    let rotation = product(&parent.rotation, &link.pose.rotation);
    let mut X_WB = Isometry3::from_parts(Translation3::from(vector(&p)), rotation);
    apply_joints(model, link, q, &mut X_WB, data);
    let p: Vector3<f64> = X_WB.translation.vector;
    Frame { rotation: X_WB.rotation, R: columns(&X_WB.rotation), p: lanes(&p) }
}

/// Moves the frame of a link by its joints and writes its columns S, taken at the joint anchors.
fn apply_joints(model: &Model, link: &Link, q: &[f64], X_WB: &mut Isometry3<f64>, data: &mut Data) {
    for joint in &model.joints[link.joints.clone()] {
        let dofs = joint.dofs.clone();
        let (S, anchor) = (&mut data.subspace[dofs.clone()], &mut data.anchor[dofs]);
        joint.update_frame(&q[joint.q.clone()], X_WB, S, anchor);
    }
}
