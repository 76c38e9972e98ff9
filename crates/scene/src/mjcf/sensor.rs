//! `<sensor>`: what instruments on the mechanism read. Noise and delays are not modelled.

use stiction_sim::{SensorFrame, SensorKind, SensorSpec, TouchVolume};

use super::build::{Build, GeomKind, SiteMade};
use crate::error::SceneError;
use crate::xml::Element;

/// Reads a section.
pub(super) fn read(build: &mut Build, section: &Element) -> Result<(), SceneError> {
    for element in &section.children {
        let Some(kind) = kind(build, element)? else { continue };
        let name = element.get("name").unwrap_or("").to_owned();
        let cutoff = element.number("cutoff")?.unwrap_or(0.0);
        if !(cutoff >= 0.0) {
            return Err(element.wrong("cutoff", "a number that is not negative"));
        }
        for what in ["noise", "delay", "interval"] {
            if element.numbers(what)?.is_some_and(|numbers| numbers.iter().any(|x| *x != 0.0)) {
                build.ignores(&element.place, format!("<{}> {what}", element.tag));
            }
        }
        build.world.sensor(SensorSpec { name, kind, cutoff });
    }
    Ok(())
}

/// What a sensor reads; `None` if the house has no such sensor.
fn kind(build: &Build, element: &Element) -> Result<Option<SensorKind>, SceneError> {
    let site = || {
        let site = build.sites.require(element, "site")?;
        Ok::<_, SceneError>(SensorFrame { body: site.body, pose: site.pose })
    };
    let of = || frame(build, element, "objtype", "objname");
    let seen_from = || match (element.peek("reftype"), element.peek("refname")) {
        (None, None) => Ok(None),
        _ => frame(build, element, "reftype", "refname").map(Some),
    };
    let axis = |axis| {
        Ok::<_, SceneError>(SensorKind::FrameAxis { of: of()?, seen_from: seen_from()?, axis })
    };
    let joint = |dofs: usize, expected: &str| {
        let joint = build.joints.require(element, "joint")?;
        let fits = joint.kind.nv() == dofs;
        fits.then_some(joint.id).ok_or_else(|| element.wrong("joint", expected))
    };
    let scalar = || joint(1, "a hinge or a slide");
    let ball = || joint(3, "a ball joint");
    let actuator = || build.actuators.require(element, "actuator").copied();
    let tendon = || build.tendons.require(element, "tendon").map(|made| made.id);
    Ok(Some(match element.tag.as_str() {
        "accelerometer" => SensorKind::Accelerometer(site()?),
        "gyro" => SensorKind::Gyro(site()?),
        "velocimeter" => SensorKind::Velocimeter(site()?),
        "force" => SensorKind::Force(site()?),
        "torque" => SensorKind::Torque(site()?),
        "magnetometer" => SensorKind::Magnetometer { at: site()?, field: build.magnetic },
        "touch" => {
            let volume = volume(element, build.sites.require(element, "site")?)?;
            SensorKind::Touch { at: site()?, volume }
        }
        "framepos" => SensorKind::FramePosition { of: of()?, seen_from: seen_from()? },
        "framequat" => SensorKind::FrameOrientation { of: of()?, seen_from: seen_from()? },
        "framexaxis" => axis(0)?,
        "frameyaxis" => axis(1)?,
        "framezaxis" => axis(2)?,
        "framelinvel" => SensorKind::FrameLinearVelocity { of: of()?, seen_from: seen_from()? },
        "frameangvel" => SensorKind::FrameAngularVelocity { of: of()?, seen_from: seen_from()? },
        "framelinacc" => SensorKind::FrameLinearAcceleration { of: of()? },
        "frameangacc" => SensorKind::FrameAngularAcceleration { of: of()? },
        "jointpos" => SensorKind::JointPosition(scalar()?),
        "jointvel" => SensorKind::JointVelocity(scalar()?),
        "jointactuatorfrc" => SensorKind::JointActuatorForce(scalar()?),
        "ballquat" => SensorKind::BallOrientation(ball()?),
        "ballangvel" => SensorKind::BallVelocity(ball()?),
        "actuatorpos" => SensorKind::ActuatorPosition(actuator()?),
        "actuatorvel" => SensorKind::ActuatorVelocity(actuator()?),
        "actuatorfrc" => SensorKind::ActuatorForce(actuator()?),
        "tendonpos" => SensorKind::TendonPosition(tendon()?),
        "tendonvel" => SensorKind::TendonVelocity(tendon()?),
        "subtreecom" => SensorKind::SubtreeCom(build.bodies.require(element, "body")?.id),
        _ => return Ok(None),
    }))
}

/// The frame that two attributes name: its kind and its name.
fn frame(
    build: &Build,
    element: &Element,
    kind: &str,
    name: &str,
) -> Result<SensorFrame, SceneError> {
    match element.require(kind)? {
        // The frame of the inertia.
        "body" => {
            let made = build.bodies.require(element, name)?;
            Ok(SensorFrame { body: made.id, pose: made.inertial })
        }
        "xbody" => Ok(SensorFrame::of(build.bodies.require(element, name)?.id)),
        "geom" => {
            let made = build.geoms.require(element, name)?;
            Ok(SensorFrame { body: made.body, pose: made.pose })
        }
        "site" => {
            let made = build.sites.require(element, name)?;
            Ok(SensorFrame { body: made.body, pose: made.pose })
        }
        "camera" => {
            let made = build.cameras.require(element, name)?;
            Ok(SensorFrame { body: made.body, pose: made.pose })
        }
        _ => Err(element.wrong(kind, "one of: body, xbody, geom, site, camera")),
    }
}

/// The volume in which a touch sensor feels.
fn volume(element: &Element, site: &SiteMade) -> Result<TouchVolume, SceneError> {
    let size = site.size;
    match site.kind {
        GeomKind::Sphere => Ok(TouchVolume::Sphere(size.x)),
        GeomKind::Capsule => Ok(TouchVolume::Capsule { r: size.x, half: size.y }),
        GeomKind::Ellipsoid => Ok(TouchVolume::Ellipsoid(size)),
        GeomKind::Cylinder => Ok(TouchVolume::Cylinder { r: size.x, half: size.y }),
        GeomKind::Box => Ok(TouchVolume::Box(size)),
        _ => Err(element.wrong("site", "a sphere, capsule, ellipsoid, cylinder or box")),
    }
}
