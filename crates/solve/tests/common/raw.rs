//! Problem files as the tests handle them: dense matrices, and damage to bytes.

use proptest::prelude::*;
use stiction_solve::file::Csr;

/// The matrix with all its zeros, row by row.
pub fn dense(matrix: &Csr) -> Vec<f64> {
    let mut dense = vec![0.0; matrix.rows * matrix.cols];
    for row in 0..matrix.rows {
        for (col, value) in matrix.row(row) {
            dense[row * matrix.cols + col] += value;
        }
    }
    dense
}

/// `J Jᵀ`, densely.
pub fn gram(j: &Csr) -> Vec<f64> {
    let transpose = j.transposed();
    let mut gram = vec![0.0; j.rows * j.rows];
    for (i, row) in gram.chunks_mut(j.rows).enumerate() {
        for (col, x) in j.row(i) {
            transpose.row(col).for_each(|(k, y)| row[k] += x * y);
        }
    }
    gram
}

/// Flips bytes at relative positions and cuts the end off.
pub fn damaged(bytes: &[u8], flips: &[(f64, u8)], keep: f64) -> Vec<u8> {
    let mut bytes = bytes[..(bytes.len() as f64 * keep) as usize].to_vec();
    for &(position, mask) in flips {
        let position = (bytes.len() as f64 * position) as usize;
        if let Some(byte) = bytes.get_mut(position) {
            *byte ^= mask;
        }
    }
    bytes
}

/// Random damage: positions and masks of flipped bytes, and the share of the file to keep.
pub fn damage() -> impl Strategy<Value = (Vec<(f64, u8)>, f64)> {
    let flips = prop::collection::vec((0.0..1.0f64, 1..=255u8), 0..8);
    (flips, prop_oneof![3 => Just(1.0), 1 => 0.0..1.0f64])
}
