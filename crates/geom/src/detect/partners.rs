//! Which colliders may touch each collider of a small set, listed once.
//!
//! The colliders of a robot lie close together, so that a grid finds most of them near most others, and the
//! rules exclude many of those. A list of partners per collider costs no more than the tests of boxes.

use crate::Colliders;

/// Most colliders of a set whose partners are listed: at most this number squared of indices.
const FEW: usize = 128;

/// Colliders of higher index that may touch each collider, in ascending order, one collider after the other.
#[derive(Clone, Debug)]
pub struct Partners {
    all: Vec<u32>,
    starts: Vec<u32>,
}

impl Partners {
    /// The partners in a set; `None` if it is not small.
    pub fn new(set: &Colliders) -> Option<Self> {
        if set.len() > FEW {
            return None;
        }
        let (n, mut all, mut starts) = (set.len() as u32, Vec::new(), vec![0]);
        for index in 0..n {
            all.extend((index + 1..n).filter(|other| set.may_touch(index, *other)));
            starts.push(all.len() as u32);
        }
        Some(Self { all, starts })
    }

    /// The partners of a collider that come after it.
    pub fn above(&self, index: u32) -> &[u32] {
        let k = index as usize;
        &self.all[self.starts[k] as usize..self.starts[k + 1] as usize]
    }
}
