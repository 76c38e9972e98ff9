//! An allocator that counts its calls, for tests of code that must not allocate.
//!
//! A test target installs it with
//! `#[global_allocator] static ALLOCATOR: CountingAllocator = CountingAllocator;`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use std::sync::Once;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

/// The allocator of the system; counts the calls of each thread.
pub struct CountingAllocator;

fn count() {
    // The counter of a thread that is ending is gone already; its calls need no count.
    let _ = COUNT.try_with(|c| c.set(c.get() + 1));
}

// SAFETY: every call is forwarded to the system's allocator unchanged.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's guarantees are those that `System` requires.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's guarantees are those that `System` requires.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's guarantees are those that `System` requires.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Number of calls to `alloc` and `realloc` by the calling thread so far. Panics unless the test
/// target installed [`CountingAllocator`]: a count that stays zero would let every test pass.
pub fn allocations() -> usize {
    static CHECKED: Once = Once::new();
    CHECKED.call_once(|| {
        let before = COUNT.with(Cell::get);
        drop(black_box(Box::new(0_u8)));
        assert!(
            COUNT.with(Cell::get) > before,
            "expected CountingAllocator as #[global_allocator]"
        );
    });
    COUNT.with(Cell::get)
}

#[cfg(test)]
mod tests {
    #[test]
    #[should_panic = "expected CountingAllocator"]
    fn a_count_without_the_allocator_is_refused() {
        let _ = super::allocations();
    }
}
