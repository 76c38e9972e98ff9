//! What a model file becomes: a world, how it wants to be stepped, and what is known about it beyond
//! physics. Every format is read into this; `stiction inspect` prints it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use nalgebra::{Isometry3, Vector3};
use stiction_geom::Shape;
use stiction_mech::{BodyId, State};
use stiction_sim::{Settings, World};

use crate::claim::{Claim, Judge};
use crate::error::SceneError;
use crate::files::Files;
use crate::scene::Scene;
use crate::signal::{Driver, Signal};
use crate::xml::Place;

/// A model that was read from a file. Ids are those of the world's model.
#[derive(Clone, Debug)]
pub struct Imported {
    /// What the file calls the model, or the file's name.
    pub name: String,
    /// Name of the format.
    pub format: &'static str,
    /// The physics.
    pub world: Arc<World>,
    /// How the file wants to be stepped.
    pub settings: Settings,
    /// States to start from.
    pub keyframes: Vec<Keyframe>,
    /// Named frames on bodies.
    pub sites: Vec<Site>,
    /// Shapes that are only seen.
    pub visuals: Vec<Visual>,
    /// What could not be honoured.
    pub unsupported: Vec<Unsupported>,
    /// What was honoured in a way that the reader may want to know about.
    pub notes: Vec<String>,
    /// How it begins, is driven and judged; empty for formats that only describe a model.
    pub script: Script,
    /// What a run of it is to leave behind, if the file says so.
    pub record: Option<Wishes>,
    /// The files that it was made of.
    pub files: Files,
}

/// What a run of a scene is to leave behind.
#[derive(Clone, Debug, PartialEq)]
pub struct Wishes {
    /// Names of recordings, below the folder of whoever runs it.
    pub files: Vec<String>,
    /// Frames per second of simulated time.
    pub fps: Option<f64>,
    /// How pictures look, as `--picture` takes it.
    pub picture: Option<String>,
    /// Where that stands.
    pub place: Place,
}

impl Wishes {
    /// Why they cannot be granted.
    pub fn wrong(&self, why: &dyn std::fmt::Display) -> SceneError {
        SceneError::Model { place: self.place.clone(), what: format!("[record]: {why}") }
    }
}

/// What a scene is beyond a model: how it begins, what drives it, what is claimed of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// How long it runs if nobody says otherwise [s].
    pub duration: Option<f64>,
    /// The state that it begins from; the reference configuration if absent.
    pub start: Option<Keyframe>,
    /// What drives its actuators.
    pub signals: Vec<Signal>,
    /// What must be true in the end.
    pub claims: Vec<Claim>,
}

/// How long a file runs that does not say so [s].
const DURATION: f64 = 10.0;

impl Imported {
    /// The scene, ready to run: from its own start if it has one, else from the reference
    /// configuration at rest and without control.
    pub fn scene(&self) -> Result<Scene, SceneError> {
        self.staged(self.script.start.as_ref())
    }

    /// The scene, ready to run from a keyframe: its state and its controls.
    pub fn scene_from(&self, keyframe: &str) -> Result<Scene, SceneError> {
        self.staged(Some(self.keyframe(keyframe)?))
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

    fn staged(&self, start: Option<&Keyframe>) -> Result<Scene, SceneError> {
        let duration = self.script.duration.unwrap_or(DURATION);
        let judge = Judge::new(self.world.clone(), self.script.claims.clone());
        let mut scene = Scene::new(self.world.clone(), self.settings.clone(), duration, judge);
        if let Some(Keyframe { time, q, v, control, driven, x_dot, .. }) = start {
            let (q, v, rest) = (q.clone(), v.clone(), State::new(self.world.model()));
            let mut state = State { time: *time, q, v, ..rest };
            if !x_dot.is_empty() {
                state.x_dot.clone_from(x_dot);
            }
            scene = scene.from_state(state);
            scene.control.clone_from(control);
            scene.driven.clone_from(driven);
        }
        if !self.script.signals.is_empty() {
            scene = scene.controlled(Driver::new(self.script.signals.clone()));
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
    /// Half sizes of what a touch sensor there feels [m].
    pub size: Vector3<f64>,
}

/// A shape that is only seen.
#[derive(Clone, Debug)]
pub struct Visual {
    /// The body that carries it.
    pub body: BodyId,
    /// Pose in the frame of the body.
    pub pose: Isometry3<f64>,
    /// What is seen.
    pub look: Look,
    /// Red, green, blue and opacity, each from 0 to 1.
    pub colour: [f32; 4],
}

/// What a visual looks like.
#[derive(Clone, Debug)]
pub enum Look {
    /// A shape of the house.
    Shape(Shape),
    /// A mesh file that is read by those who look.
    Mesh {
        /// The file.
        path: PathBuf,
        /// Scale along its axes [-].
        scale: Vector3<f64>,
    },
}

/// Something that a file asks for and that was not done.
#[derive(Clone, Debug, PartialEq)]
pub struct Unsupported {
    /// File and line.
    pub place: Place,
    /// What was asked for.
    pub what: String,
    /// Whether the motion differs for it.
    pub physical: bool,
}

/// One line of [`FORMATS`].
pub struct Format {
    /// Name.
    pub name: &'static str,
    /// Endings of file names, without the dot.
    pub extensions: &'static [&'static str],
    /// What it is, in one line.
    pub about: &'static str,
    /// Reads it.
    pub read: fn(&mut Files, &Path, &Options) -> Result<Imported, SceneError>,
}

/// What can be asked of an importer.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Whether the base of a URDF robot moves freely; other formats say so themselves.
    pub floating_base: bool,
    /// Whether links of a URDF robot that are joined rigidly become one body.
    pub merge_fixed: bool,
    /// Folders in which `package://` names are looked for, before the file's own ancestors.
    pub package_paths: Vec<PathBuf>,
    /// Whether `solref` and `solimp` of MJCF become stiffness and dissipation of surfaces.
    pub soft_contact: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            floating_base: false,
            merge_fixed: false,
            package_paths: Vec::new(),
            soft_contact: true,
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
        about: "scenes of the house: models from files, bodies, controllers, solver",
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
