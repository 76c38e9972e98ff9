//! Parts of a model by name or by number.

use pyo3::prelude::*;

use crate::error;

/// Names that a message lists at most.
const LISTED: usize = 40;

/// The number of a part that was given by name or by number. `kind` names the parts in errors.
pub fn find<'a>(
    kind: &str,
    asked: &Bound<'_, PyAny>,
    names: impl Iterator<Item = &'a str> + Clone,
) -> PyResult<usize> {
    let count = names.clone().count();
    if let Ok(name) = asked.extract::<String>() {
        let found = names.clone().position(|other| other == name).filter(|_| !name.is_empty());
        return found.ok_or_else(|| unknown(kind, &name, names));
    }
    let index: isize = asked.extract().map_err(|_| {
        let found = asked.get_type().name().map(|name| name.to_string()).unwrap_or_default();
        error::model(format!("{kind}: found a {found}; expected a name or a number"))
    })?;
    usize::try_from(index).ok().filter(|index| *index < count).ok_or_else(|| {
        error::model(format!("{kind} {index}; expected a number from 0 to less than {count}"))
    })
}

fn unknown<'a>(kind: &str, name: &str, names: impl Iterator<Item = &'a str>) -> PyErr {
    let known: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    let mut list = known.iter().take(LISTED).copied().collect::<Vec<_>>().join(", ");
    if known.len() > LISTED {
        list += &format!(" and {} more", known.len() - LISTED);
    }
    let expected = if known.is_empty() {
        "a number: none has a name".into()
    } else {
        format!("one of: {list}")
    };
    error::model(format!("no {kind} is called \"{name}\"; expected {expected}"))
}
