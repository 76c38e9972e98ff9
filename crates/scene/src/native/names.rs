//! Names and patterns of names: `arm/elbow` is one element, `arm/*` all whose names start so.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Bound;

use stiction_mech::{ActuatorSpec, Body, BodyId, BodySpec, Joint, JointSpec, SoftBody};

use super::table::Table;
use crate::error::SceneError;

/// How many names an error lists.
const LISTED: usize = 24;
/// Most pairs of things that two patterns may mean together.
const MOST_PAIRS: usize = 4_000_000;

/// Something with a name, which may be empty.
pub(super) trait Named {
    fn name(&self) -> &str;
}

macro_rules! named {
    ($($type:ty: $($field:tt).+;)*) => {
        $(impl Named for $type {
            fn name(&self) -> &str {
                &self.$($field).+
            }
        })*
    };
}

named! {
    ActuatorSpec: name;
    Body: spec.name;
    BodySpec: name;
    Joint: spec.name;
    SoftBody: spec.name;
}

impl Named for (BodyId, JointSpec) {
    fn name(&self) -> &str {
        &self.1.name
    }
}

/// The names of one kind of thing in alphabetical order, each with the places of those that have it.
/// Things are added as they are declared; finding takes logarithmic time.
#[derive(Debug, Default)]
pub(super) struct NameIndex {
    places: RefCell<BTreeMap<String, Vec<usize>>>,
    known: RefCell<usize>,
}

impl NameIndex {
    /// The things that a name or pattern means, by their place in `things`, ascending. `things` is
    /// the list of the last call, perhaps with more at its end.
    pub fn find<T: Named>(
        &self,
        (table, key): (&Table, &'static str),
        pattern: &str,
        things: &[T],
    ) -> Result<Vec<usize>, SceneError> {
        self.extend(things);
        let places = self.places.borrow();
        let mut found = match pattern.strip_suffix('*') {
            None => places.get(pattern).cloned().unwrap_or_default(),
            Some(start) => {
                let from = (Bound::Included(start), Bound::Unbounded);
                let fitting = places.range::<str, _>(from);
                let fitting = fitting.take_while(|(name, _)| name.starts_with(start));
                fitting.flat_map(|(_, places)| places.iter().copied()).collect()
            }
        };
        if found.is_empty() {
            let names = things.iter().map(Named::name);
            return Err(unknown(table, key, pattern, names));
        }
        found.sort_unstable();
        Ok(found)
    }

    /// The one thing that a name means.
    pub fn find_one<T: Named>(
        &self,
        (table, key): (&Table, &'static str),
        name: &str,
        things: &[T],
    ) -> Result<usize, SceneError> {
        let found = self.find((table, key), name, things)?;
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

    /// Whether nothing has this name.
    pub fn lacks<T: Named>(&self, things: &[T], name: &str) -> bool {
        self.extend(things);
        !self.places.borrow().contains_key(name)
    }

    fn extend<T: Named>(&self, things: &[T]) {
        let mut known = self.known.borrow_mut();
        let mut places = self.places.borrow_mut();
        for (place, thing) in things.iter().enumerate().skip(*known) {
            let name = thing.name();
            if !name.is_empty() {
                places.entry(name.to_owned()).or_default().push(place);
            }
        }
        *known = (*known).max(things.len());
    }
}

/// The error that nothing has this name; `names` are those there are, some of which are listed.
pub(super) fn unknown<'n>(
    table: &Table,
    key: &'static str,
    found: &str,
    names: impl Iterator<Item = &'n str>,
) -> SceneError {
    let known: Vec<&str> = names.filter(|name| !name.is_empty()).take(LISTED + 1).collect();
    let shown = known[..known.len().min(LISTED)].join(", ");
    let expected = match known.len() {
        0 => "nothing, since nothing of that kind has a name".to_owned(),
        n if n > LISTED => format!("one of: {shown}, …"),
        _ => format!("one of: {shown}"),
    };
    table.because(key, format_args!("found \"{found}\"; expected {expected}"))
}

/// Checks the number of pairs that two patterns mean together.
pub(super) fn check_pairs(
    table: &Table,
    key: &'static str,
    [first, second]: [usize; 2],
) -> Result<(), SceneError> {
    if first.saturating_mul(second) <= MOST_PAIRS {
        return Ok(());
    }
    let what = format_args!(
        "found patterns of {first} and {second} names; expected at most {MOST_PAIRS} pairs"
    );
    Err(table.because(key, what))
}
