//! Links and joints as a tree: one root, every link reached once, nothing left over.

use super::robot::Robot;
use crate::error::SceneError;
use crate::xml::Element;

/// The order of a robot's links.
pub(super) struct Tree {
    /// Links, depth first; the root stands first.
    pub order: Vec<usize>,
    /// Per link: the joint above it and the link that carries it.
    pub above: Vec<Option<(usize, usize)>>,
}

impl Tree {
    pub fn of(robot: &Robot, root: &Element) -> Result<Self, SceneError> {
        let mut above = vec![None; robot.links.len()];
        let mut below = vec![Vec::new(); robot.links.len()];
        for (number, joint) in robot.joints.iter().enumerate() {
            let find = |tag: &str, name: &str| {
                robot.link_of.get(name).copied().ok_or_else(|| {
                    let what = format_args!("{tag} is \"{name}\"; expected the name of a link");
                    joint.element.error(what)
                })
            };
            let (parent, child) = (find("parent", joint.parent)?, find("child", joint.child)?);
            if parent == child {
                let what = format_args!("joins link \"{}\" to itself; expected two", joint.parent);
                return Err(joint.element.error(what));
            }
            if let Some((other, _)) = above[child] {
                let other: usize = other;
                let what = format_args!(
                    "link \"{}\" hangs on joint \"{}\" already; expected a tree without loops",
                    joint.child, robot.joints[other].name
                );
                return Err(joint.element.error(what));
            }
            above[child] = Some((number, parent));
            below[parent].push(child);
        }
        let roots: Vec<usize> = (0..above.len()).filter(|link| above[*link].is_none()).collect();
        let first = match roots[..] {
            [first] => first,
            [] => return Err(root.error("every link hangs on another; expected one root")),
            [first, second, ..] => {
                let what = format_args!(
                    "{} links hang on no other, \"{}\" among them; expected one root, found \"{}\" \
                     above",
                    roots.len(),
                    robot.links[second].name,
                    robot.links[first].name
                );
                return Err(robot.links[second].element.error(what));
            }
        };
        let (mut order, mut stack) = (Vec::with_capacity(above.len()), vec![first]);
        while let Some(link) = stack.pop() {
            order.push(link);
            stack.extend(below[link].iter().rev());
        }
        if order.len() < above.len() {
            let mut reached = vec![false; above.len()];
            order.iter().for_each(|link| reached[*link] = true);
            let lost = reached.iter().position(|reached| !reached).unwrap_or(0);
            return Err(robot.links[lost].element.error("hangs on itself; expected a tree"));
        }
        Ok(Self { order, above })
    }
}
