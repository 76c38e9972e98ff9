//! Exporters of recordings: interactive page, pictures, videos, 3-D models and tables.
//!
//! An [`exporter`] writes one file format. [`mesh`] turns shapes into triangles with normals for all
//! of them. [`html`] writes the page that shows a recording in a browser; [`pack`] compresses its
//! numbers. [`raster`] draws the [`draw_list`] at poses from [`interpolation`] for [`png`], [`gif`] and
//! [`mp4`]; [`camera_image`] draws what a camera in a simulation sees; [`picture_options`] holds the user's options for these. [`columns`] names the numbers for
//! [`npz`] and [`parquet`]. [`output_file`] replaces files atomically. [`compare`] writes the report on
//! several solvers.

#![forbid(unsafe_code)]
#![allow(clippy::neg_cmp_op_on_partial_ord)] // NaN must fail a test, not pass it
#![allow(rustdoc::broken_intra_doc_links)] // units and citations stand in brackets
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod bounds;
pub mod camera_image;
pub mod columns;
pub mod compare;
pub mod crease;
pub mod draw_list;
mod error;
pub mod exporter;
pub mod gif;
pub mod glb;
pub mod html;
pub mod interpolation;
pub mod mesh;
pub mod mp4;
pub mod native;
pub mod npz;
pub mod output_file;
pub mod pack;
pub mod parquet;
pub mod picture_options;
pub mod png;
pub mod raster;

pub use error::ViewError;
pub use exporter::{EXPORTERS, ExportContent, Exporter, FRAMES_PER_SECOND, exporter_for, write};
pub use picture_options::PictureOptions;
