//! `steady`: cost of a simulator's sequence of similar problems, over the number of bodies.
//!
//! Spheres fall into a box and come to rest there: a sequence of problems that a simulator would
//! make, each warm-started by the last. Per problem in CPU time: filling the builder, building,
//! solving, and accepting the solution as initial guess. Measured from the first impacts on.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use stiction_math::random::SplitMix64;
use stiction_solve::law::Coulomb;
use stiction_solve::problem::{Builder, Map, PortId};
use stiction_solve::{Goal, Law, Problem, Session, Solution, Status};

use crate::bench_report::BenchReport;
use crate::error::BenchError;
use stiction_reproduce::clock::cpu_seconds;
use stiction_reproduce::statistics::{mean, median};
use stiction_reproduce::table::{Table, number};

/// Arguments of `steady`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  stiction-bench steady
  stiction-bench steady --sizes 9000 --solvers psor --tolerance 1e-2 --max-iterations 20 --width 20 \\
    --time-step 0.005 --friction 0.5 --steps 160 --skip 140")]
pub struct SteadyArgs {
    /// Numbers of spheres, separated by commas
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "8,20,40,80,160",
          value_parser = clap::value_parser!(u16).range(1..))]
    sizes: Vec<u16>,
    /// Solvers, separated by commas
    #[arg(long, value_name = "NAME", value_delimiter = ',', default_value = "alm,auto")]
    solvers: Vec<String>,
    /// Tolerance of the solves [-]
    #[arg(long, value_name = "X", default_value = "1e-6", value_parser = crate::args::positive)]
    tolerance: f64,
    /// Iteration limit of a solve
    #[arg(long, value_name = "N")]
    max_iterations: Option<usize>,
    /// Time step [s]
    #[arg(long, value_name = "S", default_value = "0.01", value_parser = crate::args::positive)]
    time_step: f64,
    /// Steps
    #[arg(long, value_name = "N", default_value = "300",
          value_parser = clap::value_parser!(u16).range(2..))]
    steps: u16,
    /// Steps at the start that are not measured, while spheres fall freely
    #[arg(long, value_name = "N", default_value = "30")]
    skip: u16,
    /// Spheres along an edge of the box
    #[arg(long, value_name = "N", default_value = "4",
          value_parser = clap::value_parser!(u16).range(1..))]
    width: u16,
    /// Coefficient of friction [-]
    #[arg(long, value_name = "X", default_value = "1", value_parser = crate::args::positive)]
    friction: f64,
    /// Compliance of contacts, times the mass of a sphere [-]
    #[arg(long, value_name = "X", default_value = "0")]
    compliance: f64,
    /// Friction model of the solves; each solver's own if not given
    #[arg(long, value_name = "MODEL")]
    model: Option<crate::args::Friction>,
}

const GRAVITY: f64 = 9.81; // [m/s²]
const RADIUS: f64 = 0.05; // [m]
const MASS: f64 = 0.524; // [kg]
/// Distance of sphere centres at the start, and their largest displacement, in radii [-].
const PITCH: f64 = 2.4;
const JITTER: f64 = 0.15;
/// Gap up to which spheres are in contact, in radii [-].
const MARGIN: f64 = 0.05;
/// Fraction of a penetration that is removed in one step [-].
const RECOVERY: f64 = 0.2;

/// Two spheres, or a sphere and a wall.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SpherePair(u32, u32);

struct SphereContact {
    pair: SpherePair,
    normal: [f64; 3],
    gap: f64,
}

/// Spheres in a box.
struct SphereBox {
    time_step: f64,
    friction: f64,
    /// R of every row [1/kg].
    compliance: f64,
    edge: f64,
    positions: Vec<[f64; 3]>,
    velocity: Vec<f64>,
    contacts: Vec<SphereContact>,
    impulses: BTreeMap<SpherePair, [f64; 3]>,
    cells: BTreeMap<[i32; 3], Vec<u32>>,
}

/// Walls are numbered from here on.
const WALLS: u32 = 1 << 31;

impl SphereBox {
    fn new(args: &SteadyArgs, count: u16) -> Self {
        let (width, pitch) = (usize::from(args.width), PITCH * RADIUS);
        let mut random = SplitMix64::new(1);
        let place = |i: usize| {
            let cell = [i % width, i / width % width, i / (width * width)];
            cell.map(|c| (c as f64 + 0.5) * pitch + JITTER * RADIUS * random.uniform(-1.0, 1.0))
        };
        Self {
            time_step: args.time_step,
            friction: args.friction,
            compliance: args.compliance / MASS,
            edge: width as f64 * pitch,
            positions: (0..usize::from(count)).map(place).collect(),
            velocity: vec![0.0; 6 * usize::from(count)],
            contacts: Vec::new(),
            impulses: BTreeMap::new(),
            cells: BTreeMap::new(),
        }
    }

    fn collide(&mut self) {
        let reach = (2.0 + MARGIN) * RADIUS;
        self.contacts.clear();
        self.cells.clear();
        for (i, p) in self.positions.iter().enumerate() {
            let walls = [
                ([0.0, 0.0, 1.0], p[2]),
                ([1.0, 0.0, 0.0], p[0]),
                ([-1.0, 0.0, 0.0], self.edge - p[0]),
                ([0.0, 1.0, 0.0], p[1]),
                ([0.0, -1.0, 0.0], self.edge - p[1]),
            ];
            for (k, (normal, distance)) in walls.into_iter().enumerate() {
                let gap = distance - RADIUS;
                if gap < MARGIN * RADIUS {
                    self.contacts.push(SphereContact {
                        pair: SpherePair(WALLS + k as u32, i as u32),
                        normal,
                        gap,
                    });
                }
            }
            let cell = p.map(|x| (x / reach).floor() as i32);
            for k in 0..27 {
                let near = [cell[0] + k / 9 - 1, cell[1] + k / 3 % 3 - 1, cell[2] + k % 3 - 1];
                for &j in self.cells.get(&near).into_iter().flatten() {
                    let q = self.positions[j as usize];
                    let apart = [0, 1, 2].map(|k| p[k] - q[k]);
                    let distance = apart.iter().map(|x| x * x).sum::<f64>().sqrt();
                    if distance < reach {
                        let normal = apart.map(|x| x / distance);
                        let gap = distance - 2.0 * RADIUS;
                        self.contacts.push(SphereContact {
                            pair: SpherePair(j, i as u32),
                            normal,
                            gap,
                        });
                    }
                }
            }
            self.cells.entry(cell).or_default().push(i as u32);
        }
    }

    fn fill(&self, builder: &mut Builder) {
        builder.clear();
        let inertia = 0.4 * MASS * RADIUS * RADIUS;
        let diagonal = [MASS, MASS, MASS, inertia, inertia, inertia];
        let mut A = [0.0; 36];
        for (k, a) in diagonal.into_iter().enumerate() {
            A[7 * k] = a;
        }
        for v in self.velocity.chunks_exact(6) {
            let mut b: [f64; 6] = std::array::from_fn(|k| diagonal[k] * v[k]);
            b[2] -= MASS * GRAVITY * self.time_step;
            let id = builder.dense(&A, &b);
            builder.port(id, Map::Whole);
        }
        let Some(law) = Coulomb::new(self.friction).map(Law::Coulomb) else { return };
        for SphereContact { pair: SpherePair(a, b), normal, gap } in &self.contacts {
            // C of the sphere that the normal points into, and of the other.
            let (mut on_b, mut on_a) = ([0.0; 18], [0.0; 18]);
            for (row, axis) in frame(*normal).into_iter().enumerate() {
                // The lever points from the centre against the normal: (r × ω)·d = −R (n × ω)·d.
                let spin = cross(axis, *normal);
                for k in 0..3 {
                    on_b[6 * row + k] = axis[k];
                    on_a[6 * row + k] = -axis[k];
                    on_b[6 * row + 3 + k] = RADIUS * spin[k];
                    on_a[6 * row + 3 + k] = RADIUS * spin[k];
                }
            }
            // With a negative bias and friction a solution may not exist; `advance` removes penetration.
            let bias = [gap.max(0.0) / self.time_step, 0.0, 0.0];
            let (port_a, port_b) = (PortId(*a as usize), PortId(*b as usize));
            let terms: [(PortId, &[f64]); 2] = [(port_b, &on_b), (port_a, &on_a)];
            let sides = if *a < WALLS { 2 } else { 1 };
            builder.constraint(law, &bias, &[self.compliance; 3], &terms[..sides]);
        }
    }

    fn guess(&self, solution: &mut Solution) {
        solution.velocity.clone_from(&self.velocity);
        solution.impulse.clear();
        for contact in &self.contacts {
            let old = self.impulses.get(&contact.pair).copied().unwrap_or_default();
            solution.impulse.extend_from_slice(&old);
        }
    }

    fn advance(&mut self, solution: &Solution) {
        self.velocity.clone_from(&solution.velocity);
        self.impulses.clear();
        for (contact, impulse) in self.contacts.iter().zip(solution.impulse.as_chunks::<3>().0) {
            self.impulses.insert(contact.pair, *impulse);
        }
        for (p, v) in self.positions.iter_mut().zip(self.velocity.chunks_exact(6)) {
            for k in 0..3 {
                p[k] += self.time_step * v[k];
            }
        }
        for SphereContact { pair: SpherePair(a, b), normal, gap } in &self.contacts {
            let sides = if *a < WALLS { 2.0 } else { 1.0 };
            let push = RECOVERY * (-gap).max(0.0) / sides;
            for (k, n) in normal.iter().enumerate() {
                self.positions[*b as usize][k] += push * n;
                if *a < WALLS {
                    self.positions[*a as usize][k] -= push * n;
                }
            }
        }
    }
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// The normal and two tangents.
fn frame(normal: [f64; 3]) -> [[f64; 3]; 3] {
    let axes = stiction_solve::contact::frame(normal.into());
    [0, 1, 2].map(|row| [axes[(row, 0)], axes[(row, 1)], axes[(row, 2)]])
}

/// Figures of one sequence; times in \[µs\].
struct SequenceFigures {
    solver: String,
    bodies: usize,
    contacts: f64,
    fill: f64,
    build: f64,
    solve: f64,
    mean_solve: f64,
    iterations: f64,
    accept: f64,
    converged: f64,
    penetration: f64,
}

/// Runs `steady`.
pub fn run(args: &SteadyArgs) -> Result<BenchReport, BenchError> {
    let mut points = Vec::new();
    for &size in &args.sizes {
        for solver in &args.solvers {
            points.push(sequence(args, size, solver)?);
        }
    }
    Ok(BenchReport { text: text(&points), json: document(&points), figures: Vec::new() })
}

fn sequence(args: &SteadyArgs, size: u16, solver: &str) -> Result<SequenceFigures, BenchError> {
    let mut world = SphereBox::new(args, size);
    let mut session = Session::new(solver)?;
    let goal = Goal {
        tolerance: args.tolerance,
        max_iterations: args.max_iterations,
        friction_model: args.model.map(|model| model.models()[0]),
        ..Goal::default()
    };
    let failed = |source| BenchError::Problem { target: "spheres".to_owned(), source };
    let (mut builder, mut problem) = (Problem::builder("spheres"), Problem::default());
    let mut solution = Solution::default();
    let mut samples: Vec<[f64; 7]> = Vec::new();
    let mut penetration: f64 = 0.0;
    for step in 0..args.steps {
        world.collide();
        let start = cpu_seconds();
        world.fill(&mut builder);
        let filled = cpu_seconds();
        builder.build_into(&mut problem).map_err(failed)?;
        let built = cpu_seconds();
        world.guess(&mut solution);
        let report = session.solve(&problem, &goal, &mut solution)?;
        let solved = cpu_seconds();
        let again = session.solve(&problem, &goal, &mut solution)?;
        let accepted = cpu_seconds();
        world.advance(&solution);
        if step < args.skip {
            continue;
        }
        let deepest = world.contacts.iter().map(|c| -c.gap).fold(0.0, f64::max);
        penetration = penetration.max(deepest / RADIUS);
        let accept = if again.iterations == 0 { accepted - solved } else { f64::NAN };
        samples.push([
            filled - start,
            built - filled,
            solved - built,
            accept,
            report.iterations as f64,
            f64::from(report.status == Status::Converged),
            world.contacts.len() as f64,
        ]);
    }
    let time = |k: usize| 1e6 * median(samples.iter().map(|s| s[k]).filter(|t| !t.is_nan()));
    let average = |k: usize| mean(samples.iter().map(|s| s[k]));
    Ok(SequenceFigures {
        solver: solver.to_owned(),
        bodies: usize::from(size),
        fill: time(0),
        build: time(1),
        solve: time(2),
        accept: time(3),
        mean_solve: 1e6 * average(2),
        iterations: average(4),
        converged: average(5),
        contacts: average(6),
        penetration,
    })
}

fn text(points: &[SequenceFigures]) -> String {
    let mut table = Table::new(&[
        "solver",
        "bodies",
        "contacts",
        "fill",
        "build",
        "solve",
        "mean solve",
        "mean iterations",
        "per iteration",
        "accept",
        "converged",
        "penetration/r",
    ]);
    for p in points {
        let per_iteration = (p.mean_solve - p.accept) / p.iterations;
        let cells = [
            p.contacts,
            p.fill,
            p.build,
            p.solve,
            p.mean_solve,
            p.iterations,
            per_iteration,
            p.accept,
            p.converged,
            p.penetration,
        ];
        let names = [p.solver.clone(), p.bodies.to_string()];
        table.row(names.into_iter().chain(cells.map(number)));
    }
    format!("spheres in a box: CPU time per problem [µs], medians\n{}", table.render())
}

fn document(points: &[SequenceFigures]) -> Value {
    let point = |p: &SequenceFigures| {
        json!({"solver": p.solver, "bodies": p.bodies, "contacts": p.contacts,
               "microseconds": {"fill": p.fill, "build": p.build, "solve": p.solve,
                                "mean_solve": p.mean_solve, "accept": p.accept},
               "iterations": p.iterations, "converged": p.converged,
               "penetration_in_radii": p.penetration})
    };
    json!({"sequences": points.iter().map(point).collect::<Vec<Value>>()})
}
