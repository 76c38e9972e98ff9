//! ARM: a free arm of seven hinges hangs and swings under its weight, without friction, damping or
//! contact.

use nalgebra::{Isometry3, Vector3};
use std::f64::consts::PI;
use stiction_scene::{Check, Scene, Verdict};
use stiction_sim::{Settings, Simulation, StepReport, WorldBuilder};

use super::Scenario;
use super::robots::arm;
use super::robots::bar::GHOST;
use super::robots::ledger::Ledger;
use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// The scenario.
pub const SCENARIO: Scenario = Scenario {
    name: "arm",
    cite: "",
    about: "a free arm of seven hinges hangs and swings under its weight; energy is conserved",
    parameters: &[Parameter {
        name: "bend",
        default: 0.5,
        least: -1.0,
        most: 1.0,
        about: "angle of every hinge at the start [rad]",
    }],
    build,
};

fn build(parameters: &Parameters) -> Result<Scene, StudyError> {
    let mut builder = WorldBuilder::new();
    let angles = [parameters.get("bend"); arm::JOINTS];
    // Upside down: it hangs.
    let base = Isometry3::rotation(Vector3::x() * PI);
    arm::add(&mut builder, "arm", base, angles, GHOST)?;
    Ok(Scene::new(builder.build()?, Settings::default(), 2.0, Balanced::default()))
}

/// Energy balances.
#[derive(Default)]
struct Balanced {
    ledger: Ledger,
}

impl Check for Balanced {
    fn begin(&mut self, simulation: &mut Simulation) {
        self.ledger.begin(simulation);
    }

    fn observe(&mut self, simulation: &mut Simulation, _: &StepReport) {
        self.ledger.observe(simulation);
    }

    fn verdict(&self) -> Verdict {
        let Ledger { change, bound, .. } = self.ledger;
        Verdict {
            passed: self.ledger.balances(),
            detail: format!("energy off by {change:.3e} J (at most {bound:.3e})"),
        }
    }
}
