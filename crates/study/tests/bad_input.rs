//! Input that cannot be, or can hardly be: a clear error or a flagged step, a state that is as it
//! was or finite, and never a panic.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use nalgebra::{Isometry3, Matrix3, Vector3};
use stiction_geom::Shape;
use stiction_mech::{
    ActuatorSpec, BodyId, BodySpec, JointKind, JointSpec, MassProperties, State, Transmission,
};
use stiction_scene::SceneError;
use stiction_sim::constraint::{Equality, Weld};
use stiction_sim::{Settings, Simulation, Surface, World, WorldBuilder, state_hash};
use stiction_study::{StudyError, scenario, scenarios::parts};

fn solid(mass: f64, moment: f64) -> Option<MassProperties> {
    Some(MassProperties::new(mass, Vector3::zeros(), Matrix3::identity() * moment).unwrap())
}

fn free_ball(builder: &mut WorldBuilder, name: &str, at: Vector3<f64>) -> BodyId {
    let pose = Isometry3::translation(at.x, at.y, at.z);
    let shape = Shape::sphere(0.1).unwrap();
    parts::free_body(builder, name, shape, 1.0, pose, Surface::default()).unwrap()
}

/// A free ball and a hinge with a motor.
fn world() -> World {
    let mut builder = WorldBuilder::new();
    free_ball(&mut builder, "ball", Vector3::zeros());
    let arm = builder.mechanism.body(BodySpec {
        name: "arm".into(),
        pose: Isometry3::translation(1.0, 0.0, 0.0),
        mass: solid(1.0, 0.01),
        ..BodySpec::default()
    });
    let hinge = JointSpec::new(JointKind::Hinge { axis: Vector3::y() });
    let joint = builder.mechanism.joint(arm, JointSpec { name: "shoulder".into(), ..hinge });
    builder.mechanism.actuator(ActuatorSpec::motor("motor", Transmission::Joint(joint)));
    builder.build().unwrap()
}

fn simulation(world: World) -> Simulation {
    Simulation::new(world, Settings::default()).unwrap()
}

fn is_finite(state: &State) -> bool {
    state.q.iter().chain(&state.v).all(|x| x.is_finite())
}

/// A step that must fail, and leave the state bit for bit. Returns what it said.
fn refused(simulation: &mut Simulation) -> String {
    let bits = |state: &State| -> Vec<u64> {
        let numbers = state.q.iter().chain(&state.v).chain([&state.time]);
        numbers.map(|x| x.to_bits()).collect()
    };
    let before = bits(simulation.state());
    let message = simulation.step().unwrap_err().to_string();
    assert_eq!(before, bits(simulation.state()), "{message}");
    message
}

#[test]
fn masses_that_no_body_has_are_refused_with_the_number_found() {
    for mass in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let made = MassProperties::new(mass, Vector3::zeros(), Matrix3::identity());
        let message = made.unwrap_err().to_string();
        assert!(message.contains(&mass.to_string()), "{message}");
        let mut builder = WorldBuilder::new();
        let shape = Shape::sphere(0.1).unwrap();
        let pose = Isometry3::identity();
        let made = parts::free_body(&mut builder, "ball", shape, mass, pose, Surface::default());
        assert!(matches!(made, Err(StudyError::Scene(SceneError::Inertia(_)))), "{made:?}");
    }
}

#[test]
fn inertias_that_no_matter_has_are_refused() {
    let of = |a: f64, b: f64, c: f64| {
        MassProperties::new(1.0, Vector3::zeros(), Matrix3::from_diagonal(&Vector3::new(a, b, c)))
    };
    for (a, b, c) in [(1.0, 1.0, 3.0), (0.0, 1.0, 1.0), (-1.0, 1.0, 1.0), (1.0, f64::NAN, 1.0)] {
        assert!(of(a, b, c).is_err(), "({a}, {b}, {c})");
    }
}

#[test]
fn a_body_that_moves_without_mass_is_refused() {
    let mut builder = WorldBuilder::new();
    let spec = BodySpec { name: "ghost".into(), ..BodySpec::default() };
    let body = builder.mechanism.body(spec);
    builder.mechanism.joint(body, JointSpec::new(JointKind::Free));
    let message = builder.build().unwrap_err().to_string();
    assert!(message.contains("ghost"), "{message}");
}

#[test]
fn states_that_are_none_are_refused_and_leave_the_old_one() {
    let mut simulation = simulation(world());
    let good = simulation.state().clone();
    let bad = |change: fn(&mut State)| {
        let mut state = good.clone();
        change(&mut state);
        state
    };
    for state in [
        bad(|s| s.q[1] = f64::NAN),
        bad(|s| s.v[6] = f64::INFINITY),
        bad(|s| s.time = f64::NAN),
        bad(|s| s.q.truncate(3)),
        bad(|s| s.v.push(0.0)),
        bad(|s| s.q[3..7].fill(f64::NAN)),
    ] {
        assert!(simulation.set_state(&state).is_err(), "{state:?}");
        assert_eq!(simulation.state(), &good);
        // The same by hand is found by the next step, which does not happen.
        simulation.state_mut().clone_from(&state);
        let _ = refused(&mut simulation);
        simulation.set_state(&good).unwrap();
        assert!(simulation.step().unwrap().converged());
        simulation.set_state(&good).unwrap();
    }
}

#[test]
fn inputs_that_are_no_numbers_or_too_few_are_refused_and_can_be_mended() {
    let mut simulation = simulation(world());
    simulation.input_mut().control[0] = f64::NAN;
    let message = refused(&mut simulation);
    assert!(message.contains("NaN") && message.contains("control"), "{message}");
    simulation.input_mut().control[0] = 0.0;
    simulation.input_mut().wrench[1][4] = f64::INFINITY;
    assert!(refused(&mut simulation).contains("wrench"));
    simulation.input_mut().wrench[1][4] = 0.0;
    simulation.input_mut().control.clear();
    assert!(refused(&mut simulation).contains("control"));
    simulation.input_mut().control.push(1.0);
    assert!(simulation.step().unwrap().converged());
}

#[test]
fn forces_beyond_numbers_are_refused_with_the_joint_named() {
    let mut simulation = simulation(world());
    simulation.input_mut().control[0] = f64::MAX;
    // The first steps may still end below the largest number there is.
    let message = (0..20).find_map(|_| simulation.step().err()).unwrap().to_string();
    assert!(is_finite(simulation.state()));
    assert!(message.contains("shoulder"), "{message}");
}

#[test]
fn bodies_that_start_deep_inside_one_another_part_without_an_explosion() {
    for h in [0.002, 0.01] {
        let mut builder = WorldBuilder::new();
        parts::ground(&mut builder, Surface::default());
        // Two balls at almost the same place, a third half below the ground.
        free_ball(&mut builder, "first", Vector3::new(0.0, 0.0, 0.5));
        free_ball(&mut builder, "second", Vector3::new(1e-3, 0.0, 0.5));
        free_ball(&mut builder, "third", Vector3::new(1.0, 0.0, 0.0));
        let settings = Settings { time_step: h, ..Settings::default() };
        let mut simulation = Simulation::new(builder.build().unwrap(), settings).unwrap();
        let mut last = None;
        let mut fastest = 0.0_f64;
        for _ in 0..(3.0 / h) as usize {
            last = Some(simulation.step().unwrap());
            let v = &simulation.state().v;
            fastest = v.iter().fold(fastest, |most, v| most.max(v.abs()));
        }
        // Nothing is faster than the fall of half a metre: penetration is no spring.
        assert!(fastest <= (2.0_f64 * 9.81 * 0.5).sqrt() * 1.5, "{fastest} m/s");
        assert!(last.unwrap().penetration <= 1e-3, "{:?}", last);
        assert!(simulation.state().q.chunks(7).all(|q| q[2] >= 0.1 - 1e-3));
    }
}

#[test]
fn welds_that_contradict_one_another_are_flagged_and_stay_finite() {
    let mut builder = WorldBuilder::new();
    let first = free_ball(&mut builder, "first", Vector3::zeros());
    let second = free_ball(&mut builder, "second", Vector3::new(1.0, 0.0, 0.0));
    let weld =
        |x: f64| Weld { body_a: first, body_b: second, pose: Isometry3::translation(x, 0.0, 0.0) };
    builder.equality("one", Equality::Weld(weld(1.0)));
    builder.equality("other", Equality::Weld(weld(1.2)));
    let mut simulation = simulation(builder.build().unwrap());
    for _ in 0..500 {
        let report = simulation.step().unwrap();
        // No place satisfies both: at best each is half of their difference away.
        assert!(report.equality_error >= 0.1 - 1e-6 && report.equality_error.is_finite());
        assert!(is_finite(simulation.state()));
    }
    // Both fall with gravity, whatever holds them together.
    let fall = 9.81 * 1.0;
    let v = &simulation.state().v;
    assert!((v[2] + fall).abs() <= 0.01 * fall, "{v:?}");
}

/// A chain of bars that spins fast about its root.
fn spinning_chain() -> Simulation {
    let mut builder = WorldBuilder::new();
    let mut parent = BodyId::WORLD;
    for k in 0..6 {
        let body = builder.mechanism.body(BodySpec {
            name: format!("bar-{k}"),
            parent,
            pose: Isometry3::translation(if k == 0 { 0.0 } else { 0.3 }, 0.0, 0.0),
            mass: Some(
                MassProperties::new(
                    1.0,
                    Vector3::x() * 0.15,
                    Matrix3::from_diagonal(&Vector3::new(1e-3, 8e-3, 8e-3)),
                )
                .unwrap(),
            ),
            ..BodySpec::default()
        });
        let axis = if k % 2 == 0 { Vector3::y() } else { Vector3::z() };
        builder.mechanism.joint(body, JointSpec::new(JointKind::Hinge { axis }));
        parent = body;
    }
    let mut simulation = simulation(builder.build().unwrap());
    for (k, v) in simulation.state_mut().v.iter_mut().enumerate() {
        *v = 100.0 * (k as f64 - 2.0);
    }
    simulation
}

#[test]
fn an_absurd_time_step_ends_in_an_error_and_a_state_as_it_was() {
    for h in [1.0, 1e3] {
        for scheme in ["symplectic", "explicit", "midpoint", "implicit", "mid-velocity"] {
            let start = spinning_chain();
            let mut settings = Settings { time_step: h, ..Settings::default() };
            settings.set("scheme", scheme).unwrap();
            let mut simulation = Simulation::new(start.world().clone(), settings).unwrap();
            simulation.set_state(start.state()).unwrap();
            for _ in 0..200 {
                let before = state_hash(simulation.state());
                match simulation.step() {
                    Ok(report) => {
                        assert!(is_finite(simulation.state()));
                        assert!(report.unresolved, "{scheme}, {h} s: {report:?}");
                    }
                    Err(error) => {
                        let message = error.to_string();
                        assert_eq!(before, state_hash(simulation.state()), "{message}");
                        assert!(message.contains("time step"), "{message}");
                        break;
                    }
                }
            }
        }
    }
}

#[test]
fn unresolved_motion_stays_bounded_under_the_default_scheme() {
    let start = spinning_chain();
    let settings = Settings { time_step: 1.0, ..Settings::default() };
    let mut simulation = Simulation::new(start.world().clone(), settings).unwrap();
    simulation.set_state(start.state()).unwrap();
    let fastest = |state: &State| state.v.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
    let before = fastest(simulation.state());
    for _ in 0..200 {
        assert!(simulation.step().unwrap().unresolved);
    }
    // Coriolis forces add no more than a fraction of a radian per step and step, and gravity no
    // more than g h over the length of a bar, in 200 steps; squared in every step, as they would be
    // without care, velocities are beyond all numbers after ten.
    assert!(fastest(simulation.state()) <= before + 200.0 * 9.81 / 0.1, "{before}");
}

#[test]
fn an_absurd_time_step_with_contacts_and_loops_stays_finite_or_says_so() {
    for name in ["four-bar", "clutter", "spider"] {
        for h in ["1", "1000"] {
            let mut set = vec![("time-step".to_owned(), h.to_owned())];
            if name == "clutter" {
                set.push(("bodies".to_owned(), "8".to_owned()));
            }
            let mut scene_run = scenario(name, &set).unwrap().start().unwrap();
            for _ in 0..5 {
                let before = state_hash(scene_run.simulation.state());
                if let Err(error) = scene_run.step() {
                    assert_eq!(before, state_hash(scene_run.simulation.state()), "{name}: {error}");
                    break;
                }
                assert!(is_finite(scene_run.simulation.state()), "{name}");
            }
        }
    }
}

#[test]
fn unknown_names_and_absurd_settings_are_refused_with_what_is_known() {
    let set = |key: &str, value: &str| Settings::default().set(key, value);
    for (key, value) in [
        ("time-step", "-1"),
        ("time-step", "NaN"),
        ("tolerance", "0"),
        ("tolerance", "inf"),
        ("max-iterations", "-3"),
        ("stabilisation.slop", "-1"),
        ("stabilisation.closure", "0"),
        ("scheme", "leapfrog"),
        ("friction-model", "viscous"),
        ("gravitas", "1"),
    ] {
        let message = set(key, value).unwrap_err().to_string();
        assert!(message.contains(key), "{message}");
    }
    for (name, key, value) in
        [("no-such-solver", "", ""), ("alm", "no-such-setting", "1"), ("alm", "growth", "many")]
    {
        let mut settings = Settings { solver: name.to_owned(), ..Settings::default() };
        if !key.is_empty() {
            settings.solver_settings.push((key.to_owned(), value.to_owned()));
        }
        let error = Simulation::new(world(), settings).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(if key.is_empty() { name } else { key }), "{error}");
    }
    let settings = Settings { time_step: f64::NAN, ..Settings::default() };
    assert!(Simulation::new(world(), settings).is_err());
    let unknown = scenario("no-such-scene", &[]).map(|_| ()).unwrap_err().to_string();
    assert!(unknown.contains("four-bar"), "{unknown}");
    let set = [("robots".to_owned(), "-1".to_owned())];
    assert!(scenario("quadruped-heap", &set).is_err());
}
