//! Forces that produce given accelerations, by the recursive Newton-Euler algorithm (RNEA).
//!
//! a_i = a_parent + S_i v̇_i + Ṡ_i v_i with −g at the world, f_i = I_i a_i + V_i ×* I_i V_i, and
//! τ_i = S_iᵀ Σ f_j over i and its descendants j [Featherstone08, Sec. 5.3]. All spatial vectors of a
//! tree are taken at one point, so the recursion needs no coordinate transforms. Gravity
//! compensation, springs and damping are applied forces and not included.

use crate::data::Data;
use crate::fused::{add_cross_force, add_cross_motion, apply, cross, dot, join};
use crate::model::{Link, Model, TreeRange};
use crate::tendon::inertia;
use crate::velocity::velocities;
use nalgebra::{Vector3, Vector6};
use stiction_math::simd::{self, Job};

/// `out = M a + bias` [N, N·m] for velocities `v` and accelerations `a`, armature included. Needs
/// the position stage of `data`; fills the velocity stage.
pub fn inverse_dynamics(model: &Model, data: &mut Data, v: &[f64], a: &[f64], out: &mut [f64]) {
    velocities(model, v, data);
    for (index, tree) in model.trees.iter().enumerate() {
        newton_euler(model, tree, Some(a), data, out);
        inertia::add_bias(model, index, data, out);
        inertia::add_inertial_force(model, index, a, data, out);
    }
    for (dof, force) in out.iter_mut().enumerate() {
        *force += model.armature[dof] * a[dof];
    }
}

/// The two passes over one tree; without `a` all accelerations are zero.
pub(crate) fn newton_euler(
    model: &Model,
    tree: &TreeRange,
    a: Option<&[f64]>,
    data: &mut Data,
    out: &mut [f64],
) {
    simd::dispatch(NewtonEuler { model, tree, a, data, out });
}

struct NewtonEuler<'a> {
    model: &'a Model,
    tree: &'a TreeRange,
    a: Option<&'a [f64]>,
    data: &'a mut Data,
    out: &'a mut [f64],
}

impl Job for NewtonEuler<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { model, tree, a, data, out } = self;
        let links = &model.links[tree.links.clone()];
        let at_rest = join(Vector3::zeros(), -model.gravity);
        // Acceleration of the previous link, reused where it is the parent.
        let (mut previous, mut last) = (usize::MAX, at_rest);
        for link in links {
            let mut acceleration = match link.parent {
                Some(parent) if parent == previous => last,
                Some(parent) => data.acceleration[parent],
                None => at_rest,
            };
            acceleration += data.joint_bias[link.body];
            if let Some(a) = a {
                for dof in link.dofs.clone() {
                    acceleration += data.subspace[dof] * a[dof];
                }
            }
            let (inertia, V) = (&data.link_inertia[link.body], &data.velocity[link.body]);
            data.force[link.body] =
                add_cross_force(&apply(inertia, &acceleration), V, &apply(inertia, V));
            data.acceleration[link.body] = acceleration;
            (previous, last) = (link.body, acceleration);
        }
        project_forces(links, data, out);
    }
}

/// [`newton_euler`] without accelerations at velocities `v`, whatever the velocity stage is: both passes over velocities and
/// accelerations in one.
pub(crate) fn newton_euler_at(
    model: &Model,
    tree: &TreeRange,
    v: &[f64],
    data: &mut Data,
    out: &mut [f64],
) {
    simd::dispatch(NewtonEulerAt { model, tree, v, data, out });
}

struct NewtonEulerAt<'a> {
    model: &'a Model,
    tree: &'a TreeRange,
    v: &'a [f64],
    data: &'a mut Data,
    out: &'a mut [f64],
}

impl Job for NewtonEulerAt<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { model, tree, v, data, out } = self;
        let links = &model.links[tree.links.clone()];
        let at_rest = (Vector6::zeros(), join(Vector3::zeros(), -model.gravity));
        for link in links {
            let (before, mut acceleration) = match link.parent {
                Some(parent) => (data.other_velocity[parent], data.acceleration[parent]),
                None => at_rest,
            };
            let mut V = before;
            if link.hinge.is_some() {
                let rate = data.subspace[link.dofs.start] * v[link.dofs.start];
                acceleration = add_cross_motion(&acceleration, &before, &rate);
                V += rate;
            } else {
                for joint in &model.joints[link.joints.clone()] {
                    let dofs = joint.dofs.clone();
                    let S = &data.subspace[dofs.clone()];
                    joint.add_velocity(S, &v[dofs], &mut V, &mut acceleration);
                }
            }
            let inertia = &data.link_inertia[link.body];
            data.force[link.body] =
                add_cross_force(&apply(inertia, &acceleration), &V, &apply(inertia, &V));
            data.other_velocity[link.body] = V;
            data.acceleration[link.body] = acceleration;
        }
        project_forces(links, data, out);
    }
}

/// Weights of the links of a tree, as forces that hold them: the two passes at v = 0.
pub(crate) fn hold_weights(model: &Model, tree: &TreeRange, data: &mut Data, out: &mut [f64]) {
    simd::dispatch(HoldWeights { model, tree, data, out });
}

struct HoldWeights<'a> {
    model: &'a Model,
    tree: &'a TreeRange,
    data: &'a mut Data,
    out: &'a mut [f64],
}

impl Job for HoldWeights<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { model, tree, data, out } = self;
        let links = &model.links[tree.links.clone()];
        let lift = -model.gravity;
        for link in links {
            let inertia = &data.link_inertia[link.body];
            data.force[link.body] = join(cross(&inertia.moment, &lift), inertia.mass * lift);
        }
        project_forces(links, data, out);
    }
}

/// `out = S_iᵀ Σ f_j` over each link i and its descendants j, whose forces are added up on the way to the root.
#[inline(always)]
fn project_forces(links: &[Link], data: &mut Data, out: &mut [f64]) {
    for link in links.iter().rev() {
        let force: Vector6<f64> = data.force[link.body];
        for dof in link.dofs.clone() {
            out[dof] = dot(&data.subspace[dof], &force);
        }
        if let Some(parent) = link.parent {
            data.force[parent] += force;
        }
    }
}
