//! Tetrahedral meshes, validated once, with their surface.
//!
//! [`TetMesh::new`] accepts vertices [m] and elements as files and generators give them: it reorients
//! elements of negative volume (and counts them) and rejects degenerate ones, unused vertices and surfaces
//! that are not manifold, with an error that identifies them. `surface` finds the boundary, `quality`
//! measures elements, `solids` generates boxes, balls, cylinders, cones and shells. Materials and forces
//! are in other crates.

mod extrude;
mod quality;
mod refine;
mod solids;
mod surface;

pub use quality::Quality;

use crate::TetMeshError;
use nalgebra::{Isometry3, Vector3};

/// Six times the volume over the cube of the longest edge below which an element is flat [-].
///
/// Round-off of the coordinates alone leaves about 1e-15; slivers that are still usable as elements have
/// 1e-6.
const FLAT: f64 = 1e-10;

/// A tetrahedral mesh of a solid.
#[derive(Clone, Debug, PartialEq)]
pub struct TetMesh {
    vertices: Vec<Vector3<f64>>,
    tetrahedra: Vec<[u32; 4]>,
    surface: Vec<[u32; 3]>,
    turned: usize,
}

/// Corners of the faces of a tetrahedron of positive volume, outward; face k lies opposite corner k.
pub const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// Signed volume of the tetrahedron with these corners [m³].
pub fn volume([a, b, c, d]: [Vector3<f64>; 4]) -> f64 {
    (b - a).cross(&(c - a)).dot(&(d - a)) / 6.0
}

impl TetMesh {
    /// Validates vertices [m] and elements once; a [`TetMesh`] needs no further checks.
    ///
    /// Vertices must be finite and belong to an element, elements refer to four of them and have a volume;
    /// those of negative volume are reoriented. Each face belongs to one or two elements on its two
    /// sides, each edge of the surface to two of its triangles, and the triangles of the surface around
    /// a vertex form one fan.
    pub fn new(
        vertices: Vec<Vector3<f64>>,
        tetrahedra: Vec<[u32; 4]>,
    ) -> Result<Self, TetMeshError> {
        let mut mesh = Self { vertices, tetrahedra, surface: Vec::new(), turned: 0 };
        mesh.check_vertices()?;
        mesh.orient()?;
        mesh.check_use()?;
        mesh.surface = surface::extract(&mesh.tetrahedra)?;
        surface::check_manifold(&mesh.surface, mesh.vertices.len())?;
        Ok(mesh)
    }

    /// Vertices [m].
    pub fn vertices(&self) -> &[Vector3<f64>] {
        &self.vertices
    }

    /// Elements, all of positive volume.
    pub fn tetrahedra(&self) -> &[[u32; 4]] {
        &self.tetrahedra
    }

    /// Triangles of the boundary, counter-clockwise seen from outside, in the order of the elements.
    pub fn surface(&self) -> &[[u32; 3]] {
        &self.surface
    }

    /// Number of elements that were given with negative volume and reoriented.
    pub fn turned(&self) -> usize {
        self.turned
    }

    /// Corners of an element [m].
    pub fn corners(&self, element: usize) -> [Vector3<f64>; 4] {
        self.tetrahedra[element].map(|v| self.vertices[v as usize])
    }

    /// Volume of all elements [m³].
    pub fn volume(&self) -> f64 {
        (0..self.tetrahedra.len()).map(|element| volume(self.corners(element))).sum()
    }

    /// Quality measures of the elements.
    pub fn quality(&self) -> Quality {
        Quality::of((0..self.tetrahedra.len()).map(|element| self.corners(element)))
    }

    /// The mesh at another pose.
    pub fn moved(mut self, pose: &Isometry3<f64>) -> Self {
        for p in &mut self.vertices {
            *p = pose.rotation * *p + pose.translation.vector;
        }
        self
    }

    /// The mesh stretched along the axes by the factors of `scale`; an ellipsoid from a ball.
    pub fn scaled(self, scale: Vector3<f64>) -> Result<Self, TetMeshError> {
        let axes = ["scale along x", "scale along y", "scale along z"];
        for (parameter, &found) in axes.into_iter().zip(scale.iter()) {
            positive(parameter, found)?;
        }
        let vertices = self.vertices.iter().map(|p| p.component_mul(&scale)).collect();
        Ok(Self { turned: self.turned, ..Self::new(vertices, self.tetrahedra)? })
    }

    fn check_vertices(&self) -> Result<(), TetMeshError> {
        if self.tetrahedra.is_empty() {
            return Err(TetMeshError::Empty);
        }
        for (vertex, p) in self.vertices.iter().enumerate() {
            if !p.iter().all(|x| x.is_finite()) {
                return Err(TetMeshError::Vertex { vertex, found: (*p).into() });
            }
        }
        for (element, corners) in self.tetrahedra.iter().enumerate() {
            if let Some(&found) = corners.iter().find(|&&v| v as usize >= self.vertices.len()) {
                let vertices = self.vertices.len();
                return Err(TetMeshError::Index { element, found, vertices });
            }
        }
        Ok(())
    }

    fn orient(&mut self) -> Result<(), TetMeshError> {
        for element in 0..self.tetrahedra.len() {
            let p = self.corners(element);
            let edges = (0..4).flat_map(|i| (0..i).map(move |j| (i, j)));
            let longest = edges.map(|(i, j)| (p[i] - p[j]).norm()).fold(0.0, f64::max);
            let volume = volume(p);
            if !(6.0 * volume.abs() > FLAT * longest.powi(3)) {
                let corners = self.tetrahedra[element];
                return Err(TetMeshError::Flat { element, corners, volume, longest });
            }
            if volume < 0.0 {
                self.tetrahedra[element].swap(2, 3);
                self.turned += 1;
            }
        }
        Ok(())
    }

    fn check_use(&self) -> Result<(), TetMeshError> {
        let mut used = vec![false; self.vertices.len()];
        self.tetrahedra.iter().flatten().for_each(|&v| used[v as usize] = true);
        match used.iter().position(|used| !used) {
            Some(vertex) => {
                let unused = used.iter().filter(|used| !**used).count();
                Err(TetMeshError::Unused { vertex, unused })
            }
            None => Ok(()),
        }
    }
}

/// Checks a length or a factor.
fn positive(parameter: &'static str, found: f64) -> Result<(), TetMeshError> {
    if found > 0.0 && found.is_finite() {
        return Ok(());
    }
    Err(TetMeshError::Length { parameter, found })
}

#[cfg(test)]
mod tests;
