//! TOML with source locations: every value has its line, every table records which keys were read.
//!
//! Readers get keys by name and end with [`Table::finish`], which refuses keys that were not read
//! and names what could have stood there.

use std::cell::RefCell;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nalgebra::Vector3;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::SceneError;
use crate::xml::SourceLocation;

/// A text and its name.
pub(super) struct SourceText {
    text: String,
    file: Arc<PathBuf>,
    /// Where its lines begin.
    lines: Vec<usize>,
}

impl SourceText {
    pub fn new(text: String, path: &Path) -> Self {
        let starts = text.match_indices('\n').map(|(at, _)| at + 1);
        let lines = std::iter::once(0).chain(starts).collect();
        Self { text, file: Arc::new(path.to_path_buf()), lines }
    }

    /// The text as a table of TOML.
    pub fn parse(&self) -> Result<Spanned<DeTable<'_>>, SceneError> {
        DeTable::parse(&self.text).map_err(|error| {
            let at = error.span().map_or(self.text.len(), |span| span.start);
            let what = format!("expected TOML: {}", error.message());
            SceneError::Model { place: self.place(at), what }
        })
    }

    pub fn place(&self, at: usize) -> SourceLocation {
        let line = self.lines.partition_point(|start| *start <= at) as u32;
        SourceLocation { file: self.file.clone(), line }
    }

    /// The value as written, shortened.
    fn written(&self, span: Range<usize>) -> String {
        const LONGEST: usize = 60;
        let text = self.text.get(span).unwrap_or_default();
        let line = text.lines().next().unwrap_or_default();
        let mut short: String = line.chars().take(LONGEST).collect();
        if short.len() < text.len() {
            short.push('…');
        }
        short
    }
}

/// A table of a scene.
pub(super) struct Table<'a> {
    source: &'a SourceText,
    /// Name in messages.
    title: String,
    table: &'a DeTable<'a>,
    at: usize,
    asked: RefCell<Vec<&'static str>>,
}

impl<'a> Table<'a> {
    /// The whole document.
    pub fn root(source: &'a SourceText, table: &'a Spanned<DeTable<'a>>) -> Self {
        Self::new(source, "the scene".to_owned(), table.get_ref(), 0)
    }

    fn new(source: &'a SourceText, title: String, table: &'a DeTable<'a>, at: usize) -> Self {
        Self { source, title, table, at, asked: RefCell::default() }
    }

    /// Location.
    pub fn place(&self) -> SourceLocation {
        self.source.place(self.at)
    }

    /// An error at this table.
    pub fn error(&self, what: impl std::fmt::Display) -> SceneError {
        SceneError::Model { place: self.place(), what: format!("{}: {what}", self.title) }
    }

    /// An error at the value of a key.
    pub fn wrong(&self, key: &str, expected: &str) -> SceneError {
        match self.table.get(key) {
            Some(value) => self.wrong_value(key, value, expected),
            None => self.error(format_args!("no {key}; expected {expected}")),
        }
    }

    fn wrong_value(&self, key: &str, value: &Spanned<DeValue>, expected: &str) -> SceneError {
        let found = self.source.written(value.span());
        SceneError::Model {
            place: self.source.place(value.span().start),
            what: format!("{}: {key} = {found}; expected {expected}", self.title),
        }
    }

    /// An error of something that was made from the value of a key.
    pub fn because(&self, key: &str, error: impl std::fmt::Display) -> SceneError {
        let place = self.table.get(key).map_or(self.at, |value| value.span().start);
        let what = format!("{}: {key}: {error}", self.title);
        SceneError::Model { place: self.source.place(place), what }
    }

    /// An error of something that was made from a value.
    pub fn at(&self, value: &Spanned<DeValue>, error: impl std::fmt::Display) -> SceneError {
        let place = self.source.place(value.span().start);
        SceneError::Model { place, what: format!("{}: {error}", self.title) }
    }

    fn get(&self, key: &'static str) -> Option<&'a Spanned<DeValue<'a>>> {
        let mut asked = self.asked.borrow_mut();
        if !asked.contains(&key) {
            asked.push(key);
        }
        self.table.get(key)
    }

    /// Whether there is such a key.
    pub fn has(&self, key: &'static str) -> bool {
        self.get(key).is_some()
    }

    /// Gives it the title of a thing with a name.
    pub fn named(mut self, name: &str) -> Self {
        self.title = format!("{} \"{name}\"", self.title);
        self
    }

    /// All keys with their values, which count as read.
    pub fn entries(&self) -> impl Iterator<Item = (&'a str, &'a Spanned<DeValue<'a>>)> {
        self.table.iter().map(|(key, value)| (key.get_ref().as_ref(), value))
    }

    /// Refuses keys that were not read.
    pub fn finish(self) -> Result<(), SceneError> {
        let mut known = self.asked.borrow().clone();
        known.sort_unstable();
        for (key, _) in self.table.iter() {
            if !known.contains(&key.get_ref().as_ref()) {
                let place = self.source.place(key.span().start);
                let known = match known.is_empty() {
                    true => "none here".to_owned(),
                    false => format!("one of: {}", known.join(", ")),
                };
                let what = format!(
                    "{}: no key is called \"{}\"; expected {known}",
                    self.title,
                    key.get_ref()
                );
                return Err(SceneError::Model { place, what });
            }
        }
        Ok(())
    }

    /// A text.
    pub fn text(&self, key: &'static str) -> Result<Option<&'a str>, SceneError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        match value.get_ref().as_str() {
            Some(text) => Ok(Some(text)),
            None => Err(self.wrong(key, "a text in quotes")),
        }
    }

    /// A text that must be there.
    pub fn require(&self, key: &'static str, expected: &str) -> Result<&'a str, SceneError> {
        self.text(key)?.ok_or_else(|| self.wrong(key, expected))
    }

    /// One of several words.
    pub fn word<T: Copy>(
        &self,
        key: &'static str,
        words: &[(&str, T)],
    ) -> Result<Option<T>, SceneError> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        match words.iter().find(|(word, _)| *word == text) {
            Some((_, meaning)) => Ok(Some(*meaning)),
            None => {
                let known: Vec<_> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
                Err(self.wrong(key, &format!("one of: {}", known.join(", "))))
            }
        }
    }

    /// One or several texts.
    pub fn texts(&self, key: &'static str) -> Result<Option<Vec<&'a str>>, SceneError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let texts = match value.get_ref() {
            DeValue::String(text) => Some(vec![text.as_ref()]),
            DeValue::Array(array) => array.iter().map(|item| item.get_ref().as_str()).collect(),
            _ => None,
        };
        texts.map(Some).ok_or_else(|| self.wrong(key, "a text or an array of texts"))
    }

    /// True or false; false if absent.
    pub fn flag(&self, key: &'static str) -> Result<bool, SceneError> {
        self.flag_or(key, false)
    }

    /// True or false.
    pub fn flag_or(&self, key: &'static str, default: bool) -> Result<bool, SceneError> {
        let Some(value) = self.get(key) else { return Ok(default) };
        value.get_ref().as_bool().ok_or_else(|| self.wrong(key, "true or false"))
    }

    /// A finite number.
    pub fn number(&self, key: &'static str) -> Result<Option<f64>, SceneError> {
        self.number_if(key, "a finite number", f64::is_finite)
    }

    /// A number of which something is expected.
    pub fn number_if(
        &self,
        key: &'static str,
        expected: &str,
        fine: fn(f64) -> bool,
    ) -> Result<Option<f64>, SceneError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        match number(value.get_ref()).filter(|number| fine(*number)) {
            Some(number) => Ok(Some(number)),
            None => Err(self.wrong(key, expected)),
        }
    }

    /// A finite number above zero.
    pub fn positive(&self, key: &'static str) -> Result<Option<f64>, SceneError> {
        self.number_if(key, "a finite number above zero", |x| x > 0.0 && x.is_finite())
    }

    /// A finite number, not negative.
    pub fn not_negative(&self, key: &'static str) -> Result<Option<f64>, SceneError> {
        self.number_if(key, "a finite number, not negative", |x| x >= 0.0 && x.is_finite())
    }

    /// Any number of finite numbers.
    pub fn numbers(&self, key: &'static str) -> Result<Option<Vec<f64>>, SceneError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        match numbers(value.get_ref()) {
            Some(numbers) => Ok(Some(numbers)),
            None => Err(self.wrong(key, "an array of finite numbers")),
        }
    }

    /// Rows of finite numbers, all of the same length.
    pub fn rows(&self, key: &'static str) -> Result<Option<Vec<Vec<f64>>>, SceneError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let rows: Option<Vec<Vec<f64>>> = value
            .get_ref()
            .as_array()
            .and_then(|rows| rows.iter().map(|row| numbers(row.get_ref())).collect());
        let even = |rows: &Vec<Vec<f64>>| rows.iter().all(|row| row.len() == rows[0].len());
        match rows.filter(even) {
            Some(rows) => Ok(Some(rows)),
            None => Err(self.wrong(key, "an array of rows of finite numbers, equally long")),
        }
    }

    /// Exactly N finite numbers.
    pub fn array<const N: usize>(&self, key: &'static str) -> Result<Option<[f64; N]>, SceneError> {
        let Some(numbers) = self.numbers(key)? else { return Ok(None) };
        match <[f64; N]>::try_from(numbers) {
            Ok(array) => Ok(Some(array)),
            Err(_) => Err(self.wrong(key, &format!("{N} finite numbers"))),
        }
    }

    /// A vector.
    pub fn vector(&self, key: &'static str) -> Result<Option<Vector3<f64>>, SceneError> {
        Ok(self.array::<3>(key)?.map(Vector3::from))
    }

    /// A lower and an upper end.
    pub fn range(&self, key: &'static str) -> Result<Option<(f64, f64)>, SceneError> {
        match self.array::<2>(key)? {
            Some([lower, upper]) if lower > upper => {
                Err(self.wrong(key, "a lower end, then an upper one"))
            }
            range => Ok(range.map(|[lower, upper]| (lower, upper))),
        }
    }

    /// A table in this one.
    pub fn table(&self, key: &'static str) -> Result<Option<Table<'a>>, SceneError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        match value.get_ref().as_table() {
            Some(table) => Ok(Some(self.within(format!("[{key}]"), table, value.span().start))),
            None => Err(self.wrong(key, "a table")),
        }
    }

    /// The tables of an array.
    pub fn tables(&self, key: &'static str) -> Result<Vec<Table<'a>>, SceneError> {
        let Some(value) = self.get(key) else { return Ok(Vec::new()) };
        let expected = format!("tables, each under a line [[{key}]]");
        let array = value.get_ref().as_array().ok_or_else(|| self.wrong(key, &expected))?;
        array
            .iter()
            .map(|item| match item.get_ref().as_table() {
                Some(table) => Ok(self.within(format!("[[{key}]]"), table, item.span().start)),
                None => Err(self.wrong_value(key, item, &expected)),
            })
            .collect()
    }

    fn within(&self, title: String, table: &'a DeTable<'a>, at: usize) -> Table<'a> {
        Table::new(self.source, title, table, at)
    }
}

/// A number of either kind.
pub(super) fn number(value: &DeValue) -> Option<f64> {
    match value {
        // Digits may be grouped by underscores, and hexadecimal in integers.
        DeValue::Integer(integer) => {
            i64::from_str_radix(integer.as_str(), integer.radix()).ok().map(|i| i as f64)
        }
        DeValue::Float(float) => float.as_str().parse().ok(),
        _ => None,
    }
}

fn numbers(value: &DeValue) -> Option<Vec<f64>> {
    let items = value.as_array()?.iter();
    items.map(|item| number(item.get_ref()).filter(|number| number.is_finite())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str, read: impl Fn(&Table) -> Result<(), SceneError>) -> String {
        let source = SourceText::new(text.to_owned(), Path::new("s.toml"));
        let parsed = match source.parse() {
            Ok(parsed) => parsed,
            Err(error) => return error.to_string(),
        };
        let root = Table::root(&source, &parsed);
        match read(&root).and_then(|()| root.finish()) {
            Ok(()) => String::new(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn numbers_are_read_in_every_spelling_and_infinite_ones_refused() {
        for (text, value) in [("1", 1.0), ("1_000", 1000.0), ("-2.5e-1", -0.25), ("0x10", 16.0)] {
            let found = message(&format!("x = {text}"), |table| {
                assert_eq!(table.number("x")?, Some(value));
                Ok(())
            });
            assert_eq!(found, "");
        }
        for text in ["inf", "nan", "true", "\"1\"", "[1]"] {
            let found = message(&format!("\n\nx = {text}"), |table| table.number("x").map(drop));
            assert!(found.starts_with("s.toml:3: ") && found.contains(text), "{found}");
        }
    }

    #[test]
    fn a_key_that_nobody_asked_for_is_refused_with_the_known_ones() {
        let found = message("a = 1\nb = 2\nq = 3", |table| {
            table.number("b")?;
            table.number("a").map(drop)
        });
        assert_eq!(found, "s.toml:3: the scene: no key is called \"q\"; expected one of: a, b");
    }

    #[test]
    fn broken_text_is_refused_with_its_line() {
        for text in ["a = 1\nb = [1,\n", "a = 1\n= 2", "a = 1\n[b", "a = 1\na = 2"] {
            let found = message(text, |_| Ok(()));
            assert!(found.starts_with("s.toml:") && found.contains("TOML"), "{text}: {found}");
        }
        let deep = format!("a = {}{}", "[".repeat(5000), "]".repeat(5000));
        assert!(message(&deep, |_| Ok(())).contains("TOML"));
    }

    #[test]
    fn a_thing_of_another_type_is_refused_at_its_own_line() {
        let text = "[[body]]\nname = \"a\"\n\n[[body]]\nname = 3\n";
        let found = message(text, |root| {
            for body in root.tables("body")? {
                body.text("name")?;
            }
            Ok(())
        });
        assert_eq!(found, "s.toml:5: [[body]]: name = 3; expected a text in quotes");
        assert!(message("body = 1", |root| root.tables("body").map(drop)).contains("[[body]]"));
    }
}
