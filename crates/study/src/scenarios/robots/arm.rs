//! A fixed arm of seven hinges, alternately about its own length and across it.
//!
//! Links are cylinders, slimmer and lighter towards the hand; a box stands for the hand.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use stiction_geom::{Groups, Shape};
use stiction_mech::{BodyId, BodySpec, JointId, JointKind, JointSpec, MassProperties};
use stiction_sim::{Geom, WorldBuilder};

use crate::error::StudyError;

/// Number of hinges.
pub const JOINTS: usize = 7;
/// Lengths [m], radii [m] and masses [kg] of the links.
const LENGTH: [f64; JOINTS] = [0.30, 0.18, 0.20, 0.16, 0.20, 0.09, 0.10];
const RADIUS: [f64; JOINTS] = [0.07, 0.07, 0.06, 0.06, 0.05, 0.05, 0.04];
const MASS: [f64; JOINTS] = [4.0, 3.5, 3.0, 2.5, 2.0, 1.5, 0.8];
/// Half edges of the hand [m] and its mass [kg].
const HAND: [f64; 3] = [0.05, 0.1, 0.04];
const HAND_MASS: f64 = 0.7;

/// Adds an arm that stands at `base` with its hinges at `angles` [rad]; joints are named
/// `<name>-<k>`. Shapes touch what `groups` say.
pub fn add(
    builder: &mut WorldBuilder,
    name: &str,
    base: Isometry3<f64>,
    angles: [f64; JOINTS],
    groups: Groups,
) -> Result<Vec<JointId>, StudyError> {
    let mut parent = BodyId::WORLD;
    let mut foot = base;
    let mut joints = Vec::with_capacity(JOINTS);
    for k in 0..JOINTS {
        let axis = if k % 2 == 0 { Vector3::z() } else { Vector3::y() };
        let turn = UnitQuaternion::from_scaled_axis(axis * angles[k]);
        let shape = Shape::cylinder(RADIUS[k], 0.5 * LENGTH[k])?;
        let centre = Vector3::z() * (0.5 * LENGTH[k]);
        let body = builder.mechanism.body(BodySpec {
            name: format!("{name}-{k}"),
            parent,
            pose: foot * turn,
            mass: Some(homogeneous(&shape, MASS[k], centre)?),
            ..BodySpec::default()
        });
        let hinge = JointSpec::new(JointKind::Hinge { axis });
        let named = JointSpec { name: format!("{name}-{k}"), reference: angles[k], ..hinge };
        joints.push(builder.mechanism.joint(body, named));
        let at = Isometry3::from_parts(Translation3::from(centre), UnitQuaternion::identity());
        builder.geom(Geom { groups, ..Geom::new(body, shape).at(at) });
        foot = Isometry3::translation(0.0, 0.0, LENGTH[k]);
        parent = body;
    }
    let shape = Shape::cuboid(Vector3::from(HAND))?;
    let body = builder.mechanism.body(BodySpec {
        name: format!("{name}-hand"),
        parent,
        pose: foot * Isometry3::translation(0.0, 0.0, HAND[2]),
        mass: Some(homogeneous(&shape, HAND_MASS, Vector3::zeros())?),
        ..BodySpec::default()
    });
    builder.geom(Geom { groups, ..Geom::new(body, shape) });
    Ok(joints)
}

/// Mass properties of a homogeneous shape with its centre at a point.
pub(super) fn homogeneous(
    shape: &Shape,
    mass: f64,
    centre: Vector3<f64>,
) -> Result<MassProperties, StudyError> {
    let (unit, _, inertia) = shape.mass_properties(1.0);
    Ok(MassProperties::new(mass, centre, inertia * (mass / unit))?)
}
