//! Cables on other bodies, in snapshots and in other worlds.

use super::*;

#[test]
fn a_cable_over_a_cylinder_holds_up_to_eulers_ratio_of_tensions() {
    // Half a turn holds a ratio of exp(μ π) [Euler 1762, Eytelwein 1808]. Contact begins and ends
    // within a segment of the tangent points: angles of l/R, ratios of exp(μ l/R), of 3 % at either
    // end; the cable's own stiffness shortens the arc by EI/(T R²), of less than 1 %.
    let friction = 0.4;
    let critical = (friction * PI).exp();
    let held = slide_over_cylinder(friction, 0.94 * critical);
    let lost = slide_over_cylinder(friction, 1.06 * critical);
    // What sticks stays where it is, but for a correction of positions, which may move it by the tolerated
    // penetration. What slips gathers speed.
    let slop = Settings::default().stabilisation.slop;
    assert!(held <= slop, "{held}");
    assert!(lost > 1.0, "{lost}");
}

#[test]
fn a_cable_hangs_from_a_moving_body_as_from_the_world() {
    // Clamped to a free body of a thousand tonnes, or to a driven one, by soft rows, the end sees
    // what it sees on the world within the matrix.
    let hanging = |body: Option<BodySpec>, scheme: Scheme| {
        let mut builder = WorldBuilder::new();
        builder.mechanism.gravity(Vector3::new(0.0, 0.0, -GRAVITY));
        let held = body.map_or(BodyId::WORLD, |spec| {
            let driven = spec.driven;
            let body = builder.mechanism.body(spec);
            if !driven {
                builder.mechanism.joint(body, JointSpec::new(JointKind::Free));
            }
            body
        });
        let across = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), 0.5 * PI);
        let pose = Isometry3::from_parts(Translation3::new(0.0, 0.0, 1.0), across);
        builder.cable(CableSpec {
            course: CableCourse::Straight { pose, length: 0.3 },
            segments: 12,
            ends: [CableEnd::Held(held), CableEnd::Free],
            ..CableSpec::default()
        });
        let mut simulation = start(builder, 2e-3, scheme);
        for _ in 0..150 {
            let _ = simulation.step().unwrap();
        }
        tip(&mut simulation).translation.vector
    };
    let pose = Isometry3::from_parts(
        Translation3::new(0.1, 0.2, 1.1),
        UnitQuaternion::from_scaled_axis(Vector3::new(0.3, -0.5, 0.2)),
    );
    let mass = MassProperties::new(1e6, Vector3::zeros(), nalgebra::Matrix3::identity() * 1e6);
    let heavy = BodySpec {
        pose,
        mass: Some(mass.unwrap()),
        gravity_compensation: 1.0,
        ..BodySpec::default()
    };
    let driven = BodySpec { pose, driven: true, ..BodySpec::default() };
    for scheme in [Scheme::Symplectic, Scheme::MidVelocity, Scheme::Midpoint, Scheme::Implicit] {
        let world = hanging(None, scheme);
        assert!((world - Vector3::new(0.3, 0.0, 1.0)).norm() > 0.1, "it falls");
        for body in [&heavy, &driven] {
            let found = hanging(Some(body.clone()), scheme);
            // The free body gives way by a millionth; solvers stop at 1e-6 of the reference velocity.
            // Iterated schemes evaluate what is within the matrix at the middle of the step, and rows
            // where it begins: of second order in it.
            let bound = if scheme.is_iterated() { 2e-2 } else { 1e-4 };
            assert!((found - world).norm() <= bound, "{scheme:?}: {found} {world}");
        }
    }
}

#[test]
fn a_driven_body_takes_the_end_of_a_cable_along() {
    let mut builder = WorldBuilder::new();
    let hand = builder.mechanism.body(BodySpec { driven: true, ..BodySpec::default() });
    builder.cable(CableSpec {
        segments: 20,
        ends: [CableEnd::Held(hand), CableEnd::Free],
        ..CableSpec::default()
    });
    let mut simulation = start(builder, 5e-3, Scheme::Refined);
    for k in 1..=400 {
        simulation.input_mut().driven_pose[0] =
            Isometry3::translation(5e-3 * f64::from(k.min(200)), 0.0, 0.0);
        let _ = simulation.step().unwrap();
    }
    let cable = &simulation.world().cables()[0];
    let (first, half) = (cable.bodies[0].0, 0.5 * cable.segment_length);
    let end = simulation.body_pose(first) * Point3::new(0.0, 0.0, -half);
    // The weight of the cable stretches half a segment by W l/(2 EA).
    assert!((end.coords - Vector3::new(1.0, 0.0, 0.0)).norm() < 1e-3, "{end}");
}

#[test]
fn a_cable_falls_asleep_and_wakes_as_a_whole() {
    let mut builder = common::on_ground(0.5);
    let lying = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), 0.5 * PI);
    let pose = Isometry3::from_parts(Translation3::new(0.0, 0.0, RADIUS), lying);
    builder.cable(CableSpec {
        course: CableCourse::Straight { pose, length: 0.3 },
        segments: 10,
        ..CableSpec::default()
    });
    let settings = Settings { sleep: Some(Sleep::default()), ..Settings::default() };
    let mut simulation = Simulation::new(builder.build().unwrap(), settings).unwrap();
    let mut seen = Vec::new();
    for _ in 0..600 {
        seen.push(simulation.step().unwrap().asleep);
    }
    assert!(seen.iter().all(|asleep| *asleep == 0 || *asleep == 10), "{seen:?}");
    assert_eq!(seen[599], 10);
    simulation.input_mut();
    assert_eq!(simulation.step().unwrap().asleep, 0);
}

#[test]
fn a_cable_touches_itself_but_not_its_neighbours() {
    // A coil of two turns, one on the other, at rest in that shape: the upper lies on the lower.
    let mut builder = common::on_ground(0.5);
    let points: Vec<Vector3<f64>> = (0..=80)
        .map(|k| 4.0 * PI * f64::from(k) / 80.0)
        .map(|t| {
            let lift = 2.0 * RADIUS * (t / (2.0 * PI) - 0.5).clamp(0.0, 1.0);
            Vector3::new(0.1 * t.cos(), 0.1 * t.sin(), RADIUS + lift)
        })
        .collect();
    builder.cable(CableSpec {
        course: CableCourse::Path(points),
        segments: 80,
        rest: RodRest::AsBuilt,
        ..CableSpec::default()
    });
    let mut simulation = start(builder, 2e-3, Scheme::Refined);
    for _ in 0..100 {
        let _ = simulation.step().unwrap();
    }
    let own: Vec<[usize; 2]> = simulation
        .contacts()
        .iter()
        .filter(|contact| contact.bodies[0] != 0)
        .map(|contact| contact.bodies)
        .collect();
    assert!(!own.is_empty());
    assert!(own.iter().all(|[a, b]| a.abs_diff(*b) > 2), "{own:?}");
    let highest = (1..=80).map(|k| simulation.body_pose(k).translation.z).fold(0.0, f64::max);
    assert!(highest > 2.5 * RADIUS, "the upper turn stays up: {highest}");
}

#[test]
fn a_snapshot_of_a_cable_continues_with_the_same_bits() {
    let make = || {
        let mut builder = common::on_ground(0.4);
        let mass = MassProperties::new(0.2, Vector3::zeros(), nalgebra::Matrix3::identity() * 1e-3);
        let pose = Isometry3::translation(0.0, 0.0, 0.3);
        let body =
            builder.mechanism.body(BodySpec { pose, mass: mass.ok(), ..BodySpec::default() });
        builder.mechanism.joint(body, JointSpec::new(JointKind::Free));
        builder.cable(CableSpec {
            course: CableCourse::Path(vec![
                Vector3::new(0.0, 0.0, 0.3),
                Vector3::new(0.2, 0.0, 0.1),
                Vector3::new(0.4, 0.1, 0.05),
            ]),
            segments: 15,
            ends: [CableEnd::Held(body), CableEnd::Free],
            ..CableSpec::default()
        });
        start(builder, 4e-3, Scheme::Refined)
    };
    let mut one = make();
    for _ in 0..60 {
        let _ = one.step().unwrap();
    }
    let snapshot = Snapshot::from_bytes(&one.snapshot().to_bytes()).unwrap();
    let mut other = make();
    other.restore(&snapshot).unwrap();
    for _ in 0..40 {
        let _ = one.step().unwrap();
        let _ = other.step().unwrap();
    }
    assert_eq!(one.state(), other.state());
}

#[test]
fn a_cable_keeps_its_place_in_a_world_put_into_another() {
    let mut inner = weightless();
    inner.cable(cantilever(6));
    let inner = inner.build().unwrap();
    let mut alone = WorldBuilder::new();
    alone.mechanism.gravity(Vector3::zeros());
    alone.add_world(&inner, "", Isometry3::identity(), Base::Declared).unwrap();
    assert_eq!(alone.build().unwrap().model().q0(), inner.model().q0());
    // On a body, the segments stay on the world where they were and the end is held by the body.
    let mut outer = weightless();
    let body = outer
        .mechanism
        .body(BodySpec { pose: Isometry3::translation(1.0, 0.0, 0.0), ..BodySpec::default() });
    outer.add_world(&inner, "a/", Isometry3::translation(0.0, 2.0, 0.0), Base::On(body)).unwrap();
    let world: World = outer.build().unwrap();
    assert_eq!(world.cables()[0].spec.name, "a/cable");
    assert_eq!(world.model().body("a/cable/5"), Some(world.cables()[0].bodies[5]));
    let mut simulation = Simulation::new(world, Settings::default()).unwrap();
    let before = tip(&mut simulation).translation.vector;
    assert!((before - Vector3::new(1.0, 2.0, LENGTH)).norm() < 1e-12);
    for _ in 0..10 {
        let _ = simulation.step().unwrap();
    }
    assert!((tip(&mut simulation).translation.vector - before).norm() < 1e-9);
}

#[test]
fn wrong_cables_are_refused_and_told_why() {
    let message = |change: &dyn Fn(&mut CableSpec)| {
        let mut spec = cantilever(4);
        change(&mut spec);
        let mut builder = WorldBuilder::new();
        builder.cable(spec);
        let error = builder.build().unwrap_err();
        let text = error.to_string();
        assert!(text.contains("cable") && text.contains("expected"), "{text}");
        (error, text)
    };
    let number = |what: &str, change: &dyn Fn(&mut CableSpec, f64)| {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let (_, text) = message(&|spec| change(spec, bad));
            assert!(text.contains(what), "{text}");
        }
    };
    assert!(matches!(message(&|spec| spec.segments = 0).0, WorldError::Cable { .. }));
    number("radius", &|spec, bad| spec.radius = bad);
    number("density", &|spec, bad| spec.density = bad);
    number("Young", &|spec, bad| spec.young = bad);
    number("length", &|spec, bad| {
        spec.course = CableCourse::Straight { pose: Isometry3::identity(), length: bad };
    });
    for bad in [-1.0, 0.6, f64::NAN] {
        assert!(message(&|spec| spec.poisson = bad).1.contains("Poisson"));
    }
    let path = |points: &[[f64; 3]]| {
        let points: Vec<Vector3<f64>> = points.iter().map(|p| Vector3::from(*p)).collect();
        message(&|spec| spec.course = CableCourse::Path(points.clone())).1
    };
    assert!(path(&[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]).contains("coincide"));
    assert!(path(&[[0.0, 0.0, 0.0]]).contains("1 points"));
    assert!(path(&[[0.0, 0.0, 0.0], [f64::NAN, 0.0, 0.0]]).contains("NaN"));
    let (_, text) = message(&|spec| spec.ends[1] = CableEnd::Held(BodyId(99)));
    assert!(text.contains("99"), "{text}");
}
