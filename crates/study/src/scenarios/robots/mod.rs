//! Mechanisms of the house made of primitives, and what their scenarios share.

pub mod arm;
pub mod bar;
pub mod gripper;
pub mod hand;
pub mod ledger;
pub mod manipulator;
pub mod quadruped;
pub mod reach;
