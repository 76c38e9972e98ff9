//! Distances, rays, volumes, contacts and sums over subtrees.

use super::*;

#[test]
fn two_balls_read_their_distance_its_direction_and_its_ends() {
    let mut builder = WorldBuilder::new();
    let ball = |builder: &mut WorldBuilder, x: f64, r: f64| {
        let pose = Isometry3::translation(x, 0.0, 0.0);
        free(builder, Shape::sphere(r).unwrap(), 1.0, pose, Surface::default())
    };
    let (a, b) = (ball(&mut builder, 0.0, 0.1), ball(&mut builder, 1.0, 0.2));
    let between = [SensedShapes::Body(a), SensedShapes::Body(b)];
    for (name, reads) in [
        ("distance", SeparationReading::Distance),
        ("normal", SeparationReading::Normal),
        ("ends", SeparationReading::Segment),
    ] {
        let kind = SensorKind::Separation { between, reads };
        builder.sensor(SensorSpec { cutoff: 0.8, ..SensorSpec::new(name, kind) });
    }
    let mut simulation = start(builder, H);
    // A few roundings of coordinates of one metre.
    let eps = 1e-14;
    assert_reads(&mut simulation, "distance", &[0.7], eps);
    assert_reads(&mut simulation, "normal", &[1.0, 0.0, 0.0], eps);
    assert_reads(&mut simulation, "ends", &[0.1, 0.0, 0.0, 0.8, 0.0, 0.0], eps);
    // In penetration the segment runs backwards.
    simulation.state_mut().q[7] = 0.25;
    assert_reads(&mut simulation, "distance", &[-0.05], eps);
    assert_reads(&mut simulation, "normal", &[-1.0, 0.0, 0.0], eps);
    assert_reads(&mut simulation, "ends", &[0.1, 0.0, 0.0, 0.05, 0.0, 0.0], eps);
    // Beyond the cutoff there is none.
    simulation.state_mut().q[7] = 2.0;
    assert_reads(&mut simulation, "distance", &[0.8], 0.0);
    assert_reads(&mut simulation, "normal", &[0.0; 3], 0.0);
    assert_reads(&mut simulation, "ends", &[0.0; 6], 0.0);
}

#[test]
fn a_ray_passes_its_own_body_and_the_transparent_and_meets_scenery_and_shapes() {
    let mut builder = on_ground(0.5);
    let body = cube(&mut builder, 0.1, 0.0, 2.0, 0.5);
    let down = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI);
    let at = SensorFrame { body, pose: Isometry3::from_parts(Translation3::identity(), down) };
    let reads = RayReadings { distance: true, point: true, normal: true, ..NO_READINGS };
    add(&mut builder, "ray", SensorKind::Rangefinder { at, reads });
    let up = SensorFrame::of(body);
    let distance = RayReadings { distance: true, ..NO_READINGS };
    add(&mut builder, "up", SensorKind::Rangefinder { at: up, reads: distance });
    let glass = Shape::cuboid(Vector3::repeat(0.2)).unwrap();
    let pane = Geom::new(BodyId::WORLD, glass).at(Isometry3::translation(0.0, 0.0, 1.0));
    builder.geom(Geom { colour: [1.0, 1.0, 1.0, 0.0], ..pane });
    let mut below = start(builder.clone(), H);
    let eps = 1e-14;
    assert_reads(&mut below, "ray", &[2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], eps);
    assert_reads(&mut below, "up", &[-1.0], 0.0);
    let shape = Shape::sphere(0.25).unwrap();
    let pose = Isometry3::translation(0.0, 0.0, 1.25);
    builder.scenery(Scenery { body: BodyId::WORLD, pose, shape });
    let mut simulation = start(builder, H);
    assert_reads(&mut simulation, "ray", &[0.5, 0.0, 0.0, 1.5, 0.0, 0.0, 1.0], eps);
}

#[test]
fn a_volume_contains_what_is_within_its_surface() {
    let mut builder = WorldBuilder::new();
    let body = builder.mechanism.body(part(1.0, Vector3::zeros(), BodyId::WORLD, Vector3::zeros()));
    builder.mechanism.joint(body, JointSpec::new(JointKind::Slide { axis: Vector3::z() }));
    let (of, at) = (SensorFrame::of(body), SensorFrame::of(BodyId::WORLD));
    let half = Vector3::new(0.1, 0.2, 0.3);
    // Each volume reaches as far along z as the number beside it says.
    let volumes = [
        ("sphere", TouchVolume::Sphere(0.3), 0.3),
        ("capsule", TouchVolume::Capsule { r: 0.1, half: 0.3 }, 0.4),
        ("ellipsoid", TouchVolume::Ellipsoid(half), 0.3),
        ("cylinder", TouchVolume::Cylinder { r: 0.1, half: 0.3 }, 0.3),
        ("box", TouchVolume::Box(half), 0.3),
    ];
    for (name, volume, _) in volumes {
        add(&mut builder, name, SensorKind::Inside { of, at, volume });
    }
    let mut simulation = start(builder, H);
    for (name, _, end) in volumes {
        for (z, inside) in [(0.999 * end, 1.0), (1.001 * end, 0.0), (-0.999 * end, 1.0)] {
            simulation.state_mut().q[0] = z;
            assert_reads(&mut simulation, name, &[inside], 0.0);
        }
    }
}

#[test]
fn a_dumbbell_has_the_momentum_of_its_masses() {
    // Two masses m at ±r on an arm that turns about their middle: L = 2 m r² ω + 2 I ω.
    let (m, r, w) = (1.5, 0.4, 3.0);
    let mut builder = WorldBuilder::new();
    let hub = builder.mechanism.body(part(m, Vector3::x() * r, BodyId::WORLD, Vector3::z()));
    builder.mechanism.joint(hub, hinge(Vector3::z()));
    let _ = builder.mechanism.body(part(m, Vector3::x() * -r, hub, Vector3::zeros()));
    add(&mut builder, "momentum", SensorKind::SubtreeAngularMomentum(hub));
    add(&mut builder, "velocity", SensorKind::SubtreeLinearVelocity(hub));
    add(&mut builder, "kinetic", SensorKind::KineticEnergy);
    add(&mut builder, "potential", SensorKind::PotentialEnergy);
    add(&mut builder, "clock", SensorKind::Clock);
    let mut simulation = start(builder, H);
    simulation.state_mut().v[0] = w;
    let inertia = 2.0 * (m * r * r + 0.01 * m);
    assert_reads(&mut simulation, "momentum", &[0.0, 0.0, inertia * w], 1e-14);
    assert_reads(&mut simulation, "velocity", &[0.0; 3], 1e-15);
    assert_reads(&mut simulation, "kinetic", &[0.5 * inertia * w * w], 1e-13);
    assert_reads(&mut simulation, "potential", &[2.0 * m * G], 1e-13);
    run(&mut simulation, 5);
    assert_reads(&mut simulation, "clock", &[5.0 * H], 1e-15);
}

#[test]
fn contacts_of_a_resting_cube_carry_its_weight_in_every_reduction() {
    let mut builder = on_ground(0.5);
    let body = cube(&mut builder, 0.1, 0.0, 0.1, 0.5);
    let fields = ContactFields { found: true, force: true, normal: true, ..Default::default() };
    let sides = [ContactSide::Body(BodyId::WORLD), ContactSide::Body(body)];
    let query = ContactQuery { sides, fields, slots: 8, ..Default::default() };
    add(&mut builder, "all", SensorKind::Contact(query));
    let turned = ContactQuery { sides: [sides[1], sides[0]], ..query };
    add(&mut builder, "turned", SensorKind::Contact(turned));
    let largest = ContactQuery { reduction: ContactReduction::LargestForce, ..query };
    add(&mut builder, "largest", SensorKind::Contact(largest));
    let net = ContactQuery { reduction: ContactReduction::NetForce, slots: 1, ..query };
    add(&mut builder, "net", SensorKind::Contact(net));
    let nowhere = SensorFrame { body, pose: Isometry3::translation(5.0, 0.0, 0.0) };
    let away = ContactQuery { within: Some((nowhere, TouchVolume::Sphere(1.0))), ..query };
    add(&mut builder, "away", SensorKind::Contact(away));
    let mut simulation = start(builder, H);
    run(&mut simulation, 5);
    let all = reading(&mut simulation, "all");
    let found = all[0] as usize;
    assert!((1..=8).contains(&found), "{all:?}");
    // The mass of the cube is 1 kg; normals point from the ground into it.
    let force = |slots: &[f64]| slots.chunks(7).map(|slot| slot[1]).sum::<f64>();
    assert!((force(&all) - G).abs() <= REST * G, "{all:?}");
    for (slot, contact) in all.chunks(7).enumerate() {
        let expected = if slot < found { [0.0, 0.0, 1.0] } else { [0.0; 3] };
        assert!(
            (Vector3::from_column_slice(&contact[4..]) - Vector3::from(expected)).norm() < 1e-9
        );
    }
    let turned = reading(&mut simulation, "turned");
    assert!((force(&turned) - G).abs() <= REST * G && turned[6] < 0.0, "{turned:?}");
    let sorted = reading(&mut simulation, "largest");
    let sizes: Vec<f64> = sorted.chunks(7).take(found).map(|slot| slot[1]).collect();
    assert!(sizes.is_sorted_by(|a, b| a >= b), "{sizes:?}");
    // The net force is in world axes, and its frame is that of the world.
    let net = reading(&mut simulation, "net");
    assert!((Vector3::new(net[1], net[2], net[3]) - Vector3::z() * G).norm() <= REST * G);
    assert_eq!((net[0] as usize, net[4]), (found, 1.0));
    assert_reads(&mut simulation, "away", &[0.0; 56], 0.0);
}
