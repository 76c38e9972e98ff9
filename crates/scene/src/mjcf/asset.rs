//! `<asset>`: meshes, height fields and the colours of materials, by name.
//!
//! Meshes are read when a geom needs them; the file of a visual mesh is not read, but must exist.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::build::Build;
use super::height_field::{self, HeightFieldAsset};
use super::mesh::{MeshAsset, MeshSolid};
use crate::error::SceneError;
use crate::files::without_dots;
use crate::xml::Element;

/// Everything by name.
#[derive(Debug, Default)]
pub(super) struct Assets {
    pub meshes: HashMap<String, MeshAsset>,
    /// The meshes that were read.
    pub solids: HashMap<String, Rc<MeshSolid>>,
    pub height_fields: HashMap<String, HeightFieldAsset>,
    /// Red, green, blue and opacity.
    pub materials: HashMap<String, [f32; 4]>,
}

/// Reads a section.
pub(super) fn read(build: &mut Build, section: &Element) -> Result<(), SceneError> {
    for element in &section.children {
        match element.tag.as_str() {
            "mesh" => {
                let (name, mesh) = MeshAsset::read(build, element)?;
                add(element, &mut build.assets.meshes, name, mesh)?;
            }
            "hfield" => {
                let (name, field) = height_field::read(build, element)?;
                add(element, &mut build.assets.height_fields, name, field)?;
            }
            "material" => {
                let name = element.require("name")?.to_owned();
                let colour = colour(element)?.unwrap_or([1.0; 4]);
                seen_only(element);
                add(element, &mut build.assets.materials, name, colour)?;
            }
            // Textures and skins are visual only; models are read where they are attached.
            "texture" | "skin" | "model" => seen_only(element),
            _ => {}
        }
    }
    Ok(())
}

fn add<T>(
    element: &Element,
    map: &mut HashMap<String, T>,
    name: String,
    item: T,
) -> Result<(), SceneError> {
    if name.is_empty() {
        return Err(element.error("no name; expected one"));
    }
    if map.contains_key(&name) {
        let tag = &element.tag;
        return Err(element.error(format_args!("a second {tag} is called \"{name}\"")));
    }
    map.insert(name, item);
    Ok(())
}

/// Marks attributes of visuals as read.
pub(super) fn seen_only(element: &Element) {
    for attribute in &element.attributes {
        element.get(&attribute.name);
    }
    element.children.iter().for_each(seen_only);
}

/// The name of an asset: its own, or that of its file without the ending.
pub(super) fn name_of(element: &Element) -> String {
    let stem = |file: &str| {
        let file = file.replace('\\', "/");
        Path::new(&file).file_stem().map(|stem| stem.to_string_lossy().into_owned())
    };
    match element.get("name") {
        Some(name) => name.to_owned(),
        None => element.get("file").and_then(stem).unwrap_or_default(),
    }
}

/// `rgba`, if it is given.
pub(super) fn colour(element: &Element) -> Result<Option<[f32; 4]>, SceneError> {
    Ok(element.array::<4>("rgba")?.map(|rgba| rgba.map(|part| part as f32)))
}

/// The file of an asset: below the folder of assets of the main file, else beside the file that
/// declares the asset, as in MuJoCo.
pub(super) fn file_of(build: &Build, element: &Element) -> Result<Option<PathBuf>, SceneError> {
    let Some(name) = element.get("file") else { return Ok(None) };
    let wanted = without_dots(&build.compiler(element).mesh_path(build.folder(element), name));
    if build.files.contains(&wanted) {
        return Ok(Some(wanted));
    }
    let declaring = element.place.file.parent().unwrap_or(Path::new(""));
    let beside = without_dots(&declaring.join(name.replace('\\', "/")));
    if build.files.contains(&beside) {
        return Ok(Some(beside));
    }
    // A packed model holds the files that were read; those of visual meshes were not.
    if !build.files.reads_disk() {
        return Ok(Some(wanted));
    }
    Err(element.wrong("file", &format!("a file; there is no {}", wanted.display())))
}
