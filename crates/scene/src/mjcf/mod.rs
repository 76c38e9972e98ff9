//! Reader of MJCF, the model format of MuJoCo.
//!
//! Text becomes a plain description in three steps: files become one tree of elements (`document`), `<attach>` and
//! `<replicate>` are written out in it (`attach`), and every element gets the attributes of its class (`resolve`). The
//! sections of the description are then read in the order of `SECTIONS` into `build::Build`, from which the world is built
//! once; keyframes are states of its mechanism.

mod actuator;
mod asset;
mod attach;
mod body;
mod build;
mod compiler;
mod contact;
mod defaults;
mod delay;
mod document;
mod equality;
mod flag;
mod flex;
mod frame;
mod geom;
mod height_field;
mod inertial;
mod joint;
mod keyframe;
mod medium;
mod mesh;
mod mocap;
mod option;
mod orientation;
mod parent_contact;
mod png;
mod principal;
mod rename;
mod replicate;
mod resolve;
mod schema;
mod sdf_plugin;
mod sensor;
mod site;
mod soft_law;
mod solid;
mod spring;
mod surface;
mod tendon;
#[cfg(test)]
mod testing;
mod unread;
mod vocabulary;

use std::path::Path;
use std::sync::Arc;

use attach::Expansion;
use build::Build;
use document::Document;
use flag::Flags;

pub use schema::{MjcfWord, vocabulary};
use stiction_sim::World;

use crate::error::SceneError;
use crate::files::Files;
use crate::import::{Imported, Options};
use crate::xml::Element;

/// Elements of a model with all its copies, at most.
const MOST_ELEMENTS: usize = 200_000;

/// Reads a section; sections may repeat.
type Reader = fn(&mut Build, &Element) -> Result<(), SceneError>;

/// Every section that affects motion, in the order in which one refers to another. What
/// comes before the bodies must not name them.
static SECTIONS: &[(&str, Reader)] = &[
    ("option", option::read),
    ("asset", asset::read),
    ("worldbody", body::read),
    ("contact", contact::read),
    ("tendon", tendon::read),
    ("equality", equality::read),
    ("actuator", actuator::read),
    ("sensor", sensor::read),
];

/// Reads a file.
pub fn read(files: &mut Files, path: &Path, options: &Options) -> Result<Imported, SceneError> {
    read_all(files, path, options).map_err(|error| match error {
        located @ (SceneError::Model { .. } | SceneError::File { .. }) => located,
        other => SceneError::File { path: path.display().to_string(), what: other.to_string() },
    })
}

fn read_all(files: &mut Files, path: &Path, options: &Options) -> Result<Imported, SceneError> {
    let document = Document::read(files, path)?;
    let name = document.name();
    let Expansion { parts, mut sections, roots, .. } = attach::expand(files, document)?;
    resolve::resolve(&parts, &mut sections)?;
    let mut build = Build::new(files, options, parts);
    if let Some(main) = roots.first() {
        build.flags = Flags::of(main)?;
    }
    let tagged = |tag: &'static str| {
        sections.iter().map(|(_, section)| section).filter(move |section| section.tag == tag)
    };
    for section in tagged("contact") {
        let named = section.all("pair").flat_map(|pair| ["geom1", "geom2"].map(|g| pair.peek(g)));
        build.paired.extend(named.flatten().map(str::to_owned));
    }
    tagged("sensor").for_each(|section| build.sensed.add(section));
    for section in tagged("extension") {
        actuator::pid::read_instances(section, &mut build.plugins);
        sdf_plugin::read_instances(section, &mut build.field_plugins);
    }
    for (tag, reader) in SECTIONS {
        tagged(tag).try_for_each(|section| reader(&mut build, section))?;
    }
    parent_contact::declare(&mut build);
    medium::apply(&mut build);
    let world = std::mem::take(&mut build.world).build()?;
    for section in tagged("keyframe") {
        keyframe::read(&mut build, section, world.model())?;
    }
    for section in tagged("size") {
        keyframe::read_size(&mut build, section, world.model())?;
    }
    roots.iter().for_each(|root| unread::sweep(&mut build, root));
    Ok(finish(build, world, name))
}

/// The model with the world that was built; ids become those of its mechanism.
fn finish(build: Build, world: World, name: String) -> Imported {
    let of_model = |id| world.model().body_of_builder(id).unwrap_or(id);
    let (mut sites, mut visuals) = (build.site_list, build.visuals);
    let mut cameras = build.camera_list;
    cameras.iter_mut().for_each(|camera| camera.body = of_model(camera.body));
    sites.iter_mut().for_each(|site| site.body = of_model(site.body));
    visuals.iter_mut().for_each(|visual| visual.body = of_model(visual.body));
    Imported {
        name,
        format: "mjcf",
        world: Arc::new(world),
        settings: build.settings,
        keyframes: build.keyframes,
        sites,
        cameras,
        visuals,
        unsupported: build.unsupported,
        notes: build.notes,
        script: Default::default(),
        record: None,
        files: build.files.clone(),
    }
}
