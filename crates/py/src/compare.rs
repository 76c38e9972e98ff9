//! The Python function `compare`: runs a model with several solvers.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use stiction_sim::Settings;
use stiction_study::compare::{
    Comparison as Found, ComparisonPlan, ComparisonProgress, PlanError, TIME_LIMIT,
    compare as compare_runs,
};
use stiction_study::{RunLength, SceneSource};
use stiction_view::compare::{ReportProvenance, check, page, write};

use crate::model::Model;
use crate::model_source::ModelContent;
use crate::settings::SOLVER_KEYWORD_PREFIX;
use crate::{error, load, settings};

/// Time between two checks for Python signals (Ctrl-C).
const SIGNAL_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Comparison of several solvers on one model: a document with all figures, and a report with plots
/// and the motion side by side. Made by compare.
#[pyclass(frozen, module = "stiction._native")]
pub struct Comparison {
    found: Found,
    making: ReportProvenance,
}

#[pymethods]
impl Comparison {
    /// All figures, as `stiction compare --json` prints them: a dictionary with the keys "solvers",
    /// one entry per solver with the figures of its run, and "captured", one entry per step that
    /// every solver solved, with solutions and convergence histories.
    #[getter]
    fn document<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut document = self.found.json();
        document["command"] = self.making.command.clone().into();
        document["threads"] = self.making.threads.into();
        py.import("json")?.call_method1("loads", (document.to_string(),))
    }

    /// Name of the model.
    #[getter]
    fn target(&self) -> &str {
        &self.found.target
    }

    /// The first solver that finished the run, whose steps were captured; None if there is none.
    #[getter]
    fn reference(&self) -> Option<&str> {
        self.found.reference.map(|k| self.found.compared_solvers[k].solver.as_str())
    }

    /// Results of the runs, by solver: the entries "solvers" of the document.
    #[getter]
    fn solvers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let solvers = PyDict::new(py);
        for entry in self.document(py)?.get_item("solvers")?.try_iter()? {
            let entry = entry?;
            solvers.set_item(entry.get_item("solver")?, entry)?;
        }
        Ok(solvers)
    }

    /// The steps that every solver solved from a cold start: the entries "captured" of the
    /// document.
    #[getter]
    fn captured<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.document(py)?.get_item("captured")
    }

    /// The report as a self-contained HTML page.
    fn html(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| page(&self.found, &self.making)).map_err(error::recording)
    }

    /// Writes the report to a file that ends in .html.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| check(&path)).map_err(error::view)?;
        py.detach(|| write(&self.found, &self.making, &path)).map_err(error::view)
    }

    /// The report in a notebook.
    fn _repr_html_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("stiction.recording")?.call_method1("in_frame", (self.html(py)?,))
    }

    fn __repr__(&self) -> String {
        let names: Vec<&str> =
            self.found.compared_solvers.iter().map(|c| c.solver.as_str()).collect();
        let (target, steps) = (&self.found.target, self.found.steps);
        format!("Comparison(\"{target}\", {}, {steps} steps)", names.join(", "))
    }
}

/// Runs a model with several solvers, and solves representative steps with each of them.
///
/// model is a Model, or the name of a scenario or of a file. Each solver runs `steps` steps, or `time`
/// [s], or the model's own duration, from the same initial state. time_limit [s] is the limit of each
/// solver on each captured step; solver_settings are parameters of solvers, by their names;
/// report is a file for the report, which ends in .html. Further keywords are settings as of
/// Simulation, for all runs.
#[pyfunction]
#[pyo3(signature = (model, solvers, *, steps=None, time=None, time_step=None, time_limit=TIME_LIMIT.as_secs_f64(), threads=None, report=None, solver_settings=None, **settings))]
#[allow(clippy::too_many_arguments)] // keyword arguments of Python
pub fn compare(
    py: Python<'_>,
    model: &Bound<'_, PyAny>,
    solvers: Vec<String>,
    steps: Option<usize>,
    time: Option<f64>,
    time_step: Option<f64>,
    time_limit: f64,
    threads: Option<usize>,
    report: Option<PathBuf>,
    solver_settings: Option<&Bound<'_, PyDict>>,
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<Comparison> {
    if let Some(path) = &report {
        py.detach(|| check(path)).map_err(error::view)?;
    }
    if steps.is_some() && time.is_some() {
        return Err(error::setting("found steps and time; expected one"));
    }
    let content = model_of(py, model)?.content;
    let runs = settings_of_solvers(&content, &solvers, time_step, solver_settings, settings)?;
    let scene = content.scene().map_err(error::study)?;
    let time_step = runs.first().map_or(scene.settings.time_step, |first| first.time_step);
    let steps = RunLength::of(steps, time).steps(scene.duration, time_step);
    let steps = steps.map_err(|empty| error::setting(format!("found {empty}")))?;
    let plan = ComparisonPlan::new(&content.name, runs, steps).map_err(plan_error)?;
    let plan = plan.time_limit(time_limit).map_err(plan_error)?;
    let plan = plan.visuals(&content.visual_shapes().shapes);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build();
    let pool = pool.map_err(|error| error::setting(format!("threads = {threads:?}: {error}")))?;
    let (mut stopped, mut last_check) = (None, Instant::now());
    let watch = |_: ComparisonProgress<'_>| {
        if last_check.elapsed() > SIGNAL_CHECK_INTERVAL {
            last_check = Instant::now();
            stopped = Python::attach(|py| py.check_signals()).err();
        }
        if stopped.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let found = py.detach(|| pool.install(|| compare_runs(&plan, || content.scene(), watch)));
    if let Some(stopped) = stopped {
        return Err(stopped);
    }
    let command = format!("stiction.compare(\"{}\", {solvers:?}, steps={steps})", content.name);
    let making = ReportProvenance { command, threads: pool.current_num_threads() };
    let found = Comparison { found: found.map_err(error::study)?, making };
    if let Some(path) = report {
        found.save(py, path)?;
    }
    Ok(found)
}

/// The settings of each solver's run: those of the model, of all runs, and of the one solver.
fn settings_of_solvers(
    content: &ModelContent,
    solvers: &[String],
    time_step: Option<f64>,
    solver_settings: Option<&Bound<'_, PyDict>>,
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<Vec<Settings>> {
    let mut all = Vec::with_capacity(solvers.len());
    for solver in solvers {
        let mut chosen = content.settings.clone();
        settings::choose(&mut chosen, Some(solver.clone()), time_step, settings)?;
        if let Some(own) = solver_settings.and_then(|all| all.get_item(solver).transpose()) {
            for (key, value) in settings::pairs(Some(own?.cast::<PyDict>()?))? {
                chosen.set_solver_setting(&key.replace('_', "-"), value);
            }
        }
        all.push(chosen);
    }
    for key in solver_settings.into_iter().flat_map(|all| all.keys()) {
        let name: String = key.extract()?;
        if !solvers.contains(&name) {
            let known = solvers.join(", ");
            let found = format!("solver_settings: found {name}; expected one of: {known}");
            return Err(error::setting(found));
        }
    }
    Ok(all)
}

/// The exception of a comparison that cannot be made.
fn plan_error(error: PlanError) -> PyErr {
    match error {
        PlanError::Setting(error) => {
            error::solver(settings::solver_message(&error, SOLVER_KEYWORD_PREFIX))
        }
        other => error::setting(other),
    }
}

/// A model object, or the model of a scenario or file name.
fn model_of(py: Python<'_>, given: &Bound<'_, PyAny>) -> PyResult<Model> {
    if let Ok(model) = given.cast::<Model>() {
        return Ok(Model { content: model.get().content.clone() });
    }
    if given.is_instance_of::<PyString>() {
        let name: String = given.extract()?;
        if SceneSource::is_scenario(&name) || !Path::new(&name).exists() {
            return load::scenario(py, &name, None);
        }
    }
    load::load(py, given.extract()?, false, false, Vec::new(), true, false)
}
