//! DISH-SLIDING: two stacked bowls are pushed over the floor and let go [Lee25, Sec. VII-E].
//!
//! With exact friction they keep their height. A soft convex model lifts what slides: its contacts separate with μ times
//! the speed of the slip, until the missing depth gives that much force less.

use nalgebra::{Isometry3, Vector3, Vector6};
use stiction_mech::BodyId;
use stiction_scene::{Check, Scene, Verdict};
use stiction_sim::{
    Settings, Simulation, SoftSurface, StepReport, Surface, TangentialLaw, WorldBuilder,
};
use stiction_solve::law::FrictionModel;

use super::{Scenario, field_parts, parts};
use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// The scenario.
pub const SCENARIO: Scenario = Scenario {
    name: "dish-sliding",
    cite: "Lee25",
    about: "two stacked bowls pushed over the floor keep their height; a soft convex model lifts them",
    parameters: &[
        Parameter { name: "friction", default: 0.4, least: 0.0, most: 2.0, about: "μ [-]" },
        Parameter {
            name: "push",
            default: 2.0,
            least: 0.0,
            most: 10.0,
            about: "force on the lower bowl, per weight of both times the friction [-]",
        },
        Parameter {
            name: "loops",
            default: 0.0,
            least: 0.0,
            most: 1e3,
            about: "outer iterations of canal; 0 leaves the solver as it is",
        },
        Parameter {
            name: "soft",
            default: 0.0,
            least: 0.0,
            most: 1.0,
            about: "1 takes the soft convex model with MuJoCo's parameters",
        },
    ],
    build,
};

const GRAVITY: f64 = 9.81;
/// Time at rest before the push, end of the push and of the run [s].
const RESTED: f64 = 0.2;
const PUSHED: f64 = 0.4;
const DURATION: f64 = 0.9;

fn build(parameters: &Parameters) -> Result<Scene, StudyError> {
    let (friction, soft) = (parameters.get("friction"), parameters.count("soft") == 1);
    let even_default = SoftSurface { even_default: true, ..SoftSurface::default() };
    let surface =
        Surface { soft: soft.then_some(even_default), ..Surface::with_friction(friction) };
    let mut builder = WorldBuilder::new();
    parts::ground(&mut builder, surface);
    let mut bowls = Vec::new();
    for dish in field_parts::pile(0.0)?.into_iter().take(2) {
        let at = Isometry3::translation(0.0, 0.0, dish.height);
        bowls.push(dish.part.add(&mut builder, dish.name, at, surface)?);
    }
    let world = builder.build()?;
    let mut settings = Settings { time_step: 1.0 / 240.0, ..Settings::default() };
    if soft {
        // One convex problem per step, solved to the end.
        settings.friction_model = Some(FrictionModel::Convex);
        settings.tangential = TangentialLaw::Mujoco;
    }
    let loops = parameters.count("loops");
    if loops > 0 {
        settings.select_solver("canal");
        settings.set("solver.max-outer", &loops.to_string())?;
    }
    let weight = GRAVITY * world.model().mass();
    let force = parameters.get("push") * friction * weight;
    let lower = bowls[0];
    let push = move |simulation: &mut Simulation| {
        let time = simulation.state().time;
        let x = if (RESTED..PUSHED).contains(&time) { force } else { 0.0 };
        if simulation.input().wrench[lower.0][3] != x {
            simulation.input_mut().wrench[lower.0] = Vector6::new(0.0, 0.0, 0.0, x, 0.0, 0.0);
        }
    };
    let check = DishSlidingCheck {
        lower,
        friction,
        glides: soft,
        limited: loops > 0,
        start: None,
        range: [0.0; 2],
        fastest: 0.0,
        way: 0.0,
        deepest: 0.0,
        residual: (0.0, 0),
    };
    Ok(Scene::new(world, settings, DURATION, check).controlled(push))
}

/// The lower bowl keeps its height.
struct DishSlidingCheck {
    lower: BodyId,
    friction: f64,
    /// Whether the model lets things glide, and whether iterations are limited.
    glides: bool,
    limited: bool,
    /// Where the lower bowl was before the push [m].
    start: Option<Vector3<f64>>,
    /// Lowest and highest since, from there [m].
    range: [f64; 2],
    fastest: f64,
    way: f64,
    deepest: f64,
    /// Sum of −log₁₀ of the residuals of Coulomb's law, and steps.
    residual: (f64, usize),
}

/// Largest change of height with exact friction [m], and largest depth: what is not corrected, three times.
const HEIGHT: f64 = 3e-5;
/// Least residual that is told apart [-].
const LEAST: f64 = 1e-16;

impl Check for DishSlidingCheck {
    fn observe(&mut self, simulation: &mut Simulation, report: &StepReport) {
        let state = simulation.state();
        if state.time < RESTED {
            return;
        }
        let place = parts::position(simulation.world(), state, self.lower);
        let (v, _) = parts::velocity(simulation.world(), state, self.lower);
        let from = place - *self.start.get_or_insert(place);
        self.range = [self.range[0].min(from.z), self.range[1].max(from.z)];
        self.fastest = self.fastest.max(v.xy().norm());
        self.way = from.xy().norm();
        self.deepest = self.deepest.max(report.penetration);
        let residual = report.residuals.of(FrictionModel::Coulomb).max(LEAST);
        self.residual.0 -= residual.log10();
        self.residual.1 += 1;
    }

    fn verdict(&self) -> Verdict {
        let [low, high] = self.range;
        let keeps = -low <= HEIGHT && high <= HEIGHT && self.deepest <= HEIGHT;
        // MuJoCo's default law has a time constant of 20 ms with critical damping: damping over stiffness is
        // 2 · 0.95 · 20 ms. In steady sliding the contact lacks the force μ v times its damping.
        let lift = 2.0 * 0.95 * 0.02 * self.friction * self.fastest;
        let slid = self.friction == 0.0 || self.way > 1e-3;
        let passed = slid && if self.glides { high > HEIGHT } else { keeps };
        let digits = self.residual.0 / self.residual.1.max(1) as f64;
        let model = match (self.glides, self.limited) {
            (true, _) => format!("the soft convex model glides, by up to {:.2} mm", 1e3 * lift),
            (false, _) => format!("at most {:.0} µm", 1e6 * HEIGHT),
        };
        Verdict {
            passed,
            detail: format!(
                "slid {:.3} m at up to {:.2} m/s; height of the lower bowl {:+.3} to {:+.3} mm ({model}); penetration \
                 {:.3} mm; residual {digits:.2} digits",
                self.way,
                self.fastest,
                1e3 * low,
                1e3 * high,
                1e3 * self.deepest,
            ),
        }
    }

    // How far an unfinished solution or a soft model is from Coulomb's law is what this measures.
    fn measures_the_solver(&self) -> bool {
        self.glides || self.limited
    }

    fn needs_start(&self) -> bool {
        true
    }
}
