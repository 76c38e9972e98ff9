//! `<sensor>`: sensors on the mechanism. Noise and delays are not modelled.

use stiction_sim::{SensorFrame, SensorKind, SensorSpec, TouchVolume};

use super::build::{Build, BuiltSite, GeomKind};
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
                build.report_ignored(&element.place, format!("<{}> {what}", element.tag));
            }
        }
        build.world.sensor(SensorSpec { name, kind, cutoff });
    }
    Ok(())
}

/// Quantity of a sensor; `None` if there is no such sensor.
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

/// The volume of a touch sensor.
fn volume(element: &Element, site: &BuiltSite) -> Result<TouchVolume, SceneError> {
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

#[cfg(test)]
mod tests {
    use super::super::testing::{error, model};
    use nalgebra::Vector3;
    use stiction_sim::{SENSORS, Simulation};

    const BODY: &str = "<option magnetic='1 2 3'/><worldbody>
        <body name='b' pos='0 0 1' quat='0 1 0 0'><joint name='j' type='slide' axis='0 0 1'/>
          <inertial pos='0 0 0.5' mass='1' diaginertia='1 1 1'/>
          <site name='s' pos='1 0 0'/><camera name='c'/><geom name='g' size='0.1'/>
          <body name='d'><joint name='ball' type='ball'/><geom size='0.1'/></body></body>
        </worldbody><tendon><fixed name='t'><joint joint='j' coef='2'/></fixed></tendon>
        <actuator><motor name='a' joint='j'/></actuator>";

    fn reading(sensors: &str) -> Vec<f64> {
        let found = model(&format!("{BODY}<sensor>{sensors}</sensor>"));
        let mut simulation = Simulation::new(found.world, found.settings).unwrap();
        simulation.sensor_data().to_vec()
    }

    #[test]
    fn frames_are_those_of_the_inertia_the_body_the_site_the_geom_and_the_camera() {
        for (frame, exact) in [
            ("objtype='body' objname='b'", Vector3::new(0.0, 0.0, 0.5)),
            ("objtype='xbody' objname='b'", Vector3::new(0.0, 0.0, 1.0)),
            ("objtype='site' objname='s'", Vector3::new(1.0, 0.0, 1.0)),
            ("objtype='geom' objname='g'", Vector3::new(0.0, 0.0, 1.0)),
            ("objtype='camera' objname='c'", Vector3::new(0.0, 0.0, 1.0)),
            // Half a turn about x: seen from the body, the site is where the body has it.
            ("objtype='site' objname='s' reftype='xbody' refname='b'", Vector3::new(1.0, 0.0, 0.0)),
        ] {
            let found = Vector3::from_vec(reading(&format!("<framepos {frame}/>")));
            assert!((found - exact).norm() <= 1e-15, "{frame}: {found}");
        }
    }

    #[test]
    fn a_magnetometer_reads_the_field_of_the_world() {
        let found = Vector3::from_vec(reading("<magnetometer site='s'/>"));
        assert!((found - Vector3::new(1.0, -2.0, -3.0)).norm() <= 1e-14);
    }

    #[test]
    fn every_supported_sensor_is_read_and_others_are_listed() {
        for sensor in SENSORS {
            let target = match sensor.name {
                "subtreecom" => "body='b'",
                name if name.starts_with("frame") => "objtype='site' objname='s'",
                name if name.starts_with("ball") => "joint='ball'",
                name if name.starts_with("joint") => "joint='j'",
                name if name.starts_with("tendon") => "tendon='t'",
                name if name.starts_with("actuator") => "actuator='a'",
                _ => "site='s'",
            };
            let found = reading(&format!("<{} {target}/>", sensor.name));
            assert_eq!(found.len(), sensor.dim, "{}", sensor.name);
        }
        let found = model(&format!("{BODY}<sensor><rangefinder site='s'/><clock/></sensor>"));
        assert!(found.world.sensors().is_empty());
        assert_eq!(found.unsupported.iter().filter(|entry| !entry.physical).count(), 2);
    }

    #[test]
    fn sensors_of_nothing_are_refused() {
        for inner in [
            "<gyro/>",
            "<gyro site='none'/>",
            "<jointpos joint='ball'/>",
            "<framepos objtype='moon' objname='b'/>",
            "<jointpos joint='j' cutoff='-1'/>",
        ] {
            let message = error(&format!("{BODY}\n<sensor>{inner}</sensor>"));
            assert!(message.starts_with("main.xml:8: <"), "{inner}: {message}");
        }
    }
}
