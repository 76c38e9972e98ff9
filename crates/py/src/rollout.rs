//! Batches of simulations on several threads, with the same bits for every number of threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use numpy::{AllowTypeChange, PyArray1, PyArrayLike2, PyArrayLike3, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};
use rayon::prelude::*;
use stiction_mech::State as Moment;
use stiction_sim::{Settings, Simulation as Engine, Snapshot, StepError};

use crate::core::normalise;
use crate::model::Model;
use crate::recipe::Content;
use crate::state::State;
use crate::{error, text};

/// How often the interpreter is asked whether someone wants to stop.
const PATIENCE: Duration = Duration::from_millis(50);

/// Where a simulation begins.
#[derive(Clone)]
enum Start {
    Snapshot(Arc<Snapshot>),
    Moment(Moment),
}

/// Controls of a batch: numbers, steps and whether each simulation has its own.
struct Controls {
    numbers: Vec<f64>,
    steps: usize,
    nu: usize,
    own: bool,
}

impl Controls {
    /// Controls of one simulation at one step.
    fn at(&self, item: usize, step: usize) -> &[f64] {
        let row = if self.own { item * self.steps + step } else { step };
        &self.numbers[row * self.nu..(row + 1) * self.nu]
    }
}

/// What one simulation did.
struct Trip {
    time: Vec<f64>,
    q: Vec<f64>,
    v: Vec<f64>,
    x: Vec<f64>,
    x_dot: Vec<f64>,
    sensors: Vec<f64>,
    unconverged: i64,
    end: Option<(usize, StepError)>,
}

/// Simulates a batch of n beginnings for t steps each.
///
/// states is a list of State, or an array (n, nq + nv) of coordinates and velocities; with soft bodies
/// perhaps (n, nq + nv + 6 nvertex), followed by positions and velocities of their vertices, which
/// else begin as the model says. controls is an
/// array (n, t, nu), or (t, nu) for all alike; without it, steps says how many, and controls stay as
/// they are. threads is the number of threads, all if absent; the result is the same for any. A step
/// that cannot be made is an error, or with on_error="nan" the end of that simulation: what would
/// follow is NaN. Further keywords are settings as of Simulation. A controller that the model may
/// bring takes no part.
///
/// Row k of the result is the state after step k + 1: arrays time (n, t), qpos (n, t, nq),
/// qvel (n, t, nv), sensor_data (n, t, nsensordata); unconverged (n,) counts steps that missed the
/// tolerance; failed (n,) is the step that could not be made, or -1; vertices and vertex_velocities
/// (n, t, nvertex, 3) are those of soft bodies.
#[pyfunction]
#[pyo3(signature = (model, states, controls=None, *, steps=None, threads=None, solver=None, time_step=None, on_error="raise", **settings))]
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
    settings: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let content = model.get().content.clone();
    let mut chosen = content.settings.clone();
    text::choose(&mut chosen, solver, time_step, settings)?;
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
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build();
    let pool =
        pool.map_err(|refused| error::setting(format!("threads = {threads:?}: {refused}")))?;
    let stop = AtomicBool::new(false);
    let job = Job {
        content: &content,
        settings: &chosen,
        controls: controls.as_ref(),
        steps,
        stop: &stop,
    };
    let trips = interruptible(py, &stop, || {
        pool.install(|| {
            starts
                .par_iter()
                .enumerate()
                .map(|(item, start)| job.run(item, start))
                .collect::<Vec<_>>()
        })
    })?;
    let trips: Vec<Trip> = trips.into_iter().collect::<PyResult<_>>()?;
    if raises {
        for (item, trip) in trips.iter().enumerate() {
            if let Some((step, source)) = &trip.end {
                let message = format!("rollout {item}, step {step}: {source}");
                return Err(match source {
                    StepError::State { .. } | StepError::Force { .. } => error::state(message),
                    _ => error::step_failed(message),
                });
            }
        }
    }
    arrays(py, &content, &trips, steps)
}

/// What all simulations of a batch share.
struct Job<'a> {
    content: &'a Content,
    settings: &'a Settings,
    controls: Option<&'a Controls>,
    steps: usize,
    stop: &'a AtomicBool,
}

impl Job<'_> {
    fn run(&self, item: usize, start: &Start) -> PyResult<Trip> {
        let mut engine = Engine::new(self.content.world.clone(), self.settings.clone())
            .map_err(error::settings)?;
        match start {
            Start::Snapshot(snapshot) => engine.restore(snapshot).map_err(error::state)?,
            Start::Moment(moment) => {
                engine.input_mut().driven_pose.clone_from(&self.content.driven);
                engine.set_state(moment).map_err(error::step)?;
            }
        }
        let model = self.content.world.model();
        let mut trip = Trip {
            time: Vec::with_capacity(self.steps),
            q: Vec::with_capacity(self.steps * model.nq()),
            v: Vec::with_capacity(self.steps * model.nv()),
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
                Ok(report) => trip.unconverged += i64::from(!report.converged()),
                Err(error) => {
                    trip.end = Some((step, error));
                    break;
                }
            }
            let state = engine.state();
            trip.time.push(state.time);
            trip.q.extend_from_slice(&state.q);
            trip.v.extend_from_slice(&state.v);
            trip.x.extend(state.x.iter().flat_map(|x| x.iter().copied()));
            trip.x_dot.extend(state.x_dot.iter().flat_map(|x| x.iter().copied()));
            if self.content.world.sensor_len() > 0 {
                trip.sensors.extend_from_slice(engine.sensor_data());
            }
        }
        trip.time.resize(self.steps, f64::NAN);
        trip.q.resize(self.steps * model.nq(), f64::NAN);
        trip.v.resize(self.steps * model.nv(), f64::NAN);
        trip.x.resize(self.steps * 3 * model.nodes(), f64::NAN);
        trip.x_dot.resize(self.steps * 3 * model.nodes(), f64::NAN);
        trip.sensors.resize(self.steps * self.content.world.sensor_len(), f64::NAN);
        Ok(trip)
    }
}

/// Works outside of the interpreter, and looks now and then whether someone wants to stop.
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
                let waited = bell.wait_timeout_while(lock, PATIENCE, |done| done.is_none());
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

fn read_starts(content: &Content, given: &Bound<'_, PyAny>) -> PyResult<Vec<Start>> {
    if let Ok(state) = given.cast::<State>() {
        return Ok(vec![Start::Snapshot(Arc::new(state.get().snapshot.clone()))]);
    }
    let model = content.world.model();
    let (nq, nv) = (model.nq(), model.nv());
    let (rigid, whole) = (nq + nv, nq + nv + 6 * model.nodes());
    if let Ok(array) = given.extract::<PyArrayLike2<'_, f64, AllowTypeChange>>() {
        let array = array.as_array();
        if array.ncols() != rigid && array.ncols() != whole {
            let (n, width) = array.dim();
            let with_vertices = match model.nodes() {
                0 => String::new(),
                _ => format!(
                    " or, with the vertices of soft bodies, (n, nq + nv + 6 nvertex) = (n, {whole})"
                ),
            };
            return Err(error::state(format!(
                "states has shape ({n}, {width}); expected (n, nq + nv) = (n, {rigid}){with_vertices}"
            )));
        }
        let moment = |(index, row): (usize, numpy::ndarray::ArrayView1<'_, f64>)| {
            let row = row.to_vec();
            let (q, v) = (row[..nq].to_vec(), row[nq..rigid].to_vec());
            let Moment { x, x_dot, .. } = content.initial.clone();
            let mut moment = Moment { q, v, x, x_dot, ..Moment::new(model) };
            // Positions of all vertices, then their velocities.
            let vertices = moment.x.iter_mut().chain(&mut moment.x_dot);
            for (vertex, given) in vertices.zip(row[rigid..].chunks_exact(3)) {
                vertex.copy_from_slice(given);
            }
            let refused = |error| error::state(format!("states[{index}]: {error}"));
            moment.check(model).map_err(refused)?;
            normalise(model, &mut moment.q);
            Ok(Start::Moment(moment))
        };
        return array.rows().into_iter().enumerate().map(moment).collect();
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

fn read_controls(content: &Content, given: &Bound<'_, PyAny>, batch: usize) -> PyResult<Controls> {
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
    let (own, steps) = match shape[..] {
        [n, steps, width] if n == batch && width == nu => (true, steps),
        [steps, width] if width == nu => (false, steps),
        _ => {
            return Err(error::state(format!(
                "controls has shape {shape:?}; expected ({batch}, t, {nu}) or (t, {nu})"
            )));
        }
    };
    Ok(Controls { numbers, steps, nu, own })
}

fn arrays<'py>(
    py: Python<'py>,
    content: &Content,
    trips: &[Trip],
    steps: usize,
) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let (n, model) = (trips.len(), content.world.model());
    let stack = |pick: fn(&Trip) -> &Vec<f64>| {
        PyArray1::from_iter(py, trips.iter().flat_map(|trip| pick(trip).iter().copied()))
    };
    let failed = trips.iter().map(|trip| trip.end.as_ref().map_or(-1, |(step, _)| *step as i64));
    CLASS.import(py, "stiction.types", "Rollout")?.call1((
        stack(|trip| &trip.time).reshape([n, steps])?,
        stack(|trip| &trip.q).reshape([n, steps, model.nq()])?,
        stack(|trip| &trip.v).reshape([n, steps, model.nv()])?,
        stack(|trip| &trip.sensors).reshape([n, steps, content.world.sensor_len()])?,
        PyArray1::from_iter(py, trips.iter().map(|trip| trip.unconverged)),
        PyArray1::from_iter(py, failed),
        stack(|trip| &trip.x).reshape([n, steps, model.nodes(), 3])?,
        stack(|trip| &trip.x_dot).reshape([n, steps, model.nodes(), 3])?,
    ))
}
