//! CPU time of the process, so that a busy machine does not pass for a slow simulation.

use std::time::Duration;

/// CPU time of all threads since the process began; `None` where the system does not tell.
#[cfg(unix)]
pub fn cpu_time() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(Duration::new(u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?))
}

/// CPU time of all threads since the process began; `None` where the system does not tell.
#[cfg(not(unix))]
pub fn cpu_time() -> Option<Duration> {
    None
}
