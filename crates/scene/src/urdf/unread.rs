//! Elements and attributes that were not read. Robot descriptions contain much that is meant for other
//! programs; it is listed and is not an error.

use super::diagnostics::Diagnostics;
use crate::xml::Element;

/// Children that are read, or ignored on purpose, per element.
const KNOWN: &[(&str, &[&str])] = &[
    ("robot", &["link", "joint", "material"]),
    ("link", &["inertial", "visual", "collision", "contact"]),
    ("inertial", &["origin", "mass", "inertia"]),
    ("visual", &["origin", "geometry", "material"]),
    ("collision", &["origin", "geometry", "material", "proximity_properties"]),
    (
        "proximity_properties",
        &[
            "compliant_hydroelastic",
            "hunt_crossley_dissipation",
            "hydroelastic_modulus",
            "mesh_resolution_hint",
            "mu_dynamic",
            "mu_static",
            "relaxation_time",
            "rigid_hydroelastic",
        ],
    ),
    ("geometry", &["box", "capsule", "cylinder", "mesh", "sphere"]),
    ("contact", &["lateral_friction", "restitution"]),
    ("material", &["color"]),
    ("joint", &["origin", "parent", "child", "axis", "limit", "dynamics", "mimic"]),
];

/// Elements that never affect the motion; they are not listed.
const PASSED: &[(&str, &str)] =
    &[("joint", "calibration"), ("joint", "safety_controller"), ("material", "texture")];

/// Lists the elements and attributes that were not read.
pub(super) fn list(root: &Element, diagnostics: &mut Diagnostics) {
    walk(root, diagnostics);
}

fn walk(element: &Element, diagnostics: &mut Diagnostics) {
    for attribute in element.unread() {
        let what = format!("{} of <{}>", attribute.name, element.tag);
        diagnostics.report_ignored(&attribute.place, what);
    }
    let known = KNOWN.iter().find(|(tag, _)| *tag == element.tag).map_or(&[][..], |known| known.1);
    for child in &element.children {
        if known.contains(&child.tag.as_str()) {
            walk(child, diagnostics);
        } else if element.tag == "robot" && child.tag == "transmission" {
            diagnostics.note("transmissions are passed over: every joint has its own motor", "");
        } else if !PASSED.contains(&(element.tag.as_str(), child.tag.as_str())) {
            diagnostics
                .report_ignored(&child.place, format!("<{}> in <{}>", child.tag, element.tag));
        }
    }
}
