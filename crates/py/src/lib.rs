//! The Python package `stiction`: forwards to the engine, and knows no physics of its own.

use pyo3::prelude::*;

/// The engine of the package `stiction`.
#[pymodule]
mod _native {
    #[pymodule_export]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
