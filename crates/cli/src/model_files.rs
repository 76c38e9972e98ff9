//! Files on disk for models, with a bar while signed distance fields of meshes are built.

use std::sync::{Arc, Mutex, PoisonError};

use indicatif::{ProgressBar, ProgressStyle};
use stiction_scene::Files;

/// Ticks of the bar for one field.
const TICKS: f64 = 1000.0;

/// Files on disk. The bar is silent in pipes.
pub fn model_files() -> Files {
    let mut files = Files::on_disk();
    let bar: Mutex<Option<ProgressBar>> = Mutex::new(None);
    files.fields.watch(Arc::new(move |part: f64| {
        let mut bar = bar.lock().unwrap_or_else(PoisonError::into_inner);
        let shown = bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template("distance field {bar:40} {percent} % {eta}");
            ProgressBar::new(TICKS as u64)
                .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        shown.set_position((part * TICKS) as u64);
        if part >= 1.0 {
            shown.finish_and_clear();
            *bar = None;
        }
    }));
    files
}
