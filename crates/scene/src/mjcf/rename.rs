//! Names of elements and references to them, so that copies of a part of a model get names of their own.

use crate::xml::Element;

/// Kinds of elements that have names; names are unique within a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum NamedElementKind {
    Actuator,
    Body,
    Camera,
    Equality,
    Frame,
    Geom,
    HeightField,
    Joint,
    Key,
    Light,
    Material,
    Mesh,
    Model,
    Pair,
    Sensor,
    Site,
    Skin,
    Tendon,
    Texture,
}

/// Kind of a named element; `section` is the tag of its section.
fn kind_of(section: &str, tag: &str) -> Option<NamedElementKind> {
    Some(match (section, tag) {
        ("actuator", _) => NamedElementKind::Actuator,
        ("sensor", _) => NamedElementKind::Sensor,
        ("equality", _) => NamedElementKind::Equality,
        ("contact", _) => NamedElementKind::Pair,
        ("keyframe", _) => NamedElementKind::Key,
        ("tendon", "spatial" | "fixed") => NamedElementKind::Tendon,
        (_, "body") => NamedElementKind::Body,
        (_, "joint" | "freejoint") => NamedElementKind::Joint,
        (_, "geom") => NamedElementKind::Geom,
        (_, "site") => NamedElementKind::Site,
        (_, "camera") => NamedElementKind::Camera,
        (_, "light") => NamedElementKind::Light,
        (_, "frame") => NamedElementKind::Frame,
        (_, "mesh") => NamedElementKind::Mesh,
        (_, "material") => NamedElementKind::Material,
        (_, "texture") => NamedElementKind::Texture,
        (_, "hfield") => NamedElementKind::HeightField,
        (_, "skin") => NamedElementKind::Skin,
        (_, "model") => NamedElementKind::Model,
        _ => return None,
    })
}

/// Kind of element that an attribute refers to.
fn reference(element: &Element, attribute: &str) -> Option<NamedElementKind> {
    Some(match attribute {
        "joint" | "joint1" | "joint2" | "jointinparent" => NamedElementKind::Joint,
        "body" | "body1" | "body2" | "subtree1" | "subtree2" | "target" => NamedElementKind::Body,
        "geom" | "geom1" | "geom2" => NamedElementKind::Geom,
        "site" | "site1" | "site2" | "cranksite" | "slidersite" | "refsite" | "sidesite" => {
            NamedElementKind::Site
        }
        "tendon" | "tendon1" | "tendon2" => NamedElementKind::Tendon,
        "actuator" => NamedElementKind::Actuator,
        "camera" => NamedElementKind::Camera,
        "mesh" => NamedElementKind::Mesh,
        "material" => NamedElementKind::Material,
        "texture" => NamedElementKind::Texture,
        "hfield" => NamedElementKind::HeightField,
        "objname" => by_word(element.peek("objtype"))?,
        "refname" => by_word(element.peek("reftype"))?,
        _ => return None,
    })
}

fn by_word(word: Option<&str>) -> Option<NamedElementKind> {
    Some(match word? {
        "body" | "xbody" => NamedElementKind::Body,
        "geom" => NamedElementKind::Geom,
        "site" => NamedElementKind::Site,
        "camera" => NamedElementKind::Camera,
        "joint" => NamedElementKind::Joint,
        "tendon" => NamedElementKind::Tendon,
        "actuator" => NamedElementKind::Actuator,
        _ => return None,
    })
}

/// Renames an element, its children, and their references. `rename` gives the new name, or
/// `None` to keep a name.
pub(super) fn rename(
    element: &mut Element,
    section: &str,
    rename_to: &impl Fn(NamedElementKind, &str) -> Option<String>,
) {
    let mut changes = Vec::new();
    for attribute in &element.attributes {
        let kind = match attribute.name.as_str() {
            "name" => kind_of(section, &element.tag),
            name => reference(element, name),
        };
        let other = kind.and_then(|kind| rename_to(kind, &attribute.value));
        changes.extend(other.map(|other| (attribute.name.clone(), other)));
    }
    for (attribute, other) in changes {
        element.set(&attribute, other);
    }
    for child in &mut element.children {
        rename(child, section, rename_to);
    }
}

/// Calls `found` with the name of an element and of each of its children.
pub(super) fn names(
    element: &Element,
    section: &str,
    found: &mut impl FnMut(NamedElementKind, &str),
) {
    if let (Some(kind), Some(name)) = (kind_of(section, &element.tag), element.peek("name")) {
        found(kind, name);
    }
    for child in &element.children {
        names(child, section, found);
    }
}

/// Calls `found` with every name that an element and its children refer to.
pub(super) fn references(element: &Element, found: &mut impl FnMut(NamedElementKind, &str)) {
    for attribute in &element.attributes {
        if let Some(kind) = reference(element, &attribute.name) {
            found(kind, &attribute.value);
        }
    }
    for child in &element.children {
        references(child, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn names_and_references_change_and_other_words_stay() {
        let text = "<body name='b' childclass='c'><geom name='g' mesh='m' class='c' type='mesh'/>\
                    <frameframe objtype='site' objname='s' reftype='body' refname='b'/></body>";
        let mut element = Element::parse(text, Path::new("a.xml")).unwrap();
        rename(&mut element, "worldbody", &|_, name| Some(format!("p_{name}")));
        assert_eq!((element.peek("name"), element.peek("childclass")), (Some("p_b"), Some("c")));
        let geom = &element.children[0];
        let found = ["name", "mesh", "class", "type"].map(|name| geom.peek(name).unwrap());
        assert_eq!(found, ["p_g", "p_m", "c", "mesh"]);
        let sensor = &element.children[1];
        assert_eq!((sensor.peek("objname"), sensor.peek("refname")), (Some("p_s"), Some("p_b")));
    }

    #[test]
    fn a_joint_among_equalities_is_no_joint() {
        let element = Element::parse("<joint name='e' joint1='j'/>", Path::new("a.xml")).unwrap();
        let mut found = Vec::new();
        names(&element, "equality", &mut |kind, name| found.push((kind, name.to_owned())));
        references(&element, &mut |kind, name| found.push((kind, name.to_owned())));
        assert_eq!(
            found,
            [(NamedElementKind::Equality, "e".into()), (NamedElementKind::Joint, "j".into())]
        );
    }
}
