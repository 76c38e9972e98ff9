//! Hierarchical hashed grid: finds the boxes that may overlap a given one.
//!
//! Every box is stored in one cell, that of its centre, on the level whose cells are at least as large as
//! the box [Ericson05, Sec. 7.2.1]. A box therefore overlaps only boxes of the cells within half a cell of
//! it, on each level in use. Inserting and removing cost O(1), so that boxes at rest cost nothing.

use crate::Aabb;
use nalgebra::Vector3;

const NONE: u32 = u32::MAX;

/// Level and cell of a box in one number, unique among cells less than half a million apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CellKey(u64);

impl CellKey {
    /// Key of a box in no cell.
    const NOWHERE: Self = Self(u64::MAX);

    fn new(level: i32, [x, y, z]: [i64; 3]) -> Self {
        const BITS: i64 = (1 << 19) - 1;
        Self(
            ((level as u64 & 0x3F) << 57)
                | ((x & BITS) as u64) << 38
                | ((y & BITS) as u64) << 19
                | (z & BITS) as u64,
        )
    }
}

/// Bucket of the cell (x, y, 0): the other cells of the column are adjacent in memory.
fn column(level: i32, x: i64, y: i64) -> u64 {
    // Multipliers without common factors spread neighbours over the table.
    let mut h = (x as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    h = (h ^ y as u64).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    h = (h ^ (h >> 29) ^ level as u64).wrapping_mul(0x94D0_49BB_1331_11EB);
    h >> 24
}

/// A box in the list of its bucket.
#[derive(Clone, Copy, Debug)]
struct GridEntry {
    key: CellKey,
    level: i32,
    next: u32,
}

/// The boxes of one size.
#[derive(Clone, Debug, Default)]
struct GridLevel {
    exponent: i32,
    members: Vec<u32>,
}

/// A grid of numbered boxes.
#[derive(Clone, Debug, Default)]
pub struct HashedGrid {
    /// Edge of the cells of level 0 [m]; each level up doubles it.
    base: f64,
    nodes: Vec<GridEntry>,
    /// Bucket of each box.
    buckets: Vec<u32>,
    /// Position of each box among its level's members.
    places: Vec<u32>,
    heads: Vec<u32>,
    levels: Vec<GridLevel>,
}

impl HashedGrid {
    /// An empty grid for `n` boxes, with cells of edge `base` [m] on level 0.
    pub fn new(n: usize, base: f64) -> Self {
        let base = if base > 0.0 && base.is_finite() { base } else { 1.0 };
        Self {
            base,
            nodes: vec![GridEntry { key: CellKey::NOWHERE, level: 0, next: NONE }; n],
            buckets: vec![0; n],
            places: vec![NONE; n],
            heads: vec![NONE; (2 * n).next_power_of_two().max(16)],
            levels: Vec::new(),
        }
    }

    /// Inserts box `index` at `bounds`, or moves it there.
    pub fn insert(&mut self, index: u32, bounds: &Aabb) {
        let level = self.level_of(bounds.size().max());
        let [x, y, z] = self.coordinates(level, &bounds.centre());
        let key = CellKey::new(level, [x, y, z]);
        let old = self.nodes[index as usize];
        let bucket = column(level, x, y).wrapping_add(z as u64) as usize & (self.heads.len() - 1);
        let stored = old.key != CellKey::NOWHERE;
        // Cells that are far apart may have the same key.
        let same_cell = old.key == key && old.level == level;
        if same_cell && self.buckets[index as usize] as usize == bucket {
            return;
        }
        if stored {
            self.unlink(index);
        }
        self.nodes[index as usize] = GridEntry { key, level, next: self.heads[bucket] };
        self.heads[bucket] = index;
        self.buckets[index as usize] = bucket as u32;
        if !stored || old.level != level {
            if stored {
                self.leave(index, old.level);
            }
            self.join(index, level);
        }
    }

    /// Calls `visit` with every box that may overlap `bounds`, each once, in no particular order.
    pub fn visit(&self, bounds: &Aabb, mut visit: impl FnMut(u32)) {
        let mask = self.heads.len() - 1;
        for GridLevel { exponent, members } in &self.levels {
            if members.is_empty() {
                continue;
            }
            let near = bounds.inflated(0.5 * self.edge(*exponent));
            let low = self.coordinates(*exponent, &near.min);
            let high = self.coordinates(*exponent, &near.max);
            let cells = (0..3).map(|k| (high[k] as f64 - low[k] as f64) + 1.0).product::<f64>();
            // For a large box, testing all members is cheaper than visiting all the cells that it covers.
            if !(cells <= CELLS_PER_MEMBER * members.len() as f64) {
                members.iter().for_each(|&index| visit(index));
                continue;
            }
            for x in low[0]..=high[0] {
                for y in low[1]..=high[1] {
                    let start = column(*exponent, x, y);
                    for z in low[2]..=high[2] {
                        let key = CellKey::new(*exponent, [x, y, z]);
                        let mut index = self.heads[start.wrapping_add(z as u64) as usize & mask];
                        while index != NONE {
                            let node = &self.nodes[index as usize];
                            if node.key == key {
                                visit(index);
                            }
                            index = node.next;
                        }
                    }
                }
            }
        }
    }

    fn edge(&self, level: i32) -> f64 {
        self.base * 2f64.powi(level)
    }

    fn level_of(&self, extent: f64) -> i32 {
        let ratio = extent / self.base;
        if ratio > 0.0 && ratio.is_finite() { ratio.log2().ceil() as i32 } else { 0 }
    }

    fn coordinates(&self, level: i32, p: &Vector3<f64>) -> [i64; 3] {
        let scale = 1.0 / self.edge(level);
        [0, 1, 2].map(|k| (p[k] * scale).floor() as i64)
    }

    fn unlink(&mut self, index: u32) {
        let bucket = self.buckets[index as usize] as usize;
        let after = self.nodes[index as usize].next;
        let mut at = self.heads[bucket];
        if at == index {
            self.heads[bucket] = after;
            return;
        }
        while at != NONE {
            let next = self.nodes[at as usize].next;
            if next == index {
                self.nodes[at as usize].next = after;
                return;
            }
            at = next;
        }
    }

    fn join(&mut self, index: u32, exponent: i32) {
        let at = match self.levels.iter().position(|level| level.exponent == exponent) {
            Some(at) => at,
            None => {
                self.levels.push(GridLevel { exponent, members: Vec::new() });
                self.levels.len() - 1
            }
        };
        self.places[index as usize] = self.levels[at].members.len() as u32;
        self.levels[at].members.push(index);
    }

    fn leave(&mut self, index: u32, exponent: i32) {
        if let Some(level) = self.levels.iter_mut().find(|level| level.exponent == exponent) {
            let place = self.places[index as usize] as usize;
            level.members.swap_remove(place);
            if let Some(&moved) = level.members.get(place) {
                self.places[moved as usize] = place as u32;
            }
        }
    }
}

/// Looking up a cell costs about as much as testing this many boxes.
const CELLS_PER_MEMBER: f64 = 2.0;
