//! `<keyframe>`: states to start from. What a key does not give has MuJoCo's default: coordinates of
//! the reference configuration, and zeros.

use stiction_mech::Model;

use super::build::Build;
use crate::error::SceneError;
use crate::import::Keyframe;
use crate::xml::Element;

/// Reads a section. Everything else must have been read.
pub(super) fn read(build: &mut Build, section: &Element) -> Result<(), SceneError> {
    if section.children.is_empty() {
        return Ok(());
    }
    let model = build.mechanism()?;
    for key in section.all("key") {
        let frame = Keyframe {
            name: key.get("name").unwrap_or("").to_owned(),
            time: key.number("time")?.unwrap_or(0.0),
            q: coordinates(key, &model)?,
            v: numbers(key, "qvel", &vec![0.0; model.nv()])?,
            control: numbers(key, "ctrl", &vec![0.0; model.nu()])?,
        };
        if !frame.name.is_empty() && build.keyframes.iter().any(|k| k.name == frame.name) {
            return Err(key.error("a second keyframe has this name"));
        }
        build.keyframes.push(frame);
        for (name, what) in [
            ("act", "activations of actuators"),
            ("mpos", "positions of mocap bodies"),
            ("mquat", "orientations of mocap bodies"),
            ("plastic", "plastic deformations"),
        ] {
            if key.numbers(name)?.is_some_and(|numbers| !numbers.is_empty()) {
                build.cannot(&key.place, format!("<key> {name}: {what}"));
            }
        }
    }
    Ok(())
}

/// As many numbers as the default has, or the default.
fn numbers(key: &Element, name: &str, default: &[f64]) -> Result<Vec<f64>, SceneError> {
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

/// Coordinates with quaternions of unit length.
fn coordinates(key: &Element, model: &Model) -> Result<Vec<f64>, SceneError> {
    let mut q = numbers(key, "qpos", model.q0())?;
    for joint in model.joints() {
        let Some(scalars) = joint.spec.kind.quaternion() else { continue };
        let start = joint.q.start + scalars;
        let quaternion = &mut q[start..start + 4];
        let norm = quaternion.iter().map(|x| x * x).sum::<f64>().sqrt();
        if !(norm > 0.0 && norm.is_finite()) {
            let joint = &joint.spec.name;
            return Err(key.error(format_args!(
                "qpos has a quaternion of length {norm} for joint \"{joint}\"; expected 1"
            )));
        }
        quaternion.iter_mut().for_each(|x| *x /= norm);
    }
    Ok(q)
}
