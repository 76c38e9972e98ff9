//! IPM: the convex problem by an interior-point method for second-order cones (Clarabel).
//!
//! Minimises `½ vᵀA v − bᵀv + ½ |y|²` subject to `J v + e + √R y ∈ K*`, whose multipliers are the
//! impulses: the primal of [Castro22, Eq. (19)] with y = √R σ for each compliant row, so that A
//! and J stay sparse. `c ∈ K*` reads `c_n ≥ |μ∘c_t|`, a cone that needs no case for μ = 0 but one
//! row less. Limits on an impulse become two non-negative unknowns, p and n, with `c = p − n` and
//! the cost `−lower p + upper n`.
//!
//! Everything is scaled by diag(A)^(−1/2), √w_i and the size of b and e, so that tolerances have
//! no unit. Where round-off keeps the method from its tolerance it may stop early, so a goal that
//! is not met is tried again with other tolerances and the best solution is kept. One factorization per
//! iteration; no warm start beyond accepting a guess that is good.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};

use super::{Solver, dual};
use crate::contact::{ContactVec, DIM, NORMAL_BEFORE_TANGENTS};
use crate::law::{FrictionModel, Law};
use crate::monitor::{Monitor, Status, Verdict};
use crate::problem::Problem;
use crate::setting::{NamedSettings, SettingRange};
use crate::setting_table;
use crate::solution::Solution;

/// Factors on the tolerance, in the order in which they are tried.
const ATTEMPTS: [f64; 4] = [1.0, 1e1, 1e2, 1e-2];

/// Settings of IPM.
#[derive(Clone, Debug, PartialEq)]
pub struct IpmSettings {
    /// Gap and feasibility of the scaled cone problem [-].
    pub tolerance: f64,
    /// Interior-point iterations.
    pub max_iterations: usize,
}

impl Default for IpmSettings {
    fn default() -> Self {
        // Four digits above round-off; several times the iterations that these methods take.
        Self { tolerance: 1e-12, max_iterations: 200 }
    }
}

setting_table!(
    IpmSettings,
    "solver 'ipm'",
    [
        (
            "tolerance",
            tolerance,
            "-",
            SettingRange::POSITIVE,
            "gap and feasibility of the scaled cone problem"
        ),
        ("max-iterations", max_iterations, "", SettingRange::ANY, "interior-point iterations"),
    ]
);

/// Interior-point method on the convex model.
#[derive(Default)]
pub struct Ipm {
    settings: IpmSettings,
    best: Vec<f64>,
    notes: Vec<String>,
}

/// A sparse matrix under construction.
#[derive(Default)]
struct Triplets {
    rows: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
}

impl Triplets {
    fn push(&mut self, row: usize, column: usize, value: f64) {
        if value != 0.0 {
            self.rows.push(row);
            self.columns.push(column);
            self.values.push(value);
        }
    }

    fn build(self, rows: usize, columns: usize) -> CscMatrix<f64> {
        CscMatrix::new_from_triplets(rows, columns, self.rows, self.columns, self.values)
    }
}

/// `min ½ xᵀP x + qᵀx` with `h − G x` in cones, and the map from its multipliers to impulses.
#[derive(Default)]
struct Cone {
    P: Triplets,
    q: Vec<f64>,
    G: Triplets,
    h: Vec<f64>,
    cones: Vec<SupportedConeT<f64>>,
    /// Row of the cone problem, row of J and factor: `λ[row] = factor · z[cone row]`.
    impulses: Vec<(usize, usize, f64)>,
    /// Impulses fixed by equal limits.
    fixed: Vec<(usize, f64)>,
}

/// How the rows of a problem are scaled.
struct Scaling<'a> {
    /// diag(A)^(−1/2).
    velocity: &'a [f64],
    /// √energy [√J] that the unknowns are measured in.
    size: f64,
}

impl Cone {
    fn new(problem: &Problem, velocity: &[f64]) -> Self {
        let mut cone = Self::default();
        let scaling = Scaling { velocity, size: size(problem, velocity) };
        cone.add_mass(problem, &scaling);
        for i in 0..problem.constraints().len() {
            cone.add_constraint(problem, i, &scaling);
        }
        cone
    }

    /// The upper triangle of D A D and −D b.
    fn add_mass(&mut self, problem: &Problem, scaling: &Scaling<'_>) {
        let matrix = problem.mass().matrix();
        let (pattern, D) = (matrix.pattern(), scaling.velocity);
        for entry in pattern.entries() {
            let Some(id) = pattern.find(entry.row, entry.col) else { continue };
            let (rows, columns) = (pattern.range(entry.row), pattern.range(entry.col));
            for (i, line) in rows.zip(matrix.block(id).chunks_exact(columns.len())) {
                for (j, a) in columns.clone().zip(line) {
                    // Blocks of the lower triangle are stored; diagonal blocks in full.
                    if j <= i {
                        self.P.push(j, i, D[i] * a * D[j]);
                    }
                }
            }
        }
        self.q.extend(problem.momentum().iter().zip(D).map(|(b, d)| -d * b / scaling.size));
    }

    fn add_constraint(&mut self, problem: &Problem, i: usize, scaling: &Scaling<'_>) {
        let factor = 1.0 / dual::scale(problem, i).sqrt();
        let row = |cone: &mut Self, d: usize, weight: f64| {
            cone.add_row(problem, i, d, weight * factor, scaling);
        };
        match problem.law(i) {
            Law::Bilateral(_) | Law::Soft(_) => {
                row(self, 0, 1.0);
                self.cones.push(SupportedConeT::ZeroConeT(1));
            }
            Law::Unilateral(_) => {
                row(self, 0, 1.0);
                self.cones.push(SupportedConeT::NonnegativeConeT(1));
            }
            Law::Bounded(law) => {
                let (lower, upper) = law.limits();
                if lower == upper {
                    return self.fix(problem, i, lower, scaling);
                }
                row(self, 0, 1.0);
                self.cones.push(SupportedConeT::ZeroConeT(1));
                let at = self.h.len() - 1;
                let unit = factor * scaling.size;
                self.add_slack(at, 1.0, -lower / unit);
                self.add_slack(at, -1.0, upper / unit);
            }
            Law::Coulomb(law) => {
                let mu = law.friction();
                self.add_contact(problem, i, (mu, mu), factor, scaling);
            }
            Law::Elliptic(law) => {
                self.add_contact(problem, i, law.friction(), factor, scaling);
            }
        }
    }

    fn add_contact(
        &mut self,
        problem: &Problem,
        i: usize,
        friction: (f64, f64),
        factor: f64,
        scaling: &Scaling<'_>,
    ) {
        let largest = friction.0.max(friction.1);
        let [normal, ..] = NORMAL_BEFORE_TANGENTS;
        if largest == 0.0 {
            self.add_row(problem, i, normal, factor, scaling);
            self.cones.push(SupportedConeT::NonnegativeConeT(1));
            return;
        }
        let common = factor / largest.max(1.0);
        let weights = ContactVec {
            n: common,
            t: nalgebra::Vector2::new(common * friction.0, common * friction.1),
        };
        let mut rows = [0.0; DIM];
        weights.store(&mut rows);
        for d in NORMAL_BEFORE_TANGENTS {
            self.add_row(problem, i, d, rows[d], scaling);
        }
        self.cones.push(SupportedConeT::SecondOrderConeT(DIM));
    }

    /// Adds `weight · c` of one row of a constraint as a slack `h − G x`.
    fn add_row(
        &mut self,
        problem: &Problem,
        i: usize,
        d: usize,
        weight: f64,
        scaling: &Scaling<'_>,
    ) {
        let (jacobian, at) = (problem.jacobian(), self.h.len());
        let row = problem.row_range(i).start + d;
        for e in jacobian.constraint_entries(i) {
            let range = jacobian.block_range(e.block as usize);
            let values = &jacobian.block(e)[d * range.len()..(d + 1) * range.len()];
            for (k, x) in range.zip(values) {
                self.G.push(at, k, -weight * x * scaling.velocity[k]);
            }
        }
        let compliance = problem.compliance()[row] + dual::law_compliance(problem.law(i));
        if compliance > 0.0 {
            let y = self.q.len();
            self.q.push(0.0);
            self.P.push(y, y, 1.0);
            self.G.push(at, y, -weight * compliance.sqrt());
        }
        self.h.push(weight * problem.bias()[row] / scaling.size);
        self.impulses.push((at, row, weight * scaling.size));
    }

    /// Adds an unknown ≥ 0 that takes `sign` from the slack of the row `at`, unless its cost is
    /// infinite, which makes it zero.
    fn add_slack(&mut self, at: usize, sign: f64, cost: f64) {
        if cost.is_infinite() {
            return;
        }
        let x = self.q.len();
        self.q.push(cost);
        self.G.push(at, x, sign);
        let bound = self.h.len();
        self.G.push(bound, x, -1.0);
        self.h.push(0.0);
        self.cones.push(SupportedConeT::NonnegativeConeT(1));
    }

    /// Gives a row a known impulse: it joins b.
    fn fix(&mut self, problem: &Problem, i: usize, impulse: f64, scaling: &Scaling<'_>) {
        let jacobian = problem.jacobian();
        for e in jacobian.constraint_entries(i) {
            for (k, x) in jacobian.block_range(e.block as usize).zip(jacobian.block(e)) {
                self.q[k] -= scaling.velocity[k] * x * impulse / scaling.size;
            }
        }
        self.fixed.push((problem.row_range(i).start, impulse));
    }
}

/// A cone problem in the form of the Clarabel interface.
struct ConeProblem {
    P: CscMatrix<f64>,
    q: Vec<f64>,
    G: CscMatrix<f64>,
    h: Vec<f64>,
    cones: Vec<SupportedConeT<f64>>,
    impulses: Vec<(usize, usize, f64)>,
    fixed: Vec<(usize, f64)>,
}

/// How one run of the method ended.
struct IpmRun {
    status: Status,
    iterations: usize,
    note: Option<String>,
}

impl Cone {
    fn assemble(self) -> ConeProblem {
        let Self { P, q, G, h, cones, impulses, fixed } = self;
        let (P, G) = (P.build(q.len(), q.len()), G.build(h.len(), q.len()));
        ConeProblem { P, q, G, h, cones, impulses, fixed }
    }
}

impl ConeProblem {
    /// Runs the method and writes the impulses, unless it found that there are none.
    fn solve(&self, tolerance: f64, limit: usize, impulse: &mut [f64]) -> IpmRun {
        let settings = DefaultSettings {
            verbose: false,
            max_threads: 1,
            presolve_enable: false,
            max_iter: u32::try_from(limit).unwrap_or(u32::MAX),
            tol_gap_abs: tolerance,
            tol_gap_rel: tolerance,
            tol_feas: tolerance,
            ..DefaultSettings::default()
        };
        let built = DefaultSolver::new(&self.P, &self.q, &self.G, &self.h, &self.cones, settings);
        let failed = |iterations, note: String| IpmRun {
            status: Status::Failed,
            iterations,
            note: Some(note),
        };
        let mut solver = match built {
            Ok(solver) => solver,
            Err(error) => return failed(0, error.to_string()),
        };
        solver.solve();
        let found = &solver.solution;
        let iterations = found.iterations as usize;
        let (status, note) = match found.status {
            SolverStatus::Solved => (Status::Converged, None),
            SolverStatus::MaxIterations | SolverStatus::MaxTime => (Status::IterationLimit, None),
            SolverStatus::PrimalInfeasible | SolverStatus::AlmostPrimalInfeasible => {
                return failed(iterations, "no velocity satisfies all constraints".to_owned());
            }
            SolverStatus::DualInfeasible | SolverStatus::AlmostDualInfeasible => {
                return failed(iterations, "no impulses balance the momentum".to_owned());
            }
            other => {
                (Status::Stalled, Some(format!("the interior-point method ended with {other:?}")))
            }
        };
        if found.z.iter().any(|z| !z.is_finite()) {
            return failed(iterations, "the interior-point method overflowed".to_owned());
        }
        impulse.fill(0.0);
        for &(at, row, factor) in &self.impulses {
            impulse[row] = factor * found.z[at];
        }
        for &(row, fixed) in &self.fixed {
            impulse[row] = fixed;
        }
        IpmRun { status, iterations, note }
    }
}

/// The size of b and e in units of √energy; one if both vanish.
fn size(problem: &Problem, velocity: &[f64]) -> f64 {
    let b = problem.momentum().iter().zip(velocity).map(|(b, d)| (b * d).abs());
    let e = (0..problem.constraints().len()).flat_map(|i| {
        let w = dual::scale(problem, i).sqrt();
        problem.bias()[problem.row_range(i)].iter().map(move |e| e.abs() / w)
    });
    let largest = b.chain(e).fold(0.0, f64::max);
    if largest > 0.0 { largest } else { 1.0 }
}

impl Solver for Ipm {
    fn models(&self) -> &'static [FrictionModel] {
        &[FrictionModel::Convex]
    }

    fn worth_reducing(&self, _far: bool) -> f64 {
        1.0 // W is assembled
    }

    fn settings(&self) -> Option<&dyn NamedSettings> {
        Some(&self.settings)
    }

    fn settings_mut(&mut self) -> Option<&mut dyn NamedSettings> {
        Some(&mut self.settings)
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    fn improve(
        &mut self,
        problem: &Problem,
        monitor: &mut Monitor,
        solution: &mut Solution,
    ) -> Status {
        self.notes.clear();
        if let Verdict::Stop(status) =
            monitor.observe(problem, &solution.velocity, &solution.impulse)
        {
            return status;
        }
        let cone = Cone::new(problem, monitor.scaling()).assemble();
        let limit = monitor.iteration_limit(self.settings.max_iterations);
        let (mut least, mut status) = (f64::INFINITY, Status::Stalled);
        for factor in ATTEMPTS {
            let left = limit.saturating_sub(monitor.iterations());
            if left == 0 {
                status = Status::IterationLimit;
                break;
            }
            let attempt = cone.solve(factor * self.settings.tolerance, left, &mut solution.impulse);
            monitor.count(attempt.iterations);
            self.notes.clear();
            self.notes.extend(attempt.note);
            status = attempt.status;
            if status == Status::Failed {
                break;
            }
            for i in 0..problem.constraints().len() {
                dual::project(problem.law(i), &mut solution.impulse[problem.row_range(i)]);
            }
            problem.velocity_of(&solution.impulse, &mut solution.velocity);
            if let Verdict::Stop(status) =
                monitor.observe(problem, &solution.velocity, &solution.impulse)
            {
                return status;
            }
            let (violation, _) = monitor.last();
            if violation < least {
                least = violation;
                self.best.clone_from(&solution.impulse);
            }
        }
        if least < f64::INFINITY {
            solution.impulse.copy_from_slice(&self.best);
            problem.velocity_of(&solution.impulse, &mut solution.velocity);
        }
        if status == Status::Converged { Status::Stalled } else { status }
    }
}
