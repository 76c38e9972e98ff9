//! Reader of MJCF, the model format of MuJoCo.
//!
//! Files become one tree of elements ([`document`]), `<attach>` and `<replicate>` are written out in
//! it, and the sections are read in the order of [`SECTIONS`] into [`build::Build`].

mod actuator;
mod build;
mod compiler;
mod contact;
mod defaults;
mod document;
mod equality;
mod flag;
mod keyframe;
mod option;
mod orientation;
mod schema;
mod sensor;
mod softness;
mod tendon;
mod unread;

use std::path::Path;
use std::sync::Arc;

use build::Build;
use compiler::Compiler;
use defaults::Defaults;
use document::Document;

use crate::error::SceneError;
use crate::files::Files;
use crate::import::{Imported, Options};
use crate::xml::Element;

/// Reads a section; sections may repeat.
type Reader = fn(&mut Build, &Element) -> Result<(), SceneError>;

/// Every section that has a bearing on motion, in the order in which one refers to another. What
/// comes before the bodies must not name them.
static SECTIONS: &[(&str, Reader)] = &[
    ("option", nothing),
    ("asset", nothing),
    ("worldbody", nothing),
    ("contact", nothing),
    ("tendon", nothing),
    ("equality", nothing),
    ("actuator", nothing),
    ("sensor", nothing),
    ("keyframe", nothing),
];

fn nothing(_: &mut Build, _: &Element) -> Result<(), SceneError> {
    Ok(())
}

/// Reads a file.
pub fn read(files: &mut Files, path: &Path, options: &Options) -> Result<Imported, SceneError> {
    let document = Document::read(files, path)?;
    let name = document.name();
    let mut build = Build::new(files, options, document.folder.clone());
    build.compiler = Compiler::read(&document.root)?;
    build.defaults = Defaults::read(&document.root)?;
    for (tag, reader) in SECTIONS {
        for section in document.root.all(tag) {
            reader(&mut build, section)?;
        }
    }
    Ok(Imported {
        name,
        format: "mjcf",
        world: Arc::new(build.world.build()?),
        settings: build.settings,
        keyframes: build.keyframes,
        sites: build.site_list,
        visuals: build.visuals,
        unsupported: build.unsupported,
        notes: build.notes,
        files: build.files.clone(),
    })
}
