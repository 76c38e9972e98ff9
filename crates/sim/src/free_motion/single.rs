//! Single free bodies: their inertial motion, in which the centre of mass moves straight on and the
//! body turns freely, and their next pose in flight.

use nalgebra::{Matrix3, UnitQuaternion, Vector3};
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
        let v = &state.v[tree.dofs.clone()];
        let w = Vector3::new(v[3], v[4], v[5]);
        let armature = Vector3::from_column_slice(&model.armature()[tree.dofs.clone()][3..6]);
        let mass = link.inertia + Matrix3::from_diagonal(&armature);
        // Bonds turn the segments of a rod against gyroscopic torques: a turn that the step does not
        // resolve is not that of a free body.
        let is_bonded = model.rod_of_tree(index).is_some() && h * w.norm() > MAX_TURN;
        let spin =
            if is_bonded { Spin::unchanged(w) } else { Spin::new(&link.inertia, &mass, w, h) };
        self.unresolved |= !spin.solved;
        let b = &mut self.momentum[tree.dofs.clone()];
        let weight = link.mass * model.gravity();
        for k in 0..3 {
            b[k] += h * weight[k];
        }
        let mut impulse_B = mass * (spin.w - w);
        if !tree.constant_mass {
            let R = data.body_pose[link.body].rotation;
            let centripetal_B = -link.mass * centripetal_change(&spin, w, link.com, h);
            let centripetal_W = R * centripetal_B;
            let weight_B = R.inverse_transform_vector(&weight);
            impulse_B += link.com.cross(&(centripetal_B + h * weight_B));
            for k in 0..3 {
                b[k] += centripetal_W[k];
            }
        }
        for k in 0..3 {
            b[3 + k] += impulse_B[k];
        }
        self.spins[index] = spin;
    }

    /// Writes the state of a single body after a step in flight, in whose place the next state has the
    /// velocity of A and b: the inertial motion, and the change of velocity by forces with `weight` times
    /// the step, ½ for the mean of the old and the next velocity and 1 for the next one.
    pub fn write_flight(
        &self,
        model: &Model,
        index: usize,
        (h, weight): (f64, f64),
        (state, data): (&State, &Data),
        next: &mut State,
    ) {
        let tree = &model.trees()[index];
        let link = &model.links()[tree.links.start];
        let v = &mut next.v[tree.dofs.clone()];
        let flight = self.flight(model, index, (h, weight), (state, data), v);
        let X_WB = &data.body_pose[link.body];
        if !tree.constant_mass {
            let w = Vector3::new(v[3], v[4], v[5]);
            let origin = flight.v_com - flight.R_WB * w.cross(&link.com);
            v[..3].copy_from_slice(origin.as_slice());
        }
        let centre = X_WB.rotation * link.com + flight.travel;
        let p = X_WB.translation.vector + centre - flight.R_WB * link.com;
        let (q, R) = (&mut next.q[tree.q.clone()], flight.R_WB);
        q[..3].copy_from_slice(p.as_slice());
        q[3..7].copy_from_slice(&[R.w, R.i, R.j, R.k]);
    }

    /// The motion of a single body in flight; `v` is its velocity of A and b.
    pub fn flight(
        &self,
        model: &Model,
        index: usize,
        (h, weight): (f64, f64),
        (state, data): (&State, &Data),
        v: &[f64],
    ) -> SingleFlight {
        let tree = &model.trees()[index];
        let link = &model.links()[tree.links.start];
        let old = &state.v[tree.dofs.clone()];
        let linear = |v: &[f64]| Vector3::new(v[0], v[1], v[2]);
        let (w_old, w) = (Vector3::new(old[3], old[4], old[5]), Vector3::new(v[3], v[4], v[5]));
        let spin = &self.spins[index];
        let X_WB = &data.body_pose[link.body];
        let by_forces = UnitQuaternion::from_scaled_axis((w - spin.w) * (weight * h));
        let R_WB = X_WB.rotation * spin.turn() * by_forces;
        let v_old = linear(old) + X_WB.rotation * w_old.cross(&link.com);
        let mut v_com = linear(v);
        if !tree.constant_mass {
            // A and b have the centre of mass where it is at the start of the step.
            let back = centripetal_change(spin, w_old, link.com, h);
            v_com += X_WB.rotation * (w.cross(&link.com) + back);
        }
        let travel = h * ((1.0 - weight) * v_old + weight * v_com);
        SingleFlight { travel, v_com, R_WB }
    }
}

/// End of the flight of a single body over a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SingleFlight {
    /// Displacement of the centre of mass [m].
    pub travel: Vector3<f64>,
    /// Velocity of the centre of mass at the end [m/s].
    pub v_com: Vector3<f64>,
    /// Orientation at the end.
    pub R_WB: UnitQuaternion<f64>,
}

/// Change of the velocity of a centre of mass `com` that turns about the origin of its body, in the
/// frame at the start of the step [m/s]: `h ω_m × (ω_m × c)`, with the velocity scaled down to the
/// largest turn that the step resolves. Constraints at the origin supply it along the line to the
/// centre of mass; one that allowed for the turn within the step would have a moment about it there.
fn centripetal_change(spin: &Spin, w: Vector3<f64>, com: Vector3<f64>, h: f64) -> Vector3<f64> {
    let mean = 0.5 * (w + spin.w);
    let turn = h * mean.norm();
    let mean = if turn > MAX_TURN { mean * (MAX_TURN / turn) } else { mean };
    h * mean.cross(&mean.cross(&com))
}
