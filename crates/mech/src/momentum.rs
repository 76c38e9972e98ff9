//! Momentum and centre of mass of all links. Armature, which models geared rotors, has no momentum.

use crate::data::Data;
use crate::model::{Link, Model};
use crate::spatial::{angular, apply, linear};
use nalgebra::{Point3, Vector3};

/// Linear [N·s] and angular [N·m·s] momentum, the latter about `point` [m]; all in the world frame.
/// Needs the velocity stage of `data`.
pub fn momentum(model: &Model, data: &Data, point: Vector3<f64>) -> (Vector3<f64>, Vector3<f64>) {
    let (mut total, mut about_point) = (Vector3::zeros(), Vector3::zeros());
    for (tree, range) in model.trees.iter().enumerate() {
        let arm = data.reference[tree] - point;
        for link in &model.links[range.links.clone()] {
            let h = apply(&data.link_inertia[link.body], &data.velocity[link.body]);
            total += linear(&h);
            about_point += angular(&h) + arm.cross(&linear(&h));
        }
    }
    (total, about_point)
}

/// Centre of mass [m] of the links, world frame, `None` if they have no mass. Needs the position
/// stage of `data`.
pub fn centre_of_mass(model: &Model, data: &Data) -> Option<Vector3<f64>> {
    let mass = model.mass();
    let moment =
        |link: &Link| link.mass * (data.body_pose[link.body] * Point3::from(link.com)).coords;
    (mass > 0.0).then(|| model.links.iter().map(moment).sum::<Vector3<f64>>() / mass)
}
