//! The four manipulation scenes, with draws of material and friction [Lee23, Secs. V-C3 to V-C6].

use std::path::Path;

use nalgebra::{Isometry3, Matrix3, Rotation3, Translation3, UnitQuaternion};
use stiction_scene::Scene;
use stiction_study::scenarios::cable_winding;
use stiction_study::{Parameters, scenario};

use crate::ExperimentOptions;
use crate::error::ReproduceError;
use crate::force_measure::ForceMeasure;

/// One of the scenes.
#[derive(Clone, Copy, Debug)]
pub struct ManipulationScene {
    /// Its scenario.
    pub scenario: &'static str,
    /// Threshold of the paper for the change of velocities.
    pub theta: f64,
    /// The force whose error is reported.
    pub measure: ForceMeasure,
    /// Parameters and steps of a quick run.
    quick: (&'static [(&'static str, &'static str)], usize),
}

/// Soft mat folded by an arm.
pub const MAT: ManipulationScene = ManipulationScene {
    scenario: "soft-mat",
    theta: 1e-4,
    measure: ForceMeasure::Internal,
    quick: (&[("cells-x", "18"), ("cells-y", "9")], 40),
};
/// Soft ball between two fingers.
pub const BALL: ManipulationScene = ManipulationScene {
    scenario: "soft-ball",
    theta: 1e-5,
    measure: ForceMeasure::Internal,
    quick: (&[("cells", "3")], 60),
};
/// Cable wound around a cylinder.
pub const CABLE: ManipulationScene = ManipulationScene {
    scenario: "cable-winding",
    theta: 1e-4,
    measure: ForceMeasure::Hand,
    quick: (&[("links", "80")], 250),
};
/// Soft fingers around a rigid part.
pub const GRIPPER: ManipulationScene = ManipulationScene {
    scenario: "soft-gripper",
    theta: 1e-6,
    measure: ForceMeasure::Part,
    quick: (&[("cells", "3")], 60),
};

impl ManipulationScene {
    /// Builds the scene with a random draw of materials (seed 0: the scene's own) and with some
    /// parameters changed.
    pub fn build(
        &self,
        options: &ExperimentOptions<'_>,
        seed: usize,
        set: &[(&str, String)],
    ) -> Result<Scene, ReproduceError> {
        let mut all: Vec<(String, String)> = Vec::new();
        if options.quick {
            all.extend(self.quick.0.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())));
        }
        all.push(("seed".to_owned(), seed.to_string()));
        all.extend(set.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
        match self.recorded(options) {
            Some(poses) => {
                let known = &cable_winding::SCENARIO;
                let mut parameters = Parameters::new(known.name, known.parameters);
                for (key, value) in &all {
                    parameters.set(key, value)?;
                }
                Ok(cable_winding::scene_with_trajectory(&parameters, poses)?)
            }
            None => Ok(scenario(self.scenario, &all)?),
        }
    }

    /// Steps of a run.
    pub fn steps(&self, options: &ExperimentOptions<'_>, own: usize) -> usize {
        let quick = if options.quick { self.quick.1 } else { usize::MAX };
        options.steps.unwrap_or(quick).min(own)
    }

    /// Whether the hand follows the recorded trajectory.
    pub fn is_recorded(&self, options: &ExperimentOptions<'_>) -> bool {
        self.recorded(options).is_some()
    }

    fn recorded(&self, options: &ExperimentOptions<'_>) -> Option<Vec<Isometry3<f64>>> {
        let folder = options.shared.as_deref().filter(|_| !options.quick)?;
        (self.scenario == CABLE.scenario).then(|| trajectory(&folder.join("bench/cable"))).flatten()
    }
}

/// Poses of the hand from `p_des.txt` and `R_des.txt`, one number per line; `None` if they are
/// missing or inconsistent.
fn trajectory(folder: &Path) -> Option<Vec<Isometry3<f64>>> {
    let numbers = |name: &str| -> Option<Vec<f64>> {
        let text = std::fs::read_to_string(folder.join(name)).ok()?;
        text.split_whitespace().map(|word| word.parse().ok()).collect()
    };
    let (places, turns) = (numbers("p_des.txt")?, numbers("R_des.txt")?);
    if places.len() % 3 != 0 || turns.len() != 3 * places.len() || places.is_empty() {
        return None;
    }
    let pose = |(p, R): (&[f64], &[f64])| {
        let matrix = Matrix3::from_row_slice(R);
        let turn = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix(&matrix));
        Isometry3::from_parts(Translation3::new(p[0], p[1], p[2]), turn)
    };
    Some(places.chunks_exact(3).zip(turns.chunks_exact(9)).map(pose).collect())
}
