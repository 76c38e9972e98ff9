//! `<contact>`: pairs of bodies that never touch, and pairs of geoms with parameters of their own.
//!
//! A pair touches whatever the geoms say about themselves, and takes nothing from them: what it
//! does not say has MuJoCo's default.

use stiction_mech::{BodyId, Model};
use stiction_sim::{GrainOf, Pairing, Resistance};

use super::build::{Build, GeomMade};
use super::softness;
use crate::error::SceneError;
use crate::xml::Element;

/// Friction of a pair: along both tangents [-], about the normal and about both tangents [m].
const FRICTION: [f64; 5] = [1.0, 1.0, 0.005, 0.0001, 0.0001];

/// Reads a section.
pub(super) fn read(build: &mut Build, section: &Element) -> Result<(), SceneError> {
    for element in &section.children {
        match element.tag.as_str() {
            "exclude" => exclude(build, element)?,
            "pair" => pair(build, element)?,
            _ => {}
        }
    }
    Ok(())
}

fn exclude(build: &mut Build, element: &Element) -> Result<(), SceneError> {
    element.get("name");
    let a = build.bodies.require(element, "body1")?.id;
    let b = build.bodies.require(element, "body2")?.id;
    build.world.exclude(a, b);
    Ok(())
}

/// What `condim` resists: the normal alone, sliding, spinning too, rolling too.
pub(super) fn resistance(element: &Element) -> Result<Option<Resistance>, SceneError> {
    let kinds = [
        ("1", Resistance::Nothing),
        ("3", Resistance::Sliding),
        ("4", Resistance::Spinning),
        ("6", Resistance::Rolling),
    ];
    element.choice("condim", &kinds)
}

fn pair(build: &mut Build, element: &Element) -> Result<(), SceneError> {
    let element = build.defaults.apply(element, None)?;
    element.get("name");
    let a = build.geoms.require(&element, "geom1")?.clone();
    let b = build.geoms.require(&element, "geom2")?.clone();
    let [slide, slide_across, spin, roll, roll_across] = element.array_or("friction", FRICTION)?;
    if [slide, slide_across, spin, roll, roll_across].iter().any(|mu| *mu < 0.0) {
        return Err(element.wrong("friction", "numbers that are not negative"));
    }
    let resistance = resistance(&element)?.unwrap_or(Resistance::Sliding);
    let margin = element.number("margin")?.unwrap_or(0.0);
    // MuJoCo looks for contacts from margin + gap on; they act from the margin on.
    let _ = element.number("gap")?;
    let solref = element.array_or("solref", softness::SOLREF)?;
    let solimp = element.array_or("solimp", softness::SOLIMP)?;
    if element.array_or("solreffriction", [0.0; 2])? != [0.0; 2] {
        build.note("solreffriction softens dry friction in MuJoCo; here it is exact");
    }
    if !build.flags.contact {
        return Ok(());
    }
    let (Some(first), Some(second)) = (a.collider, b.collider) else {
        build.cannot(&element.place, "<pair> of geoms that have no shape to touch with");
        return Ok(());
    };
    if first == second {
        return Err(element.error("geom1 and geom2 are the same; expected two"));
    }
    let (stiffness, dissipation) = softness_of(build, solref, solimp, [&a, &b])?;
    // A frictionless contact resists nothing, whatever the coefficients say.
    let sliding = resistance >= Resistance::Sliding;
    let of = |mu: f64| if sliding { mu } else { 0.0 };
    if slide != slide_across && sliding {
        let what = "<pair> friction that differs along the two tangents: the larger counts";
        build.cannot(&element.place, what);
    }
    if roll != roll_across && resistance == Resistance::Rolling {
        let what = "<pair> rolling friction that differs about the two tangents: the larger counts";
        build.cannot(&element.place, what);
    }
    let friction = of(slide.max(slide_across));
    build.world.pair_as(
        first,
        second,
        Pairing {
            friction,
            across_friction: friction,
            restitution: 0.0,
            stiffness,
            dissipation,
            grain: GrainOf::Neither,
            resistance,
            spin,
            roll: roll.max(roll_across),
            standoff: margin,
        },
    );
    Ok(())
}

/// Stiffness [N/m] and dissipation time [s] of two geoms that share `solref` and `solimp`.
fn softness_of(
    build: &Build,
    solref: [f64; 2],
    solimp: [f64; 5],
    geoms: [&GeomMade; 2],
) -> Result<(f64, f64), SceneError> {
    let rigid = (f64::INFINITY, 0.0);
    // The mass does not decide whether a surface yields.
    let yields = softness::stiffness_and_dissipation(solref, solimp, 1.0).is_some();
    if !build.options.soft_contact || !yields {
        return Ok(rigid);
    }
    let model = build.mechanism()?;
    let mobility: f64 =
        geoms.iter().filter_map(|geom| link_mass(&model, geom.body)).map(|mass| 1.0 / mass).sum();
    let reduced_mass = 1.0 / mobility;
    Ok(softness::stiffness_and_dissipation(solref, solimp, reduced_mass).unwrap_or(rigid))
}

/// Mass [kg] of the link that carries a body; `None` if it cannot move.
fn link_mass(model: &Model, body: BodyId) -> Option<f64> {
    let link = model.link(model.body_of_builder(body)?)?;
    model.links().iter().find(|entry| entry.body == link).map(|entry| entry.mass)
}
