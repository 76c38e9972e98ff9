//! Names and patterns of names: `arm/elbow` is one element, `arm/*` all whose names start so.

use super::table::Table;
use crate::error::SceneError;

/// How many names an error lists.
const MOST: usize = 24;

/// Indices of the names that a name or pattern matches.
pub(super) fn find<'n>(
    table: &Table,
    key: &'static str,
    pattern: &str,
    names: impl Iterator<Item = &'n str> + Clone,
) -> Result<Vec<usize>, SceneError> {
    let fits = |name: &str| match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == pattern,
    };
    let all = names.clone().enumerate().filter(|(_, name)| !name.is_empty() && fits(name));
    let found: Vec<usize> = all.map(|(place, _)| place).collect();
    if found.is_empty() {
        let known: Vec<&str> = names.filter(|name| !name.is_empty()).take(MOST + 1).collect();
        let shown = known[..known.len().min(MOST)].join(", ");
        let expected = match known.len() {
            0 => "nothing, since nothing of that kind has a name".to_owned(),
            n if n > MOST => format!("one of: {shown}, …"),
            _ => format!("one of: {shown}"),
        };
        return Err(table.because(key, format_args!("found \"{pattern}\"; expected {expected}")));
    }
    Ok(found)
}

/// The index of a name.
pub(super) fn find_one<'n>(
    table: &Table,
    key: &'static str,
    name: &str,
    names: impl Iterator<Item = &'n str> + Clone,
) -> Result<usize, SceneError> {
    let found = find(table, key, name, names)?;
    match found[..] {
        [one] => Ok(one),
        _ => {
            let count = found.len();
            Err(table.because(
                key,
                format_args!("found \"{name}\", which means {count} things; expected one"),
            ))
        }
    }
}
