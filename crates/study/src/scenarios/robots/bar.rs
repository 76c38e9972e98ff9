//! Slender bars that swing in the plane of x and z, for linkages.
//!
//! Angles turn x towards z, about −y. A bar's frame stands at its first pivot with x along the bar.

use nalgebra::{Isometry3, Matrix3, Translation3, UnitQuaternion, Vector3};
use std::f64::consts::FRAC_PI_2;
use stiction_geom::{Groups, Shape};
use stiction_mech::{BodyId, BodySpec, JointKind, JointSpec, MassProperties};
use stiction_sim::{Geom, WorldBuilder};

use crate::error::StudyError;

/// Radius of every bar [m].
const RADIUS: f64 = 0.01;

/// Visual shape without collision.
pub const NO_COLLISION: Groups = Groups { category: 0, mask: 0 };

/// The axis about which positive angles turn x towards z.
pub fn axis() -> Vector3<f64> {
    -Vector3::y()
}

/// A frame at (x, z) [m] turned by an angle [rad] in the plane.
pub fn frame(x: f64, z: f64, angle: f64) -> Isometry3<f64> {
    let turn = UnitQuaternion::from_scaled_axis(axis() * angle);
    Isometry3::from_parts(Translation3::new(x, 0.0, z), turn)
}

/// A homogeneous bar of a length [m] and a mass [kg] on a hinge at its first end. `angle` [rad] is
/// both its place relative to its parent and the coordinate of its hinge at the reference.
pub fn hinged(
    builder: &mut WorldBuilder,
    name: &str,
    parent: BodyId,
    place: (f64, f64, f64),
    length: f64,
    mass: f64,
) -> Result<BodyId, StudyError> {
    let (x, z, angle) = place;
    let across = mass * length * length / 12.0;
    let along = 0.5 * mass * RADIUS * RADIUS;
    let inertia = Matrix3::from_diagonal(&Vector3::new(along, across, across));
    let body = builder.mechanism.body(BodySpec {
        name: name.to_owned(),
        parent,
        pose: frame(x, z, angle),
        mass: Some(MassProperties::new(mass, Vector3::x() * (0.5 * length), inertia)?),
        ..BodySpec::default()
    });
    let hinge = JointSpec::new(JointKind::Hinge { axis: axis() });
    builder.mechanism.joint(body, JointSpec { name: name.to_owned(), reference: angle, ..hinge });
    let turn = UnitQuaternion::from_scaled_axis(Vector3::y() * FRAC_PI_2);
    let pose = Isometry3::from_parts(Translation3::new(0.5 * length, 0.0, 0.0), turn);
    let shape = Shape::capsule(RADIUS, 0.5 * length)?;
    builder.geom(Geom { groups: NO_COLLISION, ..Geom::new(body, shape).at(pose).named(name) });
    Ok(body)
}
