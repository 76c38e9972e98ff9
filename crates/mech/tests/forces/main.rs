//! Forces on mechanisms against closed forms, energies and finite differences.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, non_snake_case)]
#![allow(clippy::needless_range_loop)] // one loop over velocities indexes several arrays

mod actuators;
mod bad_input;
mod joints;
mod mechanism;
mod tendons;
mod wrenches;
