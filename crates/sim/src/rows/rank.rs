//! Finds rows whose gradients depend linearly on those of others, by Gram–Schmidt
//! orthogonalisation with pivoting, so that the choice of the rows that stay lasts while the
//! mechanism turns. Cost: rows² times the degrees of freedom they read.

use nalgebra::Vector6;

use super::{ConstraintContext, RowPort};

/// Norm of a gradient orthogonalised against the others, relative to the largest, below which the row
/// depends on them [-].
const DEPENDENT: f64 = 1e-8;

/// Gradients of a few rows over the degrees of freedom that any of them reads.
#[derive(Debug, Default)]
pub(super) struct RowRank {
    /// Degrees of freedom that are read, in the order in which they were met.
    dofs: Vec<usize>,
    /// One gradient per row.
    rows: Vec<Vec<f64>>,
    used: usize,
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
        self.dependent.extend(0..rows.len());
        let mut largest = 0.0_f64;
        while let Some((at, norm)) = largest_row(rows, &self.dependent) {
            largest = largest.max(norm);
            if !(norm > DEPENDENT * DEPENDENT * largest) {
                break;
            }
            let pivot = self.dependent.remove(at);
            for &index in &self.dependent {
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

/// The first of the listed rows with the largest squared norm: its index in the list, and the norm.
fn largest_row(rows: &[Vec<f64>], list: &[usize]) -> Option<(usize, f64)> {
    let squared = |row: &[f64]| row.iter().map(|x| x * x).sum::<f64>();
    let norms = list.iter().map(|index| squared(&rows[*index])).enumerate();
    norms.fold(None, |best: Option<(usize, f64)>, (at, norm)| match best {
        Some((_, most)) if most >= norm => best,
        _ => Some((at, norm)),
    })
}
