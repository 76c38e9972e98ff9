//! Recordings as files that can be looked at.
//!
//! A sink, see [`sink`], writes one kind of file. [`mesh`] turns shapes into triangles with normals, for all
//! of them; [`html`] writes the page that shows a recording in a browser, with [`pack`] for its
//! numbers; [`compare`] writes the report on several solvers.

#![forbid(unsafe_code)]
#![allow(clippy::neg_cmp_op_on_partial_ord)] // NaN must fail a test, not pass it
#![allow(rustdoc::broken_intra_doc_links)] // units and citations stand in brackets
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod compare;
mod error;
pub mod html;
pub mod mesh;
pub mod native;
pub mod pack;
pub mod sink;

pub use error::ViewError;
pub use sink::{SINKS, Sink, sink_of, write};
