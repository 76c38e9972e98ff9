//! A slender rod of rigid segments with elastic joints that drops on the ground and slides.
//!
//! One subsystem of nodes with six velocities each, angular first, at the centres of the segments;
//! the joint between two of them resists stretch, shear, bend and twist, linearised at the straight
//! rod: `A = M + δt (δt + β) Jₑᵀ K Jₑ` [Lee23, Eqs. (7)-(9)]. Each segment touches the ground below
//! its centre. Rotations and translations differ by orders of magnitude in inertia.

use nalgebra::{Matrix3, Matrix6, SMatrix, Vector3, Vector6};
use stiction_math::block;
use stiction_math::spatial::skew;

use super::Variation;
use super::assembly::{Assembly, EntryDefaults, GRAVITY};
use crate::contact::{DIM, frame, rows};
use crate::error::ProblemError;
use crate::problem::{Map, PortId, Problem};

const LENGTH: f64 = 0.5; // [m]
const RADIUS: f64 = 5e-3; // [m]
const YOUNG: f64 = 2.954e6; // [Pa]
const POISSON: f64 = 0.49; // [-]
const DENSITY: f64 = 1000.0; // [kg/m³]
const DAMPING: f64 = 0.01; // β [s]
const SHEAR_FACTOR: f64 = 5.0 / 6.0; // [-]
const SPEED: [f64; 3] = [0.2, 0.3, -0.2]; // [m/s]

pub(super) fn build(variation: &Variation) -> Result<Problem, ProblemError> {
    let defaults = EntryDefaults {
        time_step: 0.01,
        friction: 0.4,
        mass_ratio: 1.0,
        size: 10,
        largest_size: 1000,
    };
    let mut assembly = Assembly::new("rod", variation, defaults)?;
    let segments = assembly.size.max(2);
    let (dt, l, r) = (assembly.time_step, LENGTH / segments as f64, RADIUS);
    let area = std::f64::consts::PI * r * r;
    let (mass, bend) = (DENSITY * area * l, 0.25 * area * r * r);
    let across = mass * (r * r / 4.0 + l * l / 12.0);
    let own =
        Matrix6::from_diagonal(&Vector6::new(0.5 * mass * r * r, across, across, mass, mass, mass));
    // The rod lies along x: twist, bends; stretch, shears.
    let shear = YOUNG / (2.0 * (1.0 + POISSON));
    let K = Matrix6::from_diagonal(&Vector6::new(
        2.0 * shear * bend / l,
        YOUNG * bend / l,
        YOUNG * bend / l,
        YOUNG * area / l,
        SHEAR_FACTOR * shear * area / l,
        SHEAR_FACTOR * shear * area / l,
    ));
    // Rates of (relative rotation, opening of the joint) from the velocities of both segments.
    let side = |sign: f64, arm: Vector3<f64>| {
        let mut J = Matrix6::zeros();
        J.fixed_view_mut::<3, 3>(0, 0).copy_from(&(sign * Matrix3::identity()));
        J.fixed_view_mut::<3, 3>(3, 0).copy_from(&(-sign * skew(arm)));
        J.fixed_view_mut::<3, 3>(3, 3).copy_from(&(sign * Matrix3::identity()));
        J
    };
    let (J_i, J_j) = (side(-1.0, Vector3::x() * (0.5 * l)), side(1.0, Vector3::x() * (-0.5 * l)));
    let weight = dt * (dt + DAMPING);
    let pattern = block::Pattern::new(&vec![6; segments], (1..segments).map(|k| (k, k - 1)));
    let mut A = block::Symmetric::zeros(&pattern);
    let mut add = |row: usize, col: usize, value: Matrix6<f64>| {
        if let Some(id) = pattern.find(row, col) {
            for (k, a) in A.block_mut(id).iter_mut().enumerate() {
                *a += value[(k / 6, k % 6)];
            }
        }
    };
    for k in 0..segments {
        add(k, k, own);
    }
    for k in 1..segments {
        add(k - 1, k - 1, weight * J_i.transpose() * K * J_i);
        add(k, k, weight * J_j.transpose() * K * J_j);
        add(k, k - 1, weight * J_j.transpose() * K * J_i);
    }
    let push = assembly.random_wrench(1.0, 0.0).fixed_rows::<3>(0) / segments as f64;
    let fall = Vector3::from(SPEED) - Vector3::z() * (GRAVITY * dt);
    let mut b = Vec::with_capacity(6 * segments);
    for _ in 0..segments {
        b.extend_from_slice(&[0.0; 3]);
        b.extend_from_slice((mass * fall + push).as_slice());
    }
    let rod = assembly.builder.sparse_matrix(&A, &b, None);
    let mut at_point = SMatrix::<f64, 3, 6>::zeros();
    at_point.fixed_view_mut::<3, 3>(0, 0).copy_from(&-skew(-r * Vector3::z()));
    at_point.fixed_view_mut::<3, 3>(0, 3).copy_from(&Matrix3::identity());
    let J = frame(Vector3::z()) * at_point;
    let C: Vec<f64> = (0..18).map(|k| J[(k / 6, k % 6)]).collect();
    for k in 0..segments {
        let gap = 1e-3 * (k % 3) as f64;
        let port = assembly.builder.port(rod, Map::node(k as u32));
        let terms: [(PortId, &[f64]); 1] = [(port, &C)];
        let bias = rows(gap / dt, 0.0);
        assembly.builder.constraint(assembly.contact_law, &bias, &[0.0; DIM], &terms);
    }
    assembly.build()
}
