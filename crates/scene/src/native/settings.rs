//! Table `[step]`: every setting of [`Settings`](stiction_sim::Settings) by name, with an inner table
//! where the name has a dot, and the solver by its name or with its own settings.

use stiction_sim::SOLVER_PREFIX;
use stiction_solve::setting::SettingValue;
use toml::Spanned;
use toml::de::DeValue;

use super::Scene;
use super::table::{Table, number};
use crate::error::SceneError;

/// Reads `[step]` over the settings of the first model.
pub(super) fn read(scene: &mut Scene, root: &Table) -> Result<(), SceneError> {
    if let Some(part) = scene.parts.first() {
        scene.settings = part.settings.clone();
    }
    let Some(table) = root.table("step")? else { return Ok(()) };
    let mut values = Vec::new();
    for (key, value) in table.entries() {
        match value.get_ref() {
            DeValue::Table(inner) => {
                for (inner_key, inner_value) in inner.iter() {
                    let name = match (key, inner_key.get_ref().as_ref()) {
                        ("solver", "name") => "solver".to_owned(),
                        (_, inner_key) => format!("{key}.{inner_key}"),
                    };
                    values.push((name, inner_value));
                }
            }
            _ => values.push((key.to_owned(), value)),
        }
    }
    // The solver comes before its settings, and `sleep` after `sleep.speed`, whatever the file's order.
    values.sort_by_key(|(name, _)| stiction_sim::Settings::order(name));
    for (name, value) in &values {
        let read = setting_value(&table, name, value)?;
        scene.settings.set_value(name, &read).map_err(|error| table.at(value, error))?;
    }
    // Settings of the solver are checked here rather than at the first step.
    let solver = values.iter().find(|(name, _)| name.starts_with(SOLVER_PREFIX));
    match (scene.settings.solver_values(), solver) {
        (Ok(_), _) => Ok(()),
        (Err(error), Some((_, value))) => Err(table.at(value, error)),
        (Err(error), None) => Err(table.because("solver", error)),
    }
}

fn setting_value(
    table: &Table,
    name: &str,
    value: &Spanned<DeValue>,
) -> Result<SettingValue, SceneError> {
    Ok(match value.get_ref() {
        DeValue::String(text) => SettingValue::Text(text.to_string()),
        DeValue::Boolean(flag) => SettingValue::Flag(*flag),
        DeValue::Integer(integer) if integer.radix() == 10 => {
            SettingValue::Text(integer.as_str().to_owned())
        }
        other => match number(other) {
            Some(number) => SettingValue::Number(number),
            None => {
                let expected = format_args!("{name}: expected a number, a text or true or false");
                return Err(table.at(value, expected));
            }
        },
    })
}
