//! What every solver must survive, at the level of the world: too many contacts, too few, too much
//! friction, none, corners, contacts inside a mechanism, heavy things on light ones.

use crate::common::*;
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use stiction_geom::Shape;
use stiction_mech::{BodyId, BodySpec, JointKind, JointSpec, State};
use stiction_sim::{Geom, Scheme, Settings, Simulation, Surface, World, WorldBuilder};
use stiction_solve::solver::SOLVERS;
use stiction_study::scenarios::parts;

/// A plate of half a kilogram that stands on `tiles` boxes, each `copies` times.
fn plate(tiles: usize, copies: usize, friction: f64) -> World {
    let surface = Surface::with_friction(friction);
    let mut builder = WorldBuilder::new();
    parts::ground(&mut builder, surface);
    let pose = Isometry3::translation(0.0, 0.0, 0.02);
    let body = parts::mass_of(&mut builder, "plate", &cuboid(0.2, 0.2, 0.02), 0.5, pose).unwrap();
    let half = 0.2 / tiles as f64;
    for i in 0..tiles * tiles {
        let place = |k: usize| half * (2.0 * k as f64 + 1.0) - 0.2;
        let at = Isometry3::translation(place(i % tiles), place(i / tiles), 0.0);
        for _ in 0..copies {
            let tile = Geom::new(body, cuboid(half, half, 0.02)).surface(surface);
            builder.geom(tile.at(at));
        }
    }
    builder.build().unwrap()
}

fn slide(world: World, speed: f64, settings: Settings) -> Simulation {
    let state = parts::moving(&world, BODY, speed * Vector3::x(), Vector3::zeros());
    simulate(world, settings, &state)
}

fn weight_carried(sim: &Simulation) -> f64 {
    sim.contacts().iter().map(|c| c.force.z).sum()
}

#[test]
fn contacts_beyond_the_rank_of_a_body_change_nothing() {
    let mut one = slide(plate(1, 1, 0.3), 1.0, tight(0.01, Scheme::Symplectic));
    let mut many = slide(plate(4, 1, 0.3), 1.0, tight(0.01, Scheme::Symplectic));
    let mut doubled = slide(plate(1, 3, 0.3), 1.0, tight(0.01, Scheme::Symplectic));
    for _ in 0..50 {
        run(&mut one, 1);
        run(&mut many, 1);
        run(&mut doubled, 1);
        for other in [&many, &doubled] {
            // Impulses are not unique, velocities are, up to the tolerance of each step.
            near("speed", (velocity(other).0 - velocity(&one).0).norm(), 0.0, 1e-9);
            near("weight", weight_carried(other), 0.5 * G, 1e-8);
        }
    }
    assert!(many.contacts().len() == 64 && doubled.contacts().len() == 12);
}

#[test]
fn no_friction_and_any_friction_are_friction() {
    let mut ice = slide(plate(1, 1, 0.0), 1.0, tight(0.01, Scheme::Symplectic));
    run(&mut ice, 50);
    near("speed on ice", velocity(&ice).0.x, 1.0, 1e-9);
    near("height on ice", position(&ice).z, 0.02, 1e-11);
    // Errors of slip count times μ: no solver can be held to round-off here.
    let settings = Settings { time_step: 0.01, ..Settings::default() };
    let mut glue = slide(plate(1, 1, 1e8), 1.0, settings);
    run(&mut glue, 1);
    // The flat plate has too small a lever to turn over: all that slides ends at once, or it tips up at
    // less energy than it had.
    let (v, w) = velocity(&glue);
    assert!(v.norm() <= 1.0 && w.norm() <= 1.0 / 0.02, "{v} {w}");
    run(&mut glue, 100);
    near("speed on glue", velocity(&glue).0.norm(), 0.0, 1e-6);
}

#[test]
fn open_contacts_and_no_contacts_leave_free_flight_alone() {
    let h = 0.01;
    let mut far = OnGround::cube(0.5);
    far.height = 1.0;
    let mut near_by = OnGround::cube(0.5);
    near_by.height = 1.0;
    near_by.margin = 2.0;
    for ground in [far, near_by] {
        let mut sim = ground.start(tight(h, Scheme::Symplectic), Vector3::new(1.0, 0.0, 3.0));
        run(&mut sim, 10);
        assert_eq!(sim.report().unwrap().contacts > 0, ground.margin > 0.0);
        near("fall", velocity(&sim).0.z, 3.0 - 10.0 * G * h, 1e-14);
        near("flight", velocity(&sim).0.x, 1.0, 1e-14);
        assert!(sim.contacts().iter().all(|c| c.force == Vector3::zeros()));
    }
    let mut builder = WorldBuilder::new();
    parts::mass_of(&mut builder, "alone", &cuboid(0.1, 0.1, 0.1), 1.0, Isometry3::identity())
        .unwrap();
    let world = builder.build().unwrap();
    let state = State::new(world.model());
    let mut sim = simulate(world, tight(h, Scheme::Symplectic), &state);
    run(&mut sim, 10);
    let report = sim.report().unwrap();
    assert_eq!((report.contacts, report.rows), (0, 0));
    near("fall without a ground", velocity(&sim).0.z, -10.0 * G * h, 1e-14);
}

#[test]
fn a_world_without_bodies_has_time() {
    let mut builder = WorldBuilder::new();
    parts::ground(&mut builder, Surface::default());
    let mut sim = Simulation::new(builder.build().unwrap(), Settings::default()).unwrap();
    run(&mut sim, 5);
    near("time", sim.state().time, 5.0 * Settings::default().time_step, 1e-15);
}

/// A ball pressed into a corner of three planes by gravity along −(1, 1, 1).
fn corner(friction: f64) -> World {
    let surface = Surface::with_friction(friction);
    let mut builder = WorldBuilder::new();
    builder.mechanism.gravity(Vector3::repeat(-G / 3.0_f64.sqrt()));
    for axis in [Vector3::x(), Vector3::y(), Vector3::z()] {
        let turn = UnitQuaternion::rotation_between(&Vector3::z(), &axis).unwrap();
        let plane = Geom::new(BodyId::WORLD, Shape::Plane).surface(surface);
        builder.geom(plane.at(Isometry3::from_parts(Vector3::zeros().into(), turn)));
    }
    let pose = Isometry3::translation(0.1, 0.1, 0.1);
    let ball = Shape::sphere(0.1).unwrap();
    parts::free_body(&mut builder, "ball", ball, 1.0, pose, surface).unwrap();
    builder.build().unwrap()
}

#[test]
fn a_ball_rests_in_a_corner_whatever_the_friction() {
    for mu in [0.0, 0.5, 0.7072, 1.0, 10.0] {
        let world = corner(mu);
        let state = State::new(world.model());
        let settings = Settings { time_step: 0.01, ..Settings::default() };
        let mut sim = simulate(world, settings, &state);
        run(&mut sim, 100);
        let (v, w) = velocity(&sim);
        assert!(v.norm() + 0.1 * w.norm() < 1e-5, "μ = {mu}: {v} {w}");
        // Resting since the start: as deep as it was.
        near("place", (position(&sim) - Vector3::repeat(0.1)).norm(), 0.0, 1e-5);
    }
}

#[test]
fn a_ball_deep_in_a_corner_is_moved_out_without_flying_off() {
    let world = corner(1.0);
    let mut state = State::new(world.model());
    state.q[..3].copy_from_slice(&[0.09, 0.09, 0.09]);
    let settings = Settings { time_step: 0.01, ..Settings::default() };
    let mut sim = simulate(world, settings, &state);
    let mut fastest = 0.0_f64;
    for _ in 0..200 {
        let report = sim.step().unwrap();
        assert!(!report.softened, "stabilisation must not make the problem unsolvable");
        fastest = fastest.max(velocity(&sim).0.norm());
    }
    assert!(fastest < 1e-3, "penetration became speed: {fastest} m/s");
    // The slop of the default stabilisation stays, and no more than a few per cent of it.
    let depth = 0.1 - position(&sim).min();
    assert!(depth < 2e-5, "still {depth} m deep");
}

/// A rod on a hinge, dropped on the ground: at its contact only one direction of three can move.
fn hinged_rod(friction: f64) -> World {
    let surface = Surface::with_friction(friction);
    let mut builder = WorldBuilder::new();
    parts::ground(&mut builder, surface);
    let mass = parts::isotropic(0.3, Vector3::new(0.2, 0.0, 0.0), 0.3 * 0.16 / 12.0).unwrap();
    let body = builder.mechanism.body(BodySpec {
        pose: Isometry3::translation(0.0, 0.0, 0.1),
        mass: Some(mass),
        ..BodySpec::default()
    });
    builder.mechanism.joint(body, JointSpec::new(JointKind::Hinge { axis: Vector3::y() }));
    let tip = Isometry3::translation(0.4, 0.0, 0.0);
    builder.geom(Geom::new(body, Shape::sphere(0.02).unwrap()).at(tip).surface(surface));
    builder.build().unwrap()
}

#[test]
fn a_contact_of_a_hinged_rod_needs_no_full_rank() {
    for mu in [0.0, 0.5, 2.0] {
        let world = hinged_rod(mu);
        let state = State::new(world.model());
        let settings = Settings { time_step: 0.005, ..Settings::default() };
        let mut sim = simulate(world, settings, &state);
        run(&mut sim, 200);
        near("turning", sim.state().v[0], 0.0, 1e-6);
        // The tip rests on the ground: 0.1 − 0.4 sin q = 0.02.
        near("angle", sim.state().q[0], (0.08_f64 / 0.4).asin(), 1e-4);
        // About the hinge, weight on its arm against the force of the ground on its own: friction
        // takes part, jammed in the first quadrant it may take any share.
        let contact = sim.contacts()[0];
        let arm = contact.point - Vector3::new(0.0, 0.0, 0.1);
        let torque = arm.cross(&contact.force).y + 0.2 * sim.state().q[0].cos() * 0.3 * G;
        near("torque about the hinge", torque, 0.0, 1e-5);
    }
}

#[test]
fn links_of_one_mechanism_can_touch_one_another() {
    // A three-link chain that folds: the last link falls on the first.
    let surface = Surface::with_friction(0.5);
    let mut builder = WorldBuilder::new();
    let mut parent = BodyId::WORLD;

    for k in 0..3 {
        let offset = if k == 0 { Vector3::new(0.0, 0.0, 1.0) } else { Vector3::new(0.2, 0.0, 0.0) };
        let mass = parts::isotropic(0.2, Vector3::new(0.1, 0.0, 0.0), 1e-3).unwrap();
        let body = builder.mechanism.body(BodySpec {
            parent,
            pose: Isometry3::from_parts(offset.into(), UnitQuaternion::identity()),
            mass: Some(mass),
            ..BodySpec::default()
        });
        let axis = Vector3::y();
        builder
            .mechanism
            .joint(body, JointSpec { damping: 1e-3, ..JointSpec::new(JointKind::Hinge { axis }) });
        let along =
            UnitQuaternion::from_axis_angle(&Vector3::y_axis(), std::f64::consts::FRAC_PI_2);
        let at = Isometry3::from_parts(Vector3::new(0.1, 0.0, 0.0).into(), along);
        let capsule = Shape::capsule(0.02, 0.07).unwrap();
        builder.geom(Geom::new(body, capsule).at(at).surface(surface));
        parent = body;
    }
    let world = builder.build().unwrap();
    let mut state = State::new(world.model());
    // Folded upwards and back, so that the last falls towards the first.
    state.q.copy_from_slice(&[0.0, -2.0, -1.2]);
    let settings = Settings { time_step: 0.002, ..Settings::default() };
    let mut sim = simulate(world, settings, &state);
    let before = sim.energy();
    let (mut touched, mut deepest) = (false, 0.0_f64);
    for _ in 0..1000 {
        let report = sim.step().unwrap();
        touched |= sim.contacts().iter().any(|c| c.force.norm() > 0.0);
        deepest = deepest.max(report.penetration);
        let worst = report.residuals.of(report.friction_model);
        assert!(report.converged(), "{:?}, off by {worst} m/s", report.solver_status);
    }
    assert!(touched, "the links never met");
    assert!(deepest < 1e-3, "{deepest} m deep");
    assert!(sim.energy() <= before, "gained energy");
}

#[test]
fn a_thousand_kilograms_stand_on_one() {
    let surface = Surface::with_friction(0.5);
    let mut builder = WorldBuilder::new();
    parts::ground(&mut builder, surface);
    for (k, mass) in [1.0, 1000.0].into_iter().enumerate() {
        let pose = Isometry3::translation(0.0, 0.0, 0.1 + 0.2 * k as f64);
        let shape = cuboid(0.1, 0.1, 0.1);
        parts::free_body(&mut builder, format!("box {k}"), shape, mass, pose, surface).unwrap();
    }
    let world = builder.build().unwrap();
    let state = State::new(world.model());
    let settings = Settings { time_step: 0.01, ..Settings::default() };
    let mut sim = simulate(world, settings, &state);
    run(&mut sim, 200);
    assert!(sim.state().v.iter().all(|v| v.abs() < 1e-6));
    near("height of the upper", sim.state().q[9], 0.3, 2e-5);
}

#[test]
fn every_solver_survives_every_one_of_these_worlds() {
    for entry in SOLVERS {
        let worlds = [
            ("many contacts", plate(2, 1, 0.3), 1.0),
            ("doubled contacts", plate(1, 2, 0.3), 1.0),
            ("no friction", plate(1, 1, 0.0), 1.0),
            ("any friction", plate(1, 1, 1e8), 0.0),
            ("corner", corner(1.0), 0.0),
            ("hinge", hinged_rod(0.5), 0.0),
        ];
        for (what, world, speed) in worlds {
            let settings = Settings {
                solver: entry.name.to_owned(),
                time_step: 0.01,
                max_iterations: Some(300),
                ..Settings::default()
            };
            let mut state = State::new(world.model());
            state.v[0] = speed;
            let mut sim = simulate(world, settings, &state);
            let before = sim.energy();
            for _ in 0..10 {
                let _ = sim.step().unwrap();
            }
            let finite = sim.state().v.iter().chain(&sim.state().q).all(|x| x.is_finite());
            assert!(finite, "{} on {what}", entry.name);
            // The reference of energies is far below: what the tolerance lets through is small.
            let gained = sim.energy() - before;
            assert!(gained <= 1e-2, "{} on {what} gained {gained} J", entry.name);
        }
    }
}
