//! `<default>`: classes of attributes that elements inherit.
//!
//! Classes nest: an inner class inherits from the outer ones and overrides them. The outermost
//! is called `main`. All shortcuts of actuators (`motor`, `position`, …) share one set of defaults in
//! MuJoCo, whose members differ from the attributes; [`Defaults::layers`] gives what is needed to
//! work these out.

use std::cell::Cell;
use std::collections::HashMap;

use super::rename::{self, NamedElementKind};
use crate::error::SceneError;
use crate::xml::{Attribute, Element};

/// Name of the outermost class.
const MAIN: &str = "main";

/// Shortcuts of actuators, which share their defaults.
pub(super) const ACTUATORS: [&str; 13] = [
    "general",
    "motor",
    "position",
    "velocity",
    "intvelocity",
    "damper",
    "cylinder",
    "muscle",
    "adhesion",
    "dcmotor",
    "orientation",
    "pid",
    "plugin",
];

/// Elements that a class holds under another tag than their own.
fn kind(tag: &str) -> &str {
    match tag {
        "spatial" | "fixed" => "tendon",
        "connect" | "weld" | "flex" | "flexvert" | "flexstrain" => "equality",
        tag => tag,
    }
}

/// One class.
#[derive(Clone, Debug)]
struct DefaultClass {
    parent: Option<usize>,
    /// Its own elements, in the order of the text.
    elements: Vec<Element>,
    /// Whether an element uses it.
    used: Cell<bool>,
}

/// All classes.
#[derive(Clone, Debug)]
pub(super) struct Defaults {
    classes: Vec<DefaultClass>,
    by_name: HashMap<String, usize>,
}

impl Default for Defaults {
    fn default() -> Self {
        let main = DefaultClass { parent: None, elements: Vec::new(), used: Cell::new(true) };
        Self { classes: vec![main], by_name: HashMap::from([(MAIN.to_owned(), 0)]) }
    }
}

impl Defaults {
    /// Reads every `<default>` of a root; sections and classes of one name merge.
    pub fn read(root: &Element) -> Result<Self, SceneError> {
        let mut defaults = Self::default();
        for section in root.all("default") {
            if let Some(class) = section.get("class").filter(|class| *class != MAIN) {
                // Older files name the outermost class as they like.
                defaults.by_name.insert(class.to_owned(), 0);
            }
            defaults.fill(0, section)?;
        }
        Ok(defaults)
    }

    fn fill(&mut self, class: usize, section: &Element) -> Result<(), SceneError> {
        for element in &section.children {
            if element.tag != "default" {
                self.classes[class].elements.push(element.clone());
                continue;
            }
            let name = element.require("class")?;
            let inner = match self.by_name.get(name) {
                Some(&known) if self.classes[known].parent == Some(class) => known,
                Some(_) => {
                    return Err(element.wrong("class", "a name that no class elsewhere has"));
                }
                None => {
                    let (elements, used) = (Vec::new(), Cell::new(false));
                    self.classes.push(DefaultClass { parent: Some(class), elements, used });
                    self.by_name.insert(name.to_owned(), self.classes.len() - 1);
                    self.classes.len() - 1
                }
            };
            self.fill(inner, element)?;
        }
        Ok(())
    }

    /// An element with the attributes of its class added: the one it names itself, else
    /// `childclass` of the enclosing bodies, else the main class.
    pub fn apply(
        &self,
        element: &Element,
        childclass: Option<&str>,
    ) -> Result<Element, SceneError> {
        self.apply_as(kind(&element.tag), element, childclass)
    }

    /// The same for an element whose defaults stand under another tag than its own, such as `joint`
    /// among equalities.
    pub fn apply_as(
        &self,
        kind: &str,
        element: &Element,
        childclass: Option<&str>,
    ) -> Result<Element, SceneError> {
        let mut merged = element.clone();
        for layer in self.layers_as(kind, element, childclass)?.iter().rev().skip(1) {
            inherit(&mut merged, &layer.attributes);
        }
        Ok(merged)
    }

    /// Sources of an element's attributes, lowest precedence first: the defaults for its kind in the
    /// enclosing classes and its own class, from the outermost inwards, and last the element itself.
    /// For an actuator these are the defaults for any shortcut.
    pub fn layers<'a>(
        &'a self,
        element: &'a Element,
        childclass: Option<&str>,
    ) -> Result<Vec<&'a Element>, SceneError> {
        self.layers_as(kind(&element.tag), element, childclass)
    }

    fn layers_as<'a>(
        &'a self,
        kind: &str,
        element: &'a Element,
        childclass: Option<&str>,
    ) -> Result<Vec<&'a Element>, SceneError> {
        let mut class = match (element.get("class"), childclass) {
            (Some(name), _) => Some(self.find(element, "class", name)?),
            (None, Some(name)) => Some(self.find(element, "childclass", name)?),
            (None, None) => Some(0),
        };
        let actuator = ACTUATORS.contains(&kind);
        let concerns = |default: &&Element| {
            if actuator { ACTUATORS.contains(&default.tag.as_str()) } else { default.tag == kind }
        };
        let mut layers = vec![element];
        while let Some(number) = class {
            let DefaultClass { parent, elements, used } = &self.classes[number];
            used.set(true);
            layers.extend(elements.iter().rev().filter(concerns));
            class = *parent;
        }
        layers.reverse();
        Ok(layers)
    }

    fn find(&self, element: &Element, attribute: &str, name: &str) -> Result<usize, SceneError> {
        self.by_name.get(name).copied().ok_or_else(|| {
            element.error(format_args!("{attribute} = \"{name}\"; expected the name of a class"))
        })
    }

    /// Renames what the defaults refer to, such as materials and meshes. Classes keep their names, since
    /// each model has its own.
    pub fn rename(&mut self, rename_to: &impl Fn(NamedElementKind, &str) -> Option<String>) {
        for element in self.classes.iter_mut().flat_map(|class| &mut class.elements) {
            rename::rename(element, "default", rename_to);
        }
    }

    /// Whether there is a class of this name.
    pub fn contains(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// Elements of the classes that some element uses.
    pub fn used(&self) -> impl Iterator<Item = &Element> {
        self.classes.iter().filter(|class| class.used.get()).flat_map(|class| &class.elements)
    }
}

/// The notations of orientations, of which an element inherits none if it has one.
const ORIENTATIONS: [&str; 5] = ["quat", "axisangle", "xyaxes", "zaxis", "euler"];

fn inherit(element: &mut Element, attributes: &[Attribute]) {
    let oriented = ORIENTATIONS.iter().any(|name| element.peek(name).is_some());
    for attribute in attributes {
        if !(oriented && ORIENTATIONS.contains(&attribute.name.as_str())) {
            element.inherit(attribute);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn parse(text: &str) -> Element {
        Element::parse(text, Path::new("a.xml")).unwrap()
    }

    const NESTED: &str = "<mujoco><default>
        <geom size='1' mass='1' rgba='1'/>
        <default class='outer'><geom mass='2' rgba='2'/>
          <default class='inner'><geom rgba='3'/></default>
        </default>
      </default></mujoco>";

    #[test]
    fn inner_classes_refine_outer_ones_and_the_element_has_the_last_word() {
        let defaults = Defaults::read(&parse(NESTED)).unwrap();
        let all = |text: &str, childclass| {
            let geom = defaults.apply(&parse(text), childclass).unwrap();
            ["size", "mass", "rgba"].map(|name| geom.get(name).unwrap().parse::<i32>().unwrap())
        };
        assert_eq!(all("<geom/>", None), [1, 1, 1]);
        assert_eq!(all("<geom class='inner'/>", None), [1, 2, 3]);
        assert_eq!(all("<geom mass='9'/>", Some("outer")), [1, 9, 2]);
        assert_eq!(all("<geom class='main'/>", Some("outer")), [1, 1, 1]);
    }

    #[test]
    fn classes_of_one_name_at_one_place_merge() {
        let root = parse(
            "<mujoco><default><default class='a'><geom size='1'/></default></default>
             <default><default class='a'><geom mass='2'/></default></default></mujoco>",
        );
        let geom = parse("<geom class='a'/>");
        let geom = Defaults::read(&root).unwrap().apply(&geom, None).unwrap();
        assert_eq!((geom.get("size"), geom.get("mass")), (Some("1"), Some("2")));
    }

    #[test]
    fn unknown_and_nameless_classes_are_refused() {
        let defaults = Defaults::read(&parse(NESTED)).unwrap();
        assert!(defaults.apply(&parse("<geom class='none'/>"), None).is_err());
        assert!(Defaults::read(&parse("<mujoco><default><default/></default></mujoco>")).is_err());
    }

    #[test]
    fn tendons_and_actuators_find_their_shared_defaults() {
        let root = parse(
            "<mujoco><default><tendon width='1'/><position kp='2'/><motor gear='3'/></default></mujoco>",
        );
        let defaults = Defaults::read(&root).unwrap();
        let (fixed, general) = (parse("<fixed/>"), parse("<general/>"));
        assert_eq!(defaults.apply(&fixed, None).unwrap().get("width"), Some("1"));
        let layers = defaults.layers(&general, None).unwrap();
        let tags: Vec<_> = layers.iter().map(|layer| layer.tag.as_str()).collect();
        assert_eq!(tags, ["position", "motor", "general"]);
    }
}
