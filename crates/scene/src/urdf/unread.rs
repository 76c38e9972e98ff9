//! Elements and attributes that no reader asked for. Robot descriptions carry much that is meant for
//! other programs; all of it is listed, none of it stops the reading.

use super::diagnostics::Diagnostics;
use crate::xml::Element;

/// Children that are understood, or passed over knowingly, per element.
const KNOWN: &[(&str, &[&str])] = &[
    ("robot", &["link", "joint", "material"]),
    ("link", &["inertial", "visual", "collision", "contact"]),
    ("inertial", &["origin", "mass", "inertia"]),
    ("visual", &["origin", "geometry", "material"]),
    ("collision", &["origin", "geometry", "material"]),
    ("geometry", &["box", "capsule", "cylinder", "mesh", "sphere"]),
    ("contact", &["lateral_friction", "restitution"]),
    ("material", &["color"]),
    ("joint", &["origin", "parent", "child", "axis", "limit", "dynamics", "mimic"]),
];

/// Elements that do not move a robot, whatever they say: nothing is told about them.
const PASSED: &[(&str, &str)] =
    &[("joint", "calibration"), ("joint", "safety_controller"), ("material", "texture")];

/// Lists what was not read.
pub(super) fn list(root: &Element, diagnostics: &mut Diagnostics) {
    walk(root, diagnostics);
}

fn walk(element: &Element, diagnostics: &mut Diagnostics) {
    for attribute in element.unread() {
        let what = format!("{} of <{}>", attribute.name, element.tag);
        diagnostics.ignores(&attribute.place, what);
    }
    let known = KNOWN.iter().find(|(tag, _)| *tag == element.tag).map_or(&[][..], |known| known.1);
    for child in &element.children {
        if known.contains(&child.tag.as_str()) {
            walk(child, diagnostics);
        } else if element.tag == "robot" && child.tag == "transmission" {
            diagnostics.note("transmissions are passed over: every joint has its own motor", "");
        } else if !PASSED.contains(&(element.tag.as_str(), child.tag.as_str())) {
            diagnostics.ignores(&child.place, format!("<{}> in <{}>", child.tag, element.tag));
        }
    }
}
