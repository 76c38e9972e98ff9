//! `<robot>`: its links, joints and materials as they stand in the file, each checked by itself.

use std::collections::HashMap;

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};

use super::diagnostics::Diagnostics;
use super::joint::Joint;
use super::link::Link;
use crate::error::SceneError;
use crate::xml::Element;

/// Joints, at most: the mass matrix of a robot grows with their square.
const MOST_JOINTS: usize = 10_000;

/// A robot description.
pub(super) struct Robot<'a> {
    pub name: String,
    pub links: Vec<Link<'a>>,
    pub joints: Vec<Joint<'a>>,
    /// Places in `links`.
    pub link_of: HashMap<&'a str, usize>,
    /// Places in `joints`.
    pub joint_of: HashMap<&'a str, usize>,
}

impl<'a> Robot<'a> {
    pub fn read(root: &'a Element, diagnostics: &mut Diagnostics) -> Result<Self, SceneError> {
        if root.tag != "robot" {
            return Err(root.error("expected the root element robot"));
        }
        if let Some(macros) = root.children.iter().find(|child| is_macro(child)) {
            return Err(macros.error(
                "found a file of xacro, which is not a robot yet; expected one that was expanded, \
                 as by: xacro robot.urdf.xacro > robot.urdf",
            ));
        }
        root.get("version");
        let mut robot = Self {
            name: root.get("name").unwrap_or("").to_owned(),
            links: Vec::new(),
            joints: Vec::new(),
            link_of: HashMap::new(),
            joint_of: HashMap::new(),
        };
        let colours = Colours::of(root)?;
        for element in root.all("link") {
            let link = Link::read(element, &colours, diagnostics)?;
            if robot.link_of.insert(link.name, robot.links.len()).is_some() {
                return Err(element.error("a second link of this name; expected different names"));
            }
            robot.links.push(link);
        }
        for element in root.all("joint") {
            let joint = Joint::read(element, diagnostics)?;
            if robot.joint_of.insert(joint.name, robot.joints.len()).is_some() {
                return Err(element.error("a second joint of this name; expected different names"));
            }
            robot.joints.push(joint);
        }
        if robot.links.is_empty() {
            return Err(root.error("no link; expected at least one"));
        }
        if robot.joints.len() > MOST_JOINTS {
            let found = robot.joints.len();
            return Err(root.error(format_args!("{found} joints; expected at most {MOST_JOINTS}")));
        }
        Ok(robot)
    }
}

/// Whether an element only makes sense to the macro language.
fn is_macro(element: &Element) -> bool {
    matches!(element.tag.as_str(), "macro" | "property" | "include" | "arg")
}

/// Colours of materials by name.
pub(super) struct Colours<'a>(HashMap<&'a str, [f32; 4]>);

impl<'a> Colours<'a> {
    /// Those of the robot and those that links define for all.
    fn of(root: &'a Element) -> Result<Self, SceneError> {
        let of_links = root.all("link").flat_map(|link| link.all("visual"));
        let of_links = of_links.flat_map(|visual| visual.all("material"));
        let mut colours = HashMap::new();
        for material in root.all("material").chain(of_links) {
            let (Some(name), Some(colour)) = (material.get("name"), colour(material)?) else {
                continue;
            };
            colours.entry(name).or_insert(colour);
        }
        Ok(Self(colours))
    }

    /// The colour that a material states or names.
    pub fn find(&self, material: &Element) -> Result<Option<[f32; 4]>, SceneError> {
        let known = || self.0.get(material.get("name").unwrap_or("")).copied();
        Ok(colour(material)?.or_else(known))
    }
}

fn colour(material: &Element) -> Result<Option<[f32; 4]>, SceneError> {
    let Some(colour) = material.child("color") else { return Ok(None) };
    Ok(colour.array::<4>("rgba")?.map(|rgba| rgba.map(|part| part as f32)))
}

/// `<origin>` of an element: a pose in the frame that carries it.
pub(super) fn origin(element: &Element) -> Result<Isometry3<f64>, SceneError> {
    let Some(origin) = element.child("origin") else { return Ok(Isometry3::identity()) };
    let at = origin.vector("xyz")?.unwrap_or_default();
    let [roll, pitch, yaw] = origin.array::<3>("rpy")?.unwrap_or_default();
    // About x, then y, then z, all axes fixed.
    let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), yaw)
        * UnitQuaternion::from_axis_angle(&Vector3::y_axis(), pitch)
        * UnitQuaternion::from_axis_angle(&Vector3::x_axis(), roll);
    Ok(Isometry3::from_parts(Translation3::from(at), turn))
}
