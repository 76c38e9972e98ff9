//! Spatial algebra: cross products and inertias of rigid bodies as 6-vectors and 6×6 matrices.
//!
//! Angular parts come first, as in [Featherstone08]. An [`Inertia10`] holds the ten parameters of a
//! body in which spatial inertia is linear, so that bodies welded together simply add up.
//! Nothing here changes frames or positions.

use nalgebra::{Matrix3, Matrix6, Vector3, Vector6};
use std::ops::{Add, AddAssign};

/// The matrix of the cross product: `skew(a) * b = a × b`.
pub fn skew(a: Vector3<f64>) -> Matrix3<f64> {
    Matrix3::new(0.0, -a.z, a.y, a.z, 0.0, -a.x, -a.y, a.x, 0.0)
}

/// The matrix of v × m for motion vectors, [ω× 0; v× ω×] [Featherstone08, Sec. 2.9].
pub fn motion_cross(v: &Vector6<f64>) -> Matrix6<f64> {
    let (angular, linear) = (skew(v.fixed_rows::<3>(0).into()), skew(v.fixed_rows::<3>(3).into()));
    let mut matrix = Matrix6::zeros();
    matrix.fixed_view_mut::<3, 3>(0, 0).copy_from(&angular);
    matrix.fixed_view_mut::<3, 3>(3, 0).copy_from(&linear);
    matrix.fixed_view_mut::<3, 3>(3, 3).copy_from(&angular);
    matrix
}

/// v × m: the rate of change of a motion vector `m` fixed in a body that moves with `v`.
pub fn cross_motion(v: &Vector6<f64>, m: &Vector6<f64>) -> Vector6<f64> {
    let ((w, u), (m_w, m_v)) = (parts(v), parts(m));
    join(w.cross(&m_w), w.cross(&m_v) + u.cross(&m_w))
}

/// v ×* f: the rate of change of a force vector `f` fixed in a body that moves with `v`,
/// −(v×)ᵀ f [Featherstone08, Sec. 2.9].
pub fn cross_force(v: &Vector6<f64>, f: &Vector6<f64>) -> Vector6<f64> {
    let ((w, u), (torque, force)) = (parts(v), parts(f));
    join(w.cross(&torque) + u.cross(&force), w.cross(&force))
}

fn parts(v: &Vector6<f64>) -> (Vector3<f64>, Vector3<f64>) {
    (v.fixed_rows::<3>(0).into(), v.fixed_rows::<3>(3).into())
}

fn join(angular: Vector3<f64>, linear: Vector3<f64>) -> Vector6<f64> {
    Vector6::new(angular.x, angular.y, angular.z, linear.x, linear.y, linear.z)
}

/// The ten inertial parameters of a rigid body in a frame; they add up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Inertia10 {
    /// Mass [kg].
    pub mass: f64,
    /// Mass times the position of the centre of mass [kg·m].
    pub moment: Vector3<f64>,
    /// Rotational inertia about the frame's origin, xx, yy, zz, xy, xz, yz [kg·m²]; off-diagonal
    /// entries are those of the matrix, minus the integral of the product of coordinates.
    pub rotational: [f64; 6],
}

impl Inertia10 {
    /// A mass `beta` [kg] concentrated at `p` [m].
    pub fn point_mass(beta: f64, p: Vector3<f64>) -> Self {
        let [x, y, z] = [p.x, p.y, p.z];
        let rotational = [y * y + z * z, x * x + z * z, x * x + y * y, -x * y, -x * z, -y * z];
        Self { mass: beta, moment: beta * p, rotational: rotational.map(|entry| beta * entry) }
    }

    /// A body with its mass [kg], centre of mass [m] and rotational inertia about that centre
    /// [kg·m²], by the parallel-axis theorem.
    pub fn from_central(mass: f64, com: Vector3<f64>, central: &Matrix3<f64>) -> Self {
        let rotational = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)].map(|at| central[at]);
        let mut inertia = Self::point_mass(mass, com);
        for (sum, entry) in inertia.rotational.iter_mut().zip(rotational) {
            *sum += entry;
        }
        inertia
    }

    /// Rotational inertia about the frame's origin [kg·m²].
    pub fn rotational_matrix(&self) -> Matrix3<f64> {
        let [xx, yy, zz, xy, xz, yz] = self.rotational;
        Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz)
    }

    /// The 6×6 spatial inertia [I h×; −h× m 1], angular first [Featherstone08, Sec. 2.13].
    pub fn to_matrix(&self) -> Matrix6<f64> {
        let h = skew(self.moment);
        let mut matrix = Matrix6::zeros();
        matrix.fixed_view_mut::<3, 3>(0, 0).copy_from(&self.rotational_matrix());
        matrix.fixed_view_mut::<3, 3>(0, 3).copy_from(&h);
        matrix.fixed_view_mut::<3, 3>(3, 0).copy_from(&h.transpose());
        matrix.fixed_view_mut::<3, 3>(3, 3).fill_diagonal(self.mass);
        matrix
    }

    /// Spatial momentum of a body that moves with `v`: [`Inertia10::to_matrix`] times `v`.
    pub fn momentum(&self, v: &Vector6<f64>) -> Vector6<f64> {
        let (w, u) = parts(v);
        let angular = self.rotational_matrix() * w + self.moment.cross(&u);
        join(angular, self.mass * u - self.moment.cross(&w))
    }
}

impl Add for Inertia10 {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl AddAssign for Inertia10 {
    fn add_assign(&mut self, other: Self) {
        self.mass += other.mass;
        self.moment += other.moment;
        for (sum, entry) in self.rotational.iter_mut().zip(other.rotational) {
            *sum += entry;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    /// Entries are of order one and sums have fewer than twenty terms.
    const TOLERANCE: f64 = 20.0 * f64::EPSILON;

    #[test]
    fn cross_products_equal_their_matrices() {
        let mut rng = SplitMix64::new(71);
        let (a, b) = (rng.vector3(), rng.vector3());
        assert!((skew(a) * b - a.cross(&b)).amax() <= TOLERANCE);
        let (v, m) = (rng.vector6(), rng.vector6());
        assert!((motion_cross(&v) * m - cross_motion(&v, &m)).amax() <= TOLERANCE);
        assert!((-motion_cross(&v).transpose() * m - cross_force(&v, &m)).amax() <= TOLERANCE);
        assert!(cross_motion(&v, &v).amax() <= TOLERANCE);
    }

    #[test]
    fn kinetic_energy_is_that_of_the_points() {
        let mut rng = SplitMix64::new(72);
        let v = rng.vector6();
        let (w, u) = parts(&v);
        let (mut body, mut energy) = (Inertia10::default(), 0.0);
        for _ in 0..5 {
            let (mass, p) = (1.0 + rng.signed_unit().abs(), rng.vector3());
            body += Inertia10::point_mass(mass, p);
            energy += 0.5 * mass * (u + w.cross(&p)).norm_squared();
        }
        let found = 0.5 * v.dot(&(body.to_matrix() * v));
        assert!((found - energy).abs() <= 5.0 * TOLERANCE * energy, "{found} against {energy}");
        assert!((body.to_matrix() * v - body.momentum(&v)).amax() <= 10.0 * TOLERANCE);
    }

    #[test]
    fn central_inertia_obeys_the_parallel_axis_theorem() {
        // Two points of mass m at c ± a: central inertia 2 m (|a|² 1 − a aᵀ).
        let (m, c, a) = (0.7, Vector3::new(0.3, -0.2, 0.5), Vector3::new(0.1, 0.4, -0.3));
        let central = 2.0 * m * (a.norm_squared() * Matrix3::identity() - a * a.transpose());
        let by_points = Inertia10::point_mass(m, c + a) + Inertia10::point_mass(m, c - a);
        let by_theorem = Inertia10::from_central(2.0 * m, c, &central);
        assert!((by_points.to_matrix() - by_theorem.to_matrix()).amax() <= TOLERANCE);
    }
}
