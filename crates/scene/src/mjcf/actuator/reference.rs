//! What laws take from the mechanism at its reference configuration.
//!
//! Ratios of damping become damping: `kv = 2 ζ √(kp m)` with the effective mass of the servo,
//! `m = 1/(J M⁻¹ Jᵀ)`; J is the rate of its length per velocity, gear included. The peak force of a muscle
//! that gives none is its scale divided by the acceleration `‖M⁻¹ Jᵀ‖` of a unit force. Cost: one mechanism,
//! one factorization, one solve per servo or muscle.

use nalgebra::{Point3, Vector3};
use stiction_mech::{
    ActuatorSpec, Data, JointId, Model, Transmission, apply_wrench, factor_mass, kinematics,
    mass_matrix, solve_mass,
};

use super::{ActuatorDraft, exert_nothing, simplest_law};
use crate::error::SceneError;
use crate::mjcf::build::Build;
use crate::xml::Element;

/// Gives the servos and muscles that wait for it their damping and force.
pub(super) fn resolve(
    build: &mut Build,
    found: &mut [(&Element, ActuatorDraft)],
) -> Result<(), SceneError> {
    let waits = |made: &ActuatorDraft| made.damping_ratio.is_some() || made.muscle.is_some();
    if !found.iter().any(|(_, made)| waits(made)) {
        return Ok(());
    }
    let model = build.mechanism()?;
    let mut data = Data::new(&model);
    kinematics(&model, model.q0(), &mut data);
    mass_matrix(&model, &mut data);
    let factored = factor_mass(&model, &mut data).is_ok();
    for (element, made) in found {
        if !waits(made) {
            continue;
        }
        let [mobility, acceleration] = unit_response(&model, &data, &made.spec);
        if let Some(ratio) = made.damping_ratio {
            if !factored || !(mobility > 0.0) {
                let what = "dampratio on what has no inertia; expected a mass to move";
                return Err(element.error(what));
            }
            let (gain, [b_0, b_length, _]) = made.spec.law.affine().unwrap_or_default();
            let kv = 2.0 * ratio * (gain.max(0.0) / mobility).sqrt();
            made.spec.law = simplest_law(gain, [b_0, b_length, -kv]);
        }
        let Some(muscle) = made.muscle.take() else { continue };
        match muscle.law(&model, &made.spec, acceleration) {
            Some(law) => made.spec.law = law,
            None => {
                let what = "a muscle whose lengthrange only a simulation finds; it exerts no force";
                build.report_unsupported(&element.place, format!("<{}> {what}", element.tag));
                exert_nothing(&mut made.spec);
            }
        }
    }
    Ok(())
}

/// `J M⁻¹ Jᵀ`, the inverse of the effective mass of an actuator, and `‖M⁻¹ Jᵀ‖`.
fn unit_response(model: &Model, data: &Data, spec: &ActuatorSpec) -> [f64; 2] {
    let mut J = vec![0.0; model.nv()];
    rate_per_velocity(model, data, &spec.transmission, &mut J);
    J.iter_mut().for_each(|entry| *entry *= spec.gear);
    let mut x = J.clone();
    solve_mass(model, data, &mut x);
    let mobility = J.iter().zip(&x).map(|(a, b)| a * b).sum();
    [mobility, x.iter().map(|a| a * a).sum::<f64>().sqrt()]
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
        Transmission::Sites(mut pair) => {
            for frame in [&mut pair.site, &mut pair.reference] {
                frame.body = model.body_of_builder(frame.body).unwrap_or(frame.body);
            }
            pair.measure(model, data, |dof, rate| J[dof] = rate);
        }
        Transmission::SliderCrank(mut pair) => {
            for frame in [&mut pair.crank, &mut pair.slider] {
                frame.body = model.body_of_builder(frame.body).unwrap_or(frame.body);
            }
            pair.measure(model, data, |dof, rate| J[dof] = rate);
        }
        Transmission::Contacts(_) => {}
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
