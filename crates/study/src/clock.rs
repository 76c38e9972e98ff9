//! CPU time of the process, which depends less on the load of the machine than wall time.

use std::time::Duration;

/// CPU time of all threads since the start of the process; `None` where the system does not provide it.
#[cfg(unix)]
pub fn cpu_time() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(Duration::new(u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?))
}

/// CPU time of all threads since the start of the process; `None` where the system does not provide it.
#[cfg(not(unix))]
pub fn cpu_time() -> Option<Duration> {
    None
}
