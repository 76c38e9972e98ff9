//! `<contact>` among sensors: conditions, reduction and fields.

use stiction_sim::{
    ContactFields, ContactQuery, ContactReduction, ContactSide, SensorFrame, SensorKind,
};

use super::super::build::Build;
use super::{collider, fields, volume};
use crate::error::SceneError;
use crate::xml::Element;

/// Reads a sensor.
pub(super) fn read(build: &Build, element: &Element) -> Result<SensorKind, SceneError> {
    let sides = [
        side(build, element, ["geom1", "body1", "subtree1"])?,
        side(build, element, ["geom2", "body2", "subtree2"])?,
    ];
    let mut query = ContactQuery { sides, ..ContactQuery::default() };
    if element.peek("site").is_some() {
        if query.sides[0] != ContactSide::Any {
            return Err(element.wrong("site", "no other condition on the first side"));
        }
        let site = build.sites.require(element, "site")?;
        let frame = SensorFrame { body: site.body, pose: site.pose };
        query.within = Some((frame, volume(element, site)?));
    }
    let reductions = [
        ("none", ContactReduction::First),
        ("mindist", ContactReduction::SmallestGap),
        ("maxforce", ContactReduction::LargestForce),
        ("netforce", ContactReduction::NetForce),
    ];
    query.reduction = element.choice("reduce", &reductions)?.unwrap_or_default();
    if let Some(count) = element.integer("num")? {
        let wrong = || element.wrong("num", "a positive number of contacts");
        query.slots = usize::try_from(count).ok().filter(|n| *n > 0).ok_or_else(wrong)?;
    }
    const NAMES: [&str; 9] =
        ["found", "force", "torque", "dist", "pos", "normal", "tangent", "linvel", "angvel"];
    if let Some(read) = fields(element, NAMES)? {
        let [found, force, torque, distance, position, normal, tangent, velocity, turn] = read;
        query.fields = ContactFields {
            found,
            force,
            torque,
            distance,
            position,
            normal,
            tangent,
            velocity,
            angular_velocity: turn,
        };
    }
    Ok(SensorKind::Contact(query))
}

/// The condition that at most one of three attributes gives.
fn side(build: &Build, element: &Element, names: [&str; 3]) -> Result<ContactSide, SceneError> {
    let given: Vec<_> = names.into_iter().filter(|name| element.peek(name).is_some()).collect();
    if let [first, second, ..] = given[..] {
        return Err(element.error(format_args!("both {first} and {second}; expected one of them")));
    }
    let [geom, body, subtree] = names;
    if element.peek(geom).is_some() {
        return Ok(ContactSide::Geom(collider(build, element, geom)?));
    }
    if let Some(found) = build.bodies.find(element, body)? {
        return Ok(ContactSide::Body(found.id));
    }
    let found = build.bodies.find(element, subtree)?;
    Ok(found.map_or(ContactSide::Any, |found| ContactSide::Subtree(found.id)))
}
