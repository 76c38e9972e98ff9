//! A model built from its source, a scenario or files in memory. With its source a model can be rebuilt
//! in another process, or for another controller.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use nalgebra::Isometry3;
use stiction_mech::{Input, State};
use stiction_scene::import::{Camera, Keyframe, Options, RecordOptions, Site, Unsupported, Visual};
use stiction_scene::signal::{Signal, SignalController};
use stiction_scene::visual_shapes::visual_shapes;
use stiction_scene::{Controller, Files, Imported, Scene, load_with};
use stiction_sim::record::VisualShape;
use stiction_sim::{Settings, World};
use stiction_study::{SceneSource, StudyError, scenario};

use crate::render::DrawnModel;

/// Visual shapes of a model.
pub struct VisualShapes {
    /// The shapes.
    pub shapes: Vec<VisualShape>,
    /// Errors of the shapes that could not be read.
    pub faults: Vec<String>,
}

/// A model and what was read with it.
pub struct ModelContent {
    /// Name of the model.
    pub name: String,
    /// Format of the file, or `scenario`.
    pub format: &'static str,
    /// The world.
    pub world: Arc<World>,
    /// Settings of the model.
    pub settings: Settings,
    /// Initial state.
    pub initial: State,
    /// Initial controls.
    pub control: Vec<f64>,
    /// Initial poses of driven bodies.
    pub driven: Vec<Isometry3<f64>>,
    /// Keyframes.
    pub keyframes: Vec<Keyframe>,
    /// Named frames.
    pub sites: Vec<Site>,
    pub cameras: Vec<Camera>,
    /// Unsupported features of the file.
    pub unsupported: Vec<Unsupported>,
    /// Notes of the importer.
    pub notes: Vec<String>,
    /// Whether the model has a controller, which sets inputs before each step.
    pub has_controller: bool,
    /// Recording options of the file, if any.
    pub record: Option<RecordOptions>,
    signals: Vec<Signal>,
    visuals: Vec<Visual>,
    visual_shapes: OnceLock<VisualShapes>,
    /// The shapes as pictures have them.
    pub drawn: DrawnModel,
    /// Its source.
    pub source: SceneSource,
}

impl ModelContent {
    /// Builds a scenario.
    pub fn of_scenario(name: &str, set: Vec<(String, String)>) -> Result<Self, StudyError> {
        let Scene { world, settings, initial, mut control, driven, controller, .. } =
            scenario(name, &set)?;
        control.resize(world.model().nu(), 0.0);
        let initial = initial.unwrap_or_else(|| State::new(world.model()));
        Ok(Self {
            name: name.to_owned(),
            format: "scenario",
            driven: driven_or_default(driven, &world),
            world,
            settings,
            initial,
            control,
            keyframes: Vec::new(),
            sites: Vec::new(),
            cameras: Vec::new(),
            unsupported: Vec::new(),
            notes: Vec::new(),
            has_controller: controller.is_some(),
            record: None,
            signals: Vec::new(),
            visuals: Vec::new(),
            visual_shapes: OnceLock::new(),
            drawn: DrawnModel::default(),
            source: SceneSource::Scenario { name: name.to_owned(), set },
        })
    }

    /// Builds the model of a file.
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
            cameras,
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
            driven: driven_or_default(driven, &world),
            world,
            settings,
            keyframes,
            sites,
            cameras,
            unsupported,
            notes,
            has_controller: !script.signals.is_empty(),
            record,
            signals: script.signals,
            visuals,
            visual_shapes: OnceLock::new(),
            drawn: DrawnModel::default(),
            source: SceneSource::files(files.packed(), path, options),
        })
    }

    /// Visual shapes; their meshes are read at the first call. A pickled model does not contain them:
    /// meshes that are not in memory are read from their original paths.
    pub fn visual_shapes(&self) -> &VisualShapes {
        self.visual_shapes.get_or_init(|| {
            let mut files = Files::on_disk();
            if let SceneSource::Files { files: held, .. } = &self.source {
                held.held().for_each(|(path, bytes)| files.insert(path, bytes));
            }
            let (shapes, faults) = visual_shapes(&self.visuals, &mut files);
            VisualShapes { shapes, faults: faults.iter().map(ToString::to_string).collect() }
        })
    }

    /// The scene, ready to run.
    pub fn scene(&self) -> Result<Scene, StudyError> {
        self.source.scene()
    }

    /// A new controller. Each simulation needs its own, since a controller may have state.
    pub fn controller(&self) -> Result<Option<Box<dyn Controller>>, StudyError> {
        match &self.source {
            _ if !self.has_controller => Ok(None),
            SceneSource::Scenario { .. } => Ok(self.scene()?.controller),
            SceneSource::Files { .. } => {
                Ok(Some(Box::new(SignalController::new(self.signals.clone()))))
            }
        }
    }
}

/// Initial poses of driven bodies: those given, or those of the model.
fn driven_or_default(given: Vec<Isometry3<f64>>, world: &World) -> Vec<Isometry3<f64>> {
    if given.is_empty() { Input::new(world.model()).driven_pose } else { given }
}

/// Files in memory from their bytes.
pub fn unpack(files: BTreeMap<String, Vec<u8>>) -> Files {
    let mut held = Files::in_memory();
    for (path, bytes) in files {
        held.insert(path, bytes);
    }
    held
}
