//! Shared by the tests over model files: a corpus, and two ways of damaging a text.

#![allow(dead_code)] // each test file uses a part

pub mod corpus;
pub mod damage;
pub mod mutation;
