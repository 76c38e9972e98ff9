//! Invariances of the contacts of random pairs of all shapes: rigid motion, exchange of A and B, scale.
//!
//! Tolerances are for shapes of about 1 m. Poses up to 10 m from the origin carry round-off of
//! 10 m · 2⁻⁵² ≈ 2e-15 m, which edges at a small angle to each other may magnify by up to 1e5. Where a
//! curved surface takes part, overlaps are minimized to 1e-12 of the size, so that the normal is known to
//! √(2 · 1e-12) ≈ 1.4e-6 in each of the two computations compared. Points slide with it along edges that are
//! nearly parallel, and at a distance of 1 m from the nearest point gaps change by as much.
#![allow(non_snake_case, clippy::unwrap_used)]

mod common;

use common::touches;
use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion, Vector3};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use stiction_geom::narrow::ManifoldPoint;
use stiction_geom::shape::generate::{self, TriangleSoup};
use stiction_geom::{SHAPES, Shape};
use stiction_math::random::SplitMix64;

/// Tolerance of gaps between polyhedra and spheres, whose normals are exact [m].
const GAP: f64 = 1e-9;
/// Tolerance of gaps where a normal is iterated [m].
const CURVED_GAP: f64 = 3e-6;
/// Tolerance of points [m] and normals [-].
const PLACE: f64 = 1e-5;
/// Distance within which contacts are reported [m].
const REACH: f64 = 0.02;

fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::with_cases(600)
    }
}

/// A shape of a kind in [`SHAPES`] of about 1 m, by random lengths [m] and a seed, times `scale`.
#[derive(Clone, Debug)]
struct RandomShape {
    kind: usize,
    lengths: [f64; 3],
    seed: u64,
}

impl RandomShape {
    fn name(&self) -> &'static str {
        SHAPES[self.kind].name
    }

    fn build(&self, scale: f64) -> Shape {
        let [x, y, z] = self.lengths.map(|length| scale * length);
        let mut random = SplitMix64::new(self.seed);
        match self.name() {
            "box" => Shape::cuboid(Vector3::new(x, y, z)).unwrap(),
            "capsule" => Shape::capsule(x, y).unwrap(),
            "compound" => {
                let pose = |random: &mut SplitMix64| {
                    let mut pose = random.pose(0.4);
                    pose.translation.vector *= scale;
                    pose
                };
                let parts =
                    [Shape::cylinder(x, y).unwrap(), Shape::cuboid(Vector3::new(x, y, z)).unwrap()];
                Shape::compound(parts.map(|part| (pose(&mut random), part)).to_vec()).unwrap()
            }
            "convex" => {
                let points: Vec<_> =
                    common::points(&mut random, 12).iter().map(|p| scale * p).collect();
                Shape::convex(&points).unwrap()
            }
            "cylinder" => Shape::cylinder(x, y).unwrap(),
            "ellipsoid" => Shape::ellipsoid(Vector3::new(x, y, z)).unwrap(),
            "heightfield" => {
                let heights = (0..36).map(|_| scale * random.uniform(0.0, 0.3)).collect();
                Shape::height_field(6, 6, heights, (3.0 * scale, 3.0 * scale)).unwrap()
            }
            "mesh" => {
                let (vertices, triangles) = self.soup(&mut random);
                let vertices: Vec<_> = vertices.iter().map(|p| scale * p).collect();
                Shape::mesh(&vertices, &triangles).unwrap()
            }
            "plane" => Shape::Plane,
            "sphere" => Shape::sphere(x).unwrap(),
            name => unreachable!("{name}: a new shape needs a line here"),
        }
    }

    /// A solid that is convex, one with a hole, or an open sheet.
    fn soup(&self, random: &mut SplitMix64) -> TriangleSoup {
        let [x, y, z] = self.lengths;
        let (mut vertices, triangles) = match self.seed % 3 {
            0 => generate::icosphere(x, 1),
            1 => generate::torus(0.5 + 0.5 * x, 0.3 * y, 12, 7),
            _ => generate::sheet((2.0, 2.0), (5, 5), |p, q| {
                0.2 * (3.0 * x * p).sin() * (3.0 * z * q).cos()
            }),
        };
        // Without symmetry no two features are equally near.
        vertices.iter_mut().for_each(|p| *p += 0.02 * random.vector3());
        (vertices, triangles)
    }
}

/// Two shapes near touching.
#[derive(Clone, Debug)]
struct Pair {
    a: RandomShape,
    b: RandomShape,
    X_WA: Isometry3<f64>,
    X_WB: Isometry3<f64>,
}

impl Pair {
    /// Moves B from the origin of A along `direction` until the shapes are apart, then back by `depth` [m].
    fn new(
        (a, R_WA): (RandomShape, UnitQuaternion<f64>),
        (b, R_WB): (RandomShape, UnitQuaternion<f64>),
        direction: Vector3<f64>,
        depth: f64,
    ) -> Self {
        // Unbounded shapes are left along their z-axis.
        let is_ground = |shape: &RandomShape| ["heightfield", "plane"].contains(&shape.name());
        let z = Vector3::z();
        let direction = if is_ground(&a) {
            R_WA * z
        } else if is_ground(&b) {
            -(R_WB * z)
        } else {
            direction
        };
        let (shape_a, shape_b) = (a.build(1.0), b.build(1.0));
        let X_WA = Isometry3::from_parts(Translation3::identity(), R_WA);
        let at = |t: f64| Isometry3::from_parts((t * direction).into(), R_WB);
        let (mut inside, mut outside) = (0.0, 5.0);
        for _ in 0..20 {
            let middle = 0.5 * (inside + outside);
            if touches((&shape_a, &X_WA), (&shape_b, &at(middle)), 0.0).is_empty() {
                outside = middle;
            } else {
                inside = middle;
            }
        }
        Self { a, b, X_WA, X_WB: at(inside - depth) }
    }

    fn names(&self) -> String {
        format!("{} {}", self.a.name(), self.b.name())
    }

    fn gap_tolerance(&self) -> f64 {
        let is_curved = |shape: &RandomShape| {
            ["capsule", "compound", "cylinder", "ellipsoid"].contains(&shape.name())
        };
        if is_curved(&self.a) || is_curved(&self.b) { CURVED_GAP } else { GAP }
    }
}

fn shape() -> impl Strategy<Value = RandomShape> {
    // The contacts of a field are a choice among many that are equally near; `fields` tests them.
    let of_points = |kind: &usize| SHAPES[*kind].name != "sdf";
    let kind = (0..SHAPES.len()).prop_filter("a choice among equals", of_points);
    (kind, prop::array::uniform3(0.3..0.9), any::<u64>())
        .prop_map(|(kind, lengths, seed)| RandomShape { kind, lengths, seed })
}

fn rotation() -> impl Strategy<Value = UnitQuaternion<f64>> {
    prop::array::uniform4(-1.0..1.0)
        .prop_map(|[w, x, y, z]| Quaternion::new(w, x, y, z))
        .prop_filter("too short", |q| q.norm() > 0.1)
        .prop_map(UnitQuaternion::from_quaternion)
}

fn pair() -> impl Strategy<Value = Pair> {
    let parts = (shape(), shape(), rotation(), rotation(), rotation(), -0.015..0.08);
    parts.prop_map(|(a, b, R_WA, R_WB, R, depth)| {
        Pair::new((a, R_WA), (b, R_WB), R * Vector3::x(), depth)
    })
}

/// Whether two manifolds have the same points, each with the same normal and gap; the difference if not.
fn compare(
    found: &[ManifoldPoint],
    expected: &[ManifoldPoint],
    scale: f64,
    gap_tolerance: f64,
) -> Result<(), String> {
    if found.len() != expected.len() {
        return Err(format!("{} points instead of {}", found.len(), expected.len()));
    }
    for p in expected {
        let same = |q: &ManifoldPoint| {
            (p.point - q.point).norm() <= PLACE * scale
                && (p.normal - q.normal).norm() <= PLACE
                && (p.gap - q.gap).abs() <= gap_tolerance * scale
        };
        if !found.iter().any(same) {
            return Err(format!("{p:?} is not among {found:?}"));
        }
    }
    Ok(())
}

/// Compares the contacts after moving both shapes by `X_VW`.
fn rotate_and_translate(pair: &Pair, X_VW: &Isometry3<f64>) -> Result<(), String> {
    let (a, b) = (pair.a.build(1.0), pair.b.build(1.0));
    let here = touches((&a, &pair.X_WA), (&b, &pair.X_WB), REACH);
    let there = touches((&a, &(X_VW * pair.X_WA)), (&b, &(X_VW * pair.X_WB)), REACH);
    let moved: Vec<_> = here
        .iter()
        .map(|p| ManifoldPoint {
            point: X_VW.rotation * p.point + X_VW.translation.vector,
            normal: X_VW.rotation * p.normal,
            ..*p
        })
        .collect();
    compare(&there, &moved, 1.0, pair.gap_tolerance())
}

/// Compares the contacts after exchanging A and B.
fn exchange(pair: &Pair) -> Result<(), String> {
    let (a, b) = (pair.a.build(1.0), pair.b.build(1.0));
    let one = touches((&a, &pair.X_WA), (&b, &pair.X_WB), REACH);
    let two = touches((&b, &pair.X_WB), (&a, &pair.X_WA), REACH);
    let mirrored: Vec<_> = one.iter().map(|p| ManifoldPoint { normal: -p.normal, ..*p }).collect();
    compare(&two, &mirrored, 1.0, pair.gap_tolerance())
}

/// Compares the contacts after multiplying all lengths by `scale`.
fn rescale(pair: &Pair, scale: f64) -> Result<(), String> {
    let scaled = |X: &Isometry3<f64>| {
        Isometry3::from_parts((scale * X.translation.vector).into(), X.rotation)
    };
    let (a, b) = (pair.a.build(1.0), pair.b.build(1.0));
    let here = touches((&a, &pair.X_WA), (&b, &pair.X_WB), REACH);
    let (a, b) = (pair.a.build(scale), pair.b.build(scale));
    let there = touches((&a, &scaled(&pair.X_WA)), (&b, &scaled(&pair.X_WB)), scale * REACH);
    let expected: Vec<_> = here
        .iter()
        .map(|p| ManifoldPoint { point: scale * p.point, gap: scale * p.gap, ..*p })
        .collect();
    compare(&there, &expected, scale, pair.gap_tolerance())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn contacts_move_with_both_shapes(
        pair in pair(),
        R_VW in rotation(),
        p_VW in prop::array::uniform3(-10.0..10.0),
    ) {
        let X_VW = Isometry3::from_parts(Vector3::from(p_VW).into(), R_VW);
        let result = rotate_and_translate(&pair, &X_VW);
        prop_assert!(result.is_ok(), "{}: {result:?}", pair.names());
    }

    #[test]
    fn exchanging_the_shapes_reverses_normals_and_keeps_points_and_gaps(pair in pair()) {
        let result = exchange(&pair);
        prop_assert!(result.is_ok(), "{}: {result:?}", pair.names());
    }

    #[test]
    fn gaps_scale_with_all_lengths(pair in pair(), exponent in -2.0..2.0) {
        let result = rescale(&pair, 10f64.powf(exponent));
        prop_assert!(result.is_ok(), "{}: {result:?}", pair.names());
    }
}
