//! Common parts of the four manipulation scenes of [Lee23, Sec. V-C]: the step, materials drawn at random,
//! forces on soft bodies.

use nalgebra::Vector3;
use stiction_geom::{TetMesh, TetMeshError};
use stiction_math::random::SplitMix64;
use stiction_mech::{Material, Model, SoftId, SoftSpec};
use stiction_sim::{Scheme, Settings, Simulation, WorldError};

use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// Time step of the scenes [s].
pub const TIME_STEP: f64 = 0.01;

/// Settings of the scenes [Lee23, Sec. V-A4]: laws on mean velocities, materials linearised once.
/// The tolerance is the number that the paper sets for its own residual; ours is the violation of the laws.
pub fn settings(tolerance: f64) -> Settings {
    Settings {
        time_step: TIME_STEP,
        scheme: Scheme::MidVelocity,
        relinearisations: 0,
        tolerance,
        ..Settings::default()
    }
}

/// Parameter that draws the material.
pub const SEED: Parameter = Parameter {
    name: "seed",
    default: 0.0,
    least: 0.0,
    most: 1e9,
    about: "draws young, poisson and friction from the ranges of the paper; 0 takes them as given",
};

/// Parameter that chooses the material. With rotations from where the step begins the stiffness is that of
/// the paper, which linearises its constraints there.
pub const LAGGED: Parameter = Parameter {
    name: "lagged",
    default: 1.0,
    least: 0.0,
    most: 1.0,
    about: "1 takes rotations of elements where the step begins (linear-corotated), 0 corotational",
};

/// Stiffness and friction of a scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawnMaterial {
    /// Young's modulus [Pa].
    pub young: f64,
    /// Poisson's ratio [-].
    pub poisson: f64,
    /// Friction [-].
    pub friction: f64,
}

impl DrawnMaterial {
    /// The parameters of a scene, or a draw from these ranges if it has a seed.
    pub fn from(parameters: &Parameters, ranges: [(f64, f64); 3]) -> Self {
        let given = ["young", "poisson", "friction"].map(|name| parameters.get(name));
        let mut random = SplitMix64::new(parameters.count("seed") as u64);
        let drawn = ranges.map(|(low, high)| random.uniform(low, high));
        let [young, poisson, friction] = if parameters.count("seed") == 0 { given } else { drawn };
        Self { young, poisson, friction }
    }

    /// A soft body of it, with vertices where the mesh has them.
    pub fn solid(
        &self,
        parameters: &Parameters,
        name: &str,
        mesh: Result<TetMesh, TetMeshError>,
        density: f64,
        damping: f64,
    ) -> Result<SoftSpec, StudyError> {
        let mesh = mesh.map_err(|source| WorldError::Mesh { name: name.to_owned(), source })?;
        let &Self { young, poisson, .. } = self;
        let material = match parameters.count("lagged") {
            0 => Material::Corotational { young, poisson },
            _ => Material::LinearCorotated { young, poisson },
        };
        let (vertices, tetrahedra) = (mesh.vertices().to_vec(), mesh.tetrahedra().to_vec());
        Ok(SoftSpec {
            name: name.to_owned(),
            stiffness_damping: damping,
            ..SoftSpec::new(vertices, tetrahedra, material, density)
        })
    }
}

/// Place in q of the only coordinate of the joint of this name.
pub fn coordinate(model: &Model, joint: &str) -> usize {
    let found = model.joints().iter().find(|found| found.spec.name == joint);
    found.map_or(0, |joint| joint.q.start)
}

/// Sum of the contact forces on a soft body [N]: those of the world, and those of all else.
pub fn contact_forces(simulation: &Simulation, soft: SoftId) -> [Vector3<f64>; 2] {
    let mut sums = [Vector3::zeros(); 2];
    for contact in simulation.contacts() {
        let sign = match contact.soft {
            // Internal forces of a body sum to zero.
            [Some(a), Some(b)] if a == b => continue,
            [_, Some(b)] if b == soft => 1.0,
            [Some(a), _] if a == soft => -1.0,
            _ => continue,
        };
        let other = if sign > 0.0 { 0 } else { 1 };
        let rigid = contact.soft[other].is_none() && contact.bodies[other] == 0;
        sums[usize::from(!rigid)] += contact.force * sign;
    }
    sums
}

/// Fastest vertex of a soft body [m/s].
pub fn fastest(simulation: &Simulation, soft: SoftId) -> f64 {
    let nodes = simulation.world().model().softs()[soft.0].nodes.clone();
    simulation.state().x_dot[nodes].iter().map(Vector3::norm).fold(0.0, f64::max)
}
