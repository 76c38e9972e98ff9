//! Mutations of the text of a model, and reading them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

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

/// A generator of numbers that follow from a seed.
pub struct Chance(pub u64);

impl Chance {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `end`, 0 if there is none.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() >> 11) as usize % end.max(1)
    }

    pub fn of<'a, T: ?Sized>(&mut self, things: &[&'a T]) -> &'a T {
        things[self.below(things.len())]
    }
}

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
fn cut(text: &str, chance: &mut Chance) -> usize {
    let mut at = chance.below(text.len() + 1);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The text with one thing wrong.
pub fn mutated(text: &str, chance: &mut Chance) -> String {
    let span = |chance: &mut Chance, longest: usize| {
        let from = cut(text, chance);
        let mut to = (from + 1 + chance.below(longest)).min(text.len());
        while !text.is_char_boundary(to) {
            to += 1;
        }
        (from, to)
    };
    let line = |chance: &mut Chance| {
        let starts: Vec<usize> =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let which = chance.below(starts.len());
        (starts[which], starts.get(which + 1).copied().unwrap_or(text.len()))
    };
    if values(text).is_empty() || words(text).is_empty() {
        return text.to_owned();
    }
    match chance.below(10) {
        0 => text[..cut(text, chance)].to_owned(),
        1 => {
            let span = span(chance, 40);
            replaced(text, span, "")
        }
        2 => {
            let (from, to) = span(chance, 200);
            replaced(text, (to, to), &text[from..to])
        }
        3 => {
            let line = line(chance);
            replaced(text, line, "")
        }
        4 => {
            let (from, to) = line(chance);
            replaced(text, (to, to), &text[from..to])
        }
        5 => {
            let found = values(text);
            let (one, other) = (found[chance.below(found.len())], found[chance.below(found.len())]);
            replaced(text, one, &text[other.0..other.1])
        }
        6 | 7 => {
            let found = values(text);
            let stranger = chance.of(&STRANGERS);
            replaced(text, found[chance.below(found.len())], stranger)
        }
        8 => {
            // One of several numbers.
            let found = values(text);
            let (from, to) = found[chance.below(found.len())];
            let mut parts: Vec<&str> = text[from..to].split(' ').collect();
            let which = chance.below(parts.len());
            parts[which] = chance.of(&STRANGERS);
            replaced(text, (from, to), &parts.join(" "))
        }
        _ => {
            let found = words(text);
            let (one, other) = (found[chance.below(found.len())], found[chance.below(found.len())]);
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
            let names_a_file = [".xml", ".obj", ".stl", ".png"].iter().any(|e| message.contains(e));
            assert!(names_a_file, "no file in: {message}\n{text}");
            false
        }
        Err(_) => panic!("the reader panicked at\n{text}"),
    }
}
