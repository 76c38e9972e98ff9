//! Importer of native scenes: TOML that combines models from files, bodies, soft bodies, cables,
//! joints, actuators and controllers in one world, with settings of the step and checks.
//!
//! `docs/scenes.md` describes the format. One file here reads one kind of table. Every key that is
//! not known is an error with its line; so is everything that cannot be.

mod actuator;
mod body;
mod cable;
mod check;
mod controller;
mod copies;
mod csv;
mod equality;
mod exclude;
mod joint;
mod model;
mod names;
mod order;
mod pose;
mod record;
mod region;
mod sdf;
mod settings;
mod shape;
mod soft;
mod solid;
mod start;
mod surface;
mod table;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use stiction_mech::BodyId;
use stiction_sim::{Settings, WorldBuilder};

use self::controller::PendingSignal;
use self::model::InsertedModel;
use self::names::NameIndex;
use self::start::InitialValue;
use self::surface::Surfaces;
use self::table::{SourceText, Table};
use crate::error::SceneError;
use crate::files::Files;
use crate::import::{Imported, Options, Script};

/// Reads a file.
pub fn read(files: &mut Files, path: &Path, options: &Options) -> Result<Imported, SceneError> {
    let source = SourceText::new(files.text(path)?, path);
    let document = source.parse()?;
    let root = Table::root(&source, &document);
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let mut script = Script::default();
    let mut name = stem.unwrap_or_default();
    let mut scene = SceneBuilder {
        files,
        options,
        folder: path.parent().map(Path::to_path_buf).unwrap_or_default(),
        builder: WorldBuilder::new(),
        names: DeclaredNames::default(),
        settings: Settings::default(),
        surfaces: Surfaces::read(&root)?,
        parts: Vec::new(),
        tetrahedra: 0,
        beginnings: Vec::new(),
        pending: Vec::new(),
        notes: Vec::new(),
    };
    if let Some(table) = root.table("scene")? {
        if let Some(found) = table.text("name")? {
            name = found.to_owned();
        }
        script.duration = table.positive("duration")?;
        if let Some(gravity) = table.vector("gravity")? {
            scene.builder.mechanism.gravity(gravity);
        }
        table.finish()?;
    }
    for table in root.tables("model")? {
        model::read(&mut scene, table)?;
    }
    settings::read(&mut scene, &root)?;
    let joints = joint::read(&root)?;
    body::read(&mut scene, &root, joints)?;
    for table in root.tables("soft")? {
        soft::read(&mut scene, table)?;
    }
    for table in root.tables("cable")? {
        cable::read(&mut scene, table)?;
    }
    for table in root.tables("equality")? {
        equality::read(&mut scene, table)?;
    }
    for table in root.tables("exclude")? {
        exclude::read(&mut scene, table)?;
    }
    for table in root.tables("actuator")? {
        actuator::read(&mut scene, table)?;
    }
    for table in root.tables("controller")? {
        controller::read(&mut scene, table)?;
    }
    let record = root.table("record")?.map(record::read).transpose()?;
    let claims = root.tables("check")?;
    root.finish()?;

    let whole = |error: &dyn std::fmt::Display| SceneError::File {
        path: path.display().to_string(),
        what: error.to_string(),
    };
    let builder = std::mem::take(&mut scene.builder);
    let world = Arc::new(builder.build().map_err(|error| whole(&error))?);
    let start = start::keyframe(&world, &scene);
    for pending in &scene.pending {
        script.signals.push(pending.signal(&world, &start));
    }
    let names = check::ModelNames::default();
    for table in claims {
        check::read(&world, &names, table, &mut script.claims)?;
    }
    let mut imported = Imported {
        name,
        format: "native",
        world: world.clone(),
        settings: scene.settings,
        keyframes: vec![start.clone()],
        sites: Vec::new(),
        cameras: Vec::new(),
        visuals: Vec::new(),
        unsupported: Vec::new(),
        notes: scene.notes,
        script: Script { start: Some(start), ..script },
        record,
        files: scene.files.clone(),
    };
    for part in &scene.parts {
        part.carry_over(&world, &mut imported);
    }
    Ok(imported)
}

/// State of the importer. Ids are those of the builder.
struct SceneBuilder<'a> {
    files: &'a mut Files,
    options: &'a Options,
    /// Folder of the scene, from which other files are named.
    folder: PathBuf,
    builder: WorldBuilder,
    names: DeclaredNames,
    settings: Settings,
    surfaces: Surfaces,
    parts: Vec<InsertedModel>,
    /// Tetrahedra of all soft bodies so far.
    tetrahedra: usize,
    beginnings: Vec<InitialValue>,
    pending: Vec<PendingSignal>,
    notes: Vec<String>,
}

/// Names of what is declared.
#[derive(Default)]
struct DeclaredNames {
    bodies: NameIndex,
    joints: NameIndex,
    actuators: NameIndex,
}

/// Most bodies of a scene, the segments of cables among them.
const MOST_BODIES: usize = 1 << 20;
/// Most tetrahedra of all soft bodies of a scene.
const MOST_TETRAHEDRA: usize = 1 << 22;

/// Name of the world in references.
const WORLD: &str = "world";

impl SceneBuilder<'_> {
    /// Checks that the scene has room for so many more bodies.
    fn admit_bodies(&self, table: &Table, each: usize, copies: usize) -> Result<(), SceneError> {
        let declared = self.builder.mechanism.declared().bodies.len();
        let found = declared.saturating_add(each.saturating_mul(copies));
        if found <= MOST_BODIES {
            return Ok(());
        }
        Err(table.error(format_args!("{found} bodies in all; expected at most {MOST_BODIES}")))
    }

    /// Checks that the scene has room for so many more tetrahedra.
    fn admit_tetrahedra(
        &mut self,
        table: &Table,
        each: usize,
        copies: usize,
    ) -> Result<(), SceneError> {
        self.tetrahedra = self.tetrahedra.saturating_add(each.saturating_mul(copies));
        if self.tetrahedra <= MOST_TETRAHEDRA {
            return Ok(());
        }
        let found = self.tetrahedra;
        let what = format_args!("{found} tetrahedra in all; expected at most {MOST_TETRAHEDRA}");
        Err(table.error(what))
    }

    /// The body of this name, or the world, that something else is held by.
    fn holder(&self, table: &Table, key: &'static str, name: &str) -> Result<BodyId, SceneError> {
        let bodies = self.builder.mechanism.declared().bodies;
        if self.names.bodies.lacks(bodies, name) && !name.ends_with('*') {
            if name == WORLD {
                return Ok(BodyId::WORLD);
            }
            let others = bodies.iter().skip(1).map(|spec| spec.name.as_str());
            let names = std::iter::once(WORLD).chain(others);
            return Err(names::unknown(table, key, name, names));
        }
        let found = self.names.bodies.find_one((table, key), name, bodies);
        found.map(BodyId)
    }
}

#[cfg(test)]
mod soft_tests;
#[cfg(test)]
mod tests;
