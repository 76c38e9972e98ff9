//! Contact with isotropic dry friction, exact and relaxed to a cone.
//!
//! With exact friction, the solution is the strict operator of [Lee23, Eq. (26)], [Lee25, Eq. (18)]: the
//! normal impulse comes first, then the tangent is clipped to its disc. The convex solution is the
//! projection onto the cone in the norm of the local compliances [Castro22, Eq. (27)].

use nalgebra::{Matrix2, Vector2};

use super::{FrictionModel, Relation};
use crate::contact::{ContactVec, DIM, half_square};

/// A contact with coefficient of friction μ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coulomb {
    friction: f64,
}

/// The contact mode of a solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Open,
    Stick,
    Slip,
}

impl Coulomb {
    /// `None` unless `0 ≤ friction < ∞`.
    pub fn new(friction: f64) -> Option<Self> {
        (friction >= 0.0 && friction.is_finite()).then_some(Self { friction })
    }

    /// The coefficient μ [-].
    pub fn friction(&self) -> f64 {
        self.friction
    }

    /// [Lee25, Eq. (18)] for a trial impulse y.
    #[inline(always)]
    fn strict(&self, y: ContactVec) -> (ContactVec, Mode) {
        if y.n <= 0.0 {
            return (ContactVec::ZERO, Mode::Open);
        }
        let (y_r, limit) = (y.t.norm(), self.friction * y.n);
        if y_r <= limit {
            return (y, Mode::Stick);
        }
        (ContactVec { n: y.n, t: y.t * (limit / y_r) }, Mode::Slip)
    }

    /// [Castro22, Eq. (27)] for a trial impulse y, with μ̂ and μ̃² of the local compliances.
    /// Deviation: the stick test requires `y_n ≥ 0` and the open test is multiplied through by μ,
    /// so that μ = 0 needs no branch of its own.
    #[inline(always)]
    fn nearest(&self, y: ContactVec, mu_hat: f64, mu_tilde_2: f64) -> (ContactVec, Mode) {
        let (mu, y_r) = (self.friction, y.t.norm());
        if y.n >= 0.0 && y_r <= mu * y.n {
            return (y, Mode::Stick);
        }
        if y.n <= -mu_hat * y_r {
            return (ContactVec::ZERO, Mode::Open);
        }
        let n = (y.n + mu_hat * y_r) / (1.0 + mu_tilde_2);
        (ContactVec { n, t: y.t * (mu * n / y_r) }, Mode::Slip)
    }
}

#[inline(always)]
fn trial(c0: ContactVec, r: ContactVec) -> ContactVec {
    ContactVec { n: -c0.n / r.n, t: Vector2::new(-c0.t.x / r.t.x, -c0.t.y / r.t.y) }
}

impl Relation for Coulomb {
    fn dim(&self) -> usize {
        DIM
    }

    #[inline(always)] // inside loops that are compiled for a wider instruction set
    fn respond(&self, model: FrictionModel, c0: &[f64], r: &[f64], lambda: &mut [f64]) {
        let r = ContactVec::load(r);
        let y = trial(ContactVec::load(c0), r);
        let ratio = r.t.x / r.n;
        let (solution, _) = match model {
            FrictionModel::Coulomb => self.strict(y),
            FrictionModel::Convex => {
                self.nearest(y, self.friction * ratio, self.friction * self.friction * ratio)
            }
        };
        solution.store(lambda);
    }

    #[inline]
    fn slope(&self, model: FrictionModel, c0: &[f64], r: &[f64], slope: &mut [f64]) {
        let r = ContactVec::load(r);
        let y = trial(ContactVec::load(c0), r);
        let (mu, ratio) = (self.friction, r.t.x / r.n);
        let (mu_hat, mu_tilde_2) = (mu * ratio, mu * mu * ratio);
        let (solution, mode) = match model {
            FrictionModel::Coulomb => self.strict(y),
            FrictionModel::Convex => self.nearest(y, mu_hat, mu_tilde_2),
        };
        let zero = Vector2::zeros();
        let (nn, nt, tn, tt) = match mode {
            Mode::Open => (0.0, zero, zero, Matrix2::zeros()),
            Mode::Stick => (1.0, zero, zero, Matrix2::identity()),
            Mode::Slip => {
                let y_r = y.t.norm();
                let along = y.t / y_r;
                let P = along * along.transpose();
                let across = (Matrix2::identity() - P) * (mu * solution.n / y_r);
                match model {
                    FrictionModel::Coulomb => (1.0, zero, along * mu, across),
                    FrictionModel::Convex => {
                        let f = 1.0 / (1.0 + mu_tilde_2);
                        (f, along * (mu_hat * f), along * (mu * f), across + P * (mu * mu_hat * f))
                    }
                }
            }
        };
        // −∂λ/∂c0 = (∂λ/∂y) R⁻¹ [Castro22, Eq. (37)].
        let (r_n, r_t) = (1.0 / r.n, 1.0 / r.t.x);
        ContactVec::store_matrix(nn * r_n, nt * r_t, tn * r_n, tt * r_t, slope);
    }

    #[inline]
    fn potential(&self, c0: &[f64], r: &[f64]) -> f64 {
        let mut rows = [0.0; DIM];
        self.respond(FrictionModel::Convex, c0, r, &mut rows);
        // ½ |λ|² in the norm of the local compliances [Castro22, Eq. (23)].
        half_square(r, &rows)
    }

    #[inline]
    fn shift(&self, c: &[f64]) -> f64 {
        self.friction * ContactVec::load(c).t.norm()
    }
}
