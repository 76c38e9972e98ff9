//! The Delassus operator `W = J A⁻¹ Jᵀ` as a dense matrix, one solve with A per row.
//!
//! Memory and time grow with the square of the number of rows; [Lee23, Table II] lists the cost in
//! parentheses.

use stiction_solve::Problem;

/// W and the motion of the rows without impulses.
#[derive(Clone, Debug, Default)]
pub struct Delassus {
    rows: usize,
    /// W, row-major [1/kg].
    values: Vec<f64>,
    /// J v* + e [m/s].
    free: Vec<f64>,
    column: Vec<f64>,
    unit: Vec<f64>,
}

impl Delassus {
    /// Assembles the operator of a problem.
    pub fn assemble(&mut self, problem: &Problem) {
        let (m, n) = (problem.rows(), problem.dofs());
        self.rows = m;
        self.free.clear();
        self.free.extend_from_slice(problem.free_rows());
        self.values.clear();
        self.values.resize(m * m, 0.0);
        self.unit.clear();
        self.unit.resize(m, 0.0);
        for row in 0..m {
            self.column.clear();
            self.column.resize(n, 0.0);
            self.unit[row] = 1.0;
            problem.jacobian().mul_transposed_add(&self.unit, &mut self.column);
            self.unit[row] = 0.0;
            problem.mass().solve(&mut self.column);
            // W is symmetric: its column is its row.
            problem.jacobian().mul(&self.column, &mut self.values[row * m..(row + 1) * m]);
        }
    }

    /// `(W λ)_row + (J v* + e)_row` [m/s].
    pub fn velocity(&self, row: usize, impulse: &[f64]) -> f64 {
        let of_row = &self.values[row * self.rows..(row + 1) * self.rows];
        let product: f64 = of_row.iter().zip(impulse).map(|(w, x)| w * x).sum();
        self.free[row] + product
    }

    /// Largest sum of absolute values in a row of the diagonal block of some rows [1/kg]: at least
    /// its largest eigenvalue.
    pub fn bound(&self, rows: std::ops::Range<usize>) -> f64 {
        let sum = |row: usize| {
            let block = row * self.rows + rows.start..row * self.rows + rows.end;
            self.values[block].iter().map(|w| w.abs()).sum::<f64>()
        };
        rows.clone().map(sum).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_solve::catalogue::{self, Variation};

    #[test]
    fn the_operator_times_an_impulse_is_the_velocity_that_the_impulse_causes() {
        let entry = catalogue::find("stack").unwrap();
        let problem = (entry.build)(&Variation::default()).unwrap();
        let mut operator = Delassus::default();
        operator.assemble(&problem);
        let impulse: Vec<f64> = (0..problem.rows()).map(|k| (k as f64).sin()).collect();
        let (mut v, mut c) = (vec![0.0; problem.dofs()], vec![0.0; problem.rows()]);
        problem.velocity_of(&impulse, &mut v);
        problem.constraint_velocity(&v, &mut c);
        let size = c.iter().fold(0.0, |most: f64, c| most.max(c.abs()));
        for (row, c) in c.iter().enumerate() {
            // Round-off of sums over as many terms as there are rows and velocities.
            assert!((operator.velocity(row, &impulse) - c).abs() <= 1e-9 * size);
        }
    }
}
