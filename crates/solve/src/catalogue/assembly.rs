//! Assembles rigid pieces and their contacts into a problem.
//!
//! A piece has the velocities (linear velocity of its centre, angular velocity), both in world
//! axes; z points up. A contact has its normal from A into B and the velocity c = v_B − v_A.

use nalgebra::{Matrix3, Matrix3x6, Matrix6, Vector3, Vector6};
use stiction_math::spatial::skew;

use super::Variation;
use crate::contact::{DIM, frame, rows};
use crate::error::ProblemError;
use crate::law::{Coulomb, Law};
use crate::problem::{Builder, Map, PortId, Problem};
use stiction_math::random::SplitMix64;

/// Acceleration of free fall [m/s²], downwards.
pub(super) const GRAVITY: f64 = 9.81;

/// Parameters of an entry that a variation may change.
pub(super) struct EntryDefaults {
    pub time_step: f64,
    pub friction: f64,
    pub mass_ratio: f64,
    pub size: usize,
    pub largest_size: usize,
}

/// Mass, inertia and position of a rigid piece.
pub(super) struct Solid {
    /// Mass [kg].
    pub mass: f64,
    /// Rotational inertia about the centre of mass in world axes [kg·m²].
    pub inertia: Matrix3<f64>,
    /// Centre of mass [m].
    pub centre: Vector3<f64>,
}

impl Solid {
    /// A homogeneous box with its edges along the axes.
    pub fn cuboid(mass: f64, size: Vector3<f64>, centre: Vector3<f64>) -> Self {
        let s = size.component_mul(&size) * (mass / 12.0);
        let inertia = Matrix3::from_diagonal(&Vector3::new(s.y + s.z, s.x + s.z, s.x + s.y));
        Self { mass, inertia, centre }
    }

    /// A homogeneous sphere.
    pub fn sphere(mass: f64, radius: f64, centre: Vector3<f64>) -> Self {
        let inertia = Matrix3::from_diagonal_element(0.4 * mass * radius * radius);
        Self { mass, inertia, centre }
    }

    /// A homogeneous tube about z, between two radii.
    pub fn tube(mass: f64, radii: [f64; 2], height: f64, centre: Vector3<f64>) -> Self {
        let polar = 0.5 * mass * (radii[0].powi(2) + radii[1].powi(2));
        let cross = 0.5 * polar + mass * height * height / 12.0;
        let inertia = Matrix3::from_diagonal(&Vector3::new(cross, cross, polar));
        Self { mass, inertia, centre }
    }
}

/// One side of a contact: a port that reads the motion of a rigid frame.
#[derive(Clone, Copy)]
pub(super) struct Side {
    pub port: PortId,
    reading: Reading,
}

#[derive(Clone, Copy)]
enum Reading {
    /// Linear velocity of this point, then angular velocity.
    LinearFirst(Vector3<f64>),
    /// Angular velocity, then linear velocity at the world's origin.
    AngularFirst,
}

impl Side {
    /// The side of a link whose port reads its spatial velocity at the world's origin.
    pub fn link(port: PortId) -> Self {
        Self { port, reading: Reading::AngularFirst }
    }

    /// The velocity of the point `p` of this side, as a matrix on the velocities of the port.
    pub fn at(&self, p: Vector3<f64>) -> Matrix3x6<f64> {
        let mut matrix = Matrix3x6::zeros();
        let (linear, angular, lever) = match self.reading {
            Reading::LinearFirst(origin) => (0, 3, p - origin),
            Reading::AngularFirst => (3, 0, p),
        };
        matrix.fixed_view_mut::<3, 3>(0, linear).fill_with_identity();
        matrix.fixed_view_mut::<3, 3>(0, angular).copy_from(&-skew(lever));
        matrix
    }

    /// The angular velocity of this side along `axis`, as a row on the velocities of the port.
    pub fn spin(&self, axis: Vector3<f64>) -> Vector6<f64> {
        let mut row = Vector6::zeros();
        let angular = if matches!(self.reading, Reading::AngularFirst) { 0 } else { 3 };
        row.fixed_rows_mut::<3>(angular).copy_from(&axis);
        row
    }
}

/// A problem under construction, with the parameters of its variation.
pub(super) struct Assembly {
    pub builder: Builder,
    pub random: SplitMix64,
    pub time_step: f64,
    pub mass_ratio: f64,
    pub size: usize,
    pub contact_law: Law,
    wrench: f64,
}

impl Assembly {
    /// Starts a problem. Checks the parameters of the variation.
    pub fn new(
        name: &str,
        variation: &Variation,
        defaults: EntryDefaults,
    ) -> Result<Self, ProblemError> {
        let refused =
            |what, found: String, expected| Err(ProblemError::Structure { what, found, expected });
        let mu = variation.friction.unwrap_or(defaults.friction);
        let Some(law) = Coulomb::new(mu) else {
            return refused("friction", mu.to_string(), "a finite number, not negative");
        };
        let mass_ratio = variation.mass_ratio.unwrap_or(defaults.mass_ratio);
        if !(mass_ratio.is_finite() && mass_ratio > 0.0) {
            return refused("mass ratio", mass_ratio.to_string(), "a finite positive number");
        }
        if !variation.wrench.is_finite() {
            return refused("wrench", variation.wrench.to_string(), "a finite number");
        }
        let size = if variation.size == 0 { defaults.size } else { variation.size };
        if size > defaults.largest_size {
            let found = format!("{size}, beyond {} of {name}", defaults.largest_size);
            return refused("size", found, "a smaller number");
        }
        Ok(Self {
            builder: Problem::builder(name),
            random: SplitMix64::new(variation.seed),
            time_step: defaults.time_step,
            mass_ratio,
            size,
            contact_law: Law::Coulomb(law),
            wrench: variation.wrench,
        })
    }

    /// Three independent normal numbers.
    pub fn normal3(&mut self) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.random.normal())
    }

    /// Adds a rigid piece that moves with a linear [m/s] and an angular velocity [rad/s] and falls.
    pub fn rigid(&mut self, solid: &Solid, linear: Vector3<f64>, angular: Vector3<f64>) -> Side {
        let mut A = Matrix6::zeros();
        A.fixed_view_mut::<3, 3>(0, 0).fill_diagonal(solid.mass);
        A.fixed_view_mut::<3, 3>(3, 3).copy_from(&solid.inertia);
        let mut v = Vector6::zeros();
        v.fixed_rows_mut::<3>(0).copy_from(&(linear - Vector3::z() * (GRAVITY * self.time_step)));
        v.fixed_rows_mut::<3>(3).copy_from(&angular);
        let b = A * v + self.random_wrench(solid.mass, solid.inertia.diagonal().max());
        // A is symmetric, so that its storage order does not matter.
        let id = self.builder.dense(A.as_slice(), b.as_slice());
        let port = self.builder.port(id, Map::Whole);
        Side { port, reading: Reading::LinearFirst(solid.centre) }
    }

    /// Impulse of the random wrench on a piece over the step [N·s, N·m·s]. It draws from the
    /// generator in any case, so that the rest of the problem does not depend on the wrench.
    pub fn random_wrench(&mut self, mass: f64, largest_inertia: f64) -> Vector6<f64> {
        let (force, torque) = (self.normal3(), self.normal3());
        let gyration = (largest_inertia / mass).sqrt();
        let scale = self.wrench * self.time_step;
        let mut impulse = Vector6::zeros();
        impulse.fixed_rows_mut::<3>(0).copy_from(&(force * scale));
        impulse.fixed_rows_mut::<3>(3).copy_from(&(torque * scale * gyration));
        impulse
    }

    /// Adds a contact at `point` with its normal from A into B and a gap [m]; `None` is the ground.
    pub fn contact(
        &mut self,
        a: Option<&Side>,
        b: &Side,
        point: Vector3<f64>,
        normal: Vector3<f64>,
        gap: f64,
    ) {
        let rotation = frame(normal);
        let on_b = row_major(&(rotation * b.at(point)));
        let bias = rows(gap / self.time_step, 0.0);
        let none = [0.0; DIM];
        match a {
            None => {
                self.builder.constraint(self.contact_law, &bias, &none, &[(b.port, &on_b)]);
            }
            Some(a) => {
                let on_a = row_major(&(-(rotation * a.at(point))));
                let terms: [(PortId, &[f64]); 2] = [(a.port, &on_a), (b.port, &on_b)];
                self.builder.constraint(self.contact_law, &bias, &none, &terms);
            }
        }
    }

    /// Builds the problem.
    pub fn build(self) -> Result<Problem, ProblemError> {
        self.builder.build()
    }
}

/// A 3 × 6 matrix row by row.
pub(super) fn row_major(matrix: &Matrix3x6<f64>) -> [f64; 18] {
    std::array::from_fn(|k| matrix[(k / 6, k % 6)])
}

/// Points at equal angles on a horizontal circle, with their outward directions.
pub(super) fn ring(
    centre: Vector3<f64>,
    radius: f64,
    count: usize,
) -> impl Iterator<Item = (Vector3<f64>, Vector3<f64>)> {
    (0..count).map(move |k| {
        let angle = std::f64::consts::TAU * k as f64 / count as f64;
        let outward = Vector3::new(angle.cos(), angle.sin(), 0.0);
        (centre + radius * outward, outward)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contact_reads_the_relative_velocity_of_its_point() {
        let defaults = EntryDefaults {
            time_step: 0.1,
            friction: 0.5,
            mass_ratio: 1.0,
            size: 1,
            largest_size: 1,
        };
        let mut assembly = Assembly::new("pair", &Variation::default(), defaults).unwrap();
        let (c_A, c_B) = (Vector3::new(0.3, -0.2, 0.1), Vector3::new(-0.1, 0.4, 0.9));
        let a = assembly.rigid(&Solid::sphere(1.0, 0.5, c_A), Vector3::zeros(), Vector3::zeros());
        let b = assembly.rigid(&Solid::sphere(2.0, 0.5, c_B), Vector3::zeros(), Vector3::zeros());
        let (p, n) = (Vector3::new(0.1, 0.1, 0.5), Vector3::new(2.0, -1.0, 2.0) / 3.0);
        assembly.contact(Some(&a), &b, p, n, 0.02);
        let problem = assembly.build().unwrap();
        let v: Vec<f64> = (0..12).map(|k| (1.7 * k as f64).sin()).collect();
        let at = |k: usize| Vector3::new(v[k], v[k + 1], v[k + 2]);
        let expected = (at(6) + at(9).cross(&(p - c_B))) - (at(0) + at(3).cross(&(p - c_A)));
        let mut c = [0.0; DIM];
        problem.jacobian().mul_constraint(0, &v, &mut c);
        // Sums of a dozen products of numbers of order one.
        let bound = 50.0 * f64::EPSILON;
        let found = crate::contact::ContactVec::load(&c);
        assert!((found.n - n.dot(&expected)).abs() <= bound);
        let tangential = (expected - n * n.dot(&expected)).norm();
        assert!((found.t.norm() - tangential).abs() <= bound);
        let bias = crate::contact::ContactVec::load(problem.bias());
        assert!((bias.n - 0.2).abs() <= bound && bias.t.norm() == 0.0);
    }
}
