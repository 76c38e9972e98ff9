//! Handles to parts of a simulation by name: `sim.joint("elbow").qpos`.

use std::ops::Range;

use numpy::PyArray1;
use pyo3::prelude::*;

use stiction_geom::Shape;
use stiction_mech::ActuatorLaw;
use stiction_sim::ParameterEntry;

use crate::mechanics::pose;
use crate::parameters::read_only;
use crate::simulation::{Simulation, assign};
use crate::{arrays, error};

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
    fn range(&self, py: Python<'_>) -> PyResult<Option<(f64, f64)>> {
        let core = self.simulation.get().synchronised(py)?;
        let limit = core.engine.world().model().joints()[self.index].spec.limit;
        Ok(limit.map(|limit| (limit.lower, limit.upper)))
    }

    #[setter(range)]
    fn set_range(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let entry = ParameterEntry::find("joint_range").map_err(error::state)?;
        self.simulation.get().set_parameter_of(py, entry, self.index, value)
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

impl ActuatorHandle {
    /// Gain and bias of a linear law.
    fn law(&self, py: Python<'_>) -> PyResult<(f64, [f64; 3])> {
        let core = self.simulation.get().synchronised(py)?;
        let law: ActuatorLaw = core.engine.world().model().actuators()[self.index].spec.law;
        law.affine().ok_or_else(|| {
            let name = self.name();
            error::model(format!("actuator \"{name}\": its law is not linear; expected a servo"))
        })
    }

    fn set_law(&self, py: Python<'_>, gain: f64, bias: [f64; 3]) -> PyResult<()> {
        let simulation = self.simulation.get();
        for (name, value) in [("actuator_gain", &[gain][..]), ("actuator_bias", &bias[..])] {
            let entry = ParameterEntry::find(name).map_err(error::state)?;
            let mut core = simulation.synchronised(py)?;
            core.engine.set_parameter(entry, self.index, value).map_err(error::state)?;
            simulation.parameter_arrays().push(py, &core.engine)?;
        }
        Ok(())
    }

    fn no_servo(&self, gain: f64, bias: [f64; 3]) -> PyErr {
        let name = self.name();
        error::model(format!(
            "actuator \"{name}\": gain = {gain} and bias = {bias:?}; expected a position servo, whose gain is −bias[1]"
        ))
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

    /// Stiffness of a position servo, force = kp (ctrl − length) − kd rate [N/m, N·m/rad]: its gain and −bias[1] at
    /// once. An error for actuators whose gain is another.
    #[getter]
    fn kp(&self, py: Python<'_>) -> PyResult<f64> {
        let (gain, bias) = self.law(py)?;
        if gain == -bias[1] { Ok(gain) } else { Err(self.no_servo(gain, bias)) }
    }

    #[setter(kp)]
    fn set_kp(&self, py: Python<'_>, value: f64) -> PyResult<()> {
        self.kp(py)?;
        let (_, bias) = self.law(py)?;
        self.set_law(py, value, [bias[0], -value, bias[2]])
    }

    /// Damping −bias[2] of the actuator [N·s/m, N·m·s/rad].
    #[getter]
    fn kd(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(-self.law(py)?.1[2])
    }

    #[setter(kd)]
    fn set_kd(&self, py: Python<'_>, value: f64) -> PyResult<()> {
        let (gain, bias) = self.law(py)?;
        // The gain of a velocity servo is its damping.
        let is_velocity_servo = bias[1] == 0.0 && bias[2] != 0.0 && gain == -bias[2];
        let gain = if is_velocity_servo { value } else { gain };
        self.set_law(py, gain, [bias[0], bias[1], -value])
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

    /// Adds a force [N] on its point at `point` [m] (default its centre of mass) and a torque [N·m], world axes, to its
    /// wrench, where they act until changed.
    #[pyo3(signature = (force, point=None, torque=None))]
    fn apply_force(
        &self,
        force: &Bound<'_, PyAny>,
        point: Option<&Bound<'_, PyAny>>,
        torque: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let torque = torque.map(|torque| arrays::vector("torque", torque)).transpose()?;
        let point = point.map(|point| arrays::vector("point", point)).transpose()?;
        let parts = [arrays::vector("force", force)?, torque.unwrap_or_default()];
        self.simulation.get().push(force.py(), self.index, parts, point)
    }

    fn __repr__(&self) -> String {
        format!("BodyHandle(\"{}\")", self.name())
    }
}

/// A shape of a simulation that can touch.
#[pyclass(frozen, module = "stiction._native")]
pub struct GeomHandle {
    pub simulation: Py<Simulation>,
    pub index: usize,
}

impl GeomHandle {
    fn geom(&self) -> &stiction_sim::Geom {
        &self.simulation.get().model_ref().content.world.geoms()[self.index]
    }
}

#[pymethods]
impl GeomHandle {
    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.geom().name
    }

    /// Its number.
    #[getter]
    fn id(&self) -> usize {
        self.index
    }

    /// Name of the body that carries it.
    #[getter]
    fn body(&self) -> &str {
        self.simulation.get().model_ref().name_of_body(self.geom().body.0)
    }

    /// Its kind: `box`, `sphere`, `capsule`, `mesh`, …
    #[getter]
    fn r#type(&self) -> &'static str {
        self.geom().shape.name()
    }

    /// Its size [m]: half edges of a box, radius of a sphere, radius and half length of a capsule or cylinder, radii of
    /// an ellipsoid; None for other shapes.
    #[getter]
    fn size<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray1<f64>>>> {
        let numbers = match &self.geom().shape {
            Shape::Box(half) => half.as_slice().to_vec(),
            Shape::Sphere { radius } => vec![*radius],
            Shape::Capsule { radius, half_length } | Shape::Cylinder { radius, half_length } => {
                vec![*radius, *half_length]
            }
            Shape::Ellipsoid { radii } => radii.as_slice().to_vec(),
            _ => return Ok(None),
        };
        read_only(PyArray1::from_vec(py, numbers)).map(Some)
    }

    /// Its pose in the world: position [m] and quaternion (w, x, y, z).
    #[getter]
    fn pose<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let geom = self.geom();
        let mut core = self.simulation.get().synchronised(py)?;
        core.update_positions();
        pose(py, &(core.data.body_pose[geom.body.0] * geom.pose))
    }

    fn __repr__(&self) -> String {
        format!("GeomHandle(\"{}\", {})", self.name(), self.r#type())
    }
}
