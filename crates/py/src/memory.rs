//! Arrays whose size a caller chooses: checked before memory is taken, since a failed allocation ends
//! the process.

use pyo3::prelude::*;

use crate::error;

/// Part of the available memory that one request may take [-].
const PART: f64 = 0.75;
/// Memory that counts as available where the system does not say [bytes].
const UNKNOWN: u64 = 1 << 34;
/// Numbers that fit in any case.
const FEW: usize = 1 << 20;

/// Refuses an array of numbers with these extents, `copies` times, if it does not fit into memory.
/// `what` names the request in the message.
pub fn check(what: &str, extents: &[usize], copies: usize) -> PyResult<()> {
    let size = size_of::<f64>().checked_mul(copies);
    let bytes = extents.iter().try_fold(size, |bytes, n| Some(bytes?.checked_mul(*n))).flatten();
    let most = (PART * available() as f64) as u64;
    match bytes.map(|bytes| bytes as u64) {
        Some(bytes) if bytes <= most => Ok(()),
        found => {
            let found = found.map_or_else(
                || "more bytes than can be counted".to_owned(),
                |bytes| format!("{bytes} bytes"),
            );
            Err(error::setting(format!(
                "{what} takes {found}; expected at most {most}, of the memory that is available"
            )))
        }
    }
}

/// Refuses a sequence or an array of Python whose numbers do not fit into memory: an array may be a view that repeats
/// few numbers often.
pub fn check_given(what: &str, given: &Bound<'_, PyAny>) -> PyResult<()> {
    let size = given.getattr("size").and_then(|size| size.extract::<usize>());
    let n = size.or_else(|_| given.len()).unwrap_or(0);
    if n <= FEW { Ok(()) } else { check(what, &[n], 2) }
}

/// Memory that can be taken without swapping [bytes].
fn available() -> u64 {
    let of_machine = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
    });
    let number = |path: &str| {
        let text = std::fs::read_to_string(path).ok()?;
        text.trim().parse::<u64>().ok()
    };
    // The limit of a container, if there is one.
    let of_group = number("/sys/fs/cgroup/memory.max")
        .zip(number("/sys/fs/cgroup/memory.current"))
        .map(|(most, taken)| most.saturating_sub(taken));
    let found = [of_machine, of_group].into_iter().flatten().min();
    found.unwrap_or(UNKNOWN)
}
