//! Statics and dynamics against closed forms.

use super::*;

#[test]
fn a_soft_block_in_free_fall_follows_the_parabola_of_a_rigid_one_and_keeps_its_shape() {
    for scheme in [Scheme::Refined, Scheme::Symplectic, Scheme::Midpoint, Scheme::MidVelocity] {
        let mut builder = WorldBuilder::new();
        builder.soft(cube_at(10.0, 0.5));
        let mut simulation = simulation(builder, 0.01, scheme);
        let v0 = Vector3::new(0.3, -0.2, 1.0);
        simulation.state_mut().x_dot.fill(v0);
        let start = simulation.state().x.clone();
        for _ in 0..50 {
            assert!(!simulation.step().unwrap().unresolved);
        }
        let (t, h) = (0.5, 0.01);
        let mut expected = v0 * t - Vector3::z() * (0.5 * GRAVITY * t * t);
        if scheme == Scheme::Symplectic {
            // Positions move with the next velocity: g h/2 faster throughout.
            expected.z -= 0.5 * GRAVITY * h * t;
        }
        // Round-off of a solve whose condition is that of mass and stiffness, in every step.
        for (x, x0) in simulation.state().x.iter().zip(&start) {
            assert!((x - x0 - expected).norm() <= 1e-9, "{scheme:?}: {}", x - x0 - expected);
        }
        let fallen = v0 - Vector3::z() * (GRAVITY * t);
        let (mass, _) = soft_centre(&simulation);
        assert!((soft_momentum(&simulation) - mass * fallen).norm() <= 1e-9 * mass);
    }
}

#[test]
fn a_deformed_block_that_nothing_touches_keeps_its_momentum() {
    for material in ["linear-corotated", "corotational", "neo-hookean"] {
        let mut builder = WorldBuilder::new();
        builder.mechanism.gravity(Vector3::zeros());
        let mut object = cube_at(0.0, 0.5);
        object.spec.material = Material::from_name(material, &[1e5, 0.4]).unwrap();
        builder.soft(object);
        let mut simulation = simulation(builder, 0.01, Scheme::Refined);
        for (x, v) in simulation.state().x.clone().iter().zip(&mut simulation.state_mut().x_dot) {
            *v = Vector3::new(x.z + 0.1, 20.0 * x.x * x.y, -x.y);
        }
        let before = soft_momentum(&simulation);
        for _ in 0..50 {
            let _ = simulation.step().unwrap();
        }
        // Elastic forces add up to zero but for round-off.
        let change = soft_momentum(&simulation) - before;
        assert!(change.norm() <= 1e-9 * before.norm(), "{material}: {change}");
    }
}

#[test]
fn a_soft_block_at_rest_is_carried_by_forces_that_add_up_to_its_weight() {
    for (scheme, material, h) in [
        (Scheme::Refined, "linear-corotated", 0.01),
        (Scheme::Symplectic, "linear-corotated", 0.002),
        (Scheme::Implicit, "corotational", 0.01),
        (Scheme::Refined, "neo-hookean", 0.01),
        (Scheme::MidVelocity, "linear-corotated", 0.01),
    ] {
        let mut builder = on_ground(0.6);
        let mut object = cube_at(0.0501, 0.6);
        object.spec.material = Material::from_name(material, &[1e5, 0.3]).unwrap();
        builder.soft(object);
        let mut simulation = simulation(builder, h, scheme);
        for _ in 0..(2.0 / h) as usize {
            let _ = simulation.step().unwrap();
        }
        let (mass, _) = soft_centre(&simulation);
        let weight = mass * GRAVITY;
        for _ in 0..20 {
            let report = simulation.step().unwrap();
            assert!(report.converged() && !report.unresolved && report.inverted == 0);
            let force: Vector3<f64> = simulation.contacts().iter().map(|c| c.force).sum();
            let error = (force - Vector3::z() * weight).norm();
            assert!(error <= 1e-6 * weight, "{scheme:?} {material}: {force} against {weight}");
            assert!(report.penetration <= 1e-5, "{}", report.penetration);
        }
        let fastest = simulation.state().x_dot.iter().map(|v| v.norm()).fold(0.0, f64::max);
        assert!(fastest <= 1e-5, "{scheme:?} {material}: {fastest}");
    }
}

#[test]
fn a_soft_block_on_an_incline_sticks_below_and_slides_above_the_friction_angle() {
    let friction = 0.5_f64;
    let slide = |angle: f64| {
        let mut builder = on_ground(friction);
        builder.mechanism.gravity(Vector3::new(angle.sin(), 0.0, -angle.cos()) * GRAVITY);
        let spec = block(Vector3::new(0.12, 0.12, 0.04), [4, 4, 2], Vector3::new(0.0, 0.0, 0.02));
        builder.soft(SoftObject::new(spec).surface(Surface::with_friction(friction)));
        let mut simulation = start(builder, 0.005);
        let mut places = vec![];
        for step in 0..300 {
            let _ = simulation.step().unwrap();
            if step % 100 == 99 {
                places.push(soft_centre(&simulation).1.x);
            }
        }
        let (mass, _) = soft_centre(&simulation);
        (places, soft_momentum(&simulation).x / mass)
    };
    let (places, speed) = slide(friction.atan() - 0.05);
    assert!(speed.abs() <= 1e-6 && (places[2] - places[1]).abs() <= 1e-6, "{places:?} {speed}");
    let angle = friction.atan() + 0.05;
    let (_, speed) = slide(angle);
    // Once it slides as a whole, the centre accelerates with g (sin − μ cos); the elastic start-up
    // costs no momentum, because friction is at its bound as soon as all of the face slides. That
    // takes the time of a shear wave through the block, a few steps.
    let expected = GRAVITY * (angle.sin() - friction * angle.cos()) * 300.0 * 0.005;
    assert!((speed - expected).abs() <= 0.1 * expected, "{speed} against {expected}");
}

#[test]
fn an_impact_of_a_rigid_body_on_a_soft_one_conserves_momentum() {
    let mut builder = WorldBuilder::new();
    builder.mechanism.gravity(Vector3::zeros());
    builder.soft(cube_at(0.0, 0.5));
    let shape = Shape::cuboid(Vector3::new(0.08, 0.08, 0.03)).unwrap();
    let pose = Isometry3::translation(0.01, 0.0, 0.0801);
    let plate = free(&mut builder, shape, 2.0, pose, Surface::with_friction(0.5));
    let mut simulation = start(builder, 0.005);
    simulation.state_mut().v[2] = -1.0;
    let total = |simulation: &mut Simulation| {
        let soft = (soft_momentum(simulation), soft_spin(simulation));
        let world = simulation.world().clone();
        let (p, l) = stiction_mech::momentum(world.model(), simulation.data(), Vector3::zeros());
        (soft.0 + p, soft.1 + l)
    };
    assert_eq!(plate, BodyId(1));
    let (before, _) = total(&mut simulation);
    let mut touched = false;
    for _ in 0..100 {
        let _ = simulation.step().unwrap();
        touched |= !simulation.contacts().is_empty();
    }
    let (after, _) = total(&mut simulation);
    assert!(touched);
    // Impulses are equal and opposite by construction: what is left is round-off and the residual of
    // the solver.
    assert!((after - before).norm() <= 1e-5 * before.norm(), "{before} {after}");
}

#[test]
fn a_spinning_soft_body_keeps_its_angular_momentum_to_the_order_of_the_scheme() {
    let loss = |h: f64| {
        let mut builder = WorldBuilder::new();
        builder.mechanism.gravity(Vector3::zeros());
        let mut object = cube_at(0.0, 0.5);
        object.spec.stiffness_damping = 0.0;
        builder.soft(object);
        let mut simulation = simulation(builder, h, Scheme::MidVelocity);
        let omega = Vector3::new(0.5, -1.0, 2.0);
        for (x, v) in simulation.state().x.clone().iter().zip(&mut simulation.state_mut().x_dot) {
            *v = omega.cross(x);
        }
        let before = soft_spin(&simulation);
        for _ in 0..(1.0 / h).round() as usize {
            let _ = simulation.step().unwrap();
        }
        (soft_spin(&simulation) - before).norm() / before.norm()
    };
    let (coarse, fine) = (loss(0.01), loss(0.005));
    // Rotations that lag by a step exert a moment of first order in the step at most.
    assert!(coarse <= 0.05, "{coarse}");
    assert!(fine <= 0.6 * coarse, "{coarse} {fine}");
}

#[test]
fn attached_vertices_follow_the_link_of_a_robot() {
    let mut simulation = start(arm_with_block(1.0), 0.005);
    simulation.state_mut().v[0] = 1.0;
    let start: Vec<Vector3<f64>> = simulation.state().x.clone();
    for (v, x) in simulation.state_mut().x_dot.iter_mut().zip(&start) {
        *v = Vector3::z().cross(x);
    }
    for _ in 0..200 {
        let report = simulation.step().unwrap();
        assert!(report.converged());
        // Circles are left along tangents: (ω h)² r/2 per step, taken back by the next.
        assert!(
            report.equality_error <= 0.6 * (1.1 * 0.005_f64).powi(2),
            "{}",
            report.equality_error
        );
    }
    let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), simulation.state().q[0]);
    for (x, x0) in simulation.state().x.iter().zip(&start).filter(|(_, x0)| x0.x < 0.4501) {
        assert!((x - turn * x0).norm() <= 2e-5, "{}", (x - turn * x0).norm());
    }
    assert!((simulation.state().q[0] - 1.0).abs() < 0.05, "{}", simulation.state().q[0]);
}

#[test]
fn vertices_attached_to_the_world_and_fixed_ones_stand_still() {
    let mut builder = WorldBuilder::new();
    let mut spec = block(Vector3::new(0.3, 0.05, 0.05), [6, 1, 1], Vector3::zeros());
    let at = |x: f64| -> Vec<u32> {
        let all = spec.vertices.iter().enumerate();
        all.filter(|(_, p)| (p.x - x).abs() < 1e-9).map(|(k, _)| k as u32).collect()
    };
    let (left, right) = (at(-0.15), at(0.15));
    spec.fixed.clone_from(&left);
    let soft = builder.soft(SoftObject::new(spec));
    builder.attach(soft, &right, BodyId::WORLD);
    let mut simulation = start(builder, 0.01);
    let before = simulation.state().x.clone();
    for _ in 0..50 {
        let _ = simulation.step().unwrap();
    }
    let state = simulation.state();
    for vertex in left.iter().chain(&right) {
        assert_eq!(state.x[*vertex as usize], before[*vertex as usize]);
    }
    assert!(state.x.iter().zip(&before).any(|(x, x0)| x.z < x0.z - 1e-4));
}

#[test]
fn every_solver_presses_a_soft_block_and_they_agree_per_friction_model() {
    // Bodies stick: all friction models have one answer. Each solver errs by its tolerance in every
    // step, which damping forgets within a few.
    let world = std::sync::Arc::new(pressed([2; 3], 0.8).build().unwrap());
    let run = |solver: &str| {
        let settings = Settings {
            time_step: 0.01,
            solver: solver.to_owned(),
            tolerance: 1e-8,
            max_iterations: Some(20_000),
            ..Settings::default()
        };
        let mut simulation = Simulation::new(world.clone(), settings).unwrap();
        for _ in 0..40 {
            let _ = simulation.step().unwrap();
        }
        let load: f64 = simulation
            .contacts()
            .iter()
            .filter(|c| c.bodies.contains(&1))
            .map(|c| c.force.z.abs())
            .sum();
        (simulation.state().q[2], load)
    };
    let (height, load) = run("alm");
    for solver in ["apgd", "canal", "cond", "pgs", "sap", "subadmm"] {
        let (found, found_load) = run(solver);
        assert!((found - height).abs() <= 1e-4, "{solver}: {found} against {height}");
        assert!((found_load - load).abs() <= 0.02 * load, "{solver}: {found_load} against {load}");
    }
}

#[test]
fn a_plate_on_a_soft_block_comes_to_rest_under_its_weight() {
    let mut simulation = start(pressed([3; 3], 0.6), 0.01);
    for _ in 0..300 {
        let _ = simulation.step().unwrap();
    }
    let (mass, _) = soft_centre(&simulation);
    let of = |body: bool| -> f64 {
        let contacts = simulation.contacts().iter();
        contacts.filter(|c| c.bodies.contains(&1) == body).map(|c| c.force.z.abs()).sum()
    };
    let (plate, ground) = (2.0 * GRAVITY, (2.0 + mass) * GRAVITY);
    assert!((of(true) - plate).abs() <= 1e-6 * plate, "{} {plate}", of(true));
    assert!((of(false) - ground).abs() <= 1e-6 * ground, "{} {ground}", of(false));
}
