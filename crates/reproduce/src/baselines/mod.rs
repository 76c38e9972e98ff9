//! Baseline methods as described in [Lee23, Secs. V-C and V-E] and [Castro22, Sec. VI-A], for comparison only.
//!
//! The contact solvers implement `Solver` and run in a [`Session`](stiction_solve::Session); the rod of
//! position-based dynamics is a simulator of its own.

pub mod apgd;
pub mod ccs;
pub mod delassus;
pub mod interior_point;
pub mod pbd_body;
pub mod pbd_rod;
pub mod pgs;
pub mod second_order_cone;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Time that a solver spends before its first iteration, shared with the caller while the session owns
/// the solver.
#[derive(Clone, Debug, Default)]
pub struct PreparationTime(Arc<AtomicU64>);

impl PreparationTime {
    /// Adds a time.
    pub fn add(&self, time: Duration) {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.0.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// All of it since the last call [s].
    pub fn take(&self) -> f64 {
        1e-9 * self.0.swap(0, Ordering::Relaxed) as f64
    }
}

/// Euclidean norm.
pub(crate) fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}
