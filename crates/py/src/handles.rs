//! Handles to parts of a simulation by name: `sim.joint("elbow").qpos`.

use std::ops::Range;

use numpy::PyArray1;
use pyo3::prelude::*;

use crate::arrays;
use crate::simulation::{Simulation, assign};

/// A joint of a simulation.
#[pyclass(frozen, module = "stiction._native")]
pub struct JointHandle {
    pub simulation: Py<Simulation>,
    pub index: usize,
}

#[pymethods]
impl JointHandle {
    /// Its name.
    #[getter]
    fn name(&self) -> String {
        self.simulation.get().model_ref().joint_at(self.index).name
    }

    /// Its kind.
    #[getter]
    fn r#type(&self) -> &'static str {
        self.simulation.get().model_ref().joint_at(self.index).r#type
    }

    /// Its coordinates [rad, m, -]: a view, to be read and written.
    #[getter]
    fn qpos<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let simulation = self.simulation.get();
        simulation.views().some_q(py, &simulation.model_ref().mechanism().joints()[self.index].q)
    }

    #[setter(qpos)]
    fn set_qpos(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        assign(self.qpos(py)?.as_any(), value)
    }

    /// Its velocities [rad/s, m/s]: a view, to be read and written.
    #[getter]
    fn qvel<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let simulation = self.simulation.get();
        simulation.views().some_v(py, &simulation.model_ref().mechanism().joints()[self.index].dofs)
    }

    #[setter(qvel)]
    fn set_qvel(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        assign(self.qvel(py)?.as_any(), value)
    }

    /// Lower and upper end of its coordinates [rad, m]; None without limits.
    #[getter]
    fn range(&self) -> Option<(f64, f64)> {
        self.simulation.get().model_ref().joint_at(self.index).range
    }

    fn __repr__(&self) -> String {
        format!("JointHandle(\"{}\", {})", self.name(), self.r#type())
    }
}

impl ActuatorHandle {
    /// Indices of its controls.
    fn controls(&self) -> Range<usize> {
        self.simulation.get().model_ref().mechanism().actuators()[self.index].controls.clone()
    }
}

/// An actuator of a simulation.
#[pyclass(frozen, module = "stiction._native")]
pub struct ActuatorHandle {
    pub simulation: Py<Simulation>,
    pub index: usize,
}

#[pymethods]
impl ActuatorHandle {
    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.simulation.get().model_ref().mechanism().actuators()[self.index].spec.name
    }

    /// Its control, in the unit of its law; of a servo with several controls, the first.
    #[getter]
    fn ctrl(&self, py: Python<'_>) -> PyResult<f64> {
        self.simulation.get().views().ctrl.bind(py).get_item(self.controls().start)?.extract()
    }

    #[setter(ctrl)]
    fn set_ctrl(&self, py: Python<'_>, value: f64) -> PyResult<()> {
        self.simulation.get().views().ctrl.bind(py).set_item(self.controls().start, value)
    }

    /// Indices of its controls in `Simulation.ctrl`: a start and an end.
    #[getter]
    fn control_indices(&self) -> (usize, usize) {
        let Range { start, end } = self.controls();
        (start, end)
    }

    /// Lower and upper end of its control; None without limits.
    #[getter]
    fn range(&self) -> Option<(f64, f64)> {
        self.simulation.get().model_ref().mechanism().actuators()[self.index].spec.control_range
    }

    fn __repr__(&self) -> String {
        format!("ActuatorHandle(\"{}\")", self.name())
    }
}

/// A body of a simulation.
#[pyclass(frozen, module = "stiction._native")]
pub struct BodyHandle {
    pub simulation: Py<Simulation>,
    pub index: usize,
}

#[pymethods]
impl BodyHandle {
    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        self.simulation.get().model_ref().name_of_body(self.index)
    }

    /// Its number.
    #[getter]
    fn id(&self) -> usize {
        self.index
    }

    /// Its mass [kg].
    #[getter]
    fn mass(&self) -> f64 {
        let body = &self.simulation.get().model_ref().mechanism().bodies()[self.index];
        body.spec.mass.as_ref().map_or(0.0, |mass| mass.mass())
    }

    /// Whether its pose is prescribed by the program.
    #[getter]
    fn driven(&self) -> bool {
        let bodies = self.simulation.get().model_ref().mechanism().driven();
        bodies.iter().any(|id| id.0 == self.index)
    }

    /// Its pose in the world: position [m] and quaternion (w, x, y, z). Driven bodies (mocap="true"
    /// in MJCF) can be given one: they move there in the next step, and push what is in their way.
    #[getter]
    fn pose<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.simulation.get().pose_of(py, self.index)
    }

    #[setter(pose)]
    fn set_pose(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.simulation.get().drive(py, self.index, arrays::pose(value)?, false)
    }

    /// Puts a driven body at a pose at once. Unlike setting pose, it does not move there during a step,
    /// and pushes nothing on the way.
    fn place(&self, py: Python<'_>, pose: &Bound<'_, PyAny>) -> PyResult<()> {
        self.simulation.get().drive(py, self.index, arrays::pose(pose)?, true)
    }

    /// Its angular velocity [rad/s] and the velocity of its origin [m/s], world axes; zero for driven
    /// bodies.
    #[getter]
    fn velocity<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.simulation.get().velocity_of(py, self.index)
    }

    /// Torque [N·m] and force [N] on it, shape (6,), torque first, world axes, the force at the
    /// centre of mass: a view, to be read and written.
    #[getter]
    fn wrench<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.simulation.get().views().one_wrench(py, self.index)
    }

    #[setter(wrench)]
    fn set_wrench(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        assign(self.wrench(py)?.as_any(), value)
    }

    fn __repr__(&self) -> String {
        format!("BodyHandle(\"{}\")", self.name())
    }
}
