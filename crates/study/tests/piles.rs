//! Piles: bodies that start inside one another come apart without an explosion, and a granular heap
//! settles.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use nalgebra::{Isometry3, Vector3};
use stiction_geom::Shape;
use stiction_sim::{Settings, Simulation, Surface, WorldBuilder};
use stiction_study::scenario;
use stiction_study::scenarios::parts;

/// Two cubes of 1 kg, the second `depth` [m] too low on the first.
fn merged(depth: f64, time_step: f64) -> Simulation {
    let mut builder = WorldBuilder::new();
    let surface = Surface::with_friction(0.5);
    parts::ground(&mut builder, surface);
    for (name, z) in [("lower", 0.1), ("upper", 0.3 - depth)] {
        let shape = Shape::cuboid(Vector3::repeat(0.1)).unwrap();
        let pose = Isometry3::translation(0.0, 0.0, z);
        parts::free_body(&mut builder, name, shape, 1.0, pose, surface).unwrap();
    }
    let settings = Settings { time_step, ..Settings::default() };
    Simulation::new(builder.build().unwrap(), settings).unwrap()
}

#[test]
fn bodies_that_start_inside_one_another_come_apart_without_an_explosion() {
    for depth in [0.001, 0.05, 0.1, 0.15] {
        for time_step in [0.002, 0.01] {
            let mut simulation = merged(depth, time_step);
            let start = simulation.energy();
            // All that pushing apart can give: the upper cube on top of the lower one.
            let available = 9.81 * depth;
            let mut kinetic: f64 = 0.0;
            let steps = (2.0 / time_step) as usize;
            for _ in 0..steps {
                let report = simulation.step().unwrap();
                assert!(report.residuals.coulomb.is_finite());
                // Cubes of 1 kg and side 0.2 m: ½ v² + ½ (m a²/6) ω².
                let energy = simulation.state().v.chunks_exact(6).map(|v| {
                    let square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
                    0.5 * square(&v[..3]) + 0.5 * (0.04 / 6.0) * square(&v[3..])
                });
                kinetic = kinetic.max(energy.sum());
            }
            let report = simulation.report().copied().unwrap();
            let end = simulation.energy();
            assert!(
                kinetic <= available && end - start <= available * 1.01,
                "{depth} m, {time_step} s: kinetic energy {kinetic} J, {available} J available"
            );
            // Apart, to within the slop and what is left of the last correction.
            assert!(report.penetration <= 1e-4, "{depth} m, {time_step} s: {report:?}");
        }
    }
}

#[test]
fn a_heap_that_starts_as_one_lump_comes_apart_within_its_bounds() {
    // Eight balls, their centres a tenth of a radius apart.
    let mut builder = WorldBuilder::new();
    let surface = Surface::with_friction(0.5);
    parts::ground(&mut builder, surface);
    for ball in 0..8 {
        let bit = |k: usize| f64::from(u8::from(ball & k != 0));
        let pose = Isometry3::translation(0.005 * bit(1), 0.005 * bit(2), 0.1 + 0.005 * bit(4));
        let shape = Shape::sphere(0.05).unwrap();
        parts::free_body(&mut builder, format!("ball-{ball}"), shape, 0.5, pose, surface).unwrap();
    }
    let settings = Settings { time_step: 0.01, ..Settings::default() };
    let mut simulation = Simulation::new(builder.build().unwrap(), settings).unwrap();
    let mut fastest: f64 = 0.0;
    for _ in 0..300 {
        let report = simulation.step().unwrap();
        assert!(report.residuals.coulomb.is_finite());
        let linear = simulation.state().v.chunks_exact(6).flat_map(|v| &v[..3]);
        fastest = linear.fold(fastest, |most, v| most.max(v.abs()));
    }
    // Removal of penetration moves positions, not velocities: nothing gets faster than a fall from
    // the height to which the lump can be pushed, one diameter per ball.
    let most = (2.0_f64 * 9.81 * (0.1 + 8.0 * 0.1)).sqrt();
    assert!(fastest <= most, "{fastest} m/s, at most {most} m/s");
    let report = simulation.report().copied().unwrap();
    assert!(report.penetration <= 1e-4, "{report:?}");
}

#[test]
fn a_granular_heap_settles_in_its_box() {
    let set = [("bodies".to_owned(), "64".to_owned())];
    let verdict = scenario("granular", &set).unwrap().start().unwrap().run().unwrap();
    assert!(verdict.passed, "{}", verdict.detail);
}
