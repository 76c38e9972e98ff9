//! Condition number of SAP's Hessian, `H = A + Jᵀ G J`, as a dense matrix.

use nalgebra::DMatrix;
use stiction_solve::contact::DIM;
use stiction_solve::{FrictionModel, Problem};

/// Largest over smallest eigenvalue of H at velocities v [-].
pub fn condition_number(problem: &Problem, v: &[f64]) -> f64 {
    let eigenvalues = hessian(problem, v).symmetric_eigenvalues();
    eigenvalues.max() / eigenvalues.min()
}

fn hessian(problem: &Problem, v: &[f64]) -> DMatrix<f64> {
    let n = problem.dofs();
    let mut H = DMatrix::zeros(n, n);
    let mut column = vec![0.0; n];
    let mut J = DMatrix::zeros(problem.rows(), n);
    let mut rows = vec![0.0; problem.rows()];
    for k in 0..n {
        let mut direction = vec![0.0; n];
        direction[k] = 1.0;
        problem.mass().mul(&direction, &mut column);
        H.column_mut(k).copy_from_slice(&column);
        problem.jacobian().mul(&direction, &mut rows);
        J.column_mut(k).copy_from_slice(&rows);
    }
    let mut c = vec![0.0; problem.rows()];
    problem.constraint_velocity(v, &mut c);
    for i in 0..problem.constraints().len() {
        let range = problem.row_range(i);
        let (dim, mut slope) = (range.len(), [0.0; DIM * DIM]);
        let (c, r) = (&c[range.clone()], &problem.compliance()[range.clone()]);
        let slope = &mut slope[..dim * dim];
        problem.law(i).slope(FrictionModel::Convex, c, r, slope);
        let G = DMatrix::from_row_slice(dim, dim, slope);
        let J = J.rows(range.start, dim);
        H += J.transpose() * G * J;
    }
    H
}
