//! Ctrl-C, and requests to terminate: a run looks after each step whether it was asked to stop. Who
//! asks twice does not want to wait for what is still being written. A terminal that goes away is no
//! such request: what was started to outlive it does.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Once};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_shutdown};

/// Exit status of a run that was stopped.
pub const STATUS: u8 = 130;

static ASKED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
static LISTENING: Once = Once::new();

/// Begins to listen. Where that cannot be done the system's own way stays: the process ends at once,
/// and what was recorded is kept by its container.
pub fn listen() {
    ASKED.store(false, Ordering::Relaxed);
    LISTENING.call_once(|| {
        for signal in [SIGINT, SIGTERM] {
            // In this order: the first signal finds nobody who has asked before.
            let again = register_conditional_shutdown(signal, i32::from(STATUS), ASKED.clone());
            let _ = again.and_then(|_| register(signal, ASKED.clone()));
        }
    });
}

/// Whether someone asked to stop.
pub fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
