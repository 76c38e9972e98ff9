//! Rows of rigid contacts.
//!
//! A contact that is open may close within the step and no further, `c_n ≥ −gap/h`; one that is
//! closed requires `c_n ≥ 0`. Contacts of a patch close the same gap. Penetration is removed apart from the velocities, so
//! that the problem for velocities keeps a solution and gains no energy. Restitution replaces the bound for impacts
//! faster than a threshold. Compliant contacts follow [Castro22, Eqs. (2), (20)], those that are soft as in
//! MuJoCo `soft_surface`.

use nalgebra::{Matrix3, Vector3};
use stiction_geom::Contact;
use stiction_mech::BodyId;
use stiction_solve::contact::{self, ContactVec};
use stiction_solve::law::{Coulomb, Elliptic, Law};

use super::{ConstraintClass, ConstraintContext, ConstraintKey, RowBuilder, RowParameters};
use crate::contact_model::{self, ContactModel};
use crate::contact_point::ContactPoint;
use crate::contacts::RowContact;
use crate::soft_surface::{self, SoftContactState, TangentialLaw};
use crate::surface::{GrainOf, Pairing};
use crate::world::World;

/// Contacts and limits count within this multiple of the distance covered in a step, because friction
/// and impacts elsewhere can turn a motion towards a wall [-].
pub(crate) const REACH_FACTOR: f64 = 1.5;
/// Fraction of the relative speed along a surface that impacts elsewhere may turn against it [-].
const DEFLECTED: f64 = 0.1;
/// Largest speed of approach of a lasting contact, as a fraction of the speed from which contacts
/// bounce: half of it times the time step is far less than the tolerated penetration [-].
pub(crate) const LASTING_APPROACH: f64 = 5e-3;
/// Depth to which soft surfaces that are apart may pass into one another within a step, as a part of the size of
/// the smaller shape [-].
const DEEPEST: f64 = 0.25;

/// Least inverse inertia of a body in the law of an overlap that yields, relative to that of the free body [-].
const LEAST_WEIGHT: f64 = 1e-3;

/// Contacts of two bodies that may all touch exactly, whatever their gaps.
const EXACT_CONTACTS: usize = 3;

impl RowParameters {
    /// Whether a gap [m] may close within the step, at this normal and relative velocity [m/s].
    /// A contact that is left out and closes all the same is found after the solve.
    pub fn may_close(
        &self,
        gap: f64,
        normal_velocity: f64,
        relative: &Vector3<f64>,
        friction: f64,
    ) -> bool {
        let deflected = if self.convex_friction { friction.max(DEFLECTED) } else { DEFLECTED };
        let speed =
            (-normal_velocity).max(0.0) + deflected * relative.norm() + self.bounce_threshold;
        gap <= REACH_FACTOR * self.time_step * speed
    }
}

/// Adds the rows of the contacts.
pub(crate) fn add_rows(
    world: &World,
    parameters: &RowParameters,
    contacts: &[RowContact],
    context: &ConstraintContext,
    rows: &mut RowBuilder,
) {
    // Contacts of one pair follow one another, and mostly share their normal.
    let mut last: Option<(&Contact, Pairing, Matrix3<f64>)> = None;
    let mut level = None;
    for (k, RowContact { contact: found, points: [p_A, p_B], away }) in contacts.iter().enumerate()
    {
        let bodies = world.bodies_of(found);
        let same_pair = last.filter(|(other, ..)| (other.a, other.b) == (found.a, found.b));
        let combined = match &same_pair {
            Some((_, pairing, _)) => *pairing,
            None => {
                let combined = world.pairing(found, parameters.combine);
                // The near-rigid model has no patches to which contacts are rounded.
                let is_rigid = parameters.contact == ContactModel::Rigid;
                let found = || patch_level(&contacts[k..], combined.standoff, parameters.touch);
                level = is_rigid.then(found).flatten();
                combined
            }
        };
        let (mut pairing, mut parameters) = (combined, *parameters);
        let yields = context.yielding.has_contact(found);
        if yields {
            // Shapes deep in one another would lock each other by exact friction.
            pairing.soft = Some(world.yielding_pairing(found));
            parameters.tangential = TangentialLaw::Mujoco;
        }
        let Some(law) = friction_law(&pairing) else { continue };
        let R_CW = match same_pair {
            Some((other, _, R_CW)) if other.normal == found.normal => R_CW,
            _ => frame(world, found, &pairing, context),
        };
        last = Some((found, combined, R_CW));
        let relative =
            context.point_velocity(bodies[1], p_B) - context.point_velocity(bodies[0], p_A);
        let normal_velocity = found.normal.dot(&relative);
        let gap = found.gap - pairing.standoff;
        let mut rebound = 0.0;
        let (bias, compliance) = if let Some(soft) = &pairing.soft {
            let mut state = soft_state(world, found, gap, (R_CW * relative).into());
            if yields {
                let least = bodies.map(|body| least_inverse_weight(world, body));
                state.inverse_weight = state.inverse_weight.max(least.iter().sum());
            }
            let Some((mut bias, compliance)) =
                soft_surface::rows(soft, &pairing, &parameters, &state)
            else {
                continue;
            };
            if yields {
                // The law parts deep overlaps at any speed; the bias is the speed with the opposite sign.
                let fastest = parameters.max_speed.max(normal_velocity);
                let beyond = -ContactVec::load(&bias).n - fastest;
                contact::add_to_normal(&mut bias, beyond.max(0.0));
            }
            (bias, compliance)
        } else {
            let gap = level.map_or(gap, |level| at_level(gap, level, parameters.touch));
            let (bias, compliance) = normal_row(&pairing, &parameters, gap, normal_velocity);
            let bias = if *away > 0.0 { bias.min(-away) } else { bias };
            let rebounds = compliance == 0.0 && pairing.restitution > 0.0;
            if rebounds && *away <= 0.0 {
                rebound = (bias - gap.max(0.0) / parameters.time_step).min(0.0);
            }
            (contact::rows(bias, 0.0), contact::rows(compliance, 0.0))
        };
        let lasts = pairing.is_rigid()
            && normal_velocity >= -LASTING_APPROACH * parameters.bounce_threshold;
        let point = PointRows {
            key: key(found),
            law,
            contact: found,
            points: [*p_A, *p_B],
            position: gap,
            bias,
            compliance,
            lasts,
            area: 0.0,
        };
        add_point_rows(&point, (&R_CW, &pairing), (world, context), rows);
        rows.set_rebound(rebound);
    }
}

/// The three rows of one contact between rigid bodies.
pub(crate) struct PointRows<'a> {
    pub key: ConstraintKey,
    pub law: Law,
    pub contact: &'a Contact,
    /// Points of A and B at which it acts [m].
    pub points: [Vector3<f64>; 2],
    /// Its gap [m].
    pub position: f64,
    /// Bias without the motion of driven bodies [m/s], and compliance [1/kg].
    pub bias: [f64; 3],
    pub compliance: [f64; 3],
    /// Whether it neither opens nor impacts.
    pub lasts: bool,
    /// Area of the polygon of a patch; zero for a point [m²].
    pub area: f64,
}

/// Adds the rows of one contact, with the axes of its frame and its combined surface parameters.
pub(crate) fn add_point_rows(
    point: &PointRows,
    (R_CW, pairing): (&Matrix3<f64>, &Pairing),
    (world, context): (&World, &ConstraintContext),
    rows: &mut RowBuilder,
) {
    let PointRows { contact: found, points: [p_A, p_B], .. } = point;
    let bodies = world.bodies_of(found);
    let driven = context.driven.point_velocity(bodies[1], p_B)
        - context.driven.point_velocity(bodies[0], p_A);
    let bias = Vector3::from(point.bias) + R_CW * driven;
    rows.open(point.key, point.law, point.position, bias.as_slice(), &point.compliance);
    if point.lasts {
        rows.set_lasting();
    }
    let axes_W: [Vector3<f64>; contact::DIM] = std::array::from_fn(|row| R_CW.row(row).transpose());
    let [tree_A, tree_B] = bodies.map(|body| context.moving_tree(body));
    rows.set_separate(tree_A != tree_B);
    rows.add_point_velocity(context, bodies[1], p_B, &axes_W, 1.0);
    rows.add_point_velocity(context, bodies[0], p_A, &axes_W, -1.0);
    let point = ContactPoint {
        geoms: [found.a.index(), found.b.index()],
        bodies,
        soft: [None; 2],
        point: found.point,
        normal: found.normal,
        gap: found.gap,
        area: point.area,
        force: Vector3::zeros(),
        torque: Vector3::zeros(),
        velocity: driven,
    };
    rows.close_contact(point, *R_CW, *pairing);
}

/// The gap [m] of the patch that the first of these contacts and those of the same pair that follow hold, if more of them
/// are within `touch` [m] of it than can touch exactly: under a foot some are a nanometre above the others. If each had to close
/// its own gap, they would contradict each other, and it would take many iterations to tell which of them act.
fn patch_level(contacts: &[RowContact], standoff: f64, touch: f64) -> Option<f64> {
    let pair = |row: &RowContact| (row.contact.a, row.contact.b);
    let first = pair(&contacts[0]);
    let gaps = || {
        let same_pair = contacts.iter().take_while(|row| pair(row) == first);
        same_pair.map(|row| row.contact.gap - standoff)
    };
    let level = gaps().fold(f64::INFINITY, f64::min).max(0.0);
    (gaps().filter(|gap| *gap <= level + touch).count() > EXACT_CONTACTS).then_some(level)
}

/// The gap of a contact, or that of its patch if it differs by no more than `touch` [m].
fn at_level(gap: f64, level: f64, touch: f64) -> f64 {
    if gap > level && gap <= level + touch { level } else { gap }
}

/// A soft contact at the start of a step. Surfaces that are apart may pass into one another by a part of the
/// smaller shape.
fn soft_state(world: &World, found: &Contact, gap: f64, velocity: [f64; 3]) -> SoftContactState {
    let weight = |body: usize| world.inverse_weights().body[body][0];
    let radius = |id| world.colliders.get(id).shape.bounding_radius();
    SoftContactState {
        gap,
        velocity,
        inverse_weight: world.bodies_of(found).map(weight).iter().sum(),
        deepest: DEEPEST * radius(found.a).min(radius(found.b)),
    }
}

/// Inverse inertia below which that of a body does not scale the law of an overlap that yields [1/kg]. A body that turns about its
/// centre of mass has none, and overlaps that no motion can part would have no compliance.
fn least_inverse_weight(world: &World, body: usize) -> f64 {
    let (model, body) = (&world.model, BodyId(body));
    let links =
        model.tree(body).map_or(&[][..], |tree| &model.links()[model.trees()[tree].links.clone()]);
    let moving = model.link(body);
    let link = links.iter().find(|link| Some(link.body) == moving && link.mass > 0.0);
    link.map_or(0.0, |link| LEAST_WEIGHT / link.mass)
}

/// The identity of a contact over time.
pub(crate) fn key(contact: &Contact) -> ConstraintKey {
    let (a, b, feature) = (contact.a.0, contact.b.0, contact.feature);
    ConstraintKey { class: ConstraintClass::Contact, a, b, feature, row: 0 }
}

/// The friction law of a contact.
pub(crate) fn friction_law(pairing: &Pairing) -> Option<Law> {
    if pairing.grain == GrainOf::Neither {
        return Coulomb::new(pairing.friction).map(Law::Coulomb);
    }
    Elliptic::new(pairing.friction, pairing.across_friction).map(Law::Elliptic)
}

/// Rotation from world to contact axes; the first tangent follows the grain if there is one.
pub(crate) fn frame(
    world: &World,
    contact: &Contact,
    pairing: &Pairing,
    context: &ConstraintContext,
) -> Matrix3<f64> {
    let owner = match pairing.grain {
        GrainOf::Neither => return contact::frame(contact.normal),
        GrainOf::A => contact.a,
        GrainOf::B => contact.b,
    };
    frame_with_grain(world, owner.index(), contact.normal, context)
}

/// Rotation from world to contact axes, of which the first tangent follows the grain of a shape if it
/// has one.
pub(crate) fn frame_with_grain(
    world: &World,
    geom: usize,
    normal_W: Vector3<f64>,
    context: &ConstraintContext,
) -> Matrix3<f64> {
    let geom = &world.geoms[geom];
    match geom.surface.grain {
        Some(grain) => {
            let R_WS = context.data.body_pose[geom.body.0].rotation * geom.pose.rotation;
            contact::frame_along(normal_W, R_WS * grain.along.into_inner())
        }
        None => contact::frame(normal_W),
    }
}

/// Bias [m/s] and compliance [1/kg] of the normal row, from the gap [m] and the normal velocity [m/s]
/// before the step.
pub(crate) fn normal_row(
    pairing: &Pairing,
    parameters: &RowParameters,
    gap: f64,
    normal_velocity: f64,
) -> (f64, f64) {
    let (h, alpha) = (parameters.time_step, parameters.alpha);
    if pairing.stiffness.is_finite() || parameters.contact == ContactModel::Sap {
        let (k, tau) = contact_model::stiffness_and_dissipation(pairing, h);
        // [Castro22, Eqs. (20), (29)] for surfaces that touch. Those still apart must close the gap
        // within the step first, and dissipation acts only after that.
        let time = if gap > 0.0 { h } else { h + tau };
        return (gap / time, 1.0 / (h * k * (h + tau)));
    }
    let closing = -gap.max(0.0) / h;
    let impact = normal_velocity < -parameters.bounce_threshold && gap + h * normal_velocity < 0.0;
    let bounces = pairing.restitution > 0.0 || alpha < 1.0;
    let least = if impact && bounces {
        // The velocity of the law for which the contact separates at ε times its approach.
        let rebound = ((1.0 - alpha) - alpha * pairing.restitution) * normal_velocity;
        if gap < 0.0 { rebound.max(closing) } else { rebound }
    } else {
        closing
    };
    (-least, 0.0)
}

#[cfg(test)]
mod tests {
    use stiction_geom::ColliderId;

    use super::*;
    use crate::surface::{Combine, Surface};

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

    fn pairing(restitution: f64) -> Pairing {
        let surface = Surface { restitution, ..Surface::default() };
        Pairing::of(&surface, &surface, Combine::default())
    }

    #[test]
    fn a_gap_may_close_within_the_step_and_no_more() {
        let (bias, compliance) = normal_row(&pairing(0.0), &parameters(1.0), 1e-3, -5.0);
        // Touching after h: c_n = −gap/h, so that c_n + e = 0.
        assert!((bias - 0.1).abs() <= 1e-16 && compliance == 0.0);
    }

    #[test]
    fn contacts_of_a_patch_that_differ_by_round_off_touch_together() {
        let touch = 1e-6;
        let at = |gap: f64, b: u32| {
            let contact = Contact {
                a: ColliderId(0),
                b: ColliderId(b),
                feature: 0,
                point: Vector3::zeros(),
                normal: Vector3::z(),
                gap,
            };
            RowContact::at_start(&contact)
        };
        // Just above the ground, and on it.
        for (height, level) in [(3e-7, 3e-7 - 3e-9), (0.0, 0.0)] {
            let gaps = [1e-9, -3e-9, 4e-9, 2e-9].map(|gap| height + gap);
            let patch = gaps.map(|gap| at(gap, 1));
            let found = patch_level(&patch, 0.0, touch).unwrap();
            assert!((found - level).abs() <= 1e-20, "{found}");
            for gap in gaps {
                let gap = at_level(gap, found, touch);
                assert_eq!(normal_row(&pairing(0.0), &parameters(1.0), gap, 0.0).0, found / 0.01);
            }
            // Three contacts touch exactly whatever their gaps; those of other pairs and those that are apart do not count.
            assert_eq!(patch_level(&patch[..3], 0.0, touch), None);
            for other in [at(height, 2), at(height + 1e-4, 1)] {
                assert_eq!(patch_level(&[patch[0], patch[1], patch[2], other], 0.0, touch), None);
            }
        }
        assert_eq!(at_level(1e-3, 0.0, touch), 1e-3);
    }

    #[test]
    fn a_compliant_surface_does_not_push_before_it_is_touched() {
        let surface = Surface { stiffness: 1e4, dissipation: 0.05, ..Surface::default() };
        let pair = Pairing::of(&surface, &Surface::default(), Combine::default());
        let (h, gap) = (parameters(1.0).time_step, 1e-3);
        let (bias, compliance) = normal_row(&pair, &parameters(1.0), gap, 0.0);
        // Without an impulse c_n + e = 0 at the velocity that just closes the gap.
        assert!((-gap / h + bias).abs() <= 1e-16);
        // In touch, λ = h k (−gap − (h + τ) c_n).
        let (touching, same) = normal_row(&pair, &parameters(1.0), -gap, 0.0);
        assert_eq!(compliance, same);
        let lambda = -touching / same;
        assert!((lambda - h * 1e4 * gap).abs() <= 1e-15, "{lambda}");
    }

    #[test]
    fn penetration_pushes_no_velocity() {
        assert_eq!(normal_row(&pairing(0.0), &parameters(1.0), -1e-3, 0.0).0, 0.0);
    }

    #[test]
    fn an_impact_leaves_at_restitution_times_the_approach_in_both_conventions() {
        let (epsilon, approach) = (0.6, -2.0);
        for alpha in [1.0, 0.5] {
            let (bias, _) = normal_row(&pairing(epsilon), &parameters(alpha), 0.0, approach);
            // The law acts on v̂ = (1 − α) v⁻ + α v⁺ and is active: v̂ = −bias.
            let after = (-bias - (1.0 - alpha) * approach) / alpha;
            assert!((after + epsilon * approach).abs() <= 1e-15, "alpha {alpha}: {after}");
        }
    }

    #[test]
    fn the_mean_velocity_convention_does_not_bounce_without_restitution() {
        let (bias, _) = normal_row(&pairing(0.0), &parameters(0.5), 0.0, -1.0);
        let after = (-bias + 0.5) / 0.5;
        assert_eq!(after, 0.0);
    }
}
