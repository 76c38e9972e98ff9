//! `<joint>`: kind, axis, range, friction, and whom it mimics.

use nalgebra::{Isometry3, Vector3};

use super::diagnostics::Diagnostics;
use super::robot::origin;
use crate::error::SceneError;
use crate::xml::Element;

/// A joint as the file describes it.
pub(super) struct Joint<'a> {
    pub name: &'a str,
    pub element: &'a Element,
    pub kind: UrdfJointKind,
    pub parent: &'a str,
    pub child: &'a str,
    /// Pose of the child's frame in the parent's, where the joint has not moved.
    pub origin: Isometry3<f64>,
    /// Direction in the child's frame.
    pub axis: Vector3<f64>,
    /// Range [rad, m].
    pub range: Option<(f64, f64)>,
    /// Largest force [N, N·m].
    pub effort: Option<f64>,
    pub damping: f64,
    pub friction: f64,
    pub mimic: Option<Mimic<'a>>,
}

/// The kinds of joints of URDF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UrdfJointKind {
    Continuous,
    Fixed,
    Floating,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
}

impl UrdfJointKind {
    /// Whether it has one coordinate.
    pub fn is_scalar(self) -> bool {
        matches!(self, Self::Continuous | Self::Prismatic | Self::Revolute)
    }
}

const KINDS: &[(&str, UrdfJointKind)] = &[
    ("continuous", UrdfJointKind::Continuous),
    ("fixed", UrdfJointKind::Fixed),
    ("floating", UrdfJointKind::Floating),
    ("planar", UrdfJointKind::Planar),
    ("prismatic", UrdfJointKind::Prismatic),
    ("revolute", UrdfJointKind::Revolute),
    ("spherical", UrdfJointKind::Spherical),
];

/// q = multiplier · q_leader + offset.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mimic<'a> {
    pub element: &'a Element,
    pub leader: &'a str,
    pub multiplier: f64,
    pub offset: f64,
}

impl<'a> Joint<'a> {
    pub fn read(element: &'a Element, diagnostics: &mut Diagnostics) -> Result<Self, SceneError> {
        let name = element.require("name")?;
        let kind = element.choice("type", KINDS)?;
        let kind = kind.ok_or_else(|| element.error("no type; expected one"))?;
        let link = |tag: &str| match element.child(tag) {
            Some(end) => end.require("link"),
            None => Err(element.error(format_args!("no {tag}; expected one with its link"))),
        };
        let axis = element.child("axis").map_or(Ok(None), |axis| axis.vector("xyz"))?;
        let axis = axis.unwrap_or_else(Vector3::x);
        let needs_axis = kind.is_scalar() || kind == UrdfJointKind::Planar;
        if needs_axis && !(axis.norm() > 0.0 && axis.norm().is_finite()) {
            return Err(element.error("axis of no length; expected a direction"));
        }
        let (range, effort) = limit(element, kind, diagnostics)?;
        let dynamics = |name: &str| -> Result<f64, SceneError> {
            let Some(dynamics) = element.child("dynamics") else { return Ok(0.0) };
            match dynamics.number(name)?.unwrap_or(0.0) {
                found if found >= 0.0 => Ok(found),
                _ => Err(dynamics.wrong(name, "a number, not negative")),
            }
        };
        Ok(Self {
            name,
            element,
            kind,
            parent: link("parent")?,
            child: link("child")?,
            origin: origin(element)?,
            axis,
            range,
            effort,
            damping: dynamics("damping")?,
            friction: dynamics("friction")?,
            mimic: element.child("mimic").map(mimic).transpose()?,
        })
    }
}

/// Range [rad, m] and largest force [N, N·m].
type Bounds = (Option<(f64, f64)>, Option<f64>);

/// `<limit>`.
fn limit(
    joint: &Element,
    kind: UrdfJointKind,
    diagnostics: &mut Diagnostics,
) -> Result<Bounds, SceneError> {
    let name = joint.peek("name").unwrap_or("");
    let ranged = matches!(kind, UrdfJointKind::Prismatic | UrdfJointKind::Revolute);
    let Some(limit) = joint.child("limit") else {
        if ranged {
            diagnostics.note("joints without a limit move without end", name);
        }
        return Ok((None, None));
    };
    limit.get("velocity");
    let (lower, upper) = (limit.number("lower")?, limit.number("upper")?);
    let (lower, upper) = (lower.unwrap_or(0.0), upper.unwrap_or(0.0));
    let effort = limit.number("effort")?.filter(|effort| *effort > 0.0);
    if ranged && lower > upper {
        let what =
            format_args!("\"{name}\": lower = {lower}, upper = {upper}; expected lower ≤ upper");
        return Err(limit.error(what));
    }
    if ranged && lower == upper {
        diagnostics.note("joints with a range without extent move without end", name);
    }
    Ok(((ranged && lower < upper).then_some((lower, upper)), effort))
}

fn mimic(element: &Element) -> Result<Mimic<'_>, SceneError> {
    Ok(Mimic {
        element,
        leader: element.require("joint")?,
        multiplier: element.number("multiplier")?.unwrap_or(1.0),
        offset: element.number("offset")?.unwrap_or(0.0),
    })
}
