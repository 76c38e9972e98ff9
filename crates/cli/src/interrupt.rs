//! Ctrl-C, and requests to terminate: a run looks after each step whether it was asked to stop. Who
//! asks twice does not want to wait for what is still being written.

use std::sync::atomic::{AtomicBool, Ordering};

/// Exit status of a run that was stopped.
pub const STATUS: u8 = 130;

static ASKED: AtomicBool = AtomicBool::new(false);

/// Begins to listen. If that cannot be done, or is done already, the system's own way stays: the
/// process ends at once, and what was recorded is kept by its container.
pub fn listen() {
    ASKED.store(false, Ordering::Relaxed);
    let _ = ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(STATUS));
        }
    });
}

/// Whether someone asked to stop.
pub fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
