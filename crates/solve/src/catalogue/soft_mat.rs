//! An elastic mat that settles on the ground while it slides: many direct contacts on one mesh.
//!
//! Backward Euler from the undeformed state, as for the elastic block; every bottom node is a
//! contact. At 21 cells along an edge it has as many velocities as the mat of [Lee23, Sec. V-C].

use nalgebra::Vector3;

use super::Variation;
use super::assembly::{Assembly, EntryDefaults, GRAVITY};
use super::elastic::{ElasticGrid, row_major};
use crate::contact::{DIM, frame, rows};
use crate::error::ProblemError;
use crate::problem::{Map, Problem};

const EDGE: f64 = 0.5; // [m]
const THICKNESS: f64 = 0.02; // [m]
const YOUNG: f64 = 1e5; // [Pa]
const POISSON: f64 = 0.3; // [-]
const DENSITY: f64 = 200.0; // [kg/m³]
const DAMPING: f64 = 0.01; // β [s]
const SPEED: [f64; 3] = [0.1, 0.05, -0.3]; // [m/s]

pub(super) fn build(variation: &Variation) -> Result<Problem, ProblemError> {
    let defaults = EntryDefaults {
        time_step: 0.01,
        friction: 0.5,
        mass_ratio: 1.0,
        size: 4,
        largest_size: 120,
    };
    let mut assembly = Assembly::new("soft-mat", variation, defaults)?;
    let grid = ElasticGrid {
        cells: [assembly.size, assembly.size, 2],
        size: [EDGE, EDGE, THICKNESS],
        young: YOUNG,
        poisson: POISSON,
        density: DENSITY,
    };
    let dt = assembly.time_step;
    let (masses, A) = grid.implicit_matrix(dt * (dt + DAMPING));
    let push = assembly.random_wrench(1.0, 0.0).fixed_rows::<3>(0) / grid.count() as f64;
    let fall = Vector3::from(SPEED) - Vector3::z() * (GRAVITY * dt);
    let b: Vec<f64> = masses.iter().flat_map(|m| <[f64; 3]>::from(*m * fall + push)).collect();
    let mat = assembly.builder.sparse_matrix(&A, &b, Some(&grid.node_compliance(&masses, &A)));
    let rotation = row_major(&frame(Vector3::z()));
    let [nx, ny, _] = grid.nodes();
    for node in 0..nx * ny {
        // The mat is a little uneven: some nodes touch, some still fall.
        let gap = 1e-3 * ((node * 7) % 5) as f64 / 5.0;
        let port = assembly.builder.port(mat, Map::node(node as u32));
        let (bias, none) = (rows(gap / dt, 0.0), [0.0; DIM]);
        assembly.builder.constraint(assembly.contact_law, &bias, &none, &[(port, &rotation)]);
    }
    assembly.build()
}
