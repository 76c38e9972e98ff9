//! CRADLE: Newton's cradle. Balls hang side by side on parallel pendulums; those released at one
//! end drive out as many at the other.
//!
//! Between equal balls without loss, an impact swaps velocities; the chain of impacts does so ball
//! by ball. A law for simultaneous impacts does not contain this order; therefore the balls hang a
//! little apart and impacts come one after the other: the gap is wider than what a ball covers in
//! a step.

use nalgebra::{Isometry3, Vector3};
use stiction_geom::Shape;
use stiction_mech::{BodySpec, JointKind, JointSpec, MassProperties, State};
use stiction_scene::{Check, Scene, Verdict};
use stiction_sim::{Geom, Settings, Simulation, StepReport, Surface, WorldBuilder};

use super::Scenario;
use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// The scenario.
pub const SCENARIO: Scenario = Scenario {
    name: "cradle",
    cite: "",
    about: "Newton's cradle: as many balls leave as arrive, with their momentum and energy",
    parameters: &[
        Parameter { name: "balls", default: 5.0, least: 2.0, most: 50.0, about: "how many hang" },
        Parameter {
            name: "released",
            default: 1.0,
            least: 1.0,
            most: 49.0,
            about: "how many are pulled aside, fewer than there are",
        },
        Parameter {
            name: "angle",
            default: 0.35,
            least: 0.05,
            most: 1.0,
            about: "by how much they are pulled aside [rad]",
        },
    ],
    build,
};

/// Radius [m], mass [kg], distance from the pivot to the centre of a ball [m].
const RADIUS: f64 = 0.02;
const MASS: f64 = 0.25;
const LENGTH: f64 = 0.3;
/// Acceleration of gravity [m/s²].
const GRAVITY: f64 = 9.81;
/// Time step [s], and the gap between balls in distances that the fastest covers in a step.
const TIME_STEP: f64 = 1e-4;
const GAP_STEPS: f64 = 2.0;

fn build(parameters: &Parameters) -> Result<Scene, StudyError> {
    let (balls, released) = (parameters.count("balls"), parameters.count("released"));
    let angle = parameters.get("angle");
    if released >= balls {
        return Err(StudyError::Parameter {
            scenario: SCENARIO.name,
            name: "released",
            found: released.to_string(),
            least: 1.0,
            most: (balls - 1) as f64,
        });
    }
    let mut builder = WorldBuilder::new();
    // A physical pendulum: m g ℓ (1 − cos angle) = ½ (m ℓ² + ⅖ m r²) ω².
    builder.mechanism.gravity(Vector3::new(0.0, 0.0, -GRAVITY));
    let inertia = MASS * (LENGTH.powi(2) + 0.4 * RADIUS.powi(2));
    let fastest = LENGTH * (2.0 * MASS * GRAVITY * LENGTH * (1.0 - angle.cos()) / inertia).sqrt();
    let spacing = 2.0 * RADIUS + GAP_STEPS * fastest * TIME_STEP;
    let surface = Surface { friction: 0.0, restitution: 1.0, ..Surface::default() };
    let mut joints = Vec::new();
    for ball in 0..balls {
        let shape = Shape::sphere(RADIUS)?;
        let (unit, com, moments) = shape.mass_properties(1.0);
        let spec = BodySpec {
            name: format!("ball-{ball}"),
            pose: Isometry3::translation(spacing * ball as f64, 0.0, RADIUS),
            mass: Some(MassProperties::new(MASS, com, moments * (MASS / unit))?),
            ..BodySpec::default()
        };
        let body = builder.mechanism.body(spec);
        let hinge = JointKind::Hinge { axis: Vector3::y() };
        let anchor = Vector3::new(0.0, 0.0, LENGTH);
        joints.push(builder.mechanism.joint(body, JointSpec { anchor, ..JointSpec::new(hinge) }));
        builder.geom(Geom::new(body, shape).surface(surface).coloured(0.7, 0.7, 0.75));
    }
    let world = builder.build()?;
    let mut state = State::new(world.model());
    for joint in &joints[..released] {
        // About y, a positive angle swings a ball that hangs below its pivot towards −x.
        state.q[world.model().joints()[joint.0].q.start] = angle;
    }
    // A quarter of a period brings the released balls to the others, a quarter takes those out.
    let quarter = 0.5 * std::f64::consts::PI * (inertia / (MASS * GRAVITY * LENGTH)).sqrt();
    let settings = Settings { time_step: TIME_STEP, ..Settings::default() };
    let check = CradleCheck {
        released,
        angle,
        fastest: fastest / LENGTH,
        gap: spacing - 2.0 * RADIUS,
        before: (0.0, 0.0),
        after: None,
    };
    Ok(Scene::new(world, settings, 1.5 * quarter, check).from_state(state))
}

/// Once the chain of impacts is over: as many balls move as were released, and momentum and energy
/// are those of the balls that arrived.
struct CradleCheck {
    released: usize,
    angle: f64,
    /// Angular speed of a released ball at the bottom [rad/s].
    fastest: f64,
    gap: f64,
    /// Sum of angular velocities [rad/s] and of their squares before the impacts.
    before: (f64, f64),
    /// The same after them, with how many balls move.
    after: Option<(f64, f64, usize)>,
}

/// Largest relative change of momentum and energy: the impacts themselves keep both to the
/// tolerance of the step. Gravity acts on balls off their lowest point by all gaps together for as
/// long as the chain takes, `(n gap / ℓ) g (n gap / v) / v`, far below this for the numbers above.
const CHANGE: f64 = 1e-3;

impl Check for CradleCheck {
    fn observe(&mut self, simulation: &mut Simulation, _report: &StepReport) {
        let state = simulation.state();
        let (first, last) = (state.q[0], state.q[state.q.len() - 1]);
        let sums = (state.v.iter().sum(), state.v.iter().map(|v| v * v).sum());
        // All balls that were at rest hang still until the first impact.
        let others_rest = state.v[self.released..].iter().all(|v| v.abs() < 1e-6);
        if others_rest && first > 0.0 {
            self.before = sums;
        }
        // Over: the first of the balls driven out is clear of those that stay by some gaps.
        let driven = state.q.len() - self.released;
        let clear = state.q[driven] * LENGTH < -4.0 * self.gap && last < 0.0;
        if clear && self.after.is_none() {
            let moving = state.v.iter().filter(|v| v.abs() > 0.5 * self.fastest).count();
            self.after = Some((sums.0, sums.1, moving));
        }
    }

    fn verdict(&self) -> Verdict {
        let Some((momentum, energy, moving)) = self.after else {
            let detail = "the last ball has not left".to_owned();
            return Verdict { passed: false, detail };
        };
        let change = |after: f64, before: f64| (after / before - 1.0).abs();
        let momentum = change(momentum, self.before.0);
        let energy = change(energy, self.before.1);
        Verdict {
            passed: moving == self.released && momentum <= CHANGE && energy <= CHANGE,
            detail: format!(
                "{} released at {} rad, {moving} left; momentum changed by {momentum:.1e}, energy \
                 by {energy:.1e} (at most {CHANGE:e})",
                self.released, self.angle
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::scenario;

    #[test]
    fn as_many_balls_leave_as_arrive() {
        for (balls, released) in [(2, 1), (5, 1), (5, 2), (5, 3), (5, 4), (9, 2)] {
            let set = [("balls", balls), ("released", released)]
                .map(|(key, value): (&str, usize)| (key.to_owned(), value.to_string()));
            let verdict = scenario("cradle", &set).unwrap().start().unwrap().run().unwrap();
            assert!(verdict.passed, "{balls} balls: {}", verdict.detail);
        }
        let set = [("released".to_owned(), "5".to_owned())];
        assert!(scenario("cradle", &set).is_err());
    }
}
