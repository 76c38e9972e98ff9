//! Support for tests: trials that need data sets ([`data`]) and an allocator that counts
//! ([`allocation`]). A development dependency of the other crates; depends on none of them.

pub mod allocation;
pub mod data;

pub use allocation::{CountingAllocator, allocations};
