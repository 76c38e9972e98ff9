//! A progress bar, shown only on a terminal.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar for a number of tasks. Draws on standard error, and only on a terminal.
pub fn bar(count: usize) -> ProgressBar {
    let bar = ProgressBar::new(count as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {eta} {wide_msg}") {
        bar.set_style(style);
    }
    bar
}
