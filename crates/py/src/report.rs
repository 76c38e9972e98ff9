//! The Python class `StepReport`: convergence, contacts and times of one or several steps.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};
use stiction_sim::{PHASES, StepReport as Report};
use stiction_solve::law::FrictionModel;
use stiction_solve::{Residuals, Status};

/// Report on one or several steps. Over several steps, residual, iterations, status and penetration
/// are the worst of them, times are sums, and the rest is that of the last step.
#[pyclass(frozen, module = "stiction._native")]
pub struct StepReport {
    steps: usize,
    status: Status,
    friction: FrictionModel,
    residuals: Residuals,
    /// Most iterations of the solver in one step.
    #[pyo3(get)]
    iterations: usize,
    /// Iterations of the solver in all steps.
    #[pyo3(get)]
    total_iterations: usize,
    /// Steps that did not reach the tolerance, or whose constraints had to be softened.
    #[pyo3(get)]
    unconverged: usize,
    /// Points of contact in the last step, also those still apart.
    #[pyo3(get)]
    contacts: usize,
    /// Rows of the last step's contact problem.
    #[pyo3(get)]
    rows: usize,
    /// Deepest penetration [m].
    #[pyo3(get)]
    penetration: f64,
    /// Largest violation of a joint or tendon limit [m, rad].
    #[pyo3(get)]
    limit_error: f64,
    /// Largest position error of an equality [m, rad].
    #[pyo3(get)]
    equality_error: f64,
    /// Whether a problem had no solution and was solved with softened constraints.
    #[pyo3(get)]
    softened: bool,
    /// Whether something moved faster than the time step resolves.
    #[pyo3(get)]
    unresolved: bool,
    /// Largest number of inverted elements of soft bodies after one step.
    #[pyo3(get)]
    inverted: usize,
    /// Bodies that are asleep.
    #[pyo3(get)]
    asleep: usize,
    seconds: [f64; PHASES.len()],
}

impl Default for StepReport {
    fn default() -> Self {
        Self {
            steps: 0,
            status: Status::Converged,
            friction: FrictionModel::Coulomb,
            residuals: Residuals::default(),
            iterations: 0,
            total_iterations: 0,
            unconverged: 0,
            contacts: 0,
            rows: 0,
            penetration: 0.0,
            limit_error: 0.0,
            equality_error: 0.0,
            softened: false,
            unresolved: false,
            inverted: 0,
            asleep: 0,
            seconds: [0.0; PHASES.len()],
        }
    }
}

/// The larger, or NaN.
fn worst(a: &mut f64, b: f64) {
    if b.is_nan() || b > *a {
        *a = b;
    }
}

impl StepReport {
    /// Adds a step.
    pub fn add(&mut self, report: &Report) {
        self.steps += 1;
        if self.status == Status::Converged {
            self.status = report.status;
        }
        self.friction = report.friction_model;
        let (sum, one) = (&mut self.residuals, &report.residuals);
        worst(&mut sum.momentum, one.momentum);
        worst(&mut sum.coulomb, one.coulomb);
        worst(&mut sum.convex, one.convex);
        worst(&mut sum.natural_map, one.natural_map);
        sum.reference_velocity = one.reference_velocity;
        self.iterations = self.iterations.max(report.iterations);
        self.total_iterations += report.iterations;
        self.unconverged += usize::from(!report.converged());
        (self.contacts, self.rows, self.asleep) = (report.contacts, report.rows, report.asleep);
        worst(&mut self.penetration, report.penetration);
        worst(&mut self.limit_error, report.limit_error);
        worst(&mut self.equality_error, report.equality_error);
        self.softened |= report.softened;
        self.unresolved |= report.unresolved;
        self.inverted = self.inverted.max(report.inverted);
        for (sum, time) in self.seconds.iter_mut().zip(report.phases.all()) {
            *sum += time.as_secs_f64();
        }
    }
}

#[pymethods]
impl StepReport {
    /// Number of steps.
    #[getter]
    fn steps(&self) -> usize {
        self.steps
    }

    /// Status of the contact problems: `converged`, `iteration_limit`, `stalled` or `failed`.
    #[getter]
    fn status(&self) -> &'static str {
        self.status.name()
    }

    /// Whether every step reached the tolerance without softening.
    #[getter]
    fn converged(&self) -> bool {
        self.unconverged == 0
    }

    /// The friction model that was solved for: `coulomb` or `convex`.
    #[getter]
    fn friction(&self) -> &'static str {
        self.friction.name()
    }

    /// Residuals, measured on the contact problems.
    #[getter]
    fn residual<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        residual(py, &self.residuals)
    }

    /// Time of each phase of the step [s].
    #[getter]
    fn phases<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let parts = PyDict::new(py);
        for (name, seconds) in PHASES.iter().zip(self.seconds) {
            parts.set_item(name, seconds)?;
        }
        Ok(parts)
    }

    /// Time of all steps [s].
    #[getter]
    fn seconds(&self) -> f64 {
        self.seconds.iter().sum()
    }

    fn __repr__(&self) -> String {
        format!(
            "StepReport(steps={}, status=\"{}\", iterations={}, contacts={}, momentum={:.1e}, \
             coulomb={:.1e} m/s, penetration={:.1e} m)",
            self.steps,
            self.status(),
            self.iterations,
            self.contacts,
            self.residuals.momentum,
            self.residuals.coulomb,
            self.penetration,
        )
    }
}

/// A named tuple of residuals.
pub fn residual<'py>(py: Python<'py>, found: &Residuals) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS.import(py, "stiction.types", "Residual")?.call1((
        found.momentum,
        found.coulomb,
        found.convex,
        found.natural_map,
        found.reference_velocity,
    ))
}
