//! The experiments of the paper on CANAL and SubADMM [Lee25, Sec. VII].

pub mod cases;
