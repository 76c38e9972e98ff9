//! Lorentz cone in three dimensions, `u₀ ≥ ‖u₁‖`: Jordan product, distance to the border, and the scaling of
//! Nesterov and Todd, `W y = W⁻¹ s` for two points of its interior.
//!
//! `W = η [w₀, w₁ᵀ; w₁, I + w₁ w₁ᵀ/(1 + w₀)]` with a point w of unit determinant, so that `W² = η² (2 w wᵀ − Q)`,
//! Q = diag(1, −1, −1).

use nalgebra::{Matrix3, Vector2, Vector3};

/// The unit element of the Jordan product.
pub fn unit() -> Vector3<f64> {
    Vector3::x()
}

/// `a ∘ b = (a·b, a₀ b₁ + b₀ a₁)`.
pub fn product(a: &Vector3<f64>, b: &Vector3<f64>) -> Vector3<f64> {
    let rest = a.x * tail(b) + b.x * tail(a);
    Vector3::new(a.dot(b), rest.x, rest.y)
}

/// The x with `a ∘ x = b`; a must lie in the interior of the cone.
pub fn quotient(a: &Vector3<f64>, b: &Vector3<f64>) -> Vector3<f64> {
    let first = (a.x * b.x - tail(a).dot(&tail(b))) / determinant(a);
    let rest = (tail(b) - first * tail(a)) / a.x;
    Vector3::new(first, rest.x, rest.y)
}

/// `u₀² − ‖u₁‖²`, positive in the interior.
pub fn determinant(u: &Vector3<f64>) -> f64 {
    let norm = tail(u).norm();
    (u.x - norm) * (u.x + norm)
}

/// The largest α at which `u + α d` lies in the cone, for a point u of its interior; infinite if it never leaves.
pub fn distance(u: &Vector3<f64>, d: &Vector3<f64>) -> f64 {
    // det(u + α d) = a α² + 2 b α + c, and u₀ + α d₀ ≥ 0.
    let a = d.x * d.x - tail(d).norm_squared();
    let b = u.x * d.x - tail(u).dot(&tail(d));
    let c = determinant(u);
    let discriminant = b * b - a * c;
    if discriminant < 0.0 {
        return f64::INFINITY;
    }
    // The smallest positive root; both forms avoid cancellation.
    let q = -(b + discriminant.sqrt().copysign(b));
    let roots = [q / a, c / q];
    roots.into_iter().filter(|root| *root > 0.0).fold(f64::INFINITY, f64::min)
}

fn tail(u: &Vector3<f64>) -> Vector2<f64> {
    Vector2::new(u.y, u.z)
}

/// The scaling of a pair of points in the interior.
#[derive(Clone, Copy, Debug)]
pub struct Scaling {
    eta: f64,
    w: Vector3<f64>,
}

impl Scaling {
    /// The scaling with `W y = W⁻¹ s`.
    pub fn new(s: &Vector3<f64>, y: &Vector3<f64>) -> Self {
        let (det_s, det_y) = (determinant(s), determinant(y));
        let (s, y) = (s / det_s.sqrt(), y / det_y.sqrt());
        let gamma = (0.5 * (1.0 + s.dot(&y))).sqrt();
        let w = (s + Vector3::new(y.x, -y.y, -y.z)) / (2.0 * gamma);
        Self { eta: (det_s / det_y).powf(0.25), w }
    }

    fn apply(w: &Vector3<f64>, x: &Vector3<f64>) -> Vector3<f64> {
        let along = tail(w).dot(&tail(x));
        let rest = tail(x) + tail(w) * (x.x + along / (1.0 + w.x));
        Vector3::new(w.x * x.x + along, rest.x, rest.y)
    }

    /// `W x`.
    pub fn forward(&self, x: &Vector3<f64>) -> Vector3<f64> {
        self.eta * Self::apply(&self.w, x)
    }

    /// `W⁻¹ x`.
    pub fn backward(&self, x: &Vector3<f64>) -> Vector3<f64> {
        Self::apply(&Vector3::new(self.w.x, -self.w.y, -self.w.z), x) / self.eta
    }

    /// `W²`.
    pub fn square(&self) -> Matrix3<f64> {
        let reflection = Matrix3::from_diagonal(&Vector3::new(1.0, -1.0, -1.0));
        self.eta * self.eta * (2.0 * self.w * self.w.transpose() - reflection)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Vector3<f64> = Vector3::new(2.0, 0.3, -1.2);
    const Y: Vector3<f64> = Vector3::new(0.7, 0.2, 0.5);

    fn near(a: &Vector3<f64>, b: &Vector3<f64>) {
        // A dozen operations on numbers of order one.
        assert!((a - b).norm() <= 1e-14, "{a} {b}");
    }

    #[test]
    fn the_scaling_maps_both_points_to_one() {
        let scaling = Scaling::new(&S, &Y);
        near(&scaling.forward(&Y), &scaling.backward(&S));
        near(&scaling.forward(&scaling.backward(&S)), &S);
        near(&(scaling.square() * Y), &S);
    }

    #[test]
    fn the_quotient_inverts_the_product() {
        near(&product(&S, &quotient(&S, &Y)), &Y);
        near(&product(&S, &unit()), &S);
    }

    #[test]
    fn the_distance_reaches_the_border_and_no_farther() {
        for d in [Vector3::new(-1.0, 0.2, 0.1), Vector3::new(0.1, -2.0, 0.5), -S] {
            let reached = S + distance(&S, &d) * d;
            assert!(determinant(&reached).abs() <= 1e-13 && reached.x >= -1e-14, "{reached}");
        }
        assert_eq!(distance(&S, &Y), f64::INFINITY);
    }
}
