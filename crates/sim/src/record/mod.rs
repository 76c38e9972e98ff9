//! Recordings: the history of a run as plain columns, which all exporters read.
//!
//! A [`Recorder`] reads a simulation after each step and stores a frame when one is due. The result is
//! a [`Recording`]; [`container`] encodes it as bytes that stay readable after a crash. This module
//! writes no files and does not change the simulation: a recorded run is equal to the bit to one that
//! is not recorded.

pub mod container;
mod error;
mod patches;
mod recorder;
mod recording;
mod visual_shape;

pub use error::RecordError;
pub use patches::{MOST_POLYGONS, RecordedPatches};
pub use recorder::{Recorder, append_soft_vertices};
pub use recording::{Contacts, FrameStatistics, Frames, RecordedSoftBody, Recording};
pub use visual_shape::{Geometry, Triangles, VisualShape};
