//! One contact with exact friction, solved alone: given `c = G λ + c0`, find λ with (c, λ) in the
//! law of Signorini and Coulomb. The inner step of nonsmooth Gauss-Seidel.
//!
//! A contact opens, sticks, or slips; in slip, `c_t = −α λ_t` leaves one scalar equation in α. It
//! has the role of the bisection of \[Hwangbo18\]. The tangential block is diagonalised once, so that
//! each evaluation is a few scalars. With strong coupling of normal and tangent several solutions
//! exist; this finds one.

use nalgebra::{Matrix2, Vector2};

use crate::contact::{ContactVec, load_matrix};

/// Added to the diagonal of G, per unit of its trace [-]: a contact inside a tree has a singular
/// G. Harmless in an iteration, where it multiplies the change of λ.
pub(super) const RIDGE: f64 = 1e-12;

const BRACKET_LIMIT: usize = 400;
const BRACKET_GROWTH: f64 = 8.0;
const ROOT_LIMIT: usize = 200;

/// One contact in slip, as a function of α.
struct Slip {
    mu: f64,
    g_nn: f64,
    c0_n: f64,
    /// Eigenvalues and eigenvectors of G_tt.
    a: Vector2<f64>,
    Q: Matrix2<f64>,
    /// G_tn and c0_t along the eigenvectors.
    p: Vector2<f64>,
    c0_t: Vector2<f64>,
}

impl Slip {
    /// `λ_n` from `c_n = 0`, and `λ_t = −(G_tt + α)⁻¹ (G_tn λ_n + c0_t)` along the eigenvectors.
    fn impulse(&self, alpha: f64) -> (f64, Vector2<f64>) {
        let d = self.a.add_scalar(alpha);
        let (q, c0) = (self.p.component_div(&d), self.c0_t.component_div(&d));
        let n = (self.p.dot(&c0) - self.c0_n) / (self.g_nn - self.p.dot(&q));
        (n, -(q * n + c0))
    }

    /// `|λ_t| − μ λ_n`: positive outside the cone.
    fn excess(&self, alpha: f64) -> f64 {
        let (n, t) = self.impulse(alpha);
        t.norm() - self.mu * n
    }

    /// A root of the excess, by the Illinois variant of false position within a bracket.
    fn root(&self) -> Option<f64> {
        let (mut lo, mut f_lo) = (0.0, self.excess(0.0));
        let mut hi = self.a.sum();
        let mut f_hi = self.excess(hi);
        for _ in 0..BRACKET_LIMIT {
            if f_hi < 0.0 {
                break;
            }
            (lo, f_lo) = (hi, f_hi);
            hi *= BRACKET_GROWTH;
            f_hi = self.excess(hi);
        }
        if !(f_lo >= 0.0 && f_hi < 0.0 && hi.is_finite()) {
            return None;
        }
        for iteration in 0..ROOT_LIMIT {
            if hi - lo <= 2.0 * f64::EPSILON * hi {
                break;
            }
            // Every third step bisects, which bounds the number of iterations.
            let mut x = hi - f_hi * (hi - lo) / (f_hi - f_lo);
            if iteration % 3 == 2 || !(lo < x && x < hi) {
                x = 0.5 * (lo + hi);
            }
            let f = self.excess(x);
            if f == 0.0 {
                return Some(x);
            }
            if f > 0.0 {
                (lo, f_lo) = (x, f);
                f_hi *= 0.5;
            } else {
                (hi, f_hi) = (x, f);
                f_lo *= 0.5;
            }
        }
        Some(hi)
    }
}

/// The impulse of a contact with friction `mu` that moves at `G λ + c0`; G is row-major, symmetric
/// and positive definite.
pub(super) fn solve(mu: f64, G: &[f64], c0: ContactVec) -> ContactVec {
    if c0.n >= 0.0 {
        return ContactVec::ZERO;
    }
    let (g_nn, _, g_tn, G_tt) = load_matrix(G);
    let eigen = G_tt.symmetric_eigen();
    let Q = eigen.eigenvectors;
    let slip = Slip {
        mu,
        g_nn,
        c0_n: c0.n,
        a: eigen.eigenvalues,
        Q,
        p: Q.transpose() * g_tn,
        c0_t: Q.transpose() * c0.t,
    };
    // Stick is the case α = 0, for which c_t = 0.
    let (n, t) = slip.impulse(0.0);
    if n >= 0.0 && t.norm() <= mu * n {
        return ContactVec { n, t: slip.Q * t };
    }
    let frictionless = ContactVec { n: -c0.n / g_nn, t: Vector2::zeros() };
    let Some(alpha) = slip.root() else { return frictionless };
    let (n, t) = slip.impulse(alpha);
    let size = t.norm();
    // Rescales λ_t onto the cone: round-off in α then affects only its direction.
    let t = if size > 0.0 { t * (mu * n / size) } else { t };
    ContactVec { n, t: slip.Q * t }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// W of a rod of length 1 and mass 1 whose lower tip touches the ground at an angle θ from
    /// the horizontal: with inertia 1/12 about the centre, `1 + 3cos²θ`, `1 + 3sin²θ` and
    /// `−3 sinθ cosθ`.
    fn rod(degrees: f64) -> [f64; 9] {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let (nn, nt, tt) = (1.0 + 3.0 * cos * cos, -3.0 * sin * cos, 1.0 + 3.0 * sin * sin);
        [nn, nt, 0.0, nt, tt, 0.0, 0.0, 0.0, 1.0]
    }

    /// Residual of Signorini and Coulomb in G λ + c0, by definition rather than by projection.
    fn violation(mu: f64, G: &[f64; 9], c0: ContactVec, l: ContactVec) -> f64 {
        let (nn, nt, tn, tt) = load_matrix(G);
        let c = ContactVec { n: nn * l.n + nt.dot(&l.t) + c0.n, t: tn * l.n + tt * l.t + c0.t };
        let cone = (l.t.norm() - mu * l.n).max(0.0);
        let signorini = c.n.min(l.n).abs();
        // Maximal dissipation: λ_t · c_t = −μ λ_n |c_t|.
        let dissipation = (l.t.dot(&c.t) + mu * l.n * c.t.norm()).abs();
        cone.max(signorini).max(dissipation)
    }

    #[test]
    fn any_contact_gets_an_impulse_that_satisfies_signorini_and_coulomb() {
        let mut random = stiction_math::random::SplitMix64::new(7);
        for _ in 0..2000 {
            let mut B = nalgebra::Matrix3::zeros();
            B.iter_mut().for_each(|x| *x = random.normal());
            let G = B * B.transpose() + nalgebra::Matrix3::identity() * 1e-3;
            let G: [f64; 9] = std::array::from_fn(|k| G[(k / 3, k % 3)]);
            let c0 = ContactVec {
                n: random.normal(),
                t: Vector2::new(random.normal(), random.normal()),
            };
            let mu = random.log_uniform(1e-3, 1e3);
            let l = solve(mu, &G, c0);
            // Round-off times the condition of G, which is at most about 1e4, and times |λ|².
            let scale = 1.0 + l.n * l.n + l.t.norm_squared();
            assert!(violation(mu, &G, c0, l) <= 1e-10 * scale, "μ = {mu}, {G:?}, {c0:?}: {l:?}");
        }
    }

    #[test]
    fn a_rod_beyond_the_paradox_of_painleve_jams_instead_of_sliding() {
        // The free tip moves at −1 m/s and falls for one step of 0.01 s. Sliding without rotation
        // of the cone: c_n = 0 with λ_t = μ λ_n gives λ_n = −c0_n / (W_nn + μ W_nt); in stick,
        // λ = −W⁻¹ c0.
        let (W, c0) = (rod(55.0), ContactVec { n: -0.0981, t: Vector2::new(-1.0, 0.0) });
        let slip = solve(1.0, &W, c0);
        assert!((slip.n - 0.0981 / (W[0] + W[1])).abs() <= 1e-14, "{slip:?}");
        assert!((slip.n - slip.t.x).abs() <= 1e-14, "{slip:?}");
        let det = W[0] * W[4] - W[1] * W[1];
        let (n, t) = ((W[4] * 0.0981 - W[1]) / det, (W[0] - W[1] * 0.0981) / det);
        // At μ = 1.45 sliding is impossible: W_nn + μ W_nt < 0.
        for mu in [1.4, 1.45, 2.0] {
            let l = solve(mu, &W, c0);
            assert!((l.n - n).abs() <= 1e-14 && (l.t.x - t).abs() <= 1e-14, "{l:?}");
        }
    }

    #[test]
    fn without_friction_only_the_normal_impulse_acts() {
        let c0 = ContactVec { n: -1.0, t: Vector2::new(3.0, -2.0) };
        let W = rod(55.0);
        let l = solve(0.0, &W, c0);
        assert_eq!(l.t, Vector2::zeros());
        assert!((l.n - 1.0 / W[0]).abs() <= 1e-15);
    }
}
