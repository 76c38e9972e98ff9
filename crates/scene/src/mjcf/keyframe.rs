//! `<keyframe>`: states to start from. What a key does not give has MuJoCo's default: coordinates of
//! the reference configuration, and zeros. `<size nkey>` adds keys that give nothing.

use stiction_mech::{Joint, Model, State};

use super::build::{Build, BuiltJoint};
use super::mocap;
use crate::error::SceneError;
use crate::import::Keyframe;
use crate::xml::Element;

/// Largest number of keyframes that `<size>` may ask for.
const MAX_KEYS: i64 = 10_000;

/// Reads a section for the mechanism of the world that was built.
pub(super) fn read(build: &mut Build, section: &Element, model: &Model) -> Result<(), SceneError> {
    let is_attached = section.part != 0;
    for key in section.all("key") {
        let frame = if is_attached { attached_frame(build, key, model) } else { Ok(None) };
        let frame = match frame? {
            Some(frame) => frame,
            None if is_attached => {
                let what = "<key> of a model attached in part, or with mocap bodies";
                build.report_ignored(&key.place, what);
                continue;
            }
            None => frame_of(build, key, model)?,
        };
        if !frame.name.is_empty() && !build.keyframe_names.insert(frame.name.clone()) {
            return Err(key.error("a second keyframe has this name"));
        }
        build.keyframes.push(frame);
        if key.numbers("plastic")?.is_some_and(|numbers| !numbers.is_empty()) {
            build.report_unsupported(&key.place, "<key> plastic: plastic deformations");
        }
    }
    Ok(())
}

/// The state that a key of an attached model gives: its numbers are those of the joints and actuators of that model, in their
/// order; if the model is there several times, those of the first. `None` if the model is not there as a whole.
fn attached_frame(
    build: &Build,
    key: &Element,
    model: &Model,
) -> Result<Option<Keyframe>, SceneError> {
    let part = key.part;
    let of_part = |joint: &&BuiltJoint| joint.part == part;
    let joints: Vec<_> = build.joints.items().iter().filter(of_part).collect();
    let joints = joints.iter().filter_map(|joint| model.joint_of_builder(joint.id));
    let joints: Vec<&Joint> = joints.map(|id| &model.joints()[id.0]).collect();
    let q = joints.iter().flat_map(|joint| joint.q.clone()).collect::<Vec<_>>();
    let v = joints.iter().flat_map(|joint| joint.dofs.clone()).collect::<Vec<_>>();
    let actuators = build.actuators.items().iter().zip(build.actuator_parts.iter());
    let actuators: Vec<usize> =
        actuators.filter(|(_, of)| **of == part).map(|(id, _)| id.0).collect();
    let actuators = || actuators.iter().map(|id| &model.actuators()[*id]);
    let activations: Vec<usize> = actuators().flat_map(|of| of.activations.clone()).collect();
    let controls: Vec<usize> = actuators().flat_map(|of| of.controls.clone()).collect();
    let mut state = State::new(model);
    let mut control = vec![0.0; model.nu()];
    let (time, name) =
        (key.number("time")?.unwrap_or(0.0), key.get("name").unwrap_or("").to_owned());
    for (attribute, places, values) in [
        ("qpos", &q, &mut state.q),
        ("qvel", &v, &mut state.v),
        ("act", &activations, &mut state.activation),
        ("ctrl", &controls, &mut control),
    ] {
        let numbers = key.numbers(attribute)?.unwrap_or_default();
        if numbers.len() > places.len() {
            return Ok(None);
        }
        places.iter().zip(numbers).for_each(|(at, number)| values[*at] = number);
    }
    if ["mpos", "mquat"].iter().any(|name| key.get(name).is_some()) {
        return Ok(None);
    }
    state.normalise_quaternions(model);
    let driven = mocap::poses(build, key, model)?;
    let State { q, v, activation, .. } = state;
    Ok(Some(Keyframe { name, time, q, v, activation, control, driven, x_dot: Vec::new() }))
}

/// Adds keyframes up to the number in `<size nkey>`. All keys must have been read.
pub(super) fn read_size(
    build: &mut Build,
    size: &Element,
    model: &Model,
) -> Result<(), SceneError> {
    let Some(count) = size.integer("nkey")? else { return Ok(()) };
    if count > MAX_KEYS {
        return Err(size.wrong("nkey", &format!("at most {MAX_KEYS}")));
    }
    let missing = usize::try_from(count).unwrap_or(0).saturating_sub(build.keyframes.len());
    if missing > 0 {
        // `<size>` has none of the attributes of a key.
        let blank = frame_of(build, size, model)?;
        build.keyframes.extend(std::iter::repeat_n(blank, missing));
    }
    Ok(())
}

/// The state that a key gives.
fn frame_of(build: &Build, key: &Element, model: &Model) -> Result<Keyframe, SceneError> {
    Ok(Keyframe {
        name: key.get("name").unwrap_or("").to_owned(),
        time: key.number("time")?.unwrap_or(0.0),
        q: coordinates(key, model)?,
        v: numbers(key, "qvel", &vec![0.0; model.nv()])?,
        activation: numbers(key, "act", &vec![0.0; model.na()])?,
        control: numbers(key, "ctrl", &vec![0.0; model.nu()])?,
        driven: mocap::poses(build, key, model)?,
        x_dot: Vec::new(),
    })
}

/// As many numbers as the default has, or the default.
pub(super) fn numbers(key: &Element, name: &str, default: &[f64]) -> Result<Vec<f64>, SceneError> {
    match key.numbers(name)? {
        None => Ok(default.to_vec()),
        Some(numbers) if numbers.is_empty() => Ok(default.to_vec()),
        Some(numbers) if numbers.len() == default.len() => Ok(numbers),
        Some(numbers) => Err(key.error(format_args!(
            "{name} has {} numbers; expected {}",
            numbers.len(),
            default.len()
        ))),
    }
}

/// Norm below which MuJoCo replaces a quaternion by the identity.
pub(super) const LEAST_NORM: f64 = 1e-15;

/// Coordinates with quaternions of unit length; a zero one becomes the identity, as in MuJoCo.
fn coordinates(key: &Element, model: &Model) -> Result<Vec<f64>, SceneError> {
    let mut state = State::new(model);
    state.q = numbers(key, "qpos", model.q0())?;
    state.normalise_quaternions(model);
    Ok(state.q)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{error, model};

    const BODIES: &str = "<worldbody>
        <body pos='0 0 1'><freejoint/><geom size='0.1'/></body>
        <body><joint name='j' type='slide' ref='0.5'/><geom size='0.1'/></body></worldbody>
        <actuator><motor joint='j'/></actuator>";

    #[test]
    fn values_missing_in_a_key_are_the_reference_and_zeros() {
        let found = model(&format!("{BODIES}<keyframe><key/><key name='k' time='2'/></keyframe>"));
        let key = &found.keyframes[0];
        assert_eq!(key.q, [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.5]);
        assert_eq!((key.v.len(), key.control.len(), key.time), (7, 1, 0.0));
        assert_eq!((found.keyframes[1].name.as_str(), found.keyframes[1].time), ("k", 2.0));
    }

    #[test]
    fn the_section_size_adds_keys_at_the_reference() {
        let key = "<keyframe><key time='2'/></keyframe>";
        let found = model(&format!("<size nkey='3'/>{BODIES}{key}"));
        let times: Vec<_> = found.keyframes.iter().map(|key| key.time).collect();
        assert_eq!(times, [2.0, 0.0, 0.0]);
        assert_eq!(found.keyframes[2].q, found.keyframes[0].q);
        assert_eq!(model(&format!("<size nkey='0'/>{BODIES}{key}")).keyframes.len(), 1);
        let message = error(&format!("<size nkey='1000000'/>{BODIES}"));
        assert!(message.contains("at most 10000"), "{message}");
    }

    #[test]
    fn quaternions_get_unit_length() {
        let key = "<key qpos='1 2 3 0 3 4 0 9' qvel='1 2 3 4 5 6 7' ctrl='8'/>";
        let found = model(&format!("{BODIES}<keyframe>{key}</keyframe>"));
        let key = &found.keyframes[0];
        assert_eq!(key.q, [1.0, 2.0, 3.0, 0.0, 0.6, 0.8, 0.0, 9.0]);
        assert_eq!((key.v[6], key.control[0]), (7.0, 8.0));
        let found = model(&format!("{BODIES}<keyframe><key qpos='1 2 3 0 0 0 0 9'/></keyframe>"));
        assert_eq!(found.keyframes[0].q, [1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0, 9.0]);
    }

    #[test]
    fn wrong_numbers_of_numbers_are_refused_with_the_right_one() {
        for (key, right) in [
            ("qpos='1 2'", "expected 8"),
            ("qvel='1 2'", "expected 7"),
            ("ctrl='1 2'", "expected 1"),
            ("act='1'", "expected 0"),
        ] {
            let message = error(&format!("{BODIES}\n<keyframe><key {key}/></keyframe>"));
            assert!(message.starts_with("main.xml:5: <key>"), "{message}");
            assert!(message.contains(right), "{message}");
        }
    }
}
