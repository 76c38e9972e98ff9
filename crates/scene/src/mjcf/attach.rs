//! `<attach>`: a part of another model, with its own compiler and defaults, its assets, and whatever
//! of its sections refers to nothing but it.
//!
//! Models are expanded into one tree before anything is read. The content of another model is
//! in an element [`PART`], with names that have the prefix of the attachment.

use std::collections::HashSet;
use std::path::PathBuf;

use super::asset;
use super::compiler::Compiler;
use super::defaults::Defaults;
use super::document::Document;
use super::rename::{self, NamedElementKind};
use super::{MOST_ELEMENTS, replicate, schema};
use crate::error::SceneError;
use crate::files::{Files, without_dots};
use crate::xml::Element;

/// Tag of what comes from another model; no file can contain it.
pub(super) const PART: &str = "#part";

/// Models attached to models, at most.
const LONGEST_CHAIN: usize = 16;

/// Elements inside elements, at most.
const DEEPEST: usize = 200;

/// Sections whose elements are copied together with the elements that they refer to.
const REFERRING: [&str; 5] = ["contact", "tendon", "equality", "actuator", "sensor"];

/// Compiler settings and defaults under which the elements of one model are read.
#[derive(Clone, Debug, Default)]
pub(super) struct ModelContext {
    pub compiler: Compiler,
    pub defaults: Defaults,
    /// Folder of its main file.
    pub folder: PathBuf,
}

/// Number of elements in a tree.
pub(super) fn count(element: &Element) -> usize {
    1 + element.children.iter().map(count).sum::<usize>()
}

/// Models while they are written out.
pub(super) struct Expansion<'a> {
    files: &'a mut Files,
    pub parts: Vec<ModelContext>,
    /// Sections with the models that they come from.
    pub sections: Vec<(usize, Element)>,
    /// The roots of all models in the files.
    pub roots: Vec<Element>,
    chain: Vec<PathBuf>,
    spent: usize,
}

/// Expands a model; its one world body is among the sections.
pub(super) fn expand(files: &mut Files, document: Document) -> Result<Expansion<'_>, SceneError> {
    let mut expansion = Expansion {
        files,
        parts: Vec::new(),
        sections: Vec::new(),
        roots: Vec::new(),
        chain: Vec::new(),
        spent: 0,
    };
    let world = expansion.open(document)?;
    expansion.sections.push((0, world));
    Ok(expansion)
}

impl Expansion<'_> {
    /// Counts elements, so that a short file cannot grow without bounds.
    pub fn spend(&mut self, at: &Element, elements: usize) -> Result<(), SceneError> {
        self.spent = self.spent.saturating_add(elements);
        if self.spent > MOST_ELEMENTS {
            let found = self.spent;
            return Err(at.error(format_args!(
                "{found} elements with all copies; expected at most {MOST_ELEMENTS}"
            )));
        }
        Ok(())
    }

    /// Adds the sections of a model and gives its world body, written out.
    fn open(&mut self, document: Document) -> Result<Element, SceneError> {
        let part = self.parts.len();
        let Document { mut root, folder, path } = document;
        root.set_part(part);
        self.spend(&root, count(&root))?;
        schema::check(&root)?;
        root.get("model");
        let compiler = Compiler::read(&root)?;
        let defaults = Defaults::read(&root)?;
        self.parts.push(ModelContext { compiler, defaults, folder });
        self.roots.push(root.clone());
        let mut world = Element {
            tag: "worldbody".into(),
            place: root.place.clone(),
            attributes: Vec::new(),
            children: Vec::new(),
            text: String::new(),
            part,
        };
        let mut models = Vec::new();
        for section in root.children {
            match section.tag.as_str() {
                "worldbody" => {
                    world.place = section.place;
                    section.attributes.iter().for_each(|attribute| world.inherit(attribute));
                    world.children.extend(section.children);
                }
                "compiler" | "default" => {}
                _ => {
                    models.extend(section.all("model").cloned());
                    self.sections.push((part, section));
                }
            }
        }
        self.chain.push(path);
        world.children = self.children(part, world.children, &models, 1)?;
        self.chain.pop();
        Ok(world)
    }

    fn children(
        &mut self,
        part: usize,
        children: Vec<Element>,
        models: &[Element],
        depth: usize,
    ) -> Result<Vec<Element>, SceneError> {
        let mut into = Vec::with_capacity(children.len());
        for mut child in children {
            if depth > DEEPEST {
                let what = format!("elements {depth} deep; expected at most {DEEPEST}");
                return Err(child.error(what));
            }
            let inner = std::mem::take(&mut child.children);
            match child.tag.as_str() {
                "attach" => into.push(self.attach(part, &child, models)?),
                "replicate" => {
                    let inner = self.children(part, inner, models, depth + 1)?;
                    replicate::expand(self, part, &child, inner, &mut into)?;
                }
                "body" | "frame" => {
                    child.children = self.children(part, inner, models, depth + 1)?;
                    into.push(child);
                }
                _ => {
                    child.children = inner;
                    into.push(child);
                }
            }
        }
        Ok(into)
    }

    /// The content that replaces an `<attach>`.
    fn attach(
        &mut self,
        part: usize,
        attach: &Element,
        models: &[Element],
    ) -> Result<Element, SceneError> {
        let name = attach.require("model")?;
        let prefix = attach.get("prefix").unwrap_or_default().to_owned();
        let document = self.model(part, attach, name, models)?;
        let (first_part, first_section) = (self.parts.len(), self.sections.len());
        let mut world = self.open(document)?;
        let selected = match (attach.get("body"), attach.get("frame")) {
            (Some(body), _) => vec![find(&world, "body", body).ok_or_else(|| {
                attach.wrong("body", &format!("the name of a body of model \"{name}\""))
            })?],
            (None, Some(frame)) => vec![find(&world, "frame", frame).ok_or_else(|| {
                attach.wrong("frame", &format!("the name of a frame of model \"{name}\""))
            })?],
            (None, None) => std::mem::take(&mut world.children),
        };
        if let Some(name) = attach.get("body").or(attach.get("frame")) {
            leave(&world, name);
        }
        let sections = self.sections.split_off(first_section);
        let sections = along(sections, &selected);
        let other =
            |_: NamedElementKind, name: &str| (name != "world").then(|| format!("{prefix}{name}"));
        let mut element = Element {
            tag: PART.into(),
            place: attach.place.clone(),
            attributes: Vec::new(),
            children: selected,
            text: String::new(),
            part: first_part,
        };
        for part in &mut self.parts[first_part..] {
            part.defaults.rename(&other);
        }
        element.children.iter_mut().for_each(|child| rename::rename(child, "worldbody", &other));
        for (part, mut section) in sections {
            let tag = section.tag.clone();
            for child in &mut section.children {
                // Assets that are called after their files need a name that can be prefixed.
                if tag == "asset" && child.peek("name").is_none() && child.tag != "model" {
                    child.set("name", asset::name_of(child));
                }
                rename::rename(child, &tag, &other);
            }
            self.sections.push((part, section));
        }
        Ok(element)
    }

    /// The document of an attached model.
    fn model(
        &mut self,
        part: usize,
        attach: &Element,
        name: &str,
        models: &[Element],
    ) -> Result<Document, SceneError> {
        let unknown = || attach.wrong("model", "the name of a model among the assets");
        let ModelContext { compiler, folder, .. } = &self.parts[part];
        let places = |file: &str| {
            [folder.join(file), compiler.mesh_path(folder, file)].map(|path| without_dots(&path))
        };
        let mut unnamed = Vec::new();
        let mut found = None;
        for model in models {
            let file = model.require("file")?;
            let path = places(file).into_iter().find(|path| self.files.contains(path));
            let Some(path) = path else {
                return Err(model.wrong("file", &format!("a file, {}", places(file)[0].display())));
            };
            match model.get("name") {
                Some(own) if own == name => found = Some(path),
                Some(_) => {}
                None => unnamed.push(path),
            }
        }
        if self.chain.len() > LONGEST_CHAIN {
            return Err(attach.error(format_args!(
                "models attached to models {} deep; expected at most {LONGEST_CHAIN}",
                self.chain.len()
            )));
        }
        if let Some(path) = found {
            return self.document(attach, path);
        }
        for path in unnamed {
            let document = self.document(attach, path)?;
            if document.root.peek("model") == Some(name) {
                return Ok(document);
            }
        }
        Err(unknown())
    }

    fn document(&mut self, attach: &Element, path: PathBuf) -> Result<Document, SceneError> {
        if self.chain.contains(&path) {
            let chain: Vec<_> =
                self.chain.iter().chain([&path]).map(|file| file.display().to_string()).collect();
            return Err(attach.error(format_args!(
                "a model attached to itself: {}; expected another",
                chain.join(" → ")
            )));
        }
        Document::read(self.files, &path)
    }

    /// Takes what refers to one of the names out of the sections, with the place of its section, and
    /// adds its own names to them.
    pub fn take_referring(
        &mut self,
        names: &mut HashSet<(NamedElementKind, String)>,
    ) -> Vec<(usize, Element)> {
        let mut taken = Vec::new();
        loop {
            let before = taken.len();
            for place in 0..self.sections.len() {
                let section = &mut self.sections[place].1;
                if !REFERRING.contains(&section.tag.as_str()) {
                    continue;
                }
                let tag = section.tag.clone();
                for element in std::mem::take(&mut section.children) {
                    let mut refers = false;
                    rename::references(&element, &mut |kind, name| {
                        refers |= names.contains(&(kind, name.to_owned()));
                    });
                    if refers {
                        rename::names(&element, &tag, &mut |kind, name| {
                            names.insert((kind, name.to_owned()));
                        });
                        taken.push((place, element));
                    } else {
                        section.children.push(element);
                    }
                }
            }
            if taken.len() == before {
                return taken;
            }
        }
    }
}

/// Marks as read what is left behind: everything but the element of a name.
fn leave(element: &Element, name: &str) {
    if element.peek("name") == Some(name) && ["body", "frame"].contains(&element.tag.as_str()) {
        return;
    }
    for attribute in &element.attributes {
        element.get(&attribute.name);
    }
    element.children.iter().for_each(|child| leave(child, name));
}

/// The sections that come along: assets, and what refers to nothing but the selected.
fn along(sections: Vec<(usize, Element)>, selected: &[Element]) -> Vec<(usize, Element)> {
    let mut known = HashSet::from([(NamedElementKind::Body, "world".to_owned())]);
    for element in selected {
        rename::names(element, "worldbody", &mut |kind, name| {
            known.insert((kind, name.to_owned()));
        });
    }
    // Referenced elements come before those that refer to them.
    let mut sections = sections;
    sections.sort_by_key(|(_, section)| REFERRING.iter().position(|tag| *tag == section.tag));
    let tree = [
        NamedElementKind::Body,
        NamedElementKind::Joint,
        NamedElementKind::Geom,
        NamedElementKind::Site,
        NamedElementKind::Camera,
    ];
    let mut along = Vec::new();
    for (part, mut section) in sections {
        let tag = section.tag.clone();
        match tag.as_str() {
            // Keys give the coordinates of the model attached, all others are at their reference.
            "asset" | "keyframe" => {}
            tag if REFERRING.contains(&tag) => section.children.retain(|element| {
                let mut complete = true;
                rename::references(element, &mut |kind, name| {
                    let followed = tree.contains(&kind)
                        || matches!(kind, NamedElementKind::Tendon | NamedElementKind::Actuator);
                    complete &= !followed || known.contains(&(kind, name.to_owned()));
                });
                if complete {
                    rename::names(element, tag, &mut |kind, name| {
                        known.insert((kind, name.to_owned()));
                    });
                } else {
                    asset::seen_only(element);
                }
                complete
            }),
            _ => {
                // The options of the main model hold for all.
                asset::seen_only(&section);
                continue;
            }
        }
        along.push((part, section));
    }
    along
}

/// The element of a tag and name, or a copy of the [`PART`] around it.
fn find(element: &Element, tag: &str, name: &str) -> Option<Element> {
    for child in &element.children {
        if child.tag == tag && child.peek("name") == Some(name) {
            return Some(child.clone());
        }
        if let Some(found) = find(child, tag, name) {
            if child.tag == PART {
                return Some(Element { children: vec![found], ..child.clone() });
            }
            return Some(found);
        }
    }
    None
}
