//! Robots made of primitive shapes, and common parts of their scenarios.

pub mod arm;
pub mod bar;
pub mod bottle_arm;
pub mod digit_reach;
pub mod digit_wrap;
pub mod energy_balance;
pub mod gripper;
pub mod hand;
pub mod hand_arm;
pub mod manipulator;
pub mod quadruped;
pub mod reach;
