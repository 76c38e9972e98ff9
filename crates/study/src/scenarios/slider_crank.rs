//! SLIDER-CRANK: a crank drives a slider through a rod; the loop is closed by a connect.
//!
//! The slider stands at `x = r cos θ + √(l² − r² sin² θ)` for a crank of radius r at the angle θ and
//! a rod of length l.

use nalgebra::{Isometry3, Matrix3, Vector3};
use stiction_geom::Shape;
use stiction_mech::{BodyId, BodySpec, JointKind, JointSpec, MassProperties, Model, State};
use stiction_scene::{Check, Scene, Verdict};
use stiction_sim::constraint::{Connect, Equality};
use stiction_sim::{Geom, Settings, Simulation, StepReport, World, WorldBuilder};

use super::Scenario;
use super::robots::bar::{self, NO_COLLISION};
use super::robots::energy_balance::EnergyBalance;
use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// The scenario.
pub const SCENARIO: Scenario = Scenario {
    name: "slider-crank",
    cite: "",
    about: "a crank drives a slider through a rod; the loop is closed by a connect",
    parameters: &[Parameter {
        name: "speed",
        default: 12.0,
        least: 0.0,
        most: 1e3,
        about: "of the crank at the start [rad/s]",
    }],
    build,
};

/// Radius of the crank and length of the rod [m], masses [kg].
const CRANK: f64 = 0.1;
const ROD: f64 = 0.3;
const CRANK_MASS: f64 = 0.5;
const ROD_MASS: f64 = 0.4;
const SLIDER_MASS: f64 = 0.3;
/// Half edge of the slider [m].
const HALF_EDGE: f64 = 0.03;
/// Angle of the crank at the start [rad].
const START: f64 = 0.7;
/// Largest opening of the loop after a step [m].
const CLOSURE: f64 = 1e-8;

/// Place of the slider [m] for an angle of the crank [rad].
pub fn closed_form(crank: f64) -> f64 {
    let rise = CRANK * crank.sin();
    CRANK * crank.cos() + (ROD * ROD - rise * rise).sqrt()
}

/// Rate of the slider per rate of the crank [m/rad].
pub fn closed_form_rate(crank: f64) -> f64 {
    let rise = CRANK * crank.sin();
    -rise * (1.0 + CRANK * crank.cos() / (ROD * ROD - rise * rise).sqrt())
}

/// Angle of the rod from the x axis [rad], and its rate per rate of the crank [-].
fn rod(crank: f64) -> (f64, f64) {
    let sine = -CRANK / ROD * crank.sin();
    (sine.asin(), -CRANK / ROD * crank.cos() / (1.0 - sine * sine).sqrt())
}

/// The mechanism in the vertical plane.
pub fn world() -> Result<World, StudyError> {
    let mut builder = WorldBuilder::new();
    let start = (0.0, 0.0, START);
    let crank = bar::hinged(&mut builder, "crank", BodyId::WORLD, start, CRANK, CRANK_MASS)?;
    let place = (CRANK, 0.0, rod(START).0 - START);
    let rod = bar::hinged(&mut builder, "rod", crank, place, ROD, ROD_MASS)?;
    let inertia = Matrix3::identity() * (SLIDER_MASS * 2.0 / 3.0 * HALF_EDGE * HALF_EDGE);
    let x = closed_form(START);
    let slider = builder.mechanism.body(BodySpec {
        name: "slider".to_owned(),
        pose: Isometry3::translation(x, 0.0, 0.0),
        mass: Some(MassProperties::new(SLIDER_MASS, Vector3::zeros(), inertia)?),
        ..BodySpec::default()
    });
    let slide = JointSpec::new(JointKind::Slide { axis: Vector3::x() });
    builder.mechanism.joint(slider, JointSpec { name: "slider".to_owned(), reference: x, ..slide });
    let shape = Shape::cuboid(Vector3::repeat(HALF_EDGE))?;
    builder.geom(Geom { groups: NO_COLLISION, ..Geom::new(slider, shape).named("slider") });
    let loop_closure = Connect {
        body_a: rod,
        point_a: Vector3::x() * ROD,
        body_b: slider,
        point_b: Vector3::zeros(),
    };
    builder.equality("loop", Equality::Connect(loop_closure));
    Ok(builder.build()?)
}

/// The place of a joint's coordinate, which is also that of its velocity.
fn place(model: &Model, name: &str) -> usize {
    model.joint(name).map_or(usize::MAX, |id| model.joints()[id.0].q.start)
}

fn build(parameters: &Parameters) -> Result<Scene, StudyError> {
    let (world, speed) = (world()?, parameters.get("speed"));
    let mut state = State::new(world.model());
    let rates = [("crank", 1.0), ("rod", rod(START).1 - 1.0), ("slider", closed_form_rate(START))];
    for (name, rate) in rates {
        state.v[place(world.model(), name)] = speed * rate;
    }
    let check = SliderCrankCheck::default();
    Ok(Scene::new(world, Settings::default(), 5.0, check).from_state(state))
}

/// The loop stays closed, the slider is where the closed form has it, and energy balances.
#[derive(Default)]
struct SliderCrankCheck {
    opening: f64,
    error: f64,
    energy_balance: EnergyBalance,
}

/// Largest error of the slider [m]. An opening across the slide turns the rod, whose end then moves
/// along the slide by no more, since the rod stays within 45° of it; an opening along it adds once.
const PLACE: f64 = 2.0 * CLOSURE;

impl Check for SliderCrankCheck {
    fn begin(&mut self, simulation: &mut Simulation) {
        self.energy_balance.begin(simulation);
    }

    fn observe(&mut self, simulation: &mut Simulation, report: &StepReport) {
        self.energy_balance.observe(simulation);
        self.opening = self.opening.max(report.equality_error);
        let (model, q) = (simulation.world().model(), &simulation.state().q);
        let expected = closed_form(q[place(model, "crank")]);
        self.error = self.error.max((q[place(model, "slider")] - expected).abs());
    }

    fn verdict(&self) -> Verdict {
        let Self { opening, error, energy_balance } = self;
        Verdict {
            passed: *opening <= CLOSURE && *error <= PLACE && energy_balance.balances(),
            detail: format!(
                "loop open by {opening:.1e} m (at most {CLOSURE:.0e}); slider off its closed form \
                 by {error:.1e} m (at most {PLACE:.0e}); energy off by {:.2e} J (at most {:.2e})",
                energy_balance.change, energy_balance.bound
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_the_slopes_of_places() {
        let h = 1e-6;
        for step in 0..50 {
            let crank = 0.13 * f64::from(step);
            // Truncation near h², round-off near ε/h.
            let slope = (closed_form(crank + h) - closed_form(crank - h)) / (2.0 * h);
            assert!((slope - closed_form_rate(crank)).abs() <= 1e-9);
            let slope = (rod(crank + h).0 - rod(crank - h).0) / (2.0 * h);
            assert!((slope - rod(crank).1).abs() <= 1e-9);
        }
    }
}
