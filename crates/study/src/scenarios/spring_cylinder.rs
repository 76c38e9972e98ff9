//! A cylinder on a spring slides without friction or rolls with it: energy and order of accuracy of
//! the schemes [Castro22, Sec. VI-B].
//!
//! ```text
//!   ┃  k_s    ╭───╮        μ = 0: ω² = k_s/m
//!   ┃/\/\/\/\/│ m │        μ = 1: ω² = k_s/(m + I/R²), as long as it rolls
//!   ┃_________╰───╯____
//! ```
//! The ground is compliant, friction creeps as regularised by the semi-analytic primal solver; the
//! cylinder starts at rest in the height at which the ground carries it.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use stiction_geom::Shape;
use stiction_mech::{BodySpec, JointKind, JointSpec};
use stiction_scene::{Check, Scene, Verdict};
use stiction_sim::{Geom, Scheme, Settings, Simulation, StepReport, Surface, World, WorldBuilder};

use super::Scenario;
use super::parts;
use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// The scenario.
pub const SCENARIO: Scenario = Scenario {
    name: "spring-cylinder",
    cite: "Castro22",
    about: "a cylinder on a spring slides or rolls to and fro; the scheme decides its energy",
    parameters: &[
        Parameter { name: "friction", default: 1.0, least: 0.0, most: 10.0, about: "μ [-]" },
        Parameter {
            name: "stiffness",
            default: 1e4,
            least: 1e2,
            most: 1e12,
            about: "of the ground under the cylinder [N/m]",
        },
        Parameter {
            name: "dissipation",
            default: 0.02,
            least: 0.0,
            most: 1.0,
            about: "τ_d of the ground [s]",
        },
        Parameter {
            name: "start",
            default: 0.1,
            least: 1e-4,
            most: 0.14,
            about: "elongation of the spring at the start [m]",
        },
    ],
    build,
};

/// Rolling radius [m].
pub const RADIUS: f64 = 0.05;
/// Mass [kg].
pub const MASS: f64 = 0.5;
/// Stiffness of the spring [N/m].
pub const SPRING: f64 = 100.0;
const GRAVITY: f64 = 9.81;
const HALF_LENGTH: f64 = 0.05;
const TIME_STEP: f64 = 0.02;
const DURATION: f64 = 5.0;
/// Regularisation of friction, R_t = σ w [Castro22, Eq. (30)]; what the solver uses.
const SIGMA: f64 = 1e-3;

/// The ground, and how the cylinder stands on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ground {
    /// Coefficient of friction [-].
    pub friction: f64,
    /// Stiffness of all points of contact together [N/m].
    pub stiffness: f64,
    /// Dissipation time [s].
    pub dissipation: f64,
    /// Whether the cylinder is thin and touches in one point, or long and touches in two.
    pub one_point: bool,
}

/// Moment of inertia about the axis [kg·m²].
pub const INERTIA: f64 = 0.5 * MASS * RADIUS * RADIUS;

/// The world; q = (x, z, angle about y), v alike.
pub fn world(ground: Ground) -> Result<World, StudyError> {
    let mut builder = WorldBuilder::new();
    let Ground { friction, stiffness, dissipation, one_point } = ground;
    let points = if one_point { 1.0 } else { 2.0 };
    parts::ground(&mut builder, Surface::with_friction(friction));
    // It rolls on the points of contact, half a depth inside: those lie at the radius.
    let depth = MASS * GRAVITY / stiffness;
    let (outer, height) = (RADIUS + 0.5 * depth, RADIUS - 0.5 * depth);
    let spec = BodySpec {
        name: "cylinder".to_owned(),
        pose: Isometry3::translation(0.0, 0.0, height),
        mass: Some(parts::isotropic(MASS, Vector3::zeros(), INERTIA)?),
        ..BodySpec::default()
    };
    let body = builder.mechanism.body(spec);
    let slide = |axis| JointSpec::new(JointKind::Slide { axis });
    let spring = JointSpec { stiffness: SPRING, ..slide(Vector3::x()) };
    builder.mechanism.joint(body, spring);
    builder.mechanism.joint(body, slide(Vector3::z()));
    builder.mechanism.joint(body, JointSpec::new(JointKind::Hinge { axis: Vector3::y() }));
    let surface =
        Surface { friction, stiffness: stiffness / points, dissipation, ..Surface::default() };
    let shape =
        if one_point { Shape::sphere(outer)? } else { Shape::cylinder(outer, HALF_LENGTH)? };
    // The axis of a cylinder is z in its own frame.
    let lie = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::FRAC_PI_2);
    let at = Isometry3::from_parts(Translation3::identity(), lie);
    builder.geom(Geom::new(body, shape).at(at).surface(surface));
    Ok(builder.build()?)
}

/// Settings of the paper: its solver to the letter, and its step.
pub fn settings(scheme: Scheme, time_step: f64) -> Result<Settings, StudyError> {
    let mut settings = Settings {
        time_step,
        scheme,
        solver: "sap".to_owned(),
        tolerance: 1e-10,
        ..Settings::default()
    };
    settings.set("solver.refine", "false")?;
    settings.set("solver.sigma", &SIGMA.to_string())?;
    Ok(settings)
}

/// Frequency of the oscillation [rad/s].
pub fn frequency(rolls: bool) -> f64 {
    let inertia = if rolls { INERTIA / (RADIUS * RADIUS) } else { 0.0 };
    (SPRING / (MASS + inertia)).sqrt()
}

/// Energy of the motion to and fro and of the spring [J].
pub fn energy(simulation: &Simulation) -> f64 {
    let state = simulation.state();
    let (x, v, w) = (state.q[0], state.v[0], state.v[2]);
    0.5 * (SPRING * x * x + MASS * v * v + INERTIA * w * w)
}

fn build(parameters: &Parameters) -> Result<Scene, StudyError> {
    let ground = Ground {
        friction: parameters.get("friction"),
        stiffness: parameters.get("stiffness"),
        dissipation: parameters.get("dissipation"),
        one_point: false,
    };
    let start = parameters.get("start");
    let world = world(ground)?;
    let mut state = stiction_mech::State::new(world.model());
    state.q[0] = start;
    // Rolling takes a third of the spring's force, at most what friction gives.
    let rolls = ground.friction * MASS * GRAVITY >= SPRING * start / 3.0;
    let check = SpringCylinderCheck {
        kind: match (ground.friction == 0.0, rolls) {
            (true, _) => Motion::Slides,
            (false, true) => Motion::Rolls,
            (false, false) => Motion::Both,
        },
        scheme: Scheme::default(),
        h: TIME_STEP,
        start: 0.0,
        range: (f64::INFINITY, 0.0),
        last: 0.0,
        steps: 0,
    };
    let settings = settings(Scheme::Midpoint, TIME_STEP)?;
    Ok(Scene::new(world, settings, DURATION, check).from_state(state))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Motion {
    Slides,
    Rolls,
    /// Friction is not enough to roll all the way.
    Both,
}

/// Energy stays within what the scheme promises.
struct SpringCylinderCheck {
    kind: Motion,
    scheme: Scheme,
    h: f64,
    start: f64,
    range: (f64, f64),
    last: f64,
    steps: usize,
}

impl Check for SpringCylinderCheck {
    // The published method solves the problem once, with softened friction.
    fn measures_the_solver(&self) -> bool {
        true
    }

    fn begin(&mut self, simulation: &mut Simulation) {
        self.start = energy(simulation);
        (self.range, self.last) = ((self.start, self.start), self.start);
        (self.scheme, self.h) = (simulation.settings().scheme, simulation.settings().time_step);
    }

    fn observe(&mut self, simulation: &mut Simulation, _report: &StepReport) {
        self.last = energy(simulation);
        self.range = (self.range.0.min(self.last), self.range.1.max(self.last));
        self.steps += 1;
    }

    fn verdict(&self) -> Verdict {
        let (steps, h) = (self.steps as f64, self.h);
        let (low, high) = (self.range.0 / self.start, self.range.1 / self.start);
        let wh = frequency(self.kind == Motion::Rolls) * h;
        // Creep: regularised friction dissipates R_t F² per time and step, R_t = σ w of each point
        // with w = ‖W‖/3 below the largest entry of W, 1/m + R²/I = 3/m. F is a third of the spring's
        // force, its square half of the largest on average: 2/9 k_s E₀.
        let lost = match self.kind {
            Motion::Slides => 0.0,
            _ => SIGMA * 3.0 / MASS * (2.0 / 9.0) * SPRING * 0.5 * h * h * steps,
        };
        // Round-off of a sum over the steps, and the tolerance of the solver.
        let noise = 1e-9 * steps.max(1.0);
        let (least, most) = match (self.kind, self.scheme) {
            (Motion::Both, _) => (0.0, 1.0 / (1.0 - 0.5 * wh).max(1e-3)),
            // Midpoint keeps a quadratic energy.
            (_, Scheme::Midpoint) => (1.0 - lost - noise, 1.0 + noise + lost),
            // Symplectic Euler keeps v² + ω² x² − h ω² x v.
            (
                _,
                Scheme::Euler
                | Scheme::ImplicitFast
                | Scheme::ImplicitFull
                | Scheme::Symplectic
                | Scheme::Refined,
            ) => (1.0 / (1.0 + 0.5 * wh) - lost - noise, 1.0 / (1.0 - 0.5 * wh) + noise),
            // Implicit Euler divides it by 1 + ω² h² in each step.
            (_, Scheme::Implicit) => {
                ((1.0 + wh * wh).powf(-steps) * (1.0 - lost) - noise, 1.0 + noise)
            }
            // The others have no such law.
            (_, Scheme::Explicit | Scheme::File | Scheme::MidVelocity | Scheme::Rk4) => {
                (0.0, (1.0 + wh * wh).powf(steps))
            }
        };
        Verdict {
            passed: low >= least && high <= most && self.steps > 0,
            detail: format!(
                "{} scheme: E/E₀ within [{low:.9}, {high:.9}] (allowed [{least:.9}, {most:.9}])",
                self.scheme.name()
            ),
        }
    }
}
