//! Tests of surfaces and of their combination.

use super::*;

#[test]
fn equal_coefficients_combine_to_themselves_under_every_rule() {
    for rule in [Combine::Geometric, Combine::Harmonic, Combine::Maximum, Combine::Minimum] {
        for mu in [0.0, 0.3, 1.0, 7.0] {
            // One multiplication and one root: a few ulps.
            assert!((rule.friction(mu, mu) - mu).abs() <= 4.0 * f64::EPSILON * mu, "{rule:?}");
        }
    }
}

#[test]
fn compliances_of_two_springs_in_series_add_up() {
    let soft = Surface { stiffness: 1e4, ..Surface::default() };
    let pair = Pairing::of(&soft, &soft, Combine::default());
    assert_eq!(pair.stiffness, 5e3);
    let on_rigid = Pairing::of(&soft, &Surface::default(), Combine::default());
    assert!((on_rigid.stiffness - 1e4).abs() <= 1e-11);
    let rigid = Pairing::of(&Surface::default(), &Surface::default(), Combine::default());
    assert_eq!(rigid.stiffness, f64::INFINITY);
}

#[test]
fn the_larger_resistance_counts_and_what_is_not_resisted_has_no_coefficient() {
    let rough = Surface { spin: 0.1, roll: 0.2, ..Surface::with_friction(0.3) };
    for (a, b, expected) in [
        (Resistance::Nothing, Resistance::Nothing, [0.0, 0.0, 0.0]),
        (Resistance::Nothing, Resistance::Sliding, [0.3, 0.0, 0.0]),
        (Resistance::Spinning, Resistance::Sliding, [0.3, 0.1, 0.0]),
        (Resistance::Spinning, Resistance::Rolling, [0.3, 0.1, 0.2]),
    ] {
        let with = |resistance| Surface { resistance, ..rough };
        let pair = Pairing::of(&with(a), &with(b), Combine::Maximum);
        assert_eq!([pair.friction, pair.spin, pair.roll], expected);
    }
}

#[test]
fn the_surface_of_higher_priority_is_used_alone() {
    let grain = Some(Grain { along: Vector3::x_axis(), across_friction: 0.05 });
    let (soft, high) = (Surface { stiffness: 1e3, dissipation: 0.1, ..Surface::default() }, 3);
    let ruler = Surface { priority: high, grain, roll: 0.5, ..Surface::with_friction(0.1) };
    let rolling = Surface { resistance: Resistance::Rolling, ..soft };
    let pair = Pairing::of(&rolling, &ruler, Combine::Maximum);
    let expected =
        Pairing { friction: 0.1, across_friction: 0.05, grain: GrainOf::B, ..Pairing::default() };
    assert_eq!(pair, expected);
}

#[test]
fn impossible_surfaces_are_refused_with_the_number_found() {
    let of = |s: Surface| s.check("crate").map_err(|e| e.to_string());
    assert!(of(Surface::default()).is_ok());
    for bad in [
        Surface { friction: -0.1, ..Surface::default() },
        Surface { friction: f64::NAN, ..Surface::default() },
        Surface { restitution: 1.5, ..Surface::default() },
        Surface { stiffness: 0.0, ..Surface::default() },
        Surface { stiffness: f64::NAN, ..Surface::default() },
        Surface { dissipation: -1.0, ..Surface::default() },
        Surface { spin: -1.0, ..Surface::default() },
        Surface { roll: f64::INFINITY, ..Surface::default() },
    ] {
        let message = of(bad).unwrap_err();
        assert!(message.contains("crate"), "{message}");
    }
}
