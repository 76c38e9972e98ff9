//! `<site>` and `<camera>`: named frames on bodies.

use nalgebra::{Isometry3, Vector3};
use stiction_mech::BodyId;

use super::build::{Build, BuiltCamera, BuiltSite, GeomKind};
use super::geom::{self, KINDS};
use super::orientation;
use crate::error::SceneError;
use crate::xml::Element;

/// Default half size [m].
const SIZE: f64 = 0.005;

/// A site of the file; the body is filled in later.
pub(super) fn read(
    build: &mut Build,
    element: &Element,
    frame: &Isometry3<f64>,
) -> Result<BuiltSite, SceneError> {
    for seen in ["group", "material", "rgba", "user", "mesh"] {
        element.get(seen);
    }
    let kind = element.choice("type", &KINDS)?.unwrap_or(GeomKind::Sphere);
    let size = Vector3::from(element.array_or("size", [SIZE; 3])?);
    let (pose, size) = match geom::ends(element)? {
        Some(ends) => ends.pose_and_size(kind, &size)?,
        None => (orientation::pose(element, build.compiler(element))?, size),
    };
    Ok(BuiltSite { body: BodyId::WORLD, pose: frame * pose, kind, size })
}

/// Vertical field of view of a camera that gives none [degrees].
const FIELD_OF_VIEW: f64 = 45.0;

/// A camera of the file; the body is filled in later. Other attributes of what it sees are listed.
pub(super) fn camera(
    build: &mut Build,
    element: &Element,
    frame: &Isometry3<f64>,
) -> Result<BuiltCamera, SceneError> {
    let pose = orientation::pose(element, build.compiler(element))?;
    // In degrees, whatever the unit of angles.
    let field_of_view = element.number("fovy")?.unwrap_or(FIELD_OF_VIEW).to_radians();
    Ok(BuiltCamera { body: BodyId::WORLD, pose: frame * pose, field_of_view })
}
