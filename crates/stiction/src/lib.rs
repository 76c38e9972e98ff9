//! Multibody simulation: the facade.

pub use stiction_solve as solve;
