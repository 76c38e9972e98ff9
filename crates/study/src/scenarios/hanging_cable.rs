//! HANGING CABLE: a slender cable between two points of equal height comes to rest on a catenary.
//!
//! ```text
//!   ●               ●      z = a (cosh(x/a) − cosh(D/2a)),   S = 2 a sinh(D/2a)
//!    \             /
//!     `-..___..-´          for a cable of length S between points a span D apart
//! ```
//! Its bending stiffness lifts it by the order of E I/(H S²) of the sag, with the tension H = w a at the
//! lowest point; its segments are chords, which are off by the square of the angle between two.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use std::f64::consts::{FRAC_PI_2, PI};
use stiction_mech::BodyId;
use stiction_scene::{Check, Scene, Verdict};
use stiction_sim::{
    CableCourse, CableEnd, CableSpec, Scheme, Settings, Simulation, StepReport, WorldBuilder,
};

use super::{Scenario, soft_parts};
use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// The scenario.
pub const SCENARIO: Scenario = Scenario {
    name: "hanging-cable",
    cite: "",
    about: "a cable that hangs between two points is a catenary",
    parameters: &[
        Parameter {
            name: "segments",
            default: 40.0,
            least: 8.0,
            most: 2000.0,
            about: "segments of the cable",
        },
        Parameter {
            name: "slack",
            default: 1.3,
            least: 1.05,
            most: 3.0,
            about: "length of the cable over the span [-]",
        },
        Parameter { name: "span", default: 0.8, least: 0.2, most: 10.0, about: "D [m]" },
        Parameter { name: "radius", default: 1e-3, least: 1e-5, most: 1e-3, about: "[m]" },
        Parameter { name: "young", default: 2.5e7, least: 1e6, most: 1e11, about: "E [Pa]" },
    ],
    build,
};

const DENSITY: f64 = 1100.0;
/// Damping by the air [1/s]: a swing of about a hertz dies within a second.
const AIR: f64 = 6.0;

fn build(parameters: &Parameters) -> Result<Scene, StudyError> {
    let (span, slack) = (parameters.get("span"), parameters.get("slack"));
    let (radius, young) = (parameters.get("radius"), parameters.get("young"));
    let segments = parameters.count("segments");
    let curve = Catenary::new(span, slack);
    let length = slack * span;
    // It starts as two straight lines, and is held along the tangents of its ends.
    let depth = 0.5 * (length * length - span * span).sqrt();
    let half = 0.5 * span;
    let points =
        vec![-half * Vector3::x(), Vector3::new(0.0, 0.0, -depth), Vector3::new(half, 0.0, 0.0)];
    let held = |x: f64, down: f64| {
        let rotation = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), FRAC_PI_2 + down);
        let pose = Isometry3::from_parts(Translation3::new(x, 0.0, 0.0), rotation);
        CableEnd::Attached { body: BodyId::WORLD, pose }
    };
    let slope = (half / curve.a).sinh().atan();
    let mut builder = WorldBuilder::new();
    builder.cable(CableSpec {
        name: "cable".to_owned(),
        course: CableCourse::Path(points),
        segments,
        radius,
        density: DENSITY,
        young,
        damping: 0.0,
        mass_damping: AIR,
        colour: [0.75, 0.3, 0.15, 1.0],
        ends: [held(-half, slope), held(half, -slope)],
        ..CableSpec::default()
    });
    let world = builder.build()?;
    let gravity = world.model().gravity().norm();
    let bending = young * PI * radius.powi(4) / 4.0;
    let line = DENSITY * PI * radius * radius * gravity;
    let stretch = line * length / (young * PI * radius * radius);
    let bound = 3.0
        * (bending / (line * curve.a * length * length)
            + (length / segments as f64 / curve.a).powi(2)
            + stretch);
    // A cable that must be farther from it is none to hang on a catenary.
    let bound = bound.min(FAR);
    let check = HangingCableCheck { curve, bound, off: f64::NAN, aside: f64::NAN, speed: f64::NAN };
    let settings = Settings { time_step: 0.02, scheme: Scheme::Symplectic, ..Settings::default() };
    Ok(Scene::new(world, settings, 10.0, check))
}

/// The curve of a rope, lowest at x = 0, with its ends at z = 0.
#[derive(Clone, Copy, Debug)]
struct Catenary {
    /// Radius of curvature at the lowest point [m].
    a: f64,
    /// Half of the span [m].
    half: f64,
}

impl Catenary {
    /// By span [m] and length over span, which is sinh(u)/u with u = D/2a. Bisection: the function rises.
    fn new(span: f64, slack: f64) -> Self {
        let (mut low, mut high) = (1e-6_f64, 20.0_f64);
        for _ in 0..100 {
            let u = 0.5 * (low + high);
            if u.sinh() / u < slack { low = u } else { high = u }
        }
        Self { a: 0.5 * span / low, half: 0.5 * span }
    }

    fn height(&self, x: f64) -> f64 {
        self.a * ((x / self.a).cosh() - (self.half / self.a).cosh())
    }
}

/// Every segment is on the curve, in its plane, at rest.
struct HangingCableCheck {
    curve: Catenary,
    /// Largest distance from the curve in parts of the sag.
    bound: f64,
    off: f64,
    aside: f64,
    speed: f64,
}

/// Largest distance from the catenary of what hangs on one, in parts of the sag.
const FAR: f64 = 0.05;
/// Largest speed in the end [m/s, rad/s].
const SPEED: f64 = 1e-3;

impl Check for HangingCableCheck {
    fn observe(&mut self, simulation: &mut Simulation, _report: &StepReport) {
        let bodies = simulation.world().cables()[0].bodies.clone();
        (self.off, self.aside) = (0.0, 0.0);
        for body in bodies {
            let place = simulation.body_pose(body.0).translation.vector;
            let off = (place.z - self.curve.height(place.x)).abs() / -self.curve.height(0.0);
            self.off = soft_parts::largest(self.off, off);
            self.aside = soft_parts::largest(self.aside, place.y.abs());
        }
        let v = &simulation.state().v;
        self.speed = v.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    }

    fn verdict(&self) -> Verdict {
        let Self { bound, off, aside, speed, .. } = self;
        Verdict {
            passed: off <= bound && *aside <= 1e-9 && *speed <= SPEED,
            detail: format!(
                "off the catenary by {off:.2e} of its sag (at most {bound:.2e}), out of its plane by \
                 {aside:.0e} m; fastest {speed:.1e} m/s (at most {SPEED:e})"
            ),
        }
    }
}
