//! Schema of MJCF: the children and the attributes that each element may have.
//!
//! [`check`] refuses unknown words and suggests the nearest known one; words of older files
//! are known too. Known but unsupported ones are listed by [`super::unread`]. The tables are in
//! [`super::vocabulary`]; a test in Python compares them with the words that MuJoCo accepts.

use super::vocabulary::{ACTUATOR, ANY, ELEMENTS, EQUALITY, POSE, SENSOR};
use crate::error::SceneError;
use crate::xml::Element;

/// Treatment of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElementSupport {
    /// It is read.
    Read,
    /// It is ignored; no motion depends on it.
    Ignored,
    /// It is ignored, although motion depends on it.
    Unsupported,
}

/// Schema of one element. Words are separated by spaces.
#[derive(Debug)]
pub(super) struct ElementSchema {
    /// Its tag, after that of its parent where the tag alone says too little.
    pub tag: &'static str,
    pub support: ElementSupport,
    /// Attributes that are read, or on which no motion depends.
    pub known: &'static str,
    /// Unsupported attributes that change the motion.
    pub unsupported: &'static str,
    /// Tags of its children.
    pub children: &'static str,
}

pub(super) const fn read(
    tag: &'static str,
    known: &'static str,
    unsupported: &'static str,
) -> ElementSchema {
    ElementSchema { tag, support: ElementSupport::Read, known, unsupported, children: "" }
}

pub(super) const fn with_children(
    tag: &'static str,
    known: &'static str,
    children: &'static str,
) -> ElementSchema {
    ElementSchema { tag, support: ElementSupport::Read, known, unsupported: "", children }
}

pub(super) const fn ignored(
    tag: &'static str,
    known: &'static str,
    children: &'static str,
) -> ElementSchema {
    ElementSchema { tag, support: ElementSupport::Ignored, known, unsupported: "", children }
}

pub(super) const fn unsupported(
    tag: &'static str,
    unsupported: &'static str,
    children: &'static str,
) -> ElementSchema {
    ElementSchema { tag, support: ElementSupport::Unsupported, known: "", unsupported, children }
}

/// Words of a list; those in capitals stand for lists of their own.
fn words(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.split_ascii_whitespace().flat_map(|word| {
        match word {
            "POSE" => POSE,
            "EQUALITY" => EQUALITY,
            "ACTUATOR" => ACTUATOR,
            "SENSOR" => SENSOR,
            word => word,
        }
        .split_ascii_whitespace()
    })
}

impl ElementSchema {
    /// The kind of a root.
    pub fn root() -> &'static ElementSchema {
        &ELEMENTS[0]
    }

    /// The kind of a child with this tag.
    pub fn child(&self, tag: &str) -> Option<&'static ElementSchema> {
        words(self.children).find(|known| *known == tag)?;
        let own = |kind: &&ElementSchema| {
            let (parent, name) = kind.tag.split_once('/').unwrap_or((self.tag, kind.tag));
            kind.tag.contains('/') && name == tag && parent == self.tag
        };
        let shared = |kind: &&ElementSchema| kind.tag == tag;
        ELEMENTS.iter().find(own).or_else(|| ELEMENTS.iter().find(shared))
    }

    /// Whether an attribute is unsupported and changes the motion.
    pub fn is_unsupported(&self, attribute: &str) -> bool {
        words(self.unsupported).any(|known| known == attribute)
    }

    fn attributes(&self) -> impl Iterator<Item = &'static str> {
        words(self.known).chain(words(self.unsupported))
    }
}

/// Treatment of one word of MJCF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MjcfWord {
    /// Tags from the root to the element, separated by slashes.
    pub element: String,
    /// The attribute; `None` for the element itself.
    pub attribute: Option<&'static str>,
    /// `read`, `ignored` if no motion depends on it, or `unsupported`: it is listed where it occurs.
    pub treatment: &'static str,
}

/// Every element and attribute of MJCF that is known, from the root on. Elements that may contain themselves
/// (bodies, frames, classes of defaults) are given once.
pub fn vocabulary() -> Vec<MjcfWord> {
    let mut found = Vec::new();
    collect_words(ElementSchema::root(), "mujoco", "", &mut found);
    found
}

fn collect_words(kind: &ElementSchema, path: &str, above: &str, found: &mut Vec<MjcfWord>) {
    let of_element = match kind.support {
        ElementSupport::Read => "read",
        ElementSupport::Ignored => "ignored",
        ElementSupport::Unsupported => "unsupported",
    };
    let mut add = |attribute, treatment| {
        found.push(MjcfWord { element: path.to_owned(), attribute, treatment });
    };
    add(None, of_element);
    for name in kind.attributes().filter(|name| *name != ANY) {
        let lost = kind.is_unsupported(name);
        add(Some(name), if lost { "unsupported" } else { of_element });
    }
    for tag in words(kind.children) {
        let nested = ["body", "frame", "replicate", "default"].contains(&kind.tag);
        let repeats = nested && ["body", "frame", "replicate", "default"].contains(&tag);
        if repeats || tag == above {
            continue;
        }
        if let Some(child) = kind.child(tag) {
            collect_words(child, &format!("{path}/{tag}"), kind.tag, found);
        }
    }
}

/// Checks that MJCF has every element and attribute.
pub(super) fn check(root: &Element) -> Result<(), SceneError> {
    check_as(root, ElementSchema::root())
}

fn check_as(element: &Element, kind: &ElementSchema) -> Result<(), SceneError> {
    if kind.attributes().any(|word| word == ANY) {
        return Ok(());
    }
    for attribute in &element.attributes {
        if !kind.attributes().any(|known| known == attribute.name) {
            let hint = nearest(&attribute.name, kind.attributes());
            return Err(SceneError::Model {
                place: attribute.place.clone(),
                what: format!(
                    "<{}> has an attribute \"{}\"; expected one of MJCF{hint}",
                    element.tag, attribute.name
                ),
            });
        }
    }
    for child in &element.children {
        let Some(kind) = kind.child(&child.tag) else {
            let hint = nearest(&child.tag, words(kind.children));
            return Err(child.error(format_args!(
                "found in <{}>; expected an element that MJCF allows there{hint}",
                element.tag
            )));
        };
        check_as(child, kind)?;
    }
    Ok(())
}

/// A hint at the most similar word.
fn nearest(found: &str, known: impl Iterator<Item = &'static str>) -> String {
    let near = known.min_by_key(|word| distance(found, word));
    near.map_or(String::new(), |word| format!(", such as \"{word}\""))
}

/// Letters to insert, remove or replace between two words.
fn distance(a: &str, b: &str) -> usize {
    const LONGEST: usize = 40;
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.chars().take(LONGEST).enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, other) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn refusal(text: &str) -> String {
        let root = Element::parse(text, Path::new("a.xml")).unwrap();
        check(&root).unwrap_err().to_string()
    }

    #[test]
    fn every_word_leads_to_a_kind_and_every_kind_is_reached() {
        let mut reached = vec!["mujoco"];
        let mut waiting = vec![ElementSchema::root()];
        while let Some(kind) = waiting.pop() {
            for tag in words(kind.children) {
                let child = kind.child(tag).unwrap_or_else(|| panic!("<{tag}> in <{}>", kind.tag));
                if !reached.contains(&child.tag) {
                    reached.push(child.tag);
                    waiting.push(child);
                }
            }
        }
        for kind in ELEMENTS {
            assert!(reached.contains(&kind.tag), "{}", kind.tag);
        }
    }

    #[test]
    fn a_tag_means_what_its_parent_says() {
        let tendon = ElementSchema::root().child("tendon").unwrap();
        let fixed = tendon.child("fixed").unwrap();
        assert!(fixed.child("joint").unwrap().attributes().any(|name| name == "coef"));
        let default = ElementSchema::root().child("default").unwrap();
        assert!(default.child("joint").unwrap().attributes().any(|name| name == "armature"));
        assert!(default.child("tendon").unwrap().attributes().any(|name| name == "stiffness"));
    }

    #[test]
    fn unknown_elements_and_attributes_are_refused_with_the_nearest_word() {
        let message = refusal("<mujoco>\n<worldbody>\n<geom\nfrictoin='1'/></worldbody></mujoco>");
        assert!(message.starts_with("a.xml:4: <geom>"), "{message}");
        assert!(message.contains("\"frictoin\"") && message.contains("\"friction\""), "{message}");
        let message = refusal("<mujoco>\n<worldbod/></mujoco>");
        assert!(message.starts_with("a.xml:2: <worldbod>"), "{message}");
        assert!(message.contains("\"worldbody\""), "{message}");
    }

    #[test]
    fn the_distance_of_words_counts_changed_letters() {
        for (a, b, d) in [("", "abc", 3), ("kp", "kp", 0), ("siz", "size", 1), ("abc", "cab", 2)] {
            assert_eq!((distance(a, b), distance(b, a)), (d, d));
        }
    }
}
