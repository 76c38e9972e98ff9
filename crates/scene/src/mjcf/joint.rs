//! `<joint>` and `<freejoint>`.

use nalgebra::{Isometry3, Vector3};
use stiction_mech::{JointKind, JointSpec, Limit};

use super::build::Build;
use crate::error::SceneError;
use crate::xml::Element;

/// A joint as it stands in the file.
#[derive(Clone, Debug)]
pub(super) struct JointRead {
    pub spec: JointSpec,
    /// Range as written, in metres or radians.
    pub range: Option<(f64, f64)>,
    /// Time constant [s] and ratio of damping from which stiffness and damping are to be found.
    pub spring_damper: Option<(f64, f64)>,
    /// Whether a free body shall get the frame of its inertia.
    pub align: bool,
    pub element: Element,
}

/// Reads `<freejoint>`, which takes no defaults.
pub(super) fn free(build: &mut Build, element: &Element) -> Result<JointRead, SceneError> {
    ignore(element);
    let mut spec = JointSpec::new(JointKind::Free);
    spec.name = element.get("name").unwrap_or_default().to_owned();
    let choices = [("true", Some(true)), ("false", Some(false)), ("auto", None)];
    let align = element.choice("align", &choices)?.flatten().unwrap_or(build.compiler.align_free);
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
        ("hinge", Kind::Hinge),
        ("slide", Kind::Slide),
        ("ball", Kind::Ball),
        ("free", Kind::Free),
    ];
    let kind = element.choice("type", &kinds)?.unwrap_or(Kind::Hinge);
    let axis = frame.rotation * element.vector("axis")?.unwrap_or_else(Vector3::z);
    let anchor = frame * nalgebra::Point3::from(element.vector("pos")?.unwrap_or_default());
    let hinged = matches!(kind, Kind::Hinge | Kind::Slide);
    if hinged && !(axis.norm() > f64::MIN_POSITIVE.sqrt()) {
        return Err(element.wrong("axis", "a vector that is not zero"));
    }
    let mut spec = JointSpec::new(match kind {
        Kind::Hinge => JointKind::Hinge { axis },
        Kind::Slide => JointKind::Slide { axis },
        Kind::Ball => JointKind::Ball,
        Kind::Free => JointKind::Free,
    });
    spec.name = element.get("name").unwrap_or_default().to_owned();
    if kind != Kind::Free {
        spec.anchor = anchor.coords;
    }
    let unit = if matches!(kind, Kind::Hinge | Kind::Ball) { build.compiler.angle } else { 1.0 };
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
    let angle = if kind == Kind::Hinge { unit } else { 1.0 };
    let reference = element.number("ref")?.unwrap_or(0.0) * angle;
    let spring_reference = element.number("springref")?.unwrap_or(0.0) * angle;
    if hinged {
        (spec.reference, spec.spring_reference) = (reference, spring_reference);
    }
    let range = element.array::<2>("range")?.map(|[a, b]| (a * unit, b * unit));
    let margin = element.number("margin")?.unwrap_or(0.0);
    if limited(build, element, "limited", "range", range)? && kind != Kind::Free {
        let (lower, upper) = range.unwrap_or((0.0, 0.0));
        let orderly = lower < upper && !(kind == Kind::Ball && lower != 0.0);
        if !orderly {
            return Err(element.wrong(
                "range",
                match kind {
                    Kind::Ball => "0 and a positive angle",
                    _ => "two numbers in increasing order",
                },
            ));
        }
        let limit = Limit { lower, upper, margin: margin.max(0.0) };
        spec.limit = build.flags.limit.then_some(limit);
        if ["solreflimit", "solimplimit"].iter().any(|name| element.get(name).is_some()) {
            build.note("joint limits are rigid: solreflimit and solimplimit are not used");
        }
    } else {
        element.get("solreflimit");
        element.get("solimplimit");
    }
    if ["solreffriction", "solimpfriction"].iter().any(|name| element.get(name).is_some()) {
        build.note("friction loss is dry: solreffriction and solimpfriction are not used");
    }
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
        build.cannot(&element.place, "springyield: springs that yield are not read");
    }
    let spring_damper = element.array::<2>("springdamper")?.map(|[time, ratio]| (time, ratio));
    let spring_damper = spring_damper.filter(|(time, ratio)| *time > 0.0 && *ratio > 0.0);
    let align = kind == Kind::Free && build.compiler.align_free;
    Ok(JointRead { spec, range, spring_damper, align, element: element.clone() })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Hinge,
    Slide,
    Ball,
    Free,
}

/// What has no bearing on motion.
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
        build.cannot(&element.place, format!("{name} that is not linear"));
    }
    if *first < 0.0 {
        return Err(element.wrong(name, "a number that is not negative"));
    }
    Ok(*first)
}

pub(super) fn not_negative(element: &Element, name: &str) -> Result<f64, SceneError> {
    match element.number(name)? {
        Some(number) if number < 0.0 => Err(element.wrong(name, "a number that is not negative")),
        found => Ok(found.unwrap_or(0.0)),
    }
}

/// Whether a range is in force: said outright, or by the range itself if the compiler allows.
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
    if !build.compiler.autolimits {
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
