//! External inputs of a mechanism during one step.

use super::error::ForceError;
use crate::model::Model;
use crate::state::State;
use nalgebra::{Isometry3, Vector6};

/// Controls of the actuators, wrenches on the bodies, generalized forces and poses of the driven bodies.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Controls of the actuators, in the unit of their laws; [`Actuator::controls`](crate::Actuator::controls) are
    /// the indices of one.
    pub control: Vec<f64>,
    /// Torque [N·m] and force [N] on each body, angular first, world axes, the force at the body's
    /// centre of mass (at its origin if it has no mass). The entry of the world has no effect.
    pub wrench: Vec<Vector6<f64>>,
    /// Generalized forces [N, N·m], one per velocity, besides all others.
    pub force: Vec<f64>,
    /// Pose in the world of each driven body at the end of the step, in the order of
    /// [`Model::driven`].
    pub driven_pose: Vec<Isometry3<f64>>,
}

/// Coordinates, velocities and activations at which forces are evaluated.
#[derive(Clone, Copy, Debug)]
pub struct MechanismState<'a> {
    /// Coordinates.
    pub q: &'a [f64],
    /// Velocities.
    pub v: &'a [f64],
    /// Signals of the force laws of actuators with activation; none if all are zero. In MuJoCo's schemes they
    /// are the activations at the start of the step, or at its end for actuators that read them early.
    pub activation: &'a [f64],
}

impl<'a, Q: AsRef<[f64]> + ?Sized, V: AsRef<[f64]> + ?Sized> From<(&'a Q, &'a V)>
    for MechanismState<'a>
{
    /// Without activation.
    fn from((q, v): (&'a Q, &'a V)) -> Self {
        Self { q: q.as_ref(), v: v.as_ref(), activation: &[] }
    }
}

impl<'a> From<&'a State> for MechanismState<'a> {
    fn from(state: &'a State) -> Self {
        Self { q: &state.q, v: &state.v, activation: &state.activation }
    }
}

impl Input {
    /// No control and no wrench.
    pub fn new(model: &Model) -> Self {
        Self {
            control: vec![0.0; model.nu()],
            wrench: vec![Vector6::zeros(); model.bodies().len()],
            force: vec![0.0; model.nv()],
            driven_pose: model.driven().iter().map(|id| model.bodies()[id.0].spec.pose).collect(),
        }
    }

    /// Checks that the input fits the model: array lengths and finite numbers.
    pub fn check(&self, model: &Model) -> Result<(), ForceError> {
        self.check_all_but_wrenches(model)?;
        self.wrench.iter().enumerate().try_for_each(|(index, wrench)| check_wrench(index, wrench))
    }

    /// Checks array lengths, controls and driven poses, at a cost independent of the number of
    /// bodies.
    pub(super) fn check_all_but_wrenches(&self, model: &Model) -> Result<(), ForceError> {
        for (what, found, expected) in [
            ("control", self.control.len(), model.nu()),
            ("wrench", self.wrench.len(), model.bodies().len()),
            ("generalized force", self.force.len(), model.nv()),
            ("driven pose", self.driven_pose.len(), model.driven().len()),
        ] {
            if found != expected {
                return Err(ForceError::Length { what, found, expected });
            }
        }
        for (index, &found) in self.control.iter().enumerate() {
            if !found.is_finite() {
                return Err(ForceError::NotFinite { what: "control", index, found });
            }
        }
        for (index, &found) in self.force.iter().enumerate() {
            if !found.is_finite() {
                return Err(ForceError::NotFinite { what: "generalized force", index, found });
            }
        }
        for (index, pose) in self.driven_pose.iter().enumerate() {
            let mut numbers = pose.translation.vector.iter().chain(pose.rotation.coords.iter());
            if let Some(&found) = numbers.find(|x| !x.is_finite()) {
                return Err(ForceError::NotFinite { what: "driven pose", index, found });
            }
        }
        Ok(())
    }
}

/// Checks that a wrench is finite.
pub(super) fn check_wrench(index: usize, wrench: &Vector6<f64>) -> Result<(), ForceError> {
    match wrench.iter().find(|x| !x.is_finite()) {
        None => Ok(()),
        Some(&found) => Err(ForceError::NotFinite { what: "wrench", index, found }),
    }
}
