//! STACK: light blocks carry a heavy one, a classic trial of contact solvers, since what iterates
//! block by block needs more sweeps the larger the ratio of the masses.
//!
//! The exact solution: every joint carries the weight above it, and nothing moves.

use nalgebra::{Isometry3, Vector3};
use stiction_geom::Shape;
use stiction_scene::{Check, Scene, Verdict};
use stiction_sim::{Settings, Simulation, StepReport, Surface, WorldBuilder};

use super::Scenario;
use super::parts;
use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// The scenario.
pub const SCENARIO: Scenario = Scenario {
    name: "stack",
    cite: "",
    about: "light blocks carry a heavy one: joints bear the weight above, nothing moves",
    parameters: &[
        Parameter { name: "levels", default: 4.0, least: 1.0, most: 100.0, about: "blocks" },
        Parameter {
            name: "ratio",
            default: 50.0,
            least: 1e-3,
            most: 1e4,
            about: "mass of the top block over that of each other [-]",
        },
        Parameter { name: "friction", default: 0.5, least: 0.0, most: 1e3, about: "μ [-]" },
    ],
    build,
};

/// Half edges of a block [m], and the mass of a light one [kg].
const HALF: Vector3<f64> = Vector3::new(0.1, 0.1, 0.025);
const LIGHT: f64 = 0.1;

fn build(parameters: &Parameters) -> Result<Scene, StudyError> {
    let mut builder = WorldBuilder::new();
    let surface = Surface::with_friction(parameters.get("friction"));
    parts::ground(&mut builder, surface);
    let levels = parameters.count("levels");
    let mass = |level| if level + 1 == levels { LIGHT * parameters.get("ratio") } else { LIGHT };
    for level in 0..levels {
        let pose = Isometry3::translation(0.0, 0.0, HALF.z * (2 * level + 1) as f64);
        let shape = Shape::cuboid(HALF)?;
        let name = format!("block-{level}");
        parts::free_body(&mut builder, name, shape, mass(level), pose, surface)?;
    }
    let world = builder.build()?;
    let gravity = world.model().gravity().norm();
    let weight_above = (0..levels).map(|i| (i..levels).map(mass).sum::<f64>() * gravity).collect();
    let check =
        StackCheck { weight_above, start: Vec::new(), speed: 0.0, drift: 0.0, force: f64::NAN };
    Ok(Scene::new(world, Settings::default(), 2.0, check))
}

/// Joints bear the weight above them; nothing moves.
struct StackCheck {
    /// Weight on the joint below each block [N].
    weight_above: Vec<f64>,
    start: Vec<f64>,
    /// Largest speed of all steps [m/s, rad/s].
    speed: f64,
    /// Largest change of a coordinate of all steps [m, -].
    drift: f64,
    /// Largest relative error of the force on a joint in the last step [-].
    force: f64,
}

/// Largest relative error of the force on a joint: the tolerance of the step, which bounds
/// velocities relative to those that gravity makes in a step, hence forces relative to weights.
const FORCE: f64 = 1e-6;
/// Largest speed [m/s] of contacts that count as resting.
const SPEED: f64 = 1e-6;

impl Check for StackCheck {
    fn begin(&mut self, simulation: &mut Simulation) {
        self.start = simulation.state().q.clone();
    }

    fn observe(&mut self, simulation: &mut Simulation, _report: &StepReport) {
        let state = simulation.state();
        self.speed = state.v.iter().fold(self.speed, |most, v| most.max(v.abs()));
        for (now, then) in state.q.iter().zip(&self.start) {
            self.drift = self.drift.max((now - then).abs());
        }
        // The ground is the first shape, so that joint i lies below shape i + 1.
        self.force = 0.0;
        for (joint, weight) in self.weight_above.iter().enumerate() {
            let of_joint = |geoms: [usize; 2]| geoms == [joint, joint + 1];
            let bears = |geoms: [usize; 2]| of_joint(geoms) || of_joint([geoms[1], geoms[0]]);
            let sign = |geoms: [usize; 2]| if of_joint(geoms) { 1.0 } else { -1.0 };
            let contacts = simulation.contacts().iter().filter(|c| bears(c.geoms));
            let lift = contacts.map(|c| sign(c.geoms) * c.force.z).sum::<f64>();
            self.force = self.force.max((lift / weight - 1.0).abs());
        }
    }

    fn verdict(&self) -> Verdict {
        // A stack that creeps at the largest speed for the whole run gets this far [m].
        let drift = SPEED * 2.0;
        Verdict {
            passed: self.force <= FORCE && self.speed <= SPEED && self.drift <= drift,
            detail: format!(
                "forces on joints off by {:.1e} of the weight above (at most {FORCE:e}); fastest \
                 {:.1e} m/s (at most {SPEED:e}); drift {:.1e} m (at most {drift:e})",
                self.force, self.speed, self.drift
            ),
        }
    }
}
