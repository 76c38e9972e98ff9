//! `<compiler>`: how the rest of the file is to be understood.
//!
//! Sections may repeat; later ones win attribute by attribute. Attributes that only change how
//! MuJoCo computes or saves, never what it computes, are known and passed over.

use std::path::{Path, PathBuf};

use super::actuator::length_range::LengthRangeOptions;
use super::orientation::EulerSequence;
use crate::error::SceneError;
use crate::xml::Element;

/// When the inertia of a body comes from its geoms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FromGeoms {
    /// Where there is no `<inertial>`.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Options of the compiler.
#[derive(Clone, Debug)]
pub(super) struct Compiler {
    /// Radians per unit of angle.
    pub angle: f64,
    /// Whether ranges imply limits.
    pub autolimits: bool,
    /// Least mass of a moving body [kg].
    pub least_mass: f64,
    /// Least principal inertia of a moving body [kg·m²].
    pub least_inertia: f64,
    /// Mass of everything that moves [kg]; masses and inertias are scaled to reach it.
    pub total_mass: Option<f64>,
    /// Whether principal inertias that break the triangle inequality become their mean.
    pub balance_inertia: bool,
    /// Whether only the file name counts of paths to assets.
    pub strip_path: bool,
    /// Whether primitives are fitted to the bounding box of a mesh, not to its inertia.
    pub fit_bounds: bool,
    /// Axes of Euler angles.
    pub euler: EulerSequence,
    /// Folder of meshes and height fields, below the folder of the main file.
    pub mesh_folder: PathBuf,
    /// When inertias come from geoms.
    pub from_geoms: FromGeoms,
    /// First and last group of geoms that have mass.
    pub mass_groups: (i64, i64),
    /// Whether free bodies get the frame of their inertia.
    pub align_free: bool,
    /// Whether bodies without joints are merged into their parents.
    pub fuse_static: bool,
    /// Whether visual geoms are left out.
    pub discard_visual: bool,
    /// How ranges of lengths of muscles are found.
    pub length_range: LengthRangeOptions,
}

impl Default for Compiler {
    fn default() -> Self {
        Self {
            angle: std::f64::consts::PI / 180.0,
            autolimits: true,
            least_mass: 0.0,
            least_inertia: 0.0,
            total_mass: None,
            balance_inertia: false,
            strip_path: false,
            fit_bounds: false,
            euler: EulerSequence::default(),
            mesh_folder: PathBuf::new(),
            from_geoms: FromGeoms::Auto,
            mass_groups: (0, 5),
            align_free: false,
            fuse_static: false,
            discard_visual: false,
            length_range: LengthRangeOptions::default(),
        }
    }
}

/// How MuJoCo saves, reports or computes, without a bearing on what it computes.
const WITHOUT_EFFECT: [&str; 8] = [
    "conflict",
    "exactmeshinertia",
    "passthrough",
    "savecanonical",
    "savecompiled",
    "saveinertial",
    "texturedir",
    "usethread",
];

impl Compiler {
    /// Reads every `<compiler>` of a root.
    pub fn read(root: &Element) -> Result<Self, SceneError> {
        let mut compiler = Self::default();
        for section in root.all("compiler") {
            compiler.merge(section)?;
        }
        Ok(compiler)
    }

    fn merge(&mut self, section: &Element) -> Result<(), SceneError> {
        for name in WITHOUT_EFFECT {
            section.get(name);
        }
        for element in section.all("lengthrange") {
            self.length_range.merge(element)?;
        }
        let angles = [("degree", std::f64::consts::PI / 180.0), ("radian", 1.0)];
        set(&mut self.angle, section.choice("angle", &angles)?);
        set(&mut self.autolimits, section.boolean("autolimits")?);
        set(&mut self.least_mass, not_negative(section, "boundmass")?);
        set(&mut self.least_inertia, not_negative(section, "boundinertia")?);
        if let Some(mass) = section.number("settotalmass")? {
            self.total_mass = Some(mass).filter(|mass| *mass > 0.0);
        }
        set(&mut self.balance_inertia, section.boolean("balanceinertia")?);
        set(&mut self.strip_path, section.boolean("strippath")?);
        set(&mut self.fit_bounds, section.boolean("fitaabb")?);
        set(&mut self.euler, EulerSequence::read(section)?);
        let folder = section.get("meshdir").or(section.get("assetdir")).map(PathBuf::from);
        set(&mut self.mesh_folder, folder);
        let when =
            [("auto", FromGeoms::Auto), ("true", FromGeoms::Always), ("false", FromGeoms::Never)];
        set(&mut self.from_geoms, section.choice("inertiafromgeom", &when)?);
        let groups = section.array::<2>("inertiagrouprange")?.map(|[a, b]| (a as i64, b as i64));
        set(&mut self.mass_groups, groups);
        set(&mut self.align_free, section.boolean("alignfree")?);
        set(&mut self.fuse_static, section.boolean("fusestatic")?);
        set(&mut self.discard_visual, section.boolean("discardvisual")?);
        if section.get("coordinate").is_some_and(|word| word != "local") {
            return Err(section.wrong("coordinate", "local; global coordinates are not read"));
        }
        Ok(())
    }

    /// The path of a mesh or height field, below the folder of the main file.
    pub fn mesh_path(&self, folder: &Path, name: &str) -> PathBuf {
        // Paths of files written on Windows.
        let name = name.replace('\\', "/");
        let mut name = Path::new(&name);
        if self.strip_path {
            name = name.file_name().map_or(name, Path::new);
        }
        folder.join(&self.mesh_folder).join(name)
    }
}

fn set<T>(value: &mut T, found: Option<T>) {
    if let Some(found) = found {
        *value = found;
    }
}

fn not_negative(section: &Element, name: &str) -> Result<Option<f64>, SceneError> {
    let found = section.number(name)?;
    match found {
        Some(number) if number < 0.0 => Err(section.wrong(name, "a number that is not negative")),
        found => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Compiler, SceneError> {
        Compiler::read(&Element::parse(text, Path::new("a.xml")).unwrap())
    }

    #[test]
    fn later_sections_win_attribute_by_attribute() {
        let found =
            read("<mujoco><compiler angle='radian' meshdir='a'/><compiler meshdir='b'/></mujoco>");
        let found = found.unwrap();
        assert_eq!((found.angle, found.mesh_folder), (1.0, PathBuf::from("b")));
    }

    #[test]
    fn words_that_mean_nothing_are_refused() {
        for bad in ["angle='gon'", "coordinate='global'", "boundmass='-1'", "eulerseq='abc'"] {
            let text = format!("<mujoco>\n<compiler {bad}/></mujoco>");
            let message = read(&text).unwrap_err().to_string();
            assert!(message.starts_with("a.xml:2: <compiler>"), "{message}");
        }
    }
}
