//! Penalties β_i \[kg\]: initial values and adaptation to the residuals.
//!
//! Default: `β_i = c/w_i` with the Delassus scale w_i, and every few iterations a balance of the
//! two residuals as energies, `r_p² = Σ β |J v − z|²` against `r_d² = Σ |diag(A)^(−1/2) dual|²`,
//! `β ← β √(r_p/r_d)`. Deviation: [Lee25, Sec. VI-D] starts from one scalar pseudo-density and
//! Eq. (44) compares velocities with momenta, so that it depends on the units; both stay behind
//! settings. A constraint has one penalty for all its rows: with more, the cone of a contact
//! would no longer be isotropic.

use super::layout::Layout;
use crate::problem::{Problem, SubsystemId, dot};

/// How penalties are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PenaltyRule {
    /// c [-]; with `pseudo_density` a factor on it.
    pub penalty: f64,
    /// Whether penalties follow the residuals.
    pub adapt: bool,
    /// Iterations between two adaptations.
    pub adapt_every: usize,
    /// Ratio of the residuals up to which penalties do not change [-].
    pub threshold: f64,
    /// Start from the scalar pseudo-density [Lee25, Sec. VI-D].
    pub pseudo_density: bool,
    /// Adapt by [Lee25, Eq. (44)].
    pub paper_adaptation: bool,
}

impl Default for PenaltyRule {
    fn default() -> Self {
        Self {
            penalty: 1.0, // per 1/w; no published value
            adapt: true,
            adapt_every: 20,
            threshold: 5.0,
            pseudo_density: false,
            paper_adaptation: false,
        }
    }
}

/// The residuals of an iteration, in the measures of the rules.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Imbalance {
    /// `r_p` and `r_d` [√J].
    pub energies: (f64, f64),
    /// θ_p [m/s] and θ_d [N·s] of [Lee25, Eq. (43)].
    pub largest: (f64, f64),
}

impl PenaltyRule {
    /// Penalties at the start.
    pub fn start(&self, problem: &Problem, layout: &Layout, beta: &mut Vec<f64>) {
        beta.clear();
        if self.pseudo_density {
            let density = pseudo_density(problem, layout);
            beta.resize(layout.constraints(), self.penalty * density);
        } else {
            beta.extend((0..layout.constraints()).map(|i| self.penalty / scale(problem, i)));
        }
    }

    /// The factor by which penalties change; `None` if they do not.
    pub fn factor(&self, imbalance: &Imbalance) -> Option<f64> {
        let (p, d) = if self.paper_adaptation { imbalance.largest } else { imbalance.energies };
        let out_of_balance = p > self.threshold * d || d > self.threshold * p;
        let factor = (p / d).sqrt();
        (out_of_balance && factor > 0.0 && factor.is_finite()).then_some(factor)
    }
}

/// w_i [1/kg]; the mean compliance where w_i is zero.
fn scale(problem: &Problem, i: usize) -> f64 {
    let w = problem.delassus().scale(i);
    if w > 0.0 { w } else { crate::residual::compliance_scale(problem, i) }
}

/// Geometric mean over subsystems of the effective mass at a contact, divided by their number \[kg\].
/// Deviation: a subsystem has no "mass of the body"; the mass at its contacts is used,
/// `1/mean(trace(J A⁻¹ Jᵀ)/dim)`.
fn pseudo_density(problem: &Problem, layout: &Layout) -> f64 {
    let mass = problem.mass();
    let (mut sum, mut count) = (0.0, 0);
    let mut work = Vec::new();
    for s in (0..layout.subsystems()).map(SubsystemId) {
        let (base, n) = (mass.dofs(s).start, mass.dofs(s).len());
        let (mut trace, mut rows, mut touching) = (0.0, 0, 0);
        for i in 0..layout.constraints() {
            let entries = problem.jacobian().constraint_entries(i);
            let on_this = || entries.iter().filter(|e| mass.subsystem_of(e.block as usize) == s);
            if on_this().next().is_none() {
                continue;
            }
            touching += 1;
            for d in 0..problem.row_range(i).len() {
                work.clear();
                work.resize(n, 0.0);
                for e in on_this() {
                    let range = problem.jacobian().block_range(e.block as usize);
                    let row = &problem.jacobian().block(e)[d * range.len()..][..range.len()];
                    work[range.start - base..range.end - base].copy_from_slice(row);
                }
                let row = work.clone();
                mass.solve_subsystem(s, &mut work);
                trace += dot(&row, &work);
                rows += 1;
            }
        }
        if trace > 0.0 {
            sum += (rows as f64 / trace / touching as f64).ln();
            count += 1;
        }
    }
    if count > 0 { f64::exp(sum / count as f64) } else { 1.0 }
}
