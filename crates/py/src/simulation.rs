//! The Python class `Simulation`. Its work is done in `core.rs` and `mechanics.rs`.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use nalgebra::{Isometry3, Vector3};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use stiction_mech::State as MechState;
use stiction_sim::record::Recorder;
use stiction_sim::{Simulation as Engine, StepError, state_hash};
use stiction_view::FRAMES_PER_SECOND;
use stiction_view::camera_image::ImageSize;

use crate::arrays::{numbers, vector};
use crate::contacts::Contacts;
use crate::core::SimulationCore;
use crate::handles::{ActuatorHandle, BodyHandle, GeomHandle, JointHandle};
use crate::mechanics::pose;
use crate::model::Model;
use crate::parameters::{ParameterArrays, read_only};
use crate::problem::Problem;
use crate::record::{self, Paths, Recording};
use crate::render::CameraChoice;
use crate::report::StepReport;
use crate::soft::{CableHandle, SoftHandle};
use crate::state::State;
use crate::views::Views;
use crate::{error, settings, visuals};

/// A simulation of a model.
///
/// qpos, qvel, act, ctrl and wrench are writable arrays: the next step or query uses their values, and a
/// step writes its result into them. They stay valid after the simulation is deleted. The GIL is
/// released during a step.
#[pyclass(frozen, module = "stiction._native")]
pub struct Simulation {
    model: Py<Model>,
    views: Views,
    core: Mutex<SimulationCore>,
    parameters: Mutex<ParameterArrays>,
}

impl Simulation {
    /// Locks the engine, which one thread may use at a time.
    pub fn lock(&self) -> PyResult<MutexGuard<'_, SimulationCore>> {
        match self.core.try_lock() {
            Ok(core) => Ok(core),
            // A step that panicked has not changed the state.
            Err(TryLockError::Poisoned(core)) => Ok(PoisonError::into_inner(core)),
            Err(TryLockError::WouldBlock) => Err(error::step_failed(
                "Simulation is busy: a step is in progress in another thread, or this call comes \
                 from a solver during the step; expected one call at a time",
            )),
        }
    }

    /// The engine, updated from the arrays.
    pub fn synchronised(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, SimulationCore>> {
        let mut core = self.lock()?;
        self.parameter_arrays().pull(py, &mut core.engine)?;
        core.update_parameters();
        let mut block = self.views.borrow(py)?;
        core.pull(&self.views.layout, block.as_slice_mut()?)?;
        Ok(core)
    }

    /// The arrays of parameters.
    pub fn parameter_arrays(&self) -> MutexGuard<'_, ParameterArrays> {
        self.parameters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The model.
    pub fn model_ref(&self) -> &Model {
        self.model.get()
    }

    /// The arrays.
    pub fn views(&self) -> &Views {
        &self.views
    }

    /// Pose of a body.
    pub fn pose_of<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyAny>> {
        let mut core = self.synchronised(py)?;
        core.update_positions();
        pose(py, &core.data.body_pose[index])
    }

    /// Evaluates a function of the present state.
    pub fn with_state<T>(&self, py: Python<'_>, query: impl Fn(&MechState) -> T) -> PyResult<T> {
        Ok(query(self.synchronised(py)?.engine.state()))
    }

    /// Evaluates a function of the present poses of the bodies.
    pub fn with_poses<T>(
        &self,
        py: Python<'_>,
        query: impl Fn(&[Isometry3<f64>]) -> T,
    ) -> PyResult<T> {
        let mut core = self.synchronised(py)?;
        core.update_positions();
        Ok(query(&core.data.body_pose))
    }

    /// Velocity of a body at its origin.
    pub fn velocity_of<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyAny>> {
        self.synchronised(py)?.velocity(py, index, None)
    }

    /// Sets the target pose of a driven body for the next step, or its pose at once.
    pub fn drive(
        &self,
        py: Python<'_>,
        index: usize,
        pose: Isometry3<f64>,
        at_once: bool,
    ) -> PyResult<()> {
        let model = self.model.get();
        let driven = model.mechanism().driven().iter().position(|id| id.0 == index);
        let Some(driven_index) = driven else {
            let name = model.name_of_body(index);
            return Err(error::model(format!(
                "body \"{name}\" is not driven; expected a driven body \
                 (mocap=\"true\" in MJCF, driven = true in scenes)"
            )));
        };
        let mut core = self.synchronised(py)?;
        core.forward = None;
        core.engine.input_mut().driven_pose[driven_index] = pose;
        if at_once {
            core.engine.reset_driven_pose();
        }
        Ok(())
    }

    /// The body of a site, and its place in the frame of that body.
    fn site(&self, site: &Bound<'_, PyAny>) -> PyResult<(usize, Isometry3<f64>)> {
        let model = self.model.get();
        let site = &model.content.sites[model.site_index(site)?];
        Ok((site.body.0, site.pose))
    }

    /// Adds a force on a point of a body, and a torque, to its wrench.
    pub fn push(
        &self,
        py: Python<'_>,
        body: usize,
        [force, torque]: [Vector3<f64>; 2],
        point: Option<Vector3<f64>>,
    ) -> PyResult<()> {
        let arm = {
            let mut core = self.synchronised(py)?;
            core.update_positions();
            let mass = core.engine.world().model().bodies()[body].spec.mass;
            let X_WB = &core.data.body_pose[body];
            let com = mass.map_or_else(Vector3::zeros, |mass| mass.com());
            let centre = X_WB.translation.vector + X_WB.rotation * com;
            point.map_or_else(Vector3::zeros, |point| point - centre)
        };
        let moment = torque + arm.cross(&force);
        let mut block = self.views.borrow(py)?;
        let wrench = &mut block.as_slice_mut()?[self.views.layout.wrench.clone()][6 * body..][..6];
        for (sum, x) in wrench.iter_mut().zip(moment.iter().chain(&force)) {
            *sum += x;
        }
        Ok(())
    }

    /// A recorder at the present state, with the visual shapes of the model.
    fn recorder(&self, py: Python<'_>, core: &SimulationCore, fps: f64) -> PyResult<Recorder> {
        let content = &self.model.get().content;
        let visual = py.detach(|| content.visual_shapes());
        let mut recorder = Recorder::new(&core.engine, fps).map_err(error::setting)?;
        recorder.title(content.name.as_str());
        visual.shapes.iter().for_each(|shape| recorder.visual(shape.clone()));
        Ok(recorder)
    }

    /// Copies state and inputs to the arrays.
    fn update_views(&self, py: Python<'_>, core: &SimulationCore) -> PyResult<()> {
        let mut block = self.views.borrow(py)?;
        let block = block.as_slice_mut()?;
        core.push(&self.views.layout, block);
        core.push_input(&self.views.layout, block);
        Ok(())
    }
}

#[pymethods]
impl Simulation {
    /// Starts a simulation at a keyframe, by name or number, or at the initial state of the model. solver
    /// is a name or an object with a method solve(problem, guess); time_step [s] and all other settings
    /// are those of the model unless given.
    #[new]
    #[pyo3(signature = (model, solver=None, time_step=None, keyframe=None, **settings))]
    fn new(
        py: Python<'_>,
        model: Py<Model>,
        solver: Option<&Bound<'_, PyAny>>,
        time_step: Option<f64>,
        keyframe: Option<&Bound<'_, PyAny>>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let content = model.get().content.clone();
        let mut chosen = content.settings.clone();
        let (mut name, mut python_solver) = (None, None);
        if let Some(solver) = solver {
            if solver.is_instance_of::<PyString>() {
                name = Some(solver.extract()?);
            } else {
                name = Some(crate::solver::NAME.to_owned());
                python_solver = Some(crate::solver::session(solver, None)?);
            }
        }
        settings::choose(&mut chosen, name, time_step, settings)?;
        let world = content.world.clone();
        let (session, exception) = python_solver.unzip();
        let engine = py.detach(|| match session {
            Some(session) => Engine::with_session(world, chosen, session),
            None => Engine::new(world, chosen),
        });
        let engine = engine.map_err(error::settings)?;
        let controller = content.controller().map_err(error::study)?;
        let views = Views::new(py, model.get().mechanism())?;
        let simulation = Self {
            model,
            views,
            core: Mutex::new(SimulationCore::new(engine, controller, exception)),
            parameters: Mutex::default(),
        };
        simulation.reset(py, keyframe)?;
        Ok(simulation)
    }

    /// The model.
    #[getter]
    fn model(&self, py: Python<'_>) -> Py<Model> {
        self.model.clone_ref(py)
    }

    /// Coordinates [m, rad, -], shape (nq,): a view, to be read and written.
    #[getter]
    fn qpos(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        self.views.qpos.clone_ref(py)
    }

    #[setter(qpos)]
    fn set_qpos(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        assign(self.views.qpos.bind(py), value)
    }

    /// Velocities [m/s, rad/s], shape (nv,): a view, to be read and written.
    #[getter]
    fn qvel(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        self.views.qvel.clone_ref(py)
    }

    #[setter(qvel)]
    fn set_qvel(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        assign(self.views.qvel.bind(py), value)
    }

    /// Activations of the actuators that have one, shape (na,): a view, to be read and written.
    #[getter]
    fn act(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        self.views.act.clone_ref(py)
    }

    #[setter(act)]
    fn set_act(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        assign(self.views.act.bind(py), value)
    }

    /// Controls in the units of their actuators, shape (nu,): a view, to be read and written.
    #[getter]
    fn ctrl(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        self.views.ctrl.clone_ref(py)
    }

    #[setter(ctrl)]
    fn set_ctrl(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        assign(self.views.ctrl.bind(py), value)
    }

    /// Torque [N·m] and force [N] on each body, shape (nbody, 6), torque first, world axes, the force
    /// at the centre of mass: a view, to be read and written. They act until changed.
    #[getter]
    fn wrench(&self, py: Python<'_>) -> Py<PyArray2<f64>> {
        self.views.wrench.clone_ref(py)
    }

    #[setter(wrench)]
    fn set_wrench(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        assign(self.views.wrench.bind(py), value)
    }

    /// Generalized forces [N, N·m] besides all others, shape (nv,): a view, to be read and written. They act until
    /// changed.
    #[getter]
    fn qfrc_applied(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        self.views.force.clone_ref(py)
    }

    #[setter(qfrc_applied)]
    fn set_qfrc_applied(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        assign(self.views.force.bind(py), value)
    }

    /// Computes what the coming step finds, without making it: until the next step or change, qacc, qfrc_constraint,
    /// contacts and sensor_data are those of the present state and the coming step.
    fn forward(&self, py: Python<'_>) -> PyResult<StepReport> {
        let mut core = self.synchronised(py)?;
        let core = &mut *core;
        let mut report = StepReport::default();
        report.add(&py.detach(|| core.compute_forward())?);
        Ok(report)
    }

    /// A copy of the accelerations [m/s², rad/s²], mean over the last step, shape (nv,); after forward, over the coming
    /// one; zero before the first step and after a change of the state.
    #[getter]
    fn qacc<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        read_only(PyArray1::from_vec(py, self.synchronised(py)?.accelerations()))
    }

    /// A copy of the generalized forces of contacts, limits and equalities [N, N·m], mean over the last step, shape (nv,);
    /// after forward, over the coming one; zero before the first step and after a change of the state. Dry friction is
    /// left out.
    #[getter]
    fn qfrc_constraint<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        read_only(PyArray1::from_vec(py, self.synchronised(py)?.constraint_force()))
    }

    /// A copy of the generalized forces of the actuators at the present state [N, N·m], shape (nv,).
    #[getter]
    fn qfrc_actuator<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        read_only(PyArray1::from_vec(py, self.synchronised(py)?.actuator_forces()?))
    }

    /// Where rays first meet a shape: origins and directions [m], world axes, shapes (n, 3) or (3,); of directions the length
    /// does not count. Shapes of the body `exclude` are passed through.
    #[pyo3(signature = (origins, directions, exclude=None))]
    fn raycast<'py>(
        &self,
        origins: &Bound<'py, PyAny>,
        directions: &Bound<'py, PyAny>,
        exclude: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let exclude = exclude.map(|body| self.model.get().body_index(body)).transpose()?;
        self.synchronised(origins.py())?.raycast((origins, directions), exclude)
    }

    /// The shortest segment between two shapes or bodies, by name (of a shape, else of a body), within the cutoff [m]; the
    /// distance is negative in penetration.
    #[pyo3(signature = (a, b, cutoff=10.0))]
    fn distance<'py>(
        &self,
        a: &Bound<'py, PyAny>,
        b: &Bound<'py, PyAny>,
        cutoff: f64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let model = self.model.get();
        let sides = [model.sensed(a)?, model.sensed(b)?];
        self.synchronised(a.py())?.distance(a.py(), &sides, cutoff)
    }

    /// Positions of the vertices of all soft bodies in the world [m], shape (nvertex, 3): a view, to
    /// be read and written.
    #[getter]
    fn vertices(&self, py: Python<'_>) -> Py<PyArray2<f64>> {
        self.views.x.clone_ref(py)
    }

    #[setter(vertices)]
    fn set_vertices(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        assign(self.views.x.bind(py), value)
    }

    /// Velocities of the vertices of all soft bodies [m/s], world axes, shape (nvertex, 3): a view,
    /// to be read and written.
    #[getter]
    fn vertex_velocities(&self, py: Python<'_>) -> Py<PyArray2<f64>> {
        self.views.x_dot.clone_ref(py)
    }

    #[setter(vertex_velocities)]
    fn set_vertex_velocities(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        assign(self.views.x_dot.bind(py), value)
    }

    /// Time [s].
    #[getter]
    fn time(&self) -> PyResult<f64> {
        Ok(self.lock()?.engine.state().time)
    }

    #[setter(time)]
    fn set_time(&self, time: f64) -> PyResult<()> {
        if !time.is_finite() {
            return Err(error::state(format!("time = {time}; expected a finite number")));
        }
        self.lock()?.engine.state_mut().time = time;
        Ok(())
    }

    /// Time step [s].
    #[getter]
    fn time_step(&self) -> PyResult<f64> {
        Ok(self.lock()?.engine.settings().time_step)
    }

    /// Simulates n steps. An error leaves the state before the failed step.
    #[pyo3(signature = (n=1))]
    fn step(&self, py: Python<'_>, n: usize) -> PyResult<StepReport> {
        let mut core = self.synchronised(py)?;
        let (mut left, mut report) = (n, StepReport::default());
        loop {
            let before = left;
            let outcome = {
                let (core, left, report) = (&mut *core, &mut left, &mut report);
                py.detach(move || core.run(left, report))
            };
            if left < before {
                let mut block = self.views.borrow(py)?;
                core.push(&self.views.layout, block.as_slice_mut()?);
            }
            outcome?;
            if left == 0 {
                return Ok(report);
            }
            py.check_signals()?;
        }
    }

    /// Starts recording every later step with fps frames per second of simulated time; math.inf keeps
    /// every step; the model's own rate if absent. Steps are observed in Rust at little cost.
    ///
    /// The recording ends with its method stop, at the end of a with block, or when it is no longer
    /// referenced. The given paths are written then; that they are writable is checked at once. Frame
    /// times increase: after a reset, frames are skipped until the time of the last frame has passed.
    #[pyo3(signature = (path=None, *, fps=None, title=None))]
    fn record(
        &self,
        py: Python<'_>,
        path: Option<Paths>,
        fps: Option<f64>,
        title: Option<String>,
    ) -> PyResult<Recording> {
        let paths = path.map_or_else(Vec::new, Paths::all);
        for path in &paths {
            record::check(py, path)?;
        }
        let content = &self.model.get().content;
        let wishes = content.record.as_ref();
        let fps = fps.or_else(|| wishes?.fps).unwrap_or(FRAMES_PER_SECOND);
        let shot = wishes.and_then(|wishes| wishes.picture.as_deref()).unwrap_or_default();
        let shot = shot.parse().map_err(error::view)?;
        let mut core = self.synchronised(py)?;
        let mut recorder = self.recorder(py, &core, fps)?;
        if let Some(title) = title {
            recorder.title(title);
        }
        let notes = content.visual_shapes().faults.clone();
        let (recording, observer) = Recording::new(recorder, paths, shot, notes);
        core.add_observer(&observer);
        Ok(recording)
    }

    /// What a camera sees at the present state: colour, depth and segmentation. camera is the name or the number of a camera of the
    /// model, or a stiction.types.Camera; without one the scene is seen from a corner, as it was at the first picture. samples is the
    /// number of samples along the side of a pixel.
    #[pyo3(signature = (camera=None, width=640, height=480, *, samples=2))]
    fn render<'py>(
        &self,
        py: Python<'py>,
        camera: Option<&Bound<'py, PyAny>>,
        width: usize,
        height: usize,
        samples: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let model = self.model.get();
        let camera = CameraChoice::from_python(model, camera)?;
        let size = ImageSize { width, height, samples };
        self.synchronised(py)?.render(py, model, &camera, size)
    }

    /// Visual meshes in the frames of their bodies.
    fn visuals<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let recorder = self.recorder(py, &*self.synchronised(py)?, f64::INFINITY)?;
        visuals::of_shapes(py, &recorder.recording().shapes)
    }

    /// The contact problem A, b, J and laws of the next step; None without constraints. The model's
    /// controller, if there is one, sets its inputs first.
    fn problem(&self, py: Python<'_>) -> PyResult<Option<Problem>> {
        let mut core = self.synchronised(py)?;
        let core = &mut *core;
        // The problem of the last step is overwritten.
        core.forget_step();
        let problem = py.detach(|| {
            core.control();
            Ok::<_, StepError>(core.engine.problem()?.cloned())
        });
        Ok(problem.map_err(error::step)?.map(Problem::of_step))
    }

    /// A joint by name or number.
    fn joint(slf: &Bound<'_, Self>, joint: &Bound<'_, PyAny>) -> PyResult<JointHandle> {
        let index = slf.get().model.get().joint_index(joint)?;
        Ok(JointHandle { simulation: slf.clone().unbind(), index })
    }

    /// An actuator by name or number.
    fn actuator(slf: &Bound<'_, Self>, actuator: &Bound<'_, PyAny>) -> PyResult<ActuatorHandle> {
        let index = slf.get().model.get().actuator_index(actuator)?;
        Ok(ActuatorHandle { simulation: slf.clone().unbind(), index })
    }

    /// A body by name or number.
    fn body(slf: &Bound<'_, Self>, body: &Bound<'_, PyAny>) -> PyResult<BodyHandle> {
        let index = slf.get().model.get().body_index(body)?;
        Ok(BodyHandle { simulation: slf.clone().unbind(), index })
    }

    /// A shape by name or number.
    fn geom(slf: &Bound<'_, Self>, geom: &Bound<'_, PyAny>) -> PyResult<GeomHandle> {
        let index = slf.get().model.get().geom_index(geom)?;
        Ok(GeomHandle { simulation: slf.clone().unbind(), index })
    }

    /// Sets all parameters (body_masses, geom_frictions, …) back to those of the model.
    fn reset_parameters(&self, py: Python<'_>) -> PyResult<()> {
        self.take_back_parameters(py)
    }

    /// Inverse inertias at the reference configuration, by which soft constraints are scaled, with the present masses:
    /// the keys of Model.inverse_weights.
    fn inverse_weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        crate::model::weights(py, self.synchronised(py)?.engine.world().inverse_weights())
    }

    /// A soft body by name or number.
    fn soft(slf: &Bound<'_, Self>, soft: &Bound<'_, PyAny>) -> PyResult<SoftHandle> {
        let index = slf.get().model.get().soft_index(soft)?;
        Ok(SoftHandle { simulation: slf.clone().unbind(), index })
    }

    /// The soft bodies.
    #[getter]
    fn softs(slf: &Bound<'_, Self>) -> Vec<SoftHandle> {
        let simulation = || slf.clone().unbind();
        let count = slf.get().model.get().mechanism().softs().len();
        (0..count).map(|index| SoftHandle { simulation: simulation(), index }).collect()
    }

    /// A cable by name or number.
    fn cable(slf: &Bound<'_, Self>, cable: &Bound<'_, PyAny>) -> PyResult<CableHandle> {
        let index = slf.get().model.get().cable_index(cable)?;
        Ok(CableHandle { simulation: slf.clone().unbind(), index })
    }

    /// The cables.
    #[getter]
    fn cables(slf: &Bound<'_, Self>) -> Vec<CableHandle> {
        let simulation = || slf.clone().unbind();
        let count = slf.get().model.get().content.world.cables().len();
        (0..count).map(|index| CableHandle { simulation: simulation(), index }).collect()
    }

    /// Everything that later steps depend on: state, inputs, contacts and warm starts. Passed to
    /// set_state of a simulation of the same model and settings, the motion continues bit for bit.
    fn get_state(&self, py: Python<'_>) -> PyResult<State> {
        Ok(State { snapshot: self.synchronised(py)?.engine.snapshot() })
    }

    /// Restores a state. An error leaves the simulation unchanged.
    fn set_state(&self, py: Python<'_>, state: &State) -> PyResult<()> {
        let mut core = self.lock()?;
        core.engine.restore(&state.snapshot).map_err(error::state)?;
        self.parameter_arrays().push(py, &core.engine)?;
        core.forget_step();
        self.update_views(py, &core)
    }

    /// All settings by keyword, those of the solver with the prefix solver_.
    #[getter]
    fn settings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        settings::settings(py, self.lock()?.engine.settings())
    }

    /// Notes of the solver on the last step: its choices and fallbacks.
    #[getter]
    fn notes(&self) -> PyResult<Vec<String>> {
        Ok(self.lock()?.engine.notes())
    }

    /// The contacts of the last step.
    #[getter]
    fn contacts(&self) -> PyResult<Contacts> {
        let core = self.lock()?;
        let of_forward = core.forward.as_ref().map(|forward| &forward.contacts[..]);
        let points = of_forward.unwrap_or_else(|| core.engine.contacts());
        Ok(Contacts::new(points, &self.model.get().content))
    }

    /// Mass matrix M with armature [kg, kg·m²], shape (nv, nv).
    fn mass_matrix<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.synchronised(py)?.mass_matrix(py)
    }

    /// Coriolis, centrifugal and gravity forces [N, N·m], shape (nv,): M v̇ + bias = forces.
    fn bias_forces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(self.synchronised(py)?.bias(py))
    }

    /// Forces M a + bias [N, N·m] that go with accelerations a, shape (nv,). Springs, dampers,
    /// actuators and contacts take no part.
    fn inverse_dynamics<'py>(
        &self,
        py: Python<'py>,
        qacc: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let acceleration = numbers("qacc", qacc)?;
        self.synchronised(py)?.inverse_dynamics(py, &acceleration)
    }

    /// Accelerations [m/s², rad/s²], shape (nv,), under all present forces but those of contacts,
    /// limits, dry friction and equalities.
    fn forward_dynamics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.synchronised(py)?.forward_dynamics(py)
    }

    /// Length, rate and force of the actuators at the present state, and the rates of their activations.
    fn actuation<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.synchronised(py)?.actuation(py)
    }

    /// Kinetic and potential energy [J].
    fn energy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.synchronised(py)?.energies(py)
    }

    /// Pose of a body in the world, by name or number: position [m] and quaternion (w, x, y, z).
    fn body_pose<'py>(&self, body: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.pose_of(body.py(), self.model.get().body_index(body)?)
    }

    /// Poses of all bodies in the world: positions [m], shape (nbody, 3), and quaternions
    /// (w, x, y, z), shape (nbody, 4).
    #[allow(clippy::type_complexity)] // two arrays
    fn body_poses<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>)> {
        let mut core = self.synchronised(py)?;
        core.update_positions();
        let poses = &core.data.body_pose;
        let positions = poses.iter().flat_map(|pose| pose.translation.vector.iter().copied());
        let rotations = poses.iter().flat_map(|pose| visuals::quaternion(&pose.rotation));
        Ok((
            PyArray1::from_iter(py, positions).reshape([poses.len(), 3])?,
            PyArray1::from_iter(py, rotations).reshape([poses.len(), 4])?,
        ))
    }

    /// Pose of a site in the world.
    fn site_pose<'py>(&self, site: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let model = self.model.get();
        let site_of = &model.content.sites[model.site_index(site)?];
        let mut core = self.synchronised(site.py())?;
        core.update_positions();
        pose(site.py(), &(core.data.body_pose[site_of.body.0] * site_of.pose))
    }

    /// Velocity of a body: its angular velocity [rad/s] and the velocity [m/s] of its point at
    /// `point` (world, default its origin); world axes. That of a driven body is zero.
    #[pyo3(signature = (body, point=None))]
    fn body_velocity<'py>(
        &self,
        body: &Bound<'py, PyAny>,
        point: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let index = self.model.get().body_index(body)?;
        let point = point.map(|point| vector("point", point)).transpose()?;
        self.synchronised(body.py())?.velocity(body.py(), index, point)
    }

    /// Jacobian of a body, shape (6, nv): three rows for its angular velocity, then three for the
    /// velocity of its point at `point` (world, default its origin); world axes.
    #[pyo3(signature = (body, point=None))]
    fn jacobian<'py>(
        &self,
        body: &Bound<'py, PyAny>,
        point: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let index = self.model.get().body_index(body)?;
        let point = point.map(|point| vector("point", point)).transpose()?;
        self.synchronised(body.py())?.jacobian(body.py(), index, point)
    }

    /// Rate of change of the Jacobian of a body at the present velocities, shape (6, nv), for its point that is now at
    /// `point` (world, default its origin).
    #[pyo3(signature = (body, point=None))]
    fn jacobian_dot<'py>(
        &self,
        body: &Bound<'py, PyAny>,
        point: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let index = self.model.get().body_index(body)?;
        let point = point.map(|point| vector("point", point)).transpose()?;
        self.synchronised(body.py())?.jacobian_dot(body.py(), index, point)
    }

    /// Jacobian of a site, shape (6, nv): three rows for its angular velocity, three for its velocity; world axes.
    fn site_jacobian<'py>(&self, site: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (body, place) = self.site(site)?;
        let mut core = self.synchronised(site.py())?;
        let point = core.place_of(body, &place);
        core.jacobian(site.py(), body, Some(point))
    }

    /// Rate of change of the Jacobian of a site at the present velocities, shape (6, nv).
    fn site_jacobian_dot<'py>(
        &self,
        site: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (body, place) = self.site(site)?;
        let mut core = self.synchronised(site.py())?;
        let point = core.place_of(body, &place);
        core.jacobian_dot(site.py(), body, Some(point))
    }

    /// Velocity of a site: its angular velocity [rad/s] and the velocity of its origin [m/s], world axes.
    fn site_velocity<'py>(&self, site: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (body, place) = self.site(site)?;
        let mut core = self.synchronised(site.py())?;
        let point = core.place_of(body, &place);
        core.velocity(site.py(), body, Some(point))
    }

    /// A copy of the readings of all sensors, one after the other, shape (nsensordata,).
    /// Accelerations, forces and touch are those of the last step, the rest of the present state.
    #[getter]
    fn sensor_data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let mut core = self.synchronised(py)?;
        Ok(PyArray1::from_slice(py, core.sensor_data()))
    }

    /// A copy of the reading of one sensor, by name or number, shape (dim,).
    fn sensor<'py>(&self, sensor: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let range = self.model.get().sensor_range(sensor)?;
        let mut core = self.synchronised(sensor.py())?;
        Ok(PyArray1::from_slice(sensor.py(), &core.sensor_data()[range]))
    }

    /// Whether each equality holds, in the order of Model.equality_names.
    #[getter]
    fn equality_active(&self) -> PyResult<Vec<bool>> {
        Ok(self.lock()?.engine.equality_active().to_vec())
    }

    /// Switches an equality on or off, by name or number.
    fn set_equality_active(&self, equality: &Bound<'_, PyAny>, active: bool) -> PyResult<()> {
        let index = self.model.get().equality_index(equality)?;
        let mut core = self.lock()?;
        core.engine.set_equality_active(index, active);
        core.forward = None;
        Ok(())
    }

    /// Resets to a keyframe, by name or number, or to the initial state of the model.
    #[pyo3(signature = (keyframe=None))]
    fn reset(&self, py: Python<'_>, keyframe: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let model = self.model.get();
        let content = &model.content;
        let frame = keyframe.map(|keyframe| model.keyframe_index(keyframe)).transpose()?;
        let frame = frame.map(|index| &content.keyframes[index]);
        let mut core = self.lock()?;
        let state = frame.map_or_else(
            || content.initial.clone(),
            |frame| {
                let (q, v) = (frame.q.clone(), frame.v.clone());
                let mut state = MechState { time: frame.time, q, v, ..content.initial.clone() };
                match frame.activation.len() == state.activation.len() {
                    true => state.activation.clone_from(&frame.activation),
                    false => state.activation.fill(0.0),
                }
                state
            },
        );
        let input = core.engine.input_mut();
        input.driven_pose.clone_from(frame.map_or(&content.driven, |frame| &frame.driven));
        core.engine.set_state(&state).map_err(error::step)?;
        let input = core.engine.input_mut();
        input.control.copy_from_slice(frame.map_or(&content.control, |frame| &frame.control));
        input.wrench.iter_mut().for_each(|wrench| wrench.fill(0.0));
        input.force.fill(0.0);
        core.forget_step();
        if content.has_controller {
            core.controller = content.controller().map_err(error::study)?;
        }
        self.update_views(py, &core)
    }

    /// A hash of time, coordinates and velocities, those of vertices among them: equal for equal bits.
    fn state_hash(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(state_hash(self.synchronised(py)?.engine.state()))
    }

    /// Whether the model's controller sets inputs before each step.
    #[getter]
    fn controlled(&self) -> PyResult<bool> {
        Ok(self.lock()?.controlled)
    }

    #[setter(controlled)]
    fn set_controlled(&self, controlled: bool) -> PyResult<()> {
        let mut core = self.lock()?;
        if controlled && core.controller.is_none() {
            return Err(error::model("controlled = True; expected a model with a controller"));
        }
        core.controlled = controlled;
        Ok(())
    }

    fn __repr__(&self) -> String {
        let name = &self.model.get().content.name;
        match self.core.try_lock() {
            Ok(core) => format!("Simulation(\"{name}\", t={} s)", core.engine.state().time),
            Err(_) => format!("Simulation(\"{name}\", busy)"),
        }
    }
}

/// Assigns to the elements of a view.
pub fn assign(view: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
    view.set_item(view.py().Ellipsis(), value)
}
