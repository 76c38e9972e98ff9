//! Finds rows whose gradients depend linearly on those of others, by Gram–Schmidt
//! orthogonalisation with pivoting, so that the choice of the rows that stay lasts while the
//! mechanism turns. Cost: rows² times the degrees of freedom they read.

use nalgebra::Vector6;

use super::{ConstraintContext, RowPort};

/// Norm of a gradient orthogonalised against the others, relative to its own, up to which the row depends on them [-].
/// Loops that a file closes twice agree to fewer digits than numbers have.
const DEPENDENT: f64 = 1e-6;
/// Norm of a gradient relative to the largest up to which it is round-off of terms that cancel [-].
const ROUND_OFF: f64 = 1e-8;

/// Gradients of a few rows over the degrees of freedom that any of them reads.
#[derive(Debug, Default)]
pub(super) struct RowRank {
    /// Degrees of freedom that are read, in the order in which they were met.
    dofs: Vec<usize>,
    /// One gradient per row.
    rows: Vec<Vec<f64>>,
    /// Squared norm of each gradient.
    norms: Vec<f64>,
    used: usize,
    /// Rows that are neither pivots nor dependent.
    candidates: Vec<usize>,
    dependent: Vec<usize>,
}

impl RowRank {
    pub fn clear(&mut self) {
        self.dofs.clear();
        self.used = 0;
    }

    /// Adds a row, given by its terms: port and coefficients.
    pub fn add<'a>(
        &mut self,
        context: &ConstraintContext,
        terms: impl Iterator<Item = (RowPort, &'a [f64])>,
    ) {
        if self.rows.len() == self.used {
            self.rows.push(Vec::new());
        }
        let (dofs, gradient) = (&mut self.dofs, &mut self.rows[self.used]);
        gradient.clear();
        gradient.resize(dofs.len(), 0.0);
        let mut add = |dof: usize, value: f64| {
            let place = dofs.iter().position(|d| *d == dof).unwrap_or_else(|| {
                dofs.push(dof);
                gradient.push(0.0);
                dofs.len() - 1
            });
            gradient[place] += value;
        };
        for (port, c) in terms {
            let Some(tree) = port.tree() else { continue };
            let start = context.model.trees()[tree].dofs.start;
            match port {
                RowPort::Tree(_) => c.iter().enumerate().for_each(|(k, c)| add(start + k, *c)),
                RowPort::Dof { dof, .. } => add(dof as usize, c[0]),
                RowPort::SoftPoint(_) => {}
                RowPort::Link { body, .. } => {
                    let c = Vector6::from_column_slice(c);
                    for k in context.path(tree, body as usize) {
                        add(start + k, c.dot(&context.data.subspace[start + k]));
                    }
                }
            }
        }
        self.used += 1;
    }

    /// Finds the rows that depend on others; false if there are none. The gradients are overwritten.
    pub fn find_dependent(&mut self) -> bool {
        let rows = &mut self.rows[..self.used];
        rows.iter_mut().for_each(|row| row.resize(self.dofs.len(), 0.0));
        self.dependent.clear();
        self.candidates.clear();
        self.candidates.extend(0..rows.len());
        self.norms.clear();
        self.norms.extend(rows.iter().map(|row| squared(row)));
        let largest = self.norms.iter().fold(0.0_f64, |most, norm| most.max(*norm));
        while let Some((at, norm)) = largest_row(rows, &self.candidates) {
            let pivot = self.candidates.remove(at);
            let own = DEPENDENT * DEPENDENT * self.norms[pivot];
            if !(norm > own.max(ROUND_OFF * ROUND_OFF * largest)) {
                self.dependent.push(pivot);
                continue;
            }
            for &index in &self.candidates {
                let product: f64 = rows[pivot].iter().zip(&rows[index]).map(|(a, b)| a * b).sum();
                for k in 0..self.dofs.len() {
                    rows[index][k] -= product / norm * rows[pivot][k];
                }
            }
        }
        !self.dependent.is_empty()
    }

    /// Whether a row depends on others.
    pub fn is_dependent(&self, row: usize) -> bool {
        self.dependent.contains(&row)
    }
}

fn squared(row: &[f64]) -> f64 {
    row.iter().map(|x| x * x).sum()
}

/// The first of the listed rows with the largest squared norm: its index in the list, and the norm.
fn largest_row(rows: &[Vec<f64>], list: &[usize]) -> Option<(usize, f64)> {
    let norms = list.iter().map(|index| squared(&rows[*index])).enumerate();
    norms.fold(None, |best: Option<(usize, f64)>, (at, norm)| match best {
        Some((_, most)) if most >= norm => best,
        _ => Some((at, norm)),
    })
}
