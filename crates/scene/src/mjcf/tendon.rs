//! `<tendon>`: sums of joint coordinates, and strings through sites and around geoms.

use stiction_mech::{
    Data, DeadBand, Limit, TendonPath, TendonRest, TendonSite, TendonSpec, Waypoint, WrapShape,
    WrapSurface, kinematics,
};
use stiction_sim::WorldError;

use super::build::{Build, BuiltTendon, GeomKind};
use super::soft_law;
use crate::error::SceneError;
use crate::xml::Element;

/// The `springlength` that means the length at the rest positions of the joint springs.
const REFERENCE: f64 = -1.0;

/// Reads a section.
pub(super) fn read(build: &mut Build, section: &Element) -> Result<(), SceneError> {
    let mut found: Vec<TendonRead> = Vec::new();
    for element in &section.children {
        let path = match element.tag.as_str() {
            "fixed" => sum(build, element)?,
            "spatial" => string(build, element)?,
            _ => continue,
        };
        let mut spec = TendonSpec::new(element.get("name").unwrap_or(""), path);
        let range = limits(build, element, &mut spec)?;
        forces(build, element, &mut spec)?;
        let same = |(_, other, _): &TendonRead| other.name == spec.name && !spec.name.is_empty();
        if found.iter().any(same) {
            return Err(element.error("a second tendon has this name"));
        }
        found.push((element, spec, range));
    }
    rest(build, &mut found)?;
    for (element, spec, range) in found {
        let name = spec.name.clone();
        let id = build.world.mechanism.tendon(spec);
        build.tendons.add(element, &name, BuiltTendon { id, range })?;
    }
    Ok(())
}

/// A tendon with its element and its range.
type TendonRead<'e> = (&'e Element, TendonSpec, Option<(f64, f64)>);

/// Springs without a length of their own are at rest where the springs of the joints are.
fn rest(build: &Build, found: &mut [TendonRead]) -> Result<(), SceneError> {
    let waits = |spec: &TendonSpec| spec.stiffness > 0.0 && spec.rest == TendonRest::Reference;
    if !found.iter().any(|(_, spec, _)| waits(spec)) {
        return Ok(());
    }
    let mut mechanism = build.world.mechanism.clone();
    let ids: Vec<_> = found.iter().map(|(_, spec, _)| mechanism.tendon(spec.clone())).collect();
    let model = mechanism.build().map_err(WorldError::from)?;
    let mut data = Data::new(&model);
    kinematics(&model, model.q_spring(), &mut data);
    for ((_, spec, _), id) in found.iter_mut().zip(ids) {
        if waits(spec) {
            let length = model.tendons()[id.0].length(&model, model.q_spring(), &data);
            spec.rest = TendonRest::Length(length);
        }
    }
    Ok(())
}

/// Σ coefficient · coordinate.
fn sum(build: &Build, element: &Element) -> Result<TendonPath, SceneError> {
    let mut terms = Vec::new();
    for joint in element.all("joint") {
        let made = build.joints.require(joint, "joint")?;
        if made.kind.nv() != 1 {
            return Err(joint.wrong("joint", "a hinge or a slide"));
        }
        if terms.iter().any(|(known, _)| *known == made.id) {
            return Err(joint.wrong("joint", "each joint once"));
        }
        let Some(coefficient) = joint.number("coef")? else {
            return Err(joint.wrong("coef", "a number"));
        };
        terms.push((made.id, coefficient));
    }
    if terms.is_empty() {
        return Err(element.error("no joints; expected at least one"));
    }
    Ok(TendonPath::Fixed(terms))
}

/// The path of a string. Every branch begins and ends at a site, and has at least two.
fn string(build: &mut Build, element: &Element) -> Result<TendonPath, SceneError> {
    let mut path = Vec::new();
    let is_site = |element: Option<&Element>| element.is_some_and(|e| e.tag == "site");
    for (index, part) in element.children.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| element.children.get(before));
        let after = element.children.get(index + 1);
        match part.tag.as_str() {
            "site" => {
                let site = build.sites.require(part, "site")?;
                let alone = |neighbour: Option<&Element>| {
                    neighbour.is_none_or(|neighbour| neighbour.tag == "pulley")
                };
                if alone(before) && alone(after) {
                    return Err(part.error("alone in its branch; expected another site after it"));
                }
                path.push(Waypoint::Site(TendonSite {
                    body: site.body,
                    point: site.pose.translation.vector,
                }));
            }
            "geom" => {
                if !is_site(before) || !is_site(after) {
                    return Err(part.error("expected a site before and after it"));
                }
                path.push(Waypoint::Wrap(surface(build, part)?));
            }
            "pulley" => {
                if !is_site(after) || !(is_site(before) || index == 0) {
                    return Err(part.error("expected a site before and after it"));
                }
                let divisor = part.number("divisor")?.unwrap_or(1.0);
                if !(divisor > 0.0) {
                    return Err(part.wrong("divisor", "a positive number"));
                }
                path.push(Waypoint::Pulley { divisor });
            }
            _ => {}
        }
    }
    if path.len() < 2 {
        return Err(element.error("fewer than two sites; expected at least two"));
    }
    Ok(TendonPath::Spatial(path))
}

/// Geometry that a tendon wraps.
fn surface(build: &mut Build, part: &Element) -> Result<WrapSurface, SceneError> {
    let geom = build.geoms.require(part, "geom")?.clone();
    let shape = match geom.kind {
        GeomKind::Sphere => WrapShape::Sphere,
        GeomKind::Cylinder => WrapShape::Cylinder,
        _ => return Err(part.wrong("geom", "a sphere or a cylinder")),
    };
    let (pose, radius) = (geom.pose, geom.size.x);
    let side = build
        .sites
        .find(part, "sidesite")?
        .map(|site| TendonSite { body: site.body, point: site.pose.translation.vector });
    Ok(WrapSurface { body: geom.body, pose, shape, radius, side })
}

/// The range of its length, in force or not.
fn limits(
    build: &mut Build,
    element: &Element,
    spec: &mut TendonSpec,
) -> Result<Option<(f64, f64)>, SceneError> {
    let range = element.array::<2>("range")?.map(|[lower, upper]| (lower, upper));
    let margin = element.number("margin")?.unwrap_or(0.0);
    let limited = limited(build, element, "limited", range)?;
    if let Some((lower, upper)) = range.filter(|_| limited && build.flags.limit) {
        // A limit acts from its margin on, which narrows the range.
        let (lower, upper) = (lower + margin, upper - margin);
        if !(lower <= upper) {
            return Err(element.wrong("margin", "less than half of the range"));
        }
        spec.limit = Some(Limit { lower, upper, margin: 0.0 });
    }
    let forces = element.array::<2>("actuatorfrcrange")?.map(|[lower, upper]| (lower, upper));
    if self::limited(build, element, "actuatorfrclimited", forces)? {
        spec.actuator_force_range = forces;
    }
    spec.limit_softness = soft_law::read(build, element, "solreflimit", "solimplimit")?;
    spec.friction_softness = soft_law::read(build, element, "solreffriction", "solimpfriction")?;
    Ok(range)
}

/// Whether a range counts: as an attribute says, or, where that says `auto`, whether there is one.
pub(super) fn limited(
    build: &Build,
    element: &Element,
    name: &str,
    range: Option<(f64, f64)>,
) -> Result<bool, SceneError> {
    let words = [("true", Some(true)), ("false", Some(false)), ("auto", None)];
    let ordered = range.is_some_and(|(lower, upper)| lower < upper);
    match element.choice(name, &words)?.flatten() {
        Some(true) if !ordered => {
            Err(element.error(format_args!("{name}, and no range; expected lower < upper")))
        }
        Some(said) => Ok(said),
        None if range.is_some_and(|(lower, upper)| lower > upper) => {
            let attribute = name.replace("limited", "range");
            Err(element.wrong(&attribute, "two numbers in increasing order"))
        }
        None => Ok(build.compiler(element).autolimits && ordered),
    }
}

/// Spring, damping, dry friction.
fn forces(build: &mut Build, element: &Element, spec: &mut TendonSpec) -> Result<(), SceneError> {
    spec.stiffness = first(build, element, "stiffness")?;
    spec.damping = first(build, element, "damping")?;
    spec.friction_loss = first(build, element, "frictionloss")?;
    spec.armature = first(build, element, "armature")?;
    if !build.flags.spring {
        spec.stiffness = 0.0;
    }
    if !build.flags.damper {
        spec.damping = 0.0;
    }
    if !build.flags.friction_loss {
        spec.friction_loss = 0.0;
    }
    spec.rest = match element.numbers("springlength")?.as_deref() {
        None => TendonRest::Reference,
        Some([length]) | Some([length, REFERENCE]) if *length == REFERENCE => TendonRest::Reference,
        Some([length]) => TendonRest::Length(*length),
        Some([lower, upper]) if lower == upper => TendonRest::Length(*lower),
        Some([lower, upper]) if lower < upper => {
            TendonRest::Band(DeadBand { lower: *lower, upper: *upper })
        }
        Some(_) => return Err(element.wrong("springlength", "one length, or two in order")),
    };
    Ok(())
}

/// A coefficient that is not negative; MuJoCo takes further ones as those of a polynomial.
fn first(build: &mut Build, element: &Element, name: &str) -> Result<f64, SceneError> {
    let numbers = element.numbers(name)?;
    let (first, rest) = match numbers.as_deref() {
        None => return Ok(0.0),
        Some([first, rest @ ..]) => (*first, rest),
        Some([]) => return Err(element.wrong(name, "a number")),
    };
    if !(first >= 0.0) {
        return Err(element.wrong(name, "a number that is not negative"));
    }
    if rest.iter().any(|coefficient| *coefficient != 0.0) {
        let what = format!("<{}> {name}: a polynomial; the linear part counts", element.tag);
        build.report_unsupported(&element.place, what);
    }
    Ok(first)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{error, model};
    use stiction_mech::{DeadBand, Tendon};

    const ARM: &str = "<compiler angle='radian'/><worldbody><site name='top' pos='0 0 5'/>
        <body name='a' pos='0 0 1'><joint name='j' type='slide' axis='0 0 1' springref='-0.5'/>
          <geom name='ga' size='0.1'/><site name='sa'/>
          <body name='b' pos='3 0 0'><joint name='k' type='slide' axis='0 0 1'/>
            <geom name='gb' type='box' size='0.1 0.1 0.1'/><site name='sb' pos='0 0 4'/></body>
        </body></worldbody>";

    fn tendon(inner: &str) -> Tendon {
        let found = model(&format!("{ARM}<tendon>{inner}</tendon>"));
        assert!(found.unsupported.is_empty(), "{:?}", found.unsupported);
        found.world.model().tendons()[0].clone()
    }

    #[test]
    fn a_string_is_as_long_as_its_parts_over_their_divisors() {
        let straight = "<site site='top'/><site site='sa'/><site site='sb'/>";
        let found = tendon(&format!("<spatial>{straight}</spatial>"));
        assert!((found.reference_length - 9.0).abs() <= 1e-15); // 4, and 5 = √(3² + 4²)
        let branched = "<site site='top'/><site site='sa'/><pulley divisor='2'/>\
            <site site='sa'/><site site='sb'/>";
        let found = tendon(&format!("<spatial>{branched}</spatial>"));
        assert!((found.reference_length - 6.5).abs() <= 1e-15);
    }

    #[test]
    fn a_spring_rests_where_it_says_or_where_the_springs_of_the_joints_do() {
        let path = "<joint joint='j' coef='2'/><joint joint='k' coef='1'/>";
        let rest = |text: &str| tendon(&format!("<fixed {text}>{path}</fixed>")).slack;
        assert_eq!(rest("stiffness='1' springlength='0.2'"), DeadBand::at(0.2));
        let band = DeadBand { lower: 0.2, upper: 0.3 };
        assert_eq!(rest("stiffness='1' springlength='0.2 0.3'"), band);
        assert_eq!(rest("stiffness='1'"), DeadBand::at(-1.0));
        assert_eq!(rest("stiffness='1' springlength='-1'"), DeadBand::at(-1.0));
    }

    #[test]
    fn a_margin_narrows_the_range() {
        let path = "<joint joint='j' coef='2'/>";
        let limit = |text: &str| tendon(&format!("<fixed {text}>{path}</fixed>")).spec.limit;
        let found = limit("range='-1 2' margin='0.25'").unwrap();
        assert_eq!((found.lower, found.upper), (-0.75, 1.75));
        assert_eq!(limit("range='-1 2' limited='false'"), None);
        assert_eq!(limit("range='0 0'"), None);
    }

    #[test]
    fn unsupported_features_of_tendons_are_listed() {
        let inner = "<fixed stiffness='1 2'><joint joint='j' coef='1'/></fixed>";
        let found = model(&format!("{ARM}<tendon>{inner}</tendon>"));
        assert!(found.unsupported.iter().any(|entry| entry.physical), "{inner}");
    }

    #[test]
    fn tendons_that_cannot_be_are_refused_at_their_line() {
        for inner in [
            "<fixed/>",
            "<fixed><joint joint='j'/></fixed>",
            "<fixed stiffness='-1'><joint joint='j' coef='1'/></fixed>",
            "<fixed springlength='2 1'><joint joint='j' coef='1'/></fixed>",
            "<fixed limited='true'><joint joint='j' coef='1'/></fixed>",
            "<fixed range='1 0'><joint joint='j' coef='1'/></fixed>",
            "<spatial><site site='sa'/></spatial>",
            "<spatial><site site='sa'/><site site='sb'/><pulley/></spatial>",
            "<spatial><site site='sa'/><geom geom='gb'/><site site='sb'/></spatial>",
            "<spatial><geom geom='ga'/><site site='sa'/><site site='sb'/></spatial>",
        ] {
            let message = error(&format!("{ARM}\n<tendon>{inner}</tendon>"));
            assert!(message.starts_with("main.xml:7: <"), "{inner}: {message}");
        }
    }
}
