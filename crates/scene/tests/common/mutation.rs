//! Mutations of the text of a model, and reading them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use stiction_math::random::SplitMix64;

use stiction_scene::Files;
use stiction_scene::import::{Options, load_with};

/// A tetrahedron as the text of an OBJ file.
pub const OBJ: &str =
    "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 0.1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

/// Numbers, words and other things that do not belong where they are put.
const STRANGERS: [&str; 20] = [
    "NaN",
    "inf",
    "-inf",
    "1e308",
    "-1e308",
    "1e-308",
    "-1",
    "0",
    "",
    " ",
    "1e999",
    "99999999999",
    "-2147483648",
    "true",
    "x",
    "1 2",
    "1 1 1 1 1 1 1 1 1 1 1 1",
    "mesh",
    "&#0;",
    "../../etc",
];

/// Places of what stands between quotes.
fn values(text: &str) -> Vec<(usize, usize)> {
    let quotes: Vec<usize> = text.match_indices('"').map(|(at, _)| at).collect();
    quotes.chunks_exact(2).map(|pair| (pair[0] + 1, pair[1])).collect()
}

/// Places of words: tags, names of attributes, values.
fn words(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, letter) in text.char_indices() {
        match (letter.is_ascii_alphanumeric() || letter == '_', start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                found.push((from, at));
                start = None;
            }
            _ => {}
        }
    }
    found
}

fn replaced(text: &str, (from, to): (usize, usize), by: &str) -> String {
    format!("{}{by}{}", &text[..from], &text[to..])
}

/// A place between letters.
fn cut(text: &str, rng: &mut SplitMix64) -> usize {
    let mut at = rng.below(text.len() + 1);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The text with one thing wrong.
pub fn mutated(text: &str, rng: &mut SplitMix64) -> String {
    let span = |rng: &mut SplitMix64, longest: usize| {
        let from = cut(text, rng);
        let mut to = (from + 1 + rng.below(longest)).min(text.len());
        while !text.is_char_boundary(to) {
            to += 1;
        }
        (from, to)
    };
    let line = |rng: &mut SplitMix64| {
        let starts: Vec<usize> =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let which = rng.below(starts.len());
        (starts[which], starts.get(which + 1).copied().unwrap_or(text.len()))
    };
    if values(text).is_empty() || words(text).is_empty() {
        return text.to_owned();
    }
    match rng.below(10) {
        0 => text[..cut(text, rng)].to_owned(),
        1 => {
            let span = span(rng, 40);
            replaced(text, span, "")
        }
        2 => {
            let (from, to) = span(rng, 200);
            replaced(text, (to, to), &text[from..to])
        }
        3 => {
            let line = line(rng);
            replaced(text, line, "")
        }
        4 => {
            let (from, to) = line(rng);
            replaced(text, (to, to), &text[from..to])
        }
        5 => {
            let found = values(text);
            let (one, other) = (found[rng.below(found.len())], found[rng.below(found.len())]);
            replaced(text, one, &text[other.0..other.1])
        }
        6 | 7 => {
            let found = values(text);
            let stranger = STRANGERS[rng.below(STRANGERS.len())];
            replaced(text, found[rng.below(found.len())], stranger)
        }
        8 => {
            // One of several numbers.
            let found = values(text);
            let (from, to) = found[rng.below(found.len())];
            let mut parts: Vec<&str> = text[from..to].split(' ').collect();
            let which = rng.below(parts.len());
            parts[which] = STRANGERS[rng.below(STRANGERS.len())];
            replaced(text, (from, to), &parts.join(" "))
        }
        _ => {
            let found = words(text);
            let (one, other) = (found[rng.below(found.len())], found[rng.below(found.len())]);
            replaced(text, one, &text[other.0..other.1])
        }
    }
}

/// Reads a text among files; panics with the text of the mutation if the reader does.
pub fn read(files: &Files, path: &Path, text: &str) -> bool {
    let mut files = files.clone();
    files.insert(path, text.as_bytes());
    let outcome = catch_unwind(AssertUnwindSafe(|| load_with(files, path, &Options::default())));
    match outcome {
        Ok(Ok(model)) => {
            assert!(model.world.model().q0().iter().all(|q| q.is_finite()), "{text}");
            true
        }
        Ok(Err(error)) => {
            let message = error.to_string();
            let folder = path.parent().map(|folder| folder.display().to_string());
            let names_a_file = [".xml", ".obj", ".stl", ".png"].iter().any(|e| message.contains(e))
                || folder.is_some_and(|folder| !folder.is_empty() && message.contains(&folder));
            assert!(names_a_file, "no file in: {message}\n{text}");
            false
        }
        Err(_) => panic!("the reader panicked at\n{text}"),
    }
}
