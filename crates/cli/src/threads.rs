//! The thread pool of a command.

use crate::error::CommandError;

/// Runs `work` in a pool of `count` threads, or of as many as the machine has. Parallel loops inside
/// a pool start without waking another thread first.
pub fn run_in_pool<T: Send>(
    count: Option<u16>,
    work: impl FnOnce() -> T + Send,
) -> Result<T, CommandError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(count.map_or(0, usize::from)).build();
    let pool_error = |error: rayon::ThreadPoolBuildError| CommandError::Threads {
        count: count.map_or_else(|| "default".to_owned(), |count| count.to_string()),
        reason: error.to_string(),
    };
    Ok(pool.map_err(pool_error)?.install(work))
}
