//! Warm starts: the impulses of the last step, found again by the key of their constraint.

use crate::rows::{Key, Rows};

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
