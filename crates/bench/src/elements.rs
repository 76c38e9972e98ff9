//! `elements`: scaling of the loops over the elements of a soft body with threads.
//!
//! One cube of tetrahedra, deformed, and per material the three loops of a step in their order:
//! rotations, forces, stiffness. Rounds over all numbers of threads; the reported time is the least wall
//! time of a round, close to that of an idle machine, with the CPU time of the same round, which
//! excludes waiting. Checks that results have the same bits for every number of threads.

use std::time::Instant;

use nalgebra::Vector3;
use serde_json::{Value, json};
use stiction_geom::TetMesh;
use stiction_mech::{Material, ModelBuilder, SoftSpec, SoftWorkspace};
use stiction_plot::{Axis, Figure, Panel, Series};

use crate::bench_report::BenchReport;
use crate::error::BenchError;
use stiction_reproduce::clock::cpu_seconds;
use stiction_reproduce::table::{Table, number};

/// Arguments of `elements`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  stiction-bench elements
  stiction-bench elements --cells 20 --over 1,2,4,8")]
pub struct ElementsArgs {
    /// Cells along an edge of the cube, each of six elements
    #[arg(long, value_name = "N", default_value = "16", value_parser = clap::value_parser!(u16).range(1..=200))]
    cells: u16,
    /// Numbers of threads, separated by commas
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1,2",
          value_parser = clap::value_parser!(u16).range(1..))]
    over: Vec<u16>,
    /// Rounds
    #[arg(long, value_name = "N", default_value = "20", value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
}

const YOUNG: f64 = 1e5; // [Pa]
const POISSON: f64 = 0.4;
const DENSITY: f64 = 1000.0; // [kg/m³]

const MATERIALS: [Material; 3] = [
    Material::LinearCorotated { young: YOUNG, poisson: POISSON },
    Material::Corotational { young: YOUNG, poisson: POISSON },
    Material::NeoHookean { young: YOUNG, poisson: POISSON },
];

/// One material with one number of threads.
struct ElementTimes {
    material: &'static str,
    threads: u16,
    /// Least wall time of a round, and its CPU time [ms].
    wall: f64,
    cpu: f64,
}

/// Runs `elements`.
pub fn run(args: &ElementsArgs) -> Result<BenchReport, BenchError> {
    let failed = |what: String| BenchError::Elements { what };
    let cells = usize::from(args.cells);
    let mesh =
        TetMesh::cuboid(Vector3::repeat(0.1), [cells; 3]).map_err(|e| failed(e.to_string()))?;
    // A twist about z and a bulge, so that all elements rotate and stretch differently.
    let deformed = |p: &Vector3<f64>| {
        let (sin, cos) = (8.0 * p.z).sin_cos();
        let wide = 1.0 + 20.0 * p.z * p.z;
        Vector3::new(wide * (cos * p.x - sin * p.y), wide * (sin * p.x + cos * p.y), 1.1 * p.z)
    };
    let x: Vec<_> = mesh.vertices().iter().map(deformed).collect();
    let mut points = Vec::new();
    for material in MATERIALS {
        let mut builder = ModelBuilder::new();
        let (vertices, tetrahedra) = (mesh.vertices().to_vec(), mesh.tetrahedra().to_vec());
        builder.soft(SoftSpec::new(vertices, tetrahedra, material, DENSITY));
        let model = builder.build().map_err(|e| failed(e.to_string()))?;
        let body = &model.softs()[0];
        let pools = args.over.iter().map(|&count| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(usize::from(count)).build();
            pool.map_err(|e| BenchError::Threads { count, reason: e.to_string() })
        });
        let pools = pools.collect::<Result<Vec<_>, _>>()?;
        let mut works: Vec<_> = pools.iter().map(|_| SoftWorkspace::new(body)).collect();
        let mut best = vec![(f64::INFINITY, f64::INFINITY); pools.len()];
        // Rounds, so that load by other programs affects all equally.
        for _ in 0..args.rounds {
            for ((pool, work), best) in pools.iter().zip(&mut works).zip(&mut best) {
                let (wall, cpu) = (Instant::now(), cpu_seconds());
                pool.install(|| {
                    body.update_rotations(&x, work);
                    body.forces(&x, work);
                    body.stiffness(&x, work);
                });
                let spent = (wall.elapsed().as_secs_f64(), cpu_seconds() - cpu);
                if spent.0 < best.0 {
                    *best = spent;
                }
            }
        }
        let alike = |work: &SoftWorkspace| {
            work.force == works[0].force && work.stiffness.values() == works[0].stiffness.values()
        };
        if !works.iter().all(alike) {
            return Err(failed(format!("{}: results depend on threads", material.entry().name)));
        }
        points.extend(args.over.iter().zip(best).map(|(&threads, (wall, cpu))| ElementTimes {
            material: material.entry().name,
            threads,
            wall: 1e3 * wall,
            cpu: 1e3 * cpu,
        }));
    }
    let (elements, vertices) = (mesh.tetrahedra().len(), mesh.vertices().len());
    Ok(BenchReport {
        text: text(&points, elements, vertices),
        json: document(&points, elements, vertices),
        figures: vec![("elements".to_owned(), figure(&points))],
    })
}

/// Wall time of the first number of threads over that of a point [-].
fn gain(points: &[ElementTimes], point: &ElementTimes) -> f64 {
    let first = points.iter().find(|p| p.material == point.material);
    first.map_or(f64::NAN, |first| first.wall / point.wall)
}

fn text(points: &[ElementTimes], elements: usize, vertices: usize) -> String {
    let mut table = Table::new(&["material", "threads", "wall [ms]", "CPU [ms]", "gain [-]"]);
    for p in points {
        let gain = format!("{:.2}", gain(points, p));
        let numbers = [number(p.wall), number(p.cpu), gain];
        table.row([p.material.to_owned(), p.threads.to_string()].into_iter().chain(numbers));
    }
    format!(
        "rotations, forces and stiffness of {elements} elements on {vertices} vertices, least of all \
         rounds\n{}",
        table.render()
    )
}

fn document(points: &[ElementTimes], elements: usize, vertices: usize) -> Value {
    let point = |p: &ElementTimes| {
        json!({"material": p.material, "threads": p.threads, "wall_milliseconds": p.wall,
               "cpu_milliseconds": p.cpu, "gain": gain(points, p)})
    };
    let points: Vec<Value> = points.iter().map(point).collect();
    json!({"elements": elements, "vertices": vertices, "points": points})
}

fn figure(points: &[ElementTimes]) -> Figure {
    let mut panel = Panel::new(Axis::linear("threads [-]"), Axis::linear("gain [-]"));
    for material in MATERIALS.map(|material| material.entry().name) {
        let own = points.iter().filter(|p| p.material == material);
        let curve = own.map(|p| (f64::from(p.threads), gain(points, p))).collect();
        panel = panel.series(Series::line_and_markers(material, curve));
    }
    Figure::new("Loops over elements").subtitle("wall time against one thread").panel(panel)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loops_give_the_same_bits_for_every_number_of_threads() {
        let found = run(&ElementsArgs { cells: 6, over: vec![1, 2, 3], rounds: 1 }).unwrap();
        assert_eq!(found.json["points"].as_array().map(Vec::len), Some(9));
        assert_eq!(found.json["elements"], 6 * 6 * 6 * 6);
    }
}
