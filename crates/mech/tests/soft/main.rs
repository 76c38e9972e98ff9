//! Soft bodies: elements, masses, static and moving solids, bad input.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::needless_range_loop)] // loops over matrix indices read as the formulas do
#![allow(non_snake_case)] // matrices keep the capitals of the papers

mod bad_input;
mod cantilever;
#[path = "../common/mod.rs"]
mod common;
mod element;
mod mesh;
mod model;
mod threads;
