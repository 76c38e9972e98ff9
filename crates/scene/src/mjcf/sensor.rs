//! `<sensor>`: sensors on the mechanism. Noise is not modelled.

mod contact;

use std::collections::HashSet;

use stiction_sim::{
    RayReadings, SensedShapes, SensorFrame, SensorKind, SensorSpec, SeparationReading, TouchVolume,
};

use super::asset;
use super::build::{Build, BuiltSite, GeomKind};
use super::delay::{self, DelayAttributes};
use crate::error::SceneError;
use crate::xml::Element;

/// Elements that sensors refer to, known before the bodies are read: their shapes must be part of the world,
/// even if they touch nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct SensedNames {
    /// Names of geoms.
    pub geoms: HashSet<String>,
    /// Names of bodies whose geoms count.
    pub bodies: HashSet<String>,
    /// Whether there are rays, which meet every visible geom.
    pub rays: bool,
}

impl SensedNames {
    /// Adds those of a section.
    pub fn add(&mut self, section: &Element) {
        let names = |names: [&str; 2], into: &mut HashSet<String>, element: &Element| {
            into.extend(names.into_iter().filter_map(|name| element.peek(name)).map(str::to_owned));
        };
        for element in &section.children {
            match element.tag.as_str() {
                "rangefinder" => self.rays = true,
                "distance" | "normal" | "fromto" => {
                    names(["geom1", "geom2"], &mut self.geoms, element);
                    names(["body1", "body2"], &mut self.bodies, element);
                }
                "contact" => names(["geom1", "geom2"], &mut self.geoms, element),
                _ => {}
            }
        }
    }
}

/// Reads a section.
pub(super) fn read(build: &mut Build, section: &Element) -> Result<(), SceneError> {
    for element in &section.children {
        if let Some(what) = unsupported(element)? {
            asset::seen_only(element);
            build.report_ignored(&element.place, what);
            continue;
        }
        let Some(kind) = kind(build, element)? else { continue };
        let name = element.get("name").unwrap_or("").to_owned();
        let cutoff = element.number("cutoff")?.unwrap_or(0.0);
        if !(cutoff >= 0.0) {
            return Err(element.wrong("cutoff", "a number that is not negative"));
        }
        if element.number("noise")?.is_some_and(|noise| noise != 0.0) {
            build.report_ignored(&element.place, format!("<{}> noise", element.tag));
        }
        let delay = delay::read(element, &mut DelayAttributes::default())?;
        build.world.sensor(SensorSpec { name, kind, cutoff, delay });
    }
    Ok(())
}

/// An option of a sensor without which it has no reading.
fn unsupported(element: &Element) -> Result<Option<&'static str>, SceneError> {
    Ok(match element.tag.as_str() {
        "rangefinder" if element.peek("camera").is_some() => Some("<rangefinder> camera"),
        "insidesite" if element.boolean("enclosed")? == Some(true) => Some("<insidesite> enclosed"),
        _ => None,
    })
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
    let any_joint = || build.joints.require(element, "joint").map(|joint| joint.id);
    let scalar = || joint(1, "a hinge or a slide");
    let ball = || joint(3, "a ball joint");
    let actuator = || build.actuators.require(element, "actuator").copied();
    let body = || build.bodies.require(element, "body").map(|found| found.id);
    let separation = |reads| {
        let between = [sensed(build, element, "1")?, sensed(build, element, "2")?];
        Ok::<_, SceneError>(SensorKind::Separation { between, reads })
    };
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
        "jointlimitfrc" => SensorKind::JointLimitForce(any_joint()?),
        "jointlimitpos" => SensorKind::JointLimitPosition(any_joint()?),
        "jointlimitvel" => SensorKind::JointLimitVelocity(any_joint()?),
        "tendonactuatorfrc" => SensorKind::TendonActuatorForce(tendon()?),
        "tendonlimitfrc" => SensorKind::TendonLimitForce(tendon()?),
        "tendonlimitpos" => SensorKind::TendonLimitPosition(tendon()?),
        "tendonlimitvel" => SensorKind::TendonLimitVelocity(tendon()?),
        "tendonpos" => SensorKind::TendonPosition(tendon()?),
        "tendonvel" => SensorKind::TendonVelocity(tendon()?),
        "subtreecom" => SensorKind::SubtreeCom(body()?),
        "subtreelinvel" => SensorKind::SubtreeLinearVelocity(body()?),
        "subtreeangmom" => SensorKind::SubtreeAngularMomentum(body()?),
        "insidesite" => {
            let volume = volume(element, build.sites.require(element, "site")?)?;
            SensorKind::Inside { of: of()?, at: site()?, volume }
        }
        "distance" => separation(SeparationReading::Distance)?,
        "normal" => separation(SeparationReading::Normal)?,
        "fromto" => separation(SeparationReading::Segment)?,
        "rangefinder" => SensorKind::Rangefinder { at: site()?, reads: ray_readings(element)? },
        "contact" => contact::read(build, element)?,
        "e_kinetic" => SensorKind::KineticEnergy,
        "e_potential" => SensorKind::PotentialEnergy,
        "clock" => SensorKind::Clock,
        "user" => user(element)?,
        _ => return Ok(None),
    }))
}

/// Numbers that users compute.
fn user(element: &Element) -> Result<SensorKind, SceneError> {
    for ignored in ["objtype", "objname", "datatype", "needstage"] {
        element.get(ignored);
    }
    let dim = element.integer("dim")?.and_then(|dim| usize::try_from(dim).ok());
    let dim = dim.ok_or_else(|| element.wrong("dim", "a number of numbers"))?;
    Ok(SensorKind::User { dim })
}

/// Index in the world of the geom that an attribute names.
fn collider(build: &Build, element: &Element, name: &str) -> Result<usize, SceneError> {
    let found = build.geoms.require(element, name)?.collider;
    found.ok_or_else(|| element.wrong(name, "a geom with a shape"))
}

/// The shapes that `geom1` or `body1` names, or those with 2.
fn sensed(build: &Build, element: &Element, side: &str) -> Result<SensedShapes, SceneError> {
    let (geom, body) = (format!("geom{side}"), format!("body{side}"));
    match (element.peek(&geom), element.peek(&body)) {
        (Some(_), None) => Ok(SensedShapes::Geom(collider(build, element, &geom)?)),
        (None, Some(_)) => Ok(SensedShapes::Body(build.bodies.require(element, &body)?.id)),
        _ => Err(element.error(format_args!("expected exactly one of {geom} and {body}"))),
    }
}

/// The quantities of a ray that `data` names.
fn ray_readings(element: &Element) -> Result<RayReadings, SceneError> {
    let read = fields(element, ["dist", "dir", "origin", "point", "normal", "depth"])?;
    let read = read.unwrap_or([true, false, false, false, false, false]);
    let [distance, direction, origin, point, normal, depth] = read;
    Ok(RayReadings { distance, direction, origin, point, normal, depth })
}

/// Which of several words, in this order, stand in `data`; `None` if it is blank.
fn fields<const N: usize>(
    element: &Element,
    words: [&str; N],
) -> Result<Option<[bool; N]>, SceneError> {
    let text = element.get("data").unwrap_or_default();
    let (mut read, mut next) = ([false; N], 0);
    for word in text.split_ascii_whitespace() {
        let known = words[next..].iter().position(|known| *known == word);
        let Some(found) = known.map(|found| next + found) else {
            let expected = format!("words in this order: {}", words.join(", "));
            return Err(element.wrong("data", &expected));
        };
        (read[found], next) = (true, found + 1);
    }
    Ok((next > 0).then_some(read))
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
                "clock" | "contact" | "e_kinetic" | "e_potential" => "",
                "distance" | "fromto" | "normal" => "geom1='g' body2='d'",
                "insidesite" => "site='s' objtype='xbody' objname='d'",
                "user" => "dim='1'",
                name if name.starts_with("subtree") => "body='b'",
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
        let found = model(&format!(
            "{BODY}<sensor><camprojection site='s' camera='c'/><tactile/></sensor>"
        ));
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
