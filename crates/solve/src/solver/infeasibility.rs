//! A certificate that no velocity satisfies the constraints.
//!
//! If the multipliers of an augmented Lagrangian keep growing along a direction d that the
//! constraints admit (`d ∈ K`), that moves nothing (`Jᵀ d = 0`) and with `e·d < 0`
//! for the bias e, then every velocity has `(J v + e)·d < 0`, so none lies in the dual cone: the
//! relaxed problem has no solution, and the exact one loses the usual condition for its existence.
//! Stabilisation of a corner with high friction is the classical case.

use crate::contact::DIM;
use crate::law::{FrictionModel, Law};
use crate::problem::{Problem, dot};

/// Searches the certificate; holds its work memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Infeasibility {
    change: Vec<f64>,
    impulse: Vec<f64>,
    velocity: Vec<f64>,
    in_a_row: usize,
}

/// `|Jᵀ d|` that counts as zero, relative to d.
const STILL: f64 = 1e-9;
/// `−e·d` that counts as positive, relative to the scaled norms of e and d.
const REWARD: f64 = 1e-6;
/// Distance of d from the cone that counts as inside, relative to d.
const INSIDE: f64 = 1e-6;
/// Rate of growth that counts, relative to the reference velocity.
const GROWTH: f64 = 1e-6;
/// Outer iterations in a row in which the certificate must hold.
const REPEATS: usize = 3;

impl Infeasibility {
    pub fn start(&mut self, problem: &Problem) {
        self.in_a_row = 0;
        self.change.clear();
        self.change.resize(problem.rows(), 0.0);
        for x in [&mut self.impulse, &mut self.velocity] {
            x.clear();
            x.resize(problem.dofs(), 0.0);
        }
    }

    /// Tests the step from `old` to `new` multipliers at penalty `c`; true once the last `REPEATS` calls
    /// found a certificate.
    pub fn certified(&mut self, problem: &Problem, c: f64, old: &[f64], new: &[f64]) -> bool {
        for (d, (new, old)) in self.change.iter_mut().zip(new.iter().zip(old)) {
            *d = new - old;
        }
        self.in_a_row = if self.is_certificate(problem, c) { self.in_a_row + 1 } else { 0 };
        self.in_a_row >= REPEATS
    }

    fn is_certificate(&mut self, problem: &Problem, c: f64) -> bool {
        let (mut size, mut bias, mut reward, mut widest) = (0.0, 0.0, 0.0, 0.0);
        for i in 0..problem.constraints().len() {
            let rows = problem.row_range(i);
            let w = problem.delassus().scale(i);
            let (d, e) = (&self.change[rows.clone()], &problem.bias()[rows]);
            size += w * dot(d, d);
            bias += dot(e, e) / w.max(f64::MIN_POSITIVE);
            reward -= dot(e, d);
            widest = f64::max(widest, w);
        }
        let (size, bias) = (size.sqrt(), f64::sqrt(bias));
        let grows = size / c > GROWTH * problem.reference_velocity() / widest.sqrt();
        grows
            && reward > REWARD * bias * size
            && self.admissible(problem)
            && self.still(problem, size)
    }

    fn admissible(&self, problem: &Problem) -> bool {
        let (mut outside, mut whole) = (0.0, 0.0);
        for i in 0..problem.constraints().len() {
            let rows = problem.row_range(i);
            let (d, law) = (&self.change[rows.clone()], problem.law(i));
            let compliant = problem.compliance()[rows].iter().any(|r| *r > 0.0);
            let (mut against, mut nearest) = ([0.0; DIM], [0.0; DIM]);
            // Projection of d onto the recession cone of the law; {0} for bounded or compliant rows.
            if !compliant && !matches!(law, Law::Bounded(_) | Law::Soft(_)) {
                against.iter_mut().zip(d).for_each(|(a, d)| *a = -d);
                let (dim, relation) = (d.len(), law.relation());
                let unit = &[1.0; DIM][..dim];
                relation.respond(FrictionModel::Convex, &against[..dim], unit, &mut nearest[..dim]);
            }
            outside += d.iter().zip(&nearest).map(|(d, n)| (d - n).powi(2)).sum::<f64>();
            whole += dot(d, d);
        }
        outside.sqrt() <= INSIDE * whole.sqrt()
    }

    fn still(&mut self, problem: &Problem, size: f64) -> bool {
        self.impulse.fill(0.0);
        problem.jacobian().mul_transposed_add(&self.change, &mut self.impulse);
        self.velocity.copy_from_slice(&self.impulse);
        problem.mass().solve(&mut self.velocity);
        dot(&self.impulse, &self.velocity).max(0.0).sqrt() <= STILL * size
    }
}
