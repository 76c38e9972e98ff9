//! Controllers: `[[controller]]` drives actuators, or gives joints a servo and drives that.

use stiction_mech::{Actuator, ActuatorId, ActuatorSpec, JointId, Transmission};
use stiction_sim::World;

use super::table::Table;
use super::{SceneBuilder, csv};
use crate::error::SceneError;
use crate::import::Keyframe;
use crate::signal::{Interpolation, Signal, SignalShape};

/// The control of an actuator, once its value at the start is known.
pub(super) struct PendingSignal {
    actuator: ActuatorId,
    plan: SignalPlan,
}

#[derive(Clone)]
enum SignalPlan {
    /// Keeps its initial value.
    Keep,
    Swing {
        centre: Option<f64>,
        amplitude: f64,
        frequency: f64,
        phase: f64,
    },
    Fixed(SignalShape),
}

impl PendingSignal {
    /// The signal, with what the scene starts from.
    pub fn signal(&self, world: &World, start: &Keyframe) -> Signal {
        let here = || present(world, start, self.actuator);
        let course = match &self.plan {
            SignalPlan::Keep => SignalShape::Hold(here()),
            SignalPlan::Swing { centre, amplitude, frequency, phase } => SignalShape::Sinusoid {
                centre: centre.unwrap_or_else(here),
                amplitude: *amplitude,
                frequency: *frequency,
                phase: *phase,
            },
            SignalPlan::Fixed(course) => course.clone(),
        };
        Signal { actuator: self.actuator.0, course }
    }
}

/// The control that keeps an actuator where it starts: the coordinate for a servo on a joint, else
/// the control it starts with.
fn present(world: &World, start: &Keyframe, actuator: ActuatorId) -> f64 {
    let Actuator { spec, controls, .. } = &world.model().actuators()[actuator.0];
    let (gain, [_, per_length, _]) = spec.law.affine().unwrap_or_default();
    match spec.transmission {
        Transmission::Joint(joint) if gain != 0.0 && per_length == -gain => {
            spec.gear * start.q[world.model().joints()[joint.0].q.start]
        }
        _ => start.control.get(controls.start).copied().unwrap_or(0.0),
    }
}

/// Reads one `[[controller]]`.
pub(super) fn read(scene: &mut SceneBuilder, table: Table) -> Result<(), SceneError> {
    let actuators = channels(scene, &table)?;
    let plans = plans(scene, &table, actuators.len())?;
    scene.pending.extend(
        actuators.into_iter().zip(plans).map(|(actuator, plan)| PendingSignal { actuator, plan }),
    );
    table.finish()
}

/// The actuators that it drives, in the order of the names.
fn channels(scene: &mut SceneBuilder, table: &Table) -> Result<Vec<ActuatorId>, SceneError> {
    let declared = scene.builder.mechanism.declared();
    let mut found = Vec::new();
    if let Some(patterns) = table.texts("actuators")? {
        let names = &scene.names.actuators;
        for pattern in patterns {
            let all = names.find((table, "actuators"), pattern, declared.actuators)?;
            found.extend(all.into_iter().map(ActuatorId));
        }
        return Ok(found);
    }
    let Some(patterns) = table.texts("joints")? else {
        return Err(
            table.wrong("actuators", "names of actuators, or else joints = names of joints")
        );
    };
    let kp = table.positive("kp")?;
    let kp = kp.ok_or_else(|| table.wrong("kp", "a stiffness [N·m/rad or N/m] of the servos"))?;
    let kd = table.not_negative("kd")?.unwrap_or(0.0);
    let most = table.positive("force-limit")?;
    let names = &scene.names.joints;
    let mut joints = Vec::new();
    for pattern in patterns {
        for joint in names.find((table, "joints"), pattern, declared.joints)? {
            let (_, spec) = &declared.joints[joint];
            if spec.kind.nv() != 1 {
                let kind = spec.kind.entry().name;
                return Err(table.because(
                    "joints",
                    format_args!(
                        "\"{}\" is a {kind}; expected joints of one coordinate",
                        spec.name
                    ),
                ));
            }
            joints.push((joint, spec.name.clone()));
        }
    }
    for (joint, name) in joints {
        let on = Transmission::Joint(JointId(joint));
        let mut servo = ActuatorSpec::position(format!("{name}-servo"), on, kp, kd);
        servo.force_range = most.map(|most| (-most, most));
        found.push(scene.builder.mechanism.actuator(servo));
    }
    Ok(found)
}

/// The control of each of `count` actuators.
fn plans(
    scene: &mut SceneBuilder,
    table: &Table,
    count: usize,
) -> Result<Vec<SignalPlan>, SceneError> {
    let kinds = ["hold", "sinusoid", "waypoints"].map(|word| (word, word));
    let plans = match table.word("kind", &kinds)? {
        None => return Err(table.wrong("kind", "the kind of the controller")),
        Some("hold") => match each(table, "value", count)? {
            None => vec![SignalPlan::Keep; count],
            Some(values) => values
                .into_iter()
                .map(|value| SignalPlan::Fixed(SignalShape::Hold(value)))
                .collect(),
        },
        Some("sinusoid") => {
            let centres = each(table, "centre", count)?;
            let amplitudes = each(table, "amplitude", count)?;
            let amplitudes = amplitudes.ok_or_else(|| table.wrong("amplitude", "a number"))?;
            let frequency = table.positive("frequency")?;
            let frequency = frequency.ok_or_else(|| table.wrong("frequency", "a number of Hz"))?;
            let phases = each(table, "phase", count)?.unwrap_or_else(|| vec![0.0; count]);
            let swing = |k: usize| SignalPlan::Swing {
                centre: centres.as_ref().map(|centres| centres[k]),
                amplitude: amplitudes[k],
                frequency,
                phase: phases[k],
            };
            (0..count).map(swing).collect()
        }
        Some(_) => waypoints(scene, table, count)?,
    };
    Ok(plans)
}

/// One number for all, or one for each.
fn each(table: &Table, key: &'static str, count: usize) -> Result<Option<Vec<f64>>, SceneError> {
    if !table.has(key) {
        return Ok(None);
    }
    if let Ok(Some(number)) = table.number(key) {
        return Ok(Some(vec![number; count]));
    }
    match table.numbers(key) {
        Ok(Some(numbers)) if numbers.len() == count => Ok(Some(numbers)),
        _ => Err(table.wrong(key, &format!("one number, or one for each of {count}"))),
    }
}

fn waypoints(
    scene: &mut SceneBuilder,
    table: &Table,
    count: usize,
) -> Result<Vec<SignalPlan>, SceneError> {
    let key = if table.has("file") { "file" } else { "points" };
    let rows = match table.text("file")? {
        Some(file) => csv::read(scene.files, &scene.folder.join(file))?,
        None => {
            let expected = format!("rows of a time [s] and {count} values, or a file of them");
            table.rows("points")?.ok_or_else(|| table.wrong("points", &expected))?
        }
    };
    let width = rows.first().map_or(0, Vec::len);
    if width != count + 1 {
        let error = format!("{width} numbers per row; expected a time and {count} values");
        return Err(table.because(key, error));
    }
    let times: Vec<f64> = rows.iter().map(|row| row[0]).collect();
    if let Some(pair) = times.windows(2).find(|pair| pair[0] >= pair[1]) {
        let error = format!("{} s follows {} s; expected ascending times", pair[1], pair[0]);
        return Err(table.because(key, error));
    }
    let paths = [
        ("linear", Interpolation::Linear),
        ("smooth", Interpolation::Smooth),
        ("stepped", Interpolation::Stepped),
    ];
    let path = table.word("path", &paths)?.unwrap_or_default();
    let repeat = table.flag("repeat")?;
    let course = |k: usize| SignalShape::Waypoints {
        times: times.clone(),
        values: rows.iter().map(|row| row[k + 1]).collect(),
        path,
        repeat,
    };
    Ok((0..count).map(|k| SignalPlan::Fixed(course(k))).collect())
}
