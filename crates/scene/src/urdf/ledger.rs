//! What is told about a file besides its physics: what was passed over, and how things were
//! understood. Robot descriptions repeat themselves, so equal entries are counted.

use std::collections::HashMap;

use crate::import::Unsupported;
use crate::xml::Place;

/// Collects entries and notes.
#[derive(Default)]
pub(super) struct Ledger {
    entries: Vec<(Unsupported, usize)>,
    by_what: HashMap<String, usize>,
    notes: Vec<(String, Vec<String>)>,
}

impl Ledger {
    fn list(&mut self, place: &Place, what: String, physical: bool) {
        let next = self.entries.len();
        let known = *self.by_what.entry(what.clone()).or_insert(next);
        match self.entries.get_mut(known) {
            Some((_, count)) => *count += 1,
            None => {
                self.entries.push((Unsupported { place: place.clone(), what, physical }, 1));
            }
        }
    }

    /// Something that changes the motion and was not done as it stands.
    pub fn cannot(&mut self, place: &Place, what: impl Into<String>) {
        self.list(place, what.into(), true);
    }

    /// Something that was passed over and does not change the motion.
    pub fn ignores(&mut self, place: &Place, what: impl Into<String>) {
        self.list(place, what.into(), false);
    }

    /// How something was understood, for one more `item` of those it concerns.
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
    fn what_repeats_is_counted_and_keeps_its_first_place() {
        let place = |line| Place { file: Arc::new("a.urdf".into()), line };
        let mut ledger = Ledger::default();
        ledger.ignores(&place(3), "<gazebo>");
        ledger.cannot(&place(4), "else");
        ledger.ignores(&place(9), "<gazebo>");
        ledger.note("told of", "a");
        ledger.note("told of", "b");
        let (listed, notes) = ledger.finish();
        assert_eq!(listed.len(), 2);
        assert_eq!((listed[0].place.line, listed[1].physical), (3, true));
        assert_eq!(listed[0].what, "<gazebo> (2 times, first here)");
        assert_eq!(notes, ["told of: a, b"]);
    }
}
