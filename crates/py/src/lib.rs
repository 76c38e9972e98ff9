//! The Python package `stiction`: forwards to the engine, and knows no physics of its own.

#![forbid(unsafe_code)]
#![allow(non_snake_case)] // matrices keep the capitals of the papers

mod command;
mod contacts;
mod core;
mod error;
mod joint;
mod load;
mod mechanics;
mod model;
mod names;
mod recipe;
mod report;
mod simulation;
mod text;
mod views;

use pyo3::prelude::*;

/// The engine of the package `stiction`.
#[pymodule]
mod _native {
    #[pymodule_export]
    const __version__: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    use crate::command::main;
    #[pymodule_export]
    use crate::contacts::Contacts;
    #[pymodule_export]
    use crate::joint::Joint;
    #[pymodule_export]
    use crate::load::{load, loads, scenario, scenarios, solvers};
    #[pymodule_export]
    use crate::model::{_make_from_files, _make_scenario, Model};
    #[pymodule_export]
    use crate::report::StepReport;
    #[pymodule_export]
    use crate::simulation::Simulation;
}
