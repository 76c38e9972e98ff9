//! Recordings: what happened in a run, as plain columns that every kind of output reads.
//!
//! A [`Recorder`] looks at a simulation after each step and keeps a frame when its time has come;
//! what it made is a [`Recording`], and [`container`] turns that into bytes that a crash cannot spoil.
//! Nothing here knows files, pictures or pages, and nothing here touches the simulation: a recorded
//! run has the same bits as one that nobody watches.

pub mod container;
mod error;
mod recorder;
mod recording;
mod seen;

pub use error::RecordError;
pub use recorder::Recorder;
pub use recording::{Contacts, Figures, Frames, Recording, Soft};
pub use seen::{Geometry, Seen, Triangles};
