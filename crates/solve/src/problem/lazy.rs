//! A value that is computed on first use, and recomputed in the same memory after a reset.
//!
//! Used for the factorization of a large A and for the free motion, which only some solvers read.
//! Several threads may request the value at once: one computes it, the others wait.

use std::sync::{Mutex, OnceLock, PoisonError};

/// A value computed on first use.
#[derive(Debug)]
pub(super) struct Lazy<T> {
    ready: OnceLock<T>,
    spare: Mutex<Option<T>>,
}

impl<T> Default for Lazy<T> {
    fn default() -> Self {
        Self { ready: OnceLock::new(), spare: Mutex::new(None) }
    }
}

impl<T: Clone> Clone for Lazy<T> {
    fn clone(&self) -> Self {
        Self { ready: self.ready.clone(), spare: Mutex::new(None) }
    }
}

impl<T> Lazy<T> {
    /// The value; computed by `make` if absent, which may reuse the memory of the previous value.
    pub fn get(&self, make: impl FnOnce(Option<T>) -> T) -> &T {
        self.ready.get_or_init(|| {
            let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
            make(spare.take())
        })
    }

    /// The value, if it has been computed.
    pub fn ready(&self) -> Option<&T> {
        self.ready.get()
    }

    /// Takes the memory of the previous value.
    pub fn take_memory(&mut self) -> Option<T> {
        self.spare.get_mut().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Keeps memory for the next value.
    pub fn give_memory(&mut self, memory: T) {
        *self.spare.get_mut().unwrap_or_else(PoisonError::into_inner) = Some(memory);
    }

    /// Discards the value; keeps its memory for the next one.
    pub fn reset(&mut self) {
        if let Some(old) = self.ready.take() {
            self.give_memory(old);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_made_once_and_again_from_the_last_one() {
        let mut lazy = Lazy::default();
        assert_eq!(lazy.ready(), None);
        assert_eq!(*lazy.get(|old| old.map_or(1, |x: i32| x + 1)), 1);
        assert_eq!(*lazy.get(|_| 7), 1);
        lazy.reset();
        assert_eq!(lazy.ready(), None);
        assert_eq!(*lazy.get(|old| old.map_or(1, |x| x + 1)), 2);
    }
}
