//! Velocities at the end of a step, estimated before the modes of its drives are known.
//!
//! The rates at the start of a step do not tell the modes of drives where controls change: joints turn back within a step,
//! and servos leave their bounds. The estimate is the velocity with the modes that follow from the rates at the start, the
//! velocity-dependent forces at the start, and the forces of contacts and joint limits of the last step. Limits stop what would
//! pass them; forces of equalities are left out. It costs a factorization and one evaluation of the bias forces, and only
//! decides which drives get rows.

use stiction_math::branch;
use stiction_mech::{
    BodyId, Data, DriveKind, DriveMode, LimitSource, Model, apply_wrench, tree_bias_forces,
};

use super::drive_modes::{
    diagonal_inertia, friction_from_rate, holding_damping, is_at_rest, servo_from_rate,
};
use super::{FreeMotion, StepStart, stiff_springs};
use crate::rows::tree_of_dof;

/// Motion of a drive within a step below which nothing is estimated for it [m, rad].
const LEAST_MOTION: f64 = 1e-4;

impl FreeMotion {
    /// Estimates the velocities of the trees in which drives move or are saturated; those of the others are not numbers.
    pub(super) fn estimate_velocities(&mut self, start: &StepStart, data: &mut Data) {
        let model = start.model;
        let mut estimate = std::mem::take(&mut self.drive_modes.estimate);
        estimate.fill(f64::NAN);
        self.drive_modes.bears_contact.fill(false);
        let mut is_any = false;
        for (index, tree) in model.trees().iter().enumerate() {
            if start.asleep[index] || tree.links.len() == 1 || !self.is_driven(start, index, data) {
                continue;
            }
            is_any = true;
            self.set_momenta_for_estimate(start, index, data, &mut estimate);
        }
        let contacts = if is_any { start.contacts } else { &[] };
        for contact in contacts.iter().filter(|contact| !contact.is_soft()) {
            for (body, sign) in contact.bodies.into_iter().zip([-1.0, 1.0]) {
                let impulse = sign * start.time_step;
                let (torque, force) = (impulse * contact.torque, impulse * contact.force);
                let body = BodyId(body);
                apply_wrench(model, data, body, contact.point, torque, force, &mut estimate);
                for_each_ancestor(model, body, |dof| self.drive_modes.bears_contact[dof] = true);
            }
        }
        if is_any {
            for &(dof, impulse) in &self.drive_modes.limit_impulses {
                estimate[dof] += impulse;
                self.drive_modes.bears_contact[dof] = true;
            }
        }
        for (index, tree) in model.trees().iter().enumerate() {
            let x = &mut estimate[tree.dofs.clone()];
            if x.first().is_none_or(|x| x.is_nan()) {
                continue;
            }
            let parents = &model.dof_parents()[tree.dofs.clone()];
            let (L, M) = (&mut self.factor[tree.mass.clone()], &data.mass[tree.mass.clone()]);
            if branch::factor(L, parents, |k| M[k * (parents.len() + 1)]) {
                branch::solve(L, parents, x);
            } else {
                estimate[model.trees()[index].dofs.clone()].fill(f64::NAN);
            }
        }
        self.stop_at_limits(start.time_step, &mut estimate);
        self.drive_modes.estimate = estimate;
    }

    /// Bounds the velocities of joints of one velocity at the ends of their ranges: they get there and no further.
    fn stop_at_limits(&self, h: f64, estimate: &mut [f64]) {
        for limit in &self.forces.limits {
            let &[entry] = limit.row.of(&self.forces.entries) else { continue };
            let v = &mut estimate[entry.dof];
            let sign = limit.sign * entry.coefficient;
            if matches!(limit.source, LimitSource::Joint(..)) && sign * *v < -limit.gap.max(0.0) / h
            {
                *v = -sign * limit.gap.max(0.0) / h;
            }
        }
    }

    /// Whether a drive of a tree moves against dry friction, or is not linear at its present rate.
    fn is_driven(&self, start: &StepStart, tree: usize, data: &Data) -> bool {
        let (model, h) = (start.model, start.time_step);
        self.forces.drives.iter().any(|drive| {
            let &[entry] = drive.row.of(&self.forces.entries) else { return false };
            if tree_of_dof(model, entry.dof) != tree {
                return false;
            }
            let inertia = diagonal_inertia(&model.trees()[tree], entry.dof, data);
            let moves = h * drive.rate.abs() > LEAST_MOTION;
            match drive.kind {
                DriveKind::JointFriction(_) => moves && !is_at_rest(drive, inertia, h),
                DriveKind::Servo(_) => {
                    moves && servo_from_rate(drive, h) != Some(DriveMode::Linear)
                }
                DriveKind::TendonSpring(_) | DriveKind::TendonFriction(_) => false,
            }
        })
    }

    /// Sets A of a tree in the memory of its factor, and b.
    fn set_momenta_for_estimate(
        &mut self,
        start: &StepStart,
        index: usize,
        data: &mut Data,
        b: &mut [f64],
    ) {
        let StepStart { model, time_step: h, state, .. } = *start;
        let (tree, scale) = (&model.trees()[index], self.inertia_scale);
        let (n, v) = (tree.dofs.len(), &state.v[tree.dofs.clone()]);
        tree_bias_forces(model, index, &state.v, data);
        let (forces, A) = (&self.forces, &mut self.factor[tree.mass.clone()]);
        for (a, m) in A.iter_mut().zip(&data.mass[tree.mass.clone()]) {
            *a = scale * m;
        }
        for ((k, dof), row) in tree.dofs.clone().enumerate().zip(A.chunks_exact_mut(n)) {
            let inertial: f64 = row.iter().zip(v).map(|(a, v)| a * v).sum();
            let is_stiff = self.is_stiff[dof];
            let servo = stiff_springs::implicit(forces.stiffness[dof], self.spring[dof], is_stiff);
            let damping = forces.damping[dof];
            row[k] += h * (damping + h * servo);
            b[dof] = inertial + h * (damping * v[k] + forces.generalized[dof] - data.bias[dof]);
        }
        for drive in &forces.drives {
            let &[entry] = drive.row.of(&forces.entries) else { continue };
            let (dof, c) = (entry.dof, entry.coefficient);
            if !tree.dofs.contains(&dof) {
                continue;
            }
            let k = dof - tree.dofs.start;
            let inertia = diagonal_inertia(tree, dof, data);
            let mode = match drive.kind {
                DriveKind::JointFriction(_) if is_at_rest(drive, inertia, h) => {
                    DriveMode::Stuck { damping: holding_damping(inertia, h) }
                }
                DriveKind::JointFriction(_) => friction_from_rate(drive.rate),
                _ => servo_from_rate(drive, h).unwrap_or(DriveMode::Linear),
            };
            match mode {
                DriveMode::Linear => {
                    A[k * (n + 1)] += h * c * c * (drive.damping + h * drive.stiffness);
                    b[dof] += h * c * (drive.force + drive.damping * c * state.v[dof]);
                }
                DriveMode::AtLower => b[dof] += h * c * drive.lower,
                DriveMode::AtUpper => b[dof] += h * c * drive.upper,
                DriveMode::Stuck { damping } => A[k * (n + 1)] += h * damping,
            }
        }
    }
}

/// Calls `each` with the velocities between a body and the root of its tree.
fn for_each_ancestor(model: &Model, body: BodyId, mut each: impl FnMut(usize)) {
    let (Some(tree), Some(last)) = (model.tree(body), model.last_dof(body)) else { return };
    let dofs = model.trees()[tree].dofs.clone();
    let last = Some((last - dofs.start) as u32);
    branch::ancestors(&model.dof_parents()[dofs.clone()], last).for_each(|k| each(dofs.start + k));
}
