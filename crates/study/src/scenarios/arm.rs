//! ARM: a free arm of seven hinges hangs and swings under its weight, without friction, damping or
//! contact.

use nalgebra::{Isometry3, Vector3};
use std::f64::consts::PI;
use stiction_scene::{Check, Scene, Verdict};
use stiction_sim::{Settings, Simulation, StepReport, WorldBuilder};

use super::Scenario;
use super::robots::arm;
use super::robots::bar::NO_COLLISION;
use super::robots::energy_balance::EnergyBalance;
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
    arm::add(&mut builder, "arm", base, angles, NO_COLLISION)?;
    Ok(Scene::new(builder.build()?, Settings::default(), 2.0, ArmCheck::default()))
}

/// Energy balances.
#[derive(Default)]
struct ArmCheck {
    energy_balance: EnergyBalance,
}

impl Check for ArmCheck {
    fn begin(&mut self, simulation: &mut Simulation) {
        self.energy_balance.begin(simulation);
    }

    fn observe(&mut self, simulation: &mut Simulation, _: &StepReport) {
        self.energy_balance.observe(simulation);
    }

    fn verdict(&self) -> Verdict {
        let EnergyBalance { change, bound, .. } = self.energy_balance;
        Verdict {
            passed: self.energy_balance.balances(),
            detail: format!("energy off by {change:.3e} J (at most {bound:.3e})"),
        }
    }
}
