//! Growth of the time of one iteration with the size of a soft body.
//!
//! A block of linear tetrahedra rests on the ground with its bottom nodes in contact; COND's time
//! per iteration is measured beside that of solvers that work on impulses.
//! Expected: one iteration of COND is a product with a sparse A, so its time grows
//! with the first power of the number of velocities [Lee23, Sec. III-F].
//!
//! A block grows in length at a fixed cross-section, so that the number of blocks of A per node
//! is constant; a cube, grown in all directions, has fewer neighbours per node while it is small.

use std::path::Path;
use std::time::Instant;

use stiction_plot::{Axis, Figure, Panel, Series};
use stiction_reproduce::statistics::power_law_exponent;
use stiction_solve::law::{Coulomb, Law};
use stiction_solve::problem::Map;
use stiction_solve::solver::SOLVERS;
use stiction_solve::{Goal, Problem, Session, Solution};

/// Error of a run.
pub type ScalingError = Box<dyn std::error::Error + Send + Sync>;

/// Shape of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A bar of fixed cross-section.
    Bar,
    /// A cube.
    Cube,
}

impl Shape {
    fn name(self) -> &'static str {
        match self {
            Self::Bar => "bar",
            Self::Cube => "cube",
        }
    }

    /// Nodes along each edge of a body with about `dofs` velocities.
    fn nodes(self, dofs: usize) -> [usize; 3] {
        let nodes = dofs as f64 / 3.0;
        match self {
            Self::Bar => [((nodes / 16.0).round() as usize).max(2), 4, 4],
            Self::Cube => [(nodes.cbrt().round() as usize).max(2); 3],
        }
    }
}

/// Material and step of the block.
const DENSITY: f64 = 1000.0; // kg/m³
const YOUNG: f64 = 2e4; // Pa
const POISSON: f64 = 0.35;
const DAMPING: f64 = 0.01; // s, Rayleigh's β
const TIME_STEP: f64 = 0.01; // s
const EDGE: f64 = 0.05; // m, of a cell
const FRICTION: f64 = 0.5;

/// A block of Kuhn tetrahedra on the ground: `A = M + δt (δt + β) K` with lumped mass
/// [Han23, Eq. (11)], sliding and falling; every bottom node is a contact.
pub fn soft_block(nodes: [usize; 3]) -> Result<Problem, ScalingError> {
    let [nx, ny, nz] = nodes;
    // Bottom nodes lie along x and y; numbering z fastest, x slowest, keeps neighbours close.
    let index = |p: [usize; 3]| (p[0] * ny + p[1]) * nz + p[2];
    let count = nx * ny * nz;
    let mut blocks: Vec<(usize, usize, [f64; 9])> = Vec::new();
    let mut mass = vec![0.0; count];
    let volume = EDGE.powi(3) / 6.0;
    let weight = TIME_STEP * (TIME_STEP + DAMPING);
    let elements = kuhn_elements(weight * volume);
    for x in 0..nx - 1 {
        for y in 0..ny - 1 {
            for z in 0..nz - 1 {
                for element in &elements {
                    let node = |c: [usize; 3]| index([x + c[0], y + c[1], z + c[2]]);
                    for (a, corner) in element.corners.iter().enumerate() {
                        let i = node(*corner);
                        mass[i] += 0.25 * DENSITY * volume;
                        for (b, other) in element.corners.iter().enumerate() {
                            let j = node(*other);
                            if j <= i {
                                blocks.push((i, j, element.stiffness[a][b]));
                            }
                        }
                    }
                }
            }
        }
    }
    let mut momentum = Vec::with_capacity(3 * count);
    for (i, m) in mass.iter().enumerate() {
        blocks.push((i, i, [*m, 0.0, 0.0, 0.0, *m, 0.0, 0.0, 0.0, *m]));
        momentum.extend([0.3 * m, 0.1 * m, -0.5 * m]);
    }
    let mut builder = Problem::builder(format!("soft block {nx}×{ny}×{nz}"));
    let body = builder.sparse(3, blocks.iter().map(|(i, j, v)| (*i, *j, &v[..])), &momentum);
    let law = Law::Coulomb(Coulomb::new(FRICTION).ok_or("friction")?);
    let frame = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    for x in 0..nx {
        for y in 0..ny {
            let port = builder.port(body, Map::Nodes(vec![(index([x, y, 0]), 1.0)]));
            builder.constraint(law, &[0.0; 3], &[0.0; 3], &[(port, &frame)]);
        }
    }
    Ok(builder.build()?)
}

/// One tetrahedron of a cell.
struct Element {
    corners: [[usize; 3]; 4],
    /// Blocks `V Σ_jl ∂N_a/∂x_j C_ijkl ∂N_b/∂x_l`, times the weight of K in A [kg].
    stiffness: [[[f64; 9]; 4]; 4],
}

/// The six tetrahedra of a cell: from its low corner by unit steps along the axes in every order.
fn kuhn_elements(factor: f64) -> Vec<Element> {
    let shear = YOUNG / (2.0 * (1.0 + POISSON));
    let first = YOUNG * POISSON / ((1.0 + POISSON) * (1.0 - 2.0 * POISSON));
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    orders
        .iter()
        .map(|order| {
            let mut corners = [[0; 3]; 4];
            for k in 0..3 {
                corners[k + 1] = corners[k];
                corners[k + 1][order[k]] = 1;
            }
            // On the path p0 → p1 → p2 → p3 along e_a, e_b, e_c the shape functions are
            // 1 − x_a, x_a − x_b, x_b − x_c, x_c.
            let mut gradient = [[0.0; 3]; 4];
            for k in 0..3 {
                gradient[k][order[k]] -= 1.0 / EDGE;
                gradient[k + 1][order[k]] += 1.0 / EDGE;
            }
            let mut stiffness = [[[0.0; 9]; 4]; 4];
            for (a, g) in gradient.iter().enumerate() {
                for (b, h) in gradient.iter().enumerate() {
                    let dot: f64 = (0..3).map(|k| g[k] * h[k]).sum();
                    for i in 0..3 {
                        for k in 0..3 {
                            // C_ijkl = μ (δ_ik δ_jl + δ_il δ_jk) + λ δ_ij δ_kl at rest.
                            let same = if i == k { shear * dot } else { 0.0 };
                            let value = same + shear * g[k] * h[i] + first * g[i] * h[k];
                            stiffness[a][b][3 * i + k] = factor * value;
                        }
                    }
                }
            }
            Element { corners, stiffness }
        })
        .collect()
}

/// Time that this thread has run [s]. Excludes other programs where the system
/// reports the CPU time of threads; elsewhere this is the wall time since `start`.
fn thread_seconds(start: Instant) -> f64 {
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok())
        .map_or_else(|| start.elapsed().as_secs_f64(), |nanoseconds| 1e-9 * nanoseconds)
}

/// Seconds per iteration and seconds before the first: medians over repetitions of the slope and
/// of the intercept of the time between two fixed numbers of iterations.
fn time_iterations(
    solver: &str,
    settings: &[(&str, &str)],
    problem: &Problem,
    (few, many): (usize, usize),
    repetitions: usize,
) -> Result<(f64, f64), ScalingError> {
    let mut session = Session::new(solver)?;
    for (key, value) in settings {
        session.set(key, value)?;
    }
    let mut solution = Solution::default();
    let start = Instant::now();
    let mut seconds = |iterations| -> Result<(f64, usize), ScalingError> {
        let goal = Goal { tolerance: 0.0, max_iterations: Some(iterations), ..Goal::default() };
        solution.reset(problem);
        let before = thread_seconds(start);
        let report = session.solve(problem, &goal, &mut solution)?;
        Ok((thread_seconds(start) - before, report.iterations))
    };
    seconds(few)?; // warm-up
    let (mut slopes, mut intercepts) = (Vec::new(), Vec::new());
    for _ in 0..repetitions.max(1) {
        let ((t0, n0), (t1, n1)) = (seconds(few)?, seconds(many)?);
        let slope = (t1 - t0) / n1.saturating_sub(n0).max(1) as f64;
        slopes.push(slope);
        intercepts.push((t0 - slope * n0 as f64).max(0.0));
    }
    Ok((median(&mut slopes), median(&mut intercepts)))
}

/// The same for a solver whose preparation outweighs its iterations: the slope within one solve,
/// between the first and the last point of its trace, by the solver's own clock.
fn time_within(
    solver: &str,
    problem: &Problem,
    iterations: usize,
    repetitions: usize,
) -> Result<(f64, f64), ScalingError> {
    let mut session = Session::new(solver)?;
    let max_iterations = Some(iterations);
    let goal = Goal { tolerance: 0.0, max_iterations, trace: true, ..Goal::default() };
    let (mut slopes, mut intercepts) = (Vec::new(), Vec::new());
    for _ in 0..repetitions.max(1) {
        let report = session.solve(problem, &goal, &mut Solution::cold(problem))?;
        let worked = || report.trace.iter().filter(|t| t.iteration > 0);
        let (Some(first), Some(last)) = (worked().next(), worked().next_back()) else { continue };
        let count = last.iteration.saturating_sub(first.iteration).max(1);
        let slope = (last.seconds - first.seconds) / count as f64;
        slopes.push(slope);
        intercepts.push((first.seconds - slope * first.iteration as f64).max(0.0));
    }
    if slopes.is_empty() {
        return Err(format!("{solver} left no trace").into());
    }
    Ok((median(&mut slopes), median(&mut intercepts)))
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Largest number of velocities for solvers that work on impulses; each of their iterations, or
/// the assembly before the first, solves with a factor of A.
const LARGEST_ON_IMPULSES: usize = 9_000;

/// Measures, prints a table and the fitted exponents, and writes a figure.
pub fn run(
    shape: Shape,
    sizes: &[usize],
    repetitions: usize,
    figure: &Path,
) -> Result<(), ScalingError> {
    let known = |name: &str| SOLVERS.iter().any(|e| e.name == name);
    let mut curves: Vec<(&str, Vec<(f64, f64)>)> = Vec::new();
    println!(
        "soft {}, time per iteration [µs]; in parentheses before the first [ms]",
        shape.name()
    );
    println!("{:>8} {:>9} {:>9} {:>10}  solvers", "DoFs", "contacts", "blocks/n", "A v [µs]");
    for &size in sizes {
        let problem = soft_block(shape.nodes(size))?;
        let dofs = problem.dofs() as f64;
        let per_node = problem.mass().matrix().pattern().n_entries() as f64 / (dofs / 3.0);
        let product = time_product(&problem, repetitions);
        print!(
            "{:8} {:9} {per_node:9.2} {:10.2} ",
            problem.dofs(),
            problem.contacts(),
            1e6 * product
        );
        add(&mut curves, "product A v", (dofs, product));
        // Enough iterations to make the clock's resolution and the first iterations negligible.
        let many = (20_000_000 / problem.dofs()).clamp(200, 20_000);
        for name in ["cond", "apgd", "pgs"] {
            if !known(name) || (name != "cond" && problem.dofs() > LARGEST_ON_IMPULSES) {
                continue;
            }
            let (slope, before) = if name == "cond" {
                let unobserved = [("observe-every", "1000000000")];
                time_iterations(name, &unobserved, &problem, (many / 10, many), repetitions)?
            } else {
                time_within(name, &problem, 10 + many / 20, repetitions.min(3))?
            };
            print!(" {name} {:.2} ({:.2})", 1e6 * slope, 1e3 * before);
            add(&mut curves, name, (dofs, slope));
        }
        println!();
    }
    for (name, points) in &curves {
        if points.len() > 1 {
            println!("{name}: time ∝ DoFs^{:.3}", power_law_exponent(points));
        }
    }
    let mut panel = Panel::new(Axis::log("velocities [-]"), Axis::log("time per iteration [s]"));
    for (name, points) in curves {
        panel = panel.series(Series::line_and_markers(name, points));
    }
    Figure::new(format!("Time per iteration on a soft {}", shape.name()))
        .panel(panel.title("bottom nodes in contact"))
        .write(figure)?;
    Ok(())
}

fn add(curves: &mut Vec<(&'static str, Vec<(f64, f64)>)>, name: &'static str, point: (f64, f64)) {
    match curves.iter_mut().find(|c| c.0 == name) {
        Some(curve) => curve.1.push(point),
        None => curves.push((name, vec![point])),
    }
}

/// Seconds of one product with A, the lower bound of an iteration.
fn time_product(problem: &Problem, repetitions: usize) -> f64 {
    let (start, x) = (Instant::now(), problem.free_velocity());
    let mut y = vec![0.0; problem.dofs()];
    let count = (20_000_000 / problem.dofs()).clamp(50, 5_000);
    let mut times: Vec<f64> = (0..repetitions.max(1) + 1)
        .map(|_| {
            let before = thread_seconds(start);
            for _ in 0..count {
                problem.mass().mul(std::hint::black_box(x), &mut y);
            }
            (thread_seconds(start) - before) / count as f64
        })
        .collect();
    median(&mut times)
}
