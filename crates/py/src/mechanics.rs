//! Kinematics and dynamics at the present state, as arrays in MuJoCo's coordinates.

use nalgebra::{Isometry3, Vector3};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use stiction_mech::{
    ActivationStart, BodyId, Forces, MechanismState, angular_velocity, bias_forces, factor_mass,
    inverse_dynamics, jacobian, jacobian_rate, kinematics, kinetic_energy, mass_matrix,
    point_velocity, potential_energy, set_driven_poses, soft_kinetic_energy, soft_potential_energy,
    solve_mass, velocities,
};

use crate::core::SimulationCore;
use crate::{error, memory};

impl SimulationCore {
    /// Updates position-dependent quantities.
    pub fn update_positions(&mut self) {
        let model = self.engine.world().model();
        set_driven_poses(model, self.engine.driven_pose(), &mut self.data);
        kinematics(model, &self.engine.state().q, &mut self.data);
    }

    /// Updates position- and velocity-dependent quantities.
    pub fn update_velocities(&mut self) {
        self.update_positions();
        velocities(self.engine.world().model(), &self.engine.state().v, &mut self.data);
    }

    /// M, dense.
    pub fn mass_matrix<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.update_positions();
        let model = self.engine.world().model();
        mass_matrix(model, &mut self.data);
        let nv = model.nv();
        memory::check("the dense mass matrix", &[nv, nv], 1)?;
        let mut dense = vec![0.0; nv * nv];
        for tree in model.trees() {
            let n = tree.dofs.len();
            for (row, numbers) in
                self.data.mass[tree.mass.clone()].chunks_exact(n.max(1)).enumerate()
            {
                let start = (tree.dofs.start + row) * nv + tree.dofs.start;
                dense[start..start + n].copy_from_slice(numbers);
            }
        }
        // The engine fills one triangle of some trees.
        for row in 0..nv {
            for column in 0..row {
                dense[column * nv + row] = dense[row * nv + column];
            }
        }
        PyArray1::from_vec(py, dense).reshape([nv, nv])
    }

    /// Coriolis, centrifugal and gravity forces.
    pub fn bias<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.update_velocities();
        bias_forces(self.engine.world().model(), &self.engine.state().v, &mut self.data);
        PyArray1::from_slice(py, &self.data.bias)
    }

    /// M a + bias.
    pub fn inverse_dynamics<'py>(
        &mut self,
        py: Python<'py>,
        acceleration: &[f64],
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.update_positions();
        let model = self.engine.world().model();
        if acceleration.len() != model.nv() {
            let (found, nv) = (acceleration.len(), model.nv());
            return Err(error::state(format!("qacc has {found} entries; expected nv = {nv}")));
        }
        let mut force = vec![0.0; model.nv()];
        let v = &self.engine.state().v;
        inverse_dynamics(model, &mut self.data, v, acceleration, &mut force);
        Ok(PyArray1::from_vec(py, force))
    }

    /// M⁻¹ (forces − bias).
    pub fn forward_dynamics<'py>(
        &mut self,
        py: Python<'py>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.update_velocities();
        self.evaluate_forces()?;
        let model = self.engine.world().model();
        bias_forces(model, &self.engine.state().v, &mut self.data);
        let mut out: Vec<f64> = self.data.bias.iter().map(|bias| -bias).collect();
        self.forces.add_total(&mut out);
        mass_matrix(model, &mut self.data);
        factor_mass(model, &mut self.data).map_err(error::step_failed)?;
        solve_mass(model, &self.data, &mut out);
        Ok(PyArray1::from_vec(py, out))
    }

    /// The start of a step from the present state, with the lengths of the last evaluation of forces.
    fn activation_start(&self) -> ActivationStart<'_> {
        let (state, input) = (self.engine.state(), &self.acting_input);
        let motion = (&self.forces.actuator_length[..], &self.forces.actuator_rate[..]);
        let times = (state.time, self.engine.settings().time_step);
        ActivationStart::direct((&input.control, &state.activation), motion, times)
    }

    /// Evaluates the forces at the present state. Needs poses and velocities.
    fn evaluate_forces(&mut self) -> PyResult<()> {
        self.acting_input.clone_from(self.engine.acting_input());
        let (model, state) = (self.engine.world().model(), self.engine.state());
        let time_step = self.engine.settings().time_step;
        // As in MuJoCo, actuators that read their activation early read that at the end of the step.
        let mut activation = state.activation.clone();
        let input = &self.acting_input;
        if model.integrates_errors() {
            self.forces
                .evaluate(model, state, &self.data, input, time_step)
                .map_err(error::state)?;
        }
        model.for_each_activation(&self.activation_start(), |spec, control, index| {
            if spec.early {
                activation[index] = spec.advance_directly(control, activation[index], time_step);
            }
        });
        let (q, v, activation) = (&state.q[..], &state.v[..], &activation[..]);
        self.forces
            .evaluate(model, MechanismState { q, v, activation }, &self.data, input, time_step)
            .map_err(error::state)
    }

    /// Length, rate, force and rate of activation of the actuators.
    pub fn actuation<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        self.update_velocities();
        self.evaluate_forces()?;
        let (model, state) = (self.engine.world().model(), self.engine.state());
        let mut rate = vec![0.0; model.na()];
        let time_step = self.engine.settings().time_step;
        model.for_each_activation(&self.activation_start(), |spec, control, index| {
            rate[index] = spec.rate(control, state.activation[index], time_step);
        });
        let Forces { actuator_length, actuator_rate, actuator_force, .. } = &self.forces;
        let arrays = [actuator_length, actuator_rate, actuator_force, &rate];
        let [length, velocity, force, act_dot] = arrays.map(|x| PyArray1::from_slice(py, x));
        let class = CLASS.import(py, "stiction.types", "Actuation")?;
        class.call1((length, velocity, force, act_dot))
    }

    /// Kinetic and potential energy.
    pub fn energies<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        self.update_velocities();
        let (model, state) = (self.engine.world().model(), self.engine.state());
        let kinetic =
            kinetic_energy(model, &self.data, &state.v) + soft_kinetic_energy(model, &state.x_dot);
        let potential =
            potential_energy(model, &self.data, &state.q) + soft_potential_energy(model, &state.x);
        CLASS.import(py, "stiction.types", "Energy")?.call1((kinetic, potential))
    }

    /// Angular rows, then linear rows, of a point of a body.
    pub fn jacobian<'py>(
        &mut self,
        py: Python<'py>,
        body: usize,
        point: Option<Vector3<f64>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.update_positions();
        let model = self.engine.world().model();
        let point = point.unwrap_or(self.data.body_pose[body].translation.vector);
        let mut out = vec![0.0; 6 * model.nv()];
        jacobian(model, &self.data, BodyId(body), point, &mut out);
        PyArray1::from_vec(py, out).reshape([6, model.nv()])
    }

    /// Rate of change of the Jacobian.
    pub fn jacobian_dot<'py>(
        &mut self,
        py: Python<'py>,
        body: usize,
        point: Option<Vector3<f64>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.update_positions();
        let model = self.engine.world().model();
        let point = point.unwrap_or(self.data.body_pose[body].translation.vector);
        let (state, mut out) = (self.engine.state(), vec![0.0; 6 * model.nv()]);
        let motion = (&state.q[..], &state.v[..]);
        jacobian_rate(model, motion, BodyId(body), point, &mut self.data, &mut out);
        PyArray1::from_vec(py, out).reshape([6, model.nv()])
    }

    /// The origin of a frame of a body in the world.
    pub fn place_of(&mut self, body: usize, frame: &Isometry3<f64>) -> Vector3<f64> {
        self.update_positions();
        (self.data.body_pose[body] * frame).translation.vector
    }

    /// Generalized forces of the actuators.
    pub fn actuator_forces(&mut self) -> PyResult<Vec<f64>> {
        self.update_velocities();
        self.evaluate_forces()?;
        Ok(self.forces.actuation.clone())
    }

    /// Readings of all sensors.
    pub fn sensor_data(&mut self) -> &[f64] {
        match &self.forward {
            Some(forward) => &forward.sensor_data,
            None => self.engine.sensor_data(),
        }
    }

    /// Angular velocity and velocity of a point of a body.
    pub fn velocity<'py>(
        &mut self,
        py: Python<'py>,
        body: usize,
        point: Option<Vector3<f64>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        self.update_velocities();
        let point = point.unwrap_or(self.data.body_pose[body].translation.vector);
        let angular = angular_velocity(&self.data, BodyId(body));
        let model = self.engine.world().model();
        let linear = point_velocity(model, &self.data, BodyId(body), point);
        let arrays = [angular, linear].map(|x| PyArray1::from_slice(py, x.as_slice()));
        CLASS.import(py, "stiction.types", "Velocity")?.call1((&arrays[0], &arrays[1]))
    }
}

/// A named tuple of position and quaternion.
pub fn pose<'py>(py: Python<'py>, pose: &Isometry3<f64>) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let position = PyArray1::from_slice(py, pose.translation.vector.as_slice());
    let r = &pose.rotation;
    let quaternion = PyArray1::from_slice(py, &[r.w, r.i, r.j, r.k]);
    CLASS.import(py, "stiction.types", "Pose")?.call1((position, quaternion))
}
