//! Contact with different friction along its two tangents.
//!
//! The friction impulse stays in the ellipse `(λ_1/μ_1)² + (λ_2/μ_2)² ≤ λ_n²` and dissipates as
//! much as it can there [Lee23, Sec. III-E]. With exact friction, the tangent is clipped to the
//! ellipse of the normal impulse; the convex solution is the nearest point of the elliptic cone in the
//! norm of the local compliances. Both reduce to one scalar equation with a convex, decreasing left-hand side,
//! which Newton's method solves from the left without a safeguard.

use nalgebra::{Matrix2, Matrix3, Vector2, Vector3};

use super::{FrictionModel, Relation};
use crate::contact::{ContactVec, DIM, half_square};

/// A contact with coefficients of friction μ₁, μ₂ along its tangents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elliptic {
    friction: Vector2<f64>,
}

/// The smallest ratio of the axes. A thinner ellipse is widened to it: a line segment has no normal.
const THINNEST: f64 = 1e-9;

const NEWTON_LIMIT: usize = 100;

impl Elliptic {
    /// `None` unless both coefficients are finite and not negative and one is positive.
    pub fn new(along_first: f64, along_second: f64) -> Option<Self> {
        let (a, b) = (along_first, along_second);
        let largest = a.max(b);
        (a >= 0.0 && b >= 0.0 && largest.is_finite() && largest > 0.0).then(|| {
            let floor = THINNEST * largest;
            Self { friction: Vector2::new(a.max(floor), b.max(floor)) }
        })
    }

    /// The coefficients (μ₁, μ₂) [-].
    pub fn friction(&self) -> (f64, f64) {
        (self.friction.x, self.friction.y)
    }

    /// Nearest point of the ellipse with semi-axes `μ λ_n` to `y_t`, and its multiplier s:
    /// `λ_i = a_i² y_i / (a_i² + s)`.
    fn clip(&self, y_t: Vector2<f64>, lambda_n: f64) -> (Vector2<f64>, f64) {
        let a = self.friction * lambda_n;
        let inside = (y_t.x / a.x).powi(2) + (y_t.y / a.y).powi(2) <= 1.0;
        if inside {
            return (y_t, 0.0);
        }
        let a2 = a.component_mul(&a);
        let s = root(a.component_mul(&y_t), a2, Vector2::new(1.0, 1.0), 0.0);
        (a2.component_mul(&y_t).component_div(&a2.add_scalar(s)), s)
    }

    /// Nearest point of the cone to y in the norm of the local compliances, and the multiplier of its
    /// surface (zero inside the cone); `None` when the point is the apex.
    fn nearest(&self, y: ContactVec, r: ContactVec) -> Option<(ContactVec, f64)> {
        let (mu, r_n, r_t) = (self.friction, r.n, r.t.x);
        if y.n >= 0.0 && y.t.component_div(&mu).norm() <= y.n {
            return Some((y, 0.0));
        }
        if y.n <= 0.0 && (y.t.component_mul(&mu) * r_t).norm() <= -r_n * y.n {
            return None;
        }
        // λ_i = r_t μ_i² y_i x / (r_t μ_i² x + s), s = r_n (x − y_n), x = λ_n, on the surface.
        let mu2 = mu.component_mul(&mu);
        let k = (mu2 * r_t).add_scalar(r_n);
        let constant = Vector2::repeat(-r_n * y.n);
        let x = root(mu.component_mul(&y.t) * r_t, constant, k, y.n.max(0.0));
        let s = (r_n * (x - y.n)).max(0.0);
        let t =
            (mu2 * (r_t * x)).component_mul(&y.t).component_div(&(mu2 * (r_t * x)).add_scalar(s));
        Some((ContactVec { n: x, t }, s))
    }
}

/// The root x ≥ `start` of `Σ (a_i / (b_i + k_i x))² = 1`, whose left side decreases and is
/// convex and at least one at `start`.
fn root(a: Vector2<f64>, b: Vector2<f64>, k: Vector2<f64>, start: f64) -> f64 {
    let mut x = start;
    for _ in 0..NEWTON_LIMIT {
        let d = b + k * x;
        let q = a.component_div(&d);
        let value = q.norm_squared() - 1.0;
        let slope = -2.0 * q.component_mul(&q).component_mul(&k).component_div(&d).sum();
        if !(slope < 0.0) {
            return x;
        }
        let next = x - value / slope;
        if next <= x || !next.is_finite() {
            return x;
        }
        x = next;
    }
    x
}

#[inline]
fn trial(c0: ContactVec, r: ContactVec) -> ContactVec {
    ContactVec { n: -c0.n / r.n, t: -c0.t / r.t.x }
}

impl Relation for Elliptic {
    fn dim(&self) -> usize {
        DIM
    }

    fn respond(&self, model: FrictionModel, c0: &[f64], r: &[f64], lambda: &mut [f64]) {
        let r = ContactVec::load(r);
        let y = trial(ContactVec::load(c0), r);
        let solution = match model {
            FrictionModel::Coulomb if y.n <= 0.0 => ContactVec::ZERO,
            FrictionModel::Coulomb => ContactVec { n: y.n, t: self.clip(y.t, y.n).0 },
            FrictionModel::Convex => self.nearest(y, r).map_or(ContactVec::ZERO, |(x, _)| x),
        };
        solution.store(lambda);
    }

    fn slope(&self, model: FrictionModel, c0: &[f64], r: &[f64], slope: &mut [f64]) {
        let r = ContactVec::load(r);
        let y = trial(ContactVec::load(c0), r);
        slope[..DIM * DIM].fill(0.0);
        match model {
            FrictionModel::Coulomb => self.strict_slope(y, r, slope),
            FrictionModel::Convex => self.convex_slope(y, r, slope),
        }
    }

    fn potential(&self, c0: &[f64], r: &[f64]) -> f64 {
        let mut rows = [0.0; DIM];
        self.respond(FrictionModel::Convex, c0, r, &mut rows);
        half_square(r, &rows)
    }

    /// The largest power of friction per normal impulse: `|μ∘c_t|`.
    fn shift(&self, c: &[f64]) -> f64 {
        self.friction.component_mul(&ContactVec::load(c).t).norm()
    }
}

impl Elliptic {
    fn strict_slope(&self, y: ContactVec, r: ContactVec, slope: &mut [f64]) {
        if y.n <= 0.0 {
            return;
        }
        let (t, s) = self.clip(y.t, y.n);
        let (mut D, mut tn) = (Matrix2::identity(), Vector2::zeros());
        if s > 0.0 {
            let a2 = (self.friction * y.n).map(|a| a * a);
            let M_inv = a2.component_div(&a2.add_scalar(s));
            let g = t.component_div(&a2);
            let M_inv_g = M_inv.component_mul(&g);
            D = Matrix2::from_diagonal(&M_inv) - M_inv_g * M_inv_g.transpose() / g.dot(&M_inv_g);
            // The clipped point is homogeneous of degree one in (y_t, λ_n): Euler's relation.
            tn = (t - D * y.t) / y.n;
        }
        let (r_n, r_t) = (1.0 / r.n, 1.0 / r.t.x);
        ContactVec::store_matrix(r_n, Vector2::zeros(), tn * r_n, D * r_t, slope);
    }

    fn convex_slope(&self, y: ContactVec, r: ContactVec, slope: &mut [f64]) {
        let Some((solution, s)) = self.nearest(y, r) else {
            return;
        };
        let R = Vector3::new(r.n, r.t.x, r.t.y);
        let S = if s > 0.0 {
            // Differentiate r (λ − y) + s ∇g(λ) = 0, g(λ) = |λ_t / μ| − λ_n = 0.
            let mu2 = self.friction.component_mul(&self.friction);
            let grad_t = solution.t.component_div(&mu2) / solution.n;
            let g = Vector3::new(-1.0, grad_t.x, grad_t.y);
            let curvature = (Matrix2::from_diagonal(&mu2.map(|m| 1.0 / m))
                - grad_t * grad_t.transpose())
                / solution.n;
            let mut M = Matrix3::from_diagonal(&R);
            let mut tangential = M.fixed_view_mut::<2, 2>(1, 1);
            tangential += curvature * s;
            let Some(M_inv) = M.try_inverse() else {
                return;
            };
            let M_inv_g = M_inv * g;
            M_inv - M_inv_g * M_inv_g.transpose() / g.dot(&M_inv_g)
        } else {
            Matrix3::from_diagonal(&R.map(|r| 1.0 / r))
        };
        let block = |i, j| S.fixed_view::<1, 1>(i, j)[(0, 0)];
        ContactVec::store_matrix(
            block(0, 0),
            Vector2::new(block(0, 1), block(0, 2)),
            Vector2::new(block(1, 0), block(2, 0)),
            S.fixed_view::<2, 2>(1, 1).into_owned(),
            slope,
        );
    }
}
