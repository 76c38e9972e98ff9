//! Elements and attributes of a file that no reader has read, listed at the end of the import.
//!
//! Those of one kind are listed once, with the location of the first and their number. Attributes of
//! a default class count if some element uses the class.

use std::collections::BTreeMap;

use super::build::Build;
use super::schema::{ElementSchema, ElementSupport};
use crate::xml::{Attribute, Element, SourceLocation};

/// Unread content of one kind: location of the first, and their number.
type Tally = BTreeMap<(bool, String), (SourceLocation, usize)>;

/// Lists unread content.
pub(super) fn sweep(build: &mut Build, root: &Element) {
    let mut tally = Tally::new();
    collect(root, ElementSchema::root(), &mut tally);
    let default = ElementSchema::root().child("default");
    let context = build.parts.get(root.part);
    for element in context.into_iter().flat_map(|context| context.defaults.used()) {
        if let Some(kind) = default.and_then(|default| default.child(&element.tag)) {
            lost_attributes(element, kind, &mut tally);
        }
    }
    for ((physical, what), (place, count)) in tally {
        let what = if count > 1 { format!("{what} ({count} times)") } else { what };
        if physical {
            build.report_unsupported(&place, what)
        } else {
            build.report_ignored(&place, what)
        }
    }
}

fn collect(element: &Element, kind: &ElementSchema, tally: &mut Tally) {
    match kind.support {
        ElementSupport::Ignored => {
            return add(tally, false, format!("<{}>", element.tag), &element.place);
        }
        ElementSupport::Unsupported => {
            return add(tally, true, format!("<{}>", element.tag), &element.place);
        }
        ElementSupport::Read if element.tag == "default" => return,
        ElementSupport::Read => {}
    }
    lost_attributes(element, kind, tally);
    for attribute in element.unread().filter(|attribute| !kind.is_unsupported(&attribute.name)) {
        if !["name", "class", "childclass"].contains(&attribute.name.as_str()) {
            add_attribute(tally, false, element, attribute);
        }
    }
    for child in &element.children {
        if let Some(kind) = kind.child(&child.tag) {
            collect(child, kind, tally);
        }
    }
}

/// Attributes that change the motion, unless they have their defaults.
fn lost_attributes(element: &Element, kind: &ElementSchema, tally: &mut Tally) {
    let nothing = |attribute: &&Attribute| {
        attribute.value.split_ascii_whitespace().all(|word| word.parse() == Ok(0.0))
    };
    for attribute in element.unread().filter(|attribute| kind.is_unsupported(&attribute.name)) {
        if !nothing(&attribute) {
            add_attribute(tally, true, element, attribute);
        }
    }
}

fn add_attribute(tally: &mut Tally, physical: bool, element: &Element, attribute: &Attribute) {
    add(tally, physical, format!("<{}> {}", element.tag, attribute.name), &attribute.place);
}

fn add(tally: &mut Tally, physical: bool, what: String, place: &SourceLocation) {
    tally.entry((physical, what)).or_insert_with(|| (place.clone(), 0)).1 += 1;
}

#[cfg(test)]
mod tests {
    use super::super::testing::model;

    #[test]
    fn unread_attributes_are_listed_once_with_their_count_and_effect_on_the_motion() {
        let found = model(
            "<worldbody><light/><light/><light/>\n
             <body><joint name='j'/><geom size='1'/></body></worldbody>
             <tendon><fixed springyield='1'><joint joint='j' coef='1'/></fixed>
             <fixed springyield='0'><joint joint='j' coef='1'/></fixed></tendon>
             <deformable><flex/></deformable>",
        );
        let told: Vec<_> =
            found.unsupported.iter().map(|entry| (entry.what.as_str(), entry.physical)).collect();
        let expected =
            [("<light> (3 times)", false), ("<fixed> springyield", true), ("<flex>", true)];
        assert_eq!(told, expected);
        assert_eq!(found.unsupported[1].place.line, 4);
    }

    #[test]
    fn a_default_counts_only_where_an_element_asks_for_it() {
        let text = |class: &str| {
            format!(
                "<default><default class='yields'><tendon springyield='1'/></default></default>
                 <worldbody><body><joint name='j'/><geom size='1'/></body></worldbody>
                 <tendon><fixed {class}><joint joint='j' coef='1'/></fixed></tendon>"
            )
        };
        assert!(model(&text("")).unsupported.is_empty());
        assert_eq!(model(&text("class='yields'")).unsupported.len(), 1);
    }
}
