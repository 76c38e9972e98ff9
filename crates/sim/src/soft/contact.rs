//! Rows of contacts of soft bodies: a point of a deformed surface against a shape or another one.
//!
//! Laws, surfaces and their combination are those of rigid contacts. Penetration is not removed by
//! displacements, as for rigid bodies: a soft body can store it. Compliant surfaces push with their
//! stiffness; for rigid ones the bound on the normal velocity removes a small fraction of the depth
//! per step, `c_n ≥ −K gap/h`, at a limited speed. The bound is continuous where the gap closes and
//! vanishes there, so that a body at rest is not pushed.
//!
//! Deviation: where laws act on the mean velocity û [Lee23, Sec. II-A], vertices that touch would
//! oscillate, for they have little mass: a mean of zero mirrors the velocity in every step. There the
//! bounds act on the part of the mean that the next velocity has, `û − (1 − α) v₀`, so that sticking
//! vertices stop.

use nalgebra::{Matrix3, Vector3};
use stiction_geom::{FacePoint, SoftContact, SoftContactSide};
use stiction_mech::SoftId;
use stiction_solve::contact;

use crate::contact_point::ContactPoint;
use crate::rows::contact as rigid_contact;
use crate::rows::{ConstraintClass, ConstraintContext, ConstraintKey, RowBuilder, RowParameters};
use crate::surface::{Combine, GrainOf, Pairing, Surface};
use crate::world::World;

/// Fraction of the penetration that a step removes, and the same under the mid-velocity convention,
/// where the next velocity is mirrored at the mean [-].
const REMOVED_FRACTION: f64 = 0.2;
const REMOVED_FRACTION_MIRRORED: f64 = 0.1;

/// Added to the index of a soft body in a key, to distinguish it from a shape.
const SOFT_FLAG: u32 = 1 << 31;

/// One side of a contact.
#[derive(Clone, Copy, Debug)]
enum ContactSide<'a> {
    /// Index of a shape, and of its body.
    Rigid { geom: usize, body: usize },
    /// Index of a soft body, and the point on its surface.
    Soft { soft: usize, at: &'a FacePoint },
}

/// The two sides of a contact, A and B.
fn sides_of<'a>(world: &World, contact: &'a SoftContact) -> [ContactSide<'a>; 2] {
    [&contact.a, &contact.b].map(|side| match side {
        SoftContactSide::Rigid(id) => {
            ContactSide::Rigid { geom: id.index(), body: world.geoms[id.index()].body.0 }
        }
        SoftContactSide::Soft(id, at) => ContactSide::Soft { soft: id.0 as usize, at },
    })
}

/// The identity of a contact over time.
fn key(contact: &SoftContact) -> ConstraintKey {
    let [a, b] = [&contact.a, &contact.b].map(|side| match side {
        SoftContactSide::Rigid(id) => id.0,
        SoftContactSide::Soft(id, _) => SOFT_FLAG | id.0,
    });
    ConstraintKey { class: ConstraintClass::SoftContact, a, b, feature: contact.feature, row: 0 }
}

/// The combined surface parameters of a contact.
fn pairing(world: &World, sides: &[ContactSide; 2], combine: Combine) -> Pairing {
    let surface_of = |side: &ContactSide| -> (&Surface, f64) {
        match *side {
            ContactSide::Rigid { geom, .. } => {
                (&world.geoms[geom].surface, world.geoms[geom].standoff)
            }
            ContactSide::Soft { soft, .. } => (&world.softs.objects[soft].surface, 0.0),
        }
    };
    let [(a, standoff_a), (b, standoff_b)] = [surface_of(&sides[0]), surface_of(&sides[1])];
    // Meshes have no inverse inertia to scale a soft law with: they store penetration themselves.
    Pairing { standoff: standoff_a + standoff_b, soft: None, ..Pairing::of(a, b, combine) }
}

/// Rotation from world to contact axes; the first tangent follows the grain of a shape.
fn frame(
    world: &World,
    contact: &SoftContact,
    sides: &[ContactSide; 2],
    pairing: &Pairing,
    context: &ConstraintContext,
) -> Matrix3<f64> {
    let owner = match pairing.grain {
        GrainOf::Neither => return contact::frame(contact.normal),
        GrainOf::A => &sides[0],
        GrainOf::B => &sides[1],
    };
    match *owner {
        ContactSide::Rigid { geom, .. } => {
            rigid_contact::frame_with_grain(world, geom, contact.normal, context)
        }
        ContactSide::Soft { .. } => contact::frame(contact.normal),
    }
}

/// Velocity of a side at the contact [m/s].
fn velocity(
    side: &ContactSide,
    p_W: &Vector3<f64>,
    x_dot: &[Vector3<f64>],
    context: &ConstraintContext,
) -> Vector3<f64> {
    match side {
        ContactSide::Rigid { body, .. } => context.point_velocity(*body, p_W),
        ContactSide::Soft { at, .. } => {
            at.nodes.iter().zip(at.weights).map(|(node, w)| w * x_dot[*node as usize]).sum()
        }
    }
}

/// Prescribed part of the velocity of B relative to A [m/s], world axes.
fn driven_velocity(
    context: &ConstraintContext,
    sides: &[ContactSide; 2],
    p_W: &Vector3<f64>,
) -> Vector3<f64> {
    let of = |side: &ContactSide| match side {
        ContactSide::Rigid { body, .. } => context.driven.point_velocity(*body, p_W),
        ContactSide::Soft { .. } => Vector3::zeros(),
    };
    of(&sides[1]) - of(&sides[0])
}

/// Distance [m] within which a contact gets rows at any velocity: elastic forces can close it
/// within the step, also without gravity.
fn near(world: &World, sides: &[ContactSide; 2]) -> f64 {
    let of = |side: &ContactSide| match side {
        ContactSide::Rigid { .. } => 0.0,
        ContactSide::Soft { soft, .. } => world.softs.near[*soft],
    };
    of(&sides[0]).max(of(&sides[1]))
}

/// A contact at the start of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SoftContactStart {
    key: ConstraintKey,
    /// Distance [m], and its rate [m/s].
    gap: f64,
    normal_velocity: f64,
}

/// Contacts at the start of a step, in the order of their keys.
pub(crate) fn start_of(
    world: &World,
    parameters: &RowParameters,
    detected: &[SoftContact],
    x_dot: &[Vector3<f64>],
    context: &ConstraintContext,
    out: &mut Vec<SoftContactStart>,
) {
    out.clear();
    out.extend(detected.iter().map(|found| {
        let sides = sides_of(world, found);
        let relative = velocity(&sides[1], &found.point, x_dot, context)
            - velocity(&sides[0], &found.point, x_dot, context);
        let gap = found.gap - pairing(world, &sides, parameters.combine).standoff;
        let normal_velocity = found.normal.dot(&relative);
        SoftContactStart { key: key(found), gap, normal_velocity }
    }));
}

/// Contacts of soft bodies for which rows are added.
#[derive(Clone, Copy)]
pub(crate) struct SoftContactInput<'a> {
    pub detected: &'a [SoftContact],
    /// Velocities of nodes [m/s].
    pub x_dot: &'a [Vector3<f64>],
    /// With the contacts at the start of the step, `detected` are those at its end, at the
    /// positions reached with the velocities in `x_dot` and the kinematics. Then the rows bound the
    /// gap at the end with its mean rate over the step, linearised:
    /// `c_n = (gap − gap₀)/h + n·(u − u_k)`. A contact that was not detected at the start has the
    /// gap there that a constant rate gives, and does not bounce.
    pub at_start: Option<&'a [SoftContactStart]>,
    /// Largest speed at which penetration is removed [m/s].
    pub max_speed: f64,
}

/// Adds the rows of the contacts.
pub(crate) fn add_rows(
    world: &World,
    parameters: &RowParameters,
    input: &SoftContactInput,
    context: &ConstraintContext,
    rows: &mut RowBuilder,
) {
    let h = parameters.time_step;
    for found in input.detected {
        let sides = sides_of(world, found);
        let pairing = pairing(world, &sides, parameters.combine);
        let Some(law) = rigid_contact::friction_law(&pairing) else { continue };
        let relative = velocity(&sides[1], &found.point, input.x_dot, context)
            - velocity(&sides[0], &found.point, input.x_dot, context);
        let mut normal_velocity = found.normal.dot(&relative);
        let mut gap = found.gap - pairing.standoff;
        let mut curvature = 0.0;
        if let Some(at_start) = input.at_start {
            let (end, rate, key) = (gap, normal_velocity, key(found));
            (gap, normal_velocity) = match at_start.binary_search_by_key(&key, |start| start.key) {
                Ok(index) => (at_start[index].gap, at_start[index].normal_velocity),
                Err(_) => (end - h * rate, 0.0),
            };
            curvature = (end - gap) / h - rate;
        } else if gap > near(world, &sides)
            && !parameters.may_close(gap, normal_velocity, &relative, pairing.friction)
        {
            continue;
        }
        let (bias, compliance) =
            normal_row(&pairing, parameters, gap, normal_velocity, input.max_speed);
        let bias = bias + curvature;
        let R_CW = frame(world, found, &sides, &pairing, context);
        let (bias, compliance) = (contact::rows(bias, 0.0), contact::rows(compliance, 0.0));
        let driven = driven_velocity(context, &sides, &found.point);
        let mut bias = Vector3::from(bias) + R_CW * driven;
        if parameters.alpha < 1.0 && gap <= 0.0 {
            let sliding = relative - found.normal * normal_velocity;
            bias -= R_CW * sliding * (1.0 - parameters.alpha);
        }
        rows.open(key(found), law, gap, bias.as_slice(), &compliance);
        let axes_W: [Vector3<f64>; contact::DIM] =
            std::array::from_fn(|row| R_CW.row(row).transpose());
        for (side, sign) in sides.iter().zip([-1.0, 1.0]) {
            match side {
                ContactSide::Rigid { body, .. } => {
                    rows.add_point_velocity(context, *body, &found.point, &axes_W, sign);
                }
                ContactSide::Soft { at, .. } => {
                    rows.add_soft_point_velocity(world, (at.nodes, at.weights), &axes_W, sign);
                }
            }
        }
        rows.close_contact(contact_point(found, &sides, driven), R_CW, pairing);
    }
}

/// The contact in the public form, with its prescribed velocity [m/s] and without force.
fn contact_point(
    found: &SoftContact,
    sides: &[ContactSide; 2],
    velocity: Vector3<f64>,
) -> ContactPoint {
    let names = sides.map(|side| match side {
        ContactSide::Rigid { geom, body } => (geom, body, None),
        ContactSide::Soft { soft, .. } => (ContactPoint::NO_GEOM, 0, Some(SoftId(soft))),
    });
    ContactPoint {
        geoms: names.map(|name| name.0),
        bodies: names.map(|name| name.1),
        soft: names.map(|name| name.2),
        point: found.point,
        normal: found.normal,
        gap: found.gap,
        area: 0.0,
        force: Vector3::zeros(),
        torque: Vector3::zeros(),
        velocity,
    }
}

/// Bias [m/s] and compliance [1/kg] of the normal row, from the gap [m] and the normal velocity [m/s]
/// before the step.
fn normal_row(
    pairing: &Pairing,
    parameters: &RowParameters,
    gap: f64,
    normal_velocity: f64,
    max_speed: f64,
) -> (f64, f64) {
    let alpha = parameters.alpha;
    if pairing.stiffness.is_finite() || gap > 0.0 {
        return rigid_contact::normal_row(pairing, parameters, gap, normal_velocity);
    }
    let removal = |fraction: f64| (fraction * -gap / parameters.time_step).min(max_speed);
    if alpha == 1.0 {
        let (bias, _) = rigid_contact::normal_row(pairing, parameters, gap, normal_velocity);
        return (bias.min(-removal(REMOVED_FRACTION)), 0.0);
    }
    // Vertices have little mass of their own: mirrored at the mean, the slightest approach would
    // oscillate from step to step.
    let bounces = normal_velocity < -parameters.bounce_threshold;
    let epsilon = if bounces { pairing.restitution } else { 0.0 };
    let rebound = ((1.0 - alpha) - alpha * epsilon) * normal_velocity.min(0.0);
    (-(rebound + removal(REMOVED_FRACTION_MIRRORED)), 0.0)
}

/// Deepest penetration [m] of rigid surfaces.
pub(crate) fn deepest_penetration(
    world: &World,
    detected: &[SoftContact],
    combine: Combine,
) -> f64 {
    let mut depth = 0.0_f64;
    for contact in detected {
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

    fn parameters(alpha: f64) -> RowParameters {
        let combine = Combine::default();
        RowParameters {
            time_step: 0.01,
            whole_step: 0.01,
            alpha,
            bounce_threshold: 0.2,
            touch: 0.0,
            max_speed: 1.0,
            combine,
            tangential: Default::default(),
            contact: Default::default(),
            convex_friction: false,
        }
    }

    fn rigid() -> Pairing {
        Pairing::of(&Surface::default(), &Surface::default(), Combine::default())
    }

    #[test]
    fn the_bound_on_the_normal_velocity_is_continuous_where_the_gap_closes() {
        for alpha in [1.0, 0.5] {
            let at = |gap: f64| normal_row(&rigid(), &parameters(alpha), gap, 0.0, 1.0);
            assert_eq!(at(0.0), (0.0, 0.0));
            assert!((at(1e-9).0 - 1e-7).abs() <= 1e-16);
            // A part of the depth per step, up to the fastest.
            let (bias, _) = at(-1e-4);
            let most = REMOVED_FRACTION * 1e-4 / 0.01 * (1.0 + 1e-15);
            assert!((-most..0.0).contains(&bias), "{bias}");
            assert_eq!(at(-1.0).0, -1.0);
        }
    }

    #[test]
    fn a_closed_approaching_contact_stops_in_both_conventions() {
        for alpha in [1.0, 0.5] {
            for approach in [-0.01, -3.0] {
                let (bias, _) = normal_row(&rigid(), &parameters(alpha), 0.0, approach, 1.0);
                let after = (-bias - (1.0 - alpha) * approach) / alpha;
                assert!(after.abs() <= 1e-15, "alpha {alpha}: {after}");
            }
        }
    }
}
