//! `<joint>` and `<freejoint>`.

use nalgebra::{Isometry3, Vector3};
use stiction_mech::{JointKind, JointSpec, Limit};

use super::build::Build;
use super::soft_law;
use crate::error::SceneError;
use crate::xml::Element;

/// A joint as read from the file.
#[derive(Clone, Debug)]
pub(super) struct JointRead {
    pub spec: JointSpec,
    /// Range as written, in metres or radians.
    pub range: Option<(f64, f64)>,
    /// Time constant [s] and damping ratio from which stiffness and damping are computed.
    pub spring_damper: Option<(f64, f64)>,
    /// Whether the frame of a free body is aligned with its inertial frame.
    pub align: bool,
    pub element: Element,
}

/// Reads `<freejoint>`, which takes no defaults.
pub(super) fn free(build: &mut Build, element: &Element) -> Result<JointRead, SceneError> {
    ignore(element);
    let mut spec = JointSpec::new(JointKind::Free);
    spec.name = element.get("name").unwrap_or_default().to_owned();
    let choices = [("true", Some(true)), ("false", Some(false)), ("auto", None)];
    let align =
        element.choice("align", &choices)?.flatten().unwrap_or(build.compiler(element).align_free);
    Ok(JointRead { spec, range: None, spring_damper: None, align, element: element.clone() })
}

/// Reads `<joint>` with its defaults merged; `frame` is the pose of the enclosing frames in the body.
pub(super) fn read(
    build: &mut Build,
    element: &Element,
    frame: &Isometry3<f64>,
) -> Result<JointRead, SceneError> {
    ignore(element);
    let kinds = [
        ("hinge", MjcfJointType::Hinge),
        ("slide", MjcfJointType::Slide),
        ("ball", MjcfJointType::Ball),
        ("free", MjcfJointType::Free),
    ];
    let kind = element.choice("type", &kinds)?.unwrap_or(MjcfJointType::Hinge);
    let axis = frame.rotation * element.vector("axis")?.unwrap_or_else(Vector3::z);
    let anchor = frame * nalgebra::Point3::from(element.vector("pos")?.unwrap_or_default());
    let hinged = matches!(kind, MjcfJointType::Hinge | MjcfJointType::Slide);
    if hinged && !(axis.norm() > f64::MIN_POSITIVE.sqrt()) {
        return Err(element.wrong("axis", "a vector that is not zero"));
    }
    let mut spec = JointSpec::new(match kind {
        MjcfJointType::Hinge => JointKind::Hinge { axis },
        MjcfJointType::Slide => JointKind::Slide { axis },
        MjcfJointType::Ball => JointKind::Ball,
        MjcfJointType::Free => JointKind::Free,
    });
    spec.name = element.get("name").unwrap_or_default().to_owned();
    if kind != MjcfJointType::Free {
        spec.anchor = anchor.coords;
    }
    let unit = if matches!(kind, MjcfJointType::Hinge | MjcfJointType::Ball) {
        build.compiler(element).angle
    } else {
        1.0
    };
    spec.stiffness = linear(build, element, "stiffness")?;
    spec.damping = linear(build, element, "damping")?;
    spec.armature = not_negative(element, "armature")?;
    spec.friction_loss = not_negative(element, "frictionloss")?;
    let flags = &build.flags;
    for (on, force) in [
        (flags.spring, &mut spec.stiffness),
        (flags.damper, &mut spec.damping),
        (flags.friction_loss, &mut spec.friction_loss),
    ] {
        if !on {
            *force = 0.0;
        }
    }
    let angle = if kind == MjcfJointType::Hinge { unit } else { 1.0 };
    let reference = element.number("ref")?.unwrap_or(0.0) * angle;
    let spring_reference = element.number("springref")?.unwrap_or(0.0) * angle;
    if hinged {
        (spec.reference, spec.spring_reference) = (reference, spring_reference);
    }
    let range = element.array::<2>("range")?.map(|[a, b]| (a * unit, b * unit));
    let margin = element.number("margin")?.unwrap_or(0.0);
    if limited(build, element, "limited", "range", range)? && kind != MjcfJointType::Free {
        let (lower, upper) = range.unwrap_or((0.0, 0.0));
        let orderly = lower < upper && !(kind == MjcfJointType::Ball && lower != 0.0);
        if !orderly {
            return Err(element.wrong(
                "range",
                match kind {
                    MjcfJointType::Ball => "0 and a positive angle",
                    _ => "two numbers in increasing order",
                },
            ));
        }
        let limit = Limit { lower, upper, margin: margin.max(0.0) };
        spec.limit = build.flags.limit.then_some(limit);
    }
    spec.limit_softness = soft_law::read(build, element, "solreflimit", "solimplimit")?;
    spec.friction_softness = soft_law::read(build, element, "solreffriction", "solimpfriction")?;
    let forces = element.array::<2>("actuatorfrcrange")?.map(|[a, b]| (a, b));
    if limited(build, element, "actuatorfrclimited", "actuatorfrcrange", forces)? {
        match forces {
            Some((lower, upper)) if lower < upper => spec.actuator_force_range = forces,
            _ => return Err(element.wrong("actuatorfrcrange", "two numbers in increasing order")),
        }
    }
    if element.boolean("actuatorgravcomp")? == Some(true) {
        build.note("gravity compensation acts on bodies directly: actuatorgravcomp is not used");
    }
    if element.get("springyield").is_some() {
        build.report_unsupported(&element.place, "springyield: springs that yield are not read");
    }
    let spring_damper = element.array::<2>("springdamper")?.map(|[time, ratio]| (time, ratio));
    let spring_damper = spring_damper.filter(|(time, ratio)| *time > 0.0 && *ratio > 0.0);
    let align = kind == MjcfJointType::Free && build.compiler(element).align_free;
    Ok(JointRead { spec, range, spring_damper, align, element: element.clone() })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum MjcfJointType {
    Hinge,
    Slide,
    Ball,
    Free,
}

/// Attributes that do not change the motion.
fn ignore(element: &Element) {
    element.get("group");
    element.get("user");
}

/// The first of the coefficients of a force; higher ones make it a polynomial.
fn linear(build: &mut Build, element: &Element, name: &str) -> Result<f64, SceneError> {
    let Some(numbers) = element.numbers(name)? else { return Ok(0.0) };
    let Some((first, rest)) = numbers.split_first() else {
        return Err(element.wrong(name, "a number"));
    };
    if rest.iter().any(|number| *number != 0.0) {
        build.report_unsupported(&element.place, format!("{name} that is not linear"));
    }
    if *first < 0.0 {
        // MuJoCo takes it; it drives the motion.
        build.report_unsupported(
            &element.place,
            format!("{name} that is negative; it is zero here"),
        );
    }
    Ok(first.max(0.0))
}

pub(super) fn not_negative(element: &Element, name: &str) -> Result<f64, SceneError> {
    match element.number(name)? {
        Some(number) if number < 0.0 => Err(element.wrong(name, "a number that is not negative")),
        found => Ok(found.unwrap_or(0.0)),
    }
}

/// Whether a range is active: by an explicit flag, or by the range itself if the compiler allows it.
pub(super) fn limited(
    build: &Build,
    element: &Element,
    switch: &str,
    name: &str,
    range: Option<(f64, f64)>,
) -> Result<bool, SceneError> {
    let choices = [("true", Some(true)), ("false", Some(false)), ("auto", None)];
    if let Some(limited) = element.choice(switch, &choices)?.flatten() {
        return Ok(limited);
    }
    let Some((lower, upper)) = range else { return Ok(false) };
    if lower > upper {
        return Err(element.wrong(name, "two numbers in increasing order"));
    }
    if !build.compiler(element).autolimits {
        if (lower, upper) == (0.0, 0.0) {
            return Ok(false);
        }
        return Err(element.wrong(
            name,
            &format!("{switch} to be given too, since the compiler's autolimits is false"),
        ));
    }
    Ok(lower < upper)
}

#[cfg(test)]
mod tests {
    use crate::mjcf::testing::{error, model, world};

    const BALL: &str = "<geom size='0.1' mass='1'/>";

    /// One product and one quotient.
    fn near(found: f64, expected: f64) -> bool {
        (found - expected).abs() <= 1e-14 * expected.abs()
    }

    #[test]
    fn ranges_are_limits_and_angles_are_degrees() {
        let found = world(&format!(
            "<body><joint range='-90 45' ref='30' springref='60' margin='0.1'/>{BALL}</body>
             <body><joint type='slide' range='-2 3' ref='0.5'/>{BALL}</body>
             <body><joint type='ball' range='0 60'/>{BALL}</body>
             <body><joint range='-90 45' limited='false'/>{BALL}</body>"
        ));
        let joints = found.world.model().joints();
        let degree = std::f64::consts::PI / 180.0;
        let limit = joints[0].spec.limit.unwrap();
        assert!(near(limit.lower, -90.0 * degree) && near(limit.upper, 45.0 * degree));
        assert_eq!(limit.margin, 0.1);
        assert!(near(joints[0].spec.reference, 30.0 * degree));
        assert!(near(joints[0].spec.spring_reference, 60.0 * degree));
        let limit = joints[1].spec.limit.unwrap();
        assert_eq!((limit.lower, limit.upper, joints[1].spec.reference), (-2.0, 3.0, 0.5));
        assert!(near(joints[2].spec.limit.unwrap().upper, 60.0 * degree));
        assert!(joints[3].spec.limit.is_none());
    }

    #[test]
    fn without_automatic_limits_a_range_alone_is_an_error() {
        let with = |switch: &str| {
            format!(
                "<compiler autolimits='false'/><worldbody><body><joint range='0 1' {switch}/>
                 {BALL}</body></worldbody>"
            )
        };
        assert!(error(&with("")).contains("limited"));
        assert!(model(&with("limited='true'")).world.model().joints()[0].spec.limit.is_some());
    }

    #[test]
    fn a_free_joint_takes_no_defaults_but_a_joint_of_that_type_does() {
        let found = model(&format!(
            "<default><joint damping='3'/></default><worldbody><body><freejoint/>{BALL}</body>
             <body><joint type='free'/>{BALL}</body></worldbody>"
        ));
        let damping = |k: usize| found.world.model().joints()[k].spec.damping;
        assert_eq!((damping(0), damping(1)), (0.0, 3.0));
    }

    #[test]
    fn springdamper_gives_stiffness_and_damping_for_the_joint_inertia() {
        let (time, ratio, mass) = (0.1_f64, 0.5, 2.0);
        let found = world(&format!(
            "<body><joint type='slide' springdamper='{time} {ratio}'/>
             <geom size='0.1' mass='{mass}'/></body>"
        ));
        let spec = &found.world.model().joints()[0].spec;
        assert!(near(spec.stiffness, mass / (time * ratio).powi(2)), "{}", spec.stiffness);
        assert!(near(spec.damping, 2.0 * mass / time), "{}", spec.damping);
    }

    #[test]
    fn forces_of_actuators_on_a_joint_have_a_range() {
        let found = world(&format!(
            "<body><joint actuatorfrcrange='-3 4'/>{BALL}</body>
             <body><joint actuatorfrcrange='-3 4' actuatorfrclimited='false'/>{BALL}</body>"
        ));
        let range = |k: usize| found.world.model().joints()[k].spec.actuator_force_range;
        assert_eq!((range(0), range(1)), (Some((-3.0, 4.0)), None));
    }

    #[test]
    fn invalid_joints_are_refused() {
        for (bad, expected) in [
            ("axis='0 0 0'", "not zero"),
            ("type='screw'", "one of"),
            ("limited='true' range='1 0'", "increasing"),
            ("range='1 0'", "increasing"),
            ("limited='auto' range='1 0'", "increasing"),
            ("actuatorfrcrange='1 0'", "increasing"),
            ("type='ball' limited='true' range='1 2'", "0 and"),
            ("armature='x'", "finite"),
            ("actuatorfrclimited='true' actuatorfrcrange='1 0'", "increasing"),
        ] {
            let text = format!("<worldbody><body>\n<joint {bad}/>{BALL}</body></worldbody>");
            let message = error(&text);
            assert!(message.starts_with("main.xml:2: <joint>"), "{message}");
            assert!(message.contains(expected), "{message} lacks {expected}");
        }
    }
}
