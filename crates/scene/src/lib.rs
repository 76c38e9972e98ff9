//! Scenes from files, and the gallery of scenarios.

#![forbid(unsafe_code)]
#![allow(non_snake_case)] // matrices keep the capitals of the papers
#![allow(clippy::neg_cmp_op_on_partial_ord)] // NaN must fail a test, not pass it
#![allow(clippy::needless_range_loop)] // loops over matrix indices read as the formulas do
#![allow(rustdoc::broken_intra_doc_links)] // units and citations stand in brackets
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod claim;
pub mod clock;
pub mod compare;
mod error;
pub mod files;
pub mod gallery;
pub mod import;
pub mod mesh_file;
pub mod mjcf;
pub mod native;
mod parameters;
pub mod penalty;
pub mod run;
pub mod seen;
pub mod signal;
mod stage;
pub mod urdf;
pub mod xml;

pub use error::SceneError;
pub use files::Files;
pub use gallery::{GALLERY, Scenario, scenario};
pub use import::{FORMATS, Imported, load, load_with};
pub use parameters::{Parameter, Parameters};
pub use run::{StepTimes, Summary, Tally, run, run_watched};
pub use stage::{Act, Check, Controller, Stage, Verdict};
