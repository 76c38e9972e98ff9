//! Newton's method on the free motion of a nonlinear soft body, and slopes for its line search.

use nalgebra::Vector3;

use super::SoftStepStart;
use super::body::SoftBodyMotion;

/// Newton iterations of free motion, the relative change at which they end, and how often a step is halved.
const NEWTON_STEPS: usize = 40;
const NEWTON_TOLERANCE: f64 = 1e-10;
const HALVINGS: usize = 6;

/// The line from a point of linearisation to a solution, and a step length t on it.
#[derive(Clone, Copy)]
pub(super) struct SearchLine<'a> {
    pub(super) at: &'a [f64],
    pub(super) solution: &'a [f64],
    pub(super) t: f64,
}

/// Outcome of Newton's method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NewtonResult {
    Solved,
    Unfinished,
    Singular,
}

impl SoftBodyMotion {
    /// With d = u − u₀ and the impulses Jᵀ λ = A u − b of the solution u: `−dᵀ A d`, and
    /// `dᵀ (m(u₀ + t d) − Jᵀ λ)` at step length t.
    pub(super) fn slope(&mut self, start: &SoftStepStart, line: &SearchLine) -> [f64; 2] {
        let (SoftStepStart { body, h, .. }, SearchLine { at, solution, t }) = (*start, *line);
        let d = || solution.iter().zip(at).map(|(u, at)| u - at);
        let mut scratch = std::mem::take(&mut self.trial);
        let mut along_impulses = 0.0;
        self.A.mul(solution, &mut scratch);
        for ((d, impulse), b) in d().zip(&scratch).zip(&self.b) {
            along_impulses += d * (impulse - b);
        }
        self.next.iter_mut().zip(d()).for_each(|(next, d)| *next = d);
        self.A.mul(&self.next, &mut scratch);
        let first = -d().zip(&scratch).map(|(d, product)| d * product).sum::<f64>();
        self.trial = scratch;

        self.set_iterate(start, at.iter().zip(d()).map(|(at, d)| at + t * d));
        body.forces(&self.x, &mut self.work);
        body.mass().mul(&self.flat, &mut self.product);
        let ((mass_scale, damped), x) = (start.scales(), &mut self.x);
        for (x, product) in x.iter_mut().zip(self.product.chunks_exact(3)) {
            *x = mass_scale * Vector3::from_column_slice(product);
        }
        if let (Some(K0), true) = (&self.damping, damped != 0.0) {
            K0.mul(&self.flat, &mut self.product);
            for (x, product) in x.iter_mut().zip(self.product.chunks_exact(3)) {
                *x += damped * Vector3::from_column_slice(product);
            }
        }
        let mut along_imbalance = 0.0;
        for (vertex, d) in self.free.iter().zip(self.next.chunks_exact(3)) {
            let k = *vertex as usize;
            let base = Vector3::from_column_slice(&self.base[3 * k..3 * k + 3]);
            let m = self.x[k] - base - h * self.work.force[k];
            // Fixed axes do not move, and so do no work.
            along_imbalance += Vector3::from_column_slice(d).dot(&m);
        }
        [first, along_imbalance - along_impulses]
    }

    /// Solves m(u) = 0; A and b belong to the last point of linearisation.
    pub(super) fn newton(&mut self, start: &SoftStepStart, u: &mut [f64]) -> NewtonResult {
        let mut next = std::mem::take(&mut self.next);
        let ended = self.newton_from(start, u, &mut next);
        self.next = next;
        ended
    }

    pub(super) fn newton_from(
        &mut self,
        start: &SoftStepStart,
        u: &mut [f64],
        next: &mut [f64],
    ) -> NewtonResult {
        u.fill(0.0);
        for _ in 0..NEWTON_STEPS {
            next.copy_from_slice(&self.b);
            if !self.apply_inverse(next) {
                return NewtonResult::Singular;
            }
            let mut change = 0.0_f64;
            let mut size = 0.0_f64;
            for (next, u) in next.iter_mut().zip(&*u) {
                change = change.max((*next - u).abs());
                size = size.max(next.abs());
            }
            let mut halvings = 0;
            while !self.linearise(start, next) {
                halvings += 1;
                if halvings > HALVINGS {
                    return NewtonResult::Unfinished;
                }
                next.iter_mut().zip(&*u).for_each(|(next, u)| *next = 0.5 * (*next + u));
            }
            u.copy_from_slice(next);
            if halvings == 0 && !(change > NEWTON_TOLERANCE * size.max(1.0)) {
                return NewtonResult::Solved;
            }
        }
        NewtonResult::Unfinished
    }
}
