//! Times of queries of signed distance fields and of their contacts.

#![allow(non_snake_case)]

use nalgebra::{Isometry3, Vector3};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;
use stiction_geom::field::{GridSign, MOST_BYTES, Profile, SampledGrid, Thread};
use stiction_geom::narrow::{self, Manifold, PosedShape};
use stiction_geom::shape::{Mesh, generate};
use stiction_geom::{FieldSolid, Shape, ShapeError};
use stiction_math::random::SplitMix64;

fn main() -> Result<(), ShapeError> {
    let line = Profile::line(&[[0.0, 0.0], [0.06, 0.0], [0.1, 0.03]], 0.005)?;
    let (vertices, triangles) = generate::torus(0.08, 0.03, 96, 48);
    let grid = SampledGrid::build(
        Mesh::build(&vertices, &triangles)?,
        0.002,
        GridSign::Closed,
        MOST_BYTES,
    )?;
    let dish = FieldSolid::Revolve(Arc::new(line));
    let solids = [
        ("dish", dish.clone()),
        ("grid", FieldSolid::Grid(Arc::new(grid))),
        ("bolt", FieldSolid::Thread(Thread::m48_bolt(0.03))),
    ];
    let mut random = SplitMix64::new(1);
    let points: Vec<Vector3<f64>> = (0..4096).map(|_| 0.1 * random.vector3()).collect();
    for (name, solid) in &solids {
        let (mut sum, mut least) = (0.0, f64::INFINITY);
        for _ in 0..1000 {
            let start = Instant::now();
            for p in &points {
                sum += black_box(solid.sample(black_box(p))).value;
            }
            least = least.min(start.elapsed().as_secs_f64());
        }
        let each = least / points.len() as f64;
        println!("{name}: {:.1} ns per query ({sum:.3})", 1e9 * each);
    }
    let plate = Shape::field(dish, None)?;
    let bolt = Shape::field(solids[2].1.clone(), None)?;
    let nut = Shape::field(FieldSolid::Thread(Thread::m48_nut(0.0125, 1e-4)), None)?;
    let (sphere, fine) = generate::icosphere(0.03, 5);
    let many = Shape::mesh(&sphere, &fine)?;
    let revolved = |line: &[[f64; 2]], thickness: f64| {
        Shape::field(FieldSolid::Revolve(Arc::new(Profile::line(line, thickness)?)), None)
    };
    let bowl = revolved(&[[0.0, 0.0], [0.035, 0.0], [0.07, 0.04]], 0.005)?;
    let low = revolved(&[[0.0, 0.0], [0.085, 0.0], [0.115, 0.018]], 0.005)?;
    let pot = revolved(&[[0.0, 0.0], [0.075, 0.0], [0.075, 0.09]], 0.008)?;
    let nested = 0.005 * 0.035_f64.hypot(0.04) / 0.035;
    let pairs = [
        ("bowl in bowl", &bowl, &bowl, nested),
        ("plate on bowl", &bowl, &low, 0.045),
        ("pot on plate", &low, &pot, 0.0065),
        ("plate in plate", &plate, &plate, 0.005),
        ("nut on bolt", &bolt, &nut, 0.0),
        ("mesh of 20480 triangles on plate", &plate, &many, 0.0324),
    ];
    // A part of a name chooses pairs.
    let wanted = std::env::args().nth(1).unwrap_or_default();
    for (name, a, b, z) in pairs.into_iter().filter(|pair| pair.0.contains(&wanted)) {
        for reach in [1e-5, 4e-4, 4e-3] {
            let (X_A, X_B) = (Isometry3::identity(), Isometry3::translation(0.0, 0.0, z));
            let mut manifold = Manifold::default();
            let rounds = if wanted.is_empty() { 50 } else { 2000 };
            let mut best = f64::INFINITY;
            for _ in 0..rounds {
                manifold.clear();
                let start = Instant::now();
                narrow::contacts(
                    PosedShape { shape: a, X_WS: &X_A },
                    PosedShape { shape: b, X_WS: &X_B },
                    reach,
                    &mut manifold,
                );
                best = best.min(start.elapsed().as_secs_f64());
            }
            println!(
                "{name} within {} mm: {:.0} µs, {} contacts",
                1e3 * reach,
                1e6 * best,
                manifold.len()
            );
        }
    }
    Ok(())
}
