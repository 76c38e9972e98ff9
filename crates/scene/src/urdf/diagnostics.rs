//! Diagnostics of a URDF file: unsupported features, and notes on its interpretation. Equal entries are
//! counted, since robot descriptions repeat themselves.

use std::collections::HashMap;

use crate::import::Unsupported;
use crate::xml::SourceLocation;

/// Collects entries and notes.
#[derive(Default)]
pub(super) struct Diagnostics {
    entries: Vec<(Unsupported, usize)>,
    by_what: HashMap<String, usize>,
    notes: Vec<(String, Vec<String>)>,
}

impl Diagnostics {
    fn list(&mut self, place: &SourceLocation, what: String, physical: bool) {
        let next = self.entries.len();
        let known = *self.by_what.entry(what.clone()).or_insert(next);
        match self.entries.get_mut(known) {
            Some((_, count)) => *count += 1,
            None => {
                self.entries.push((Unsupported { place: place.clone(), what, physical }, 1));
            }
        }
    }

    /// Lists an unsupported feature that changes the motion.
    pub fn report_unsupported(&mut self, place: &SourceLocation, what: impl Into<String>) {
        self.list(place, what.into(), true);
    }

    /// Lists an ignored feature that does not change the motion.
    pub fn report_ignored(&mut self, place: &SourceLocation, what: impl Into<String>) {
        self.list(place, what.into(), false);
    }

    /// Adds a note on the interpretation of `item`.
    pub fn note(&mut self, note: &str, item: impl Into<String>) {
        let item = item.into();
        match self.notes.iter_mut().find(|(known, _)| known == note) {
            Some((_, items)) => items.push(item),
            None => self.notes.push((note.to_owned(), vec![item])),
        }
    }

    /// The entries, with their counts, and the notes, each with what it concerns.
    pub fn finish(self) -> (Vec<Unsupported>, Vec<String>) {
        let entries = self.entries.into_iter().map(|(mut entry, count)| {
            if count > 1 {
                entry.what += &format!(" ({count} times, first here)");
            }
            entry
        });
        let notes = self.notes.into_iter().map(|(note, items)| {
            let named: Vec<_> = items.into_iter().filter(|item| !item.is_empty()).collect();
            if named.is_empty() { note } else { format!("{note}: {}", named.join(", ")) }
        });
        (entries.collect(), notes.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn repeated_diagnostics_are_counted_and_keep_their_first_location() {
        let place = |line| SourceLocation { file: Arc::new("a.urdf".into()), line };
        let mut diagnostics = Diagnostics::default();
        diagnostics.report_ignored(&place(3), "<gazebo>");
        diagnostics.report_unsupported(&place(4), "else");
        diagnostics.report_ignored(&place(9), "<gazebo>");
        diagnostics.note("interpreted", "a");
        diagnostics.note("interpreted", "b");
        let (listed, notes) = diagnostics.finish();
        assert_eq!(listed.len(), 2);
        assert_eq!((listed[0].place.line, listed[1].physical), (3, true));
        assert_eq!(listed[0].what, "<gazebo> (2 times, first here)");
        assert_eq!(notes, ["interpreted: a, b"]);
    }
}
