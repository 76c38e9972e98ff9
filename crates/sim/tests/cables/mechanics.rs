//! Statics and dynamics against closed forms.

use super::*;

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
