//! Mutated MJCF: whatever a file says, reading it ends with a model or with an error that names a
//! file; it never panics and never grows without bounds.
//!
//! The corpus is a text that uses every section; the target `data` mutates models of real robots.
//! Mutations follow from a fixed seed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::path::Path;

use common::corpus::EVERYTHING;
use common::mutation::{OBJ, mutated, read};
use stiction_math::random::SplitMix64;
use stiction_scene::Files;

#[test]
fn mutations_of_a_text_that_uses_everything_are_read_or_refused() {
    let mut files = Files::in_memory();
    files.insert("assets/tetra.obj", OBJ.as_bytes());
    let path = Path::new("everything.xml");
    assert!(read(&files, path, EVERYTHING), "the text itself is fine");
    let mut rng = SplitMix64::new(0x9E37_79B9_7F4A_7C15);
    let mut fine = 0;
    for _ in 0..4000 {
        let mut text = mutated(EVERYTHING, &mut rng);
        if rng.below(4) == 0 {
            text = mutated(&text, &mut rng);
        }
        fine += usize::from(read(&files, path, &text));
    }
    // Both outcomes occur: many values may change without harm.
    assert!(fine > 200 && fine < 3800, "{fine}");
}
