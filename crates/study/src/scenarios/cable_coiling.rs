//! CABLE COILING: a cable that is lowered onto the ground lies down in coils.
//!
//! ```text
//!      ▓ hand, moves down          Bending stiffness E I and weight per length w make a length
//!      |                           ℓ = (E I/w)^(1/3): the radius of the coils is of its order
//!      |                           (Mahadevan & Keller, 1996, static coiling).
//!    _(@)_ ground
//! ```
//! The hand does not turn, so that the cable twists by one turn for each coil; what lies on the ground
//! is held there by friction. The turns are counted by the angle of the tangent of what lies.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use std::f64::consts::{PI, TAU};
use stiction_mech::BodySpec;
use stiction_scene::{Check, Scene, Verdict};
use stiction_sim::{
    CableCourse, CableEnd, CableSpec, Settings, Simulation, StepReport, Surface, WorldBuilder,
};

use super::{Scenario, parts};
use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// The scenario.
pub const SCENARIO: Scenario = Scenario {
    name: "cable-coiling",
    cite: "",
    about: "a cable lowered onto the ground coils, with a radius of the order of (E I/w)^(1/3)",
    parameters: &[
        Parameter {
            name: "segments",
            default: 120.0,
            least: 20.0,
            most: 2000.0,
            about: "segments",
        },
        Parameter { name: "length", default: 1.2, least: 0.2, most: 10.0, about: "[m]" },
        Parameter { name: "radius", default: 3e-3, least: 5e-4, most: 0.02, about: "[m]" },
        Parameter { name: "young", default: 1e5, least: 1e4, most: 1e8, about: "E [Pa]" },
        Parameter {
            name: "speed",
            default: 0.3,
            least: 0.01,
            most: 2.0,
            about: "of the hand [m/s]",
        },
        Parameter { name: "friction", default: 0.8, least: 0.0, most: 10.0, about: "μ [-]" },
    ],
    build,
};

const DENSITY: f64 = 1100.0;
/// Height of the hand in the end, in multiples of ℓ.
const REST_HEIGHT: f64 = 3.0;
/// How long the cable comes to rest [s].
const REST: f64 = 0.5;

fn build(parameters: &Parameters) -> Result<Scene, StudyError> {
    let (length, radius) = (parameters.get("length"), parameters.get("radius"));
    let (young, speed) = (parameters.get("young"), parameters.get("speed"));
    let segments = parameters.count("segments");
    let bending = young * PI * radius.powi(4) / 4.0;
    let mut builder = WorldBuilder::new();
    let surface = Surface::with_friction(parameters.get("friction"));
    parts::ground(&mut builder, surface);
    // The lower end lies down in a quarter circle to one side: that decides the sense of the coils.
    let bow = 0.05 * length;
    let quarter = |k: i32| {
        let angle = 0.5 * PI * f64::from(k) / 8.0;
        let place = Vector3::new(bow * (1.0 - angle.cos()), 0.0, bow * (1.0 - angle.sin()));
        place + Vector3::new(0.0, 0.1 * bow * (1.0 - angle.sin()), radius)
    };
    let straight = length - bow * 0.5 * PI;
    let top = bow + radius + straight;
    let mut points = vec![Vector3::new(0.0, 0.0, top)];
    points.extend((0..=8).map(quarter));
    let hand = builder.mechanism.body(BodySpec {
        name: "hand".to_owned(),
        pose: Isometry3::translation(0.0, 0.0, top),
        driven: true,
        ..BodySpec::default()
    });
    builder.cable(CableSpec {
        name: "cable".to_owned(),
        course: CableCourse::Path(points),
        segments,
        radius,
        density: DENSITY,
        young,
        damping: 0.02,
        mass_damping: 0.5,
        surface,
        colour: [0.7, 0.25, 0.2, 1.0],
        ends: [CableEnd::Held(hand), CableEnd::Free],
        ..CableSpec::default()
    });
    let world = builder.build()?;
    let gravity = world.model().gravity().norm();
    let scale = (bending / (DENSITY * PI * radius * radius * gravity)).cbrt();
    let rest = (REST_HEIGHT * scale).min(0.5 * top);
    let lowering = (top - rest) / speed;
    let check = CableCoilingCheck {
        scale,
        radius,
        turning: f64::NAN,
        all: f64::NAN,
        lying: 0.0,
        height: 0.0,
    };
    let settings = Settings { time_step: 0.005, ..Settings::default() };
    let lower = move |simulation: &mut Simulation| {
        let next = simulation.state().time + simulation.settings().time_step;
        let z = (top - speed * next).max(rest);
        let pose =
            Isometry3::from_parts(Translation3::new(0.0, 0.0, z), UnitQuaternion::identity());
        simulation.input_mut().driven_pose[0] = pose;
    };
    Ok(Scene::new(world, settings, lowering + REST, check).controlled(lower))
}

/// Checks that coils on the ground turn one way, with the radius that weight and stiffness determine.
struct CableCoilingCheck {
    /// ℓ [m].
    scale: f64,
    radius: f64,
    /// Angle by which the tangent of what lies turns, and the same with all turns counted alike [rad].
    turning: f64,
    all: f64,
    /// Length that lies [m], and the height of the pile [m].
    lying: f64,
    height: f64,
}

/// Part of all turning that must be in one sense, turns at least, and the radius in multiples of ℓ.
const ONE_WAY: f64 = 0.8;
const TURNS: f64 = 2.0;
const SIZE: (f64, f64) = (0.3, 3.0);

impl Check for CableCoilingCheck {
    fn observe(&mut self, simulation: &mut Simulation, _report: &StepReport) {
        let cable = simulation.world().cables()[0].clone();
        (self.turning, self.all, self.lying, self.height) = (0.0, 0.0, 0.0, 0.0);
        let mut last: Option<Vector3<f64>> = None;
        for body in &cable.bodies {
            let pose = simulation.body_pose(body.0);
            let along = pose.rotation * Vector3::z();
            // It lies if it is low and level.
            if pose.translation.z > LOW * self.radius || along.z.abs() > 0.5 {
                last = None;
                continue;
            }
            self.lying += cable.segment_length;
            self.height = self.height.max(pose.translation.z + self.radius);
            if let Some(before) = last {
                let angle =
                    (before.x * along.y - before.y * along.x).atan2(before.xy().dot(&along.xy()));
                self.turning += angle;
                self.all += angle.abs();
            }
            last = Some(along);
        }
    }

    fn verdict(&self) -> Verdict {
        let turns = self.turning.abs() / TAU;
        let one_way = self.turning.abs() / self.all;
        let size = self.lying / self.all / self.scale;
        Verdict {
            passed: turns >= TURNS && one_way >= ONE_WAY && (SIZE.0..=SIZE.1).contains(&size),
            detail: format!(
                "{turns:.2} turns (at least {TURNS}) of {:.1} cm, {one_way:.2} of all turning one way (at \
                 least {ONE_WAY}); radius {size:.2} ℓ (between {} and {}), ℓ = {:.2} cm; the pile is {:.1} \
                 diameters high",
                1e2 * self.lying,
                SIZE.0,
                SIZE.1,
                1e2 * self.scale,
                0.5 * self.height / self.radius
            ),
        }
    }
}

/// Height below which a segment lies, in radii: a pile of some coils.
const LOW: f64 = 12.0;
