//! Declarations of soft bodies and their checks.

use super::error::SoftFault;
use super::topology::MAX_ELEMENTS;
use crate::material::Material;
use nalgebra::{Isometry3, Point3, Vector3};

/// Index of a soft body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SoftId(pub usize);

/// Distribution of the mass of an element to its vertices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lumping {
    /// Consistent mass matrix: integrals of products of shape functions, which couple neighbours.
    #[default]
    Consistent,
    /// Lumped mass matrix: a quarter to each vertex, diagonal.
    Lumped,
}

/// A soft body as the user declares it: linear tetrahedra of one material.
#[derive(Clone, Debug, PartialEq)]
pub struct SoftSpec {
    /// Name, empty or different from those of all other soft bodies.
    pub name: String,
    /// Positions of the vertices [m], world frame, in the stress-free shape, which is also the initial
    /// shape.
    pub vertices: Vec<Vector3<f64>>,
    /// Vertices of the tetrahedra, ordered such that the volumes
    /// (x₁ − x₀) × (x₂ − x₀) · (x₃ − x₀)/6 are positive.
    pub tetrahedra: Vec<[u32; 4]>,
    /// Material.
    pub material: Material,
    /// Density [kg/m³].
    pub density: f64,
    /// Damping in proportion to the mass, α of [Han23, Eq. (5)] [1/s].
    pub mass_damping: f64,
    /// Damping in proportion to the stiffness, β of [Han23, Eq. (5)] [s].
    pub stiffness_damping: f64,
    /// Consistent or lumped mass matrix.
    pub lumping: Lumping,
    /// Vertices that never move.
    pub fixed: Vec<u32>,
    /// Vertices that never move along some of the world's axes: planes of symmetry, plane strain.
    pub fixed_axes: Vec<(u32, [bool; 3])>,
}

/// Smallest permitted volume of a tetrahedron relative to the cube of its longest edge [-]. Below it,
/// forces lose more than half of their digits; a regular tetrahedron has 0.118.
const MIN_RELATIVE_VOLUME: f64 = 1e-8;

impl SoftSpec {
    /// A soft body without name, damping and fixed vertices.
    pub fn new(
        vertices: Vec<Vector3<f64>>,
        tetrahedra: Vec<[u32; 4]>,
        material: Material,
        density: f64,
    ) -> Self {
        Self {
            name: String::new(),
            vertices,
            tetrahedra,
            material,
            density,
            mass_damping: 0.0,
            stiffness_damping: 0.0,
            lumping: Lumping::default(),
            fixed: Vec::new(),
            fixed_axes: Vec::new(),
        }
    }

    /// The same soft body with its vertices transformed by `pose`.
    pub fn moved(mut self, pose: &Isometry3<f64>) -> Self {
        for vertex in &mut self.vertices {
            *vertex = (pose * Point3::from(*vertex)).coords;
        }
        self
    }

    /// Checks the material, the numbers and the mesh.
    pub fn check(&self) -> Result<(), SoftFault> {
        self.material.check()?;
        if !(self.density > 0.0 && self.density.is_finite()) {
            return Err(SoftFault::Density { found: self.density });
        }
        let damping = [
            ("mass damping", self.mass_damping, "1/s"),
            ("stiffness damping", self.stiffness_damping, "s"),
        ];
        for (field, found, unit) in damping {
            if !(found >= 0.0 && found.is_finite()) {
                return Err(SoftFault::Damping { field, found, unit });
            }
        }
        if self.tetrahedra.is_empty() {
            return Err(SoftFault::Empty);
        }
        if self.tetrahedra.len() >= MAX_ELEMENTS {
            let (found, expected) = (self.tetrahedra.len(), MAX_ELEMENTS);
            return Err(SoftFault::TooMany { found, expected });
        }
        for (vertex, x) in self.vertices.iter().enumerate() {
            if !x.iter().all(|x| x.is_finite()) {
                return Err(SoftFault::Vertex { vertex, found: (*x).into() });
            }
        }
        let last = self.vertices.len().saturating_sub(1);
        let mut used = vec![false; self.vertices.len()];
        for (element, vertices) in self.tetrahedra.iter().enumerate() {
            for &found in vertices {
                match used.get_mut(found as usize) {
                    Some(used) => *used = true,
                    None => {
                        let referrer = format!("tetrahedron {element}");
                        return Err(SoftFault::UnknownVertex { referrer, found, last });
                    }
                }
            }
            self.check_shape(element, *vertices)?;
        }
        if let Some(vertex) = used.iter().position(|used| !used) {
            return Err(SoftFault::UnusedVertex { vertex });
        }
        let held = self.fixed_axes.iter().map(|(vertex, _)| vertex);
        match self.fixed.iter().chain(held).find(|&&vertex| vertex as usize > last) {
            Some(&found) => {
                let referrer = "the list of fixed vertices".to_owned();
                Err(SoftFault::UnknownVertex { referrer, found, last })
            }
            None => Ok(()),
        }
    }

    fn check_shape(&self, element: usize, vertices: [u32; 4]) -> Result<(), SoftFault> {
        let p = vertices.map(|vertex| self.vertices[vertex as usize]);
        let mut longest_edge = 0.0f64;
        for i in 0..4 {
            for j in 0..i {
                longest_edge = longest_edge.max((p[i] - p[j]).norm());
            }
        }
        let volume = (p[1] - p[0]).cross(&(p[2] - p[0])).dot(&(p[3] - p[0])) / 6.0;
        let expected = MIN_RELATIVE_VOLUME * longest_edge.powi(3);
        if volume <= -expected && volume < 0.0 {
            Err(SoftFault::Inverted { element, vertices, volume })
        } else if !(volume > expected) {
            Err(SoftFault::Degenerate { element, vertices, volume, longest_edge, expected })
        } else {
            Ok(())
        }
    }
}
