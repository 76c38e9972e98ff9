//! Warm starts: the impulses of the last step, found again by the key of their constraint, and how they changed in it.
//!
//! While a robot stands or steps, impulses change by nearly the same from step to step: continued, they solve the next problem
//! where those of the last step alone need Newton iterations.

use crate::rows::{ConstraintKey, ConstraintRecord};
use stiction_solve::contact;
use stiction_solve::problem::Constraint;

/// Largest change of the impulse of a constraint that is continued, relative to the impulse [-].
const STEADY: f64 = 0.25;

/// Impulses of the last step, sorted by key.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct WarmStart {
    entries: Vec<WarmStartEntry>,
    impulses: Vec<f64>,
    /// Change of the impulses since the step before; zero for constraints that were not there.
    changes: Vec<f64>,
}

/// Which impulses the solution of a problem starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guess {
    /// Those of the last step.
    Last,
    /// Those of the last step, changed as much as in it where that is little.
    Continued,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct WarmStartEntry {
    key: ConstraintKey,
    first: u32,
    dim: u32,
}

impl WarmStart {
    /// Impulses `impulses` of constraints given by key and number of rows, and their changes, zero if they are empty; `None`
    /// unless the keys ascend and the numbers of rows add up.
    pub fn from_parts(
        keys: &[(ConstraintKey, u32)],
        impulses: Vec<f64>,
        mut changes: Vec<f64>,
    ) -> Option<Self> {
        let (mut entries, mut end) = (Vec::with_capacity(keys.len()), 0_u32);
        for (key, dim) in keys {
            entries.push(WarmStartEntry { key: *key, first: end, dim: *dim });
            end = end.checked_add(*dim)?;
        }
        if changes.is_empty() {
            changes.resize(impulses.len(), 0.0);
        }
        let fits = end as usize == impulses.len() && impulses.len() == changes.len();
        let ascends = keys.is_sorted_by(|a, b| a.0 < b.0);
        (fits && ascends).then_some(Self { entries, impulses, changes })
    }

    /// Keys with their numbers of rows, and the impulses of all of them with their changes.
    pub fn parts(&self) -> (impl ExactSizeIterator<Item = (ConstraintKey, u32)> + '_, [&[f64]; 2]) {
        let keys = self.entries.iter().map(|entry| (entry.key, entry.dim));
        (keys, [&self.impulses, &self.changes])
    }

    pub fn clear(&mut self) {
        self.entries.clear();
        self.impulses.clear();
        self.changes.clear();
    }

    /// Scales the impulses, for a step of another length.
    pub fn scale(&mut self, factor: f64) {
        let all = self.impulses.iter_mut().chain(&mut self.changes);
        all.for_each(|impulse| *impulse *= factor);
    }

    /// Stores the impulses of a step, and their changes since the one before.
    pub fn store(
        &mut self,
        records: &[ConstraintRecord],
        constraints: &[Constraint],
        impulse: &[f64],
        before: Option<&Self>,
    ) {
        self.clear();
        let mut old = before.map_or(&[][..], |before| &before.entries).iter().peekable();
        for (record, constraint) in records.iter().zip(constraints) {
            let rows = constraint.rows();
            let (first, dim) = (self.impulses.len() as u32, rows.len() as u32);
            self.entries.push(WarmStartEntry { key: record.key, first, dim });
            self.impulses.extend_from_slice(&impulse[rows.clone()]);
            self.changes.resize(self.impulses.len(), 0.0);
            while old.next_if(|entry| entry.key < record.key).is_some() {}
            if let (Some(before), Some(entry)) = (before, old.next_if(|e| e.key == record.key))
                && entry.dim == dim
            {
                let changes = &mut self.changes[first as usize..];
                let old = &before.impulses[entry.first as usize..];
                for ((change, new), old) in changes.iter_mut().zip(&impulse[rows]).zip(old) {
                    *change = new - old;
                }
            }
        }
    }

    /// Normal impulse of a contact of the last step [N·s], zero if it was not there.
    pub fn normal_impulse(&self, key: ConstraintKey) -> f64 {
        let place = self.entries.binary_search_by_key(&key, |entry| entry.key);
        place.map_or(0.0, |place| {
            let WarmStartEntry { first, dim, .. } = self.entries[place];
            let rows = &self.impulses[first as usize..(first + dim) as usize];
            if rows.len() == contact::DIM { contact::ContactVec::load(rows).n } else { 0.0 }
        })
    }

    /// Impulses of the constraints of one row.
    pub fn single_rows(&self) -> impl Iterator<Item = (ConstraintKey, f64)> + '_ {
        let single = self.entries.iter().filter(|entry| entry.dim == 1);
        single.map(|entry| (entry.key, self.impulses[entry.first as usize]))
    }

    /// Writes the impulses of constraints that were there before. Others start at zero, or if they have one row at what
    /// `guess` returns.
    pub fn recall(
        &self,
        (records, constraints): (&[ConstraintRecord], &[Constraint]),
        kind: Guess,
        guess: impl Fn(&ConstraintKey) -> f64,
        impulse: &mut Vec<f64>,
    ) {
        impulse.clear();
        impulse.resize(constraints.last().map_or(0, |last| last.rows().end), 0.0);
        let mut old = self.entries.iter().peekable();
        for (record, constraint) in records.iter().zip(constraints) {
            while old.next_if(|entry| entry.key < record.key).is_some() {}
            let rows = constraint.rows();
            if let Some(entry) = old.next_if(|entry| entry.key == record.key)
                && entry.dim as usize == rows.len()
            {
                let from = entry.first as usize..(entry.first + entry.dim) as usize;
                let (last, change) = (&self.impulses[from.clone()], &self.changes[from]);
                let out = &mut impulse[rows];
                out.copy_from_slice(last);
                let size = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
                if kind == Guess::Continued && size(change) <= STEADY * STEADY * size(last) {
                    out.iter_mut().zip(change).for_each(|(out, change)| *out += change);
                }
            } else if rows.len() == 1 {
                impulse[rows.start] = guess(&record.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::{ConstraintClass, RowBuilder};
    use stiction_solve::law::{Bilateral, Law};

    fn key(a: u32) -> ConstraintKey {
        ConstraintKey { class: ConstraintClass::Equality, a, b: 0, feature: 0, row: 0 }
    }

    #[test]
    fn small_changes_of_impulses_are_continued_and_large_ones_are_not() {
        let mut rows = RowBuilder::default();
        for a in 0..3 {
            rows.open(key(a), Law::Bilateral(Bilateral), 0.0, &[0.0], &[0.0]);
        }
        let constraints = (rows.records(), rows.rows().constraints());
        let [mut first, mut second] = [WarmStart::default(), WarmStart::default()];
        first.store(constraints.0, constraints.1, &[4.0, 4.0, 0.0], None);
        second.store(constraints.0, constraints.1, &[4.5, 8.0, 0.0], Some(&first));
        let mut guess = Vec::new();
        second.recall(constraints, Guess::Last, |_| 0.0, &mut guess);
        assert_eq!(guess, [4.5, 8.0, 0.0]);
        second.recall(constraints, Guess::Continued, |_| 0.0, &mut guess);
        assert_eq!(guess, [5.0, 8.0, 0.0]);
        // In a step of half the length.
        second.scale(0.5);
        second.recall(constraints, Guess::Continued, |_| 0.0, &mut guess);
        assert_eq!(guess, [2.5, 4.0, 0.0]);
    }

    #[test]
    fn parts_of_an_older_snapshot_have_no_changes() {
        let keys = [(key(0), 1), (key(1), 2)];
        let parts = |changes| WarmStart::from_parts(&keys, vec![4.0, 3.0, -8.0], changes);
        assert_eq!(parts(Vec::new()).map(|start| start.changes), Some(vec![0.0; 3]));
        assert!(parts(vec![0.5]).is_none());
    }
}
