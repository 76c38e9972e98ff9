//! Source of a scene: a scenario with its settings, or files with import options. A scene can be built
//! from it any number of times: once per solver, per thread, or in another process.

use std::path::{Path, PathBuf};

use stiction_scene::import::Options;
use stiction_scene::{Files, Imported, Scene, load_with};

use crate::error::StudyError;
use crate::scenarios::{SCENARIOS, scenario};

/// Source of a scene.
#[derive(Clone, Debug)]
pub enum SceneSource {
    /// A scenario.
    Scenario {
        /// Name of the scenario.
        name: String,
        /// Parameters of the scenario and settings of the step, by name.
        set: Vec<(String, String)>,
    },
    /// Files.
    Files {
        /// The files that were read so far; further ones may be on disk.
        files: Files,
        /// The main file.
        path: PathBuf,
        /// Import options.
        options: Options,
        /// Keyframe to begin from; the start of the file itself if absent.
        keyframe: Option<String>,
        /// Settings of the step, by name.
        set: Vec<(String, String)>,
    },
}

impl PartialEq for SceneSource {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Scenario { name, set }, Self::Scenario { name: name_2, set: set_2 }) => {
                name == name_2 && set == set_2
            }
            (
                Self::Files { files, path, options, keyframe, set },
                Self::Files {
                    files: files_2,
                    path: path_2,
                    options: options_2,
                    keyframe: keyframe_2,
                    set: set_2,
                },
            ) => {
                (path, options, keyframe, set) == (path_2, options_2, keyframe_2, set_2)
                    && files.held().eq(files_2.held())
            }
            _ => false,
        }
    }
}

impl SceneSource {
    /// Files with their own start and settings.
    pub fn files(files: Files, path: &Path, options: Options) -> Self {
        Self::Files { files, path: path.to_owned(), options, keyframe: None, set: Vec::new() }
    }

    /// Whether a name is that of a scenario.
    pub fn is_scenario(name: &str) -> bool {
        SCENARIOS.iter().any(|scenario| scenario.name == name)
    }

    /// Builds the scene.
    pub fn scene(&self) -> Result<Scene, StudyError> {
        Ok(self.open()?.0)
    }

    /// Builds the scene, and returns the imported model if it comes from files.
    pub fn open(&self) -> Result<(Scene, Option<Imported>), StudyError> {
        match self {
            Self::Scenario { name, set } => Ok((scenario(name, set)?, None)),
            Self::Files { files, path, options, keyframe, set } => {
                let imported = load_with(files.clone(), path, options)?;
                let mut scene = match keyframe {
                    Some(keyframe) => imported.scene_from(keyframe)?,
                    None => imported.scene()?,
                };
                for (key, value) in set {
                    scene.settings.set(key, value)?;
                }
                Ok((scene, Some(imported)))
            }
        }
    }
}
