//! The state: time, coordinates, velocities, activations of actuators, and positions and velocities of
//! soft-body vertices.

use crate::error::StateError;
use crate::model::Model;
use nalgebra::Vector3;

/// A state, in the coordinates of MuJoCo.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Time [s].
    pub time: f64,
    /// Coordinates [m, rad, -].
    pub q: Vec<f64>,
    /// Velocities [m/s, rad/s].
    pub v: Vec<f64>,
    /// Activations of the actuators that have one, in their order [-, or the unit of the control].
    pub activation: Vec<f64>,
    /// Positions of the vertices of all soft bodies [m], world frame, one body after the other.
    pub x: Vec<Vector3<f64>>,
    /// Velocities of the vertices [m/s], world frame.
    pub x_dot: Vec<Vector3<f64>>,
}

impl State {
    /// Takes over another state of the same model, without taking memory.
    pub fn copy_from(&mut self, other: &Self) {
        self.time = other.time;
        self.q.copy_from_slice(&other.q);
        self.v.copy_from_slice(&other.v);
        self.activation.copy_from_slice(&other.activation);
        self.x.copy_from_slice(&other.x);
        self.x_dot.copy_from_slice(&other.x_dot);
    }

    /// The reference configuration at rest.
    pub fn new(model: &Model) -> Self {
        let vertices = model.softs().iter().flat_map(|soft| soft.spec.vertices.iter().copied());
        Self {
            time: 0.0,
            q: model.q0().to_vec(),
            v: vec![0.0; model.nv()],
            activation: vec![0.0; model.na()],
            x: vertices.collect(),
            x_dot: vec![Vector3::zeros(); model.nodes()],
        }
    }

    /// Checks that the state fits the model: array lengths, finite numbers, quaternions of unit
    /// length.
    pub fn check(&self, model: &Model) -> Result<(), StateError> {
        for (what, array, expected) in [
            ("q", &self.q, model.nq()),
            ("v", &self.v, model.nv()),
            ("activation", &self.activation, model.na()),
        ] {
            if array.len() != expected {
                return Err(StateError::Length { what, found: array.len(), expected });
            }
        }
        for (what, array) in [("x", &self.x), ("x_dot", &self.x_dot)] {
            if array.len() != model.nodes() {
                let (found, expected) = (array.len(), model.nodes());
                return Err(StateError::Length { what, found, expected });
            }
        }
        let not_finite = |what, index, joint: &str, found| {
            Err(StateError::NotFinite { what, index, joint: joint.into(), found })
        };
        if !self.time.is_finite() {
            return not_finite("time", 0, "", self.time);
        }
        if let Some(index) = self.activation.iter().position(|x| !x.is_finite()) {
            let found = self.activation[index];
            return Err(StateError::ActivationNotFinite { index, found });
        }
        for joint in model.joints() {
            let name = &joint.spec.name;
            for (what, array, range) in [("q", &self.q, &joint.q), ("v", &self.v, &joint.dofs)] {
                for index in range.clone() {
                    if !array[index].is_finite() {
                        return not_finite(what, index, name, array[index]);
                    }
                }
            }
            if let Some(index) = joint.quaternion() {
                let found = self.q[index..index + 4].iter().map(|x| x * x).sum::<f64>().sqrt();
                if !((found - 1.0).abs() <= QUATERNION_TOLERANCE) {
                    return Err(StateError::Quaternion { index, joint: name.clone(), found });
                }
            }
        }
        self.check_vertices(model)
    }

    /// Gives all quaternions unit length; a zero one becomes the identity, as in MuJoCo. Quaternions whose
    /// length differs from one by round-off, and numbers that are not finite, stay as they are.
    pub fn normalise_quaternions(&mut self, model: &Model) {
        if self.q.len() != model.nq() {
            return; // The check refuses the state.
        }
        for start in model.joints().iter().filter_map(|joint| joint.quaternion()) {
            normalise_quaternion(&mut self.q[start..start + 4]);
        }
    }

    fn check_vertices(&self, model: &Model) -> Result<(), StateError> {
        for soft in model.softs() {
            for (what, array) in [("x", &self.x), ("x_dot", &self.x_dot)] {
                let part = &array[soft.nodes.clone()];
                let not_finite = part.iter().position(|x| !x.iter().all(|x| x.is_finite()));
                if let Some(vertex) = not_finite {
                    let (index, found) = (soft.nodes.start + vertex, part[vertex].into());
                    let soft = soft.spec.name.clone();
                    return Err(StateError::VertexNotFinite { what, index, soft, vertex, found });
                }
            }
        }
        Ok(())
    }
}

/// Norm below which a quaternion counts as zero [-], as in MuJoCo.
const ZERO_QUATERNION: f64 = 1e-15;
/// Deviation of a quaternion's squared length from one that is left alone [-]: the round-off of a step.
const ROUND_OFF: f64 = 1e-14;

/// Scales four numbers to unit length; zeros become the identity (1, 0, 0, 0).
fn normalise_quaternion(quaternion: &mut [f64]) {
    let square: f64 = quaternion.iter().map(|x| x * x).sum();
    if (square - 1.0).abs() <= ROUND_OFF {
        return;
    }
    let largest = quaternion.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    if quaternion.iter().any(|x| !x.is_finite()) {
        return;
    }
    if largest < ZERO_QUATERNION {
        quaternion.copy_from_slice(&[1.0, 0.0, 0.0, 0.0]);
        return;
    }
    // Scaled first, so that squares neither overflow nor vanish.
    quaternion.iter_mut().for_each(|x| *x /= largest);
    let norm = quaternion.iter().map(|x| x * x).sum::<f64>().sqrt();
    quaternion.iter_mut().for_each(|x| *x /= norm);
}

/// Largest deviation of a quaternion's length from one [-], wide enough for hand-typed digits.
const QUATERNION_TOLERANCE: f64 = 1e-2;
