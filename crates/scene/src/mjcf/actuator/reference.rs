//! What laws take from the mechanism at its reference configuration.
//!
//! Ratios of damping become damping: `kv = 2 ζ √(kp m)` with the effective mass of the servo,
//! `m = 1/(J M⁻¹ Jᵀ)`; J is the rate of its length per velocity, gear included. The peak force of a muscle
//! that gives none is its scale divided by the acceleration `‖M⁻¹ Jᵀ‖` of a unit force; [`length_range`](super::length_range)
//! finds the range of its lengths where the file gives none. Cost: one mechanism,
//! one factorization, one solve per servo or muscle.

use nalgebra::{Point3, Quaternion, UnitQuaternion, Vector3};
use stiction_mech::{
    ActuatorLaw, ActuatorSpec, Data, Model, Transmission, apply_wrench, factor_mass, kinematics,
    mass_matrix, solve_mass,
};

use super::length_range::LengthRangeSearch;
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
    let mut search = None;
    let waiting = |made: &ActuatorDraft| made.muscle.as_ref().is_some_and(|m| m.needs_range());
    if found.iter().any(|(_, made)| waiting(made)) {
        search = LengthRangeSearch::new(build, found.iter().map(|(_, made)| &made.spec));
    }
    for (index, (element, made)) in found.iter_mut().enumerate() {
        if !waits(made) {
            continue;
        }
        let response = unit_response(&model, &data, model.q0(), &made.spec);
        if let Some(ratio) = made.damping_ratio {
            if !factored || !(response.mobility > 0.0) {
                let what = "dampratio on what has no inertia; expected a mass to move";
                return Err(element.error(what));
            }
            let (gain, [b_0, b_length, _]) = made.spec.law.affine().unwrap_or_default();
            let kp = if made.spec.pid.is_some() { -b_length } else { gain };
            let kv = 2.0 * ratio * (kp.max(0.0) / response.mobility).sqrt();
            let bias = [b_0, b_length, -kv];
            made.spec.law = match made.spec.pid {
                Some(_) => ActuatorLaw::Affine { gain, bias },
                None => simplest_law(gain, bias),
            };
        }
        let Some(muscle) = made.muscle.take() else { continue };
        let range = muscle.length_range.or_else(|| search.as_mut()?.find(index));
        match range {
            Some(range) => made.spec.law = muscle.law(range, response.acceleration),
            None => {
                let what = "a muscle whose lengthrange does not settle; it exerts no force";
                build.report_unsupported(&element.place, format!("<{}> {what}", element.tag));
                exert_nothing(&mut made.spec);
            }
        }
    }
    Ok(())
}

/// What a unit force of an actuator does.
pub(super) struct UnitResponse {
    /// `J M⁻¹ Jᵀ`, the inverse of the effective mass.
    pub mobility: f64,
    /// `‖M⁻¹ Jᵀ‖`.
    pub acceleration: f64,
    /// `‖J‖`.
    pub moment: f64,
    /// The length before the gear, of transmissions that muscles may have.
    pub length: Option<f64>,
}

/// The response at coordinates q, to which position and factor of `data` belong.
pub(super) fn unit_response(
    model: &Model,
    data: &Data,
    q: &[f64],
    spec: &ActuatorSpec,
) -> UnitResponse {
    let mut J = vec![0.0; model.nv()];
    let length = rate_per_velocity(model, data, q, &spec.transmission, &mut J);
    J.iter_mut().for_each(|entry| *entry *= spec.gear);
    let mut x = J.clone();
    solve_mass(model, data, &mut x);
    let mobility = J.iter().zip(&x).map(|(a, b)| a * b).sum();
    let [moment, acceleration] = [&J, &x].map(|v| v.iter().map(|a| a * a).sum::<f64>().sqrt());
    UnitResponse { mobility, acceleration, moment, length }
}

/// The rate of a transmission's length per velocity, into zeros, and the length where it is needed. Ids are those of
/// the builder.
fn rate_per_velocity(
    model: &Model,
    data: &Data,
    q: &[f64],
    transmission: &Transmission,
    J: &mut [f64],
) -> Option<f64> {
    match *transmission {
        Transmission::Joint(id) => {
            let joint = &model.joints()[model.joint_of_builder(id)?.0];
            J[joint.dofs.start] = 1.0;
            return Some(q[joint.q.start]);
        }
        Transmission::JointDof(id, k) => {
            J[model.joints()[model.joint_of_builder(id)?.0].dofs.start + k] = 1.0;
        }
        Transmission::JointWrench(wrench) => {
            let joint = &model.joints()[model.joint_of_builder(wrench.joint)?.0];
            let scalars = joint.dofs.len() - 3;
            let rotation = &q[joint.q.start + scalars..][..4];
            let torque = if wrench.in_parent {
                let [w, x, y, z] = [0, 1, 2, 3].map(|k| rotation[k]);
                let rotation = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
                rotation.inverse_transform_vector(&wrench.torque)
            } else {
                wrench.torque
            };
            let parts = wrench.force.iter().take(scalars).chain(torque.iter());
            J[joint.dofs.clone()].iter_mut().zip(parts).for_each(|(entry, part)| *entry = *part);
        }
        Transmission::Tendon(id) => {
            return Some(model.tendons()[id.0].measure(model, q, data, J));
        }
        Transmission::Sites(mut pair) => {
            for frame in [&mut pair.site, &mut pair.reference] {
                frame.body = model.body_of_builder(frame.body).unwrap_or(frame.body);
            }
            return Some(pair.measure(model, data, |dof, rate| J[dof] = rate));
        }
        Transmission::SliderCrank(mut pair) => {
            for frame in [&mut pair.crank, &mut pair.slider] {
                frame.body = model.body_of_builder(frame.body).unwrap_or(frame.body);
            }
            return Some(pair.measure(model, data, |dof, rate| J[dof] = rate));
        }
        Transmission::Contacts(_) => {}
        Transmission::Body { body, point, wrench } => {
            let body = model.body_of_builder(body)?;
            let X_WB = &data.body_pose[body.0];
            let in_world = |v: Vector3<f64>| X_WB.rotation * v;
            let [angular, linear] = [0, 3].map(|k| in_world(wrench.fixed_rows::<3>(k).into()));
            let p_W = (X_WB * Point3::from(point)).coords;
            apply_wrench(model, data, body, p_W, angular, linear, J);
        }
    }
    None
}
