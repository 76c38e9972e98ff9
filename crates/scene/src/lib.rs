//! Scenes from files: models of robots and their surroundings, how they begin, are driven and checked.

#![forbid(unsafe_code)]
#![allow(non_snake_case)] // matrices keep the capitals of the papers
#![allow(clippy::neg_cmp_op_on_partial_ord)] // NaN must fail a test, not pass it
#![allow(clippy::needless_range_loop)] // loops over matrix indices read as the formulas do
#![allow(rustdoc::broken_intra_doc_links)] // units and citations stand in brackets
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod claim;
mod error;
pub mod field_cache;
pub mod files;
pub mod import;
pub mod mesh_file;
pub mod mjcf;
pub mod native;
pub mod pose_follower;
mod scene;
pub mod signal;
pub mod urdf;
pub mod visual_shapes;
pub mod xml;

pub use error::SceneError;
pub use field_cache::FieldCache;
pub use files::Files;
pub use import::{FORMATS, Imported, load, load_with};
pub use scene::{Check, Controller, Scene, SceneRun, Verdict};
