//! A checked contact problem, and the maps between the caller's order of velocities and rows and the
//! engine's.

use std::sync::OnceLock;

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use stiction_solve::Solution;
use stiction_solve::file::RawProblem;
use stiction_solve::problem::FromFile;

use crate::arrays::numbers;
use crate::error;

/// A checked problem, with its arrays once they are known.
pub struct CheckedProblem {
    /// The problem and the map to the caller's order.
    pub built: FromFile,
    raw: OnceLock<RawProblem>,
}

impl CheckedProblem {
    /// A problem that came from arrays.
    pub fn of_raw(raw: RawProblem, built: FromFile) -> Self {
        Self { built, raw: OnceLock::from(raw) }
    }

    /// A problem of the engine, in its order.
    pub fn of_step(problem: stiction_solve::Problem) -> Self {
        let (velocity_order, row_order) =
            ((0..problem.dofs()).collect(), (0..problem.rows()).collect());
        Self { built: FromFile { problem, velocity_order, row_order }, raw: OnceLock::new() }
    }

    /// The arrays.
    pub fn raw(&self) -> &RawProblem {
        self.raw.get_or_init(|| self.built.problem.to_raw())
    }

    /// Velocities in the order of the engine.
    fn velocities_from_file(&self, v: &[f64]) -> Vec<f64> {
        self.built.velocity_order.iter().map(|at| v[*at]).collect()
    }

    /// Row values in the order of the engine.
    fn rows_from_file(&self, x: &[f64]) -> Vec<f64> {
        self.built.row_order.iter().map(|at| x[*at]).collect()
    }

    /// A flat array of `length` numbers.
    fn sized(&self, what: &str, given: &Bound<'_, PyAny>, length: usize) -> PyResult<Vec<f64>> {
        let x = numbers(what, given)?;
        if x.len() != length {
            let found = x.len();
            return Err(error::problem(format!("{what} has {found} entries; expected {length}")));
        }
        Ok(x)
    }

    /// Velocities from Python, in the order of the engine.
    pub fn read_velocities(&self, given: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
        let v = self.sized("velocity", given, self.built.problem.dofs())?;
        Ok(self.velocities_from_file(&v))
    }

    /// Impulses from Python, in the order of the engine.
    pub fn read_impulses(&self, given: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
        let lambda = self.sized("impulse", given, self.built.problem.rows())?;
        Ok(self.rows_from_file(&lambda))
    }
}

/// A guess from Python: a solution, a pair of velocities and impulses, or impulses alone.
pub fn read_guess(given: &CheckedProblem, guess: &Bound<'_, PyAny>) -> PyResult<Solution> {
    if let Ok(impulse) = guess.getattr("impulse") {
        let velocity = given.read_velocities(&guess.getattr("velocity")?)?;
        return Ok(Solution { velocity, impulse: given.read_impulses(&impulse)? });
    }
    if let Ok(pair) = guess.cast::<PyTuple>()
        && pair.len() == 2
    {
        let velocity = given.read_velocities(&pair.get_item(0)?)?;
        return Ok(Solution { velocity, impulse: given.read_impulses(&pair.get_item(1)?)? });
    }
    let impulse = given.read_impulses(guess)?;
    let mut velocity = vec![0.0; given.built.problem.dofs()];
    given.built.problem.velocity_of(&impulse, &mut velocity);
    Ok(Solution { velocity, impulse })
}
