//! The scenarios of this room pass their own checks, over their parameters, and can fail them.

use stiction_study::scenario;

fn verdict(name: &str, set: &[(&str, &str)]) -> (bool, String) {
    let set: Vec<_> = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let verdict = scenario(name, &set).unwrap().start().unwrap().run().unwrap();
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
fn slides_over_a_grain_follow_the_law_of_dissipation() {
    for (along, across) in [("0.2", "0.4"), ("0.4", "0.2"), ("0.3", "0.3"), ("0.1", "0.2")] {
        passes("anisotropic-slide", &[("along", along), ("across", across)]);
    }
}

#[test]
fn balls_bounce_to_their_peaks() {
    for restitution in ["0", "0.3", "0.5", "0.8", "1"] {
        passes("bouncing-ball", &[("restitution", restitution)]);
        passes("bouncing-ball", &[("restitution", restitution), ("scheme", "mid-velocity")]);
    }
}

#[test]
fn pushed_boxes_drift_no_more_than_their_nodes_yield() {
    for gain in ["1e3", "1e4"] {
        for force in ["0.5", "0.9", "2"] {
            passes("box-slide", &[("gain", gain), ("force", force)]);
        }
    }
    // Positions that move with the next velocity are off by half a step of speed.
    fails("box-slide", &[("gain", "1e3"), ("scheme", "symplectic")]);
}

#[test]
fn bodies_stick_slide_roll_and_tip_on_inclines() {
    for angle in ["0", "15", "26.5", "26.6", "30", "45"] {
        passes("incline", &[("angle", angle)]);
    }
    for friction in ["0", "0.05", "0.11", "0.5"] {
        passes("incline", &[("body", "1"), ("angle", "20"), ("friction", friction)]);
    }
    for angle in ["14", "14.2"] {
        passes("incline", &[("body", "2"), ("angle", angle), ("friction", "0.8")]);
    }
}

#[test]
fn thrown_spheres_end_up_rolling() {
    for friction in ["0.05", "0.2", "1"] {
        passes("rolling-sphere", &[("friction", friction)]);
    }
    passes("rolling-sphere", &[("scheme", "mid-velocity")]);
}

#[test]
fn cylinders_on_a_spring_keep_the_energy_their_scheme_promises() {
    for friction in ["0", "1"] {
        for scheme in ["midpoint", "symplectic", "implicit"] {
            passes("spring-cylinder", &[("friction", friction), ("scheme", scheme)]);
        }
    }
}
