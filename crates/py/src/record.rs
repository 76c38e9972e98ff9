//! Recordings of simulations, kept in Rust and returned as arrays and files.
//!
//! A [`StepObserver`] connects a simulation, which passes it each step, with a [`Recording`], which
//! Python holds. The simulation drops the observer once the recording is stopped or no longer
//! referenced. A thread that holds the recorder's lock never waits for the interpreter.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use numpy::{Element, PyArray1, PyArray3, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType};
use stiction_sim::record::{RecordedSoftBody, Recorder, Recording as Columns};
use stiction_sim::{PHASES, Simulation as Engine, StepReport};
use stiction_view::columns::{self, EntriesPer, Values};
use stiction_view::{ExportContent, PictureOptions, ViewError, exporter_for, html, native, png};

use crate::{error, visuals};

/// Python module with further exporters and the notebook view.
const PYTHON_MODULE: &str = "stiction.recording";

/// A recorder that observes steps while it is active.
pub struct StepObserver {
    recorder: Mutex<Recorder>,
    active: AtomicBool,
}

impl StepObserver {
    /// Whether steps are still observed.
    pub fn is_active(&self) -> bool {
        self.active.load(Ordering::Relaxed)
    }

    /// Records a step if active.
    pub fn observe(&self, engine: &Engine, report: &StepReport) {
        if self.is_active() {
            self.recorder().observe(engine, report);
        }
    }

    fn recorder(&self) -> MutexGuard<'_, Recorder> {
        // A panic leaves no partial frame: columns are only appended to.
        self.recorder.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A recorded run: poses, contacts with their forces, residuals, energies and times,
/// frame by frame. Made by Simulation.record or load_recording.
///
/// Poses are those at the time of a frame; contacts and forces are those of the step that led to it.
/// A frame stands for all steps since the last one: residuals, penetration and iterations are the
/// worst of these, times their means.
#[pyclass(frozen, module = "stiction._native")]
pub struct Recording {
    source: ColumnSource,
    /// Files to write at the end, and the options of pictures.
    paths: Vec<PathBuf>,
    shot: PictureOptions,
    notes: Vec<String>,
}

/// Storage of the columns.
enum ColumnSource {
    /// A recorder that may still add frames.
    Live(Arc<StepObserver>),
    /// Columns of a file.
    Read(Box<Columns>),
}

impl Recording {
    /// A new recording, and the observer for the simulation to hold weakly.
    pub fn new(
        recorder: Recorder,
        paths: Vec<PathBuf>,
        shot: PictureOptions,
        notes: Vec<String>,
    ) -> (Self, Arc<StepObserver>) {
        let observer = Arc::new(StepObserver {
            recorder: Mutex::new(recorder),
            active: AtomicBool::new(true),
        });
        (Self { source: ColumnSource::Live(observer.clone()), paths, shot, notes }, observer)
    }

    /// Reads the columns with the interpreter released.
    fn with_columns<T: Send>(&self, py: Python<'_>, read: impl FnOnce(&Columns) -> T + Send) -> T {
        py.detach(|| match &self.source {
            ColumnSource::Live(observer) => read(observer.recorder().recording()),
            ColumnSource::Read(columns) => read(columns),
        })
    }

    fn write(slf: &Bound<'_, Self>, path: &Path, shot: &PictureOptions) -> PyResult<()> {
        let py = slf.py();
        let has_picture_options = *shot != PictureOptions::default();
        if let Some(exporter) = python_exporter(py, path)? {
            if has_picture_options {
                return Err(no_picture(path));
            }
            exporter.call1((slf, path))?;
            return Ok(());
        }
        let exporter = py.detach(|| exporter_for(path)).map_err(error::view)?;
        if has_picture_options && exporter.content == ExportContent::Everything {
            return Err(no_picture(path));
        }
        slf.get()
            .with_columns(py, |columns| (exporter.write)(columns, path, shot))
            .map_err(error::view)
    }
}

fn no_picture(path: &Path) -> PyErr {
    let path = path.display();
    error::recording(format!("{path}: picture options need a .png, .gif or .mp4"))
}

/// Opens a .stiction recording, or the complete part of an unfinished one (.part); notes says if it is
/// incomplete.
#[pyfunction]
pub fn load_recording(py: Python<'_>, path: PathBuf) -> PyResult<Recording> {
    let shown = path.display();
    let bytes = py.detach(|| std::fs::read(&path)).map_err(|refused| match refused.kind() {
        std::io::ErrorKind::NotFound => {
            error::recording_not_found(format!("{shown}: no such file"))
        }
        _ => error::recording(format!("{shown}: {refused}; expected a readable file")),
    })?;
    let opened = py.detach(|| native::open(&bytes));
    let (columns, note) = opened.map_err(|why| error::recording(format!("{shown}: {why}")))?;
    Ok(Recording {
        source: ColumnSource::Read(Box::new(columns)),
        paths: Vec::new(),
        shot: PictureOptions::default(),
        notes: note.into_iter().collect(),
    })
}

/// One name of a file, or several.
#[derive(FromPyObject)]
pub enum Paths {
    /// One.
    One(PathBuf),
    /// Several.
    Several(Vec<PathBuf>),
}

impl Paths {
    /// All of them.
    pub fn all(self) -> Vec<PathBuf> {
        match self {
            Self::One(path) => vec![path],
            Self::Several(paths) => paths,
        }
    }
}

/// Picture options as Python keywords.
struct PictureKeywords<'a> {
    size: Option<(usize, usize)>,
    time: Option<f64>,
    forces: bool,
    view: Option<&'a str>,
    azimuth: Option<f64>,
    elevation: Option<f64>,
    look_at: Option<[f64; 3]>,
    distance: Option<f64>,
    zoom: Option<f64>,
}

impl PictureKeywords<'_> {
    fn shot(&self) -> PyResult<PictureOptions> {
        let mut shot = PictureOptions::default();
        let mut set = |key: &str, value: Option<String>| match value {
            Some(value) => shot.set(key, &value).map_err(error::view),
            None => Ok(()),
        };
        let number = |x: Option<f64>| x.map(|x| x.to_string());
        set("size", self.size.map(|(width, height)| format!("{width}x{height}")))?;
        set("time", number(self.time))?;
        set("forces", Some(self.forces.to_string()))?;
        set("view", self.view.map(str::to_owned))?;
        set("azimuth", number(self.azimuth))?;
        set("elevation", number(self.elevation))?;
        set("look-at", self.look_at.map(|[x, y, z]| format!("{x}:{y}:{z}")))?;
        set("distance", number(self.distance))?;
        set("zoom", number(self.zoom))?;
        Ok(shot)
    }
}

/// Checks that a file can be written, before the run.
pub fn check(py: Python<'_>, path: &Path) -> PyResult<()> {
    match python_exporter(py, path)? {
        Some(_) => Ok(()),
        None => py.detach(|| exporter_for(path).map(|_| ())).map_err(error::view),
    }
}

/// The Python function that writes a file of this extension, if there is one.
fn python_exporter<'py>(py: Python<'py>, path: &Path) -> PyResult<Option<Bound<'py, PyAny>>> {
    let exporter = py.import(PYTHON_MODULE)?.call_method1("sink_of", (path,))?;
    Ok((!exporter.is_none()).then_some(exporter))
}

#[pymethods]
impl Recording {
    /// Title of the recording.
    #[getter]
    fn title(&self, py: Python<'_>) -> String {
        self.with_columns(py, |columns| columns.title.clone())
    }

    /// The solver.
    #[getter]
    fn solver(&self, py: Python<'_>) -> String {
        self.with_columns(py, |columns| columns.solver.clone())
    }

    /// Time step of the simulation [s].
    #[getter]
    fn time_step(&self, py: Python<'_>) -> f64 {
        self.with_columns(py, |columns| columns.time_step)
    }

    /// Number of frames so far.
    #[getter]
    fn frames(&self, py: Python<'_>) -> usize {
        self.with_columns(py, Columns::len)
    }

    /// Names of the bodies, the world first.
    #[getter]
    fn body_names(&self, py: Python<'_>) -> Vec<String> {
        self.with_columns(py, |columns| columns.bodies.clone())
    }

    /// Whether steps are still observed.
    #[getter]
    fn active(&self) -> bool {
        matches!(&self.source, ColumnSource::Live(observer) if observer.is_active())
    }

    /// Notes: visual meshes that could not be read, and missing frames of an incomplete file.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// Visual meshes in the frames of their bodies.
    fn visuals<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let shapes = self.with_columns(py, |columns| columns.shapes.clone());
        visuals::of_shapes(py, &shapes)
    }

    /// The surfaces of soft bodies, whose vertices are rows of the column soft_position.
    fn soft_surfaces<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let class = CLASS.import(py, "stiction.types", "SoftSurface")?;
        let (softs, mut first) = (self.with_columns(py, |columns| columns.softs.clone()), 0);
        let of = |soft: &RecordedSoftBody| {
            let start = first;
            first += soft.vertices;
            let triangles = PyArray1::from_slice(py, soft.triangles.as_flattened());
            let triangles = triangles.reshape([soft.triangles.len(), 3])?;
            let colour = PyArray1::from_slice(py, &soft.colour);
            class.call1((&soft.name, start, first, triangles, colour))
        };
        softs.iter().map(of).collect()
    }

    /// A copy of all columns, by name. With t frames, b bodies that move and c contacts in all frames:
    ///
    /// time (t,) [s]; position (t, b, 3) [m] and rotation (t, b, 4), quaternions (w, x, y, z), of
    /// bodies `moving` (b,); rest_position (nbody, 3) [m] and rest_rotation (nbody, 4) of all bodies
    /// at the first frame; body_names (nbody,); soft_position (t, s, 3) [m], 32-bit, of the vertices
    /// of all soft surfaces, see soft_surfaces.
    ///
    /// contact_bodies (c, 2), contact_shapes (c, 2), contact_point (c, 3) [m], contact_normal (c, 3)
    /// from A into B, contact_force (c, 3) on B [N], contact_gap (c,) [m]; those of frame k are
    /// contact_start[k]:contact_start[k + 1].
    ///
    /// steps (t,); residual_momentum (t,) [-], residual_coulomb and residual_convex (t,) [m/s];
    /// iterations (t,); status (t,): 0 converged, 1 iteration limit, 2 stalled, 3 failed; step_flags (t,); softened
    /// (t,); penetration (t,) [m]; equality_error (t,) [m, rad]; energy_kinetic and
    /// energy_potential (t,) [J]; phase_time (t, p) [s] of the phases phase_names (p,); contacts
    /// (t,); asleep (t,).
    fn to_arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = self.with_columns(py, Columns::clone);
        let (t, b) = (columns.len(), columns.moving.len());
        let starts = &columns.frames.contacts.first;
        let c = columns.frames.contacts.gap.len();
        let arrays = PyDict::new(py);
        let out = &arrays;
        for column in columns::columns(&columns) {
            let mut shape = match column.per {
                EntriesPer::Frame => vec![t],
                EntriesPer::Body => vec![t, b],
                EntriesPer::Contact => vec![c],
                EntriesPer::SoftVertex => vec![t, columns::soft_vertices(&columns)],
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

    /// The recording as a self-contained HTML page.
    fn html(&self, py: Python<'_>) -> PyResult<String> {
        self.with_columns(py, html::page).map_err(error::recording)
    }

    /// Writes the frames recorded so far; the file name extension selects the format: .html is a page for any
    /// browser, .glb a scene for Blender and others, .png, .gif and .mp4 are pictures, .npz and
    /// .parquet columns, .rrd a recording of rerun, .stiction all of it for load_recording.
    ///
    /// The keywords are options of pictures, see picture.
    #[pyo3(signature = (path, *, size=None, time=None, forces=false, view=None, azimuth=None, elevation=None, look_at=None, distance=None, zoom=None))]
    #[allow(clippy::too_many_arguments)] // keyword arguments of Python
    fn save(
        slf: &Bound<'_, Self>,
        path: PathBuf,
        size: Option<(usize, usize)>,
        time: Option<f64>,
        forces: bool,
        view: Option<&str>,
        azimuth: Option<f64>,
        elevation: Option<f64>,
        look_at: Option<[f64; 3]>,
        distance: Option<f64>,
        zoom: Option<f64>,
    ) -> PyResult<()> {
        let options = PictureKeywords {
            size,
            time,
            forces,
            view,
            azimuth,
            elevation,
            look_at,
            distance,
            zoom,
        };
        Self::write(slf, &path, &options.shot()?)
    }

    /// A picture: red, green and blue, shape (height, width, 3), bytes.
    ///
    /// size is (width, height) [px]; time [s] is the state, the last frame if absent; forces draws
    /// contact forces. The camera stands in direction azimuth [degrees], about z from x, and
    /// elevation [degrees] above the ground, or as view says: "corner", "front", "back", "left",
    /// "right", "side", "above" or "top". It looks at a point [m] from a distance [m], both such
    /// that all is seen if absent, and zoom times closer.
    #[pyo3(signature = (*, size=None, time=None, forces=false, view=None, azimuth=None, elevation=None, look_at=None, distance=None, zoom=None))]
    #[allow(clippy::too_many_arguments)] // keyword arguments of Python
    fn picture<'py>(
        &self,
        py: Python<'py>,
        size: Option<(usize, usize)>,
        time: Option<f64>,
        forces: bool,
        view: Option<&str>,
        azimuth: Option<f64>,
        elevation: Option<f64>,
        look_at: Option<[f64; 3]>,
        distance: Option<f64>,
        zoom: Option<f64>,
    ) -> PyResult<Bound<'py, PyArray3<u8>>> {
        let options = PictureKeywords {
            size,
            time,
            forces,
            view,
            azimuth,
            elevation,
            look_at,
            distance,
            zoom,
        };
        let shot = options.shot()?;
        let picture =
            self.with_columns(py, |columns| png::picture(columns, &shot)).map_err(error::view)?;
        let shape = [picture.height, picture.width, 3];
        PyArray1::from_vec(py, picture.rgb).reshape(shape)
    }

    /// Stops the recording and writes the files that it was started with, if any. The frames stay
    /// available. Stopping twice does nothing.
    fn stop(slf: &Bound<'_, Self>) -> PyResult<()> {
        let this = slf.get();
        let ColumnSource::Live(observer) = &this.source else { return Ok(()) };
        if !observer.active.swap(false, Ordering::Relaxed) {
            return Ok(());
        }
        // All files are tried; the first error is returned.
        let mut result = Ok(());
        for path in &this.paths {
            let content =
                exporter_for(path).map_or(ExportContent::Everything, |exporter| exporter.content);
            let shot = if content == ExportContent::Everything {
                PictureOptions::default()
            } else {
                this.shot
            };
            result = result.and(Self::write(slf, path, &shot));
        }
        result
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// Stops the recording, also after an exception.
    #[pyo3(signature = (*_exception))]
    fn __exit__(slf: &Bound<'_, Self>, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        Self::stop(slf)
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.frames(py)
    }

    /// The page in a notebook.
    fn _repr_html_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import(PYTHON_MODULE)?.call_method1("in_frame", (self.html(py)?,))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        self.with_columns(py, |columns| {
            let end = columns.frames.time.last().copied().unwrap_or(0.0);
            format!("Recording(\"{}\", {} frames, t={end} s)", columns.title, columns.len())
        })
    }
}

/// Adds a copy of a column to a dictionary.
fn set<T: Element + Copy>(
    arrays: &Bound<'_, PyDict>,
    name: &str,
    column: &[T],
    shape: Vec<usize>,
) -> PyResult<()> {
    arrays.set_item(name, PyArray1::from_slice(arrays.py(), column).reshape(shape)?)
}

/// Message of an exporter error, with the extensions that Python adds.
pub fn message_of(error: &ViewError) -> String {
    match error {
        ViewError::Ending { .. } => format!("{error}, .rrd (with rerun)"),
        other => other.to_string(),
    }
}
