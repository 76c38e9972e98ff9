//! Meshes and random shapes for the tests of soft bodies.

pub use crate::common::Random;
use nalgebra::{Rotation3, Vector3};
use stiction_mech::{Material, SoftBody, SoftSpec};

pub const RUBBER: Material = Material::LinearCorotated { young: 5e4, poisson: 0.3 };

/// A cuboid from the origin, each cell cut into six tetrahedra along its diagonal: the permutations in
/// which the three axes can be stepped.
pub fn cuboid(size: [f64; 3], cells: [usize; 3], material: Material) -> SoftSpec {
    let [_, ny, nz] = cells.map(|n| n + 1);
    let mut vertices = Vec::new();
    for i in 0..=cells[0] {
        for j in 0..=cells[1] {
            for k in 0..=cells[2] {
                let at = |axis: usize, i: usize| size[axis] * i as f64 / cells[axis] as f64;
                vertices.push(Vector3::new(at(0, i), at(1, j), at(2, k)));
            }
        }
    }
    let id = |p: [usize; 3]| ((p[0] * ny + p[1]) * nz + p[2]) as u32;
    let mut tetrahedra = Vec::new();
    for cell in 0..cells.iter().product() {
        let k = cell % cells[2];
        let j = cell / cells[2] % cells[1];
        let i = cell / cells[2] / cells[1];
        for order in [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [1, 0, 2], [2, 1, 0]] {
            let (mut at, mut corners) = ([i, j, k], [id([i, j, k]); 4]);
            for (step, axis) in order.into_iter().enumerate() {
                at[axis] += 1;
                corners[step + 1] = id(at);
            }
            if (order[1] + 3 - order[0]) % 3 == 2 {
                corners.swap(2, 3); // odd permutations have the opposite orientation
            }
            tetrahedra.push(corners);
        }
    }
    SoftSpec::new(vertices, tetrahedra, material, 1000.0)
}

/// The tetrahedron of the origin and the unit vectors.
pub fn unit_tetrahedron(material: Material) -> SoftBody {
    let vertices = vec![Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()];
    SoftBody::new(SoftSpec::new(vertices, vec![[0, 1, 2, 3]], material, 1.0)).unwrap()
}

/// A block of 2 × 2 × 2 cells of the given material.
pub fn block(material: Material) -> SoftBody {
    SoftBody::new(cuboid([0.2, 0.2, 0.2], [2, 2, 2], material)).unwrap()
}

/// Random vectors and shapes.
pub trait Draw {
    fn vectors(&mut self, n: usize, size: f64) -> Vec<Vector3<f64>>;
    /// The vertices of a body, rotated, translated and perturbed by at most `noise` [m] per axis.
    fn shape(&mut self, body: &SoftBody, noise: f64) -> Vec<Vector3<f64>>;
}

impl Draw for Random {
    fn vectors(&mut self, n: usize, size: f64) -> Vec<Vector3<f64>> {
        (0..n).map(|_| size * self.vector()).collect()
    }

    fn shape(&mut self, body: &SoftBody, noise: f64) -> Vec<Vector3<f64>> {
        let (turn, shift) = (Rotation3::new(3.0 * self.vector()), self.vector());
        body.spec.vertices.iter().map(|x| turn * x + shift + noise * self.vector()).collect()
    }
}

/// Two of each material, soft and nearly incompressible.
pub fn materials() -> Vec<Material> {
    let mut list = Vec::new();
    for entry in stiction_mech::MATERIALS {
        let sets: [&[f64]; 2] = match entry.parameters {
            ["c1", "c2", "bulk"] => [&[1e4, 5e3, 5e4], &[1e4, 0.0, 1e6]],
            _ => [&[5e4, 0.3], &[5e4, 0.48]],
        };
        list.extend(sets.iter().filter_map(|set| Material::from_name(entry.name, set)));
    }
    list
}

/// All numbers of a list of vectors.
pub fn flat(vectors: &[Vector3<f64>]) -> Vec<f64> {
    vectors.iter().flat_map(|v| [v.x, v.y, v.z]).collect()
}
