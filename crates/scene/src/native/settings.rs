//! Settings: `[step]` holds every key of [`Settings::set`](stiction_sim::Settings::set), with a
//! table where the key has a dot, and the solver by its name or with its own settings.

use toml::Spanned;
use toml::de::DeValue;

use super::SceneBuilder;
use super::table::{Table, number};
use crate::error::SceneError;

/// Reads `[step]` over the settings of the first model.
pub(super) fn read(scene: &mut SceneBuilder, root: &Table) -> Result<(), SceneError> {
    if let Some(part) = scene.parts.first() {
        scene.settings = part.settings.clone();
    }
    let Some(table) = root.table("step")? else { return Ok(()) };
    for (key, value) in table.entries() {
        match (key, value.get_ref()) {
            ("solver", DeValue::String(name)) => scene.settings.solver = name.to_string(),
            ("solver", DeValue::Table(inner)) => {
                for (inner_key, inner_value) in inner.iter() {
                    let inner_key = inner_key.get_ref().as_ref();
                    match (inner_key, inner_value.get_ref()) {
                        ("name", DeValue::String(name)) => scene.settings.solver = name.to_string(),
                        _ => set(scene, &table, &format!("solver.{inner_key}"), inner_value)?,
                    }
                }
            }
            (_, DeValue::Table(inner)) => {
                for (inner_key, inner_value) in inner.iter() {
                    set(scene, &table, &format!("{key}.{}", inner_key.get_ref()), inner_value)?;
                }
            }
            _ => set(scene, &table, key, value)?,
        }
    }
    check_solver(scene, &table)
}

fn set(
    scene: &mut SceneBuilder,
    table: &Table,
    key: &str,
    value: &Spanned<DeValue>,
) -> Result<(), SceneError> {
    let text = match value.get_ref() {
        DeValue::String(text) => text.to_string(),
        DeValue::Boolean(flag) => flag.to_string(),
        DeValue::Integer(integer) if integer.radix() == 10 => integer.as_str().to_owned(),
        other => match number(other) {
            Some(number) => number.to_string(),
            None => return Err(table.at(value, format_args!("{key}: expected a number or a word"))),
        },
    };
    scene.settings.set(key, &text).map_err(|error| table.at(value, error))
}

/// A solver that does not exist is found here rather than at the first step.
fn check_solver(scene: &SceneBuilder, table: &Table) -> Result<(), SceneError> {
    let mut session = stiction_solve::Session::new(&scene.settings.solver)
        .map_err(|error| table.because("solver", error))?;
    for (key, value) in &scene.settings.solver_settings {
        session.set(key, value).map_err(|error| table.because("solver", error))?;
    }
    Ok(())
}
