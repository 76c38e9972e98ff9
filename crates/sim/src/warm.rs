//! Warm starts: the impulses of the last step, found again by the key of their constraint.

use crate::rows::{Key, Rows};
use stiction_solve::contact;

/// Impulses of the last step, sorted by key.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    entries: Vec<Entry>,
    impulses: Vec<f64>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: Key,
    first: u32,
    dim: u32,
}

impl Memory {
    pub fn clear(&mut self) {
        self.entries.clear();
        self.impulses.clear();
    }

    /// Keys with their numbers of rows, and the impulses of all of them.
    pub fn contents(&self) -> (impl Iterator<Item = (Key, u32)> + '_, &[f64]) {
        (self.entries.iter().map(|entry| (entry.key, entry.dim)), &self.impulses)
    }

    /// Takes up what [`Memory::contents`] gave; false if keys and impulses do not fit.
    pub fn remember(&mut self, keys: &[(Key, u32)], impulses: &[f64]) -> bool {
        self.clear();
        let mut first = 0_usize;
        for (key, dim) in keys {
            self.entries.push(Entry { key: *key, first: first as u32, dim: *dim });
            first += *dim as usize;
        }
        self.impulses.extend_from_slice(impulses);
        let fits = first == impulses.len() && keys.is_sorted_by(|a, b| a.0 < b.0);
        if !fits {
            self.clear();
        }
        fits
    }

    /// Keeps the impulses of a step.
    pub fn store(&mut self, rows: &Rows, impulse: &[f64]) {
        self.clear();
        for constraint in rows.constraints() {
            let range = constraint.rows();
            let (first, dim) = (self.impulses.len() as u32, range.len() as u32);
            self.entries.push(Entry { key: constraint.key, first, dim });
            self.impulses.extend_from_slice(&impulse[range]);
        }
    }

    /// Normal impulse of a contact of the last step [N·s], zero if it was not there.
    pub fn normal_impulse(&self, key: Key) -> f64 {
        let place = self.entries.binary_search_by_key(&key, |entry| entry.key);
        place.map_or(0.0, |place| {
            let Entry { first, dim, .. } = self.entries[place];
            let rows = &self.impulses[first as usize..(first + dim) as usize];
            if rows.len() == contact::DIM { contact::ContactVec::load(rows).n } else { 0.0 }
        })
    }

    /// Writes the impulses of constraints that were there before; the others start at zero.
    pub fn recall(&self, rows: &Rows, impulse: &mut Vec<f64>) {
        impulse.clear();
        impulse.resize(rows.len(), 0.0);
        let mut old = self.entries.iter().peekable();
        for constraint in rows.constraints() {
            while old.next_if(|entry| entry.key < constraint.key).is_some() {}
            let range = constraint.rows();
            if let Some(entry) = old.next_if(|entry| entry.key == constraint.key)
                && entry.dim as usize == range.len()
            {
                let from = entry.first as usize;
                impulse[range].copy_from_slice(&self.impulses[from..from + entry.dim as usize]);
            }
        }
    }
}
