//! `springdamper`: stiffness and damping of a joint from a time constant and a damping ratio.
//!
//! They are those of a mass on a spring with the effective inertia of the joint at the reference
//! configuration, `I = n / Σ (M⁻¹)_dd` over its n velocities: `k = I/(T² ζ²)`, `b = 2 I/T`, as in
//! MuJoCo.

use stiction_mech::{
    BodyId, Data, JointId, JointSpec, Model, factor_mass, kinematics, mass_matrix, solve_mass,
};

use super::build::Build;
use crate::error::SceneError;

/// A joint whose stiffness and damping are to be computed.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpringToCompute {
    pub joint: JointId,
    /// Time constant [s].
    pub time: f64,
    /// Damping ratio [-].
    pub ratio: f64,
}

/// Computes the requested stiffness and damping. Bodies are declared already, joints are not.
pub(super) fn resolve(
    build: &mut Build,
    springs: &[SpringToCompute],
    joints: &mut [(BodyId, JointSpec)],
) -> Result<(), SceneError> {
    if springs.is_empty() {
        return Ok(());
    }
    let mut mechanism = build.world.mechanism.clone();
    for (body, spec) in joints.iter() {
        mechanism.joint(*body, spec.clone());
    }
    let model = mechanism.build().map_err(stiction_sim::WorldError::from)?;
    let felt = inverse_inertias(&model);
    for SpringToCompute { joint, time, ratio } in springs {
        let Some(place) = model.joint_of_builder(*joint) else { continue };
        let dofs = model.joints()[place.0].dofs.clone();
        let count = dofs.len() as f64;
        let sum: f64 = felt[dofs].iter().sum();
        let inertia = count / sum.max(f64::MIN_POSITIVE);
        let spec = &mut joints[joint.0].1;
        spec.stiffness = inertia / (time * time * ratio * ratio);
        spec.damping = 2.0 * inertia / time;
    }
    Ok(())
}

/// The diagonal of the inverse of the mass matrix at the reference configuration.
fn inverse_inertias(model: &Model) -> Vec<f64> {
    let mut data = Data::new(model);
    kinematics(model, model.q0(), &mut data);
    mass_matrix(model, &mut data);
    let mut diagonal = vec![0.0; model.nv()];
    if factor_mass(model, &mut data).is_ok() {
        let mut column = vec![0.0; model.nv()];
        for dof in 0..model.nv() {
            column.fill(0.0);
            column[dof] = 1.0;
            solve_mass(model, &data, &mut column);
            diagonal[dof] = column[dof];
        }
    }
    diagonal
}
