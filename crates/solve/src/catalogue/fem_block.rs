//! An elastic block that lands and slides: linear tetrahedra, sparse in 3 × 3 nodes.
//!
//! Backward Euler from the undeformed state: A = M + (δt β + δt²) K with lumped masses, Rayleigh
//! damping β K and the stiffness of linear elasticity, K_ij = V (λ g_i g_jᵀ + μ g_j g_iᵀ +
//! μ (g_i·g_j) 1), g the gradients of the barycentric coordinates [Han23, Eq. (7)]. Each cell of
//! the grid is cut into the six tetrahedra of the Kuhn subdivision. All bottom nodes are in
//! contact.

use nalgebra::{Matrix3, Vector3};

use super::Variation;
use super::assembly::{Assembly, EntryDefaults, GRAVITY};
use super::elastic::{STEPS, lame, row_major, tetrahedron};
use crate::contact::{DIM, frame, rows};
use crate::error::ProblemError;
use crate::problem::{Map, Problem};

const SIZE: [f64; 3] = [0.2, 0.2, 0.1]; // [m]
const YOUNG: f64 = 5e4; // [Pa]
const POISSON: f64 = 0.35; // [-]
const DENSITY: f64 = 1000.0; // [kg/m³]
const DAMPING: f64 = 0.01; // β [s]
const VELOCITY: [f64; 3] = [0.5, 0.2, -0.3]; // [m/s]

pub(super) fn build(variation: &Variation) -> Result<Problem, ProblemError> {
    let defaults = EntryDefaults {
        time_step: 0.01,
        friction: 0.3,
        mass_ratio: 1.0,
        size: 4,
        largest_size: 60,
    };
    let mut assembly = Assembly::new("fem-block", variation, defaults)?;
    let cells = [assembly.size, assembly.size, (assembly.size / 2).max(1)];
    let nodes = cells.map(|c| c + 1);
    let count = nodes.iter().product::<usize>();
    let index = |p: [usize; 3]| (p[2] * nodes[1] + p[1]) * nodes[0] + p[0];
    let place = |p: [usize; 3]| {
        Vector3::from_fn(|axis, _| SIZE[axis] * p[axis] as f64 / cells[axis] as f64)
    };
    let dt = assembly.time_step;
    let (mut masses, mut blocks) = (vec![0.0; count], Vec::new());
    for cell in 0..cells.iter().product() {
        let low = [cell % cells[0], cell / cells[0] % cells[1], cell / (cells[0] * cells[1])];
        for order in STEPS {
            let mut corners = [low; 4];
            for (k, axis) in order.into_iter().enumerate() {
                corners[k + 1] = corners[k];
                corners[k + 1][axis] += 1;
            }
            let (volume, gradients) = tetrahedron(corners.map(place));
            for i in 0..4 {
                masses[index(corners[i])] += 0.25 * DENSITY * volume;
                for j in 0..4 {
                    let (row, col) = (index(corners[i]), index(corners[j]));
                    if row >= col {
                        let K = lame(YOUNG, POISSON, volume, &gradients[i], &gradients[j]);
                        let scaled = (dt * DAMPING + dt * dt) * K;
                        blocks.push((row, col, row_major(&scaled)));
                    }
                }
            }
        }
    }
    let fall = Vector3::from(VELOCITY) - Vector3::z() * (GRAVITY * dt);
    let wrench = assembly.random_wrench(1.0, 0.0);
    let mut b = Vec::with_capacity(3 * count);
    for (node, mass) in masses.iter().enumerate() {
        blocks.push((node, node, row_major(&Matrix3::from_diagonal_element(*mass))));
        let share = wrench.fixed_rows::<3>(0) / count as f64;
        b.extend((0..3).map(|axis| mass * fall[axis] + share[axis]));
    }
    let list = blocks.iter().map(|(row, col, block)| (*row, *col, block.as_slice()));
    let block = assembly.builder.sparse(3, list, &b);
    let rotation = row_major(&frame(Vector3::z()));
    for node in 0..nodes[0] * nodes[1] {
        let port = assembly.builder.port(block, Map::Nodes(vec![(node, 1.0)]));
        let (bias, none) = (rows(0.0, 0.0), [0.0; DIM]);
        assembly.builder.constraint(assembly.contact_law, &bias, &none, &[(port, &rotation)]);
    }
    assembly.build()
}
