//! An elastic block between the fingers of an articulated gripper.
//!
//! A wrist slides along z; two fingers hang on it by hinges and are driven towards each other. They
//! press pads against the faces of the block, which touches them by the weights of its triangles.

use nalgebra::{Matrix3, Vector3, Vector6};
use stiction_math::spatial::Inertia10;

use super::Variation;
use super::assembly::{self, Assembly, EntryDefaults, GRAVITY, Side};
use super::elastic::{ElasticGrid, row_major};
use crate::contact::{DIM, frame};
use crate::error::ProblemError;
use crate::problem::{Map, PortId, Problem, Tree};

const EDGE: f64 = 0.06; // [m]
const YOUNG: f64 = 1e5; // [Pa]
const POISSON: f64 = 0.3; // [-]
const DENSITY: f64 = 500.0; // [kg/m³]
const DAMPING: f64 = 0.005; // β [s]
const WRIST_MASS: f64 = 1.0; // [kg]
const FINGER_MASS: f64 = 0.2; // [kg]
const FINGER_LENGTH: f64 = 0.12; // [m]
const ARMATURE: f64 = 1e-3; // [kg·m²]
const GRIP: f64 = 1.0; // [N·m]
const LIFT: f64 = 30.0; // [N]

pub(super) fn build(variation: &Variation) -> Result<Problem, ProblemError> {
    let defaults = EntryDefaults {
        time_step: 0.01,
        friction: 0.8,
        mass_ratio: 1.0,
        size: 3,
        largest_size: 40,
    };
    let mut assembly = Assembly::new("gripped-block", variation, defaults)?;
    let grid = ElasticGrid {
        cells: [assembly.size; 3],
        size: [EDGE; 3],
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

    // Hinges above the faces x = 0 and x = EDGE; a positive turn about y moves a hanging tip to −x.
    let hinge = |x: f64| Vector3::new(x, 0.5 * EDGE, 0.5 * EDGE + FINGER_LENGTH);
    let mut tree = Tree::new();
    let wrist = Inertia10::from_central(
        WRIST_MASS,
        hinge(0.5 * EDGE),
        &Matrix3::from_diagonal_element(1e-3),
    );
    tree.link(None, &[Vector6::new(0.0, 0.0, 0.0, 0.0, 0.0, 1.0)], wrist, &[0.0]);
    for x in [0.0, EDGE] {
        let (axis, at) = (Vector3::y(), hinge(x));
        let lever = at.cross(&axis);
        let S = Vector6::new(axis.x, axis.y, axis.z, lever.x, lever.y, lever.z);
        let middle = at - 0.5 * FINGER_LENGTH * Vector3::z();
        let inertia = FINGER_MASS * FINGER_LENGTH * FINGER_LENGTH / 12.0;
        let finger =
            Inertia10::from_central(FINGER_MASS, middle, &Matrix3::from_diagonal_element(inertia));
        tree.link(Some(0), &[S], finger, &[ARMATURE]);
    }
    let weight = (WRIST_MASS + 2.0 * FINGER_MASS) * GRAVITY;
    let gripper = assembly.builder.tree(&tree, &[(LIFT - weight) * dt, -GRIP * dt, GRIP * dt]);
    for (finger, x, normal) in [(1, 0, Vector3::x()), (2, grid.cells[0], -Vector3::x())] {
        let side = Side::link(assembly.builder.port(gripper, Map::Link(finger)));
        let rotation = frame(normal);
        for y in 0..grid.cells[1] {
            for z in 0..grid.cells[2] {
                let corners = [[x, y, z], [x, y + 1, z], [x, y + 1, z + 1]];
                let weights = [0.25, 0.5, 0.25, 0.0];
                let point = corners
                    .iter()
                    .zip(weights)
                    .map(|(p, w)| w * grid.place(*p))
                    .sum::<Vector3<f64>>();
                let [i, j, k] = corners.map(|p| grid.index(p) as u32);
                let map = Map::Point { nodes: [i, j, k, 0], weights };
                let face = assembly.builder.port(block, map);
                let on_finger = assembly::row_major(&-(rotation * side.at(point)));
                let on_block = row_major(&rotation);
                let terms: [(PortId, &[f64]); 2] = [(side.port, &on_finger), (face, &on_block)];
                let none = [0.0; DIM];
                assembly.builder.constraint(assembly.contact_law, &none, &none, &terms);
            }
        }
    }
    assembly.build()
}
