//! Steps an elastic block or mat with small displacements and prints what each solve takes.
//!
//! `soft_steps <mat|press|slide> <cells> <solver> <steps> [tolerance] [compliance] [key=value ...]`

#![allow(non_snake_case)] // matrices keep their capitals

use std::time::Instant;

use stiction_solve::catalogue::ElasticGrid;
use stiction_solve::contact::{frame, rows};
use stiction_solve::law::{Coulomb, Law};
use stiction_solve::problem::Map;
use stiction_solve::solver::Reduce;
use stiction_solve::{Goal, Problem, Session, Solution};

const STEP: f64 = 0.01; // [s]
const DAMPING: f64 = 0.01; // [s]
const GRAVITY: f64 = 9.81; // [m/s²]

/// Time that this thread has run [s].
fn seconds() -> f64 {
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok())
        .map_or(0.0, |nanoseconds| 1e-9 * nanoseconds)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let get = |k: usize, default: &str| args.get(k).cloned().unwrap_or(default.to_owned());
    let scene = get(1, "mat");
    let cells: usize = get(2, "21").parse()?;
    let solver = get(3, "cond");
    let steps: usize = get(4, "20").parse()?;
    let tolerance: f64 = get(5, "1e-4").parse()?;
    let compliance: f64 = get(6, "0").parse()?;
    let press = scene == "press";
    let grid = if press {
        ElasticGrid {
            cells: [cells, cells, cells + 1],
            size: [0.1, 0.1, 0.11],
            young: 1e5,
            poisson: 0.4,
            density: 1000.0,
        }
    } else {
        ElasticGrid {
            cells: [cells, cells, 2],
            size: [0.5, 0.5, 0.02],
            young: 1e5,
            poisson: 0.3,
            density: 200.0,
        }
    };
    let (masses, K) = grid.matrices();
    let (_, A) = grid.implicit_matrix(STEP * (STEP + DAMPING));
    let node_compliance = grid.node_compliance(&masses, &A);
    let n = 3 * grid.count();
    let (mut u, mut v) = (vec![0.0; n], vec![0.0; n]);
    if scene == "slide" {
        v.chunks_exact_mut(3).for_each(|v| v[0] = 0.5);
    }
    let mut session = Session::new(&solver)?;
    for pair in args.iter().skip(7) {
        let (key, value) = pair.split_once('=').ok_or("key=value")?;
        if key == "reduce" {
            session.reduce(match value {
                "always" => Reduce::Always,
                "never" => Reduce::Never,
                _ => Reduce::WhereFaster,
            });
        } else {
            session.set(key, value)?;
        }
    }
    let goal = Goal { tolerance, trace: true, ..Goal::default() };
    let (mut builder, mut problem) = (Problem::builder("steps"), Problem::default());
    let (mut solution, mut impulses) = (Solution::default(), vec![[0.0; 3]; 2 * grid.count()]);
    let [nx, ny, nz] = grid.nodes();
    let law = Law::Coulomb(Coulomb::new(0.5).ok_or("friction")?);
    let clock = Instant::now();
    println!(
        "{:>4} {:>6} {:>6} {:>9} {:>9} {:>9}",
        "step", "rows", "iters", "build ms", "solve ms", "residual"
    );
    let (mut built, mut solved) = (0.0, 0.0);
    for step in 0..steps {
        let (mut force, mut b) = (vec![0.0; n], vec![0.0; n]);
        K.mul(&u, &mut force);

        for k in 0..n {
            let gravity = if k % 3 == 2 { -GRAVITY } else { 0.0 };
            let m = masses[k / 3];
            b[k] = m * (v[k] + STEP * gravity) - STEP * force[k];
        }

        let begin = seconds();
        builder.clear();
        let body = builder.sparse_matrix(&A, &b, Some(&node_compliance));
        let mut touched = Vec::new();
        let down = 0.05 * STEP * (step + 1) as f64;
        let mut contact = |node: usize, normal: f64, gap: f64| {
            if gap > 2e-3 {
                return;
            }
            let port = builder.port(body, Map::node(node as u32));
            let F = frame(normal * nalgebra::Vector3::z());
            let C: [f64; 9] = std::array::from_fn(|k| F[(k / 3, k % 3)]);
            let r = [compliance; 3];
            builder.constraint(law, &rows(gap / STEP, 0.0), &r, &[(port, &C)]);
            touched.push(2 * node + usize::from(normal < 0.0));
        };
        for k in 0..nx * ny {
            contact(k, 1.0, u[3 * k + 2]);
        }
        if press {
            for k in nx * ny * (nz - 1)..nx * ny * nz {
                contact(k, -1.0, -u[3 * k + 2] - down);
            }
        }
        builder.build_into(&mut problem)?;
        let middle = seconds();
        solution.velocity.clear();
        solution.velocity.extend_from_slice(&v);
        solution.impulse.clear();
        solution.impulse.extend(touched.iter().flat_map(|k| impulses[*k]));
        let report = session.solve(&problem, &goal, &mut solution)?;
        let end = seconds();
        impulses.fill([0.0; 3]);
        for (k, l) in touched.iter().zip(solution.impulse.chunks_exact(3)) {
            impulses[*k] = [l[0], l[1], l[2]];
        }
        v.copy_from_slice(&solution.velocity);
        u.iter_mut().zip(&v).for_each(|(u, v)| *u += STEP * v);
        built += 1e3 * (middle - begin);
        solved += 1e3 * (end - middle);
        let residual = report.residuals.of(report.friction_model);
        println!(
            "{step:4} {:6} {:6} {:9.3} {:9.3} {:9.1e} {:9.1e} {} {:.3e} from {:.1e} {:.1e}",
            problem.rows(),
            report.iterations,
            1e3 * (middle - begin),
            1e3 * (end - middle),
            residual / report.residuals.reference_velocity,
            report.residuals.momentum,
            report.status.name(),
            report.residuals.reference_velocity,
            report.trace.first().map_or(0.0, |t| t.residual),
            report.trace.first().map_or(0.0, |t| t.momentum),
        );
    }
    println!(
        "mean: build {:.3} ms, solve {:.3} ms of thread time; {} velocities; {:.2} s in all; {:?}",
        built / steps as f64,
        solved / steps as f64,
        n,
        clock.elapsed().as_secs_f64(),
        session.notes()
    );
    Ok(())
}
