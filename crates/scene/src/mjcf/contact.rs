//! `<contact>`: pairs of bodies that never touch, and pairs of geoms with parameters of their own.
//!
//! A pair collides independently of the collision bits of its geoms, and inherits nothing from them:
//! absent attributes have MuJoCo's defaults.

use stiction_mech::SoftLaw;
use stiction_sim::{GrainOf, Pairing, Resistance, SoftPairing};

use super::build::Build;
use super::soft_law;
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
    build.excluded.extend([(a, b), (b, a)]);
    Ok(())
}

/// Motions that `condim` resists: the normal alone, sliding, spinning too, rolling too.
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
    element.get("name");
    let a = build.geoms.require(element, "geom1")?.clone();
    let b = build.geoms.require(element, "geom2")?.clone();
    let [slide, slide_across, spin, roll, roll_across] = element.array_or("friction", FRICTION)?;
    if [slide, slide_across, spin, roll, roll_across].iter().any(|mu| *mu < 0.0) {
        return Err(element.wrong("friction", "numbers that are not negative"));
    }
    let resistance = resistance(element)?.unwrap_or(Resistance::Sliding);
    let margin = element.number("margin")?.unwrap_or(0.0);
    // MuJoCo detects contacts within margin + gap; they exert forces within the margin.
    let _ = element.number("gap")?;
    let default = SoftLaw::default();
    let law = SoftLaw {
        reference: soft_law::reference(build, element.array_or("solref", default.reference)?),
        impedance: element.array_or("solimp", default.impedance)?,
    };
    if element.array_or("solreffriction", [0.0; 2])? != [0.0; 2] {
        build.note("solreffriction softens dry friction in MuJoCo; here it is exact");
    }
    if !build.flags.contact {
        return Ok(());
    }
    let (Some(first), Some(second)) = (a.collider, b.collider) else {
        build
            .report_unsupported(&element.place, "<pair> of geoms that have no shape to touch with");
        return Ok(());
    };
    if first == second {
        return Err(element.error("geom1 and geom2 are the same; expected two"));
    }
    let soft = SoftPairing { law, cone: build.flags.cone };
    let soft = if build.options.soft_defaults { Some(soft) } else { soft.unless_default() };
    // A frictionless contact resists nothing, whatever the coefficients say.
    let sliding = resistance >= Resistance::Sliding;
    let of = |mu: f64| if sliding { mu } else { 0.0 };
    if slide != slide_across && sliding {
        let what = "<pair> friction that differs along the two tangents: the larger counts";
        build.report_unsupported(&element.place, what);
    }
    if roll != roll_across && resistance == Resistance::Rolling {
        let what = "<pair> rolling friction that differs about the two tangents: the larger counts";
        build.report_unsupported(&element.place, what);
    }
    let friction = of(slide.max(slide_across));
    build.world.pair_as(
        first,
        second,
        Pairing {
            friction,
            across_friction: friction,
            restitution: 0.0,
            stiffness: f64::INFINITY,
            dissipation: 0.0,
            soft: soft.filter(|_| build.options.soft_contact),
            grain: GrainOf::Neither,
            resistance,
            spin,
            roll: roll.max(roll_across),
            standoff: margin,
        },
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{error, model};
    use stiction_sim::Simulation;

    const TWO: &str = "<worldbody><geom name='floor' type='plane' size='1 1 1'/>
        <body name='ball' pos='0 0 0.5'><freejoint/><geom name='ball' size='0.1'/></body>
        </worldbody>";

    /// Height [m] at which the ball comes to rest.
    fn height_at_rest(contact: &str) -> f64 {
        let found = model(&format!("{TWO}<contact>{contact}</contact>"));
        assert!(found.unsupported.is_empty(), "{:?}", found.unsupported);
        let mut simulation = Simulation::new(found.world, found.settings).unwrap();
        for _ in 0..1000 {
            let _ = simulation.step().unwrap();
        }
        simulation.state().q[2]
    }

    #[test]
    fn a_pair_acts_from_its_margin_on() {
        // A rigid contact leaves the slop of the stabilisation.
        let slop = 1e-5;
        let pair = "<pair geom1='floor' geom2='ball' margin='0.05' gap='0.02'/>";
        assert!((height_at_rest(pair) - 0.15).abs() <= 2.0 * slop);
    }

    #[test]
    fn a_soft_pair_sinks_by_its_solref() {
        // At constant impedance d the law is k d² r/(1 − d) = m g Â with k = 1/(d T ζ)². The mass m of a free
        // ball is 1/Â. The pyramid of condim 3 and μ = 1 in four edges has Â times μ² (1 + μ²)/2 = 1.
        let (d, time) = (0.8, 0.1);
        let pair =
            format!("<pair geom1='floor' geom2='ball' solref='{time} 1' solimp='{d} {d} 0.001'/>");
        let depth = (1.0 - d) * 9.81 * time * time;
        // After two seconds the motion has died out: the rate of decay is above 10 / s.
        assert!((height_at_rest(&pair) - (0.1 - depth)).abs() <= 1e-6);
    }

    #[test]
    fn excluded_bodies_pass_through_one_another() {
        let found =
            model(&format!("{TWO}<contact><exclude body1='world' body2='ball'/></contact>"));
        let mut simulation = Simulation::new(found.world, found.settings).unwrap();
        for _ in 0..500 {
            let _ = simulation.step().unwrap();
        }
        assert!(simulation.state().q[2] < -1.0);
    }

    #[test]
    fn pairs_of_nothing_and_of_one_are_refused() {
        for pair in ["geom1='floor'", "geom1='floor' geom2='none'", "geom1='ball' geom2='ball'"] {
            let message = error(&format!("{TWO}<contact><pair {pair}/></contact>"));
            assert!(message.contains("<pair>"), "{message}");
        }
        let wrong = "geom1='floor' geom2='ball' condim='2'";
        assert!(error(&format!("{TWO}<contact><pair {wrong}/></contact>")).contains("condim"));
    }
}
