//! Batches of simulations on several threads, with the same bits for every number of threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use numpy::{AllowTypeChange, PyArray1, PyArrayLike2, PyArrayLike3, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};
use rayon::prelude::*;
use stiction_mech::State as MechState;
use stiction_sim::{Settings, Simulation as Engine, Snapshot, StepError};

use crate::model::Model;
use crate::model_source::ModelContent;
use crate::parameters::BatchParameter;
use crate::state::State;
use crate::{error, memory, settings};

/// Most threads of a batch.
const MOST_THREADS: usize = 1024;
/// Time between two checks for Python signals (Ctrl-C).
const SIGNAL_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Initial state of a simulation.
#[derive(Clone)]
enum Start {
    Snapshot(Arc<Snapshot>),
    MechState(MechState),
}

/// Controls of a batch.
struct Controls {
    numbers: Vec<f64>,
    steps: usize,
    nu: usize,
    /// Whether each simulation has its own controls.
    individual: bool,
}

impl Controls {
    /// Controls of one simulation at one step.
    fn at(&self, item: usize, step: usize) -> &[f64] {
        let row = if self.individual { item * self.steps + step } else { step };
        &self.numbers[row * self.nu..(row + 1) * self.nu]
    }
}

/// Trajectory of one simulation.
struct Trajectory {
    time: Vec<f64>,
    q: Vec<f64>,
    v: Vec<f64>,
    activation: Vec<f64>,
    x: Vec<f64>,
    x_dot: Vec<f64>,
    sensors: Vec<f64>,
    unconverged: i64,
    end: Option<(usize, StepError)>,
}

/// Simulates a batch of n initial states for t steps each.
///
/// states is a list of State, or an array (n, nq + nv) of coordinates and velocities; with soft bodies
/// perhaps (n, nq + nv + 6 nvertex), followed by positions and velocities of their vertices, which
/// otherwise start as in the model; with activations perhaps (n, nq + nv + na). controls is an
/// array (n, t, nu), or (t, nu) for all alike; without it, steps is the number of steps, and controls stay
/// constant. parameters gives simulations parameters of their own: a dictionary from names, as of `parameters()`, to
/// arrays with a row per simulation, such as {"body_mass": (n, nbody), "geom_friction": (n, ngeom), "gravity": (n, 3)}.
/// threads is the number of threads; if absent, that of the environment variable RAYON_NUM_THREADS, or as
/// many as the process may use (processors, quota of its control group); the result is the same for any. A failed
/// step raises an exception, or with on_error="nan" ends that simulation, whose further rows are
/// NaN. Further keywords are settings as of Simulation. The model's controller, if
/// there is one, is not used.
///
/// Row k of the result is the state after step k + 1: arrays time (n, t), qpos (n, t, nq),
/// qvel (n, t, nv), sensor_data (n, t, nsensordata); unconverged (n,) counts steps that did not reach the
/// tolerance; failed (n,) is the index of the failed step, or -1; vertices and vertex_velocities
/// (n, t, nvertex, 3) are those of soft bodies; act (n, t, na) are the activations.
#[pyfunction]
#[pyo3(signature = (model, states, controls=None, *, steps=None, threads=None, solver=None, time_step=None, on_error="raise", parameters=None, **settings))]
#[allow(clippy::too_many_arguments)] // keyword arguments of Python
pub fn rollout<'py>(
    py: Python<'py>,
    model: &Bound<'py, Model>,
    states: &Bound<'py, PyAny>,
    controls: Option<&Bound<'py, PyAny>>,
    steps: Option<usize>,
    threads: Option<usize>,
    solver: Option<String>,
    time_step: Option<f64>,
    on_error: &str,
    parameters: Option<&Bound<'py, PyDict>>,
    settings: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let content = model.get().content.clone();
    let mut chosen = content.settings.clone();
    settings::choose(&mut chosen, solver, time_step, settings)?;
    let raises = match on_error {
        "raise" => true,
        "nan" => false,
        _ => return Err(error::setting(format!("on_error = {on_error}; expected raise or nan"))),
    };
    let starts = read_starts(&content, states)?;
    let controls =
        controls.map(|given| read_controls(&content, given, starts.len())).transpose()?;
    let steps = match (&controls, steps) {
        (Some(controls), None) => controls.steps,
        (Some(controls), Some(steps)) if steps <= controls.steps => steps,
        (Some(controls), Some(steps)) => {
            let found = controls.steps;
            return Err(error::setting(format!(
                "steps = {steps}; expected at most the {found} that controls has"
            )));
        }
        (None, Some(steps)) => steps,
        (None, None) => return Err(error::setting("expected controls, or steps to make without")),
    };
    check_sizes(&content, starts.len(), steps, threads)?;
    let parameters = parameters
        .map(|given| BatchParameter::read(given, &content.world, starts.len()))
        .transpose()?
        .unwrap_or_default();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build();
    let pool =
        pool.map_err(|refused| error::setting(format!("threads = {threads:?}: {refused}")))?;
    let stop = AtomicBool::new(false);
    let first = Engine::new(content.world.clone(), chosen.clone()).map_err(error::settings)?;
    let job = RolloutBatch {
        content: &content,
        settings: &chosen,
        controls: controls.as_ref(),
        parameters: &parameters,
        steps,
        stop: &stop,
        fresh: first.snapshot(),
        engines: Mutex::new(vec![first]),
    };
    let trajectories = interruptible(py, &stop, || {
        pool.install(|| {
            starts
                .par_iter()
                .enumerate()
                .map(|(item, start)| job.run(item, start))
                .collect::<Vec<_>>()
        })
    })?;
    let trajectories: Vec<Trajectory> = trajectories.into_iter().collect::<PyResult<_>>()?;
    if raises {
        for (item, trajectory) in trajectories.iter().enumerate() {
            if let Some((step, source)) = &trajectory.end {
                let message = format!("rollout {item}, step {step}: {source}");
                return Err(match source {
                    StepError::State { .. } | StepError::Force { .. } => error::state(message),
                    _ => error::step_failed(message),
                });
            }
        }
    }
    arrays(py, &content, &trajectories, steps)
}

/// Refuses batches whose result does not fit into memory, and more threads than can be of use.
fn check_sizes(
    content: &ModelContent,
    batch: usize,
    steps: usize,
    threads: Option<usize>,
) -> PyResult<()> {
    if let Some(found) = threads.filter(|threads| *threads > MOST_THREADS) {
        let message = format!("threads = {found}; expected at most {MOST_THREADS}");
        return Err(error::setting(message));
    }
    let model = content.world.model();
    let rigid = model.nq() + model.nv() + model.na();
    let numbers = 1 + rigid + 6 * model.nodes() + content.world.sensor_len();
    let what = format!("a rollout of {batch} simulations for steps = {steps}");
    // The trajectories, and the arrays that they are copied to.
    memory::check(&what, &[batch, steps, numbers], 2)
}

/// Data shared by all simulations of a batch.
struct RolloutBatch<'a> {
    content: &'a ModelContent,
    settings: &'a Settings,
    controls: Option<&'a Controls>,
    parameters: &'a [BatchParameter],
    steps: usize,
    stop: &'a AtomicBool,
    /// A simulation that has made no step.
    fresh: Snapshot,
    /// Simulations that are not in use, for their memory: as many as there are threads, at most.
    engines: Mutex<Vec<Engine>>,
}

impl RolloutBatch<'_> {
    /// A simulation that has made no step.
    fn engine(&self) -> PyResult<Engine> {
        let kept = self.engines.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match kept {
            Some(mut engine) => {
                engine.restore(&self.fresh).map_err(error::state)?;
                Ok(engine)
            }
            None => Engine::new(self.content.world.clone(), self.settings.clone())
                .map_err(error::settings),
        }
    }

    fn run(&self, item: usize, start: &Start) -> PyResult<Trajectory> {
        let mut engine = self.engine()?;
        match start {
            Start::Snapshot(snapshot) => engine.restore(snapshot).map_err(error::state)?,
            Start::MechState(state) => {
                engine.input_mut().driven_pose.clone_from(&self.content.driven);
                engine.set_state(state).map_err(error::step)?;
            }
        }
        self.parameters.iter().try_for_each(|parameter| parameter.set(item, &mut engine))?;
        let model = self.content.world.model();
        let mut trajectory = Trajectory {
            time: Vec::with_capacity(self.steps),
            q: Vec::with_capacity(self.steps * model.nq()),
            v: Vec::with_capacity(self.steps * model.nv()),
            activation: Vec::with_capacity(self.steps * model.na()),
            x: Vec::with_capacity(self.steps * 3 * model.nodes()),
            x_dot: Vec::with_capacity(self.steps * 3 * model.nodes()),
            sensors: Vec::with_capacity(self.steps * self.content.world.sensor_len()),
            unconverged: 0,
            end: None,
        };
        for step in 0..self.steps {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            if let Some(controls) = self.controls {
                let wanted = controls.at(item, step);
                if engine.input().control != wanted {
                    engine.input_mut().control.copy_from_slice(wanted);
                }
            }
            match engine.step() {
                Ok(report) => trajectory.unconverged += i64::from(!report.converged()),
                Err(error) => {
                    trajectory.end = Some((step, error));
                    break;
                }
            }
            let state = engine.state();
            trajectory.time.push(state.time);
            trajectory.q.extend_from_slice(&state.q);
            trajectory.v.extend_from_slice(&state.v);
            trajectory.activation.extend_from_slice(&state.activation);
            trajectory.x.extend(state.x.iter().flat_map(|x| x.iter().copied()));
            trajectory.x_dot.extend(state.x_dot.iter().flat_map(|x| x.iter().copied()));
            if self.content.world.sensor_len() > 0 {
                trajectory.sensors.extend_from_slice(engine.sensor_data());
            }
        }
        trajectory.time.resize(self.steps, f64::NAN);
        trajectory.q.resize(self.steps * model.nq(), f64::NAN);
        trajectory.v.resize(self.steps * model.nv(), f64::NAN);
        trajectory.activation.resize(self.steps * model.na(), f64::NAN);
        trajectory.x.resize(self.steps * 3 * model.nodes(), f64::NAN);
        trajectory.x_dot.resize(self.steps * 3 * model.nodes(), f64::NAN);
        trajectory.sensors.resize(self.steps * self.content.world.sensor_len(), f64::NAN);
        self.engines.lock().unwrap_or_else(PoisonError::into_inner).push(engine);
        Ok(trajectory)
    }
}

/// Runs `work` with the GIL released, and checks for signals periodically.
fn interruptible<T: Send>(
    py: Python<'_>,
    stop: &AtomicBool,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let (done, bell) = (Mutex::new(None), Condvar::new());
    let mut interrupted = Ok(());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let result = work();
            *done.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
            bell.notify_all();
        });
        loop {
            let finished = py.detach(|| {
                let lock = done.lock().unwrap_or_else(PoisonError::into_inner);
                let waited =
                    bell.wait_timeout_while(lock, SIGNAL_CHECK_INTERVAL, |done| done.is_none());
                waited.unwrap_or_else(PoisonError::into_inner).0.is_some()
            });
            if finished {
                break;
            }
            if let Err(error) = py.check_signals() {
                stop.store(true, Ordering::Relaxed);
                interrupted = Err(error);
            }
        }
    });
    interrupted?;
    let result = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    result.ok_or_else(|| error::step_failed("a rollout ended without a result"))
}

fn read_starts(content: &ModelContent, given: &Bound<'_, PyAny>) -> PyResult<Vec<Start>> {
    memory::check_given("states", given)?;
    if let Ok(state) = given.cast::<State>() {
        return Ok(vec![Start::Snapshot(Arc::new(state.get().snapshot.clone()))]);
    }
    let model = content.world.model();
    let (nq, nv) = (model.nq(), model.nv());
    let (rigid, active, whole) = (nq + nv, nq + nv + model.na(), nq + nv + 6 * model.nodes());
    if let Ok(array) = given.extract::<PyArrayLike2<'_, f64, AllowTypeChange>>() {
        let array = array.as_array();
        if ![rigid, active, whole].contains(&array.ncols()) {
            let (n, width) = array.dim();
            let with_vertices = match model.nodes() {
                0 => String::new(),
                _ => format!(
                    " or, with the vertices of soft bodies, (n, nq + nv + 6 nvertex) = (n, {whole})"
                ),
            };
            let with_activations = match model.na() {
                0 => String::new(),
                _ => format!(" or, with activations, (n, nq + nv + na) = (n, {active})"),
            };
            return Err(error::state(format!(
                "states has shape ({n}, {width}); expected (n, nq + nv) = (n, {rigid})\
                 {with_activations}{with_vertices}"
            )));
        }
        let state = |(index, row): (usize, numpy::ndarray::ArrayView1<'_, f64>)| {
            let row = row.to_vec();
            let (q, v) = (row[..nq].to_vec(), row[nq..rigid].to_vec());
            let MechState { x, x_dot, activation, .. } = content.initial.clone();
            let mut state = MechState { q, v, activation, x, x_dot, ..MechState::new(model) };
            if array.ncols() == active {
                state.activation.copy_from_slice(&row[rigid..]);
                state.normalise_quaternions(model);
                let refused = |error| error::state(format!("states[{index}]: {error}"));
                state.check(model).map_err(refused)?;
                return Ok(Start::MechState(state));
            }
            // Positions of all vertices, then their velocities.
            let vertices = state.x.iter_mut().chain(&mut state.x_dot);
            for (vertex, given) in vertices.zip(row[rigid..].chunks_exact(3)) {
                vertex.copy_from_slice(given);
            }
            let refused = |error| error::state(format!("states[{index}]: {error}"));
            state.normalise_quaternions(model);
            state.check(model).map_err(refused)?;
            Ok(Start::MechState(state))
        };
        return array.rows().into_iter().enumerate().map(state).collect();
    }
    let mut starts = Vec::new();
    for (index, item) in given.try_iter()?.enumerate() {
        let item = item?;
        let state = item.cast::<State>().map_err(|_| {
            let found = item.get_type().name().map(|name| name.to_string()).unwrap_or_default();
            error::state(format!("states[{index}]: found a {found}; expected a State"))
        })?;
        starts.push(Start::Snapshot(Arc::new(state.get().snapshot.clone())));
    }
    Ok(starts)
}

fn read_controls(
    content: &ModelContent,
    given: &Bound<'_, PyAny>,
    batch: usize,
) -> PyResult<Controls> {
    memory::check_given("controls", given)?;
    let nu = content.world.model().nu();
    let (numbers, shape): (Vec<f64>, Vec<usize>) =
        match given.extract::<PyArrayLike3<'_, f64, AllowTypeChange>>() {
            Ok(array) => {
                let array = array.as_array();
                (array.iter().copied().collect(), array.shape().to_vec())
            }
            Err(_) => {
                let array: PyArrayLike2<'_, f64, AllowTypeChange> =
                    given.extract().map_err(|refused| {
                        error::state(format!(
                            "controls: expected an array (n, t, nu) or (t, nu); {refused}"
                        ))
                    })?;
                let array = array.as_array();
                (array.iter().copied().collect(), array.shape().to_vec())
            }
        };
    let (individual, steps) = match shape[..] {
        [n, steps, width] if n == batch && width == nu => (true, steps),
        [steps, width] if width == nu => (false, steps),
        _ => {
            return Err(error::state(format!(
                "controls has shape {shape:?}; expected ({batch}, t, {nu}) or (t, {nu})"
            )));
        }
    };
    Ok(Controls { numbers, steps, nu, individual })
}

fn arrays<'py>(
    py: Python<'py>,
    content: &ModelContent,
    trajectories: &[Trajectory],
    steps: usize,
) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let (n, model) = (trajectories.len(), content.world.model());
    let stack = |pick: fn(&Trajectory) -> &Vec<f64>| {
        PyArray1::from_iter(
            py,
            trajectories.iter().flat_map(|trajectory| pick(trajectory).iter().copied()),
        )
    };
    let failed = trajectories
        .iter()
        .map(|trajectory| trajectory.end.as_ref().map_or(-1, |(step, _)| *step as i64));
    CLASS.import(py, "stiction.types", "Rollout")?.call1((
        stack(|trajectory| &trajectory.time).reshape([n, steps])?,
        stack(|trajectory| &trajectory.q).reshape([n, steps, model.nq()])?,
        stack(|trajectory| &trajectory.v).reshape([n, steps, model.nv()])?,
        stack(|trajectory| &trajectory.sensors).reshape([n, steps, content.world.sensor_len()])?,
        PyArray1::from_iter(py, trajectories.iter().map(|trajectory| trajectory.unconverged)),
        PyArray1::from_iter(py, failed),
        stack(|trajectory| &trajectory.x).reshape([n, steps, model.nodes(), 3])?,
        stack(|trajectory| &trajectory.x_dot).reshape([n, steps, model.nodes(), 3])?,
        stack(|trajectory| &trajectory.activation).reshape([n, steps, model.na()])?,
    ))
}
