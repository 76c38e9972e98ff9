//! A box slides over a ground with a grain: friction is an ellipse, and the box follows the
//! direction of largest dissipation [Lee23, Sec. V-G, Fig. 14].
//!
//! `v̇ = −g (μ₁² v₁, μ₂² v₂)/√(μ₁² v₁² + μ₂² v₂²)`, hence `v₂/v₂₀ = (v₁/v₁₀)^(μ₂/μ₁)²` all the way.

use nalgebra::{Isometry3, Vector3};
use stiction_geom::Shape;
use stiction_mech::BodyId;
use stiction_scene::{Check, Scene, Verdict};
use stiction_sim::{Grain, Settings, Simulation, StepReport, Surface, WorldBuilder};

use super::Scenario;
use super::parts;
use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// The scenario.
pub const SCENARIO: Scenario = Scenario {
    name: "anisotropic-slide",
    cite: "Lee23",
    about: "a box slides over a ground whose friction differs along and across a grain",
    parameters: &[
        Parameter {
            name: "along",
            default: 0.2,
            least: 1e-3,
            most: 10.0,
            about: "μ₁ along the grain, x [-]",
        },
        Parameter {
            name: "across",
            default: 0.4,
            least: 1e-3,
            most: 10.0,
            about: "μ₂ across the grain, y [-]",
        },
        Parameter {
            name: "speed",
            default: 1.0,
            least: 1e-2,
            most: 10.0,
            about: "initial speed along x and along y [m/s]",
        },
    ],
    build,
};

const GRAVITY: f64 = 9.81;
/// Half extents [m] and mass [kg]: flat, so that no friction tips it.
const HALF: Vector3<f64> = Vector3::new(0.1, 0.1, 0.005);
const MASS: f64 = 0.5;
const TIME_STEP: f64 = 1e-3;
/// Part of the initial speed along the grain down to which the path is compared [-].
const LOWEST: f64 = 0.1;

fn build(parameters: &Parameters) -> Result<Scene, StudyError> {
    let (along, across) = (parameters.get("along"), parameters.get("across"));
    let speed = parameters.get("speed");
    let grain = Grain { along: Vector3::x_axis(), across_friction: across };
    let surface = Surface { friction: along, grain: Some(grain), ..Surface::default() };
    let mut builder = WorldBuilder::new();
    parts::ground(&mut builder, surface);
    let pose = Isometry3::translation(0.0, 0.0, HALF.z);
    let body = parts::free_body(&mut builder, "box", Shape::cuboid(HALF)?, MASS, pose, surface)?;
    let world = builder.build()?;
    let state = parts::moving(&world, body, Vector3::new(speed, speed, 0.0), Vector3::zeros());
    let settings = Settings { time_step: TIME_STEP, ..Settings::default() };
    // Slower than the slower axis alone it cannot be.
    let duration = speed * 2.0_f64.sqrt() / (along.min(across) * GRAVITY);
    let check = AnisotropicSlideCheck {
        body,
        frictions: (along, across),
        start: speed,
        worst: 0.0,
        seen: 0,
        yaw: 0.0,
    };
    Ok(Scene::new(world, settings, duration, check).from_state(state))
}

/// The velocity stays on the curve of largest dissipation.
struct AnisotropicSlideCheck {
    body: BodyId,
    frictions: (f64, f64),
    start: f64,
    /// Largest deviation of ln v₂ relative to its bound [-].
    worst: f64,
    seen: usize,
    yaw: f64,
}

impl Check for AnisotropicSlideCheck {
    fn needs_start(&self) -> bool {
        true
    }

    fn observe(&mut self, simulation: &mut Simulation, _report: &StepReport) {
        let (v, w) = parts::velocity(simulation.world(), simulation.state(), self.body);
        self.yaw = self.yaw.max(w.norm());
        let (first, second) = (v.x / self.start, v.y / self.start);
        if !(first.min(second) > LOWEST) {
            return;
        }
        let (mu_1, mu_2) = self.frictions;
        let power = (mu_2 / mu_1).powi(2);
        // A step of length h divides v_i by 1 + h κ μ_i², κ ≤ g/(μ₁ v₁): its logarithms obey the
        // power law up to ½ (h κ)² μ₂² |μ₂² − μ₁²|, which sums to the bound below.
        let h = simulation.settings().time_step;
        let bound = 0.5 * h * GRAVITY / (mu_1 * self.start)
            * power
            * (mu_2 * mu_2 - mu_1 * mu_1).abs()
            * (1.0 / first - 1.0);
        let deviation = (second.ln() - power * first.ln()).abs();
        self.worst = self.worst.max(deviation / (bound + 1e-5 * (1.0 + power)));
        self.seen += 1;
    }

    fn verdict(&self) -> Verdict {
        Verdict {
            passed: self.seen > 0 && self.worst <= 1.0 && self.yaw <= 1e-4,
            detail: format!(
                "v₂ against v₁^(μ₂/μ₁)² over {} steps: {:.3} of the bound of first order; largest \
                 turning {:.1e} rad/s (expected none)",
                self.seen, self.worst, self.yaw
            ),
        }
    }
}
