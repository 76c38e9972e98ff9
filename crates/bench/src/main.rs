//! Benchmarks of Stiction.

fn main() {}
