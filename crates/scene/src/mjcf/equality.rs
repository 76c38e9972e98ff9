//! `<equality>`: loops that are closed, bodies that are welded, coordinates that follow others.
//!
//! Equalities are exact unless the file sets `solref` or `solimp`; those of mocap bodies are always soft, so that a
//! pose that jumps pulls and does not throw. What connects bodies at one anchor takes the other body's point from
//! the reference configuration.

use nalgebra::{Isometry3, Point3, Quaternion, Translation3, UnitQuaternion, Vector3};
use stiction_mech::{BodyId, SoftLaw};
use stiction_sim::constraint::{
    Connect, Equality, EqualityOptions, JointCoupling, Polynomial, TendonCoupling, Weld,
};

use super::build::{Build, BuiltJoint};
use super::soft_law;
use crate::error::SceneError;
use crate::xml::Element;

/// Coefficients of a polynomial that are not given.
const POLYNOMIAL: [f64; 5] = [0.0, 1.0, 0.0, 0.0, 0.0];

/// Reads a section.
pub(super) fn read(build: &mut Build, section: &Element) -> Result<(), SceneError> {
    for element in &section.children {
        let equality = match element.tag.as_str() {
            "connect" => connect(build, element)?,
            "weld" => weld(build, element)?,
            "joint" => joint(build, element)?,
            "tendon" => tendon(build, element)?,
            _ => continue,
        };
        let mut softness = soft_law::read(build, element, "solref", "solimp")?;
        if softness.is_none() && has_mocap(build, &equality) {
            softness = Some(SoftLaw::default());
        }
        let torque_scale = element.number("torquescale")?.unwrap_or(1.0);
        let active = element.boolean("active")?.unwrap_or(true);
        let anchor = weld_anchor(build, element)?;
        let options = EqualityOptions { softness, torque_scale, anchor, active };
        let name = element.get("name").unwrap_or("");
        if build.flags.equality {
            build.world.equality_with(name, equality, options);
        }
    }
    Ok(())
}

/// Whether a mocap body takes part, or one that is fixed on it.
fn has_mocap(build: &Build, equality: &Equality) -> bool {
    let bodies = build.world.mechanism.declared().bodies;
    let is_mocap = |mut body: BodyId| {
        while body != BodyId::WORLD && !build.mocap.contains(&body) {
            body = bodies.get(body.0).map_or(BodyId::WORLD, |spec| spec.parent);
        }
        body != BodyId::WORLD
    };
    match equality {
        Equality::Connect(connect) => is_mocap(connect.body_a) || is_mocap(connect.body_b),
        Equality::Weld(weld) => is_mocap(weld.body_a) || is_mocap(weld.body_b),
        _ => false,
    }
}

/// A body with its pose in the world at the reference configuration.
struct EqualityEnd {
    id: BodyId,
    pose: Isometry3<f64>,
}

/// The two bodies; the second is the world if it is not named.
fn bodies(build: &Build, element: &Element) -> Result<(EqualityEnd, EqualityEnd), SceneError> {
    let a = build.bodies.require(element, "body1")?;
    let a = EqualityEnd { id: a.id, pose: a.pose };
    let b = match build.bodies.find(element, "body2")? {
        Some(b) => EqualityEnd { id: b.id, pose: b.pose },
        None => EqualityEnd { id: BodyId::WORLD, pose: Isometry3::identity() },
    };
    if a.id == b.id {
        return Err(element.error("body1 and body2 are the same; expected two"));
    }
    Ok((a, b))
}

/// Whether an equality is between sites.
fn between_sites(element: &Element) -> Result<bool, SceneError> {
    let sites = element.peek("site1").is_some() || element.peek("site2").is_some();
    let others = ["body1", "body2", "anchor", "relpose"];
    if let Some(name) = others.iter().find(|name| sites && element.peek(name).is_some()) {
        return Err(element.error(format_args!("sites and {name}; expected one of the two")));
    }
    Ok(sites)
}

fn connect(build: &Build, element: &Element) -> Result<Equality, SceneError> {
    if between_sites(element)? {
        let a = build.sites.require(element, "site1")?;
        let b = build.sites.require(element, "site2")?;
        return Ok(Equality::Connect(Connect {
            body_a: a.body,
            point_a: a.pose.translation.vector,
            body_b: b.body,
            point_b: b.pose.translation.vector,
        }));
    }
    let (a, b) = bodies(build, element)?;
    let Some(anchor) = element.vector("anchor")? else {
        return Err(element.wrong("anchor", "three numbers, or two sites"));
    };
    let p_W = a.pose * Point3::from(anchor);
    Ok(Equality::Connect(Connect {
        body_a: a.id,
        point_a: anchor,
        body_b: b.id,
        point_b: b.pose.inverse_transform_point(&p_W).coords,
    }))
}

fn weld(build: &Build, element: &Element) -> Result<Equality, SceneError> {
    let turns = element.number("torquescale")?.unwrap_or(1.0) != 0.0;
    if between_sites(element)? {
        let a = build.sites.require(element, "site1")?;
        let b = build.sites.require(element, "site2")?;
        let (body_a, body_b) = (a.body, b.body);
        if !turns {
            let (point_a, point_b) = (a.pose.translation.vector, b.pose.translation.vector);
            return Ok(Equality::Connect(Connect { body_a, point_a, body_b, point_b }));
        }
        return Ok(Equality::Weld(Weld { body_a, body_b, pose: a.pose * b.pose.inverse() }));
    }
    let (a, b) = bodies(build, element)?;
    // The anchor of B, in its frame, is held where `relpose` says in the frame of A.
    let anchor = element.vector("anchor")?.unwrap_or_else(Vector3::zeros);
    let pose = match relative_pose(element)? {
        Some(given) => given * Translation3::from(-anchor),
        None => a.pose.inverse() * b.pose,
    };
    if !turns {
        let point_a = (pose * Point3::from(anchor)).coords;
        let (body_a, body_b) = (a.id, b.id);
        return Ok(Equality::Connect(Connect { body_a, point_a, body_b, point_b: anchor }));
    }
    Ok(Equality::Weld(Weld { body_a: a.id, body_b: b.id, pose }))
}

/// The point of the second body at which a weld holds, in its frame.
fn weld_anchor(build: &Build, element: &Element) -> Result<Vector3<f64>, SceneError> {
    if element.tag != "weld" {
        return Ok(Vector3::zeros());
    }
    if element.peek("site2").is_some() {
        return Ok(build.sites.require(element, "site2")?.pose.translation.vector);
    }
    Ok(element.vector("anchor")?.unwrap_or_else(Vector3::zeros))
}

/// The relative pose of a weld; `None` means that of the reference configuration.
fn relative_pose(element: &Element) -> Result<Option<Isometry3<f64>>, SceneError> {
    let Some([x, y, z, w, i, j, k]) = element.array::<7>("relpose")? else { return Ok(None) };
    let quaternion = Quaternion::new(w, i, j, k);
    if quaternion.norm() == 0.0 {
        return Ok(None);
    }
    let rotation = UnitQuaternion::try_new(quaternion, 0.0)
        .ok_or_else(|| element.wrong("relpose", "a position and a quaternion"))?;
    Ok(Some(Isometry3::from_parts(Translation3::new(x, y, z), rotation)))
}

fn polynomial(element: &Element) -> Result<Polynomial, SceneError> {
    Ok(Polynomial(element.array_or("polycoef", POLYNOMIAL)?))
}

fn joint(build: &Build, element: &Element) -> Result<Equality, SceneError> {
    let scalar = |made: &BuiltJoint, attribute: &str| {
        if made.kind.nv() == 1 {
            return Ok(made.id);
        }
        Err(element.wrong(attribute, "a hinge or a slide"))
    };
    let follower = scalar(build.joints.require(element, "joint1")?, "joint1")?;
    let leader = build.joints.find(element, "joint2")?;
    let leader = leader.map(|made| scalar(made, "joint2")).transpose()?;
    if leader == Some(follower) {
        return Err(element.error("joint1 and joint2 are the same; expected two"));
    }
    let polynomial = polynomial(element)?;
    Ok(Equality::Joint(JointCoupling { joint: follower, leader, polynomial }))
}

fn tendon(build: &Build, element: &Element) -> Result<Equality, SceneError> {
    let follower = build.tendons.require(element, "tendon1")?.id;
    let leader = build.tendons.find(element, "tendon2")?.map(|made| made.id);
    if leader == Some(follower) {
        return Err(element.error("tendon1 and tendon2 are the same; expected two"));
    }
    let polynomial = polynomial(element)?;
    Ok(Equality::Tendon(TendonCoupling { tendon: follower, leader, polynomial }))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{error, model};
    use super::*;
    use stiction_sim::{Settings, Simulation};

    const BODIES: &str = "<worldbody>
        <body name='a' pos='1 0 0' euler='0 0 90'><joint name='j'/><geom size='0.1'/>
          <site name='sa' pos='0 0 1'/></body>
        <body name='b' pos='0 2 0'><joint name='k' type='slide'/><geom size='0.1'/>
          <site name='sb' pos='0 0 3'/></body>
        <body name='c'><joint name='l' type='ball'/><geom size='0.1'/></body></worldbody>";

    fn first(inner: &str) -> Equality {
        let found = model(&format!("{BODIES}<equality>{inner}</equality>"));
        found.world.equalities()[0].clone()
    }

    #[test]
    fn an_anchor_is_where_the_reference_configuration_has_it() {
        let Equality::Connect(found) = first("<connect body1='a' body2='b' anchor='1 0 0'/>")
        else {
            panic!("expected a connection")
        };
        // The frame of A is turned by a right angle: its x is the world's y.
        assert_eq!(found.point_a, Vector3::new(1.0, 0.0, 0.0));
        assert!((found.point_b - Vector3::new(1.0, -1.0, 0.0)).norm() <= 1e-15);
        let Equality::Connect(found) = first("<connect site1='sa' site2='sb'/>") else {
            panic!("expected a connection")
        };
        assert_eq!((found.point_a.z, found.point_b.z), (1.0, 3.0));
    }

    #[test]
    fn a_weld_holds_the_anchor_where_its_pose_says() {
        let weld = "<weld body1='a' body2='b' relpose='1 2 3 0 1 0 0' anchor='0 0 1'/>";
        let Equality::Weld(found) = first(weld) else { panic!("expected a weld") };
        let anchor = found.pose * Point3::new(0.0, 0.0, 1.0);
        assert!((anchor.coords - Vector3::new(1.0, 2.0, 3.0)).norm() <= 1e-15);
        // Without a pose: that of the reference configuration, whatever the anchor.
        let Equality::Weld(found) = first("<weld body1='b' body2='c' anchor='5 5 5'/>") else {
            panic!("expected a weld")
        };
        assert!((found.pose.translation.vector - Vector3::new(0.0, -2.0, 0.0)).norm() <= 1e-15);
        // Without torque: only the anchor is held.
        let free = first("<weld body1='b' body2='c' torquescale='0'/>");
        assert!(matches!(free, Equality::Connect(_)));
    }

    #[test]
    fn a_joint_follows_another_by_a_polynomial() {
        let Equality::Joint(found) = first("<joint joint1='k' joint2='j' polycoef='1 2 3'/>")
        else {
            panic!("expected a coupling")
        };
        assert_eq!(found.polynomial, Polynomial([1.0, 2.0, 3.0, 0.0, 0.0]));
        assert!(found.leader.is_some());
        let Equality::Joint(found) = first("<joint joint1='k'/>") else {
            panic!("expected a coupling")
        };
        assert_eq!((found.leader, found.polynomial), (None, Polynomial(POLYNOMIAL)));
    }

    #[test]
    fn inactive_equalities_are_kept_and_those_of_a_switched_off_kind_left_out() {
        let inactive = "<equality><joint joint1='k' active='false'/></equality>";
        let found = model(&format!("{BODIES}{inactive}"));
        assert_eq!(found.world.equalities().len(), 1);
        let simulation = Simulation::new(found.world, Settings::default()).unwrap();
        assert_eq!(simulation.equality_active(), [false]);
        let off = "<option><flag equality='disable'/></option>";
        let found = model(&format!("{off}{BODIES}<equality><joint joint1='k'/></equality>"));
        assert!(found.world.equalities().is_empty());
    }

    #[test]
    fn equalities_that_cannot_be_are_refused_at_their_line() {
        for inner in [
            "<connect body1='a' body2='a' anchor='0 0 0'/>",
            "<connect body1='a'/>",
            "<connect site1='sa' body2='b'/>",
            "<weld body1='a' relpose='1 2 3'/>",
            "<joint joint1='j' joint2='j'/>",
            "<joint joint1='l'/>",
            "<tendon tendon1='none'/>",
        ] {
            let message = error(&format!("{BODIES}\n<equality>{inner}</equality>"));
            assert!(message.starts_with("main.xml:7: <"), "{inner}: {message}");
        }
    }
}
