//! The colliders of a world, with what they may touch.

use std::collections::BTreeSet;

use stiction_geom::{Collider, ColliderId, Colliders};
use stiction_mech::{BodyId, Model};

use super::{Geom, Renumber};
use crate::error::WorldError;
use crate::surface::Pairing;

/// The collision frame that a body moves with.
pub(crate) fn frame_of(model: &Model, body: BodyId) -> u32 {
    let driver = || model.driver(body).map(|driver| driver.0);
    model.link(body).or_else(driver).unwrap_or(0) as u32
}

pub(super) fn colliders(
    model: &Model,
    renumber: &Renumber,
    geoms: &[Geom],
    excludes: &[(BodyId, BodyId)],
    pairs: &[(usize, usize, Option<Pairing>)],
) -> Result<Colliders, WorldError> {
    let mut set = Colliders::builder();
    let frame = |body: BodyId| frame_of(model, body);
    // An explicit pair is detected at its own standoff: half of it on either side.
    let mut least_margin = vec![0.0_f64; geoms.len()];
    for (a, b, pairing) in pairs {
        for index in [*a, *b] {
            let Some(least) = least_margin.get_mut(index) else {
                let owner = "explicit pair".to_owned();
                let (what, found, count) = ("shape", index, geoms.len());
                return Err(WorldError::Unknown { owner, what, found, count });
            };
            *least = least.max(0.5 * pairing.map_or(0.0, |pairing| pairing.standoff));
        }
    }
    for (index, geom) in geoms.iter().enumerate() {
        let body = &model.bodies()[geom.body.0];
        if frame(geom.body) != 0 && !geom.shape.bounding_radius().is_finite() {
            let (name, kind) = (geom.name.clone(), geom.shape.name());
            return Err(WorldError::Immovable { name, kind });
        }
        let id = set.add(Collider {
            shape: geom.shape.clone(),
            frame: frame(geom.body),
            pose: body.pose_in_link * geom.pose,
            groups: geom.groups,
            margin: geom.margin.max(geom.standoff).max(least_margin[index]),
        });
        if geom.surface.compliance.is_some() {
            set.compliant(id);
        }
    }
    set.fixed(0);
    for link in model.links() {
        if let Some(parent) = link.parent {
            set.exclude(parent as u32, link.body as u32);
        }
    }
    // Driven bodies collide neither with the world nor with each other.
    model.driven().iter().for_each(|driven| set.driven(driven.0 as u32));
    // A body that has all shapes of its frame is excluded by frame, others shape by shape.
    let mut shapes_of = vec![Vec::new(); model.bodies().len()];
    let mut bodies_of_frame = vec![BTreeSet::new(); model.bodies().len()];
    for (index, geom) in geoms.iter().enumerate() {
        shapes_of[geom.body.0].push(ColliderId(index as u32));
        bodies_of_frame[frame(geom.body) as usize].insert(geom.body);
    }
    let is_alone = |body: BodyId| {
        bodies_of_frame[frame(body) as usize].iter().take(2).all(|other| *other == body)
    };
    for (a, b) in excludes {
        let owner = || "exclusion".to_owned();
        let (a, b) = (renumber.body(*a, owner)?, renumber.body(*b, owner)?);
        if is_alone(a) && is_alone(b) {
            set.exclude(frame(a), frame(b));
            continue;
        }
        for one in &shapes_of[a.0] {
            shapes_of[b.0].iter().for_each(|other| set.exclude_pair(*one, *other));
        }
    }
    for (a, b, _) in pairs {
        set.pair(ColliderId(*a as u32), ColliderId(*b as u32));
    }
    Ok(set.build()?)
}

/// Per body: distance of the farthest point of a link's shapes from its origin [m].
pub(super) fn radii(model: &Model, colliders: &Colliders) -> Vec<f64> {
    let mut radius = vec![0.0_f64; model.bodies().len()];
    for collider in colliders.as_slice().iter().filter(|c| c.frame != 0) {
        let reach = collider.pose.translation.vector.norm() + collider.shape.bounding_radius();
        let entry = &mut radius[collider.frame as usize];
        *entry = entry.max(reach);
    }
    radius
}
