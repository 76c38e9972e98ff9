//! Campaigns of mutated inputs: whatever bytes a reader gets, it answers with a value or an error, soon
//! and with bounded memory; it never panics.
//!
//! Mutations follow from a fixed seed. `STICTION_MUTANTS` sets the number of inputs per campaign. A
//! test target that installs [`PeakAllocator`] has its memory bounded as well.

use std::alloc::{GlobalAlloc, Layout, System};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Inputs of a campaign unless the environment says otherwise.
const FEW: usize = 400;
/// Largest time of the processor for one input.
const LONGEST: Duration = Duration::from_secs(5);
/// Time after which an input counts as a hang, however busy the machine is.
const HANG: Duration = Duration::from_secs(120);
/// Most memory that reading one input may take besides a multiple of its length [bytes].
const MOST_MEMORY: usize = 1 << 30;
/// Most memory per byte of the input.
const MEMORY_PER_BYTE: usize = 4096;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// The allocator of the system; knows how much is taken, and how much was at most.
pub struct PeakAllocator;

fn taken(size: usize) {
    let live = LIVE.fetch_add(size, Ordering::Relaxed) + size;
    PEAK.fetch_max(live, Ordering::Relaxed);
}

// SAFETY: every call is forwarded to the system's allocator unchanged.
unsafe impl GlobalAlloc for PeakAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        // SAFETY: the caller's guarantees are those that `System` requires.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        // SAFETY: the caller's guarantees are those that `System` requires.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's guarantees are those that `System` requires.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        taken(size);
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's guarantees are those that `System` requires.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// A sequence of numbers that follows from its seed.
#[derive(Clone, Debug)]
pub struct Sequence(u64);

impl Sequence {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn next_number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n`, which is not zero.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next_number() % n.max(1) as u64) as usize
    }
}

/// What stands where something else stood, in a file or among arguments.
pub const WORDS: &[&str] = &[
    "NaN",
    "inf",
    "-1",
    "0",
    "1e308",
    "-1e-308",
    "4294967295",
    "9223372036854775807",
    "1e20",
    "",
    "\"",
    "'",
    "<",
    ">",
    "/>",
    "&x;",
    "]]>",
    "<!--",
    "[",
    "]",
    "[[",
    "{",
    "=",
    ",",
    "\n",
    "\u{0}",
    "é",
    "../",
    "true",
    "*",
    "1 2 3",
    "[1, 2, 3]",
    "[[body]]",
    "copies",
    "x",
];

/// Numbers that replace four or eight bytes.
const NUMBERS: &[u64] =
    &[0, 1, 2, 0xff, 0xffff, u32::MAX as u64, u64::MAX, 1 << 31, 1 << 40, 0x7ff0_0000_0000_0000];

/// The bytes with some things wrong.
pub fn mutated(original: &[u8], sequence: &mut Sequence) -> Vec<u8> {
    let mut bytes = original.to_vec();
    for _ in 0..1 + sequence.below(4) {
        let n = bytes.len();
        let (a, b) = (sequence.below(n + 1), sequence.below(n + 1));
        let (low, high) = (a.min(b), a.max(b));
        match sequence.below(9) {
            0 => bytes.truncate(a),
            1 => drop(bytes.drain(low..high.min(low + 200))),
            2 => {
                let word = WORDS[sequence.below(WORDS.len())];
                let end = (a + sequence.below(12)).min(n);
                drop(bytes.splice(a..end, word.bytes()));
            }
            3 => {
                let piece = bytes[low..high.min(low + 300)].to_vec();
                let at = sequence.below(n + 1);
                drop(bytes.splice(at..at, piece));
            }
            4 | 5 if n > 0 => bytes[sequence.below(n)] ^= 1 << sequence.below(8),
            6 | 7 if n > 8 => {
                let width = if sequence.below(2) == 0 { 4 } else { 8 };
                let at = sequence.below(n - width + 1);
                let number = NUMBERS[sequence.below(NUMBERS.len())].to_le_bytes();
                bytes[at..at + width].copy_from_slice(&number[..width]);
            }
            _ => {
                // One number in the text becomes another.
                let digit = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
                if let Some(start) = bytes[a..].iter().position(digit).map(|k| a + k) {
                    let length = bytes[start..].iter().take_while(|byte| digit(byte)).count();
                    let word = WORDS[sequence.below(9)];
                    drop(bytes.splice(start..start + length, word.bytes()));
                }
            }
        }
    }
    bytes
}

/// Number of inputs of a campaign.
pub fn count() -> usize {
    let given = std::env::var("STICTION_MUTANTS").ok();
    given.and_then(|text| text.parse().ok()).unwrap_or(FEW)
}

/// Time of the processor that this thread has taken.
#[cfg(unix)]
fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

#[cfg(not(unix))]
fn thread_time() -> Duration {
    Duration::ZERO
}

/// Reads mutations of the corpus, in turn; panics at the first that panics, takes too long or too much
/// memory. `prepare` finishes a mutation, for example by a checksum. The input is kept in the folder
/// for temporary files, whose name the message has.
pub fn campaign(
    reader: &'static str,
    corpus: &[Vec<u8>],
    prepare: impl Fn(Vec<u8>) -> Vec<u8> + Send,
    read: impl Fn(&[u8]) + Send,
) {
    assert!(!corpus.is_empty(), "{reader}: expected some inputs");
    for input in corpus {
        read(input);
    }
    let kept =
        std::env::temp_dir().join(format!("stiction-mutant-{reader}-{}", std::process::id()));
    std::thread::scope(|scope| {
        let (begun, watch) = channel::<()>();
        let at = kept.clone();
        scope.spawn(move || {
            loop {
                match watch.recv_timeout(HANG) {
                    Ok(()) => {}
                    Err(RecvTimeoutError::Disconnected) => return,
                    Err(RecvTimeoutError::Timeout) => {
                        eprintln!("{reader}: an input takes more than {HANG:?}: {}", at.display());
                        std::process::exit(101);
                    }
                }
            }
        });
        let mut sequence = Sequence::new(0x5717_c710 ^ reader.len() as u64);
        for k in 0..count() {
            let mutant = mutated(&corpus[k % corpus.len()], &mut sequence);
            let mutant = prepare(mutant);
            let _ = std::fs::write(&kept, &mutant);
            let _ = begun.send(());
            try_one(reader, &mutant, &kept, &read);
        }
        drop(begun);
    });
    let _ = std::fs::remove_file(&kept);
}

fn try_one(reader: &str, mutant: &[u8], kept: &Path, read: &impl Fn(&[u8])) {
    let before = LIVE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let start = thread_time();
    let outcome = catch_unwind(AssertUnwindSafe(|| read(mutant)));
    let time = thread_time().saturating_sub(start);
    let memory = PEAK.load(Ordering::Relaxed).saturating_sub(before);
    let place = kept.display();
    assert!(outcome.is_ok(), "{reader}: panicked at the input {place}");
    assert!(time <= LONGEST, "{reader}: took {time:?} for the input {place}");
    let most = MOST_MEMORY + MEMORY_PER_BYTE * mutant.len();
    assert!(memory <= most, "{reader}: took {memory} bytes for the input {place}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutations_differ_and_follow_from_the_seed() {
        let original = b"position = [1, 2.5, 3]".repeat(4);
        let all = |seed| {
            let mut sequence = Sequence::new(seed);
            (0..50).map(|_| mutated(&original, &mut sequence)).collect::<Vec<_>>()
        };
        assert_eq!(all(1), all(1));
        assert!(all(1).iter().filter(|mutant| **mutant != original).count() > 40);
    }

    #[test]
    #[should_panic = "panicked at the input"]
    fn a_reader_that_panics_is_found() {
        campaign("panics", &[vec![0; 16]], |bytes| bytes, |bytes| assert_eq!(bytes, [0; 16]));
    }
}
