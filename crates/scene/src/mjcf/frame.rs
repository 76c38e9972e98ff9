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
    /// Class that the frames and bodies around it give.
    pub class: Option<&'e str>,
    /// The model that it comes from.
    pub part: usize,
}

/// Lists the children of a body, through all frames.
pub(super) fn gather<'e>(
    build: &mut Build,
    element: &'e Element,
    class: Option<&'e str>,
) -> Result<Vec<BodyChild<'e>>, SceneError> {
    let mut found = Vec::new();
    let part = build.part();
    within(build, element, Isometry3::identity(), class, part, &mut found)?;
    build.enter(part);
    Ok(found)
}

fn within<'e>(
    build: &mut Build,
    parent: &'e Element,
    frame: Isometry3<f64>,
    class: Option<&'e str>,
    part: usize,
    found: &mut Vec<BodyChild<'e>>,
) -> Result<(), SceneError> {
    for element in &parent.children {
        match element.tag.as_str() {
            "frame" => {
                build.enter(part);
                element.get("name");
                let pose = frame * orientation::pose(element, &build.compiler)?;
                let class = element.get("childclass").or(class);
                within(build, element, pose, class, part, found)?;
            }
            attach::PART => {
                let part = attach::part_of(element);
                within(build, element, frame, None, part, found)?;
            }
            _ => found.push(BodyChild { element, frame, class, part }),
        }
    }
    Ok(())
}
