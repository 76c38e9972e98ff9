//! `<replicate>`: copies of a part of the tree with numbers behind their names. Each stands `offset`
//! further than the one before, in the frame of that one, and is turned by Euler angles that grow in
//! proportion to its number, as in MuJoCo. What refers to something copied is copied with it.

use std::collections::HashSet;

use nalgebra::Isometry3;

use super::attach::Expansion;
use super::rename::{self, NamedElementKind};
use crate::error::SceneError;
use crate::xml::Element;

/// Writes out the copies of `replicate`, whose children are written out already.
pub(super) fn expand(
    expansion: &mut Expansion,
    part: usize,
    replicate: &Element,
    children: Vec<Element>,
    into: &mut Vec<Element>,
) -> Result<(), SceneError> {
    let wrong = || replicate.wrong("count", "a whole number that is not negative");
    let count = replicate.integer("count")?.ok_or_else(wrong)?;
    let count = usize::try_from(count).map_err(|_| wrong())?;
    let separator = replicate.get("sep").unwrap_or_default().to_owned();
    let compiler = &expansion.parts[part].compiler;
    let offset = replicate.vector("offset")?.unwrap_or_default();
    let angles = replicate.vector("euler")?.unwrap_or_default() * compiler.angle;
    let euler = compiler.euler;
    let mut copied = HashSet::new();
    for child in &children {
        rename::names(child, "worldbody", &mut |kind, name| {
            copied.insert((kind, name.to_owned()));
        });
    }
    let referring = expansion.take_referring(&mut copied);
    let elements = children.iter().chain(referring.iter().map(|(_, element)| element));
    let size: usize = elements.map(super::attach::count).sum();
    expansion.spend(replicate, size.saturating_add(1).saturating_mul(count))?;
    let digits = count.saturating_sub(1).to_string().len();
    let mut pose = Isometry3::identity();
    for number in 0..count {
        let suffix = format!("{separator}{number:0digits$}");
        let other = |kind: NamedElementKind, name: &str| {
            copied.contains(&(kind, name.to_owned())).then(|| format!("{name}{suffix}"))
        };
        let mut frame = place(replicate, &pose);
        frame.children = children.clone();
        frame.children.iter_mut().for_each(|child| rename::rename(child, "worldbody", &other));
        into.push(frame);
        for (place, element) in &referring {
            let mut element = element.clone();
            rename::rename(&mut element, &expansion.sections[*place].1.tag.clone(), &other);
            expansion.sections[*place].1.children.push(element);
        }
        pose.translation.vector += pose.rotation * offset;
        pose.rotation = euler.rotation(angles * (number + 1) as f64);
    }
    Ok(())
}

/// A frame at a pose.
fn place(replicate: &Element, pose: &Isometry3<f64>) -> Element {
    let mut frame = Element {
        tag: "frame".into(),
        place: replicate.place.clone(),
        attributes: Vec::new(),
        children: Vec::new(),
        text: String::new(),
        part: replicate.part,
    };
    let [x, y, z] = pose.translation.vector.into();
    frame.set("pos", format!("{x:?} {y:?} {z:?}"));
    let q = pose.rotation.quaternion();
    frame.set("quat", format!("{:?} {:?} {:?} {:?}", q.w, q.i, q.j, q.k));
    if let Some(class) = replicate.get("childclass") {
        frame.set("childclass", class);
    }
    frame
}
