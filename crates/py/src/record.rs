//! Recordings: what a simulation is seen to do, kept in Rust and given out as arrays and files.
//!
//! A [`Watch`] stands between a simulation, which lets it observe each step, and a [`Recording`], which
//! Python holds. Once nobody holds the recording any more, or it was stopped, the simulation
//! forgets it. Whoever holds the recorder's lock never waits for the interpreter.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use numpy::{Element, PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use stiction_sim::record::{Recorder, Recording as Columns};
use stiction_sim::{PHASES, Simulation as Engine, StepReport};
use stiction_view::columns::{self, Per, Values};
use stiction_view::{ViewError, html, sink_of, write};

use crate::{error, visuals};

/// Endings of files that are written from Python, see `stiction/recording.py`.
const PYTHON: &str = "stiction.recording";

/// A recorder that observes steps as long as it is wanted.
pub struct Watch {
    recorder: Mutex<Recorder>,
    wanted: AtomicBool,
}

impl Watch {
    /// Whether steps shall still be observed.
    pub fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed)
    }

    /// Observes a step, unless it was stopped.
    pub fn observe(&self, engine: &Engine, report: &StepReport) {
        if self.is_wanted() {
            self.recorder().observe(engine, report);
        }
    }

    fn recorder(&self) -> MutexGuard<'_, Recorder> {
        // Frames are whole: a column is only ever pushed to.
        self.recorder.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a simulation was seen to do: poses, contacts with their forces, residuals, energies and times,
/// frame by frame. Made by Simulation.record, which says how to use it.
///
/// Poses are those at the time of a frame; contacts and forces are those of the step that led to it.
/// A frame stands for all steps since the last one: residuals, penetration and iterations are the
/// worst of these, times their means.
#[pyclass(frozen, module = "stiction._native")]
pub struct Recording {
    watch: Arc<Watch>,
    /// The file that is written in the end.
    path: Option<PathBuf>,
    notes: Vec<String>,
}

impl Recording {
    /// A recording that begins, and what the simulation has to hold weakly.
    pub fn new(recorder: Recorder, path: Option<PathBuf>, notes: Vec<String>) -> Self {
        let watch = Watch { recorder: Mutex::new(recorder), wanted: AtomicBool::new(true) };
        Self { watch: Arc::new(watch), path, notes }
    }

    /// What observes.
    pub fn watch(&self) -> &Arc<Watch> {
        &self.watch
    }

    /// Asks the columns without keeping other threads of the interpreter from working.
    fn ask<T: Send>(&self, py: Python<'_>, answer: impl FnOnce(&Columns) -> T + Send) -> T {
        py.detach(|| answer(self.watch.recorder().recording()))
    }
}

/// Refuses a file that cannot be written, before the run.
pub fn check(py: Python<'_>, path: &Path) -> PyResult<()> {
    match python_sink(py, path)? {
        Some(_) => Ok(()),
        None => py.detach(|| sink_of(path).map(|_| ())).map_err(error::view),
    }
}

/// The function that writes a file from Python, if its ending asks for one.
fn python_sink<'py>(py: Python<'py>, path: &Path) -> PyResult<Option<Bound<'py, PyAny>>> {
    let sink = py.import(PYTHON)?.call_method1("sink_of", (path,))?;
    Ok((!sink.is_none()).then_some(sink))
}

#[pymethods]
impl Recording {
    /// What was run.
    #[getter]
    fn title(&self, py: Python<'_>) -> String {
        self.ask(py, |columns| columns.title.clone())
    }

    /// The solver.
    #[getter]
    fn solver(&self, py: Python<'_>) -> String {
        self.ask(py, |columns| columns.solver.clone())
    }

    /// Time step of the simulation [s].
    #[getter]
    fn time_step(&self, py: Python<'_>) -> f64 {
        self.ask(py, |columns| columns.time_step)
    }

    /// Number of frames so far.
    #[getter]
    fn frames(&self, py: Python<'_>) -> usize {
        self.ask(py, Columns::len)
    }

    /// Names of the bodies, the world first.
    #[getter]
    fn body_names(&self, py: Python<'_>) -> Vec<String> {
        self.ask(py, |columns| columns.bodies.clone())
    }

    /// Whether steps are still observed.
    #[getter]
    fn active(&self) -> bool {
        self.watch.is_wanted()
    }

    /// What cannot be seen, and why: visual meshes that could not be read.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// What the bodies look like: meshes in the frames of their bodies.
    fn visuals<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let shapes = self.ask(py, |columns| columns.shapes.clone());
        visuals::of_shapes(py, &shapes)
    }

    /// A copy of all columns, by name. With t frames, b bodies that move and c contacts in all frames:
    ///
    /// time (t,) [s]; position (t, b, 3) [m] and rotation (t, b, 4), quaternions (w, x, y, z), of
    /// bodies `moving` (b,); rest_position (nbody, 3) [m] and rest_rotation (nbody, 4) of all bodies
    /// at the first frame; body_names (nbody,).
    ///
    /// contact_bodies (c, 2), contact_shapes (c, 2), contact_point (c, 3) [m], contact_normal (c, 3)
    /// from A into B, contact_force (c, 3) on B [N], contact_gap (c,) [m]; those of frame k are
    /// contact_start[k]:contact_start[k + 1].
    ///
    /// steps (t,); residual_momentum (t,) [-], residual_coulomb and residual_convex (t,) [m/s];
    /// iterations (t,); status (t,): 0 converged, 1 iteration limit, 2 stalled, 3 failed; softened
    /// (t,); penetration (t,) [m]; equality_error (t,) [m, rad]; energy_kinetic and
    /// energy_potential (t,) [J]; phase_time (t, p) [s] of the phases phase_names (p,); contacts
    /// (t,); asleep (t,).
    fn to_arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = self.ask(py, Columns::clone);
        let (t, b) = (columns.len(), columns.moving.len());
        let starts = &columns.frames.contacts.first;
        let c = columns.frames.contacts.gap.len();
        let arrays = PyDict::new(py);
        let out = &arrays;
        for column in columns::columns(&columns) {
            let mut shape = match column.per {
                Per::Frame => vec![t],
                Per::Body => vec![t, b],
                Per::Contact => vec![c],
                Per::SoftVertex => vec![t, columns::soft_vertices(&columns)],
            };
            shape.extend((!column.components.is_empty()).then_some(column.components.len()));
            match column.values {
                Values::F64(values) => set(out, column.name, values, shape)?,
                Values::F32(values) => set(out, column.name, values, shape)?,
                Values::U32(values) => set(out, column.name, values, shape)?,
                Values::U8(values) => set(out, column.name, values, shape)?,
                Values::Bool(values) => set(out, column.name, values, shape)?,
            }
        }
        let start: Vec<i64> = starts.iter().chain([&c]).map(|&k| k as i64).collect();
        set(out, "contact_start", &start, vec![t + 1])?;
        let moving: Vec<i64> = columns.moving.iter().map(|&k| k as i64).collect();
        set(out, "moving", &moving, vec![b])?;
        let (rest, n) = (&columns.rest, columns.rest.len());
        let position: Vec<[f64; 3]> =
            rest.iter().map(|pose| pose.translation.vector.into()).collect();
        set(out, "rest_position", position.as_flattened(), vec![n, 3])?;
        let rotation: Vec<[f64; 4]> =
            rest.iter().map(|pose| visuals::quaternion(&pose.rotation)).collect();
        set(out, "rest_rotation", rotation.as_flattened(), vec![n, 4])?;
        let texts = |texts: Vec<&str>| py.import("numpy")?.call_method1("array", (texts, "U"));
        out.set_item("phase_names", texts(PHASES.to_vec())?)?;
        let names = columns.bodies.iter().map(String::as_str).collect();
        out.set_item("body_names", texts(names)?)?;
        Ok(arrays)
    }

    /// The page that shows the recording in a browser: one text that asks for nothing else.
    fn html(&self, py: Python<'_>) -> PyResult<String> {
        self.ask(py, html::page).map_err(error::recording)
    }

    /// Writes what was recorded so far; the ending of the name says how: .html is a page for any
    /// browser, .glb a scene for Blender and others, .png, .gif and .mp4 are pictures, .npz and
    /// .parquet columns, .rrd a recording of rerun.
    fn save(slf: &Bound<'_, Self>, path: PathBuf) -> PyResult<()> {
        let py = slf.py();
        if let Some(sink) = python_sink(py, &path)? {
            sink.call1((slf, path))?;
            return Ok(());
        }
        slf.get().ask(py, |columns| write(columns, &path)).map_err(error::view)
    }

    /// Ends the recording, and writes the file that it was begun with, if any. What was recorded
    /// stays. Stopping twice does nothing.
    fn stop(slf: &Bound<'_, Self>) -> PyResult<()> {
        let was_wanted = slf.get().watch.wanted.swap(false, Ordering::Relaxed);
        match &slf.get().path {
            Some(path) if was_wanted => Self::save(slf, path.clone()),
            _ => Ok(()),
        }
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// Stops; an exception on the way loses nothing of what was recorded.
    #[pyo3(signature = (*_exception))]
    fn __exit__(slf: &Bound<'_, Self>, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        Self::stop(slf)
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.frames(py)
    }

    /// The page within a notebook.
    fn _repr_html_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import(PYTHON)?.call_method1("in_frame", (self.html(py)?,))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        self.ask(py, |columns| {
            let end = columns.frames.time.last().copied().unwrap_or(0.0);
            format!("Recording(\"{}\", {} frames, t={end} s)", columns.title, columns.len())
        })
    }
}

/// Puts a copy of a column into a dictionary.
fn set<T: Element + Copy>(
    arrays: &Bound<'_, PyDict>,
    name: &str,
    column: &[T],
    shape: Vec<usize>,
) -> PyResult<()> {
    arrays.set_item(name, PyArray1::from_slice(arrays.py(), column).reshape(shape)?)
}

/// What a sink refuses, with the endings that Python knows besides.
pub fn told(refused: &ViewError) -> String {
    match refused {
        ViewError::Ending { .. } => format!("{refused}, .rrd (with rerun)"),
        other => other.to_string(),
    }
}
