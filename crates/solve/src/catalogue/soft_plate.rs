//! A rigid plate that lands on an elastic block on the ground: a soft body between rigid ones.
//!
//! The block's bottom nodes touch the ground directly. The plate touches the block at the middle of
//! each cell of its top face, by the weights of a triangle there, so that nodes take part in
//! several contacts.

use nalgebra::Vector3;

use super::Variation;
use super::assembly::{self, Assembly, EntryDefaults, GRAVITY, Solid};
use super::elastic::{ElasticGrid, row_major};
use crate::contact::{DIM, frame, rows};
use crate::error::ProblemError;
use crate::problem::{Map, PortId, Problem};

const EDGE: f64 = 0.2; // [m]
const HEIGHT: f64 = 0.1; // [m]
const YOUNG: f64 = 5e4; // [Pa]
const POISSON: f64 = 0.35; // [-]
const DENSITY: f64 = 1000.0; // [kg/m³]
const DAMPING: f64 = 0.01; // β [s]
const PLATE_MASS: f64 = 2.0; // [kg]
const PLATE_THICKNESS: f64 = 0.02; // [m]
const PLATE_SPEED: [f64; 3] = [0.4, 0.1, -0.3]; // [m/s]

pub(super) fn build(variation: &Variation) -> Result<Problem, ProblemError> {
    let defaults = EntryDefaults {
        time_step: 0.01,
        friction: 0.4,
        mass_ratio: 1.0,
        size: 3,
        largest_size: 40,
    };
    let mut assembly = Assembly::new("soft-plate", variation, defaults)?;
    let cells = [assembly.size, assembly.size, assembly.size.div_ceil(2)];
    let grid = ElasticGrid {
        cells,
        size: [EDGE, EDGE, HEIGHT],
        young: YOUNG,
        poisson: POISSON,
        density: DENSITY,
    };
    let dt = assembly.time_step;
    let (masses, A) = grid.implicit_matrix(dt * (dt + DAMPING));
    let push = assembly.random_wrench(1.0, 0.0).fixed_rows::<3>(0) / grid.count() as f64;
    let fall = -Vector3::z() * (GRAVITY * dt);
    let b: Vec<f64> = masses.iter().flat_map(|m| <[f64; 3]>::from(*m * fall + push)).collect();
    let block = assembly.builder.sparse_matrix(&A, &b, Some(&grid.node_compliance(&masses, &A)));
    let rotation = frame(Vector3::z());
    let [nx, ny, _] = grid.nodes();
    for node in 0..nx * ny {
        let port = assembly.builder.port(block, Map::node(node as u32));
        let terms: [(PortId, &[f64]); 1] = [(port, &row_major(&rotation))];
        assembly.builder.constraint(assembly.contact_law, &[0.0; DIM], &[0.0; DIM], &terms);
    }
    let centre = Vector3::new(0.5 * EDGE, 0.5 * EDGE, HEIGHT + 0.5 * PLATE_THICKNESS);
    let size = Vector3::new(EDGE, EDGE, PLATE_THICKNESS);
    let solid = Solid::cuboid(PLATE_MASS, size, centre);
    let plate = assembly.rigid(&solid, Vector3::from(PLATE_SPEED), Vector3::zeros());
    for x in 0..cells[0] {
        for y in 0..cells[1] {
            let corners = [[x, y, cells[2]], [x + 1, y, cells[2]], [x + 1, y + 1, cells[2]]];
            let weights = [0.3, 0.4, 0.3, 0.0];
            let point =
                corners.iter().zip(weights).map(|(p, w)| w * grid.place(*p)).sum::<Vector3<f64>>();
            let [i, j, k] = corners.map(|p| grid.index(p) as u32);
            let face = assembly.builder.port(block, Map::Point { nodes: [i, j, k, 0], weights });
            let (on_block, on_plate) =
                (row_major(&-rotation), assembly::row_major(&(rotation * plate.at(point))));
            let terms: [(PortId, &[f64]); 2] = [(face, &on_block), (plate.port, &on_plate)];
            let bias = rows(0.0, 0.0);
            assembly.builder.constraint(assembly.contact_law, &bias, &[0.0; DIM], &terms);
        }
    }
    assembly.build()
}
