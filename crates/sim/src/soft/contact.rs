//! Contacts of soft bodies: the rows of a point of a skin against a shape or another skin.
//!
//! Laws, surfaces and their combination are those of rigid contacts. What penetrates is not moved
//! apart afterwards, as rigid bodies are: a soft body can store it. Where the surfaces yield, their
//! stiffness pushes; where they do not, the bound on the normal velocity asks for a small part of the
//! depth per step, `c_n ≥ −K gap/h`, of limited speed. The bound is continuous where the gap closes
//! and vanishes there, so that what rests does so without a push.
//!
//! Deviation: where laws act on the mean velocity û [Lee23, Sec. II-A], vertices that touch would ring, for
//! they have little mass: a mean of zero mirrors the velocity in every step. There, the bounds are on
//! the part of the mean that the next velocity has, `û − (1 − α) v₀`, so that what sticks stops.

use nalgebra::{Matrix3, Vector3};
use stiction_geom::{FacePoint, SoftContact, SoftContactSide};
use stiction_solve::contact;

use crate::assemble::{self, Rules};
use crate::rows::{Class, Key, Rows, Sight};
use crate::surface::{Combine, GrainOf, Pairing, Surface};
use crate::world::World;

/// Part of the penetration that a step takes back, and the same under the mid-velocity convention,
/// where the next velocity is mirrored at the mean.
const TAKEN_BACK: f64 = 0.2;
const TAKEN_BACK_MIRRORED: f64 = 0.1;

/// The first number of a key that names a skin; smaller ones name shapes.
const SKIN: u32 = 1 << 31;

/// One side of a contact as the world knows it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SideOf<'a> {
    /// Index of a shape, and of its body.
    Rigid { geom: usize, body: usize },
    /// Index of a soft body, and the place on its skin.
    Soft { soft: usize, at: &'a FacePoint },
}

/// The two sides of a contact, A and B.
pub(crate) fn sides_of<'a>(world: &World, contact: &'a SoftContact) -> [SideOf<'a>; 2] {
    [&contact.a, &contact.b].map(|side| match side {
        SoftContactSide::Rigid(id) => {
            SideOf::Rigid { geom: id.index(), body: world.geoms[id.index()].body.0 }
        }
        SoftContactSide::Soft(id, at) => SideOf::Soft { soft: id.0 as usize, at },
    })
}

/// The identity of a contact over time.
pub(crate) fn contact_key(contact: &SoftContact) -> Key {
    let [a, b] = [&contact.a, &contact.b].map(|side| match side {
        SoftContactSide::Rigid(id) => id.0,
        SoftContactSide::Soft(id, _) => SKIN | id.0,
    });
    Key { class: Class::SoftContact, a, b, feature: contact.feature, row: 0 }
}

/// How the two surfaces of a contact meet.
pub(crate) fn pairing(world: &World, sides: &[SideOf; 2], combine: Combine) -> Pairing {
    let surface_of = |side: &SideOf| -> (&Surface, f64) {
        match *side {
            SideOf::Rigid { geom, .. } => (&world.geoms[geom].surface, world.geoms[geom].standoff),
            SideOf::Soft { soft, .. } => (&world.softs.objects[soft].surface, 0.0),
        }
    };
    let [(a, standoff_a), (b, standoff_b)] = [surface_of(&sides[0]), surface_of(&sides[1])];
    Pairing { standoff: standoff_a + standoff_b, ..Pairing::of(a, b, combine) }
}

/// World axes to the rows of a contact; the first tangent follows the grain of a shape.
pub(crate) fn frame(
    world: &World,
    contact: &SoftContact,
    sides: &[SideOf; 2],
    pairing: &Pairing,
    sight: &Sight,
) -> Matrix3<f64> {
    let owner = match pairing.grain {
        GrainOf::Neither => return contact::frame(contact.normal),
        GrainOf::A => &sides[0],
        GrainOf::B => &sides[1],
    };
    match *owner {
        SideOf::Rigid { geom, .. } => {
            assemble::frame_with_grain(world, geom, contact.normal, sight)
        }
        SideOf::Soft { .. } => contact::frame(contact.normal),
    }
}

/// Velocity of a side at the contact [m/s].
fn velocity(
    side: &SideOf,
    point: &Vector3<f64>,
    x_dot: &[Vector3<f64>],
    sight: &Sight,
) -> Vector3<f64> {
    match side {
        SideOf::Rigid { body, .. } => sight.point_velocity(*body, point),
        SideOf::Soft { at, .. } => {
            at.nodes.iter().zip(at.weights).map(|(node, w)| w * x_dot[*node as usize]).sum()
        }
    }
}

/// What driven bodies add to the velocity of B relative to A [m/s], world axes.
pub(crate) fn given_velocity(
    sight: &Sight,
    sides: &[SideOf; 2],
    point: &Vector3<f64>,
) -> Vector3<f64> {
    let of = |side: &SideOf| match side {
        SideOf::Rigid { body, .. } => sight.driven.point_velocity(*body, point),
        SideOf::Soft { .. } => Vector3::zeros(),
    };
    of(&sides[1]) - of(&sides[0])
}

/// Distance [m] from which on something touches whatever its motion: its elements push it, and where there is
/// no weight nothing else tells.
fn near(world: &World, sides: &[SideOf; 2]) -> f64 {
    let of = |side: &SideOf| match side {
        SideOf::Rigid { .. } => 0.0,
        SideOf::Soft { soft, .. } => world.softs.near[*soft],
    };
    of(&sides[0]).max(of(&sides[1]))
}

/// A contact where a step begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Begun {
    key: Key,
    /// Distance [m] and the velocity [m/s] at which it changes.
    gap: f64,
    approach: f64,
}

/// Contacts where a step begins, in the order of their keys.
pub(crate) fn begun(
    world: &World,
    rules: &Rules,
    found: &[SoftContact],
    x_dot: &[Vector3<f64>],
    sight: &Sight,
    out: &mut Vec<Begun>,
) {
    out.clear();
    out.extend(found.iter().map(|contact| {
        let sides = sides_of(world, contact);
        let relative = velocity(&sides[1], &contact.point, x_dot, sight)
            - velocity(&sides[0], &contact.point, x_dot, sight);
        let gap = contact.gap - pairing(world, &sides, rules.combine).standoff;
        Begun { key: contact_key(contact), gap, approach: contact.normal.dot(&relative) }
    }));
}

/// Rows of the contacts. `fastest` [m/s] bounds the speed at which penetration is taken back.
///
/// With contacts that have `begun`, those that are `found` are where velocities lead that `x_dot` and the data
/// hold. Then the rows ask of the gap at the end of the step what they asked of it at its beginning, with its
/// mean rate over the step, linearised: `c_n = (gap − gap₀)/h + n·(u − u_k)`. A contact that was too far away
/// at the beginning has the gap there from which it came at a constant rate, and does not bounce.
#[allow(clippy::too_many_arguments)] // the rooms' own things
pub(crate) fn rows(
    world: &World,
    rules: &Rules,
    found: &[SoftContact],
    x_dot: &[Vector3<f64>],
    begun: Option<&[Begun]>,
    fastest: f64,
    sight: &Sight,
    rows: &mut Rows,
) {
    for contact in found {
        let sides = sides_of(world, contact);
        let pairing = pairing(world, &sides, rules.combine);
        let Some(law) = assemble::law(&pairing) else { continue };
        let relative = velocity(&sides[1], &contact.point, x_dot, sight)
            - velocity(&sides[0], &contact.point, x_dot, sight);
        let mut approach = contact.normal.dot(&relative);
        let mut gap = contact.gap - pairing.standoff;
        let mut curved = 0.0;
        if let Some(begun) = begun {
            let (end, rate, key) = (gap, approach, contact_key(contact));
            (gap, approach) = match begun.binary_search_by_key(&key, |begun| begun.key) {
                Ok(place) => (begun[place].gap, begun[place].approach),
                Err(_) => (end - rules.time_step * rate, 0.0),
            };
            curved = (end - gap) / rules.time_step - rate;
        } else if gap > near(world, &sides)
            && !rules.may_close(gap, approach, &relative, pairing.friction)
        {
            continue;
        }
        let (bias, compliance) = normal_rule(&pairing, rules, gap, approach, fastest);
        let bias = bias + curved;
        let frame = frame(world, contact, &sides, &pairing, sight);
        let (bias, compliance) = (contact::rows(bias, 0.0), contact::rows(compliance, 0.0));
        let mut bias = Vector3::from(bias) + frame * given_velocity(sight, &sides, &contact.point);
        if rules.alpha < 1.0 && gap <= 0.0 {
            let sliding = relative - contact.normal * approach;
            bias -= frame * sliding * (1.0 - rules.alpha);
        }
        rows.open(contact_key(contact), law, gap, bias.as_slice(), &compliance);
        let axes: [Vector3<f64>; contact::DIM] =
            std::array::from_fn(|row| frame.row(row).transpose());
        for (side, sign) in sides.iter().zip([-1.0, 1.0]) {
            match side {
                SideOf::Rigid { body, .. } => {
                    rows.point(sight, *body, &contact.point, &axes, sign);
                }
                SideOf::Soft { at, .. } => rows.face(world, at.nodes, at.weights, &axes, sign),
            }
        }
        rows.close();
    }
}

/// Bias [m/s] and yield [1/kg] of the normal row, from the gap [m] and the velocity [m/s] at which
/// it changes before the step.
fn normal_rule(
    pairing: &Pairing,
    rules: &Rules,
    gap: f64,
    approach: f64,
    fastest: f64,
) -> (f64, f64) {
    if pairing.stiffness.is_finite() {
        return assemble::normal_rule(pairing, rules, gap, approach);
    }
    if gap > 0.0 {
        return assemble::normal_rule(pairing, rules, gap, approach);
    }
    let taken_back = |part: f64| (part * -gap / rules.time_step).min(fastest);
    if rules.alpha == 1.0 {
        let (bias, _) = assemble::normal_rule(pairing, rules, gap, approach);
        return (bias.min(-taken_back(TAKEN_BACK)), 0.0);
    }
    // Vertices have little mass of their own: mirrored at the mean, the slightest approach would
    // ring on from step to step.
    let bounces = approach < -rules.bounce_threshold;
    let epsilon = if bounces { pairing.restitution } else { 0.0 };
    let rebound = ((1.0 - rules.alpha) - rules.alpha * epsilon) * approach.min(0.0);
    (-(rebound + taken_back(TAKEN_BACK_MIRRORED)), 0.0)
}

/// Deepest penetration [m] of contacts that do not yield.
pub(crate) fn deepest(world: &World, found: &[SoftContact], combine: Combine) -> f64 {
    let mut depth = 0.0_f64;
    for contact in found {
        let pairing = pairing(world, &sides_of(world, contact), combine);
        if pairing.stiffness == f64::INFINITY {
            depth = depth.max(pairing.standoff - contact.gap);
        }
    }
    depth
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(alpha: f64) -> Rules {
        let combine = Combine::default();
        Rules { time_step: 0.01, alpha, bounce_threshold: 0.2, combine, glides: false }
    }

    fn rigid() -> Pairing {
        Pairing::of(&Surface::default(), &Surface::default(), Combine::default())
    }

    #[test]
    fn the_bound_on_the_normal_velocity_is_continuous_where_the_gap_closes() {
        for alpha in [1.0, 0.5] {
            let at = |gap: f64| normal_rule(&rigid(), &rules(alpha), gap, 0.0, 1.0);
            assert_eq!(at(0.0), (0.0, 0.0));
            assert!((at(1e-9).0 - 1e-7).abs() <= 1e-16);
            // A part of the depth per step, up to the fastest.
            let (bias, _) = at(-1e-4);
            let most = TAKEN_BACK * 1e-4 / 0.01 * (1.0 + 1e-15);
            assert!((-most..0.0).contains(&bias), "{bias}");
            assert_eq!(at(-1.0).0, -1.0);
        }
    }

    #[test]
    fn what_touches_and_approaches_stops_in_both_conventions() {
        for alpha in [1.0, 0.5] {
            for approach in [-0.01, -3.0] {
                let (bias, _) = normal_rule(&rigid(), &rules(alpha), 0.0, approach, 1.0);
                let after = (-bias - (1.0 - alpha) * approach) / alpha;
                assert!(after.abs() <= 1e-15, "alpha {alpha}: {after}");
            }
        }
    }
}
