//! Support for tests: trials that need data sets ([`data`]), an allocator that counts ([`allocation`])
//! and campaigns of mutated inputs ([`mutation`]). A development dependency of the other crates;
//! depends on none of them.

pub mod allocation;
pub mod data;
pub mod mutation;

pub use allocation::{CountingAllocator, allocations};
