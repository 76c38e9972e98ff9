//! Times of a soft block's forces, stiffness and energy, per material and number of threads.
//!
//! `cargo run --release -p stiction-mech --example soft_timing [cells]`

use nalgebra::Vector3;
use std::hint::black_box;
use std::time::Instant;
use stiction_mech::{MATERIALS, Material, SoftBody, SoftSpec, SoftWorkspace};

/// Cells along the axes, six tetrahedra each.
const CELLS: [usize; 3] = [10, 10, 11];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let factor = std::env::args().nth(1).map_or(Ok(1), |arg| arg.parse::<usize>())?;
    let spec = block(CELLS.map(|cells| cells * factor));
    println!("{} vertices, {} tetrahedra", spec.vertices.len(), spec.tetrahedra.len());
    println!(
        "{:18} {:>10} {:>10} {:>10} {:>10}",
        "[µs]", "rotations", "forces", "stiffness", "energy"
    );
    for entry in MATERIALS {
        let parameters: &[f64] =
            if entry.parameters.len() == 3 { &[1e5, 5e4, 1e6] } else { &[1e5, 0.4] };
        let Some(material) = Material::from_name(entry.name, parameters) else { continue };
        let body = SoftBody::new(SoftSpec { material, ..spec.clone() })?;
        let mut work = SoftWorkspace::new(&body);
        let bend = |x: &Vector3<f64>| {
            let angle = 2.0 * x.z;
            let turned = Vector3::new(
                x.x * angle.cos() - x.y * angle.sin(),
                x.x * angle.sin() + x.y * angle.cos(),
                1.1 * x.z + 0.1 * x.x * x.x,
            );
            turned
                + 0.002 * Vector3::new((90.0 * x.y).sin(), (70.0 * x.z).sin(), (80.0 * x.x).sin())
        };
        let x: Vec<_> = body.spec.vertices.iter().map(bend).collect();
        let times = [
            best(|| body.update_rotations(black_box(&x), &mut work)),
            best(|| body.forces(black_box(&x), &mut work)),
            best(|| body.stiffness(black_box(&x), &mut work)),
            best(|| _ = black_box(body.energy(black_box(&x)))),
        ];
        let columns = times.map(|time| format!("{time:10.1}")).join(" ");
        println!("{:18} {columns}", entry.name);
    }
    Ok(())
}

/// The shortest of many runs [µs].
fn best(mut f: impl FnMut()) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..60 {
        let start = Instant::now();
        f();
        least = least.min(start.elapsed().as_secs_f64());
    }
    1e6 * least
}

/// A cube of one tenth of a metre, each cell cut into six tetrahedra along its diagonal.
fn block(cells: [usize; 3]) -> SoftSpec {
    let [nx, ny, nz] = cells.map(|n| n + 1);
    let mut vertices = Vec::new();
    for i in 0..nx {
        for j in 0..ny {
            for k in 0..nz {
                let part = |i: usize, n: usize| 0.1 * i as f64 / (n - 1) as f64;
                vertices.push(Vector3::new(part(i, nx), part(j, ny), part(k, nz)));
            }
        }
    }
    let id = |p: [usize; 3]| ((p[0] * ny + p[1]) * nz + p[2]) as u32;
    let mut tetrahedra = Vec::new();
    for i in 0..cells[0] {
        for j in 0..cells[1] {
            for k in 0..cells[2] {
                for order in [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [1, 0, 2], [2, 1, 0]] {
                    let (mut at, mut corners) = ([i, j, k], [id([i, j, k]); 4]);
                    for (step, axis) in order.into_iter().enumerate() {
                        at[axis] += 1;
                        corners[step + 1] = id(at);
                    }
                    let is_odd = (order[1] + 3 - order[0]) % 3 == 2;
                    if is_odd {
                        corners.swap(2, 3);
                    }
                    tetrahedra.push(corners);
                }
            }
        }
    }
    let material = Material::Linear { young: 1.0, poisson: 0.0 };
    SoftSpec::new(vertices, tetrahedra, material, 1000.0)
}
