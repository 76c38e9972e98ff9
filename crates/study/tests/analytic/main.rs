//! Motions with closed forms, run through the whole step: sliding, rolling, tipping, resting,
//! bouncing, oscillating. And what must be survived.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
mod impact;
mod near_rigid;
mod rest;
mod scenarios;
mod scheme;
mod slide;
mod spring_cylinder;
mod survive;
mod virtual_nodes;
