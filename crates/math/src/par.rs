//! Parallel loops and sums whose results do not depend on the number of threads.
//!
//! Work is cut into chunks by its length alone, never by the number of threads, and sums are folded
//! along one fixed tree. Below a least length the same chunks are worked through on the calling
//! thread, so that small problems have no overhead. Threads are rayon's.

use rayon::prelude::*;

/// Calls `f(first index, chunk)` for consecutive chunks of at most `chunk` items, in parallel if
/// there are at least `parallel_from` items. Chunks are disjoint, so that `f` may write to its own.
pub fn for_each_chunk<T: Send>(
    items: &mut [T],
    chunk: usize,
    parallel_from: usize,
    f: impl Fn(usize, &mut [T]) + Send + Sync,
) {
    let chunk = chunk.max(1);
    if items.len() < parallel_from.max(2) || items.len() <= chunk {
        for (k, part) in items.chunks_mut(chunk).enumerate() {
            f(k * chunk, part);
        }
    } else {
        let parts = items.par_chunks_mut(chunk).enumerate();
        parts.for_each(|(k, part)| f(k * chunk, part));
    }
}

/// Calls `f(k, piece)` for the consecutive pieces of `items` that end at `ends`, in parallel if there
/// are at least `parallel_from` pieces. For pieces of unequal length, such as the bodies' velocities.
///
/// # Panics
/// If `ends` is not increasing up to at most the number of items.
pub fn for_each_piece<T: Send>(
    items: &mut [T],
    ends: &[usize],
    parallel_from: usize,
    f: impl Fn(usize, &mut [T]) + Send + Sync,
) {
    let parallel = ends.len() >= parallel_from.max(2);
    halve_pieces(items, 0, ends, 0, parallel, &f);
}

fn halve_pieces<T: Send>(
    items: &mut [T],
    begin: usize,
    ends: &[usize],
    first: usize,
    parallel: bool,
    f: &(impl Fn(usize, &mut [T]) + Send + Sync),
) {
    let Some(&end) = ends.first() else { return };
    if ends.len() == 1 {
        f(first, &mut items[..end - begin]);
        return;
    }
    let (left, right) = ends.split_at(ends.len() / 2);
    let middle = left[left.len() - 1];
    let (head, tail) = items.split_at_mut(middle - begin);
    let next = first + left.len();
    let on_left = |head| halve_pieces(head, begin, left, first, parallel, f);
    let on_right = |tail| halve_pieces(tail, middle, right, next, parallel, f);
    if parallel {
        rayon::join(|| on_left(head), || on_right(tail));
    } else {
        on_left(head);
        on_right(tail);
    }
}

/// Folds `map(range)` over the chunks of 0..n along one fixed binary tree, in parallel if `n` is at
/// least `parallel_from`. The tree depends on `n` and `chunk` only, and so do the bits of the result.
pub fn reduce<T: Send>(
    n: usize,
    chunk: usize,
    parallel_from: usize,
    map: impl Fn(std::ops::Range<usize>) -> T + Send + Sync,
    combine: impl Fn(T, T) -> T + Send + Sync,
) -> T {
    halve_range(0..n, chunk.max(1), n >= parallel_from, &map, &combine)
}

fn halve_range<T: Send>(
    range: std::ops::Range<usize>,
    chunk: usize,
    parallel: bool,
    map: &(impl Fn(std::ops::Range<usize>) -> T + Send + Sync),
    combine: &(impl Fn(T, T) -> T + Send + Sync),
) -> T {
    let n_chunks = range.len().div_ceil(chunk);
    if n_chunks <= 1 {
        return map(range);
    }
    let middle = range.start + n_chunks / 2 * chunk;
    let on_left = || halve_range(range.start..middle, chunk, parallel, map, combine);
    let on_right = || halve_range(middle..range.end, chunk, parallel, map, combine);
    let (left, right) =
        if parallel { rayon::join(on_left, on_right) } else { (on_left(), on_right()) };
    combine(left, right)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    fn with_threads<T: Send>(n: usize, f: impl FnOnce() -> T + Send) -> T {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
        pool.install(f)
    }

    #[test]
    fn a_sum_has_the_same_bits_for_every_number_of_threads() {
        let x = SplitMix64::new(61).values(10_007);
        let sum = |parallel_from| {
            let map = |range: std::ops::Range<usize>| x[range].iter().sum::<f64>();
            reduce(x.len(), 64, parallel_from, map, |a, b| a + b)
        };
        let serial = sum(usize::MAX);
        for n in [1, 2, 8] {
            assert_eq!(with_threads(n, || sum(0)).to_bits(), serial.to_bits());
        }
    }

    #[test]
    fn the_fold_keeps_the_order_of_its_chunks() {
        for n in [0, 1, 5, 64, 1000] {
            let list = reduce(n, 7, 0, |r| r.collect::<Vec<_>>(), |a, b| [a, b].concat());
            assert_eq!(list, (0..n).collect::<Vec<_>>());
        }
    }

    #[test]
    fn every_chunk_and_every_piece_is_visited_once_with_its_place() {
        for parallel_from in [0, usize::MAX] {
            let mut items = vec![0; 1003];
            for_each_chunk(&mut items, 10, parallel_from, |first, part| {
                part.iter_mut().enumerate().for_each(|(k, x)| *x += first + k);
            });
            assert_eq!(items, (0..1003).collect::<Vec<_>>());

            let mut items = vec![usize::MAX; 10];
            for_each_piece(&mut items, &[2, 2, 7, 9], parallel_from, |k, part| part.fill(k));
            assert_eq!(items, [0, 0, 2, 2, 2, 2, 2, 3, 3, usize::MAX]);
        }
    }
}
