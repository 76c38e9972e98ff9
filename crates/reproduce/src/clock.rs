//! CPU time, which other programs on the machine do not increase.
//!
//! Wall time is used where the system does not report CPU time.

use std::time::{Duration, Instant};

use stiction_study::clock::cpu_time;

/// Measures the wall time and the CPU time of all threads since its start.
pub struct Stopwatch {
    wall: Instant,
    cpu: Option<Duration>,
}

impl Stopwatch {
    /// Starts.
    pub fn start() -> Self {
        Self { wall: Instant::now(), cpu: cpu_time() }
    }

    /// CPU time over wall time [-]: below one on a busy machine, above one with several threads.
    pub fn share(&self) -> f64 {
        let wall = self.wall.elapsed().as_secs_f64();
        match (self.cpu, cpu_time()) {
            (Some(before), Some(now)) if wall > 0.0 => {
                now.saturating_sub(before).as_secs_f64() / wall
            }
            _ => 1.0,
        }
    }
}

/// CPU time of all threads since an arbitrary origin [s]; only differences are meaningful.
pub fn cpu_seconds() -> f64 {
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    cpu_time().unwrap_or_else(|| START.elapsed()).as_secs_f64()
}
