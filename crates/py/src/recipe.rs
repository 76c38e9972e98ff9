//! How a model is made, so that it can be made again: in another process, or for a controller.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use nalgebra::Isometry3;
use stiction_mech::{Input, State};
use stiction_scene::import::{Keyframe, Options, Site, Unsupported, Visual, Wishes};
use stiction_scene::seen::seen;
use stiction_scene::signal::{Driver, Signal};
use stiction_scene::{Controller, Files, Imported, Scene, load_with};
use stiction_sim::record::Seen;
use stiction_sim::{Settings, World};
use stiction_study::{SceneSource, StudyError, scenario};

/// What is only seen of a model.
pub struct Looks {
    /// The shapes.
    pub shapes: Vec<Seen>,
    /// Why others cannot be seen.
    pub faults: Vec<String>,
}

/// A model and what was read with it.
pub struct Content {
    /// What the model is called.
    pub name: String,
    /// Format of the file, or `scenario`.
    pub format: &'static str,
    /// The physics.
    pub world: Arc<World>,
    /// How it wants to be stepped.
    pub settings: Settings,
    /// The state to start from.
    pub initial: State,
    /// The controls to start with.
    pub control: Vec<f64>,
    /// Where driven bodies start.
    pub driven: Vec<Isometry3<f64>>,
    /// States to start from, by name.
    pub keyframes: Vec<Keyframe>,
    /// Named frames.
    pub sites: Vec<Site>,
    /// What could not be honoured.
    pub unsupported: Vec<Unsupported>,
    /// What the reader may want to know.
    pub notes: Vec<String>,
    /// Whether something sets inputs before each step.
    pub has_controller: bool,
    /// What a run is to leave behind, if the file says so.
    pub record: Option<Wishes>,
    signals: Vec<Signal>,
    visuals: Vec<Visual>,
    looks: OnceLock<Looks>,
    /// How it was made.
    pub source: SceneSource,
}

impl Content {
    /// Makes a scenario.
    pub fn of_scenario(name: &str, set: Vec<(String, String)>) -> Result<Self, StudyError> {
        let Scene { world, settings, initial, mut control, driven, controller, .. } =
            scenario(name, &set)?;
        control.resize(world.model().nu(), 0.0);
        let initial = initial.unwrap_or_else(|| State::new(world.model()));
        Ok(Self {
            name: name.to_owned(),
            format: "scenario",
            driven: driven_or_home(driven, &world),
            world,
            settings,
            initial,
            control,
            keyframes: Vec::new(),
            sites: Vec::new(),
            unsupported: Vec::new(),
            notes: Vec::new(),
            has_controller: controller.is_some(),
            record: None,
            signals: Vec::new(),
            visuals: Vec::new(),
            looks: OnceLock::new(),
            source: SceneSource::Scenario { name: name.to_owned(), set },
        })
    }

    /// Reads files.
    pub fn of_files(files: Files, path: &Path, options: Options) -> Result<Self, StudyError> {
        let imported = load_with(files, path, &options)?;
        let Scene { initial, mut control, driven, .. } = imported.scene()?;
        let Imported {
            name,
            format,
            world,
            settings,
            keyframes,
            sites,
            visuals,
            unsupported,
            notes,
            script,
            record,
            files,
        } = imported;
        control.resize(world.model().nu(), 0.0);
        Ok(Self {
            name,
            format,
            initial: initial.unwrap_or_else(|| State::new(world.model())),
            control,
            driven: driven_or_home(driven, &world),
            world,
            settings,
            keyframes,
            sites,
            unsupported,
            notes,
            has_controller: !script.signals.is_empty(),
            record,
            signals: script.signals,
            visuals,
            looks: OnceLock::new(),
            source: SceneSource::files(files.packed(), path, options),
        })
    }

    /// What is only seen; its meshes are read when it is first asked for. A model that was packed
    /// brings no such meshes: those that are not held are looked for where they were.
    pub fn looks(&self) -> &Looks {
        self.looks.get_or_init(|| {
            let mut files = Files::on_disk();
            if let SceneSource::Files { files: held, .. } = &self.source {
                held.held().for_each(|(path, bytes)| files.insert(path, bytes));
            }
            let (shapes, faults) = seen(&self.visuals, &mut files);
            Looks { shapes, faults: faults.iter().map(ToString::to_string).collect() }
        })
    }

    /// The scene, ready to run.
    pub fn scene(&self) -> Result<Scene, StudyError> {
        self.source.scene()
    }

    /// A controller of its own for each simulation: it may have a memory.
    pub fn controller(&self) -> Result<Option<Box<dyn Controller>>, StudyError> {
        match &self.source {
            _ if !self.has_controller => Ok(None),
            SceneSource::Scenario { .. } => Ok(self.scene()?.controller),
            SceneSource::Files { .. } => Ok(Some(Box::new(Driver::new(self.signals.clone())))),
        }
    }
}

/// Poses of driven bodies: those given, or those of the model.
fn driven_or_home(given: Vec<Isometry3<f64>>, world: &World) -> Vec<Isometry3<f64>> {
    if given.is_empty() { Input::new(world.model()).driven_pose } else { given }
}

/// Files as plain data.
pub fn unpack(files: BTreeMap<String, Vec<u8>>) -> Files {
    let mut held = Files::in_memory();
    for (path, bytes) in files {
        held.insert(path, bytes);
    }
    held
}
