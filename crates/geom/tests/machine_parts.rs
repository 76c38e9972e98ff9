//! Bolts, nuts and gears as fields: their lengths, their symmetries, and gradients as differences.

#![allow(clippy::unwrap_used)]

use std::f64::consts::TAU;

use nalgebra::{Rotation3, Vector3};
use stiction_geom::field::MachinePart;
use stiction_geom::{Field, FieldSolid};
use stiction_math::random::SplitMix64;

/// Turns of a thread per length [1/m].
const TURNS: f64 = 12.0;

const GEAR: MachinePart =
    MachinePart::Gear { angle: 0.1, diameter: 2.8, teeth: 25.0, thickness: 0.2, bore: -1.0 };
const PARTS: [MachinePart; 3] =
    [MachinePart::Bolt { radius: 0.255 }, MachinePart::Nut { radius: 0.26 }, GEAR];

#[test]
fn flats_and_threads_and_tips_lie_where_their_lengths_say() {
    let [bolt, nut, gear] = PARTS;
    let at = |part: MachinePart, x, y, z| part.sample(&Vector3::new(x, y, z)).value;
    // A flat of the heads is across the x axis.
    assert!((at(bolt, 0.6, 0.0, -0.25) - 0.1).abs() < 1e-12);
    assert!((at(nut, 0.6, 0.0, -0.25) - 0.1).abs() < 1e-12);
    // Two tenths of a turn from the middle of a groove, a ridge has risen by 0.2/12 m; 9.7 turns below z = 0.
    let z = -9.7 / TURNS;
    assert!(at(bolt, 0.255 + 0.2 / TURNS, 0.0, z).abs() < 1e-12);
    let (z, radius) = (-2.7 / TURNS, 0.26 + 0.2 / TURNS);
    assert!(at(nut, radius, 0.0, z).abs() < 1e-12);
    assert!(at(nut, radius - 0.01, 0.0, z) > 0.0 && at(nut, radius + 0.01, 0.0, z) < 0.0);
    // Teeth end an addendum outside of the pitch circle; the faces are half the thickness from the middle.
    let tip = 1.4 + 2.8 / 25.0;
    assert!((at(gear, 0.0, tip + 0.25, 0.0) - 0.25).abs() < 1e-12);
    assert!((at(gear, 0.0, 1.2, 0.15) - 0.05).abs() < 1e-12);
}

#[test]
fn a_thread_climbs_by_its_pitch_per_turn_and_a_gear_repeats_with_its_teeth() {
    let mut random = SplitMix64::new(11);
    for _ in 0..500 {
        let turn = random.uniform(-3.0, 3.0);
        let p = Vector3::new(0.26 + random.uniform(-0.02, 0.02), 0.0, -0.75);
        let bolt = PARTS[0];
        let moved = Rotation3::from_axis_angle(&Vector3::z_axis(), turn) * p
            + Vector3::z() * (turn / TAU / TURNS);
        let [a, b] = [p, moved].map(|p| bolt.sample(&p).value);
        assert!((a - b).abs() < 1e-12, "{a} {b}");
        let p = Vector3::new(random.uniform(1.2, 1.6), random.uniform(-1.0, 1.0), 0.01);
        let step = Rotation3::from_axis_angle(&Vector3::z_axis(), TAU / 25.0);
        let [a, b] = [p, step * p].map(|p| GEAR.sample(&p).value);
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }
}

#[test]
fn gradients_are_the_differences_of_values() {
    let (mut random, step) = (SplitMix64::new(12), 1e-7);
    for part in PARTS {
        let bounds = part.bounds();
        for _ in 0..1000 {
            let share = random.vector3().map(|x| 0.5 + 0.55 * x);
            let p = bounds.min + bounds.size().component_mul(&share);
            if p.x.hypot(p.y) < 0.05 {
                continue;
            }
            let found = part.sample(&p).gradient;
            let differences = Vector3::from_fn(|axis, _| {
                let mut shift = Vector3::zeros();
                shift[axis] = step;
                let [a, b] = [p + shift, p - shift].map(|p| part.sample(&p).value);
                (a - b) / (2.0 * step)
            });
            // Round-off of the values over the step, and curvatures below 1/(5 cm).
            assert!((found - differences).norm() < 1e-6, "{part:?} at {p}: {found}");
        }
    }
}

#[test]
fn surfaces_are_closed_and_keep_within_the_bounds() {
    for part in PARTS {
        let field = Field::build(FieldSolid::MachinePart(part), None).unwrap();
        assert!(field.surface().is_closed());
        let (bounds, own) = (field.surface().local_bounds(), part.bounds());
        assert!((bounds.min - own.min).min() > -1e-9 && (own.max - bounds.max).min() > -1e-9);
    }
    let thick = MachinePart::Nut { radius: 0.48 };
    assert!(Field::build(FieldSolid::MachinePart(thick), None).is_err());
}
