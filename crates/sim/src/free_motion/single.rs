//! Single free bodies: their inertial motion, in which the centre of mass moves straight on and the
//! body turns freely, and their next pose in flight.

use nalgebra::{Isometry3, Matrix3, UnitQuaternion, Vector3};
use stiction_mech::{Data, Model, State};

use super::spin::Spin;
use super::{FreeMotion, MAX_TURN};

/// Turn of a free body within a step above which the step does not resolve its orientation [rad]:
/// contacts found at the start of the step say nothing about those at its end.
pub(super) const MAX_FREE_TURN: f64 = std::f64::consts::FRAC_PI_2;

impl FreeMotion {
    /// Adds the impulses of weight and of the inertial motion of a single free body to b. Constraints
    /// may balance torques, so that these do not enter the inertial motion.
    pub(super) fn add_single_body(
        &mut self,
        model: &Model,
        index: usize,
        h: f64,
        state: &State,
        data: &Data,
    ) {
        let tree = &model.trees()[index];
        let link = &model.links()[tree.links.start];
        let (M, v) = (&data.mass[tree.mass.clone()], &state.v[tree.dofs.clone()]);
        let w = Vector3::new(v[3], v[4], v[5]);
        let armature = Vector3::from_column_slice(&model.armature()[tree.dofs.clone()][3..6]);
        let mass = link.inertia + Matrix3::from_diagonal(&armature);
        // Bonds turn the segments of a rod against gyroscopic torques: a turn that the step does not
        // resolve is not that of a free body.
        let is_bonded = model.rod_of_tree(index).is_some() && h * w.norm() > MAX_TURN;
        let spin = if is_bonded {
            Spin { w, ..Spin::NONE }
        } else {
            Spin::new(&link.inertia, &mass, w, h)
        };
        self.unresolved |= !spin.solved;
        let b = &mut self.momentum[tree.dofs.clone()];
        let weight = link.mass * model.gravity();
        for k in 0..3 {
            b[k] += h * weight[k];
        }
        if tree.constant_mass {
            let impulse = mass * (spin.w - w);
            for k in 0..3 {
                b[3 + k] += impulse[k];
            }
        } else {
            let R = data.body_pose[link.body].rotation;
            let moment = link.com.cross(&R.inverse_transform_vector(&weight));
            let change_W = R * (w.cross(&link.com) - spin.turn * spin.w.cross(&link.com));
            let change_B = spin.w - w;
            let change = [change_W.x, change_W.y, change_W.z, change_B.x, change_B.y, change_B.z];
            for (k, row) in M.chunks_exact(6).enumerate() {
                b[k] += row.iter().zip(&change).map(|(m, v)| m * v).sum::<f64>();
            }
            for k in 0..3 {
                b[3 + k] += h * moment[k];
            }
        }
        self.spins[index] = spin;
    }

    /// Writes the coordinates of a single body after a step in flight with the next velocity `v`: the
    /// inertial motion, and the change of velocity by forces with `weight` times the step, ½ for the
    /// mean of the old and the next velocity and 1 for the next one.
    pub fn write_flight(
        &self,
        model: &Model,
        index: usize,
        (h, weight): (f64, f64),
        (state, data): (&State, &Data),
        v: &[f64],
        q: &mut [f64],
    ) {
        let tree = &model.trees()[index];
        let link = &model.links()[tree.links.start];
        let (old, next) = (&state.v[tree.dofs.clone()], &v[tree.dofs.clone()]);
        let angular = |v: &[f64]| Vector3::new(v[3], v[4], v[5]);
        let linear = |v: &[f64]| Vector3::new(v[0], v[1], v[2]);
        let spin = &self.spins[index];
        let X_WB: &Isometry3<f64> = &data.body_pose[link.body];
        let by_forces = UnitQuaternion::from_scaled_axis((angular(next) - spin.w) * (weight * h));
        let R = X_WB.rotation * spin.turn * by_forces;
        let v_old = linear(old) + X_WB.rotation * angular(old).cross(&link.com);
        let v_next = linear(next) + R * angular(next).cross(&link.com);
        let travel = h * ((1.0 - weight) * v_old + weight * v_next);
        let centre = X_WB.rotation * link.com + travel;
        let p = X_WB.translation.vector + centre - R * link.com;
        let q = &mut q[tree.q.clone()];
        q[..3].copy_from_slice(p.as_slice());
        q[3..7].copy_from_slice(&[R.w, R.i, R.j, R.k]);
    }
}
