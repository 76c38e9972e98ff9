//! The Python class `Problem`: contact problems from arrays, files or a step, with their residuals.
//!
//! All arrays are in the caller's order. The engine may order velocities and rows differently; the
//! maps between the two orders are kept.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use stiction_solve::Yardstick;
use stiction_solve::file::{self, Array, LoadOptions, RawProblem, npz, rows_of_kind};
use stiction_solve::law::{FrictionModel, Law};

use crate::arrays::{numbers, numbers_or_infinite, read_array, write_array};
use crate::checked_problem::CheckedProblem;
use crate::report::residual;
use crate::{error, matrix};

/// Names of the kinds of constraint, each at its number.
const KINDS: [&str; 4] = ["bilateral", "unilateral", "contact", "bounded"];
const CONTACT: i64 = 2;
/// Keys of the impulses between which a bounded constraint holds.
const LIMITS: [&str; 2] = ["lambda_min", "lambda_max"];

/// A contact problem A v = b + Jᵀ λ, u = J v + e + R λ, with a law between u and λ for each
/// constraint.
///
/// n velocities v [m/s], m rows; A (n, n) symmetric and positive definite [kg]; b (n,) [N·s];
/// J (m, n); λ (m,) [N·s]; e (m,) [m/s]; R (m,) [1/kg]. Rows of a contact are ordered normal,
/// tangent, tangent.
#[pyclass(frozen, module = "stiction._native")]
pub struct Problem {
    pub given: Arc<CheckedProblem>,
}

impl Problem {
    /// The problem of a step.
    pub fn of_step(problem: stiction_solve::Problem) -> Self {
        Self { given: Arc::new(CheckedProblem::of_step(problem)) }
    }

    fn of_raw(py: Python<'_>, raw: RawProblem) -> PyResult<Self> {
        let built =
            py.detach(|| stiction_solve::Problem::from_raw(&raw)).map_err(error::problem)?;
        Ok(Self { given: Arc::new(CheckedProblem::of_raw(raw, built)) })
    }

    fn problem(&self) -> &stiction_solve::Problem {
        &self.given.built.problem
    }
}

#[pymethods]
impl Problem {
    /// A problem from arrays: A and J dense, or sparse with a method tocsr.
    ///
    /// kinds says what each constraint is: "contact" (three rows), "unilateral", "bilateral" or
    /// "bounded" (one row each), or their numbers 2, 1, 0, 3; all contacts if absent. mu is the
    /// coefficient of friction of each constraint, or one for all; none if absent. row_start is the
    /// first row of each constraint; one after the other if absent. limits are the two arrays of
    /// impulses [N·s], per constraint, between which bounded constraints hold. blocks are lists of
    /// velocities that A does not couple with others; found if absent.
    #[new]
    #[pyo3(signature = (A, b, J, mu=None, kinds=None, e=None, R=None, blocks=None, *, row_start=None, limits=None, name="problem"))]
    #[allow(clippy::too_many_arguments)] // keyword arguments of Python
    fn new(
        A: &Bound<'_, PyAny>,
        b: &Bound<'_, PyAny>,
        J: &Bound<'_, PyAny>,
        mu: Option<&Bound<'_, PyAny>>,
        kinds: Option<&Bound<'_, PyAny>>,
        e: Option<&Bound<'_, PyAny>>,
        R: Option<&Bound<'_, PyAny>>,
        blocks: Option<Vec<Vec<usize>>>,
        row_start: Option<Vec<usize>>,
        limits: Option<(Bound<'_, PyAny>, Bound<'_, PyAny>)>,
        name: &str,
    ) -> PyResult<Self> {
        let (a, j) = (matrix::read("A", A)?, matrix::read("J", J)?);
        let (n, m) = (a.rows, j.rows);
        let kinds = read_kinds(kinds, m)?;
        let row_start = row_start.unwrap_or_else(|| starts(&kinds));
        let mu = match mu {
            None => vec![0.0; kinds.len()],
            Some(mu) => match mu.extract::<f64>() {
                Ok(mu) => kinds.iter().map(|k| if *k == CONTACT { mu } else { 0.0 }).collect(),
                Err(_) => numbers("mu", mu)?,
            },
        };
        let rows = |what: &str, given: Option<&Bound<'_, PyAny>>| match given {
            None => Ok(vec![0.0; m]),
            Some(given) => numbers(what, given),
        };
        let mut extra = BTreeMap::new();
        if let Some((lower, upper)) = &limits {
            for (key, given) in LIMITS.iter().zip([lower, upper]) {
                extra.insert((*key).to_owned(), Array::from_f64(&numbers_or_infinite(key, given)?));
            }
        }
        let blocks = blocks.map(|blocks| {
            let mut ends = vec![0];
            for block in &blocks {
                ends.push(ends[ends.len() - 1] + block.len());
            }
            (ends, blocks.concat())
        });
        let (e, r) = (rows("e", e)?, rows("R", R)?);
        let (b_of, name) = (numbers("b", b)?, name.to_owned());
        let raw =
            RawProblem { name, n, m, a, j, b: b_of, kinds, row_start, mu, e, r, blocks, extra };
        let path = PathBuf::from(&raw.name);
        raw.check(&path).map_err(error::problem)?;
        raw.check_finite(&path).map_err(error::problem)?;
        Self::of_raw(b.py(), raw)
    }

    /// Reads a problem: .npz, or FCLIB .h5 and .hdf5. symmetrise replaces an asymmetric matrix of an
    /// FCLIB file by its symmetric part.
    #[staticmethod]
    #[pyo3(signature = (path, *, symmetrise=false))]
    fn load(py: Python<'_>, path: PathBuf, symmetrise: bool) -> PyResult<Self> {
        let raw = py.detach(|| file::load(&path, LoadOptions { symmetrise }));
        Self::of_raw(py, raw.map_err(error::problem)?)
    }

    /// Writes the problem as an .npz archive that numpy.load opens too.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| npz::write(&path, self.given.raw())).map_err(error::problem)
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        self.problem().name()
    }

    /// Number n of velocities.
    #[getter]
    fn dofs(&self) -> usize {
        self.problem().dofs()
    }

    /// Number m of rows.
    #[getter]
    fn rows(&self) -> usize {
        self.problem().rows()
    }

    /// Number of contacts with friction.
    #[getter]
    fn contacts(&self) -> usize {
        self.problem().contacts()
    }

    /// A [kg], shape (n, n): sparse if SciPy is there, else dense.
    #[getter]
    fn A<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        matrix::write(py, &self.given.raw().a)
    }

    /// J, shape (m, n): sparse if SciPy is there, else dense.
    #[getter]
    fn J<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        matrix::write(py, &self.given.raw().j)
    }

    /// b [N·s], shape (n,).
    #[getter]
    fn b<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.given.raw().b)
    }

    /// Bias e [m/s], shape (m,).
    #[getter]
    fn e<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.given.raw().e)
    }

    /// Compliance R [1/kg], shape (m,).
    #[getter]
    fn R<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.given.raw().r)
    }

    /// Coefficient of friction of each constraint [-].
    #[getter]
    fn mu<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.given.raw().mu)
    }

    /// Kind of each constraint: 0 bilateral, 1 unilateral, 2 contact, 3 bounded.
    #[getter]
    fn kinds<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        PyArray1::from_slice(py, &self.given.raw().kinds)
    }

    /// First row of each constraint.
    #[getter]
    fn row_start<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        PyArray1::from_iter(py, self.given.raw().row_start.iter().map(|row| *row as i64))
    }

    /// Further arrays of the file: reference solutions, time step, structure.
    #[getter]
    fn extra<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let extra = PyDict::new(py);
        for (key, array) in &self.given.raw().extra {
            extra.set_item(key, write_array(py, array)?)?;
        }
        Ok(extra)
    }

    /// A⁻¹ b [m/s], shape (n,): the motion without constraints.
    #[getter]
    fn free_velocity<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let v = self.problem().free_velocity();
        PyArray1::from_vec(py, self.given.built.velocities_to_file(v))
    }

    /// A⁻¹ (b + Jᵀ λ) [m/s], shape (n,): the velocity that impulses λ [N·s] cause.
    fn velocity_of<'py>(&self, impulse: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let lambda = self.given.read_impulses(impulse)?;
        let mut v = vec![0.0; self.problem().dofs()];
        self.problem().velocity_of(&lambda, &mut v);
        Ok(PyArray1::from_vec(impulse.py(), self.given.built.velocities_to_file(&v)))
    }

    /// The nearest impulses [N·s], shape (m,), that satisfy the laws: within the friction cone of a
    /// contact, not negative at a stop, within the limits of a bounded constraint.
    fn project<'py>(&self, impulse: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let problem = self.problem();
        let mut lambda = self.given.read_impulses(impulse)?;
        for index in 0..problem.constraints().len() {
            let (law, rows) = (problem.law(index), problem.row_range(index));
            if matches!(law, Law::Soft(_)) {
                continue;
            }
            let given: Vec<f64> = lambda[rows.clone()].iter().map(|x| -x).collect();
            let unit = vec![1.0; rows.len()];
            law.respond(FrictionModel::Convex, &given, &unit, &mut lambda[rows]);
        }
        Ok(PyArray1::from_vec(impulse.py(), self.given.built.rows_to_file(&lambda)))
    }

    /// Residuals of impulses λ and velocities; the velocities that the impulses cause if absent.
    #[pyo3(signature = (impulse, velocity=None))]
    fn residual<'py>(
        &self,
        impulse: &Bound<'py, PyAny>,
        velocity: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let problem = self.problem();
        let lambda = self.given.read_impulses(impulse)?;
        let v = match velocity {
            Some(velocity) => self.given.read_velocities(velocity)?,
            None => {
                let mut v = vec![0.0; problem.dofs()];
                problem.velocity_of(&lambda, &mut v);
                v
            }
        };
        let mut yardstick = Yardstick::default();
        yardstick.prepare(problem);
        residual(impulse.py(), &yardstick.measure(problem, &v, &lambda))
    }

    fn __repr__(&self) -> String {
        format!(
            "Problem(\"{}\", dofs={}, rows={}, contacts={})",
            self.name(),
            self.dofs(),
            self.rows(),
            self.contacts()
        )
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let raw = self.given.raw();
        let arrays = PyDict::new(py);
        let matrices = [("A", &raw.a), ("J", &raw.j)];
        for (name, csr) in matrices {
            let index = |x: &[usize]| PyArray1::from_iter(py, x.iter().map(|x| *x as i64));
            arrays.set_item(format!("{name}_data"), PyArray1::from_slice(py, &csr.data))?;
            arrays.set_item(format!("{name}_indices"), index(&csr.indices))?;
            arrays.set_item(format!("{name}_indptr"), index(&csr.indptr))?;
        }
        for (key, values) in [("b", &raw.b), ("mu", &raw.mu), ("e", &raw.e), ("R", &raw.r)] {
            arrays.set_item(key, PyArray1::from_slice(py, values))?;
        }
        arrays.set_item("kinds", self.kinds(py))?;
        arrays.set_item("row_start", self.row_start(py))?;
        let make = py.import("stiction._native")?.getattr("_make_problem")?;
        let arguments = (&raw.name, arrays, raw.blocks.clone(), self.extra(py)?);
        Ok((make, arguments.into_pyobject(py)?))
    }
}

/// A problem from its arrays, for pickle.
#[pyfunction]
pub fn _make_problem(
    py: Python<'_>,
    name: String,
    arrays: &Bound<'_, PyDict>,
    blocks: Option<(Vec<usize>, Vec<usize>)>,
    extra: &Bound<'_, PyDict>,
) -> PyResult<Problem> {
    let get = |key: &str| -> PyResult<Bound<'_, PyAny>> {
        arrays.get_item(key)?.ok_or_else(|| error::problem(format!("no array is called {key}")))
    };
    let reals = |key: &str| -> PyResult<Vec<f64>> { numbers(key, &get(key)?) };
    let indices = |key: &str| -> PyResult<Vec<usize>> { get(key)?.extract() };
    let (b, e) = (reals("b")?, reals("e")?);
    let (n, m) = (b.len(), e.len());
    let csr = |name: &str, rows: usize| -> PyResult<file::Csr> {
        let part = |part: &str| format!("{name}_{part}");
        let (indptr, columns) = (indices(&part("indptr"))?, indices(&part("indices"))?);
        file::Csr::from_parts(rows, n, indptr, columns, reals(&part("data"))?)
            .map_err(|wrong| error::problem(format!("{name}: {}", wrong.found)))
    };
    let mut more = BTreeMap::new();
    for (key, value) in extra.iter() {
        more.insert(key.extract()?, read_array(&value)?);
    }
    let raw = RawProblem {
        name,
        n,
        m,
        a: csr("A", n)?,
        j: csr("J", m)?,
        b,
        kinds: get("kinds")?.extract()?,
        row_start: indices("row_start")?,
        mu: reals("mu")?,
        e,
        r: reals("R")?,
        blocks,
        extra: more,
    };
    raw.check(Path::new("pickled problem")).map_err(error::problem)?;
    Problem::of_raw(py, raw)
}

/// Kinds by number or by name.
fn read_kinds(given: Option<&Bound<'_, PyAny>>, rows: usize) -> PyResult<Vec<i64>> {
    let Some(given) = given else {
        let width = rows_of_kind(CONTACT).unwrap_or(1);
        if !rows.is_multiple_of(width) {
            return Err(error::problem(format!(
                "J has {rows} rows; expected a multiple of {width}, or the argument kinds"
            )));
        }
        return Ok(vec![CONTACT; rows / width]);
    };
    let mut kinds = Vec::new();
    for (index, kind) in given.try_iter()?.enumerate() {
        let kind = kind?;
        let found = match kind.cast::<PyString>() {
            Ok(name) => {
                let name = name.to_string();
                KINDS.iter().position(|known| *known == name).map(|at| at as i64)
            }
            Err(_) => kind.extract::<i64>().ok().filter(|kind| rows_of_kind(*kind).is_some()),
        };
        kinds.push(found.ok_or_else(|| {
            let known = KINDS.join(", ");
            error::problem(format!("kinds[{index}] = {kind}; expected one of: {known}, or 0 to 3"))
        })?);
    }
    Ok(kinds)
}

/// First rows of constraints one after the other.
fn starts(kinds: &[i64]) -> Vec<usize> {
    let mut next = 0;
    let rows = kinds.iter().map(|kind| rows_of_kind(*kind).unwrap_or(0));
    let start = |rows| {
        let first = next;
        next += rows;
        first
    };
    rows.map(start).collect()
}
