//! Recordings as files that can be looked at.
//!
//! A sink, see [`sink`], writes one kind of file. [`mesh`] turns shapes into triangles with normals, for all
//! of them; [`html`] writes the page that shows a recording in a browser, with [`pack`] for its
//! numbers; [`raster`] draws what [`scenery`] says, for [`png`], [`gif`] and [`mp4`]; [`columns`]
//! names the numbers for [`npz`] and [`parquet`]; [`shot`] is what someone asks of pictures, [`place`]
//! where files go; [`compare`] writes the report on several solvers.

#![forbid(unsafe_code)]
#![allow(clippy::neg_cmp_op_on_partial_ord)] // NaN must fail a test, not pass it
#![allow(rustdoc::broken_intra_doc_links)] // units and citations stand in brackets
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod bounds;
pub mod columns;
pub mod compare;
pub mod crease;
mod error;
pub mod gif;
pub mod glb;
pub mod html;
pub mod mesh;
pub mod mp4;
pub mod native;
pub mod npz;
pub mod pack;
pub mod parquet;
pub mod place;
pub mod png;
pub mod raster;
pub mod scenery;
pub mod shot;
pub mod sink;

pub use error::ViewError;
pub use shot::Shot;
pub use sink::{FRAMES_PER_SECOND, Holds, SINKS, Sink, sink_of, write};
