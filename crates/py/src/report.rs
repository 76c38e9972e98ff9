//! Report of one or several steps. Its fields are converted when they are read.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType};
use stiction_sim::{
    PHASES, STEP_STATUSES, StartErrors, StepReport as Report, StepStatistics, StepStatus,
};
use stiction_solve::Residuals;

/// Results of one or several steps. Over several steps, residual, iterations, status and penetration
/// are the worst of them, times are sums, and the rest is that of the last step.
#[pyclass(frozen, module = "stiction._native")]
#[derive(Default)]
pub struct StepReport {
    statistics: StepStatistics,
}

impl StepReport {
    /// Adds a step.
    pub fn add(&mut self, report: &Report) {
        self.statistics.add(report);
    }
}

#[pymethods]
impl StepReport {
    /// Number of steps.
    #[getter]
    fn steps(&self) -> usize {
        self.statistics.steps
    }

    /// Worst status of a whole step: `ok`, `softened`, `geometry_uncertain`, `motion_not_resolved`,
    /// `correction_not_done` or `problem_not_solved`.
    #[getter]
    fn status(&self) -> &'static str {
        self.statistics.status().name()
    }

    /// Number of steps of each status, by name; they add up to `steps`.
    #[getter]
    fn status_counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counts = PyDict::new(py);
        for status in STEP_STATUSES {
            counts.set_item(status.name(), self.statistics.count(status))?;
        }
        Ok(counts)
    }

    /// All faults of the steps, the worst last; empty if every step is `ok`.
    #[getter]
    fn faults<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.statistics.flags.iter().map(StepStatus::name).collect::<Vec<_>>())
    }

    /// Worst status of the contact problems: `converged`, `iteration_limit`, `stalled` or `failed`.
    #[getter]
    fn solver_status(&self) -> &'static str {
        self.statistics.solver_status.name()
    }

    /// Whether every step met the tolerance, without softened constraints.
    #[getter]
    fn converged(&self) -> bool {
        self.statistics.unconverged == 0
    }

    /// The friction model that was solved for: `coulomb` or `convex`.
    #[getter]
    fn friction(&self) -> &'static str {
        self.statistics.friction_model.name()
    }

    /// Residuals of the solutions.
    #[getter]
    fn residual<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let of = &self.statistics;
        let worst = Residuals {
            momentum: of.momentum.max(),
            coulomb: of.coulomb.max(),
            convex: of.convex.max(),
            natural_map: of.natural_map.max(),
            reference_velocity: of.reference_velocity.last(),
        };
        residual(py, &worst)
    }

    /// Largest number of solver iterations in one step.
    #[getter]
    fn iterations(&self) -> usize {
        self.statistics.iterations.max() as usize
    }

    /// Solver iterations in all steps.
    #[getter]
    fn total_iterations(&self) -> usize {
        self.statistics.iterations.sum() as usize
    }

    /// Steps whose solution missed the tolerance, or needed softened constraints.
    #[getter]
    fn unconverged(&self) -> usize {
        self.statistics.unconverged
    }

    /// Contacts detected in the last step, also those still apart.
    #[getter]
    fn contacts(&self) -> usize {
        self.statistics.contacts.last() as usize
    }

    /// Rows of the last step's contact problem.
    #[getter]
    fn rows(&self) -> usize {
        self.statistics.rows.last() as usize
    }

    /// Deepest penetration [m].
    #[getter]
    fn penetration(&self) -> f64 {
        self.statistics.penetration.max()
    }

    /// Largest distance of a coordinate or a tendon beyond its range [m, rad].
    #[getter]
    fn limit_error(&self) -> f64 {
        self.statistics.limit_error.max()
    }

    /// Largest position error of an equality [m, rad].
    #[getter]
    fn equality_error(&self) -> f64 {
        self.statistics.equality_error.max()
    }

    /// Constraints that the state violated when it was set from outside: numbers of `overlaps`, `limits` and
    /// `equalities`, and the largest `depth` [m], and `beyond` and `open` [m, rad]; empty if none.
    #[getter]
    fn start_errors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        let StartErrors { overlaps, depth, limits, beyond, equalities, open } =
            self.statistics.start_errors;
        let kinds = [
            (("overlaps", overlaps), ("depth", depth)),
            (("limits", limits), ("beyond", beyond)),
            (("equalities", equalities), ("open", open)),
        ];
        for ((kind, count), (size, largest)) in kinds.into_iter().filter(|kind| kind.0.1 > 0) {
            found.set_item(kind, count)?;
            found.set_item(size, largest)?;
        }
        Ok(found)
    }

    /// Whether a problem could not be solved as it was, and was solved with softened constraints.
    #[getter]
    fn softened(&self) -> bool {
        self.statistics.softened > 0
    }

    /// Whether the time step was too large for the motion.
    #[getter]
    fn unresolved(&self) -> bool {
        self.statistics.unresolved > 0
    }

    /// Whether position errors could not be removed in a step.
    #[getter]
    fn correction_failed(&self) -> bool {
        self.statistics.correction_failed > 0
    }

    /// Largest number of contacts in a step whose depth is not known to its tolerance.
    #[getter]
    fn uncertain_contacts(&self) -> usize {
        self.statistics.uncertain_contacts
    }

    /// Number of steps that were computed in parts, because their motion was not resolved at once.
    #[getter]
    fn divided_steps(&self) -> usize {
        self.statistics.divided
    }

    /// Largest energy without cause of a tree in a step, relative to what the scheme explains [-]: above one the
    /// motion is not resolved.
    #[getter]
    fn energy_imbalance(&self) -> f64 {
        self.statistics.energy_imbalance.max()
    }

    /// Largest number of inverted elements of soft bodies after a step.
    #[getter]
    fn inverted(&self) -> usize {
        self.statistics.inverted
    }

    /// Trees that are asleep.
    #[getter]
    fn asleep(&self) -> usize {
        self.statistics.asleep.last() as usize
    }

    /// Largest number of parts in which a step was computed; one unless its motion was not resolved at once.
    #[getter]
    fn parts(&self) -> usize {
        self.statistics.parts
    }

    /// Whether another run has the same bits: not if solves have a time budget.
    #[getter]
    fn reproducible(&self) -> bool {
        self.statistics.reproducible
    }

    /// Time of each phase of the step [s].
    #[getter]
    fn phases<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let phases = PyDict::new(py);
        for (name, time) in PHASES.iter().zip(self.statistics.phases) {
            phases.set_item(name, time.as_secs_f64())?;
        }
        Ok(phases)
    }

    /// Time of all steps [s].
    #[getter]
    fn seconds(&self) -> f64 {
        self.statistics.phases.iter().map(|time| time.as_secs_f64()).sum()
    }

    fn __repr__(&self) -> String {
        let start = self.statistics.start_errors;
        let start =
            if start.is_empty() { String::new() } else { format!(", at the start {start}") };
        format!(
            "StepReport(steps={}, status=\"{}\", solver_status=\"{}\", iterations={}, contacts={}, \
             momentum={:.1e}, coulomb={:.1e} m/s, penetration={:.1e} m{start})",
            self.steps(),
            self.status(),
            self.solver_status(),
            self.iterations(),
            self.contacts(),
            self.statistics.momentum.max(),
            self.statistics.coulomb.max(),
            self.penetration(),
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
