//! From joints, limits, drives and contacts to rows.
//!
//! Rigid contacts and limits let a gap close within the step and no more, `c_n ≥ −gap/h`; where
//! they have closed, `c_n ≥ 0`, and what penetrates is moved apart elsewhere, so that the problem
//! for velocities keeps a solution and gains no energy. Restitution replaces the bound for impacts
//! faster than a threshold. Compliant contacts yield [Castro22, Eqs. (2), (20)].

use nalgebra::{Matrix3, Vector3};
use stiction_geom::Contact;
use stiction_mech::{ActuatorId, Drive, DriveKind, Forces, LimitRow, LimitSource};
use stiction_solve::contact;
use stiction_solve::law::{Bilateral, Bounded, Coulomb, Elliptic, Law, Unilateral};

use crate::constraint::{Ahead, MOST_ROWS, Place};
use crate::rows::{Class, Key, Rows, Sight};
use crate::surface::{Combine, GrainOf, Pairing};
use crate::world::World;

/// Contacts and limits count within this multiple of the distance covered in a step, because friction
/// and impacts of others can turn a motion towards a wall.
pub(crate) const FORESIGHT: f64 = 1.5;
/// Part of the relative speed along a surface that impacts elsewhere may turn against it.
const TURNED: f64 = 0.1;

/// Speed of approach, as a part of that from which on things bounce, up to which a contact lasts: half
/// of it times the time step is far less than the penetration that is left alone.
const LASTING: f64 = 5e-3;

/// What the rows of a step depend on beside positions and velocities.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Time step [s].
    pub time_step: f64,
    /// Weight of the next velocity in the velocity on which the laws act.
    pub alpha: f64,
    /// Speed of approach [m/s] below which nothing bounces.
    pub bounce_threshold: f64,
    pub combine: Combine,
    /// Whether sliding contacts glide at μ times their speed, as they do in the convex model.
    pub glides: bool,
}

impl Rules {
    /// Whether a gap [m] may close within the step, at this approach and relative velocity [m/s].
    /// What is left out and closes all the same is seen and parted at the end of the step.
    pub fn may_close(
        &self,
        gap: f64,
        approach: f64,
        relative: &Vector3<f64>,
        friction: f64,
    ) -> bool {
        let turned = if self.glides { friction.max(TURNED) } else { TURNED };
        let speed = (-approach).max(0.0) + turned * relative.norm() + self.bounce_threshold;
        gap <= FORESIGHT * self.time_step * speed
    }
}

/// How the next velocity follows the curves of equalities.
#[derive(Clone, Copy)]
pub(crate) struct Chords<'a> {
    pub ahead: &'a Ahead,
    /// The present velocities.
    pub v: &'a [f64],
    pub time_step: f64,
}

/// Rows of the equalities: no relative motion, but along their curves if chords say where those
/// lead. Returns the largest error [m, rad].
pub(crate) fn equalities(
    world: &World,
    place: &Place,
    sight: &Sight,
    chords: Option<&Chords>,
    rows: &mut Rows,
) -> f64 {
    let mut error = [0.0; MOST_ROWS];
    let mut largest = 0.0_f64;
    for (index, equality) in world.equalities.iter().enumerate() {
        let (dim, first) = (equality.dim(), rows.constraints().len());
        equality.error(place, &mut error);
        for row in 0..dim {
            largest = largest.max(error[row].abs());
            let key =
                Key { class: Class::Equality, a: index as u32, b: row as u32, feature: 0, row: 0 };
            rows.open(key, Law::Bilateral(Bilateral), error[row], &[0.0], &[0.0]);
            equality.row(row, place, sight, rows);
            if let Some(chords) = chords
                && let Some(ahead) = chords.ahead.error(index, row)
            {
                let own = if chords.ahead.moves { rows.rate(sight, chords.v) } else { 0.0 };
                rows.set_bias((ahead - error[row]) / chords.time_step - own);
            }
            rows.close();
        }
        rows.prune(first, sight);
    }
    largest
}

/// Rows of limits that can be reached within the step.
pub(crate) fn limits(time_step: f64, forces: &Forces, sight: &Sight, rows: &mut Rows) {
    for limit in &forces.limits {
        let LimitRow { row, gap, sign, .. } = *limit;
        let (a, b) = limit_key(limit.source);
        let key = Key { class: Class::Limit, a, b, feature: u32::from(sign < 0.0), row: 0 };
        let bias = gap.max(0.0) / time_step;
        rows.open(key, Law::Unilateral(Unilateral), gap, &[bias], &[0.0]);
        for entry in row.of(&forces.entries) {
            rows.dof(sight, entry.dof, sign * entry.coefficient);
        }
        rows.close();
    }
}

/// Rows of bounded or coupled forces: implicit spring-dampers that saturate, and dry friction.
pub(crate) fn drives(rules: &Rules, forces: &Forces, sight: &Sight, rows: &mut Rows) {
    let h = rules.time_step;
    for drive in &forces.drives {
        let Drive { row, lower, upper, .. } = *drive;
        let Some(law) = Bounded::new(h * lower, h * upper) else { continue };
        let (compliance, bias) = drive.compliance(h);
        let (a, b) = drive_key(drive.kind);
        let key = Key { class: Class::Drive, a, b, feature: 0, row: 0 };
        rows.open(key, Law::Bounded(law), 0.0, &[bias], &[compliance]);
        for entry in row.of(&forces.entries) {
            rows.dof(sight, entry.dof, entry.coefficient);
        }
        rows.close();
    }
}

/// Rows of the contacts.
pub(crate) fn contacts(
    world: &World,
    rules: &Rules,
    found: &[Contact],
    sight: &Sight,
    rows: &mut Rows,
) {
    for contact in found {
        let bodies = world.bodies_of(contact);
        let pairing = world.pairing(contact, rules.combine);
        let Some(law) = law(&pairing) else { continue };
        let frame = frame(world, contact, &pairing, sight);
        let relative = sight.point_velocity(bodies[1], &contact.point)
            - sight.point_velocity(bodies[0], &contact.point);
        let approach = contact.normal.dot(&relative);
        let gap = contact.gap - pairing.standoff;
        if !rules.may_close(gap, approach, &relative, pairing.friction) {
            continue;
        }
        let (bias, compliance) = normal_rule(&pairing, rules, gap, approach);
        let (bias, compliance) = (contact::rows(bias, 0.0), contact::rows(compliance, 0.0));
        let bias = Vector3::from(bias) + frame * given_velocity(sight, bodies, &contact.point);
        rows.open(contact_key(contact), law, gap, bias.as_slice(), &compliance);
        if pairing.stiffness == f64::INFINITY && approach >= -LASTING * rules.bounce_threshold {
            rows.set_lasting();
        }
        let axes: [Vector3<f64>; contact::DIM] =
            std::array::from_fn(|row| frame.row(row).transpose());
        rows.point(sight, bodies[1], &contact.point, &axes, 1.0);
        rows.point(sight, bodies[0], &contact.point, &axes, -1.0);
        rows.close();
    }
}

/// What driven bodies add to the velocity of B relative to A at a point [m/s], world axes.
pub(crate) fn given_velocity(
    sight: &Sight,
    [a, b]: [usize; 2],
    point: &Vector3<f64>,
) -> Vector3<f64> {
    sight.driven.point_velocity(b, point) - sight.driven.point_velocity(a, point)
}

/// The identity of a contact over time.
pub(crate) fn contact_key(contact: &Contact) -> Key {
    let (a, b, feature) = (contact.a.0, contact.b.0, contact.feature);
    Key { class: Class::Contact, a, b, feature, row: 0 }
}

/// Ascending in the order in which limits are listed.
fn limit_key(source: LimitSource) -> (u32, u32) {
    match source {
        LimitSource::Tendon(tendon) => (0, tendon.0 as u32),
        LimitSource::Joint(joint, k) => (1 + joint.0 as u32, k as u32),
    }
}

/// Ascending in the order in which drives are listed.
fn drive_key(kind: DriveKind) -> (u32, u32) {
    match kind {
        DriveKind::TendonSpring(tendon) => (2 * tendon.0 as u32, 0),
        DriveKind::TendonFriction(tendon) => (2 * tendon.0 as u32, 1),
        DriveKind::Servo(actuator) => (u32::MAX - 1, actuator.0 as u32),
        DriveKind::JointFriction(dof) => (u32::MAX, dof as u32),
    }
}

/// The tendon along which a limit or dry friction acts, with the sign of its force.
pub(crate) fn tendon_of(key: &Key) -> Option<(usize, f64)> {
    let servos = drive_key(DriveKind::Servo(ActuatorId(0))).0;
    match (key.class, key.a, key.b) {
        (Class::Limit, 0, tendon) => {
            Some((tendon as usize, if key.feature == 0 { 1.0 } else { -1.0 }))
        }
        (Class::Drive, a, 1) if a < servos => Some((a as usize / 2, 1.0)),
        _ => None,
    }
}

/// The law of a contact.
pub(crate) fn law(pairing: &Pairing) -> Option<Law> {
    if pairing.grain == GrainOf::Neither {
        return Coulomb::new(pairing.friction).map(Law::Coulomb);
    }
    Elliptic::new(pairing.friction, pairing.across_friction).map(Law::Elliptic)
}

/// World axes to the rows of a contact; the first tangent follows the grain if there is one.
pub(crate) fn frame(
    world: &World,
    contact: &Contact,
    pairing: &Pairing,
    sight: &Sight,
) -> Matrix3<f64> {
    let owner = match pairing.grain {
        GrainOf::Neither => return contact::frame(contact.normal),
        GrainOf::A => contact.a,
        GrainOf::B => contact.b,
    };
    frame_with_grain(world, owner.index(), contact.normal, sight)
}

/// World axes to the rows of a contact whose first tangent follows the grain of a shape, if it has one.
pub(crate) fn frame_with_grain(
    world: &World,
    geom: usize,
    normal: Vector3<f64>,
    sight: &Sight,
) -> Matrix3<f64> {
    let geom = &world.geoms[geom];
    match geom.surface.grain {
        Some(grain) => {
            let rotation = sight.data.body_pose[geom.body.0].rotation * geom.pose.rotation;
            contact::frame_along(normal, rotation * grain.along.into_inner())
        }
        None => contact::frame(normal),
    }
}

/// Bias [m/s] and yield [1/kg] of the normal row, from the gap [m] and the velocity [m/s] at which
/// it changes before the step.
pub(crate) fn normal_rule(pairing: &Pairing, rules: &Rules, gap: f64, approach: f64) -> (f64, f64) {
    let h = rules.time_step;
    if pairing.stiffness.is_finite() {
        let (k, tau) = (pairing.stiffness, pairing.dissipation);
        // [Castro22, Eqs. (20), (29)] for surfaces that touch. Those still apart must close the gap
        // within the step first: dissipation acts on the rest of the way only.
        let time = if gap > 0.0 { h } else { h + tau };
        return (gap / time, 1.0 / (h * k * (h + tau)));
    }
    let closing = -gap.max(0.0) / h;
    let impact = approach < -rules.bounce_threshold && gap + h * approach < 0.0;
    let bounces = pairing.restitution > 0.0 || rules.alpha < 1.0;
    let least = if impact && bounces {
        // The velocity of the laws that leaves with −ε times the approach.
        let rebound = ((1.0 - rules.alpha) - rules.alpha * pairing.restitution) * approach;
        if gap < 0.0 { rebound.max(closing) } else { rebound }
    } else {
        closing
    };
    (-least, 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::Surface;

    fn rules(alpha: f64) -> Rules {
        let combine = Combine::default();
        Rules { time_step: 0.01, alpha, bounce_threshold: 0.2, combine, glides: false }
    }

    fn pairing(restitution: f64) -> Pairing {
        let surface = Surface { restitution, ..Surface::default() };
        Pairing::of(&surface, &surface, Combine::default())
    }

    #[test]
    fn a_gap_may_close_within_the_step_and_no_more() {
        let (bias, compliance) = normal_rule(&pairing(0.0), &rules(1.0), 1e-3, -5.0);
        // Touching after h: c_n = −gap/h, so that c_n + e = 0.
        assert!((bias - 0.1).abs() <= 1e-16 && compliance == 0.0);
    }

    #[test]
    fn a_compliant_surface_does_not_push_before_it_is_touched() {
        let surface = Surface { stiffness: 1e4, dissipation: 0.05, ..Surface::default() };
        let pair = Pairing::of(&surface, &Surface::default(), Combine::default());
        let (h, gap) = (rules(1.0).time_step, 1e-3);
        let (bias, compliance) = normal_rule(&pair, &rules(1.0), gap, 0.0);
        // Without an impulse c_n + e = 0 at the velocity that just closes the gap.
        assert!((-gap / h + bias).abs() <= 1e-16);
        // In touch, λ = h k (−gap − (h + τ) c_n).
        let (touching, same) = normal_rule(&pair, &rules(1.0), -gap, 0.0);
        assert_eq!(compliance, same);
        let lambda = -touching / same;
        assert!((lambda - h * 1e4 * gap).abs() <= 1e-15, "{lambda}");
    }

    #[test]
    fn penetration_pushes_no_velocity() {
        assert_eq!(normal_rule(&pairing(0.0), &rules(1.0), -1e-3, 0.0).0, 0.0);
    }

    #[test]
    fn an_impact_leaves_at_restitution_times_the_approach_in_both_conventions() {
        let (epsilon, approach) = (0.6, -2.0);
        for alpha in [1.0, 0.5] {
            let (bias, _) = normal_rule(&pairing(epsilon), &rules(alpha), 0.0, approach);
            // The law acts on v̂ = (1 − α) v⁻ + α v⁺ and is active: v̂ = −bias.
            let after = (-bias - (1.0 - alpha) * approach) / alpha;
            assert!((after + epsilon * approach).abs() <= 1e-15, "alpha {alpha}: {after}");
        }
    }

    #[test]
    fn the_mean_velocity_convention_does_not_bounce_without_restitution() {
        let (bias, _) = normal_rule(&pairing(0.0), &rules(0.5), 0.0, -1.0);
        let after = (-bias + 0.5) / 0.5;
        assert_eq!(after, 0.0);
    }
}
