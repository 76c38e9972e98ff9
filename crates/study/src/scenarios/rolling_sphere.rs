//! A sphere thrown without spin slides until it rolls: 5/7 of its speed is left, whatever the
//! friction, because its angular momentum about the ground cannot change.

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
    name: "rolling-sphere",
    cite: "",
    about: "a sphere thrown without spin slides, then rolls at 5/7 of its speed",
    parameters: &[
        Parameter { name: "friction", default: 0.2, least: 1e-3, most: 1e3, about: "μ [-]" },
        Parameter {
            name: "speed",
            default: 1.0,
            least: 1e-2,
            most: 100.0,
            about: "initial speed [m/s]",
        },
    ],
    build,
};

const GRAVITY: f64 = 9.81;
const RADIUS: f64 = 0.05;
const MASS: f64 = 0.5;
const TIME_STEP: f64 = 0.005;
/// Length of the run in times until it rolls.
const LENGTH: f64 = 5.0;

fn build(parameters: &Parameters) -> Result<Scene, StudyError> {
    let (friction, speed) = (parameters.get("friction"), parameters.get("speed"));
    let surface = Surface::with_friction(friction);
    let mut builder = WorldBuilder::new();
    parts::ground(&mut builder, surface);
    let pose = Isometry3::translation(0.0, 0.0, RADIUS);
    let body =
        parts::free_body(&mut builder, "sphere", Shape::sphere(RADIUS)?, MASS, pose, surface)?;
    let world = builder.build()?;
    let state = parts::moving(&world, body, Vector3::new(speed, 0.0, 0.0), Vector3::zeros());
    let settings = Settings { time_step: TIME_STEP, ..Settings::default() };
    let slides = 2.0 * speed / (7.0 * friction * GRAVITY);
    let check = RollingSphereCheck {
        body,
        speed,
        slides,
        found: (0.0, 0.0, [[speed, 0.0]; 2]),
        rolls_from: None,
        steps: 0,
        h: TIME_STEP,
    };
    let duration = LENGTH * slides.max(4.0 * TIME_STEP);
    Ok(Scene::new(world, settings, duration, check).from_state(state))
}

/// When it begins to roll, at what speed, and how far it gets.
struct RollingSphereCheck {
    body: BodyId,
    speed: f64,
    /// How long it slides [s].
    slides: f64,
    /// Time [s] and position [m]; velocity and rim speed of the last two steps [m/s].
    found: (f64, f64, [[f64; 2]; 2]),
    rolls_from: Option<f64>,
    steps: usize,
    h: f64,
}

impl RollingSphereCheck {
    /// Velocity and rim speed, mean of the last two steps [m/s].
    fn mean(&self) -> [f64; 2] {
        let [before, now] = self.found.2;
        [0.5 * (before[0] + now[0]), 0.5 * (before[1] + now[1])]
    }
}

impl Check for RollingSphereCheck {
    fn needs_start(&self) -> bool {
        true
    }

    fn begin(&mut self, simulation: &mut Simulation) {
        self.h = simulation.settings().time_step;
    }

    fn observe(&mut self, simulation: &mut Simulation, _report: &StepReport) {
        let state = simulation.state();
        let (v, w) = parts::velocity(simulation.world(), state, self.body);
        let x = parts::position(simulation.world(), state, self.body).x;
        // The mean of two steps: in the mid-velocity convention states swing about it.
        self.found = (state.time, x, [self.found.2[1], [v.x, RADIUS * w.y]]);
        let [speed, rim] = self.mean();
        if (speed - rim).abs() <= 1e-4 * self.speed {
            self.rolls_from.get_or_insert(state.time);
        }
        self.steps += 1;
    }

    fn verdict(&self) -> Verdict {
        let ((t, x, _), [v, rim]) = (self.found, self.mean());
        let rolling = 5.0 / 7.0 * self.speed;
        let deceleration = (self.speed - rolling) / self.slides;
        let exact = rolling * t + 0.5 * deceleration * self.slides * self.slides;
        let from = self.rolls_from.unwrap_or(f64::INFINITY);
        // The solver may err by its tolerance in each step.
        let tolerance = 1e-6 * self.speed * self.steps as f64;
        // Positions of symplectic steps lag by half a step of what the speed loses, 2/7 of it, and
        // the step in which sliding ends counts whole.
        let lag = self.h * self.speed;
        let passed = (v - rolling).abs() <= tolerance
            && (rim - rolling).abs() <= tolerance
            && (x - exact).abs() <= lag
            && from >= self.slides - self.h
            && from <= self.slides + 3.0 * self.h;
        Verdict {
            passed,
            detail: format!(
                "rolls from {from:.4} s (expected {:.4}), at {v:.9} m/s, rim {rim:.9} m/s (expected \
                 {rolling:.9}); x({t:.3}) = {x:.6} m (expected {exact:.6})",
                self.slides
            ),
        }
    }
}
