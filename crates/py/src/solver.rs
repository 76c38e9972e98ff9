//! Solvers written in Python: any object with a method `solve(problem, guess)`.
//!
//! Residuals of the returned impulses, or pair of velocities and impulses, are measured as for every
//! solver. An exception is stored until the engine has returned, and then raised unchanged.

use std::sync::{Arc, Mutex, PoisonError};

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use stiction_solve::law::FrictionModel;
use stiction_solve::{Monitor, Problem as Posed, Session, Solution, Solver, Status};

use crate::checked_problem::{CheckedProblem, read_guess};
use crate::error;
use crate::problem::Problem;

/// Name of every Python solver in sessions and settings.
pub const NAME: &str = "python";

/// An exception raised during a solve, to be raised once the engine has returned.
#[derive(Clone, Default)]
pub struct PendingException(Arc<Mutex<Option<PyErr>>>);

impl PendingException {
    /// Takes the exception, if there is one.
    pub fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Stores an exception; the first one is kept.
    fn store(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// Whether an exception is stored.
    pub fn is_some(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

/// A solver written in Python.
struct PythonSolver {
    object: Py<PyAny>,
    /// The problem passed to the solver; the engine's if absent.
    given: Option<Arc<CheckedProblem>>,
    models: &'static [FrictionModel],
    exception: PendingException,
}

/// A session with a Python solver. Its attribute `friction`, if it has one, names its default friction
/// model.
pub fn session(
    object: &Bound<'_, PyAny>,
    given: Option<Arc<CheckedProblem>>,
) -> PyResult<(Session, PendingException)> {
    if !object.hasattr("solve")? {
        let found = object.get_type().name()?;
        return Err(error::solver(format!(
            "solver: found a {found}; expected a name, or an object with a method solve(problem, guess)"
        )));
    }
    let friction = match object.getattr_opt("friction")? {
        Some(friction) => Some(friction_model(&friction.extract::<String>()?)?),
        None => None,
    };
    let models: &'static [FrictionModel] = match friction {
        Some(FrictionModel::Convex) => &[FrictionModel::Convex, FrictionModel::Coulomb],
        _ => &[FrictionModel::Coulomb, FrictionModel::Convex],
    };
    let exception = PendingException::default();
    let object = object.clone().unbind();
    let solver = PythonSolver { object, given, models, exception: exception.clone() };
    Ok((Session::with(NAME, Box::new(solver)), exception))
}

/// A friction model by name.
pub fn friction_model(name: &str) -> PyResult<FrictionModel> {
    match name {
        "coulomb" => Ok(FrictionModel::Coulomb),
        "convex" => Ok(FrictionModel::Convex),
        _ => Err(error::setting(format!("friction = {name}; expected coulomb or convex"))),
    }
}

impl Solver for PythonSolver {
    fn models(&self) -> &'static [FrictionModel] {
        self.models
    }

    fn improve(
        &mut self,
        problem: &Posed,
        monitor: &mut Monitor,
        solution: &mut Solution,
    ) -> Status {
        if self.exception.is_some() {
            return Status::Failed;
        }
        let given = match &self.given {
            Some(given) => given.clone(),
            None => Problem::of_step(problem.clone()).given,
        };
        let result = Python::attach(|py| self.call(py, given, solution));
        match result {
            Ok((found, iterations)) => {
                *solution = found;
                monitor.count(iterations);
                Status::Stalled // unless the measured residual is within the tolerance
            }
            Err(error) => {
                self.exception.store(error);
                Status::Failed
            }
        }
    }
}

impl PythonSolver {
    /// Calls the method `solve`; returns its solution and number of iterations.
    fn call(
        &self,
        py: Python<'_>,
        given: Arc<CheckedProblem>,
        guess: &Solution,
    ) -> PyResult<(Solution, usize)> {
        static GUESS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let velocity = PyArray1::from_vec(py, given.built.velocities_to_file(&guess.velocity));
        let impulse = PyArray1::from_vec(py, given.built.rows_to_file(&guess.impulse));
        let guess = GUESS.import(py, "stiction.types", "Guess")?.call1((velocity, impulse))?;
        let object = self.object.bind(py);
        let problem = Py::new(py, Problem { given: given.clone() })?;
        let returned = object.call_method1("solve", (problem, guess))?;
        let found = read_guess(&given, &returned).map_err(|error| {
            let name = object.get_type().name().map(|name| name.to_string()).unwrap_or_default();
            error::solver(format!("return value of {name}.solve: {error}"))
        })?;
        let count = object.getattr_opt("iterations")?.and_then(|count| count.extract().ok());
        Ok((found, count.unwrap_or(1)))
    }
}
