//! Warm starts: the impulses of the last step, found again by the key of their constraint.

use crate::rows::{ConstraintKey, ConstraintRecord};
use stiction_solve::contact;
use stiction_solve::problem::Constraint;

/// Impulses of the last step, sorted by key.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct WarmStart {
    entries: Vec<WarmStartEntry>,
    impulses: Vec<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct WarmStartEntry {
    key: ConstraintKey,
    first: u32,
    dim: u32,
}

impl WarmStart {
    /// Impulses `impulses` of constraints given by key and number of rows; `None` unless the keys
    /// ascend and the numbers of rows add up.
    pub fn from_parts(keys: &[(ConstraintKey, u32)], impulses: Vec<f64>) -> Option<Self> {
        let (mut entries, mut end) = (Vec::with_capacity(keys.len()), 0_u32);
        for (key, dim) in keys {
            entries.push(WarmStartEntry { key: *key, first: end, dim: *dim });
            end = end.checked_add(*dim)?;
        }
        let fits = end as usize == impulses.len() && keys.is_sorted_by(|a, b| a.0 < b.0);
        fits.then_some(Self { entries, impulses })
    }

    /// Keys with their numbers of rows, and the impulses of all of them.
    pub fn parts(&self) -> (impl ExactSizeIterator<Item = (ConstraintKey, u32)> + '_, &[f64]) {
        (self.entries.iter().map(|entry| (entry.key, entry.dim)), &self.impulses)
    }

    pub fn clear(&mut self) {
        self.entries.clear();
        self.impulses.clear();
    }

    /// Scales the impulses, for a step of another length.
    pub fn scale(&mut self, factor: f64) {
        self.impulses.iter_mut().for_each(|impulse| *impulse *= factor);
    }

    /// Stores the impulses of a step.
    pub fn store(
        &mut self,
        records: &[ConstraintRecord],
        constraints: &[Constraint],
        impulse: &[f64],
    ) {
        self.clear();
        for (record, constraint) in records.iter().zip(constraints) {
            let rows = constraint.rows();
            let (first, dim) = (self.impulses.len() as u32, rows.len() as u32);
            self.entries.push(WarmStartEntry { key: record.key, first, dim });
            self.impulses.extend_from_slice(&impulse[rows]);
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
        records: &[ConstraintRecord],
        constraints: &[Constraint],
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
                let from = entry.first as usize;
                impulse[rows].copy_from_slice(&self.impulses[from..from + entry.dim as usize]);
            } else if rows.len() == 1 {
                impulse[rows.start] = guess(&record.key);
            }
        }
    }
}
