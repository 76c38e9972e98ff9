//! Coordinates that carry no inertia: frames without mass on moving joints, point masses on axes.
//!
//! Descriptions have them and programs that only invert kinematics or dynamics accept them, but no
//! force can be divided by them. With M = LᵀDL [Featherstone08, Sec. 6.5], D_i is what coordinate i
//! moves while all further out are free; where it vanishes beside M_ii, at the reference or at one
//! of a few other configurations, the joint gets armature, and is listed. The outermost links, where
//! D_i = M_ii, are judged first, beside all of their inertia.

use nalgebra::{Isometry3, Matrix3};
use stiction_mech::{Data, JointKind, MassProperties, Model, integrate, kinematics, mass_matrix};
use stiction_sim::WorldError;

use super::diagnostics::Diagnostics;
use super::inertia;
use super::plan::Plan;
use crate::error::SceneError;

/// Inertia that is added where there is none [kg·m², kg]: that of a grain of sand at a centimetre
/// from its axis, far below the resolution of a motor or a sensor.
const LEAST_ARMATURE: f64 = 1e-7;

/// Part of M_ii below which D_i is round-off: the terms of the difference have 16 digits, and lose a
/// few in the sums that make them.
const VANISHING: f64 = 1e-11;

/// Number of configurations that are checked besides the reference.
const TRIES: usize = 2;

/// Gives armature to joints that carry no inertia.
pub(super) fn brace(plan: &mut Plan, diagnostics: &mut Diagnostics) -> Result<(), SceneError> {
    let mut braced = Vec::new();
    for (body, joint, missing) in outermost(plan)? {
        plan.bodies[body].joints[joint].armature = LEAST_ARMATURE + 2.0 * missing;
        braced.push((body, joint));
    }
    let model = plan.builder().mechanism.build().map_err(WorldError::from)?;
    for (dof, missing) in vanishing(&model).into_iter().enumerate() {
        let Some(missing) = missing else { continue };
        let Some((body, joint)) = owner(plan, &model, dof) else { continue };
        let spec = &mut plan.bodies[body].joints[joint];
        spec.armature = spec.armature.max(LEAST_ARMATURE + 2.0 * missing);
        if !braced.contains(&(body, joint)) {
            braced.push((body, joint));
        }
    }
    for (body, joint) in braced {
        let spec = &plan.bodies[body].joints[joint];
        let note = "joints that carry no inertia have armature [kg·m², kg] so that they can move";
        diagnostics.note(note, format!("{} {:e}", spec.name, spec.armature));
    }
    Ok(())
}

/// Body, joint within it, and by how much its inertia is negative, for all joints of links without
/// others further out that move no inertia, and for all that move no mass at all.
fn outermost(plan: &Plan) -> Result<Vec<(usize, usize, f64)>, SceneError> {
    let n = plan.bodies.len();
    let parent = |body: usize| plan.bodies[body].spec.parent.0.checked_sub(1);
    // Per body: the body with joints that carries it, and its pose in that.
    let mut carrier: Vec<(usize, Isometry3<f64>)> = Vec::with_capacity(n);
    let mut parts: Vec<Vec<(Isometry3<f64>, MassProperties)>> = vec![Vec::new(); n];
    let (mut carries, mut mass) = (vec![false; n], vec![0.0; n]);
    for (body, planned) in plan.bodies.iter().enumerate() {
        let above = parent(body).map(|parent| carrier[parent]);
        let moves = !planned.joints.is_empty();
        carrier.push(match above {
            Some((link, pose)) if !moves => (link, pose * planned.spec.pose),
            _ => (body, Isometry3::identity()),
        });
        if let (true, Some((link, _))) = (moves, above) {
            carries[link] = true;
        }
        if let Some(found) = planned.spec.mass {
            let (link, pose) = carrier[body];
            parts[link].push((pose, found));
            mass[body] = found.mass();
        }
    }
    for body in (0..n).rev() {
        if let Some(parent) = parent(body) {
            mass[parent] += mass[body];
        }
    }
    let mut found = Vec::new();
    for (body, planned) in plan.bodies.iter().enumerate() {
        let whole = inertia::sum(&parts[body])?;
        for (joint, spec) in planned.joints.iter().enumerate() {
            let moved = if carries[body] { f64::INFINITY } else { least(&spec.kind, whole) };
            if moved <= 0.0 || mass[body] == 0.0 {
                found.push((body, joint, (-moved).max(0.0)));
            }
        }
    }
    Ok(found)
}

/// Smallest inertia of a joint's coordinates at the origin of its link [kg, kg·m²]; zero if it
/// vanishes beside the inertia about other axes.
fn least(kind: &JointKind, whole: Option<MassProperties>) -> f64 {
    let Some(whole) = whole else { return 0.0 };
    let (m, c) = (whole.mass(), whole.com());
    let I = whole.inertia() + m * (Matrix3::from_diagonal_element(c.dot(&c)) - c * c.transpose());
    let about = |axis: nalgebra::Vector3<f64>| {
        let axis = axis.normalize();
        let moment = axis.dot(&(I * axis));
        if moment.abs() > VANISHING * I.amax() { moment } else { 0.0 }
    };
    match *kind {
        JointKind::Slide { .. } => m,
        JointKind::Hinge { axis } => about(axis),
        JointKind::Planar { normal, .. } => m.min(about(normal)),
        // Free to turn about every axis.
        _ => m.min(I.symmetric_eigenvalues().min()),
    }
}

/// Body and joint within it of a velocity coordinate of the model.
fn owner(plan: &Plan, model: &Model, dof: usize) -> Option<(usize, usize)> {
    let joint = model.joints().iter().position(|joint| joint.dofs.contains(&dof))?;
    let spec = &model.joints()[joint].spec;
    let of_body = |body: usize| plan.bodies[body].joints.iter().position(|j| j.name == spec.name);
    (0..plan.bodies.len()).find_map(|body| of_body(body).map(|k| (body, k)))
}

/// Per velocity coordinate: by how much D_i is negative, if it vanishes anywhere.
fn vanishing(model: &Model) -> Vec<Option<f64>> {
    let mut found: Vec<Option<f64>> = vec![None; model.nv()];
    let mut data = Data::new(model);
    let mut q = model.q0().to_vec();
    for attempt in 0..=TRIES {
        if attempt > 0 {
            // Irrational steps: no axis returns to its direction.
            let v: Vec<f64> = (1..=model.nv()).map(|k| (k as f64 * 2.0_f64.sqrt()).sin()).collect();
            integrate(model, &q.clone(), &v, 1.0, &mut q);
        }
        kinematics(model, &q, &mut data);
        mass_matrix(model, &mut data);
        for (tree, range) in model.trees().iter().enumerate() {
            let mut M = data.mass[model.mass_range(tree)].to_vec();
            let n = range.dofs.len();
            let parents = &model.dof_parents()[range.dofs.clone()];
            let diagonal: Vec<f64> = (0..n).map(|i| M[i * n + i]).collect();
            for i in (0..n).rev() {
                let dof = range.dofs.start + i;
                let D = M[i * n + i];
                if !(D > VANISHING * diagonal[i].abs()) {
                    let missing = (-D).max(found[dof].unwrap_or(0.0)).max(0.0);
                    found[dof] = Some(if missing.is_finite() { missing } else { 0.0 });
                    continue; // gets armature: its ancestors are not affected
                }
                // Ancestors, from the nearest on, lose what i takes along when it is free.
                let mut row = parents[i].map(|parent| parent as usize);
                while let Some(j) = row {
                    let factor = M[i * n + j] / D;
                    let mut column = Some(j);
                    while let Some(k) = column {
                        M[j * n + k] -= factor * M[i * n + k];
                        column = parents[k].map(|parent| parent as usize);
                    }
                    row = parents[j].map(|parent| parent as usize);
                }
            }
        }
    }
    found
}
