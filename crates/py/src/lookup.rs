//! Finds parts of a model by name or by number.

use pyo3::prelude::*;

use crate::error;

/// Largest number of names in an error message.
const MAX_LISTED: usize = 40;

/// The number of a part that was given by name or by number. `kind` names the parts in errors.
pub fn find<'a>(
    kind: &str,
    given: &Bound<'_, PyAny>,
    names: impl Iterator<Item = &'a str> + Clone,
) -> PyResult<usize> {
    let count = names.clone().count();
    if let Ok(name) = given.extract::<String>() {
        let found = names.clone().position(|other| other == name).filter(|_| !name.is_empty());
        return found.ok_or_else(|| unknown(kind, &name, names));
    }
    let index: isize = given.extract().map_err(|_| {
        let found = given.get_type().name().map(|name| name.to_string()).unwrap_or_default();
        error::model(format!("{kind}: found a {found}; expected a name or a number"))
    })?;
    usize::try_from(index).ok().filter(|index| *index < count).ok_or_else(|| {
        error::model(format!("{kind} {index}; expected a number from 0 to less than {count}"))
    })
}

fn unknown<'a>(kind: &str, name: &str, names: impl Iterator<Item = &'a str>) -> PyErr {
    let known: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    let mut list = known.iter().take(MAX_LISTED).copied().collect::<Vec<_>>().join(", ");
    if known.len() > MAX_LISTED {
        list += &format!(" and {} more", known.len() - MAX_LISTED);
    }
    let expected = if known.is_empty() {
        "a number: none has a name".into()
    } else {
        format!("one of: {list}")
    };
    error::model(format!("no {kind} is called \"{name}\"; expected {expected}"))
}
