//! Soft bodies: meshes of linear tetrahedra with one material each.
//!
//! A [`SoftBody`] is constant: reference shape, masses, block pattern. Positions and velocities of all
//! vertices are in [`State::x`](crate::State::x) and [`State::x_dot`](crate::State::x_dot), one body
//! after the other; functions of one body take that body's slice. Forces and stiffness are written to
//! a [`SoftWorkspace`].
//!
//! ```
//! use nalgebra::Vector3;
//! use stiction_mech::{Material, SoftBody, SoftSpec, SoftWorkspace};
//! let vertices = vec![Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()];
//! let material = Material::LinearCorotated { young: 1e4, poisson: 0.3 };
//! let body = SoftBody::new(SoftSpec::new(vertices, vec![[0, 1, 2, 3]], material, 1000.0))?;
//! let mut work = SoftWorkspace::new(&body);
//! let mut x = body.spec.vertices.clone();
//! x[3].z = 1.1; // stretched
//! body.update_rotations(&x, &mut work);
//! body.forces(&x, &mut work);
//! assert!(work.force[3].z < 0.0);
//! # Ok::<(), stiction_mech::SoftFault>(())
//! ```

mod assemble;
mod elements;
mod error;
mod gather;
mod kernels;
pub(crate) mod lanes;
mod mass;
mod measure;
pub(crate) mod polar;
mod spec;
pub(crate) mod svd;
mod topology;
mod workspace;

#[cfg(test)]
pub(crate) mod testing;

use crate::material::ResolvedMaterial;
use std::ops::Range;
use stiction_math::block::{Pattern, Symmetric};

pub use error::{SoftError, SoftFault};
pub use measure::{soft_kinetic_energy, soft_momentum, soft_potential_energy};
pub use spec::{Lumping, SoftId, SoftSpec};
pub use workspace::SoftWorkspace;

/// A soft body of a model, checked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SoftBody {
    /// The declaration.
    pub spec: SoftSpec,
    /// Its vertices among those of all soft bodies.
    pub nodes: Range<usize>,
    resolved: ResolvedMaterial,
    groups: Vec<elements::ElementGroup>,
    topology: topology::MeshTopology,
    mass: mass::SoftMass,
    is_fixed: Vec<bool>,
    /// Per vertex: the axes along which it never moves.
    fixed_axes: Vec<[bool; 3]>,
}

impl SoftBody {
    /// A soft body whose vertices start at index 0.
    pub fn new(spec: SoftSpec) -> Result<Self, SoftFault> {
        Self::starting_at(spec, 0)
    }

    /// A soft body whose vertices start at index `first` among those of all soft bodies.
    pub(crate) fn starting_at(spec: SoftSpec, first: usize) -> Result<Self, SoftFault> {
        spec.check()?;
        let groups = elements::groups(&spec);
        let topology = topology::MeshTopology::new(&spec);
        let mass = mass::SoftMass::new(&spec, &groups, &topology);
        let mut is_fixed = vec![false; spec.vertices.len()];
        spec.fixed.iter().for_each(|&vertex| is_fixed[vertex as usize] = true);
        let mut fixed_axes: Vec<[bool; 3]> = is_fixed.iter().map(|fixed| [*fixed; 3]).collect();
        for (vertex, axes) in &spec.fixed_axes {
            let fixed = &mut fixed_axes[*vertex as usize];
            fixed.iter_mut().zip(axes).for_each(|(fixed, axis)| *fixed |= axis);
        }
        let nodes = first..first + spec.vertices.len();
        let resolved = spec.material.resolved();
        Ok(Self { spec, nodes, resolved, groups, topology, mass, is_fixed, fixed_axes })
    }

    /// Block pattern of stiffness and mass matrix: 3×3 blocks, in the order of the vertices.
    pub fn pattern(&self) -> &Pattern {
        &self.topology.pattern
    }

    /// The mass matrix M [kg], on the same pattern as the stiffness.
    pub fn mass(&self) -> &Symmetric {
        &self.mass.matrix
    }

    /// The mass [kg] of each vertex: row sums of the mass matrix.
    pub fn vertex_masses(&self) -> &[f64] {
        &self.mass.of_vertex
    }

    /// Per vertex: whether it never moves.
    pub fn is_fixed(&self) -> &[bool] {
        &self.is_fixed
    }

    /// Per vertex: the world axes along which it never moves; all three for a fixed vertex.
    pub fn fixed_axes(&self) -> &[[bool; 3]] {
        &self.fixed_axes
    }

    /// Volume at rest [m³].
    pub fn volume(&self) -> f64 {
        self.mass.total / self.spec.density
    }
}
