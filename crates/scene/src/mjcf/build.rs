//! State of the MJCF importer: the world under construction, its names, and unsupported features.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use nalgebra::{Isometry3, Vector3};
use stiction_mech::{ActuatorId, BodyId, JointId, JointKind, Model, TendonId};
use stiction_sim::{
    Combine, Scheme, Settings, Stabilisation, StartLaw, TangentialLaw, WorldBuilder, WorldError,
};

use super::actuator::pid::PluginInstances;
use super::asset::Assets;
use super::attach::ModelContext;
use super::compiler::Compiler;
use super::flag::Flags;
use super::medium::Medium;
use super::option::MAGNETIC;
use super::parent_contact::ParentPair;
use super::sdf_plugin::FieldPlugins;
use super::sensor::SensedNames;
use crate::error::SceneError;
use crate::files::Files;
use crate::import::{Camera, Keyframe, Options, Site, Unsupported, Visual};
use crate::xml::{Element, SourceLocation};

/// Items of one kind, by name and by index.
#[derive(Clone, Debug)]
pub(super) struct Names<T> {
    what: &'static str,
    items: Vec<T>,
    by_name: HashMap<String, usize>,
}

impl<T> Names<T> {
    pub fn new(what: &'static str) -> Self {
        Self { what, items: Vec::new(), by_name: HashMap::new() }
    }

    /// Adds an item; a name, unless empty, must not have been used before.
    pub fn add(&mut self, element: &Element, name: &str, item: T) -> Result<usize, SceneError> {
        let number = self.items.len();
        self.items.push(item);
        if !name.is_empty() && self.by_name.insert(name.to_owned(), number).is_some() {
            let what = self.what;
            return Err(element.error(format_args!("a second {what} is called \"{name}\"")));
        }
        Ok(number)
    }

    /// The item that an attribute names, if there is such an attribute.
    pub fn find(&self, element: &Element, attribute: &str) -> Result<Option<&T>, SceneError> {
        let Some(name) = element.get(attribute) else { return Ok(None) };
        match self.by_name.get(name) {
            Some(number) => Ok(Some(&self.items[*number])),
            None => Err(element.wrong(attribute, &format!("the name of a {}", self.what))),
        }
    }

    /// The item that an attribute names.
    pub fn require(&self, element: &Element, attribute: &str) -> Result<&T, SceneError> {
        self.find(element, attribute)?.ok_or_else(|| {
            let what = self.what;
            element.error(format_args!("no {attribute}; expected the name of a {what}"))
        })
    }

    /// Replaces the item at an index.
    pub fn set(&mut self, number: usize, item: T) {
        if let Some(old) = self.items.get_mut(number) {
            *old = item;
        }
    }

    /// All of them, in the order of the file.
    pub fn items(&self) -> &[T] {
        &self.items
    }
}

/// Data of a body for later sections of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct BuiltBody {
    pub id: BodyId,
    /// Pose in the world at the reference configuration.
    pub pose: Isometry3<f64>,
    /// Centre of mass and principal axes, in the frame of the body.
    pub inertial: Isometry3<f64>,
}

/// Data of a joint for later sections of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct BuiltJoint {
    pub id: JointId,
    pub kind: JointKind,
    /// Range as written, in the joint's own unit: metres or radians.
    pub range: Option<(f64, f64)>,
    /// The model that it comes from.
    pub part: usize,
}

/// Data of a geom for later sections of the file.
#[derive(Clone, Debug)]
pub(super) struct BuiltGeom {
    pub body: BodyId,
    /// Pose in the frame of its body.
    pub pose: Isometry3<f64>,
    /// Index of its shape in the world; `None` if it is visual only.
    pub collider: Option<usize>,
    /// Kind and half sizes as MJCF has them: the surface around which a tendon wraps.
    pub kind: GeomKind,
    pub size: Vector3<f64>,
    /// Coefficients of the fluid model of ellipsoids, if it applies.
    pub fluid: Option<[f64; 5]>,
}

/// Contact parameters of a geom, as in MJCF.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ContactTerms {
    pub contype: i32,
    pub conaffinity: i32,
    pub condim: i32,
    pub priority: i32,
    /// Sliding [-], spinning [m], rolling [m].
    pub friction: [f64; 3],
    pub solmix: f64,
    pub solref: [f64; 2],
    pub solimp: [f64; 5],
    pub margin: f64,
    pub gap: f64,
}

impl Default for ContactTerms {
    /// MJCF's defaults of a geom.
    fn default() -> Self {
        Self {
            contype: 1,
            conaffinity: 1,
            condim: 3,
            priority: 0,
            friction: [1.0, 0.005, 0.0001],
            solmix: 1.0,
            solref: [0.02, 1.0],
            solimp: [0.9, 0.95, 0.001, 0.5, 2.0],
            margin: 0.0,
            gap: 0.0,
        }
    }
}

/// Data of a site for later sections of the file, beyond those of [`Site`].
#[derive(Clone, Copy, Debug)]
pub(super) struct BuiltSite {
    pub body: BodyId,
    /// Pose in the frame of its body.
    pub pose: Isometry3<f64>,
    /// Kind and half sizes as MJCF has them: the volume of a touch sensor.
    pub kind: GeomKind,
    pub size: Vector3<f64>,
}

/// Data of a tendon for later sections of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct BuiltTendon {
    pub id: TendonId,
    /// Range as written, active or not.
    pub range: Option<(f64, f64)>,
}

/// Data of a camera for later sections of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct BuiltCamera {
    pub body: BodyId,
    /// Pose in the frame of its body.
    pub pose: Isometry3<f64>,
    /// Vertical field of view [rad].
    pub field_of_view: f64,
}

/// Kinds of geoms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GeomKind {
    Plane,
    HeightField,
    Sphere,
    Capsule,
    Ellipsoid,
    Cylinder,
    Box,
    Mesh,
    Sdf,
}

/// State of the importer.
pub(super) struct Build<'a> {
    pub files: &'a mut Files,
    pub options: &'a Options,
    /// Compiler, defaults and folder of each model.
    pub parts: Vec<ModelContext>,
    pub assets: Assets,
    /// Names of the geoms in explicit pairs.
    pub paired: HashSet<String>,
    /// Shapes of bodies and of their parents that touch, where the file says that they do.
    pub parent_pairs: Vec<ParentPair>,
    /// Pairs of bodies that never touch.
    pub excluded: HashSet<(BodyId, BodyId)>,
    /// What sensors refer to.
    pub sensed: SensedNames,
    pub flags: Flags,
    /// The magnetic field, world axes [T].
    pub magnetic: Vector3<f64>,
    pub medium: Medium,
    pub world: WorldBuilder,
    pub settings: Settings,
    pub bodies: Names<BuiltBody>,
    pub joints: Names<BuiltJoint>,
    pub geoms: Names<BuiltGeom>,
    pub sites: Names<BuiltSite>,
    pub cameras: Names<BuiltCamera>,
    pub tendons: Names<BuiltTendon>,
    pub actuators: Names<ActuatorId>,
    /// The models that the actuators come from.
    pub actuator_parts: Vec<usize>,
    /// Configurations of plugins.
    pub plugins: PluginInstances,
    /// Plugins of signed distances.
    pub field_plugins: FieldPlugins,
    pub keyframes: Vec<Keyframe>,
    /// Names of the keyframes.
    pub keyframe_names: HashSet<String>,
    /// Mocap bodies, in the order of the file.
    pub mocap: Vec<BodyId>,
    /// The sites of [`Imported`](crate::Imported), in the same order.
    pub site_list: Vec<Site>,
    /// All cameras, for the imported model.
    pub camera_list: Vec<Camera>,
    pub visuals: Vec<Visual>,
    pub unsupported: Vec<Unsupported>,
    pub notes: Vec<String>,
}

impl<'a> Build<'a> {
    /// The state before anything is read.
    pub fn new(files: &'a mut Files, options: &'a Options, parts: Vec<ModelContext>) -> Self {
        Self {
            files,
            options,
            parts,
            assets: Assets::default(),
            paired: HashSet::new(),
            parent_pairs: Vec::new(),
            excluded: HashSet::new(),
            sensed: SensedNames::default(),
            flags: Flags::default(),
            magnetic: MAGNETIC,
            medium: Medium::default(),
            world: WorldBuilder::new(),
            settings: Settings {
                combine: Combine::Maximum,
                file_scheme: Some(Scheme::Euler),
                tangential: TangentialLaw::Mujoco,
                stabilisation: Stabilisation { start: StartLaw::Soft, ..Stabilisation::default() },
                ..Settings::default()
            },
            bodies: Names::new("body"),
            joints: Names::new("joint"),
            geoms: Names::new("geom"),
            sites: Names::new("site"),
            cameras: Names::new("camera"),
            tendons: Names::new("tendon"),
            actuators: Names::new("actuator"),
            actuator_parts: Vec::new(),
            plugins: PluginInstances::new(),
            field_plugins: FieldPlugins::new(),
            keyframes: Vec::new(),
            keyframe_names: HashSet::new(),
            mocap: Vec::new(),
            site_list: Vec::new(),
            camera_list: Vec::new(),
            visuals: Vec::new(),
            unsupported: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The compiler of the model that an element comes from.
    pub fn compiler(&self, element: &Element) -> &Compiler {
        &self.parts[element.part].compiler
    }

    /// The folder of the model that an element comes from.
    pub fn folder(&self, element: &Element) -> &Path {
        &self.parts[element.part].folder
    }

    /// The mechanism as far as it was read; ids of the builder become those of the model.
    pub fn mechanism(&self) -> Result<Model, SceneError> {
        Ok(self.world.mechanism.clone().build().map_err(WorldError::from)?)
    }

    /// Records an unsupported feature that affects the motion.
    pub fn report_unsupported(&mut self, place: &SourceLocation, what: impl Into<String>) {
        self.unsupported.push(Unsupported {
            place: place.clone(),
            what: what.into(),
            physical: true,
        });
    }

    /// Records an unsupported feature that does not affect the motion.
    pub fn report_ignored(&mut self, place: &SourceLocation, what: impl Into<String>) {
        self.unsupported.push(Unsupported {
            place: place.clone(),
            what: what.into(),
            physical: false,
        });
    }

    /// Records a note on the interpretation of the file, once for repeated occurrences.
    pub fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}
