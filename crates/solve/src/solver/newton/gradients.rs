//! Conjugate gradients for a Newton step with the factor of an earlier Hessian as preconditioner.
//!
//! Solves `(A + Jᵀ G J) x = −g`, never formed, with a factor of `A + Jᵀ G₀ J`. Both differ only where
//! contacts have changed, so that few iterations suffice; each costs one product with A and J and
//! one solve. Stops and returns false if it converges too slowly to be worthwhile.

use super::Hessian;
use crate::contact::DIM;
use crate::problem::{Problem, dot};

/// Residual, relative to the right-hand side in the norm of the preconditioner, that is small
/// enough for a Newton step.
const ENOUGH: f64 = 1e-3;
/// Iterations, and the factor by which each must reduce the residual on average.
const MAX_ITERATIONS: usize = 8;
const LEAST_RATE: f64 = 0.4;

/// Memory of the iteration.
#[derive(Debug, Default)]
pub(super) struct Gradients {
    residual: Vec<f64>,
    preconditioned: Vec<f64>,
    direction: Vec<f64>,
    image: Vec<f64>,
}

impl Gradients {
    /// Solves for x; false if it converges too slowly.
    pub fn solve(
        &mut self,
        problem: &Problem,
        hessian: &Hessian,
        slopes: &[f64],
        gradient: &[f64],
        x: &mut [f64],
    ) -> bool {
        let n = gradient.len();
        for y in
            [&mut self.residual, &mut self.preconditioned, &mut self.direction, &mut self.image]
        {
            y.clear();
            y.resize(n, 0.0);
        }
        x.fill(0.0);
        for (r, g) in self.residual.iter_mut().zip(gradient) {
            *r = -g;
        }
        let (mut last, mut first) = (0.0, 0.0);
        for iteration in 0..=MAX_ITERATIONS {
            self.preconditioned.copy_from_slice(&self.residual);
            hessian.solve(&mut self.preconditioned);
            let size = dot(&self.residual, &self.preconditioned);
            if iteration == 0 {
                first = size;
            }
            if !(size > 0.0 && size.is_finite()) {
                return iteration > 0 && size == 0.0;
            }
            let left = (size / first).sqrt();
            if left <= ENOUGH {
                return true;
            }
            if iteration == MAX_ITERATIONS || left > 2.0 * LEAST_RATE.powi(iteration as i32) {
                return false;
            }
            let beta = if iteration == 0 { 0.0 } else { size / last };
            last = size;
            for (d, z) in self.direction.iter_mut().zip(&self.preconditioned) {
                *d = z + beta * *d;
            }
            product(problem, hessian, slopes, &self.direction, &mut self.image);
            let alpha = size / dot(&self.direction, &self.image);
            for k in 0..n {
                x[k] += alpha * self.direction[k];
                self.residual[k] -= alpha * self.image[k];
            }
        }
        false
    }
}

/// `out = (A + Jᵀ G J) x`.
fn product(problem: &Problem, hessian: &Hessian, slopes: &[f64], x: &[f64], out: &mut [f64]) {
    problem.mass().mul(x, out);
    let jacobian = problem.jacobian();
    let (mut c, mut s) = ([0.0; DIM], [0.0; DIM]);
    for i in 0..problem.constraints().len() {
        let G = &slopes[hessian.stencil().slope_range(i)];
        if G.iter().all(|g| *g == 0.0) {
            continue;
        }
        let dim = jacobian.dim(i);
        jacobian.mul_constraint(i, x, &mut c[..dim]);
        for (s, row) in s.iter_mut().zip(G.chunks_exact(dim)) {
            *s = dot(row, &c[..dim]);
        }
        jacobian.mul_constraint_transposed_add(i, &s[..dim], out);
    }
}
