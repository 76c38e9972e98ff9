//! Beams, rods, pressed and gripped soft bodies: the scenarios pass their checks over their
//! parameters, and can fail them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use stiction_sim::StepStatus;
use stiction_study::scenario;
use stiction_study::scenarios::cantilever::Beam;
use stiction_study::scenarios::{pressed_cylinder, soft_parts};

fn verdict(name: &str, set: &[(&str, &str)]) -> (bool, String) {
    let set: Vec<_> = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let verdict = scenario(name, &set).unwrap().start().unwrap().run().unwrap();
    println!("{name} {set:?}: {} {}", verdict.passed, verdict.detail);
    (verdict.passed, format!("{name} {set:?}: {}", verdict.detail))
}

#[track_caller]
fn passes(name: &str, set: &[(&str, &str)]) {
    let (passed, detail) = verdict(name, set);
    assert!(passed, "{detail}");
}

#[track_caller]
fn fails(name: &str, set: &[(&str, &str)]) {
    let (passed, detail) = verdict(name, set);
    assert!(!passed, "{detail}");
}

#[test]
fn a_cantilever_sags_as_its_mesh_and_beam_theory_say() {
    for poisson in ["0", "0.3"] {
        passes("cantilever", &[("poisson", poisson)]);
    }
    // Without damping it swings for ever.
    fails("cantilever", &[("damping", "0"), ("scheme", "midpoint")]);
}

#[test]
fn the_cantilever_converges_with_the_square_of_the_size_of_its_elements() {
    let flexibility = |cells| {
        let beam = Beam { cells, young: 1e8, poisson: 0.0 };
        beam.timoshenko() / beam.statics().unwrap()
    };
    // Without widening nothing but shear comes with bending: the excess falls by four when cells are
    // halved. Where the load is not carried along a straight line between the vertices, of relative
    // order 1/cells⁴ of the excess and a fraction of it with so few cells, it differs.
    let [coarse, middle, fine] = [1, 2, 4].map(flexibility);
    let order = ((coarse - middle) / (middle - fine)).log2();
    assert!((order - 2.0).abs() < 0.15, "{order}: {coarse} {middle} {fine}");
    // What is left of the finest, extrapolated, is the theory itself.
    let limit = fine + (fine - middle) / 3.0;
    assert!((limit - 1.0).abs() < 0.02, "{limit}");
    assert!(coarse > middle && middle > fine && fine > 1.0);
}

#[test]
fn a_hanging_cable_is_a_catenary_whatever_its_slack() {
    for slack in ["1.1", "1.3", "2"] {
        passes("hanging-cable", &[("slack", slack)]);
    }
    // A wire whose stiffness E I exceeds w a S², what its weight can do, by several times stays bowed out. With
    // little slack it could not tell: between ends held along the tangents of a shallow catenary every bow
    // is near it.
    fails("hanging-cable", &[("radius", "1e-3"), ("young", "1e11"), ("slack", "2")]);
}

#[test]
fn a_twisted_rod_buckles_above_the_critical_twist_and_not_below() {
    for twist in ["0.5", "0.9", "1.1", "1.2"] {
        passes("twisted-rod", &[("twist", twist)]);
    }
    passes("twisted-rod", &[("twist", "1.15"), ("poisson", "0.49")]);
}

/// It stores 0.08 J while it comes to rest, and exchanges 1e-9 J per step: what its elastic forces do on changes of velocity
/// within a step is a part of that.
#[test]
fn the_motion_of_a_buckled_rod_is_resolved_while_it_comes_to_rest() {
    let mut run = scenario("twisted-rod", &[]).unwrap().start().unwrap();
    for step in 0..run.steps() {
        let report = run.step().unwrap();
        assert!(report.status() == StepStatus::Ok, "step {step}: {:?}", report.flags());
    }
}

#[test]
fn a_cable_coils_one_way_with_the_radius_of_its_stiffness_and_weight() {
    passes("cable-coiling", &[]);
}

/// Largest relative error of the force at the approaches of the reference, from two fifths of the press on:
/// before, contact is narrower than two cells of the coarsest mesh.
fn worst_of_the_curve(cells: &str, steps: usize) -> f64 {
    let set = [("cells", cells), ("steps", &steps.to_string())];
    let set: Vec<_> = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let mut scene_run = scenario("pressed-cylinder", &set).unwrap().start().unwrap();
    let mut worst = 0.0_f64;
    let x = &scene_run.simulation.state().x;
    let (low, high) = x.iter().fold((0.0_f64, 0.0_f64), |(a, b), x| (a.min(x.y), b.max(x.y)));
    for step in 1..=steps {
        let report = scene_run.step().unwrap();
        assert!(!report.unresolved && report.converged(), "{cells}: step {step}");
        let approach = 0.2 * step as f64 / steps as f64;
        let force = -soft_parts::force_on(&scene_run.simulation, 0).z / (high - low);
        if step * 10 % steps == 0 && step * 5 >= 2 * steps {
            worst = worst.max((force / pressed_cylinder::reference(approach) - 1.0).abs());
        }
    }
    worst
}

#[test]
fn a_pressed_cylinder_converges_to_the_reference_curve() {
    passes("pressed-cylinder", &[]);
    // Contact is known to a cell and energies to the square of its size: halving cells takes off at least half
    // of the error, down to what the reference itself is off by, about one in a hundred.
    let [coarse, fine] = ["2", "4"].map(|cells| worst_of_the_curve(cells, 40));
    assert!(fine < 0.5 * coarse && fine < 0.03, "{coarse} {fine}");
}

#[test]
fn an_elastic_arch_stands_and_falls_as_statics_says() {
    passes("elastic-arch", &[("duration", "0.4")]);
    passes("elastic-arch", &[("friction", "0.2"), ("duration", "1.5")]);
    // Also of a cell per block, where all vertices are corners, and on its faces instead of edges.
    passes("elastic-arch", &[("cells", "1"), ("duration", "4")]);
    passes("elastic-arch", &[("cells", "1"), ("lifted", "0"), ("duration", "4")]);
}

#[test]
fn a_bubble_gripper_carries_a_toy_and_an_open_one_does_not() {
    passes("bubble-gripper", &[]);
    fails("bubble-gripper", &[("squeeze", "0.005")]);
}

#[test]
fn a_hand_keeps_the_ball_it_squeezes_and_an_open_one_drops_it() {
    passes("squeezed-ball", &[]);
    fails("squeezed-ball", &[("grasp", "0")]);
}

#[test]
fn a_pressed_block_bears_its_plate_with_every_solver() {
    for solver in ["auto", "sap", "alm", "canal", "cond"] {
        let mut scene = scenario("pressed-block", &[]).unwrap();
        scene.settings.solver = solver.to_owned();
        let verdict = scene.start().unwrap().run().unwrap();
        assert!(verdict.passed, "{solver}: {}", verdict.detail);
    }
}
