//! XML with source locations and a record of the attributes that were read.
//!
//! Every element has its file and line. [`Element::unread`] lists the attributes that were not read, so
//! that no content of a file is ignored without a message. Two faults that other programs accept are mended
//! first (`lenient`).

mod lenient;
mod limits;
mod value;

use std::cell::Cell;
use std::fmt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use crate::error::SceneError;
use crate::files::Files;

/// File and line of an element or a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLocation {
    /// The file.
    pub file: Arc<PathBuf>,
    /// The line, counted from one.
    pub line: u32,
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.line)
    }
}

/// One attribute.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Name.
    pub name: String,
    /// Value as written.
    pub value: String,
    /// Location; differs from that of the element if the attribute comes from a default.
    pub place: SourceLocation,
    /// Whether it was read; shared by all copies, so that reading an element that was
    /// merged with its defaults marks the attribute in the file.
    read: Rc<Cell<bool>>,
}

/// One element with its attributes and children.
#[derive(Clone, Debug)]
pub struct Element {
    /// Its tag.
    pub tag: String,
    /// Where it starts.
    pub place: SourceLocation,
    /// Attributes.
    pub attributes: Vec<Attribute>,
    /// Child elements.
    pub children: Vec<Element>,
    /// Its text, trimmed, without that of its children.
    pub text: String,
    /// Number of the model that it comes from, where a reader combines several; zero otherwise.
    pub part: usize,
}

impl Element {
    /// Reads the root element of a file.
    pub fn read(files: &mut Files, path: &Path) -> Result<Self, SceneError> {
        let text = files.text(path)?;
        Self::parse(&text, path)
    }

    /// Reads the root element of a text; `path` names it in messages.
    pub fn parse(text: &str, path: &Path) -> Result<Self, SceneError> {
        let file = Arc::new(path.to_path_buf());
        let text = &*lenient::mended(text);
        if let Some((at, what)) = limits::exceeded(text) {
            let line = Lines::of(text).line(at);
            return Err(SceneError::Model { place: SourceLocation { file, line }, what });
        }
        let document = roxmltree::Document::parse(text).map_err(|error| SceneError::Model {
            place: SourceLocation { file: file.clone(), line: error.pos().row },
            what: format!("expected XML: {error}"),
        })?;
        convert(document.root_element(), &Lines::of(text), &file)
    }

    /// An error at this element: what was found and what was expected.
    pub fn error(&self, what: impl fmt::Display) -> SceneError {
        let name = match self.peek("name") {
            Some(name) => format!(" \"{name}\""),
            None => String::new(),
        };
        SceneError::Model {
            place: self.place.clone(),
            what: format!("<{}>{name}: {what}", self.tag),
        }
    }

    /// Sets the number of the model that it comes from, with all its children.
    pub fn set_part(&mut self, part: usize) {
        self.part = part;
        self.children.iter_mut().for_each(|child| child.set_part(part));
    }

    /// The first child with this tag.
    pub fn child(&self, tag: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.tag == tag)
    }

    /// The children with this tag.
    pub fn all<'a>(&'a self, tag: &'a str) -> impl Iterator<Item = &'a Element> {
        self.children.iter().filter(move |child| child.tag == tag)
    }

    /// An attribute, which counts as read.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        let found = self.attributes.iter().find(|attribute| attribute.name == name)?;
        found.read.set(true);
        Some(found)
    }

    /// The text of an attribute, which counts as read.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.attribute(name).map(|attribute| attribute.value.as_str())
    }

    /// The text of an attribute, which stays unread.
    pub fn peek(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|attribute| attribute.name == name)?;
        Some(&found.value)
    }

    /// Adds an attribute unless there is one of its name.
    pub fn inherit(&mut self, attribute: &Attribute) {
        if self.peek(&attribute.name).is_none() {
            self.attributes.push(attribute.clone());
        }
    }

    /// Sets an attribute, with the source location of the element.
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        let value = value.into();
        match self.attributes.iter_mut().find(|attribute| attribute.name == name) {
            Some(attribute) => attribute.value = value,
            None => self.attributes.push(Attribute {
                name: name.to_owned(),
                value,
                place: self.place.clone(),
                read: Rc::default(),
            }),
        }
    }

    /// The attributes that were not read.
    pub fn unread(&self) -> impl Iterator<Item = &Attribute> {
        self.attributes.iter().filter(|attribute| !attribute.read.get())
    }
}

/// Starts of the lines of a text.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect())
    }

    fn line(&self, at: usize) -> u32 {
        self.0.partition_point(|start| *start <= at) as u32
    }
}

fn convert(
    node: roxmltree::Node,
    lines: &Lines,
    file: &Arc<PathBuf>,
) -> Result<Element, SceneError> {
    let place_at = |at: usize| SourceLocation { file: file.clone(), line: lines.line(at) };
    let place = place_at(node.range().start);
    let attributes = node.attributes().map(|attribute| Attribute {
        name: attribute.name().to_owned(),
        value: attribute.value().to_owned(),
        place: place_at(attribute.range().start),
        read: Rc::default(),
    });
    let text = node.children().filter_map(|child| child.is_text().then(|| child.text()).flatten());
    Ok(Element {
        tag: node.tag_name().name().to_owned(),
        place,
        attributes: attributes.collect(),
        text: text.collect::<String>().trim().to_owned(),
        children: node
            .children()
            .filter(|child| child.is_element())
            .map(|child| convert(child, lines, file))
            .collect::<Result<_, _>>()?,
        part: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Element, SceneError> {
        Element::parse(text, Path::new("robot.xml"))
    }

    #[test]
    fn elements_and_attributes_know_their_line() {
        let root = parse("<a>\n <b\n  x='1'\n  y='2'/>\n</a>").unwrap();
        let b = root.child("b").unwrap();
        assert_eq!((b.place.line, b.attribute("y").unwrap().place.line), (2, 4));
    }

    #[test]
    fn unread_attributes_are_listed() {
        let root = parse("<a x='1' y='2' z='3'/>").unwrap();
        assert_eq!(root.get("y"), Some("2"));
        let unread: Vec<_> = root.unread().map(|attribute| attribute.name.as_str()).collect();
        assert_eq!(unread, ["x", "z"]);
    }

    #[test]
    fn reading_a_merged_copy_marks_the_original_and_its_default() {
        let class = parse("<geom size='1' mass='2'/>").unwrap();
        let geom = parse("<geom mass='3'/>").unwrap();
        let mut merged = geom.clone();
        class.attributes.iter().for_each(|attribute| merged.inherit(attribute));
        assert_eq!((merged.get("mass"), merged.get("size")), (Some("3"), Some("1")));
        assert_eq!(geom.unread().count(), 0);
        let unread: Vec<_> = class.unread().map(|attribute| attribute.name.as_str()).collect();
        assert_eq!(unread, ["mass"]);
    }

    #[test]
    fn malformed_and_too_deeply_nested_files_are_refused_with_their_line() {
        let message = parse("<a>\n<b>\n</a>").unwrap_err().to_string();
        assert!(message.starts_with("robot.xml:3: "), "{message}");
        let deep = "<a>".repeat(400) + &"</a>".repeat(400);
        assert!(parse(&deep).unwrap_err().to_string().contains("deep"));
    }

    #[test]
    fn two_hundred_thousand_attributes_on_one_element_are_refused_with_their_line() {
        let many: String = (0..200_000).map(|k| format!(" a{k}='1'")).collect();
        let message = parse(&format!("<a>\n<b{many}/></a>")).unwrap_err().to_string();
        assert!(message.starts_with("robot.xml:2: ") && message.contains("200000"), "{message}");
        let some: String = (0..limits::MOST_ATTRIBUTES).map(|k| format!(" a{k}='1'")).collect();
        assert!(parse(&format!("<a>\n<b{some}/></a>")).is_ok());
    }

    #[test]
    fn a_million_open_elements_are_refused() {
        let message = parse(&"<a>".repeat(1_000_000)).unwrap_err().to_string();
        assert!(message.contains("deep"), "{message}");
    }
}
