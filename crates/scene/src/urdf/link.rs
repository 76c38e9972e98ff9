//! `<link>`: inertia, collision shapes and visual shapes.

use nalgebra::{Isometry3, Matrix3, Vector3};
use stiction_mech::MassProperties;
use stiction_sim::Surface;

use super::diagnostics::Diagnostics;
use super::robot::{Colours, origin};
use crate::error::SceneError;
use crate::xml::Element;

/// A link as the file describes it.
pub(super) struct Link<'a> {
    pub name: &'a str,
    pub element: &'a Element,
    /// In the frame of the link; `None` for a frame without mass.
    pub mass: Option<MassProperties>,
    pub collisions: Vec<LinkShape<'a>>,
    pub visuals: Vec<LinkShape<'a>>,
    pub surface: Surface,
}

/// A shape of a link.
pub(super) struct LinkShape<'a> {
    pub element: &'a Element,
    /// Pose in the frame of the link.
    pub pose: Isometry3<f64>,
    pub kind: LinkShapeKind<'a>,
    pub colour: Option<[f32; 4]>,
}

/// Kinds of shapes, lengths in [m].
pub(super) enum LinkShapeKind<'a> {
    Box { edges: Vector3<f64> },
    Capsule { radius: f64, length: f64 },
    Cylinder { radius: f64, length: f64 },
    Mesh { element: &'a Element, filename: &'a str, scale: Vector3<f64> },
    Sphere { radius: f64 },
}

impl<'a> Link<'a> {
    pub fn read(
        element: &'a Element,
        colours: &Colours,
        diagnostics: &mut Diagnostics,
    ) -> Result<Self, SceneError> {
        let parts = |tag: &'static str| -> Result<Vec<LinkShape<'a>>, SceneError> {
            element
                .children
                .iter()
                .filter(|child| child.tag == tag)
                .map(|child| LinkShape::read(child, colours))
                .collect()
        };
        element.get("type");
        Ok(Self {
            name: element.require("name")?,
            element,
            mass: inertial(element, diagnostics)?,
            collisions: parts("collision")?,
            visuals: parts("visual")?,
            surface: surface(element)?,
        })
    }
}

/// `<inertial>`: mass, centre of mass and inertia about it, the last in the axes of its origin.
fn inertial(
    link: &Element,
    diagnostics: &mut Diagnostics,
) -> Result<Option<MassProperties>, SceneError> {
    let Some(inertial) = link.child("inertial") else { return Ok(None) };
    let pose = origin(inertial)?;
    let child = |tag: &str| {
        inertial.child(tag).ok_or_else(|| {
            let what =
                format_args!("\"{}\": no {tag}; expected one", link.peek("name").unwrap_or(""));
            inertial.error(what)
        })
    };
    let mass = child("mass")?;
    let found = mass.number("value")?.ok_or_else(|| mass.wrong("value", "a mass [kg]"))?;
    let moments = child("inertia")?;
    let moment = |name: &str| -> Result<f64, SceneError> {
        moments.number(name)?.ok_or_else(|| moments.wrong(name, "a moment of inertia [kg·m²]"))
    };
    let (xx, yy, zz) = (moment("ixx")?, moment("iyy")?, moment("izz")?);
    let (xy, xz, yz) = (moment("ixy")?, moment("ixz")?, moment("iyz")?);
    let I = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
    if found == 0.0 && I == Matrix3::zeros() {
        return Ok(None);
    }
    let R = pose.rotation.to_rotation_matrix().into_inner();
    let com = pose.translation.vector;
    let mass = MassProperties::new_lenient(found, com, R * I * R.transpose())
        .map_err(|error| inertial.error(error))?;
    if let Some(fault) = mass.fault() {
        let name = link.peek("name").unwrap_or("");
        let what = format!("inertia of link \"{name}\" is taken as it stands, although: {fault}");
        diagnostics.report_ignored(&inertial.place, what);
    }
    Ok(Some(mass))
}

/// `<contact>`, an extension that several simulators understand: friction and restitution.
fn surface(link: &Element) -> Result<Surface, SceneError> {
    let mut surface = Surface::default();
    let Some(contact) = link.child("contact") else { return Ok(surface) };
    let value = |tag: &str, expected: &str, fine: fn(f64) -> bool| match contact.child(tag) {
        Some(child) => match child.number("value")? {
            Some(found) if fine(found) => Ok(Some(found)),
            _ => Err(child.wrong("value", expected)),
        },
        None => Ok(None),
    };
    if let Some(friction) = value("lateral_friction", "a number from 0 on", |x| x >= 0.0)? {
        surface.friction = friction;
    }
    let unit = |x: f64| (0.0..=1.0).contains(&x);
    if let Some(restitution) = value("restitution", "a number from 0 to 1", unit)? {
        surface.restitution = restitution;
    }
    Ok(surface)
}

impl<'a> LinkShape<'a> {
    fn read(element: &'a Element, colours: &Colours) -> Result<Self, SceneError> {
        element.get("name");
        let Some(geometry) = element.child("geometry") else {
            return Err(element.error("no geometry; expected one"));
        };
        let known = geometry.children.iter().find_map(|shape| kind(shape).transpose());
        let kind = known.unwrap_or_else(|| {
            Err(geometry.error("expected one of: box, capsule, cylinder, mesh, sphere"))
        })?;
        let material = element.child("material");
        let colour = material.map_or(Ok(None), |material| colours.find(material))?;
        Ok(Self { element, pose: origin(element)?, kind, colour })
    }
}

fn kind(shape: &Element) -> Result<Option<LinkShapeKind<'_>>, SceneError> {
    let length = |name: &str| -> Result<f64, SceneError> {
        let found = shape.number(name)?.filter(|length| *length >= 0.0);
        found.ok_or_else(|| shape.wrong(name, "a length [m], not negative"))
    };
    let vector = |name: &str, expected: &str| -> Result<Vector3<f64>, SceneError> {
        shape.vector(name)?.ok_or_else(|| shape.wrong(name, expected))
    };
    Ok(Some(match shape.tag.as_str() {
        "box" => LinkShapeKind::Box { edges: vector("size", "three lengths [m]")? },
        "capsule" => {
            LinkShapeKind::Capsule { radius: length("radius")?, length: length("length")? }
        }
        "cylinder" => {
            LinkShapeKind::Cylinder { radius: length("radius")?, length: length("length")? }
        }
        "sphere" => LinkShapeKind::Sphere { radius: length("radius")? },
        "mesh" => LinkShapeKind::Mesh {
            element: shape,
            filename: shape.require("filename")?,
            scale: shape.vector("scale")?.unwrap_or_else(|| Vector3::repeat(1.0)),
        },
        _ => return Ok(None),
    }))
}
