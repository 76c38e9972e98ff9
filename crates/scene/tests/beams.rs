//! Beams, rods, pressed and gripped soft bodies: the scenarios pass their checks over their
//! parameters, and can fail them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use stiction_scene::gallery::cantilever::Beam;
use stiction_scene::scenario;

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
    // Far stiffer against bending than a rope is.
    fails("hanging-cable", &[("radius", "1e-3"), ("young", "1e11"), ("segments", "200")]);
}

#[test]
fn a_twisted_rod_buckles_above_the_critical_twist_and_not_below() {
    for twist in ["0.5", "0.9", "1.1", "1.2"] {
        passes("twisted-rod", &[("twist", twist)]);
    }
    passes("twisted-rod", &[("twist", "1.15"), ("poisson", "0.49")]);
}

#[test]
fn a_cable_coils_one_way_with_the_radius_of_its_stiffness_and_weight() {
    passes("cable-coiling", &[]);
}

#[test]
fn a_pressed_cylinder_resists_about_as_the_reference_says() {
    passes("pressed-cylinder", &[]);
}

#[test]
fn an_elastic_arch_stands_and_falls_as_statics_says() {
    passes("elastic-arch", &[("friction", "1"), ("duration", "0.4")]);
    passes("elastic-arch", &[("friction", "0.2")]);
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
        let mut stage = scenario("pressed-block", &[]).unwrap();
        stage.settings.solver = solver.to_owned();
        let verdict = stage.start().unwrap().run().unwrap();
        assert!(verdict.passed, "{solver}: {}", verdict.detail);
    }
}
