//! Finds constraints on which no degree of freedom acts.
//!
//! Links of a tree share degrees of freedom, whose effects on a row can cancel: a
//! planar loop has no motion normal to its plane. The sum of the effects is then round-off, which no
//! solver can invert, so such a constraint is left out.

use nalgebra::Vector6;

/// Effects below this fraction of the product of their factors' norms are round-off [-].
const ROUND_OFF: f64 = 1e-12;

/// Sums the effect of all degrees of freedom on the open constraint.
#[derive(Debug, Default)]
pub(super) struct MotionEffect {
    /// Whether a term moves the constraint that cannot cancel with another.
    pub certain: bool,
    /// Whether no two terms of the open constraint read the same tree, so that their effects cannot cancel.
    pub separate: bool,
    /// Gradient over all degrees of freedom, row by row; zero between uses.
    sum: Vec<f64>,
    /// Entries of `sum` in use.
    touched: Vec<usize>,
    /// Largest effect without cancellation.
    scale: f64,
}

impl MotionEffect {
    /// Adds the effect of degree of freedom `dof`, whose motion subspace is `S`, on row `row`.
    pub fn add(&mut self, row: usize, dof: usize, nv: usize, c: &Vector6<f64>, S: &Vector6<f64>) {
        let (at, effect) = (row * nv + dof, c.dot(S));
        if self.separate {
            self.certain |=
                effect * effect > (ROUND_OFF * ROUND_OFF) * (c.norm_squared() * S.norm_squared());
            return;
        }
        if self.sum.len() <= at {
            self.sum.resize((row + 1) * nv, 0.0);
        }
        self.sum[at] += effect;
        self.touched.push(at);
        self.scale = self.scale.max(c.norm() * S.norm());
    }

    /// Whether anything moves the constraint. Resets the sums for the next one.
    pub fn finish(&mut self) -> bool {
        let mut largest = 0.0_f64;
        for at in self.touched.drain(..) {
            largest = largest.max(self.sum[at].abs());
            self.sum[at] = 0.0;
        }
        let moves = self.certain || largest > ROUND_OFF * self.scale;
        (self.certain, self.separate, self.scale) = (false, false, 0.0);
        moves
    }
}
