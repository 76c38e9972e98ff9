//! Imported models: a world, the settings of its file, and what the file holds besides physics.
//! Every format is read into [`Imported`]; `stiction inspect` prints it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use nalgebra::{Isometry3, Vector3};
use stiction_geom::Shape;
use stiction_mech::{BodyId, State};
use stiction_sim::{Settings, World};

use crate::claim::{Claim, ClaimCheck};
use crate::error::SceneError;
use crate::files::Files;
use crate::scene::Scene;
use crate::signal::{Signal, SignalController};
use crate::xml::SourceLocation;

/// A model that was read from a file. Ids are those of the world's model.
#[derive(Clone, Debug)]
pub struct Imported {
    /// Name of the model in the file, or the file's name.
    pub name: String,
    /// Name of the format.
    pub format: &'static str,
    /// The physics.
    pub world: Arc<World>,
    /// Settings of the step that the file gives.
    pub settings: Settings,
    /// States to start from.
    pub keyframes: Vec<Keyframe>,
    /// Named frames on bodies.
    pub sites: Vec<Site>,
    /// Cameras on bodies.
    pub cameras: Vec<Camera>,
    /// Shapes without collision.
    pub visuals: Vec<Visual>,
    /// Features of the file that are not supported.
    pub unsupported: Vec<Unsupported>,
    /// Notes on how the file was interpreted.
    pub notes: Vec<String>,
    /// Start, control and checks; empty for formats that only describe a model.
    pub script: Script,
    /// Recordings that a run of the scene writes, if the file has any.
    pub record: Option<RecordOptions>,
    /// The files that were read.
    pub files: Files,
}

/// Recordings that a run of a scene writes.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordOptions {
    /// File names of recordings, below the working directory of the run.
    pub files: Vec<String>,
    /// Frames per second of simulated time.
    pub fps: Option<f64>,
    /// Options of pictures, in the syntax of `--picture`.
    pub picture: Option<String>,
    /// Location of the table in the file.
    pub place: SourceLocation,
}

impl RecordOptions {
    /// An error in these options.
    pub fn wrong(&self, why: &dyn std::fmt::Display) -> SceneError {
        SceneError::Model { place: self.place.clone(), what: format!("[record]: {why}") }
    }
}

/// The parts of a scene besides the model: start, control signals, checks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// Default duration of a run [s].
    pub duration: Option<f64>,
    /// Initial state; the reference configuration if absent.
    pub start: Option<Keyframe>,
    /// Control signals of the actuators.
    pub signals: Vec<Signal>,
    /// Claims that the check of the scene evaluates.
    pub claims: Vec<Claim>,
}

/// Duration of files that give none [s].
const DURATION: f64 = 10.0;

impl Imported {
    /// The scene, ready to run: from its own start if it has one, else from the reference
    /// configuration at rest and without control.
    pub fn scene(&self) -> Result<Scene, SceneError> {
        self.scene_with_start(self.script.start.as_ref())
    }

    /// The scene, ready to run from a keyframe: its state and its controls.
    pub fn scene_from(&self, keyframe: &str) -> Result<Scene, SceneError> {
        self.scene_with_start(Some(self.keyframe(keyframe)?))
    }

    /// The keyframe of this name or, if none is called so, of this number.
    pub fn keyframe(&self, name: &str) -> Result<&Keyframe, SceneError> {
        let named = self.keyframes.iter().find(|keyframe| keyframe.name == name);
        let numbered = || self.keyframes.get(name.parse::<usize>().ok()?);
        named.filter(|_| !name.is_empty()).or_else(numbered).ok_or_else(|| {
            let called = |(number, keyframe): (usize, &Keyframe)| match keyframe.name.as_str() {
                "" => number.to_string(),
                name => name.to_owned(),
            };
            let known: Vec<String> = self.keyframes.iter().enumerate().map(called).collect();
            let expected = match known.is_empty() {
                true => "none, since there are none".to_owned(),
                false => format!("one of: {}", known.join(", ")),
            };
            SceneError::UnknownKeyframe {
                model: self.name.clone(),
                found: name.to_owned(),
                expected,
            }
        })
    }

    fn scene_with_start(&self, start: Option<&Keyframe>) -> Result<Scene, SceneError> {
        let duration = self.script.duration.unwrap_or(DURATION);
        let judge = ClaimCheck::new(self.world.clone(), self.script.claims.clone());
        let mut scene = Scene::new(self.world.clone(), self.settings.clone(), duration, judge);
        if let Some(Keyframe { time, q, v, activation, control, driven, x_dot, .. }) = start {
            let (q, v, rest) = (q.clone(), v.clone(), State::new(self.world.model()));
            let mut state = State { time: *time, q, v, ..rest };
            if !activation.is_empty() {
                state.activation.clone_from(activation);
            }
            if !x_dot.is_empty() {
                state.x_dot.clone_from(x_dot);
            }
            scene = scene.from_state(state);
            scene.control.clone_from(control);
            scene.driven.clone_from(driven);
        }
        if !self.script.signals.is_empty() {
            scene = scene.controlled(SignalController::new(self.script.signals.clone()));
        }
        Ok(scene)
    }
}

/// A state with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Keyframe {
    /// Name, may be empty.
    pub name: String,
    /// Time [s].
    pub time: f64,
    /// Coordinates, `nq` numbers.
    pub q: Vec<f64>,
    /// Velocities, `nv` numbers.
    pub v: Vec<f64>,
    /// Activations of actuators, `na` numbers; empty if they are zero.
    pub activation: Vec<f64>,
    /// Controls, `nu` numbers.
    pub control: Vec<f64>,
    /// Pose in the world of each driven body.
    pub driven: Vec<Isometry3<f64>>,
    /// Velocities of all vertices of soft bodies [m/s]; empty if they are at rest.
    pub x_dot: Vec<Vector3<f64>>,
}

/// A named frame on a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// Name, may be empty.
    pub name: String,
    /// The body that carries it.
    pub body: BodyId,
    /// Pose in the frame of the body.
    pub pose: Isometry3<f64>,
    /// Half sizes of the volume of a touch sensor at this site [m].
    pub size: Vector3<f64>,
}

/// A camera on a body. It looks along −z of its frame, and y is up.
#[derive(Clone, Debug, PartialEq)]
pub struct Camera {
    /// Name, may be empty.
    pub name: String,
    /// The body that carries it.
    pub body: BodyId,
    /// Pose in the frame of the body.
    pub pose: Isometry3<f64>,
    /// Vertical field of view [rad].
    pub field_of_view: f64,
}

/// A shape without collision.
#[derive(Clone, Debug)]
pub struct Visual {
    /// The body that carries it.
    pub body: BodyId,
    /// Pose in the frame of the body.
    pub pose: Isometry3<f64>,
    /// Geometry.
    pub geometry: VisualGeometry,
    /// Red, green, blue and opacity, each from 0 to 1.
    pub colour: [f32; 4],
}

/// Geometry of a visual shape.
#[derive(Clone, Debug)]
pub enum VisualGeometry {
    /// A shape.
    Shape(Shape),
    /// A mesh file, which is read only when the model is drawn.
    Mesh {
        /// The file.
        path: PathBuf,
        /// Scale along its axes [-].
        scale: Vector3<f64>,
    },
}

/// A feature of a file that is not supported.
#[derive(Clone, Debug, PartialEq)]
pub struct Unsupported {
    /// File and line.
    pub place: SourceLocation,
    /// The feature.
    pub what: String,
    /// Whether the motion differs without it.
    pub physical: bool,
}

/// One line of [`FORMATS`].
pub struct Format {
    /// Name.
    pub name: &'static str,
    /// Endings of file names, without the dot.
    pub extensions: &'static [&'static str],
    /// Description in one line.
    pub about: &'static str,
    /// Reads it.
    pub read: fn(&mut Files, &Path, &Options) -> Result<Imported, SceneError>,
}

/// Options of importers.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Whether the base of a URDF robot moves freely; other formats give this in the file.
    pub floating_base: bool,
    /// Whether links of a URDF robot that are joined rigidly become one body.
    pub merge_fixed: bool,
    /// Folders that are searched for `package://` names, before the parent folders of the file.
    pub package_paths: Vec<PathBuf>,
    /// Whether `solref` and `solimp` of MJCF soften contacts.
    pub soft_contact: bool,
    /// Whether constraints of MJCF whose `solref` and `solimp` are MuJoCo's defaults are soft as well: contacts, limits,
    /// dry friction and equalities.
    pub soft_defaults: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            floating_base: false,
            merge_fixed: false,
            package_paths: Vec::new(),
            soft_contact: true,
            soft_defaults: false,
        }
    }
}

/// Every format of models, in alphabetical order.
pub static FORMATS: &[Format] = &[
    Format {
        name: "mjcf",
        extensions: &["xml", "mjcf"],
        about: "models of MuJoCo",
        read: crate::mjcf::read,
    },
    Format {
        name: "native",
        extensions: &["toml"],
        about: "scenes in TOML: models from files, bodies, controllers, solver",
        read: crate::native::read,
    },
    Format { name: "urdf", extensions: &["urdf"], about: "robots of ROS", read: crate::urdf::read },
];

/// Ending of files that a tool of ROS expands to URDF.
const XACRO: &str = "xacro";

/// Reads a model from disk; the format follows from the ending of its name.
pub fn load(path: impl AsRef<Path>) -> Result<Imported, SceneError> {
    load_with(Files::on_disk(), path.as_ref(), &Options::default())
}

/// Reads a model from given files.
pub fn load_with(mut files: Files, path: &Path, options: &Options) -> Result<Imported, SceneError> {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_lowercase();
    let known = |format: &&Format| format.extensions.contains(&extension.as_str());
    let format = FORMATS.iter().find(known).ok_or_else(|| {
        let endings: Vec<_> =
            FORMATS.iter().flat_map(|f| f.extensions).map(|e| format!(".{e}")).collect();
        let expected = match extension.as_str() {
            XACRO => "found a macro file; expected the URDF that xacro expands it to".to_owned(),
            _ => format!("expected a name that ends in one of: {}", endings.join(", ")),
        };
        SceneError::File { path: path.display().to_string(), what: expected }
    })?;
    (format.read)(&mut files, path, options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_stand_in_order_and_share_no_ending() {
        assert!(FORMATS.is_sorted_by(|a, b| a.name < b.name));
        let mut endings: Vec<_> = FORMATS.iter().flat_map(|f| f.extensions).collect();
        endings.sort();
        assert!(endings.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn an_unknown_ending_is_refused_with_the_known_ones() {
        let message = load("robot.docx").unwrap_err().to_string();
        assert!(message.contains("robot.docx"), "{message}");
    }

    #[test]
    fn macros_are_to_be_expanded_first() {
        for name in ["panda.xacro", "panda.urdf.xacro", "PANDA.XACRO"] {
            let message = load(name).unwrap_err().to_string();
            assert!(message.contains(name) && message.contains("expands"), "{message}");
        }
    }
}
