//! Friction of contacts against spinning about the normal and rolling about the tangents.
//!
//! Each is a row beside those of its contact: the relative angular velocity ω_B − ω_A along an axis
//! [rad/s], with an impulse [N·m·s] of at most the coefficient [m] times the normal impulse λ_n of
//! the contact, in the manner of dry friction. The bound takes λ_n from the last step, by the key of
//! the contact: where bodies touch for the first time there is none, and while a load changes
//! the bound is one step late. In return the rows are laws of their own, which every solver
//! knows, and contacts that need none cost nothing.
//!
//! The first axis of rolling is that of the present rolling motion, so that friction against it
//! does not depend on the direction; against rolling at rest it is a square of two axes.

use nalgebra::Vector3;
use stiction_geom::Contact;
use stiction_mech::angular_velocity;
use stiction_solve::law::{Bounded, Law};

use crate::assemble::{self, Rules, contact_key};
use crate::rows::{Class, Key, Rows, Sight};
use crate::warm::Memory;
use crate::world::World;

/// Rolling slower than this has no direction [rad/s].
const STILL: f64 = 1e-6;

/// Rows of the contacts that resist spinning or rolling; those of the contacts stand already.
pub(crate) fn rows(
    world: &World,
    rules: &Rules,
    found: &[Contact],
    sight: &Sight,
    memory: &Memory,
    rows: &mut Rows,
) {
    if !world.twists {
        return;
    }
    let mut next = rows.constraints().partition_point(|c| c.key.class < Class::Contact);
    let end = rows.constraints().len();
    for contact in found {
        if next == end {
            break;
        }
        let (key, lasting) = (rows.constraints()[next].key, rows.constraints()[next].lasting);
        if key != contact_key(contact) {
            continue;
        }
        next += 1;
        let pairing = world.pairing(contact, rules.combine);
        let normal_impulse = memory.normal_impulse(key);
        if !pairing.twists() || !(normal_impulse > 0.0) {
            continue;
        }
        let bodies = world.bodies_of(contact);
        let frame = assemble::frame(world, contact, &pairing, sight);
        let axes = axes(&contact.normal, &frame.row(1).transpose(), &turning(sight, bodies));
        for (row, (axis, coefficient)) in
            axes.iter().zip([pairing.spin, pairing.roll, pairing.roll]).enumerate()
        {
            let most = coefficient * normal_impulse;
            let Some(law) = Bounded::new(-most, most).filter(|_| most > 0.0) else { continue };
            let key = Key { class: Class::Twist, row: row as u8, ..key };
            rows.open(key, Law::Bounded(law), 0.0, &[0.0], &[0.0]);
            if lasting {
                rows.set_lasting();
            }
            rows.rotation(sight, bodies[1], &[*axis], 1.0);
            rows.rotation(sight, bodies[0], &[*axis], -1.0);
            rows.close();
        }
    }
}

/// Angular velocity of B relative to A [rad/s], world axes.
fn turning(sight: &Sight, [a, b]: [usize; 2]) -> Vector3<f64> {
    let of = |body: usize| match sight.moving_tree(body) {
        Some(_) => angular_velocity(sight.data, stiction_mech::BodyId(body)),
        None => Vector3::zeros(),
    };
    of(b) - of(a)
}

/// The axes of spinning and of rolling: the normal, then two tangents.
pub(crate) fn axes(
    normal: &Vector3<f64>,
    tangent: &Vector3<f64>,
    turning: &Vector3<f64>,
) -> [Vector3<f64>; 3] {
    let rolling = turning - normal * normal.dot(turning);
    let speed = rolling.norm();
    let first = if speed > STILL { rolling / speed } else { *tangent };
    [*normal, first, normal.cross(&first)]
}
