//! Mechanisms of the house made of primitives, and what their scenarios share.

pub mod arm;
pub mod bar;
pub mod hand;
pub mod ledger;
pub mod quadruped;
