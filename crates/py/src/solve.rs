//! The Python function `solve`: solves one contact problem and measures the residuals of the solution.

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyType};
use stiction_sim::Settings;
use stiction_solve::monitor::TracePoint;
use stiction_solve::setting::SettingValue;
use stiction_solve::{Goal, Report, Session, Solution};

use crate::checked_problem::read_guess;
use crate::problem::Problem;
use crate::report::residual;
use crate::solver::{PendingException, friction_model, session};
use crate::{error, settings};

/// Solves a contact problem. solver is a name, or an object with a method solve(problem, guess).
///
/// tolerance is the residual to reach, relative to the reference velocity; friction is
/// "coulomb" (exact) or "convex" (relaxed), the solver's own if absent; guess is an earlier solution,
/// a pair of velocities and impulses, or impulses. trace keeps the residual over iterations.
/// Further keywords are parameters of the solver.
#[pyfunction]
#[pyo3(signature = (problem, solver=None, tolerance=1e-6, max_iterations=None, friction=None, guess=None, trace=false, **settings))]
#[allow(clippy::too_many_arguments)] // keyword arguments of Python
pub fn solve<'py>(
    py: Python<'py>,
    problem: &Bound<'py, Problem>,
    solver: Option<&Bound<'py, PyAny>>,
    tolerance: f64,
    max_iterations: Option<usize>,
    friction: Option<&str>,
    guess: Option<&Bound<'py, PyAny>>,
    trace: bool,
    settings: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let given = problem.get().given.clone();
    let mut checked = Settings::default();
    checked.set_value("tolerance", &SettingValue::Number(tolerance)).map_err(error::settings)?;
    let (mut session, exception) = match solver {
        None => (Session::new("auto").map_err(error::solver)?, PendingException::default()),
        Some(named) if named.is_instance_of::<PyString>() => {
            let name: String = named.extract()?;
            (Session::new(&name).map_err(error::solver)?, PendingException::default())
        }
        Some(object) => session(object, Some(given.clone()))?,
    };
    for (key, value) in settings::pairs(settings)? {
        let set = session.set(&key.replace('_', "-"), &value);
        set.map_err(|error| error::solver(settings::solver_message(&error, "")))?;
    }
    let friction_model = friction.map(friction_model).transpose()?;
    let goal = Goal { tolerance, max_iterations, friction_model, trace, ..Goal::default() };
    let mut solution = match guess {
        Some(guess) => read_guess(&given, guess)?,
        None => Solution::cold(&given.built.problem),
    };
    let report = py.detach(|| session.solve(&given.built.problem, &goal, &mut solution));
    if let Some(error) = exception.take() {
        return Err(error);
    }
    let report = report.map_err(error::solver)?;
    let velocity = PyArray1::from_vec(py, given.built.velocities_to_file(&solution.velocity));
    let impulse = PyArray1::from_vec(py, given.built.rows_to_file(&solution.impulse));
    let report = report_of(py, &report, trace, session.notes())?;
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS.import(py, "stiction.types", "Solution")?.call1((velocity, impulse, report))
}

fn report_of<'py>(
    py: Python<'py>,
    report: &Report,
    trace: bool,
    notes: Vec<String>,
) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let trace = if trace { Some(trace_of(py, &report.trace)?) } else { None };
    CLASS.import(py, "stiction.types", "SolveReport")?.call1((
        report.solver,
        report.friction_model.name(),
        report.status.name(),
        report.iterations,
        residual(py, &report.residuals)?,
        report.seconds,
        trace,
        notes,
    ))
}

fn trace_of<'py>(py: Python<'py>, trace: &[TracePoint]) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let column = |pick: fn(&TracePoint) -> f64| PyArray1::from_iter(py, trace.iter().map(pick));
    CLASS.import(py, "stiction.types", "Trace")?.call1((
        PyArray1::from_iter(py, trace.iter().map(|point| point.iteration as i64)),
        column(|point| point.seconds),
        column(|point| point.residual),
        column(|point| point.momentum),
        column(|point| point.slack),
        column(|point| point.cost),
        column(|point| point.complementarity),
    ))
}
