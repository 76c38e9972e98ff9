//! Snapshots, threads, refusals, and steps that are too large.

use super::*;

#[test]
fn a_snapshot_continues_bit_for_bit_also_as_bytes() {
    for scheme in [Scheme::Refined, Scheme::MidVelocity] {
        let world = std::sync::Arc::new(pressed([2; 3], 0.5).build().unwrap());
        let settings = Settings { time_step: 0.01, scheme, ..Settings::default() };
        let mut first = Simulation::new(world.clone(), settings.clone()).unwrap();
        for _ in 0..12 {
            let _ = first.step().unwrap();
        }
        let bytes = first.snapshot().to_bytes();
        let mut second = Simulation::new(world, settings).unwrap();
        second.restore(&stiction_sim::Snapshot::from_bytes(&bytes).unwrap()).unwrap();
        for _ in 0..12 {
            let _ = (first.step().unwrap(), second.step().unwrap());
            assert_eq!(state_hash(first.state()), state_hash(second.state()));
            assert_eq!(first.contacts(), second.contacts());
        }
        let (one, other) = (first.snapshot(), second.snapshot());
        assert_eq!(one, other);
    }
}

#[test]
fn a_block_crushed_by_a_fast_plate_stays_finite_and_is_flagged() {
    for material in ["linear-corotated", "corotational", "neo-hookean"] {
        let mut builder = on_ground(0.6);
        let mut object = cube_at(0.05, 0.6);
        object.spec.material = Material::from_name(material, &[1e5, 0.4]).unwrap();
        builder.soft(object);
        let shape = Shape::cuboid(Vector3::new(0.08, 0.08, 0.03)).unwrap();
        let pose = Isometry3::translation(0.0, 0.0, 0.14);
        free(&mut builder, shape, 200.0, pose, Surface::with_friction(0.6));
        let mut simulation = start(builder, 0.01);
        simulation.state_mut().v[2] = -10.0;
        let mut flagged = false;
        for _ in 0..100 {
            let report = simulation.step().unwrap();
            flagged |= report.unresolved || report.inverted > 0;
        }
        let state = simulation.state();
        assert!(flagged && state.x.iter().all(|x| x.norm() < 1e3), "{material}");
        assert!(state.q.iter().all(|q| q.abs() < 1e3), "{material}");
    }
}

#[test]
fn a_soft_body_launched_at_high_speed_stays_finite() {
    let mut builder = on_ground(0.5);
    builder.soft(cube_at(0.2, 0.5));
    let mut simulation = start(builder, 0.01);
    simulation.state_mut().x_dot.fill(Vector3::new(50.0, 0.0, -300.0));
    let mut flagged = false;
    for _ in 0..100 {
        flagged |= simulation.step().unwrap().unresolved;
    }
    assert!(flagged);
    assert!(simulation.state().x_dot.iter().all(|v| v.norm() < 1e4));
}

#[test]
fn a_step_that_cannot_be_leaves_the_state_untouched() {
    let mut builder = WorldBuilder::new();
    builder.soft(cube_at(0.2, 0.5));
    let mut simulation = start(builder, 0.01);
    // Products of such numbers with masses are finite, their squares and sums are not.
    simulation.state_mut().x_dot[3].y = 1e308;
    simulation.state_mut().x_dot[4].y = -1e308;
    let mut before = simulation.state().clone();
    let mut error = None;
    for _ in 0..20 {
        before.clone_from(simulation.state());
        match simulation.step() {
            Ok(report) => assert!(report.unresolved),
            Err(found) => {
                error = Some(found);
                break;
            }
        }
    }
    let error = error.unwrap();
    assert!(error.to_string().contains("block"), "{error}");
    assert_eq!(*simulation.state(), before);
    simulation.state_mut().x[7].x = f64::NAN;
    assert!(matches!(simulation.step(), Err(StepError::State { .. })));
}

#[test]
fn a_soft_body_keeps_awake_what_it_touches() {
    let mut builder = pressed([2; 3], 0.6);
    common::cube(&mut builder, 0.1, 1.0, 0.1, 0.6);
    let settings =
        Settings { time_step: 0.01, sleep: Some(Default::default()), ..Settings::default() };
    let mut simulation = Simulation::new(builder.build().unwrap(), settings).unwrap();
    let mut asleep = 0;
    for _ in 0..300 {
        asleep = simulation.step().unwrap().asleep;
    }
    // The cube far off sleeps, the plate does not.
    assert_eq!(asleep, 1);
}

#[test]
fn a_world_with_soft_bodies_can_be_put_into_another() {
    let inner: World = arm_with_block(0.0).build().unwrap();
    let mut outer = WorldBuilder::new();
    let pose = Isometry3::new(Vector3::new(1.0, 2.0, 3.0), Vector3::x() * 0.7);
    let placed = outer.add_world(&inner, "left-", pose, Default::default()).unwrap();
    let second = outer.add_world(&inner, "right-", Isometry3::identity(), Default::default());
    assert_eq!((placed.first_soft, second.unwrap().first_soft), (0, 1));
    let outer = outer.build().unwrap();
    assert_eq!(outer.soft("right-block"), Some(SoftId(1)));
    let (x, own) =
        (&outer.model().softs()[0].spec.vertices, &inner.model().softs()[0].spec.vertices);
    for (x, own) in x.iter().zip(own) {
        let expected = pose * nalgebra::Point3::from(*own);
        assert!((x - expected.coords).norm() <= 1e-15 * 10.0);
    }
    // Nothing moves: attachments were made where the vertices are.
    let mut simulation = Simulation::new(outer, Settings::default()).unwrap();
    let report = simulation.step().unwrap();
    assert!(report.equality_error <= 1e-4);
}

#[test]
fn wrong_soft_bodies_are_refused_with_what_was_found() {
    let build = |change: &dyn Fn(&mut SoftObject)| {
        let mut builder = WorldBuilder::new();
        let mut object = cube_at(0.0, 0.5);
        change(&mut object);
        builder.soft(object);
        builder.build().err().map(|error| error.to_string())
    };
    assert_eq!(build(&|_| {}), None);
    for change in [
        &(|o: &mut SoftObject| o.spec.density = 0.0) as &dyn Fn(&mut SoftObject),
        &|o| o.spec.material = Material::from_name("linear", &[1e5, 0.5]).unwrap(),
        &|o| o.spec.tetrahedra[0] = [0, 0, 1, 2],
        &|o| o.spec.vertices[3].x = f64::NAN,
        &|o| o.spec.fixed.push(999),
        &|o| o.surface.friction = -1.0,
    ] {
        let error = build(change).unwrap();
        assert!(error.contains("expected"), "{error}");
    }
    let mut builder = WorldBuilder::new();
    let soft = builder.soft(cube_at(0.0, 0.5));
    builder.attach(soft, &[999], BodyId::WORLD);
    assert!(builder.build().is_err());
    let mut builder = WorldBuilder::new();
    builder.attach(SoftId(3), &[0], BodyId::WORLD);
    assert!(builder.build().is_err());
    let mut builder = WorldBuilder::new();
    builder.geom(Geom::new(BodyId::WORLD, Shape::Plane));
    builder.exclude_soft(SoftId(0), BodyId::WORLD);
    assert!(builder.build().is_err());
}

#[test]
fn the_same_bits_come_of_every_number_of_threads() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            // Large enough that every parallel loop is one.
            let mut simulation = start(pressed([8; 3], 0.6), 0.01);
            for _ in 0..8 {
                let _ = simulation.step().unwrap();
            }
            state_hash(simulation.state())
        })
    };
    let one = run(1);
    assert_eq!([run(2), run(8)], [one; 2]);
}

#[test]
fn a_linear_body_that_vibrates_keeps_its_energy_in_the_mid_velocity_scheme() {
    let mut builder = WorldBuilder::new();
    let mut object = cube_at(0.0, 0.5);
    object.spec.material = Material::from_name("linear", &[1e5, 0.3]).unwrap();
    object.spec.stiffness_damping = 0.0;
    builder.soft(object);
    let mut simulation = simulation(builder, 0.01, Scheme::MidVelocity);
    for (x, v) in simulation.state().x.clone().iter().zip(&mut simulation.state_mut().x_dot) {
        *v = Vector3::new(x.x, -x.y, 5.0 * x.z * x.x);
    }
    // Its own energy, without that of the weight, whose zero is far away.
    let before = simulation.energy();
    for _ in 0..200 {
        let _ = simulation.step().unwrap();
    }
    // The implicit midpoint rule keeps quadratic invariants: round-off of 200 solves is left, beside
    // the energy of a fall of two seconds, m g² t²/2.
    let fall = 0.5 * (GRAVITY * 2.0_f64).powi(2);
    assert!(
        (simulation.energy() - before).abs() <= 1e-10 * fall,
        "{}",
        simulation.energy() - before
    );
}

#[test]
fn a_force_sensor_feels_what_hangs_on_its_body() {
    let mut builder = WorldBuilder::new();
    let mass = MassProperties::new(2.0, Vector3::zeros(), Matrix3::identity()).ok();
    let hook = builder.mechanism.body(BodySpec { mass, ..BodySpec::default() });
    let mut joint = JointSpec::new(JointKind::Slide { axis: Vector3::z() });
    joint.stiffness = 1e4;
    joint.damping = 300.0;
    builder.mechanism.joint(hook, joint);
    let spec = block(Vector3::repeat(0.1), [2; 3], Vector3::zeros());
    let top: Vec<u32> = (0..27).filter(|v| spec.vertices[*v as usize].z > 0.04).collect();
    let soft = builder.soft(SoftObject::new(spec));
    builder.attach(soft, &top, hook);
    let kind = stiction_sim::SensorKind::Force(stiction_sim::SensorFrame::of(hook));
    builder.sensor(stiction_sim::SensorSpec::new("load", kind));
    let mut simulation = start(builder, 0.01);
    for _ in 0..600 {
        let _ = simulation.step().unwrap();
    }
    // Two kilograms of hook and one of rubber; the sign is that of the force on the parent's child.
    let load = simulation.sensor_data()[2];
    assert!((load.abs() - 3.0 * GRAVITY).abs() <= 1e-6 * 3.0 * GRAVITY, "{load}");
}

#[test]
fn a_recording_holds_the_surfaces_of_soft_bodies() {
    let mut simulation = start(pressed([2; 3], 0.5), 0.01);
    let mut recorder = stiction_sim::record::Recorder::new(&simulation, 50.0).unwrap();
    for _ in 0..10 {
        let report = simulation.step().unwrap();
        recorder.observe(&simulation, &report);
    }
    let recording = recorder.finish();
    recording.check().unwrap();
    // A cube of three vertices along each edge has one that is not seen.
    assert_eq!((recording.softs.len(), recording.softs[0].vertices), (1, 26));
    let (vertices, _) = simulation.world().surface_mesh(SoftId(0));
    let last = &recording.frames.soft[(recording.len() - 1) * 26..];
    for (seen, vertex) in last.iter().zip(vertices) {
        let x = simulation.state().x[*vertex as usize];
        assert_eq!(*seen, [x.x as f32, x.y as f32, x.z as f32]);
    }
    let frames = &recording.frames;
    let energy =
        frames.statistics.kinetic.last().unwrap() + frames.statistics.potential.last().unwrap();
    assert!((energy - simulation.energy()).abs() <= 1e-12 * energy.abs());
    assert!(!frames.contacts.of(recording.len() - 1).is_empty());
}

#[test]
fn a_soft_block_carries_another_one() {
    let mut builder = on_ground(0.6);
    let mut lower =
        block(Vector3::new(0.14, 0.14, 0.08), [3, 3, 2], Vector3::new(0.0, 0.0, 0.0401));
    lower.name = "lower".to_owned();
    builder.soft(SoftObject::new(lower).surface(Surface::with_friction(0.6)));
    builder.soft(cube_at(0.1305, 0.6));
    let mut simulation = start(builder, 0.01);
    for _ in 0..400 {
        let _ = simulation.step().unwrap();
    }
    let upper = simulation.world().model().softs()[1].total_mass() * GRAVITY;
    let both = upper + simulation.world().model().softs()[0].total_mass() * GRAVITY;
    let of = |between: bool| -> Vector3<f64> {
        let contacts = simulation.contacts().iter();
        let chosen = contacts.filter(|c| c.soft.iter().all(Option::is_some) == between);
        // On the upper of the two sides.
        chosen
            .map(|c| if c.soft[1] == Some(SoftId(1)) || !between { c.force } else { -c.force })
            .sum()
    };
    assert!((of(true).z - upper).abs() <= 1e-6 * upper, "{} {upper}", of(true));
    assert!((of(false).z - both).abs() <= 1e-6 * both, "{} {both}", of(false));
}

#[test]
fn a_small_ball_rests_on_a_coarse_mat_between_its_vertices() {
    let mut builder = on_ground(0.5);
    let spec = block(Vector3::new(0.2, 0.2, 0.03), [2, 2, 1], Vector3::new(0.0, 0.0, 0.015));
    builder.soft(SoftObject::new(spec).surface(Surface::with_friction(0.5)));
    let pose = Isometry3::translation(0.04, 0.03, 0.05);
    let ball = Shape::sphere(0.008).unwrap();
    free(&mut builder, ball, 0.05, pose, Surface::with_friction(0.5));
    let mut simulation = start(builder, 0.005);
    for _ in 0..400 {
        let _ = simulation.step().unwrap();
    }
    let height = simulation.state().q[2];
    assert!((0.03..0.04).contains(&height), "{height}");
    let on_ball: f64 = simulation
        .contacts()
        .iter()
        .filter(|c| c.bodies.contains(&1))
        .map(|c| if c.bodies[1] == 1 { c.force.z } else { -c.force.z })
        .sum();
    assert!((on_ball - 0.05 * GRAVITY).abs() <= 0.02 * 0.05 * GRAVITY, "{on_ball}");
}

#[test]
fn a_block_crushed_flat_by_a_plate_that_nothing_stops_stays_finite_and_is_flagged() {
    let mut builder = on_ground(0.6);
    builder.soft(cube_at(0.05, 0.6));
    let pose = Isometry3::translation(0.0, 0.0, 0.34);
    let plate = builder.mechanism.body(BodySpec { pose, driven: true, ..BodySpec::default() });
    let shape = Shape::cuboid(Vector3::new(0.08, 0.08, 0.03)).unwrap();
    builder.geom(Geom::new(plate, shape).surface(Surface::with_friction(0.6)));
    let mut simulation = start(builder, 0.01);
    let mut flagged = false;
    for step in 0..60 {
        // Ten metres per second from the first step on, down to a fifth of a millimetre.
        let height = (0.34 - 0.1 * f64::from(step + 1)).max(0.0302);
        simulation.input_mut().driven_pose[0] = Isometry3::translation(0.0, 0.0, height);
        let report = simulation.step().unwrap();
        flagged |= report.unresolved || report.inverted > 0;
    }
    assert!(flagged && simulation.state().x.iter().all(|x| x.norm() < 1e2));
}

#[test]
fn a_block_whose_vertices_cannot_leave_their_planes_is_in_plane_strain() {
    // Small enough for the plate's own motion to be linear; uniform stress σ = F/A in a linear
    // material, which linear elements represent exactly: ε = σ/E, σ (1 − ν²)/E with one side held, and
    // σ (1 + ν)(1 − 2ν)/((1 − ν) E) with both.
    let (force, young, poisson) = (1.0, 1e5, 0.4_f64);
    let uniaxial = force / 0.01 / young * 0.1;
    let confined = (1.0 + poisson) * (1.0 - 2.0 * poisson) / (1.0 - poisson);
    let plane = ([false, true, false], 1.0 - poisson * poisson);
    for (solver, (held, factor)) in [
        ("auto", ([false, false, false], 1.0)),
        ("auto", plane),
        ("auto", ([true, true, false], confined)),
        ("sap", plane),
        ("canal", plane),
        ("cond", plane),
    ] {
        let simulation = pressed_smoothly(solver, held, force);
        let sunk = -simulation.state().q[0];
        let expected = factor * uniaxial;
        // The force is solved for to the tolerance, 1e-6, a few times over; nothing penetrates, although no
        // weight holds the plate on the block.
        assert!((sunk - expected).abs() <= 1e-5 * expected, "{held:?}: {sunk} {expected}");
        let fastest = simulation.state().x_dot.iter().map(|v| v.norm()).fold(0.0, f64::max);
        // What the tolerance leaves of the momentum h F of a step in the block of 1 kg, in every step: nothing
        // stops a smooth block that slides.
        let drift = 200.0 * 1e-6 * 0.02 * force;
        assert!(fastest <= drift, "{solver} {held:?}: {fastest}");
        for (x, x0) in simulation.state().x.iter().zip(&simulation.world().softs()[0].spec.vertices)
        {
            for axis in (0..3).filter(|axis| held[*axis]) {
                assert_eq!(x[axis], x0[axis]);
            }
        }
    }
}
