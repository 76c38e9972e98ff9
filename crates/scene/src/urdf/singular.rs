//! Coordinates that carry no inertia: frames without mass on moving joints, point masses on axes.
//!
//! Descriptions have them and programs that only invert kinematics or dynamics accept them, but no
//! force can be divided by them. With M = LᵀDL [Featherstone08, Sec. 6.5], D_i is what coordinate i
//! moves while all further out are free; where it vanishes beside M_ii, at the reference or at one
//! of a few other configurations, the joint gets armature, and is listed.

use stiction_mech::{Data, Model, integrate, kinematics, mass_matrix};

use super::ledger::Ledger;
use super::plan::Plan;
use crate::error::SceneError;
use stiction_sim::WorldError;

/// Inertia that is added where there is none [kg·m², kg]: that of a grain of sand at a centimetre
/// from its axis, far below what a motor or a sensor tells.
const LEAST_ARMATURE: f64 = 1e-7;

/// Part of M_ii below which D_i is round-off: the terms of the difference have 16 digits, and lose a
/// few in the sums that make them.
const VANISHING: f64 = 1e-11;

/// Configurations that are looked at besides the reference.
const TRIES: usize = 2;

/// Gives armature to joints that carry no inertia.
pub(super) fn brace(plan: &mut Plan, ledger: &mut Ledger) -> Result<(), SceneError> {
    let mut braced = without_mass(plan);
    for (body, joint) in braced.clone() {
        plan.bodies[body].joints[joint].armature = LEAST_ARMATURE;
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
        ledger.note(note, format!("{} {:e}", spec.name, spec.armature));
    }
    Ok(())
}

/// Body and joint within it of all joints that move no mass at all.
fn without_mass(plan: &Plan) -> Vec<(usize, usize)> {
    let mut carried: Vec<f64> =
        plan.bodies.iter().map(|body| body.spec.mass.map_or(0.0, |mass| mass.mass())).collect();
    for body in (0..carried.len()).rev() {
        if let Some(parent) = plan.bodies[body].spec.parent.0.checked_sub(1) {
            carried[parent] += carried[body];
        }
    }
    let massless = (0..carried.len()).filter(|body| carried[*body] == 0.0);
    massless.flat_map(|body| (0..plan.bodies[body].joints.len()).map(move |k| (body, k))).collect()
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
            // Irrational steps: no axis stands where it stood.
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
                    continue; // braced: nothing further in sees it
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
