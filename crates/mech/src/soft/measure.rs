//! Energy, momentum and centre of mass of soft bodies.
//!
//! Momentum is computed with the body's mass matrix, because internal forces conserve Σ M_ab v_b; the
//! linear momentum is that of the continuum for both lumpings.

use super::SoftBody;
use crate::model::Model;
use nalgebra::Vector3;

impl SoftBody {
    /// Mass [kg].
    pub fn total_mass(&self) -> f64 {
        self.mass.total
    }

    /// Kinetic energy ½ vᵀ M v [J] of velocities [m/s] of this body's vertices.
    pub fn kinetic_energy(&self, v: &[Vector3<f64>]) -> f64 {
        let mut energy = 0.0;
        for (&mass, &[row, column]) in self.mass.scalar.iter().zip(&self.topology.places) {
            let product = mass * v[row as usize].dot(&v[column as usize]);
            energy += if row == column { 0.5 * product } else { product };
        }
        energy
    }

    /// Potential energy of gravity [J], zero at the world's origin, for positions [m] of this body's
    /// vertices.
    pub fn gravity_energy(&self, x: &[Vector3<f64>], gravity: Vector3<f64>) -> f64 {
        -gravity.dot(&self.moment(x))
    }

    /// Linear [N·s] and angular [N·m·s] momentum, the latter about `point` [m]; all in the world frame.
    pub fn momentum(
        &self,
        x: &[Vector3<f64>],
        v: &[Vector3<f64>],
        point: Vector3<f64>,
    ) -> (Vector3<f64>, Vector3<f64>) {
        let linear = self.moment(v);
        let mut angular = Vector3::zeros();
        for (&mass, &[row, column]) in self.mass.scalar.iter().zip(&self.topology.places) {
            let (row, column) = (row as usize, column as usize);
            angular += mass * (x[row] - point).cross(&v[column]);
            if row != column {
                angular += mass * (x[column] - point).cross(&v[row]);
            }
        }
        (linear, angular)
    }

    /// Centre of mass [m] for positions of this body's vertices.
    pub fn centre_of_mass(&self, x: &[Vector3<f64>]) -> Vector3<f64> {
        self.moment(x) / self.mass.total
    }

    /// Σ m_a x_a.
    fn moment(&self, x: &[Vector3<f64>]) -> Vector3<f64> {
        self.mass.of_vertex.iter().zip(x).map(|(mass, x)| *mass * x).sum()
    }
}

/// Kinetic energy [J] of all soft bodies; velocities [m/s] of all vertices, as
/// [`State::x_dot`](crate::State::x_dot).
pub fn soft_kinetic_energy(model: &Model, x_dot: &[Vector3<f64>]) -> f64 {
    model.softs().iter().map(|soft| soft.kinetic_energy(&x_dot[soft.nodes.clone()])).sum()
}

/// Elastic and gravitational energy [J] of all soft bodies; positions [m] of all vertices, as
/// [`State::x`](crate::State::x).
pub fn soft_potential_energy(model: &Model, x: &[Vector3<f64>]) -> f64 {
    let of = |soft: &SoftBody| {
        let x = &x[soft.nodes.clone()];
        soft.energy(x) + soft.gravity_energy(x, model.gravity())
    };
    model.softs().iter().map(of).sum()
}

/// Linear [N·s] and angular [N·m·s] momentum of all soft bodies, the latter about `point` [m].
pub fn soft_momentum(
    model: &Model,
    x: &[Vector3<f64>],
    x_dot: &[Vector3<f64>],
    point: Vector3<f64>,
) -> (Vector3<f64>, Vector3<f64>) {
    let (mut linear, mut angular) = (Vector3::zeros(), Vector3::zeros());
    for soft in model.softs() {
        let (x, v) = (&x[soft.nodes.clone()], &x_dot[soft.nodes.clone()]);
        let (p, l) = soft.momentum(x, v, point);
        linear += p;
        angular += l;
    }
    (linear, angular)
}
