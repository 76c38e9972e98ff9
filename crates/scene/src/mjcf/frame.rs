//! `<frame>`: a pose offset of its children, which belong to the body around it.
//!
//! [`gather`] lists what belongs to a body, through all frames, in the order of the text.

use nalgebra::Isometry3;

use super::attach;
use super::build::Build;
use super::orientation;
use crate::error::SceneError;
use crate::xml::Element;

/// A child element of a body.
pub(super) struct BodyChild<'e> {
    pub element: &'e Element,
    /// Pose of the innermost frame in the body.
    pub frame: Isometry3<f64>,
}

/// Lists the children of a body, through all frames.
pub(super) fn gather<'e>(
    build: &Build,
    element: &'e Element,
) -> Result<Vec<BodyChild<'e>>, SceneError> {
    let mut found = Vec::new();
    within(build, element, Isometry3::identity(), &mut found)?;
    Ok(found)
}

fn within<'e>(
    build: &Build,
    parent: &'e Element,
    frame: Isometry3<f64>,
    found: &mut Vec<BodyChild<'e>>,
) -> Result<(), SceneError> {
    for element in &parent.children {
        match element.tag.as_str() {
            "frame" => {
                element.get("name");
                let pose = frame * orientation::pose(element, build.compiler(element))?;
                within(build, element, pose, found)?;
            }
            attach::PART => within(build, element, frame, found)?,
            _ => found.push(BodyChild { element, frame }),
        }
    }
    Ok(())
}
