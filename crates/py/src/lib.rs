//! The Python package `stiction`: bindings to the Rust crates, without physics of its own.

#![forbid(unsafe_code)]
#![allow(non_snake_case)] // matrices keep the capitals of the papers

mod arrays;
mod checked_problem;
mod command;
mod compare;
mod configuration;
mod contacts;
mod core;
mod error;
mod handles;
mod joint;
mod load;
mod lookup;
mod matrix;
mod mechanics;
mod memory;
mod model;
mod model_source;
mod parameters;
mod problem;
mod queries;
mod record;
mod render;
mod report;
mod rollout;
mod settings;
mod simulation;
mod soft;
mod solve;
mod solver;
mod state;
mod views;
mod visuals;

use pyo3::prelude::*;

/// The engine of the package `stiction`.
#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    #[allow(non_upper_case_globals)] // a name of Python
    const __version__: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    use crate::command::main;
    #[pymodule_export]
    use crate::compare::{Comparison, compare};
    #[pymodule_export]
    use crate::contacts::{ContactPatch, Contacts};
    #[pymodule_export]
    use crate::handles::{ActuatorHandle, BodyHandle, GeomHandle, JointHandle};
    #[pymodule_export]
    use crate::joint::Joint;
    #[pymodule_export]
    use crate::load::{load, loads, scenario, scenarios, solvers};
    #[pymodule_export]
    use crate::model::{_make_from_files, _make_scenario, Model};
    #[pymodule_export]
    use crate::parameters::parameters;
    #[pymodule_export]
    use crate::problem::{_make_problem, Problem};
    #[pymodule_export]
    use crate::record::{Recording, load_recording};
    #[pymodule_export]
    use crate::report::StepReport;
    #[pymodule_export]
    use crate::rollout::rollout;
    #[pymodule_export]
    use crate::simulation::Simulation;
    #[pymodule_export]
    use crate::soft::{CableHandle, SoftHandle};
    #[pymodule_export]
    use crate::solve::solve;
    #[pymodule_export]
    use crate::state::{_make_state, State};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::parameters::add_properties(module.py())
    }
}
