//! Friction of contacts against spinning about the normal and rolling about the tangents.
//!
//! Each is a row beside those of its contact: the relative angular velocity ω_B − ω_A along an axis
//! [rad/s], with an impulse [N·m·s] of at most the coefficient [m] times the normal impulse λ_n of
//! the contact, in the manner of dry friction. The bound takes λ_n from the last step: at first
//! touch it is zero, and while a load changes it is one step late. In return the rows are ordinary
//! bounded laws, which every solver handles, and contacts without such friction cost nothing.
//!
//! The first axis of rolling is that of the present rolling motion, so that friction against it
//! does not depend on the direction; at rest the bound on rolling is a square of two axes.

use nalgebra::Vector3;
use stiction_solve::law::{Bounded, Law};

use super::{ConstraintClass, ConstraintContext, ConstraintKey, RowBuilder};
use crate::warm_start::WarmStart;

/// Rolling slower than this has no direction [rad/s].
const STILL: f64 = 1e-6;

/// Adds the rows of contacts that resist spinning or rolling. The rows of the contacts are there.
pub(crate) fn add_rows(warm_start: &WarmStart, context: &ConstraintContext, rows: &mut RowBuilder) {
    for contact in 0..rows.contacts().len() {
        let row = rows.contacts()[contact];
        let record = rows.records()[row.constraint as usize];
        let normal_impulse = warm_start.normal_impulse(record.key);
        let pairing = row.pairing;
        if !pairing.has_torsion() || !(normal_impulse > 0.0) {
            continue;
        }
        let [a, b] = row.point.bodies;
        let w_AB = context.angular_velocity(b) - context.angular_velocity(a);
        let driven = context.driven.angular_velocity(b) - context.driven.angular_velocity(a);
        let axes = torsion_axes(&row.point.normal, &row.R_CW.row(1).transpose(), &w_AB);
        for (index, (axis_W, coefficient)) in
            axes.iter().zip([pairing.spin, pairing.roll, pairing.roll]).enumerate()
        {
            let most = coefficient * normal_impulse;
            let Some(law) = Bounded::new(-most, most).filter(|_| most > 0.0) else { continue };
            let class = ConstraintClass::Torsion;
            let key = ConstraintKey { class, row: index as u8, ..record.key };
            rows.open(key, Law::Bounded(law), 0.0, &[axis_W.dot(&driven)], &[0.0]);
            if record.lasting {
                rows.set_lasting();
            }
            rows.set_separate(context.moving_tree(a) != context.moving_tree(b));
            rows.add_angular_velocity(context, b, &[*axis_W], 1.0);
            rows.add_angular_velocity(context, a, &[*axis_W], -1.0);
            rows.close_torsion(contact, *axis_W);
        }
    }
}

/// The axes of spinning and of rolling: the normal, then two tangents.
fn torsion_axes(
    normal: &Vector3<f64>,
    tangent: &Vector3<f64>,
    angular_velocity: &Vector3<f64>,
) -> [Vector3<f64>; 3] {
    let rolling = angular_velocity - normal * normal.dot(angular_velocity);
    let speed = rolling.norm();
    let first = if speed > STILL { rolling / speed } else { *tangent };
    [*normal, first, normal.cross(&first)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contacts::RowContact;
    use crate::rows::{RowParameters, contact};
    use crate::surface::{Combine, Resistance, Surface};
    use crate::world::{Geom, World, WorldBuilder};
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
            let context = ConstraintContext {
                model,
                data: &data,
                by_tree: &vec![whole; model.trees().len()],
                asleep: &vec![false; model.trees().len()],
                driven: &Default::default(),
                yielding: &Default::default(),
            };
            let (combine, time_step) = (Combine::default(), 0.01);
            let parameters = RowParameters {
                time_step,
                whole_step: time_step,
                alpha: 1.0,
                bounce_threshold: 1.0,
                touch: 0.0,
                max_speed: 1.0,
                combine,
                tangential: Default::default(),
                contact: Default::default(),
                convex_friction: false,
            };
            let (mut rows, mut warm_start) = (RowBuilder::default(), WarmStart::default());
            contact::add_rows(
                &world,
                &parameters,
                &found.iter().map(RowContact::at_start).collect::<Vec<_>>(),
                &context,
                &mut rows,
            );
            let constraints = rows.rows().constraints();
            warm_start.store(rows.records(), constraints, &[3.0, 0.0, 0.0], None);
            add_rows(&warm_start, &context, &mut rows);
            let axes: Vec<_> = rows.torsion().iter().map(|row| row.axis_W).collect();
            let torsion = &rows.rows().constraints()[1..];
            assert_eq!((torsion.len(), axes.len()), (3, 3));
            // Central differences over ±h: truncation of order h², round-off of order ε/h.
            let h = 1e-5;
            let bodies = world.bodies_of(&found[0]);
            let [w_A, w_B] = bodies.map(|body| {
                let turn =
                    rotation(model, &state, body, h) * rotation(model, &state, body, -h).inverse();
                turn.scaled_axis() / (2.0 * h)
            });
            for (row, (constraint, axis)) in torsion.iter().zip(&axes).enumerate() {
                let terms = constraint.terms();
                let rate: f64 = terms.map(|term| rows.term_rate(&context, term, &state.v)).sum();
                assert!((rate - axis.dot(&(w_B - w_A))).abs() <= 1e-9, "row {row}");
                let most = 3.0 * [0.1, 0.2, 0.2][row];
                assert_eq!(Some(constraint.law), Bounded::new(-most, most).map(Law::Bounded));
            }
            // The first axis of rolling is that of the present motion.
            assert!(axes[2].dot(&(w_B - w_A)).abs() <= 1e-8);
        }
    }
}
