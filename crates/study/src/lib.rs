//! Studies of scenes: scenarios with physical checks, runs summed up in figures, and comparisons of
//! solvers on the same scene.

#![forbid(unsafe_code)]
#![allow(non_snake_case)] // matrices keep the capitals of the papers
#![allow(clippy::neg_cmp_op_on_partial_ord)] // NaN must fail a test, not pass it
#![allow(clippy::needless_range_loop)] // loops over matrix indices read as the formulas do
#![allow(rustdoc::broken_intra_doc_links)] // units and citations stand in brackets
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod clock;
pub mod compare;
mod error;
mod parameters;
pub mod penalty;
pub mod run;
mod run_length;
pub mod scenarios;
mod source;
mod step_verdict;

pub use error::StudyError;
pub use parameters::{Parameter, Parameters};
pub use run::{StepTimes, Summary, run, run_observed};
pub use run_length::{NoSteps, RunLength};
pub use scenarios::{SCENARIOS, Scenario, scenario};
pub use source::SceneSource;
pub use step_verdict::MAX_FAILED_SHARE;
