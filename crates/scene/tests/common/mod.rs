//! Shared by the tests over model files: two ways of damaging a text.

#![allow(dead_code)] // each test file uses a part

pub mod damage;
pub mod mutation;
