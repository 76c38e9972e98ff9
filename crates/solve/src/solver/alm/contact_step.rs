//! Newton steps on the natural map of the impulses of a small problem.
//!
//! With the slope D of T and `W = Y Yᵀ + R` a step s solves `((1 + δ) I − D + D ρ W) s = −F`. Constraints with D = 0, open
//! contacts, are eliminated first: theirs is `s = −F/(1 + δ)`. What is left is solved as it is where rows are few. Else, with
//! `M = (1 + δ) I − D + D ρ R`, which couples no two constraints, and `G = M⁻¹ D ρ`, `c = M⁻¹ F`, the unknown is the image
//! `z = Yᵀ s`, one per velocity: `(I + Yᵀ G Y) z = −Yᵀ c`, and then `s = −c − G Y z`.

use nalgebra::Matrix3;
use stiction_math::simd;

use super::contact_space::{ContactSpace, KeptConstraint};
use super::dense::{AddProduct, Product, Solve, TransposedProduct};
use crate::contact::DIM;
use crate::law::FrictionModel;
use crate::problem::{Problem, dot};

/// Work memory of a step.
#[derive(Debug, Default)]
pub(super) struct StepMemory {
    /// Rows of the constraints that act.
    acting: Vec<u32>,
    /// D of every constraint, row-major, one after another.
    slopes: Vec<f64>,
    system: Vec<f64>,
    rhs: Vec<f64>,
    /// Products with Y and W.
    rows: Vec<f64>,
}

impl ContactSpace {
    /// The Newton step at λ, at which u and F were evaluated last. False if the system is singular.
    pub(super) fn find_step(&mut self, problem: &Problem, model: FrictionModel) -> bool {
        let StepMemory { acting, slopes, .. } = &mut self.memory;
        acting.clear();
        slopes.clear();
        let (mut c0, mut D) = ([0.0; DIM], [0.0; DIM * DIM]);
        for KeptConstraint { index, rows, scale: w, .. } in &self.kept {
            let (law, rows, w) = (problem.law(*index), rows.clone(), *w);
            let dim = rows.len();
            let at = self.u[rows.clone()].iter().zip(&self.lambda[rows.clone()]);
            c0.iter_mut().zip(at).for_each(|(c, (u, l))| *c = u - w * l);
            let (D, delta) = (&mut D[..dim * dim], self.damping.of(law));
            law.slope(model, &c0[..dim], &[w; DIM][..dim], D);
            D.iter_mut().for_each(|d| *d *= w);
            if D.iter().any(|d| *d != 0.0) {
                acting.extend(rows.map(|row| row as u32));
            } else {
                for row in rows {
                    self.step[row] = -self.map[row] / (1.0 + delta);
                }
            }
            slopes.extend_from_slice(D);
        }
        let found = if self.W.is_empty() {
            self.step_by_image(problem)
        } else {
            self.step_by_rows(problem)
        };
        found && self.step.iter().all(|s| s.is_finite())
    }

    /// Solves `((1 + δ) I − D + D ρ W) s = −F` for the rows that act, given s of the others.
    fn step_by_rows(&mut self, problem: &Problem) -> bool {
        let Self { memory, W, step, map, kept, damping, .. } = self;
        let m = step.len();
        let StepMemory { acting, slopes, system, rhs, rows: known } = memory;
        acting.iter().for_each(|row| step[*row as usize] = 0.0);
        // W times the s that is known.
        known.clear();
        known.resize(m, 0.0);
        if step.iter().any(|s| *s != 0.0) {
            simd::dispatch(Product { W, x: step, out: known });
        }
        let size = acting.len();
        let stride = size.next_multiple_of(4);
        system.clear();
        system.resize(size * stride, 0.0);
        rhs.clear();
        let (mut slope, mut place) = (0, 0);
        for KeptConstraint { index, rows, scale, .. } in &*kept {
            let dim = rows.len();
            let D = &slopes[slope..slope + dim * dim];
            slope += dim * dim;
            if acting.get(place).is_none_or(|row| *row as usize != rows.start) {
                continue;
            }
            for (a, row) in rows.clone().enumerate() {
                let out = &mut system[(place + a) * stride..][..size];
                let mut b = -map[row];
                for (k, other) in rows.clone().enumerate().filter(|(k, _)| D[a * dim + k] != 0.0) {
                    let d = D[a * dim + k];
                    let rho = d / scale;
                    let W = &W[other * m..][..m];
                    if size == m {
                        out.iter_mut().zip(W).for_each(|(out, w)| *out += rho * w);
                    } else {
                        let columns = acting.iter().map(|column| W[*column as usize]);
                        out.iter_mut().zip(columns).for_each(|(out, w)| *out += rho * w);
                    }
                    out[place + k] -= d;
                    b -= rho * known[other];
                }
                out[place + a] += 1.0 + damping.of(problem.law(*index));
                rhs.push(b);
            }
            place += dim;
        }
        if !simd::dispatch(Solve { A: system, stride, x: rhs }) {
            return false;
        }
        acting.iter().zip(rhs).for_each(|(row, s)| step[*row as usize] = *s);
        true
    }

    /// Solves for `z = Yᵀ s`; all rows are kept.
    fn step_by_image(&mut self, problem: &Problem) -> bool {
        let n = self.width;
        let Self { memory, Y, step, map, kept, damping, .. } = self;
        let StepMemory { slopes, system, rhs, rows: work, .. } = memory;
        system.clear();
        system.resize(n * n, 0.0);
        system.iter_mut().step_by(n + 1).for_each(|a| *a = 1.0);
        // G Y, of which the rows of open contacts are zero.
        work.clear();
        work.resize(Y.len(), 0.0);
        let mut slope = 0;
        for KeptConstraint { index, rows, scale: w, .. } in &*kept {
            let dim = rows.len();
            let D = &mut slopes[slope..slope + dim * dim];
            slope += dim * dim;
            if D.iter().all(|d| *d == 0.0) {
                continue;
            }
            let R = &problem.compliance()[rows.clone()];
            let delta = damping.of(problem.law(*index));
            let Some(M_inv) = inverse_of_local(D, *w, R, delta) else { return false };
            // G replaces D, and −c the step.
            let mut G = [0.0; DIM * DIM];
            for a in 0..dim {
                let M_row = &M_inv[a * dim..(a + 1) * dim];
                step[rows.start + a] = -dot(M_row, &map[rows.clone()]);
                for b in 0..dim {
                    G[a * dim + b] = (0..dim).map(|k| M_row[k] * D[k * dim + b] / w).sum();
                }
            }
            D.copy_from_slice(&G[..dim * dim]);
            let rows = rows.start * n..rows.end * n;
            for (G, out) in D.chunks_exact(dim).zip(work[rows.clone()].chunks_exact_mut(n)) {
                for (g, y) in G.iter().zip(Y[rows.clone()].chunks_exact(n)) {
                    if *g != 0.0 {
                        out.iter_mut().zip(y).for_each(|(out, y)| *out += g * y);
                    }
                }
            }
        }
        simd::dispatch(AddProduct { Y, Z: work, width: n, out: system });
        rhs.clear();
        rhs.resize(n, 0.0);
        simd::dispatch(TransposedProduct { W: Y, x: step, out: rhs });
        if !simd::dispatch(Solve { A: system, stride: n, x: rhs }) {
            return false;
        }
        // Y z.
        work.clear();
        work.resize(problem.rows(), 0.0);
        simd::dispatch(Product { W: Y, x: rhs, out: work });
        let mut slope = 0;
        for KeptConstraint { rows, .. } in &*kept {
            let dim = rows.len();
            let G = &slopes[slope..slope + dim * dim];
            slope += dim * dim;
            for (step, G) in step[rows.clone()].iter_mut().zip(G.chunks_exact(dim)) {
                *step -= dot(G, &work[rows.clone()]);
            }
        }
        true
    }
}

/// The inverse of `M = (1 + δ) I − D + D ρ R` of one constraint, row-major; `None` if it is singular.
fn inverse_of_local(D: &[f64], w: f64, R: &[f64], delta: f64) -> Option<[f64; DIM * DIM]> {
    let dim = R.len();
    let entry = |a: usize, b: usize| {
        let d = D[a * dim + b];
        let unit = if a == b { 1.0 + delta } else { 0.0 };
        unit - d + d * R[b] / w
    };
    let mut out = [0.0; DIM * DIM];
    if dim == 1 {
        out[0] = 1.0 / entry(0, 0);
        return out[0].is_finite().then_some(out);
    }
    // Column-major memory of the transpose is row-major.
    let M = Matrix3::from_fn(entry).try_inverse()?;
    out.copy_from_slice(M.transpose().as_slice());
    Some(out)
}
