//! Where an actuator acts: a joint, a tendon, or a wrench at a site.

use nalgebra::{Vector3, Vector6};
use stiction_mech::{
    BodyFrame, BodyId, JointKind, JointWrench, SitePair, SliderCrank, Transmission,
};

use crate::error::SceneError;
use crate::mjcf::build::{Build, BuiltJoint, BuiltSite};
use crate::xml::Element;

/// Attributes that name the target.
const TARGETS: [&str; 6] = ["joint", "jointinparent", "tendon", "site", "body", "cranksite"];

/// Target of the transmission.
pub(super) struct ActuatorTarget {
    /// The transmission with its gear.
    pub place: (Transmission, f64),
    /// Whether the transmission has a length in MuJoCo.
    pub has_length: bool,
    /// Range of what is moved.
    pub range: Option<(f64, f64)>,
}

impl ActuatorTarget {
    fn to(place: Transmission, gear: f64) -> Self {
        Self { place: (place, gear), has_length: true, range: None }
    }

    fn without_length(self) -> Self {
        Self { has_length: false, ..self }
    }
}

/// A transmission that moves nothing.
pub(super) fn nowhere() -> Transmission {
    Transmission::Body { body: BodyId::WORLD, point: Vector3::zeros(), wrench: Vector6::zeros() }
}

/// Reads the transmission of an actuator.
pub(super) fn read(
    build: &Build,
    element: &Element,
    gear: &[f64; 6],
    rod: f64,
) -> Result<ActuatorTarget, SceneError> {
    let given: Vec<_> = TARGETS.iter().filter(|name| element.peek(name).is_some()).collect();
    let [target] = given[..] else {
        let found = given.len();
        let known = TARGETS.join(", ");
        return Err(element.error(format_args!("{found} targets; expected one of: {known}")));
    };
    Ok(match *target {
        "joint" => {
            let joint = build.joints.require(element, "joint")?;
            let range = joint.range;
            ActuatorTarget { range, ..on_joint(joint, gear, false) }
        }
        "jointinparent" => {
            let joint = build.joints.require(element, "jointinparent")?;
            let range = joint.range;
            ActuatorTarget { range, ..on_joint(joint, gear, true) }
        }
        "tendon" => {
            let tendon = build.tendons.require(element, "tendon")?;
            let range = tendon.range;
            ActuatorTarget { range, ..ActuatorTarget::to(Transmission::Tendon(tendon.id), gear[0]) }
        }
        "site" => {
            let site = build.sites.require(element, "site")?;
            let [fx, fy, fz, tx, ty, tz] = *gear;
            if let Some(reference) = build.sites.find(element, "refsite")? {
                let pair = SitePair {
                    site: frame_of(site),
                    reference: frame_of(reference),
                    force: Vector3::new(fx, fy, fz),
                    torque: Vector3::new(tx, ty, tz),
                };
                return Ok(ActuatorTarget::to(Transmission::Sites(pair), 1.0));
            }
            let rotation = site.pose.rotation;
            let torque = rotation * Vector3::new(tx, ty, tz);
            let force = rotation * Vector3::new(fx, fy, fz);
            let wrench = Vector6::new(torque.x, torque.y, torque.z, force.x, force.y, force.z);
            let point = site.pose.translation.vector;
            let place = Transmission::Body { body: site.body, point, wrench };
            ActuatorTarget::to(place, 1.0).without_length()
        }
        "body" => {
            let body = build.bodies.require(element, "body")?.id;
            ActuatorTarget::to(Transmission::Contacts(body), gear[0]).without_length()
        }
        _ => {
            let crank = frame_of(build.sites.require(element, "cranksite")?);
            let slider = frame_of(build.sites.require(element, "slidersite")?);
            if !(rod > 0.0) {
                return Err(element.wrong("cranklength", "a positive number"));
            }
            let place = Transmission::SliderCrank(SliderCrank { crank, slider, rod });
            ActuatorTarget::to(place, gear[0])
        }
    })
}

/// The frame of a site.
fn frame_of(site: &BuiltSite) -> BodyFrame {
    BodyFrame { body: site.body, pose: site.pose }
}

/// A joint of one coordinate, or directions of a joint of several. Torques are in the frame of the body, or in that of its
/// parent; a free joint has no length.
fn on_joint(joint: &BuiltJoint, gear: &[f64; 6], in_parent: bool) -> ActuatorTarget {
    let [a, b, c, d, e, f] = *gear;
    let (force, torque) = match joint.kind {
        JointKind::Ball => (Vector3::zeros(), Vector3::new(a, b, c)),
        JointKind::Free => (Vector3::new(a, b, c), Vector3::new(d, e, f)),
        _ => return ActuatorTarget::to(Transmission::Joint(joint.id), a),
    };
    let turns_in_parent = in_parent && torque != Vector3::zeros();
    let used: Vec<usize> = (0..joint.kind.nv()).filter(|k| gear[*k] != 0.0).collect();
    let reach = match used[..] {
        [] => ActuatorTarget::to(Transmission::JointDof(joint.id, 0), 0.0),
        [k] if !turns_in_parent => ActuatorTarget::to(Transmission::JointDof(joint.id, k), gear[k]),
        _ => {
            let wrench = JointWrench { joint: joint.id, force, torque, in_parent };
            ActuatorTarget::to(Transmission::JointWrench(wrench), 1.0)
        }
    };
    if joint.kind == JointKind::Free { reach.without_length() } else { reach }
}
