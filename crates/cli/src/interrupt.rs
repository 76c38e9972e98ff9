//! Ctrl-C and requests to terminate: a run checks after each step whether a stop was requested. A
//! second signal ends the process at once, without waiting for pending writes. A closed terminal
//! (SIGHUP) is not handled here, so that `nohup` works.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Once};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_shutdown};

/// Exit status of an interrupted command.
pub const STATUS: u8 = 130;

static REQUESTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
static INSTALLED: Once = Once::new();

/// Installs the signal handlers. Where that fails, the default action stays: the process ends at
/// once, and the partial recording on disk remains readable.
pub fn install_handlers() {
    REQUESTED.store(false, Ordering::Relaxed);
    INSTALLED.call_once(|| {
        for signal in [SIGINT, SIGTERM] {
            // In this order: the shutdown handler must not see the flag that the first signal sets.
            let again = register_conditional_shutdown(signal, i32::from(STATUS), REQUESTED.clone());
            let _ = again.and_then(|_| register(signal, REQUESTED.clone()));
        }
    });
}

/// Lets a write beyond the limit of a file's size fail like one to a full disk; the default action of
/// the signal would end the process.
#[cfg(unix)]
pub fn report_file_limits() {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        // The flag is of no interest: the write returns the error.
        let _ = register(signal_hook::consts::SIGXFSZ, Arc::default());
    });
}

/// Nothing: such limits are Unix's.
#[cfg(not(unix))]
pub fn report_file_limits() {}

/// Whether a stop was requested.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}
