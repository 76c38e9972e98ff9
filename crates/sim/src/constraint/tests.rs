//! Tests of all equalities: rows are the rates of errors, on a mechanism with every kind.

use super::*;
use crate::world::WorldBuilder;
use nalgebra::{DVector, UnitQuaternion};
use stiction_math::random::SplitMix64;
use stiction_mech::{
    BodySpec, JointKind, JointSpec, MassProperties, State, TendonPath, TendonSite, TendonSpec,
    Waypoint, integrate, kinematics, velocities,
};
use stiction_solve::law::{Bilateral, Law};

fn mass() -> Option<MassProperties> {
    MassProperties::new(1.0, Vector3::new(0.01, 0.02, 0.0), nalgebra::Matrix3::identity() * 0.01)
        .ok()
}

/// A free body beside an arm of two hinges, with an equality of every kind between them.
fn world() -> crate::World {
    let mut builder = WorldBuilder::new();
    let mechanism = &mut builder.mechanism;
    let mut body = |parent, x: f64| {
        let pose = Isometry3::translation(x, 0.1, 0.2);
        mechanism.body(BodySpec { parent, pose, mass: mass(), ..BodySpec::default() })
    };
    let free = body(BodyId::WORLD, 0.0);
    let upper = body(BodyId::WORLD, 1.0);
    let lower = body(upper, 0.5);
    mechanism.joint(free, JointSpec::new(JointKind::Free));
    let shoulder = mechanism.joint(upper, JointSpec::new(JointKind::Hinge { axis: Vector3::y() }));
    let elbow = mechanism.joint(lower, JointSpec::new(JointKind::Hinge { axis: Vector3::x() }));
    let site = |body, x| Waypoint::Site(TendonSite { body, point: Vector3::new(x, 0.1, -0.1) });
    let string = mechanism.tendon(TendonSpec::new(
        "string",
        TendonPath::Spatial(vec![site(free, 0.1), site(lower, 0.0)]),
    ));
    let sum = mechanism
        .tendon(TendonSpec::new("sum", TendonPath::Fixed(vec![(shoulder, 0.3), (elbow, -0.2)])));
    let (point_a, point_b) = (Vector3::new(0.1, 0.2, 0.3), Vector3::new(-0.1, 0.0, 0.2));
    let polynomial = Polynomial([0.1, 0.5, -0.3, 0.2, 0.05]);
    let turn = UnitQuaternion::from_euler_angles(0.3, -0.2, 0.5);
    let pose = Isometry3::from_parts(Vector3::new(0.2, 0.1, 0.0).into(), turn);
    for (name, equality) in [
        ("connect", Equality::Connect(Connect { body_a: free, point_a, body_b: lower, point_b })),
        (
            "distance",
            Equality::Distance(Distance {
                body_a: free,
                point_a,
                body_b: lower,
                point_b,
                distance: 0.7,
            }),
        ),
        (
            "joint",
            Equality::Joint(JointCoupling { joint: elbow, leader: Some(shoulder), polynomial }),
        ),
        (
            "tendon",
            Equality::Tendon(TendonCoupling { tendon: string, leader: Some(sum), polynomial }),
        ),
        ("weld", Equality::Weld(Weld { body_a: free, body_b: lower, pose })),
    ] {
        builder.equality(name, equality);
    }
    builder.build().unwrap()
}

fn errors(world: &crate::World, q: &[f64]) -> DVector<f64> {
    let mut data = Data::new(&world.model);
    kinematics(&world.model, q, &mut data);
    let configuration = Configuration { model: &world.model, q, data: &data };
    let mut all = Vec::new();
    for equality in &world.equalities {
        let mut out = [0.0; MAX_ROWS];
        equality.error(&configuration, &mut out);
        all.extend_from_slice(&out[..equality.dim()]);
    }
    DVector::from_vec(all)
}

#[test]
fn rows_are_the_rates_of_errors_link_by_link_and_by_tree() {
    let world = world();
    let model = &world.model;
    let mut rng = SplitMix64::new(5);
    for _ in 0..20 {
        let mut state = State::new(model);
        let jump: Vec<f64> = (0..model.nv()).map(|_| rng.uniform(-1.0, 1.0)).collect();
        integrate(model, &State::new(model).q, &jump, 0.7, &mut state.q);
        state.v = (0..model.nv()).map(|_| rng.uniform(-1.0, 1.0)).collect();
        let mut data = Data::new(model);
        kinematics(model, &state.q, &mut data);
        velocities(model, &state.v, &mut data);
        // Central differences: the third derivative of the error is of order ten here, so that the
        // truncation is near 10 h²/6 and the round-off near ε/h.
        let h = 1e-5;
        let at = |t: f64| {
            let mut q = state.q.clone();
            integrate(model, &state.q, &state.v, t, &mut q);
            errors(&world, &q)
        };
        let expected = (at(h) - at(-h)) / (2.0 * h);
        for whole in [true, false] {
            let context = ConstraintContext {
                model,
                data: &data,
                by_tree: &vec![whole; model.trees().len()],
                asleep: &vec![false; model.trees().len()],
                driven: &Default::default(),
                yielding: &Default::default(),
            };
            let configuration = Configuration { model, q: &state.q, data: &data };
            let mut rows = RowBuilder::default();
            let mut first = 0;
            // One at a time: twelve rows on eight degrees of freedom depend on one another.
            for only in 0..world.equalities.len() {
                let mut active = vec![false; world.equalities.len()];
                active[only] = true;
                rows.clear();
                let add_rows = crate::rows::equality::add_rows;
                add_rows(&world, &active, &configuration, &context, None, &mut rows);
                assert_eq!(rows.records().len(), world.equalities[only].dim());
                for (index, constraint) in rows.rows().constraints().iter().enumerate() {
                    let terms = constraint.terms();
                    let rate = |term| rows.term_rate(&context, term, &state.v);
                    let (found, expected) = (terms.map(rate).sum::<f64>(), expected[first + index]);
                    assert!((found - expected).abs() <= 1e-8, "{only}, {index}: {found}");
                    assert_eq!(constraint.law, Law::Bilateral(Bilateral));
                }
                first += rows.records().len();
            }
        }
    }
}

#[test]
fn the_list_is_sorted_and_described() {
    assert!(CONSTRAINTS.is_sorted_by(|a, b| a.name < b.name));
    assert!(CONSTRAINTS.iter().all(|entry| !entry.about.is_empty()));
}

#[test]
fn invalid_equalities_are_refused() {
    let attempt = |equality: Equality| {
        let mut builder = WorldBuilder::new();
        let spec = BodySpec { mass: mass(), ..BodySpec::default() };
        let body = builder.mechanism.body(spec);
        builder.mechanism.joint(body, JointSpec::new(JointKind::Free));
        builder.equality("odd", equality);
        builder.build().map(|_| ()).map_err(|error| error.to_string())
    };
    let (a, b, p) = (BodyId::WORLD, BodyId(1), Vector3::zeros());
    let connect =
        |body_b, point_b| Equality::Connect(Connect { body_a: a, point_a: p, body_b, point_b });
    assert!(attempt(connect(b, p)).is_ok());
    for wrong in [
        connect(a, p),
        connect(BodyId(7), p),
        connect(b, Vector3::new(f64::NAN, 0.0, 0.0)),
        Equality::Distance(Distance {
            body_a: a,
            point_a: p,
            body_b: b,
            point_b: p,
            distance: 0.0,
        }),
        Equality::Joint(JointCoupling {
            joint: stiction_mech::JointId(0),
            leader: None,
            polynomial: Polynomial::default(),
        }),
    ] {
        let message = attempt(wrong).unwrap_err();
        assert!(message.contains("odd"), "{message}");
    }
}
