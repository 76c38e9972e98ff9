//! Ratios of damping become damping: `kv = 2 ζ √(kp m)` with the effective mass of the servo at the
//! reference configuration, `m = 1/(J M⁻¹ Jᵀ)`; J is the rate of its length per velocity, gear
//! included. Cost: one mechanism, one factorization, one solve per servo.

use nalgebra::{Point3, Vector3};
use stiction_mech::{
    ActuatorSpec, Data, JointId, Model, Transmission, apply_wrench, factor_mass, kinematics,
    mass_matrix, solve_mass,
};

use super::ActuatorDraft;
use crate::error::SceneError;
use crate::mjcf::build::Build;
use crate::xml::Element;

/// Gives the servos that wait for it their damping.
pub(super) fn resolve(
    build: &Build,
    found: &mut [(&Element, ActuatorDraft)],
) -> Result<(), SceneError> {
    if found.iter().all(|(_, made)| made.damping_ratio.is_none()) {
        return Ok(());
    }
    let model = build.mechanism()?;
    let mut data = Data::new(&model);
    kinematics(&model, model.q0(), &mut data);
    mass_matrix(&model, &mut data);
    let factored = factor_mass(&model, &mut data).is_ok();
    for (element, made) in found {
        let Some(ratio) = made.damping_ratio else { continue };
        let mobility = mobility(&model, &data, &made.spec);
        if !factored || !(mobility > 0.0) {
            return Err(element.error("dampratio on what has no inertia; expected a mass to move"));
        }
        let (gain, [b_0, b_length, _]) = made.spec.law.affine();
        let kv = 2.0 * ratio * (gain.max(0.0) / mobility).sqrt();
        made.spec.law = super::simplest_law(gain, [b_0, b_length, -kv]);
    }
    Ok(())
}

/// `J M⁻¹ Jᵀ`, the inverse of the effective mass of an actuator.
fn mobility(model: &Model, data: &Data, spec: &ActuatorSpec) -> f64 {
    let mut J = vec![0.0; model.nv()];
    rate_per_velocity(model, data, &spec.transmission, &mut J);
    J.iter_mut().for_each(|entry| *entry *= spec.gear);
    let mut x = J.clone();
    solve_mass(model, data, &mut x);
    J.iter().zip(&x).map(|(a, b)| a * b).sum()
}

/// The rate of a transmission's length per velocity, into zeros. Ids are those of the builder.
fn rate_per_velocity(model: &Model, data: &Data, transmission: &Transmission, J: &mut [f64]) {
    let first_dof =
        |id: JointId| model.joint_of_builder(id).map(|joint| model.joints()[joint.0].dofs.start);
    match *transmission {
        Transmission::Joint(id) => {
            if let Some(dof) = first_dof(id) {
                J[dof] = 1.0;
            }
        }
        Transmission::JointDof(id, k) => {
            if let Some(dof) = first_dof(id) {
                J[dof + k] = 1.0;
            }
        }
        Transmission::Tendon(id) => {
            model.tendons()[id.0].measure(model, model.q0(), data, J);
        }
        Transmission::Body { body, point, wrench } => {
            let Some(body) = model.body_of_builder(body) else { return };
            let X_WB = &data.body_pose[body.0];
            let in_world = |v: Vector3<f64>| X_WB.rotation * v;
            let [angular, linear] = [0, 3].map(|k| in_world(wrench.fixed_rows::<3>(k).into()));
            let p_W = (X_WB * Point3::from(point)).coords;
            apply_wrench(model, data, body, p_W, angular, linear, J);
        }
    }
}
