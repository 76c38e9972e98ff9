//! Springs, dampers, dry friction and limits of joints.
//!
//! A spring acts along q ⊖ q_rest. For rotations its torque is −k times the rotation vector, the
//! exact gradient of ½ k θ²; its stiffness across the axis of rotation is less than k, and k is used
//! as an upper bound.

use super::Forces;
use super::drive::{Drive, DriveKind, LimitRow, LimitSource};
use super::layout::of_dof;
use crate::joint::{JointId, quaternion};
use crate::model::Model;

/// Largest number of velocities of a joint.
const MAX_DOFS: usize = 6;

impl Forces {
    /// Initializes `stiffness` and `damping` with those of the joints and adds their forces.
    pub(super) fn add_joint_springs_and_dampers(&mut self, model: &Model, q: &[f64], v: &[f64]) {
        if !self.layout.has_slopes {
            return;
        }
        self.stiffness.fill(0.0);
        self.damping.copy_from_slice(&self.layout.damping);
        for (force, (damping, rate)) in self.generalized.iter_mut().zip(self.damping.iter().zip(v))
        {
            *force -= damping * rate;
        }
        for &index in &self.layout.springs {
            let joint = &model.joints()[index];
            let stiffness = joint.spec.stiffness;
            let mut stretch = [0.0; MAX_DOFS];
            let stretch = &mut stretch[..joint.dofs.len()];
            joint.difference(&model.q_spring()[joint.q.clone()], &q[joint.q.clone()], stretch);
            for (dof, stretch) in joint.dofs.clone().zip(stretch) {
                self.generalized[dof] -= stiffness * *stretch;
                self.stiffness[dof] += stiffness;
            }
        }
    }

    pub(super) fn add_joint_friction(&mut self, v: &[f64]) {
        for friction in &self.layout.frictions {
            self.drives.push(Drive {
                kind: DriveKind::JointFriction(friction.dof),
                row: of_dof(friction.dof),
                force: 0.0,
                rate: v[friction.dof],
                stiffness: 0.0,
                damping: 0.0,
                lower: -friction.loss,
                upper: friction.loss,
            });
        }
    }

    /// Whether any joint has limits.
    pub fn has_joint_limits(&self) -> bool {
        !self.layout.ranges.is_empty()
    }

    /// Recomputes the list of joint limits: those whose gap is within the margin plus `reach` [m or
    /// rad], the caller's bound on the motion along each velocity during the step.
    pub fn update_joint_limits(&mut self, (q, v): (&[f64], &[f64]), reach: &[f64]) {
        self.limits.retain(|limit| matches!(limit.source, LimitSource::Tendon(_)));
        self.add_joint_limits((q, v), |dof| reach[dof]);
    }

    pub(super) fn add_joint_limits(
        &mut self,
        (q, v): (&[f64], &[f64]),
        reach: impl Fn(usize) -> f64,
    ) {
        for range in &self.layout.ranges {
            let source = LimitSource::Joint(JointId(range.joint), range.component);
            let (row, limit) = (range.row, range.limit);
            if !range.is_rotation {
                let dof = self.entries[row.start].dof;
                let (rate, within) = (v[dof], limit.margin + reach(dof));
                for (gap, sign) in
                    [(q[range.q] - limit.lower, 1.0), (limit.upper - q[range.q], -1.0)]
                {
                    if gap <= within {
                        let gap_rate = sign * rate;
                        self.limits.push(LimitRow { source, row, gap, sign, gap_rate });
                    }
                }
                continue;
            }
            // The gradient of the angle is the axis of rotation, which has the same components in the
            // frames of child and parent.
            let rotation_vector = quaternion::log(&quaternion::read(&q[range.q..range.q + 4]));
            let angle = rotation_vector.norm();
            let entries = &mut self.entries[row.start..row.end];
            let (mut rate, mut reach_squared) = (0.0, 0.0);
            for (k, entry) in entries.iter_mut().enumerate() {
                // Without rotation there is no axis: the gradient is set to zero.
                entry.coefficient = if angle > 0.0 { rotation_vector[k] / angle } else { 0.0 };
                rate += entry.coefficient * v[entry.dof];
                reach_squared += reach(entry.dof) * reach(entry.dof);
            }
            let gap = limit.upper - angle;
            if angle > 0.0 && gap <= limit.margin + f64::sqrt(reach_squared) {
                let sign = -1.0;
                self.limits.push(LimitRow { source, row, gap, sign, gap_rate: sign * rate });
            }
        }
    }
}
