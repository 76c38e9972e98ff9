//! From models written out to a plain description: every element has the attributes of its class.
//!
//! Classes are looked up here and nowhere else: readers of the description know neither defaults nor childclasses. An
//! element keeps the number of the model that it comes from, whose compiler says in which units it is written.

use super::attach::{ModelContext, PART};
use super::defaults::ACTUATORS;
use crate::error::SceneError;
use crate::xml::Element;

/// Tag of the defaults of an actuator; no file can contain it.
const LAYERS: &str = "#layers";

/// Elements of bodies that take defaults.
const CLASSED: [&str; 5] = ["joint", "geom", "site", "camera", "light"];

/// Applies the defaults of each model to its elements in the sections.
pub(super) fn resolve(
    parts: &[ModelContext],
    sections: &mut [(usize, Element)],
) -> Result<(), SceneError> {
    for (_, section) in sections {
        let class = section.get("childclass").map(str::to_owned);
        match section.tag.as_str() {
            "worldbody" => within(parts, section, class.as_deref())?,
            "asset" => for_children(section, |element| {
                matches!(element.tag.as_str(), "mesh" | "material")
                    .then(|| parts[element.part].defaults.apply(element, None))
                    .transpose()
            })?,
            "contact" => for_children(section, |element| {
                (element.tag == "pair")
                    .then(|| parts[element.part].defaults.apply(element, None))
                    .transpose()
            })?,
            "tendon" => for_children(section, |element| {
                parts[element.part].defaults.apply(element, None).map(Some)
            })?,
            "equality" => for_children(section, |element| {
                parts[element.part].defaults.apply_as("equality", element, None).map(Some)
            })?,
            "actuator" => for_children(section, |element| {
                let is_actuator = ACTUATORS.contains(&element.tag.as_str());
                is_actuator.then(|| with_layers(parts, element)).transpose()
            })?,
            _ => {}
        }
    }
    Ok(())
}

/// Replaces the children for which there is another element.
fn for_children(
    section: &mut Element,
    other: impl Fn(&Element) -> Result<Option<Element>, SceneError>,
) -> Result<(), SceneError> {
    for child in &mut section.children {
        if let Some(resolved) = other(child)? {
            *child = resolved;
        }
    }
    Ok(())
}

/// Resolves what is in a body, with the class that the elements around it give.
fn within(
    parts: &[ModelContext],
    parent: &mut Element,
    class: Option<&str>,
) -> Result<(), SceneError> {
    for child in &mut parent.children {
        let defaults = &parts[child.part].defaults;
        match child.tag.as_str() {
            "body" | "frame" => {
                let class = child.get("childclass").or(class).map(str::to_owned);
                if let Some(class) = class.as_deref().filter(|class| !defaults.contains(class)) {
                    return Err(child.error(format_args!(
                        "childclass = \"{class}\"; expected the name of a class"
                    )));
                }
                within(parts, child, class.as_deref())?;
            }
            // Another model has classes of its own.
            PART => within(parts, child, None)?,
            tag if CLASSED.contains(&tag) => *child = defaults.apply(child, class)?,
            _ => {}
        }
    }
    Ok(())
}

/// An actuator with its defaults, lowest precedence first. Those of all shortcuts share their members, which differ from
/// the attributes, so that the reader of the law applies one after the other.
fn with_layers(parts: &[ModelContext], element: &Element) -> Result<Element, SceneError> {
    let mut layers = parts[element.part].defaults.layers(element, None)?;
    layers.pop();
    let children = layers.into_iter().cloned().collect();
    let mut resolved = element.clone();
    resolved.children.push(Element {
        tag: LAYERS.into(),
        attributes: Vec::new(),
        children,
        text: String::new(),
        ..element.clone()
    });
    Ok(resolved)
}

/// Sources of the members of an actuator, lowest precedence first; the last is the actuator itself.
pub(super) fn layers(actuator: &Element) -> Vec<&Element> {
    let defaults = actuator.child(LAYERS).map_or(&[][..], |layers| &layers.children);
    defaults.iter().chain([actuator]).collect()
}
