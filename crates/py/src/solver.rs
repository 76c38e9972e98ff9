//! Solvers written in Python: any object with a method `solve(problem, guess)`.
//!
//! The answer, impulses or a pair of velocities and impulses, is measured by the residual measure like any
//! other. An exception is kept until the engine has returned, and raised then as it is.

use std::sync::{Arc, Mutex, PoisonError};

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use stiction_solve::law::FrictionModel;
use stiction_solve::{Monitor, Problem as Posed, Session, Solution, Solver, Status};

use crate::error;
use crate::given::{Given, read_guess};
use crate::problem::Problem;

/// What sessions call a solver from Python.
pub const NAME: &str = "python";

/// Where an exception waits.
#[derive(Clone, Default)]
pub struct Failure(Arc<Mutex<Option<PyErr>>>);

impl Failure {
    /// Takes the exception, if there is one.
    pub fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn keep(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// Whether an exception waits.
    pub fn is_kept(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

/// A solver from Python.
struct Plugged {
    object: Py<PyAny>,
    /// The problem that it is shown; that of the engine if absent.
    shown: Option<Arc<Given>>,
    models: &'static [FrictionModel],
    failure: Failure,
}

/// A session with a solver from Python. Its attribute `friction`, if it has one, says for which
/// model it answers unless asked otherwise.
pub fn session(
    object: &Bound<'_, PyAny>,
    shown: Option<Arc<Given>>,
) -> PyResult<(Session, Failure)> {
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
    let failure = Failure::default();
    let object = object.clone().unbind();
    let plugged = Plugged { object, shown, models, failure: failure.clone() };
    Ok((Session::with(NAME, Box::new(plugged)), failure))
}

/// A friction model by name.
pub fn friction_model(name: &str) -> PyResult<FrictionModel> {
    match name {
        "coulomb" => Ok(FrictionModel::Coulomb),
        "convex" => Ok(FrictionModel::Convex),
        _ => Err(error::setting(format!("friction = {name}; expected coulomb or convex"))),
    }
}

impl Solver for Plugged {
    fn models(&self) -> &'static [FrictionModel] {
        self.models
    }

    fn improve(
        &mut self,
        problem: &Posed,
        monitor: &mut Monitor,
        solution: &mut Solution,
    ) -> Status {
        if self.failure.is_kept() {
            return Status::Failed;
        }
        let given = match &self.shown {
            Some(given) => given.clone(),
            None => Problem::of_step(problem.clone()).given,
        };
        let asked = Python::attach(|py| self.ask(py, given, solution));
        match asked {
            Ok((answer, iterations)) => {
                *solution = answer;
                monitor.count(iterations);
                Status::Stalled // unless the residual measure finds that it converged
            }
            Err(error) => {
                self.failure.keep(error);
                Status::Failed
            }
        }
    }
}

impl Plugged {
    fn ask(
        &self,
        py: Python<'_>,
        given: Arc<Given>,
        guess: &Solution,
    ) -> PyResult<(Solution, usize)> {
        static GUESS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let velocity = PyArray1::from_vec(py, given.built.velocities_to_file(&guess.velocity));
        let impulse = PyArray1::from_vec(py, given.built.rows_to_file(&guess.impulse));
        let guess = GUESS.import(py, "stiction.types", "Guess")?.call1((velocity, impulse))?;
        let object = self.object.bind(py);
        let problem = Py::new(py, Problem { given: given.clone() })?;
        let answer = object.call_method1("solve", (problem, guess))?;
        let answer = read_guess(&given, &answer).map_err(|refused| {
            let name = object.get_type().name().map(|name| name.to_string()).unwrap_or_default();
            error::solver(format!("answer of {name}: {refused}"))
        })?;
        let count = object.getattr_opt("iterations")?.and_then(|count| count.extract().ok());
        Ok((answer, count.unwrap_or(1)))
    }
}
