//! Elimination of the rows of linear laws, such as closed loops, from the contact problem of a robot.
//!
//! With E the rows whose law is `u + r λ = 0`, r ≥ 0, and C the others, `(W_EE + r) λ_E = −q_E − W_EC λ_C`. What is left
//! has the operator `W_CC − W_CE (W_EE + r)⁻¹ W_EC`, which Newton steps need not factor again and again. With
//! `W_EE + r = L Lᵀ` and `Z = L⁻¹ W_EC` it is `W_CC − Zᵀ Z`. Cost: that of a few Newton steps on all rows.

use stiction_math::simd;
use stiction_math::vector::dot;

use super::dense::Gram;
use crate::law::Law;
use crate::problem::Problem;

/// Least pivot of L², relative to its diagonal entry: below it rows nearly depend on one another, and are kept.
const LEAST_PIVOT: f64 = 1e-9;

/// The eliminated rows of one problem.
#[derive(Debug, Default)]
pub(super) struct LinearRows {
    /// Rows of the problem that are eliminated, and those that are kept; none of the former if nothing is.
    eliminated: Vec<u32>,
    kept: Vec<u32>,
    /// Y with the eliminated rows first.
    sorted: Vec<f64>,
    /// `Y Yᵀ + R + r` of the sorted rows, of which the first columns become `[L; Zᵀ]`; row-major.
    operator: Vec<f64>,
    /// `L⁻¹ q_E`, and memory for λ_E.
    load: Vec<f64>,
    impulse: Vec<f64>,
}

/// Whether a law is linear.
pub(super) fn is_linear(law: &Law) -> bool {
    matches!(law, Law::Bilateral(_) | Law::Soft(_))
}

impl LinearRows {
    /// Eliminates the rows of linear laws from a problem with `Y = J F⁻ᵀ`, in rows of `width`, where that pays: W and q of the rows that are kept. Otherwise false,
    /// all rows are kept, and W is that of all where they are few, else empty.
    pub fn eliminate(
        &mut self,
        problem: &Problem,
        (Y, width): (&[f64], usize),
        W: &mut Vec<f64>,
        q: &mut Vec<f64>,
    ) -> bool {
        self.sort(problem);
        let (m, n) = (problem.rows(), problem.dofs());
        let pays = !self.eliminated.is_empty() && self.eliminated.len().max(self.kept.len()) <= n;
        if !pays || !self.factor(problem, (Y, width)) {
            self.eliminated.clear();
            self.kept.clear();
            self.kept.extend(0..m as u32);
            W.clear();
            if m <= n {
                W.resize(m * m, 0.0);
                simd::dispatch(Gram { Y, width, W });
                let diagonal = W.iter_mut().step_by(m + 1);
                diagonal.zip(problem.compliance()).for_each(|(w, R)| *w += R);
            }
            return false;
        }
        let (e, c) = (self.eliminated.len(), self.kept.len());
        W.clear();
        W.resize(c * c, 0.0);
        let free = problem.free_rows();
        self.load.clear();
        self.load.extend(self.eliminated.iter().map(|row| free[*row as usize]));
        simd::dispatch(Reduce { operator: &self.operator, e, load: &mut self.load, W });
        q.clear();
        for (k, row) in self.kept.iter().enumerate() {
            let Z = &self.operator[(e + k) * m..][..e];
            q.push(free[*row as usize] - dot(Z, &self.load));
        }
        true
    }

    /// The impulses of the rows that are kept.
    pub fn gather(&self, lambda: &[f64], kept: &mut Vec<f64>) {
        kept.clear();
        kept.extend(self.kept.iter().map(|row| lambda[*row as usize]));
    }

    /// The impulses of all rows from those that are kept: `λ_E = −L⁻ᵀ (L⁻¹ q_E + Z λ_C)`.
    pub fn scatter(&mut self, kept: &[f64], lambda: &mut [f64]) {
        self.kept.iter().zip(kept).for_each(|(row, l)| lambda[*row as usize] = *l);
        let (e, m) = (self.eliminated.len(), lambda.len());
        if e == 0 {
            return;
        }
        let Self { operator, load, impulse: x, .. } = self;
        x.clone_from(load);
        for (k, l) in kept.iter().enumerate() {
            let Z = &operator[(e + k) * m..][..e];
            x.iter_mut().zip(Z).for_each(|(x, z)| *x += z * l);
        }
        for i in (0..e).rev() {
            let L = &operator[i * m..][..=i];
            let (before, at) = x.split_at_mut(i);
            at[0] /= L[i];
            before.iter_mut().zip(L).for_each(|(x, l)| *x -= l * at[0]);
        }
        self.eliminated.iter().zip(x).for_each(|(row, x)| lambda[*row as usize] = -*x);
    }

    /// Finds the rows of linear laws.
    fn sort(&mut self, problem: &Problem) {
        self.eliminated.clear();
        self.kept.clear();
        for constraint in problem.constraints() {
            let list =
                if is_linear(&constraint.law) { &mut self.eliminated } else { &mut self.kept };
            list.extend(constraint.rows().map(|row| row as u32));
        }
    }

    /// W of the sorted rows, and L and Z in it. False if eliminated rows depend on one another.
    fn factor(&mut self, problem: &Problem, (Y, width): (&[f64], usize)) -> bool {
        let m = problem.rows();
        let Self { eliminated, kept, sorted, operator, .. } = self;
        sorted.clear();
        for row in eliminated.iter().chain(&*kept) {
            sorted.extend_from_slice(&Y[*row as usize * width..][..width]);
        }
        operator.clear();
        operator.resize(m * m, 0.0);
        simd::dispatch(Gram { Y: sorted, width, W: operator });
        for (k, row) in eliminated.iter().chain(&*kept).enumerate() {
            operator[k * (m + 1)] += problem.compliance()[*row as usize];
        }
        let linear = problem.constraints().iter().filter(|constraint| is_linear(&constraint.law));
        for (k, constraint) in linear.enumerate() {
            if let Law::Soft(soft) = &constraint.law {
                operator[k * (m + 1)] += soft.compliance();
            }
        }
        simd::dispatch(Factor { operator, m, e: eliminated.len() })
    }
}

/// Cholesky's factor of the leading block of a row-major matrix, and the rows below divided by it, in the lower triangle. False
/// if a pivot is small.
struct Factor<'a> {
    operator: &'a mut [f64],
    m: usize,
    e: usize,
}

impl simd::Job for Factor<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let Self { operator, m, e } = self;
        for i in 0..m {
            let (above, row) = operator.split_at_mut(i * m);
            let row = &mut row[..m];
            for j in 0..i.min(e) {
                let L = &above[j * m..][..=j];
                row[j] = (row[j] - dot(&row[..j], &L[..j])) / L[j];
            }
            if i < e {
                let diagonal = row[i];
                let pivot = diagonal - dot(&row[..i], &row[..i]);
                if !(pivot > LEAST_PIVOT * diagonal) {
                    return false;
                }
                row[i] = pivot.sqrt();
            }
        }
        true
    }
}

/// `W_CC − Zᵀ Z`, and `L⁻¹` times the load.
struct Reduce<'a> {
    operator: &'a [f64],
    e: usize,
    load: &'a mut [f64],
    W: &'a mut [f64],
}

impl simd::Job for Reduce<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { operator, e, load, W } = self;
        let m = operator.len().isqrt();
        let c = m - e;
        for i in 0..e {
            let L = &operator[i * m..][..=i];
            load[i] = (load[i] - dot(&L[..i], &load[..i])) / L[i];
        }
        for i in 0..c {
            let a = &operator[(e + i) * m..][..m];
            for j in 0..=i {
                let b = &operator[(e + j) * m..][..e];
                let w = a[e + j] - dot(&a[..e], b);
                (W[i * c + j], W[j * c + i]) = (w, w);
            }
        }
    }
}
