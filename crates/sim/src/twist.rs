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
use stiction_solve::law::{Bounded, Law};

use crate::assemble::{self, Rules, contact_key};
use crate::rows::{Class, Key, Rows, Sight};
use crate::simulation::ContactPoint;
use crate::warm::Memory;
use crate::world::World;

/// Rolling slower than this has no direction [rad/s].
const STILL: f64 = 1e-6;

/// Rows of the contacts that resist spinning or rolling, and their axes in the world; the rows of the
/// contacts themselves stand already.
pub(crate) fn rows(
    world: &World,
    rules: &Rules,
    found: &[Contact],
    sight: &Sight,
    memory: &Memory,
    rows: &mut Rows,
    axes: &mut Vec<Vector3<f64>>,
) {
    axes.clear();
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
        let turning = sight.turning(bodies[1]) - sight.turning(bodies[0]);
        let given = sight.driven.turning(bodies[1]) - sight.driven.turning(bodies[0]);
        let three = three_axes(&contact.normal, &frame.row(1).transpose(), &turning);
        for (row, (axis, coefficient)) in
            three.iter().zip([pairing.spin, pairing.roll, pairing.roll]).enumerate()
        {
            let most = coefficient * normal_impulse;
            let Some(law) = Bounded::new(-most, most).filter(|_| most > 0.0) else { continue };
            let key = Key { class: Class::Twist, row: row as u8, ..key };
            rows.open(key, Law::Bounded(law), 0.0, &[axis.dot(&given)], &[0.0]);
            if lasting {
                rows.set_lasting();
            }
            rows.rotation(sight, bodies[1], &[*axis], 1.0);
            rows.rotation(sight, bodies[0], &[*axis], -1.0);
            rows.close();
            // A row that moves nothing was taken back.
            if rows.constraints().last().is_some_and(|last| last.key == key) {
                axes.push(*axis);
            }
        }
    }
}

/// Adds the torques of the rows [N·m] to the contacts they stand beside, which are those of the
/// rows in the same order.
pub(crate) fn torques(
    rows: &Rows,
    axes: &[Vector3<f64>],
    impulse: &[f64],
    time_step: f64,
    contacts: &mut [ContactPoint],
) {
    if axes.is_empty() {
        return;
    }
    let all = rows.constraints();
    let of = |class: Class| {
        let start = all.partition_point(|c| c.key.class < class);
        &all[start..start + all[start..].partition_point(|c| c.key.class == class)]
    };
    let (touching, mut at) = (of(Class::Contact), 0);
    for (twist, axis) in of(Class::Twist).iter().zip(axes) {
        let key = Key { class: Class::Contact, row: 0, ..twist.key };
        while touching.get(at).is_some_and(|contact| contact.key < key) {
            at += 1;
        }
        if let Some(contact) = contacts.get_mut(at) {
            contact.torque += axis * (impulse[twist.first_row as usize] / time_step);
        }
    }
}

/// The axes of spinning and of rolling: the normal, then two tangents.
fn three_axes(
    normal: &Vector3<f64>,
    tangent: &Vector3<f64>,
    turning: &Vector3<f64>,
) -> [Vector3<f64>; 3] {
    let rolling = turning - normal * normal.dot(turning);
    let speed = rolling.norm();
    let first = if speed > STILL { rolling / speed } else { *tangent };
    [*normal, first, normal.cross(&first)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::{Combine, Resistance, Surface};
    use crate::world::{Geom, WorldBuilder};
    use nalgebra::{Isometry3, Matrix3};
    use stiction_geom::{Detector, Shape};
    use stiction_math::random::SplitMix64;
    use stiction_mech::{
        BodyId, BodySpec, Data, JointKind, JointSpec, MassProperties, Model, State, integrate,
        kinematics, velocities,
    };

    /// A ball at the end of an arm of two hinges, which touches a free one.
    fn world() -> World {
        let mut builder = WorldBuilder::new();
        let mass = || MassProperties::new(1.0, Vector3::zeros(), Matrix3::identity() * 0.01).ok();
        let surface = Surface {
            resistance: Resistance::Rolling,
            spin: 0.1,
            roll: 0.2,
            ..Surface::with_friction(0.5)
        };
        let mut parent = BodyId::WORLD;
        for axis in [Vector3::y(), Vector3::new(1.0, 0.0, 1.0)] {
            let pose = Isometry3::translation(0.5, 0.0, 0.0);
            let spec = BodySpec { parent, pose, mass: mass(), ..BodySpec::default() };
            parent = builder.mechanism.body(spec);
            builder.mechanism.joint(parent, JointSpec::new(JointKind::Hinge { axis }));
        }
        let pose = Isometry3::translation(1.0, 0.0, 0.19);
        let free = builder.mechanism.body(BodySpec { pose, mass: mass(), ..BodySpec::default() });
        builder.mechanism.joint(free, JointSpec::new(JointKind::Free));
        for body in [parent, free] {
            builder.geom(Geom::new(body, Shape::sphere(0.1).unwrap()).surface(surface));
        }
        builder.build().unwrap()
    }

    fn rotation(
        model: &Model,
        state: &State,
        body: usize,
        t: f64,
    ) -> nalgebra::UnitQuaternion<f64> {
        let mut q = state.q.clone();
        integrate(model, &state.q, &state.v, t, &mut q);
        let mut data = Data::new(model);
        kinematics(model, &q, &mut data);
        data.body_pose[body].rotation
    }

    #[test]
    fn rows_are_the_rates_of_relative_rotations_along_their_axes() {
        let world = world();
        let model = &world.model;
        let mut rng = SplitMix64::new(11);
        for whole in [true, false] {
            let mut state = State::new(model);
            state.v = (0..model.nv()).map(|_| rng.uniform(-1.0, 1.0)).collect();
            let mut data = Data::new(model);
            kinematics(model, &state.q, &mut data);
            velocities(model, &state.v, &mut data);
            let mut detector = Detector::new(&world.colliders);
            let reach = vec![0.01; model.bodies().len()];
            let found = detector.detect(&world.colliders, &data.body_pose, &reach, &[]);
            let sight = Sight {
                model,
                data: &data,
                whole: &vec![whole; model.trees().len()],
                asleep: &vec![false; model.trees().len()],
                driven: &Default::default(),
            };
            let (combine, time_step) = (Combine::default(), 0.01);
            let rules =
                Rules { time_step, alpha: 1.0, bounce_threshold: 1.0, combine, glides: false };
            let (mut all, mut memory, mut axes) = (Rows::default(), Memory::default(), vec![]);
            assemble::contacts(&world, &rules, found, &sight, &mut all);
            memory.store(&all, &[3.0, 0.0, 0.0]);
            rows(&world, &rules, found, &sight, &memory, &mut all, &mut axes);
            let twists = &all.constraints()[1..];
            assert_eq!((twists.len(), axes.len()), (3, 3));
            // Central differences over ±h: truncation of order h², round-off of order ε/h.
            let h = 1e-5;
            let bodies = world.bodies_of(&found[0]);
            let [w_A, w_B] = bodies.map(|body| {
                let turn =
                    rotation(model, &state, body, h) * rotation(model, &state, body, -h).inverse();
                turn.scaled_axis() / (2.0 * h)
            });
            for (row, (twist, axis)) in twists.iter().zip(&axes).enumerate() {
                let terms = all.terms(twist);
                let rate: f64 =
                    terms.iter().map(|term| all.term_rate(&sight, term, &state.v)).sum();
                assert!((rate - axis.dot(&(w_B - w_A))).abs() <= 1e-9, "row {row}");
                let most = 3.0 * [0.1, 0.2, 0.2][row];
                assert_eq!(Some(twist.law), Bounded::new(-most, most).map(Law::Bounded));
            }
            // The first axis of rolling is that of the present motion.
            assert!(axes[2].dot(&(w_B - w_A)).abs() <= 1e-8);
        }
    }
}
