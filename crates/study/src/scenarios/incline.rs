//! A body on an inclined plane: a box that sticks up to the friction angle, a sphere that rolls, a
//! tall box that tips. Each has a closed form.
//!
//! ```text
//!   box      sticks iff tan a ≤ μ, else v = g (sin a − μ cos a) t
//!   sphere   rolls iff tan a ≤ 7/2 μ: v = 5/7 g sin a t, else v = g (sin a − μ cos a) t
//!   tall box tips iff tan a > width/height: ω = (α/κ) sinh κt, κ² = m g r cos(a − a₀)/I
//! ```

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use stiction_geom::Shape;
use stiction_mech::BodyId;
use stiction_scene::{Check, Scene, Verdict};
use stiction_sim::{Geom, Settings, Simulation, StepReport, Surface, WorldBuilder};

use super::Scenario;
use super::parts;
use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// The scenario.
pub const SCENARIO: Scenario = Scenario {
    name: "incline",
    cite: "",
    about: "a box sticks or slides, a sphere rolls, a tall box tips on an inclined plane",
    parameters: &[
        Parameter {
            name: "angle",
            default: 26.6,
            least: 0.0,
            most: 80.0,
            about: "inclination [degrees]",
        },
        Parameter { name: "friction", default: 0.5, least: 0.0, most: 1e3, about: "μ [-]" },
        Parameter {
            name: "body",
            default: 0.0,
            least: 0.0,
            most: 2.0,
            about: "0 a cube, 1 a sphere, 2 a tall box",
        },
    ],
    build,
};

const GRAVITY: f64 = 9.81;
const MASS: f64 = 0.5;
/// Time step [s] and length [s] of the run; the tall box must not tip far, the closed form is linear.
const TIME_STEP: f64 = 0.01;
const DURATION: f64 = 0.5;
const TIPPING_DURATION: f64 = 0.3;
/// Half the edge of the cube, radius of the sphere, half width and half height of the tall box [m].
const HALF: f64 = 0.1;
const RADIUS: f64 = 0.05;
const WIDTH: f64 = 0.05;
const HEIGHT: f64 = 0.2;

/// Closed-form solution at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Expected {
    /// Acceleration downhill [m/s²].
    downhill: f64,
    /// Angular acceleration forwards [rad/s²].
    spin: f64,
    /// Rate κ at which tipping feeds itself [1/s]; zero if it does not.
    growth: f64,
}

fn build(parameters: &Parameters) -> Result<Scene, StudyError> {
    let (angle, friction) = (parameters.get("angle").to_radians(), parameters.get("friction"));
    let mut builder = WorldBuilder::new();
    let surface = Surface::with_friction(friction);
    let tilt = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), angle);
    let plane = Geom::new(BodyId::WORLD, Shape::Plane).surface(surface).named("incline");
    builder.geom(plane.at(Isometry3::from_parts(Translation3::identity(), tilt)));
    let (shape, height, kind) = match parameters.count("body") {
        0 => (Shape::cuboid(Vector3::repeat(HALF))?, HALF, "box"),
        1 => (Shape::sphere(RADIUS)?, RADIUS, "sphere"),
        _ => (Shape::cuboid(Vector3::new(WIDTH, WIDTH, HEIGHT))?, HEIGHT, "tall box"),
    };
    let expected = expected(kind, angle, friction);
    let normal = tilt * Vector3::z();
    let pose = Isometry3::from_parts((height * normal).into(), tilt);
    let body = parts::free_body(&mut builder, kind, shape, MASS, pose, surface)?;
    let settings = Settings { time_step: TIME_STEP, ..Settings::default() };
    let duration = if kind == "tall box" { TIPPING_DURATION } else { DURATION };
    let check = InclineCheck {
        body,
        downhill: tilt * Vector3::x(),
        expected,
        found: (0.0, 0.0, 0.0),
        time_step: TIME_STEP,
    };
    Ok(Scene::new(builder.build()?, settings, duration, check))
}

fn expected(kind: &str, angle: f64, friction: f64) -> Expected {
    let (sin, cos) = angle.sin_cos();
    let slides = (GRAVITY * (sin - friction * cos)).max(0.0);
    match kind {
        "sphere" if 2.0 * sin <= 7.0 * friction * cos => {
            let downhill = 5.0 / 7.0 * GRAVITY * sin;
            Expected { downhill, spin: downhill / RADIUS, growth: 0.0 }
        }
        "sphere" => {
            let spin = 2.5 * friction * GRAVITY * cos / RADIUS;
            Expected { downhill: slides, spin, growth: 0.0 }
        }
        "tall box" if HEIGHT * sin > WIDTH * cos && slides == 0.0 => {
            // About the lower edge, per mass: moment of inertia, torque and its slope.
            let inertia = 4.0 / 3.0 * (WIDTH * WIDTH + HEIGHT * HEIGHT);
            let torque = GRAVITY * (HEIGHT * sin - WIDTH * cos);
            let slope = GRAVITY * (HEIGHT * cos + WIDTH * sin);
            let growth = (slope / inertia).sqrt();
            Expected { downhill: 0.0, spin: torque / inertia, growth }
        }
        _ => Expected { downhill: slides, spin: 0.0, growth: 0.0 },
    }
}

/// Compares speed and spin with the closed form.
struct InclineCheck {
    body: BodyId,
    downhill: Vector3<f64>,
    expected: Expected,
    /// Time [s], speed [m/s], spin [rad/s].
    found: (f64, f64, f64),
    time_step: f64,
}

impl Check for InclineCheck {
    fn observe(&mut self, simulation: &mut Simulation, _report: &StepReport) {
        let state = simulation.state();
        let (v, w) = parts::velocity(simulation.world(), state, self.body);
        self.found = (state.time, v.dot(&self.downhill), w.y);
        self.time_step = simulation.settings().time_step;
    }

    fn verdict(&self) -> Verdict {
        let (t, speed, spin) = self.found;
        let Expected { downhill, spin: rate, growth } = self.expected;
        // Constant forces: velocities are exact but for the tolerance of the solver in each step.
        let mut tolerance = 1e-5 * GRAVITY * t + 1e-9;
        let (mut v, mut w) = (downhill * t, rate * t);
        if growth > 0.0 {
            // Symplectic steps of a growth κ err by κ h / 2 relative at first order, all along κ t;
            // the centre of mass moves around the edge.
            w = rate / growth * (growth * t).sinh();
            v = HEIGHT * w;
            tolerance += w * growth * self.time_step * (1.0 + 0.5 * growth * t);
        }
        let passed =
            (speed - v).abs() <= tolerance && (spin - w).abs() <= tolerance / RADIUS.min(1.0);
        Verdict {
            passed,
            detail: format!(
                "at {t:.3} s: {speed:.8} m/s downhill (expected {v:.8}), spin {spin:.8} rad/s \
                 (expected {w:.8}), tolerance {tolerance:.1e}"
            ),
        }
    }
}
