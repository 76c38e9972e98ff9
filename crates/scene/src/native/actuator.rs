//! Actuators: `[[actuator]]` on joints.

use stiction_mech::{ActuatorLaw, ActuatorSpec, JointId, Transmission};

use super::SceneBuilder;
use super::start::InitialValue;
use super::table::Table;
use crate::error::SceneError;

/// Reads one `[[actuator]]`.
pub(super) fn read(scene: &mut SceneBuilder, table: Table) -> Result<(), SceneError> {
    let joint = table.require("joint", "the name of the joint that it moves")?;
    let declared = scene.builder.mechanism.declared();
    let names = &scene.names.joints;
    let place = names.find_one((&table, "joint"), joint, declared.joints)?;
    let on = Transmission::Joint(JointId(place));
    let name = table.text("name")?.unwrap_or(joint);
    let table = table.named(name);
    let gain = |key: &'static str| {
        let found = table.not_negative(key)?;
        found.ok_or_else(|| table.wrong(key, "a gain that is not negative"))
    };
    let mut spec = ActuatorSpec::motor(name, on);
    let kinds = ["motor", "position", "velocity"].map(|word| (word, word));
    spec.law = match table.word("kind", &kinds)? {
        None => return Err(table.wrong("kind", "the kind of the actuator")),
        Some("motor") => ActuatorLaw::Motor,
        Some("position") => {
            ActuatorLaw::Position { kp: gain("kp")?, kd: table.not_negative("kd")?.unwrap_or(0.0) }
        }
        Some(_) => ActuatorLaw::Velocity { kd: gain("kd")? },
    };
    if let Some(gear) = table.number("gear")? {
        spec.gear = gear;
    }
    spec.control_range = table.range("control-range")?;
    spec.force_range = table.range("force-range")?;
    let start = table.number("start")?;
    let actuator = scene.builder.mechanism.actuator(spec);
    if let Some(value) = start {
        scene.beginnings.push(InitialValue::Control { actuator, value });
    }
    table.finish()
}
