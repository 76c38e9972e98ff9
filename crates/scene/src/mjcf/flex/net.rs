//! A flexcomp without elasticity: point masses on slides, edges of constant length or springs between them.

use std::collections::BTreeSet;

use nalgebra::{Isometry3, Vector3};
use stiction_geom::Shape;
use stiction_mech::{
    BodyId, BodySpec, JointId, JointKind, JointSpec, MassProperties, TendonPath, TendonRest,
    TendonSite, TendonSpec,
};
use stiction_sim::Geom;
use stiction_sim::constraint::{Distance, Equality};

use super::super::body::{BodyDraft, GeomDraft, OpenBody, TreeDraft};
use super::super::build::{Build, BuiltBody, BuiltJoint};
use super::super::surface;
use super::FlexRead;
use crate::error::SceneError;

/// Side of the box of the inertia of a point [m], as in MuJoCo.
const INERTIA_BOX: f64 = 0.005;

/// Declares bodies for the points that move, and what connects them.
pub(super) fn declare(
    build: &mut Build,
    draft: &mut TreeDraft,
    read: &FlexRead,
    here: OpenBody,
) -> Result<(), SceneError> {
    let mass = read.mass / read.points.len() as f64;
    let side = read.element.number("inertiabox")?.unwrap_or(INERTIA_BOX);
    let moment = Vector3::repeat(mass / 6.0 * side * side);
    let inertia = nalgebra::Matrix3::from_diagonal(&moment);
    let properties = MassProperties::new_lenient(mass, Vector3::zeros(), inertia)
        .map_err(|fault| read.element.error(fault))?;
    let touches =
        build.flags.contact && (read.contact.contype != 0 || read.contact.conaffinity != 0);
    if touches {
        let what = "<flexcomp> contact of elements: its points touch as balls";
        build.report_unsupported(&read.element.place, what);
    }
    // The body of each point, and its place there.
    let mut ends = Vec::with_capacity(read.points.len());
    for (index, point) in read.points.iter().enumerate() {
        if read.pinned.contains(&(index as u32)) {
            ends.push((BodyId(here.id), *point));
            continue;
        }
        let id = draft.bodies.len();
        let name = format!("{}_{index}", read.name);
        let pose = Isometry3::translation(point.x, point.y, point.z);
        let spec = BodySpec {
            name: name.clone(),
            parent: BodyId(here.id),
            pose,
            mass: Some(properties),
            ..BodySpec::default()
        };
        draft.bodies.push(BodyDraft::massive(spec, id, &read.element.place));
        let built =
            BuiltBody { id: BodyId(id), pose: here.pose * pose, inertial: Isometry3::identity() };
        build.bodies.add(&read.element, &name, built)?;
        for axis in 0..3 {
            let kind = JointKind::Slide { axis: Vector3::ith(axis, 1.0) };
            let made = JointId(draft.joints.len());
            let built = BuiltJoint { id: made, kind, range: None, part: read.element.part };
            build.joints.add(&read.element, "", built)?;
            draft.joints.push((BodyId(id), JointSpec::new(kind)));
        }
        if touches {
            let shape = Shape::sphere(read.radius).map_err(|fault| read.element.error(fault))?;
            let geom = Geom {
                groups: surface::groups(&read.contact),
                colour: read.colour,
                ..Geom::new(BodyId(id), shape)
            };
            draft.geoms.push(GeomDraft { geom, terms: read.contact });
        }
        ends.push((BodyId(id), Vector3::zeros()));
    }
    connect(build, read, &ends);
    Ok(())
}

/// Edges between points, each once, in the order of their ends.
fn edges(read: &FlexRead) -> BTreeSet<(u32, u32)> {
    let mut edges = BTreeSet::new();
    for element in read.corners.chunks_exact(read.dim + 1) {
        for (k, a) in element.iter().enumerate() {
            edges.extend(element[..k].iter().map(|b| (*a.min(b), *a.max(b))));
        }
    }
    edges
}

fn connect(build: &mut Build, read: &FlexRead, ends: &[(BodyId, Vector3<f64>)]) {
    let edge = read.edge;
    for (a, b) in edges(read) {
        let [(body_a, point_a), (body_b, point_b)] = [ends[a as usize], ends[b as usize]];
        if body_a == body_b {
            continue;
        }
        let length = (read.points[a as usize] - read.points[b as usize]).norm();
        build.world.exclude(body_a, body_b);
        if edge.constant && build.flags.equality {
            let distance = Distance { body_a, point_a, body_b, point_b, distance: length };
            build.world.equality("", Equality::Distance(distance));
        }
        let stiffness = if build.flags.spring { edge.stiffness } else { 0.0 };
        let damping = if build.flags.damper { edge.damping } else { 0.0 };
        if stiffness != 0.0 || damping != 0.0 {
            let site = |body, point| TendonSite { body, point };
            let path = TendonPath::through([site(body_a, point_a), site(body_b, point_b)]);
            let mut spring = TendonSpec::new("", path);
            (spring.stiffness, spring.damping) = (stiffness, damping);
            spring.rest = TendonRest::Length(length);
            build.world.mechanism.tendon(spring);
        }
    }
}
