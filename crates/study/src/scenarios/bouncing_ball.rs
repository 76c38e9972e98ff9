//! A ball falls and bounces: each peak is ε² of the one before.

use nalgebra::{Isometry3, Vector3};
use stiction_geom::Shape;
use stiction_mech::BodyId;
use stiction_scene::{Check, Scene, Verdict};
use stiction_sim::{Settings, Simulation, StepReport, Surface, WorldBuilder};

use super::Scenario;
use super::parts;
use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// The scenario.
pub const SCENARIO: Scenario = Scenario {
    name: "bouncing-ball",
    cite: "",
    about: "a ball falls and bounces, each peak ε² of the one before",
    parameters: &[
        Parameter {
            name: "restitution",
            default: 0.8,
            least: 0.0,
            most: 1.0,
            about: "ε of ball and ground [-]",
        },
        Parameter {
            name: "height",
            default: 0.5,
            least: 1e-2,
            most: 10.0,
            about: "gap from which it falls [m]",
        },
    ],
    build,
};

const GRAVITY: f64 = 9.81;
const RADIUS: f64 = 0.05;
const MASS: f64 = 0.5;
const TIME_STEP: f64 = 1e-3;
/// Peaks to wait for.
const PEAKS: i32 = 3;
/// Peaks lower than the fall of this many steps are not judged: such impacts do not bounce.
const LOWEST_STEPS: f64 = 10.0;

fn build(parameters: &Parameters) -> Result<Scene, StudyError> {
    let (restitution, height) = (parameters.get("restitution"), parameters.get("height"));
    let surface = Surface { restitution, ..Surface::default() };
    let mut builder = WorldBuilder::new();
    parts::ground(&mut builder, surface);
    let pose = Isometry3::from_parts(
        Vector3::new(0.0, 0.0, RADIUS + height).into(),
        nalgebra::UnitQuaternion::identity(),
    );
    let body = parts::free_body(&mut builder, "ball", Shape::sphere(RADIUS)?, MASS, pose, surface)?;
    let settings = Settings { time_step: TIME_STEP, ..Settings::default() };
    // The fall, then up and down PEAKS times.
    let fall = (2.0 * height / GRAVITY).sqrt();
    let flights: f64 = (1..=PEAKS).map(|n| 2.0 * restitution.powi(n)).sum();
    let check = BouncingBallCheck {
        body,
        restitution,
        height,
        rising: false,
        top: 0.0,
        found: Vec::new(),
        h: TIME_STEP,
    };
    Ok(Scene::new(builder.build()?, settings, fall * (1.0 + flights), check))
}

/// Heights of the peaks.
struct BouncingBallCheck {
    body: BodyId,
    restitution: f64,
    height: f64,
    rising: bool,
    top: f64,
    found: Vec<f64>,
    h: f64,
}

impl Check for BouncingBallCheck {
    fn needs_start(&self) -> bool {
        true
    }

    fn begin(&mut self, simulation: &mut Simulation) {
        self.h = simulation.settings().time_step;
        self.found.reserve(PEAKS as usize + 1);
    }

    fn observe(&mut self, simulation: &mut Simulation, _report: &StepReport) {
        let state = simulation.state();
        let gap = parts::position(simulation.world(), state, self.body).z - RADIUS;
        let (v, _) = parts::velocity(simulation.world(), state, self.body);
        if v.z > 0.0 {
            self.top = if self.rising { self.top.max(gap) } else { gap };
            self.rising = true;
        } else if self.rising {
            self.rising = false;
            if self.found.len() < self.found.capacity() {
                self.found.push(self.top.max(gap));
            }
        }
    }

    fn verdict(&self) -> Verdict {
        let (ratio, h) = (self.restitution.powi(2), self.h);
        let lowest = 0.5 * GRAVITY * (LOWEST_STEPS * h).powi(2);
        let (mut exact, mut bound, mut passed, mut judged) = (self.height, 0.0, true, 0);
        let mut lines = Vec::new();
        for found in &self.found {
            let speed = (2.0 * GRAVITY * exact).sqrt();
            exact *= ratio;
            if exact < lowest {
                break;
            }
            // It turns round at a gap of at most |v| h, which it keeps instead of ε² of it; a
            // symplectic fall or rise at speed v errs in v²/2g by at most v h/2, each way.
            bound = ratio * bound
                + (1.0 - ratio) * speed * h
                + 0.5 * (1.0 + ratio) * speed * h
                + GRAVITY * h * h;
            passed &= (found - exact).abs() <= bound;
            judged += 1;
            lines.push(format!("{found:.5} (expected {exact:.5} ± {bound:.1e})"));
        }
        let bounces = self.height * ratio >= lowest;
        let rests = !bounces && self.found.iter().all(|peak| *peak < lowest);
        Verdict {
            passed: passed && ((bounces && judged > 0) || rests),
            detail: format!("peaks [m]: {}", lines.join(", ")),
        }
    }
}
