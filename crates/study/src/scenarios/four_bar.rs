//! FOUR-BAR: a crank turns, a rocker swings; the loop is closed by a connect.
//!
//! ```text
//!              Q        crank OP, coupler PQ, rocker DQ, ground OD
//!         ___-o
//!      P--     \        The crank is the shortest bar, and shortest + longest ≤ the others
//!      o        \       (Grashof): it turns all the way round.
//!     /          \
//!  O o            o D
//! ```
//! The rocker's angle is a function of the crank's: Q is where two circles meet. The connect has
//! three rows, of which the one across the plane is moved by nothing.

use nalgebra::{Matrix2, Vector2, Vector3};
use stiction_mech::{BodyId, Model, State};
use stiction_scene::{Check, Scene, Verdict};
use stiction_sim::constraint::{Connect, Equality};
use stiction_sim::{Settings, Simulation, StepReport, World, WorldBuilder};

use super::Scenario;
use super::robots::bar;
use super::robots::energy_balance::EnergyBalance;
use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// The scenario.
pub const SCENARIO: Scenario = Scenario {
    name: "four-bar",
    cite: "",
    about: "a crank drives a rocker through a coupler; the loop is closed by a connect",
    parameters: &[Parameter {
        name: "speed",
        default: 12.0,
        least: 0.0,
        most: 1e3,
        about: "of the crank at the start [rad/s]",
    }],
    build,
};

/// Lengths of crank, coupler, rocker and ground [m], and mass per length [kg/m].
const CRANK: f64 = 0.1;
const COUPLER: f64 = 0.25;
const ROCKER: f64 = 0.2;
const GROUND: f64 = 0.25;
const LINE_MASS: f64 = 2.0;
/// Angle of the crank at the start [rad].
const START: f64 = 0.7;
/// Largest opening of the loop after a step [m].
const CLOSURE: f64 = 1e-8;

/// Angles of coupler and rocker from the x axis for an angle of the crank, all in [rad].
pub fn closed_form(crank: f64) -> (f64, f64) {
    let P = CRANK * Vector2::new(crank.cos(), crank.sin());
    let to_D = Vector2::new(GROUND, 0.0) - P;
    let d = to_D.norm();
    // Law of cosines at P in the triangle P D Q, Q above.
    let cosine = (COUPLER * COUPLER + d * d - ROCKER * ROCKER) / (2.0 * COUPLER * d);
    let coupler = to_D.y.atan2(to_D.x) + cosine.acos();
    let Q = P + COUPLER * Vector2::new(coupler.cos(), coupler.sin());
    (coupler, Q.y.atan2(Q.x - GROUND))
}

/// Rates of coupler and rocker per rate of the crank [-].
pub fn closed_form_rates(crank: f64) -> (f64, f64) {
    let (coupler, rocker) = closed_form(crank);
    let turn = |length: f64, angle: f64| length * Vector2::new(-angle.sin(), angle.cos());
    // Both ways to Q move alike.
    let A = Matrix2::from_columns(&[turn(COUPLER, coupler), -turn(ROCKER, rocker)]);
    let rates = A.lu().solve(&-turn(CRANK, crank)).unwrap_or_else(|| Vector2::repeat(f64::NAN));
    (rates.x, rates.y)
}

/// The linkage in the vertical plane.
pub fn world() -> Result<World, StudyError> {
    let mut builder = WorldBuilder::new();
    let (coupler, rocker) = closed_form(START);
    let add = |builder: &mut WorldBuilder, name, parent, place, length| {
        bar::hinged(builder, name, parent, place, length, LINE_MASS * length)
    };
    let first = add(&mut builder, "crank", BodyId::WORLD, (0.0, 0.0, START), CRANK)?;
    let second = add(&mut builder, "coupler", first, (CRANK, 0.0, coupler - START), COUPLER)?;
    let third = add(&mut builder, "rocker", BodyId::WORLD, (GROUND, 0.0, rocker), ROCKER)?;
    let loop_closure = Connect {
        body_a: second,
        point_a: Vector3::x() * COUPLER,
        body_b: third,
        point_b: Vector3::x() * ROCKER,
    };
    builder.equality("loop", Equality::Connect(loop_closure));
    Ok(builder.build()?)
}

/// The place of a hinge's coordinate, which is also that of its velocity.
fn place(model: &Model, name: &str) -> usize {
    model.joint(name).map_or(usize::MAX, |id| model.joints()[id.0].q.start)
}

fn build(parameters: &Parameters) -> Result<Scene, StudyError> {
    let (world, speed) = (world()?, parameters.get("speed"));
    let mut state = State::new(world.model());
    let (coupler, rocker) = closed_form_rates(START);
    for (name, rate) in [("crank", 1.0), ("coupler", coupler - 1.0), ("rocker", rocker)] {
        state.v[place(world.model(), name)] = speed * rate;
    }
    let check = FourBarCheck::default();
    Ok(Scene::new(world, Settings::default(), 5.0, check).from_state(state))
}

/// The loop stays closed, the rocker is where the closed form has it, and energy balances.
#[derive(Default)]
struct FourBarCheck {
    opening: f64,
    error: f64,
    energy_balance: EnergyBalance,
}

/// Largest error of the rocker's angle [rad]. The loop is open by at most `CLOSURE`; the rocker
/// turns by that over its length, times the cosecant of the angle between coupler and rocker,
/// which is below 3 for these lengths.
const ANGLE: f64 = 3.0 * CLOSURE / ROCKER;

impl Check for FourBarCheck {
    fn begin(&mut self, simulation: &mut Simulation) {
        self.energy_balance.begin(simulation);
    }

    fn observe(&mut self, simulation: &mut Simulation, report: &StepReport) {
        self.energy_balance.observe(simulation);
        self.opening = self.opening.max(report.equality_error);
        let (model, q) = (simulation.world().model(), &simulation.state().q);
        let expected = closed_form(q[place(model, "crank")]).1;
        let error = q[place(model, "rocker")] - expected;
        self.error = self.error.max(error.sin().abs());
    }

    fn verdict(&self) -> Verdict {
        let Self { opening, error, energy_balance } = self;
        Verdict {
            passed: *opening <= CLOSURE && *error <= ANGLE && energy_balance.balances(),
            detail: format!(
                "loop open by {opening:.1e} m (at most {CLOSURE:.0e}); rocker off its closed form \
                 by {error:.1e} rad (at most {ANGLE:.0e}); energy off by {:.2e} J (at most {:.2e})",
                energy_balance.change, energy_balance.bound
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_the_slopes_of_angles() {
        let h = 1e-6;
        for step in 0..50 {
            let crank = 0.13 * f64::from(step);
            let (ahead, behind) = (closed_form(crank + h), closed_form(crank - h));
            let (coupler, rocker) = closed_form_rates(crank);
            let wrapped = |x: f64| {
                (x + std::f64::consts::PI).rem_euclid(std::f64::consts::TAU) - std::f64::consts::PI
            };
            // Truncation near h², round-off near ε/h.
            assert!((wrapped(ahead.0 - behind.0) / (2.0 * h) - coupler).abs() <= 1e-8);
            assert!((wrapped(ahead.1 - behind.1) / (2.0 * h) - rocker).abs() <= 1e-8);
        }
    }
}
