//! Bodies of a robot that overlap where it starts: covers that enclose their motors, hulls that are
//! fuller than the meshes they stand for. Such never touch one another, as tools for planning and
//! simulation of robots have it; links next to one another never do anyway.

use stiction_geom::{Collider, Colliders, Detector};
use stiction_mech::{BodyId, Data, Model, kinematics};
use stiction_sim::{Geom, WorldError};

use crate::error::SceneError;

/// Pairs of bodies, by their ids in the builder, whose shapes penetrate at the coordinates `q`.
pub(super) fn overlapping(
    model: &Model,
    geoms: &[Geom],
    q: &[f64],
) -> Result<Vec<(BodyId, BodyId)>, SceneError> {
    let mut set = Colliders::builder();
    for geom in geoms {
        let Some(id) = model.body_of_builder(geom.body) else { continue };
        set.add(Collider {
            shape: geom.shape.clone(),
            frame: model.link(id).unwrap_or(0) as u32,
            pose: model.bodies()[id.0].pose_in_link * geom.pose,
            groups: geom.groups,
            margin: 0.0,
        });
    }
    set.fixed(0);
    for link in model.links() {
        if let Some(parent) = link.parent {
            set.exclude(parent as u32, link.body as u32);
        }
    }
    let set = set.build().map_err(WorldError::from)?;
    let mut data = Data::new(model);
    kinematics(model, q, &mut data);
    let n = model.bodies().len();
    let mut detector = Detector::new(&set);
    let contacts = detector.detect(&set, &data.body_pose, &vec![0.0; n], &vec![false; n]);
    let mut pairs: Vec<_> = contacts
        .iter()
        .filter(|contact| contact.gap < 0.0)
        .map(|contact| (geoms[contact.a.index()].body, geoms[contact.b.index()].body))
        .collect();
    pairs.sort();
    pairs.dedup();
    Ok(pairs)
}
