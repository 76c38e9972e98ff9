//! Depths of random deep pairs of all convex cores, against the least overlap over many directions.

use super::super::gjk::{GjkResult, MinkowskiDifference, distance};
use super::{MOST_STEPS, PenetrationDepth, Polytope};
use crate::Shape;
use nalgebra::{Isometry3, Vector3};
use stiction_math::random::SplitMix64;

/// One of each kind of convex core, ordinary and thin ones.
fn shapes(random: &mut SplitMix64) -> Vec<Shape> {
    let mut length = || random.uniform(0.2, 1.0);
    let mut shapes = vec![
        Shape::cuboid(Vector3::new(length(), length(), length())).unwrap(),
        Shape::cuboid(Vector3::new(length(), length(), 0.01 * length())).unwrap(),
        Shape::capsule(length(), length()).unwrap(),
        Shape::cylinder(length(), length()).unwrap(),
        Shape::cylinder(length(), 0.01 * length()).unwrap(),
        Shape::cylinder(0.02 * length(), length()).unwrap(),
        Shape::ellipsoid(Vector3::new(length(), length(), length())).unwrap(),
        Shape::ellipsoid(Vector3::new(length(), length(), 0.02 * length())).unwrap(),
    ];
    for (n, thickness) in [(6, 1.0), (12, 1.0), (300, 1.0), (40, 1e-3)] {
        let extents = Vector3::new(1.0, 1.0, thickness);
        let point = |random: &mut SplitMix64| random.direction().component_mul(&extents);
        let points: Vec<_> = (0..n).map(|_| point(random)).collect();
        shapes.push(Shape::convex(&points).unwrap());
    }
    shapes
}

/// The least overlap over a spiral of directions, each of the best followed downhill: an upper bound of
/// the depth [m].
fn least_overlap(pair: &MinkowskiDifference) -> f64 {
    const N: usize = 2000;
    let overlap = |n: &Vector3<f64>| pair.support(n).w.dot(n);
    let spiral = |k: usize| {
        let z = 1.0 - (2 * k + 1) as f64 / N as f64;
        let (angle, r) = (2.399_963_229_728_653 * k as f64, (1.0 - z * z).sqrt());
        Vector3::new(r * angle.cos(), r * angle.sin(), z)
    };
    let mut found: Vec<_> = (0..N).map(|k| (overlap(&spiral(k)), spiral(k))).collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    let downhill = |&(mut least, mut n): &(f64, Vector3<f64>)| {
        let mut step = 0.05;
        while step > 1e-9 {
            let axis = if n.x.abs() < 0.7 { Vector3::x() } else { Vector3::y() };
            let t = n.cross(&axis).normalize();
            let b = n.cross(&t);
            let ring = (0..12).map(|k| f64::from(k) * std::f64::consts::TAU / 12.0);
            let best = ring
                .map(|angle| (n + step * (angle.cos() * t + angle.sin() * b)).normalize())
                .map(|n| (overlap(&n), n))
                .min_by(|a, b| a.0.total_cmp(&b.0));
            match best {
                Some((value, next)) if value < least => (least, n) = (value, next),
                _ => step *= 0.5,
            }
        }
        least
    };
    found[..8].iter().map(downhill).fold(f64::INFINITY, f64::min)
}

/// Pairs of random shapes whose centres are closer than their sizes, from concentric to just touching.
fn deep_pairs(n: usize, mut visit: impl FnMut(&str, &MinkowskiDifference, &PenetrationDepth)) {
    let mut random = SplitMix64::new(41);
    let mut polytope = Polytope::default();
    for _ in 0..n {
        let all = shapes(&mut random);
        for (i, a) in all.iter().enumerate() {
            for (j, b) in all.iter().enumerate().skip(i) {
                let reach = [0.0, 1e-3, 0.1, 0.5][random.below(4)];
                let mut X_AB =
                    Isometry3::from_parts((reach * random.vector3()).into(), random.rotation());
                if random.below(4) == 0 {
                    X_AB.rotation = Default::default();
                }
                let pair = MinkowskiDifference { a, b, X_AB: &X_AB };
                if let GjkResult::Overlap(simplex) = distance(&pair, f64::INFINITY) {
                    let found = polytope.depth(&pair, &simplex);
                    visit(&format!("{i} {} {j} {}", a.name(), b.name()), &pair, &found);
                }
            }
        }
    }
}

#[test]
fn the_depth_lies_between_its_bounds_and_is_the_least_overlap_where_it_is_resolved() {
    let (mut pairs, mut resolved) = (0, 0);
    deep_pairs(4, |name, pair, found| {
        pairs += 1;
        let PenetrationDepth { normal, overlap, least, scale, steps, .. } = *found;
        assert!(steps <= MOST_STEPS, "{name}: {steps}");
        let sampled = least_overlap(pair);
        // Coordinates of the size are rounded to 1e-16, and a few hundred faces add up rounded terms.
        let round_off = 1e-12 * scale;
        let along = pair.support(&normal).w.dot(&normal);
        assert!((along - overlap).abs() <= round_off, "{name}: {along} {overlap}");
        assert!(least <= overlap + round_off, "{name}: {least} {overlap}");
        // With the lower bound, the depth exceeds the least overlap by no more than the difference of the
        // bounds.
        assert!(least <= sampled + round_off, "{name}: {least} is no bound of {sampled}");
        resolved += usize::from(overlap - least <= 1e-6 * scale + 1e-2 * least);
    });
    // One-parameter families of equal minima (coaxial cylinders) converge with the square of the number
    // of steps; all others geometrically.
    assert!(pairs > 200 && resolved * 10 >= pairs * 9, "{resolved} of {pairs}");
}

#[test]
fn concentric_cylinders_are_as_deep_as_the_sum_of_their_radii() {
    let (a, b) = (Shape::cylinder(0.3, 2.0).unwrap(), Shape::cylinder(0.2, 3.0).unwrap());
    let X_AB = Isometry3::identity();
    let pair = MinkowskiDifference { a: &a, b: &b, X_AB: &X_AB };
    let GjkResult::Overlap(simplex) = distance(&pair, f64::INFINITY) else { panic!("apart") };
    let found = Polytope::default().depth(&pair, &simplex);
    // All radial directions are equal. The polytope inscribes a polygon of n corners, n steps at most:
    // its distance is less by a part of (π/n)²/2, a few times that where the corners are uneven.
    let part = 8.0 * (std::f64::consts::PI / MOST_STEPS as f64).powi(2) / 2.0;
    assert!((found.overlap - 0.5).abs() < 1e-12 * 5.0, "{found:?}");
    assert!(found.least <= 0.5 && found.least > 0.5 * (1.0 - part), "{found:?}");
}
