//! The frictional contact problem and its solvers.

pub mod file;
