//! Cables in motion and at rest, against the theory of rods, strings and belts.

#![allow(non_snake_case, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3, Vector6};
use std::f64::consts::PI;
use stiction_geom::Shape;
use stiction_mech::{
    BodyId, BodySpec, JointKind, JointSpec, MassProperties, RodRest, centre_of_mass, momentum,
};
use stiction_sim::{
    Base, CableCourse, CableEnd, CableSpec, Geom, SCHEMES, Scheme, SchemeEntry, Settings,
    Simulation, Sleep, Snapshot, Surface, World, WorldBuilder, WorldError,
};

const YOUNG: f64 = 2.954e6;
const POISSON: f64 = 0.49;
const RADIUS: f64 = 5e-3;
const LENGTH: f64 = 0.5;
const GRAVITY: f64 = 9.81;

fn bending_stiffness(spec: &CableSpec) -> f64 {
    spec.young * PI * spec.radius.powi(4) / 4.0
}

/// A straight cable along z, its first end at the origin of the world and held there.
fn cantilever(segments: usize) -> CableSpec {
    CableSpec {
        name: "cable".to_owned(),
        course: CableCourse::Straight { pose: Isometry3::identity(), length: LENGTH },
        segments,
        radius: RADIUS,
        young: YOUNG,
        poisson: POISSON,
        damping: 0.0,
        ends: [CableEnd::Held(BodyId::WORLD), CableEnd::Free],
        ..CableSpec::default()
    }
}

fn weightless() -> WorldBuilder {
    let mut builder = WorldBuilder::new();
    builder.mechanism.gravity(Vector3::zeros());
    builder
}

fn start(builder: WorldBuilder, time_step: f64, scheme: Scheme) -> Simulation {
    let settings = Settings { time_step, scheme, ..Settings::default() };
    Simulation::new(builder.build().unwrap(), settings).unwrap()
}

/// The end of the last segment.
fn tip(simulation: &mut Simulation) -> Isometry3<f64> {
    let cable = &simulation.world().cables()[0];
    let (last, half) = (cable.bodies[cable.bodies.len() - 1].0, 0.5 * cable.segment_length);
    simulation.body_pose(last) * Translation3::new(0.0, 0.0, half)
}

/// Where a cable comes to rest under a force and a torque at its second end. In steps so long that
/// inertia is nothing against stiffness, every step is one of Newton's method. The load grows over the
/// first of them.
fn rest_under(spec: CableSpec, force: Vector3<f64>, torque: Vector3<f64>) -> Isometry3<f64> {
    let (h, n) = (10.0, spec.segments);
    let mut builder = weightless();
    builder.cable(spec);
    let mut simulation = start(builder, h, Scheme::Symplectic);
    let last = simulation.world().cables()[0].bodies[n - 1].0;
    for k in 0..200 {
        let share = (0.04 * f64::from(k + 1)).min(1.0);
        let lever =
            tip(&mut simulation).translation.vector - simulation.body_pose(last).translation.vector;
        let (force, torque) = (share * force, share * torque);
        let moment = torque + lever.cross(&force);
        simulation.input_mut().wrench[last] =
            Vector6::new(moment.x, moment.y, moment.z, force.x, force.y, force.z);
        let _ = simulation.step().unwrap();
        let largest = simulation.state().v.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        if h * largest < 1e-13 {
            return tip(&mut simulation);
        }
    }
    panic!("no rest");
}

#[test]
fn a_loaded_cantilever_bends_as_euler_and_bernoulli_say() {
    let spec = cantilever(1);
    let EI = bending_stiffness(&spec);
    let kGA = 5.0 / 6.0 * YOUNG / (2.0 * (1.0 + POISSON)) * PI * RADIUS * RADIUS;
    let load = 1e-6;
    let beam = load * LENGTH.powi(3) / (3.0 * EI);
    for n in [5, 10, 20, 40, 80] {
        let found =
            rest_under(cantilever(n as usize), Vector3::new(load, 0.0, 0.0), Vector3::zeros());
        // Bonds at s_k = k l, the first of them half as long, sum F (L − s)² l/EI by the trapezoidal
        // rule, whose error is l² L/6 against L³/3; shear adds F (L − l/2)/kGA, as the last half
        // segment is rigid. Deflections of 1e-4 of the length are linear to their square.
        let elastic = 1.0 - 0.5 / f64::from(n);
        let shear = 3.0 * EI / (kGA * LENGTH * LENGTH) * elastic;
        let ratio = 1.0 + 0.5 / f64::from(n * n) + shear;
        let found = found.translation.x / beam;
        assert!((found - ratio).abs() <= 1e-7, "{n}: {found} against {ratio}");
    }
}

#[test]
fn an_end_moment_bends_a_cable_to_half_a_circle() {
    let spec = cantilever(1);
    let moment = PI * bending_stiffness(&spec) / LENGTH;
    for n in [8, 20, 80] {
        let found = rest_under(cantilever(n), Vector3::zeros(), Vector3::new(0.0, moment, 0.0));
        // Segments are chords under equal angles: half of one at the clamp, π (k + ½)/N in all.
        let away = LENGTH / n as f64 / (0.5 * PI / n as f64).sin();
        let turned = PI * (1.0 - 0.5 / n as f64);
        assert!((found.translation.vector.norm() - away).abs() <= 1e-11, "{n}");
        assert!((found.rotation.angle() - turned).abs() <= 1e-10, "{n}");
        // The circle has the diameter 2 L/π.
        let exact = 2.0 * LENGTH / PI;
        assert!((away / exact - 1.0).abs() <= 0.5 / (n * n) as f64);
    }
}

#[test]
fn torque_twists_and_force_stretches_a_cable_in_proportion_to_its_length() {
    let (n, spec) = (16, cantilever(1));
    let I = PI * RADIUS.powi(4) / 4.0;
    let GJ = YOUNG / (2.0 * (1.0 + POISSON)) * 2.0 * I;
    // The last half segment is rigid.
    let elastic = LENGTH * (1.0 - 0.5 / f64::from(n));
    let torque = 3e-3;
    let found =
        rest_under(cantilever(n as usize), Vector3::zeros(), Vector3::new(0.0, 0.0, torque));
    assert!((found.rotation.angle() - torque * elastic / GJ).abs() <= 1e-10);
    assert!((found.translation.z - LENGTH).abs() <= 1e-12);
    let (force, EA) = (2.0, spec.young * PI * RADIUS * RADIUS);
    let found = rest_under(cantilever(n as usize), Vector3::new(0.0, 0.0, force), Vector3::zeros());
    assert!((found.translation.z - LENGTH - force * elastic / EA).abs() <= 1e-12);
}

#[test]
fn a_hanging_cable_is_a_catenary() {
    // A slender cable of length S between points D apart: S = 2 a sinh(D/2a).
    let (span, a, n) = (0.8_f64, 0.3_f64, 60);
    let length = 2.0 * a * (0.5 * span / a).sinh();
    let sag = a * ((0.5 * span / a).cosh() - 1.0);
    // It starts as two straight lines, and is held along the tangents of its ends.
    let depth = (0.25 * length * length - 0.25 * span * span).sqrt();
    let points =
        vec![Vector3::zeros(), Vector3::new(0.5 * span, 0.0, -depth), Vector3::new(span, 0.0, 0.0)];
    let slope = (0.5 * span / a).sinh().atan();
    let frame = |x: f64, down: f64| {
        let rotation = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), 0.5 * PI + down);
        let pose = Isometry3::from_parts(Translation3::new(x, 0.0, 0.0), rotation);
        CableEnd::Attached { body: BodyId::WORLD, pose }
    };
    let radius = 2e-4;
    let mut builder = WorldBuilder::new();
    builder.cable(CableSpec {
        course: CableCourse::Path(points),
        segments: n,
        radius,
        young: 1e8,
        damping: 0.0,
        mass_damping: 5.0,
        ends: [frame(0.0, slope), frame(span, -slope)],
        ..CableSpec::default()
    });
    let mut simulation = start(builder, 0.02, Scheme::Symplectic);
    for _ in 0..700 {
        let _ = simulation.step().unwrap();
    }
    let fastest = simulation.state().v.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    assert!(fastest < 1e-4, "{fastest}");
    let spec = &simulation.world().cables()[0].spec;
    let (EI, line) = (bending_stiffness(spec), spec.density * PI * radius * radius * GRAVITY);
    // Bending lifts the middle by the order of EI/(H L²), H = w a; chords by (l/a)².
    let bound =
        3.0 * (EI / (line * a * length * length) + (length / f64::from(n as u32) / a).powi(2));
    assert!(bound < 0.02);
    for k in 0..n {
        let place = simulation.body_pose(1 + k).translation.vector;
        let curve = a * (((place.x - 0.5 * span) / a).cosh() - (0.5 * span / a).cosh());
        assert!((place.z - curve).abs() <= bound * sag, "{k}: {} {curve}", place.z);
        assert!(place.y.abs() < 1e-9);
    }
}

/// A cable that flies, bent and turning.
fn thrown(segments: usize, scheme: Scheme, time_step: f64) -> Simulation {
    let points: Vec<Vector3<f64>> = (0..=40)
        .map(|k| 0.02 * f64::from(k))
        .map(|t| Vector3::new(0.2 * (3.0 * t).cos(), 0.2 * (3.0 * t).sin(), 0.3 * t))
        .collect();
    let mut builder = weightless();
    builder.cable(CableSpec {
        course: CableCourse::Path(points),
        segments,
        radius: RADIUS,
        young: YOUNG,
        damping: 0.0,
        ..CableSpec::default()
    });
    let mut simulation = start(builder, time_step, scheme);
    for (k, v) in simulation.state_mut().v.chunks_exact_mut(6).enumerate() {
        v[..3].copy_from_slice(&[0.3, 0.2 * f64::from(k as u32) / segments as f64, -0.1]);
    }
    simulation
}

#[test]
fn a_cable_in_flight_keeps_its_momentum() {
    for scheme in [Scheme::Symplectic, Scheme::Refined, Scheme::Euler, Scheme::MidVelocity] {
        let mut simulation = thrown(20, scheme, 2e-3);
        let model = simulation.world().model().clone();
        let of = |simulation: &mut Simulation| {
            let data = simulation.data();
            momentum(&model, data, centre_of_mass(&model, data).unwrap())
        };
        let before = of(&mut simulation);
        for _ in 0..500 {
            let _ = simulation.step().unwrap();
        }
        let after = of(&mut simulation);
        // Internal forces have no resultant to round-off. Their torque has none about the points
        // where they act, and free flight of a step leads no mass round; only the turn of a segment's
        // own inertia within a step is approximate, of second order.
        assert!((after.0 - before.0).norm() <= 1e-12 * before.0.norm(), "{scheme:?}");
        let change = (after.1 - before.1).norm() / before.1.norm();
        assert!(change <= 1e-3, "{scheme:?}: {change}");
    }
}

#[test]
fn the_mean_velocity_keeps_the_energy_of_a_cable() {
    let drift = |h: f64| {
        let mut simulation = thrown(12, Scheme::MidVelocity, h);
        let first = simulation.energy();
        let mut largest = 0.0_f64;
        for _ in 0..(0.4 / h) as usize {
            let _ = simulation.step().unwrap();
            largest = largest.max((simulation.energy() / first - 1.0).abs());
        }
        largest
    };
    // Bonds are of second order. Gyroscopic torques of the segments are of first order, but these are
    // small: r²/L² of all rotation.
    let (coarse, fine) = (drift(4e-4), drift(2e-4));
    assert!(coarse < 2.0 * (RADIUS / LENGTH).powi(2) && fine < 0.6 * coarse, "{coarse} {fine}");
}

#[test]
fn strains_that_are_damped_within_a_step_come_to_rest_by_the_mean_velocity() {
    let (segments, length, tau, h) = (10, 0.2, 1e-2, 1e-2);
    let course = CableCourse::Straight { pose: Isometry3::identity(), length };
    let mut builder = weightless();
    builder.cable(CableSpec {
        course,
        segments,
        radius: RADIUS,
        young: YOUNG,
        damping: tau,
        ..CableSpec::default()
    });
    let mut simulation = start(builder, h, Scheme::MidVelocity);
    for (k, v) in simulation.state_mut().v.chunks_exact_mut(6).enumerate() {
        v[2] = if k % 2 == 0 { 1.0 } else { -1.0 };
    }
    // The slowest stretching wave has ω = (π/L) √(E/ρ) and is slowed down at the rate τ ω², by far more
    // than once in a step. Without inertia, `τ v₁ = −x₀ − (h/2) v̂` and `x₁ = x₀ + h v̂`, with v̂ the mean of
    // v₀ and v₁; for τ = h the two eigenvalues of that step are 0.2 ± 0.4 i.
    let wave = PI / length * (YOUNG / CableSpec::default().density).sqrt();
    assert!(h * tau * wave * wave > 50.0);
    let steps = 20;
    for _ in 0..steps {
        let _ = simulation.step().unwrap();
    }
    let fastest = simulation.state().v.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
    // Half per step leaves room for the inertia of 1 in 50.
    assert!(fastest <= 0.5_f64.powi(steps), "{fastest}");
}

#[test]
fn no_scheme_loses_a_stiff_taut_cable() {
    // A string under a tension that explicit steps of this length could not bear, plucked.
    for SchemeEntry { name, scheme, .. } in SCHEMES {
        let mut builder = WorldBuilder::new();
        let spec = CableSpec {
            course: CableCourse::Straight { pose: Isometry3::identity(), length: 1.0 },
            segments: 40,
            radius: 1e-3,
            young: 1e8,
            damping: 0.0,
            ends: [CableEnd::Held(BodyId::WORLD), {
                let pose = Isometry3::translation(0.0, 0.0, 1.05);
                CableEnd::Attached { body: BodyId::WORLD, pose }
            }],
            ..CableSpec::default()
        };
        let tension = 0.05 * spec.young * PI * spec.radius.powi(2);
        builder.cable(spec);
        let mut simulation = start(builder, 0.01, *scheme);
        let rod = &simulation.world().model().rods()[0];
        assert!(tension > 2.0 * rod.explicit_tension(0.01, false));
        let state = simulation.state_mut();
        state.q.chunks_exact_mut(7).for_each(|q| q[2] *= 1.05);
        state.v.chunks_exact_mut(6).for_each(|v| v[0] = 0.1);
        for _ in 0..300 {
            let _ = simulation.step().unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        let most =
            (1..=40).map(|k| simulation.body_pose(k).translation.x.abs()).fold(0.0, f64::max);
        assert!(most < 0.05, "{name}: {most}");
    }
}

#[test]
fn a_cable_on_the_ground_presses_with_its_weight() {
    for scheme in [Scheme::Refined, Scheme::MidVelocity, Scheme::Midpoint] {
        let mut builder = common::on_ground(0.5);
        let points: Vec<Vector3<f64>> = (0..=30)
            .map(|k| 0.05 * f64::from(k))
            .map(|t| Vector3::new(0.2 * (2.0 * t).cos(), 0.2 * (2.0 * t).sin(), RADIUS))
            .collect();
        builder.cable(CableSpec {
            course: CableCourse::Path(points),
            segments: 30,
            rest: RodRest::AsBuilt,
            ..CableSpec::default()
        });
        let mut simulation = start(builder, 5e-3, scheme);
        for _ in 0..300 {
            let _ = simulation.step().unwrap();
        }
        let weight = simulation.world().model().mass() * GRAVITY;
        let force: Vector3<f64> = simulation.contacts().iter().map(|contact| contact.force).sum();
        assert!((force.z / weight - 1.0).abs() <= 1e-6, "{scheme:?}: {force} {weight}");
        assert!(force.x.abs() + force.y.abs() <= 1e-6 * weight, "{scheme:?}: {force}");
    }
}

/// How far a cable over a cylinder slides in a quarter of a second, once it is pulled at its ends by one
/// newton and by `ratio` times that and has had half a second to settle.
fn slide_over_cylinder(friction: f64, ratio: f64) -> f64 {
    let (drum, radius, n) = (0.1, 2e-3, 80);
    let around = drum + radius;
    let mut points = vec![Vector3::new(around, 0.0, -0.1)];
    points.extend(
        (0..=60)
            .map(|k| PI * f64::from(k) / 60.0)
            .map(|t| Vector3::new(around * t.cos(), 0.0, around * t.sin())),
    );
    points.push(Vector3::new(-around, 0.0, -0.1));
    let mut builder = weightless();
    let lying = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), 0.5 * PI);
    let surface = Surface::with_friction(friction);
    builder.geom(
        Geom::new(BodyId::WORLD, Shape::cylinder(drum, 0.05).unwrap())
            .surface(surface)
            .at(Isometry3::from_parts(Translation3::identity(), lying)),
    );
    builder.cable(CableSpec {
        course: CableCourse::Path(points),
        segments: n,
        radius,
        surface,
        mass_damping: 5.0,
        ..CableSpec::default()
    });
    let mut simulation = start(builder, 2e-3, Scheme::Refined);
    let bodies: Vec<usize> = simulation.world().cables()[0].bodies.iter().map(|b| b.0).collect();
    let (first, last) = (bodies[0], bodies[n - 1]);
    let middle = bodies[n / 2];
    // Tension is raised on both sides until contact is settled, then on one.
    for k in 0..150 {
        let pull = f64::from(k + 1) / 150.0;
        simulation.input_mut().wrench[first][5] = -pull;
        simulation.input_mut().wrench[last][5] = -pull;
        let _ = simulation.step().unwrap();
    }
    for k in 0..150 {
        simulation.input_mut().wrench[last][5] = -1.0 - (ratio - 1.0) * f64::from(k + 1) / 150.0;
        let _ = simulation.step().unwrap();
    }
    for _ in 0..250 {
        let _ = simulation.step().unwrap();
    }
    let before = simulation.body_pose(middle).translation.vector;
    for _ in 0..125 {
        let _ = simulation.step().unwrap();
    }
    (simulation.body_pose(middle).translation.vector - before).norm()
}

#[test]
fn a_cable_over_a_cylinder_holds_up_to_eulers_ratio_of_tensions() {
    // Half a turn holds a ratio of exp(μ π) [Euler 1762, Eytelwein 1808]. Contact begins and ends
    // within a segment of the tangent points: angles of l/R, ratios of exp(μ l/R), of 3 % at either
    // end; the cable's own stiffness shortens the arc by EI/(T R²), of less than 1 %.
    let friction = 0.4;
    let critical = (friction * PI).exp();
    let held = slide_over_cylinder(friction, 0.94 * critical);
    let lost = slide_over_cylinder(friction, 1.06 * critical);
    // What sticks does so to the tolerance of the solver, what slips gathers speed.
    assert!(held < 1e-6, "{held}");
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
    assert!(path(&[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]).contains("one place"));
    assert!(path(&[[0.0, 0.0, 0.0]]).contains("1 points"));
    assert!(path(&[[0.0, 0.0, 0.0], [f64::NAN, 0.0, 0.0]]).contains("NaN"));
    let (_, text) = message(&|spec| spec.ends[1] = CableEnd::Held(BodyId(99)));
    assert!(text.contains("99"), "{text}");
}
