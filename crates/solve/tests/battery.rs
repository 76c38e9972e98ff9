//! Conformance battery over the registry of solvers: every solver converges on the problems that
//! its registration lists, reports the residual of its answer, agrees with the others per friction
//! model, keeps a good guess, survives a bad one, and handles degenerate problems.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, non_snake_case)]

mod common;

use common::{GOLDEN_FILES, MESHES, SMALL, bits, build, distance, goal, largest, models, solve};
use stiction_solve::catalogue::Variation;
use stiction_solve::file::{Csr, RawProblem};
use stiction_solve::law::{Bilateral, Coulomb, Law, Unilateral};
use stiction_solve::problem::Map;
use stiction_solve::solver::{ProblemFamily, Requirement, SOLVERS};
use stiction_solve::{
    FrictionModel, Monitor, Problem, Report, ResidualMeasure, Session, Solution, Solver, Status,
};

const BOTH: [FrictionModel; 2] = [FrictionModel::Coulomb, FrictionModel::Convex];
const TOLERANCE: f64 = 1e-6;

/// Problems whose velocity is not unique with exact friction: trees that touch themselves, and
/// bricks that wedge one another. Restarts end in different motions of equally small violation.
const NOT_UNIQUE: [&str; 2] = ["box-wall", "quadrupeds"];

/// The small problems, with the friction of their own or another.
fn problems(friction: Option<f64>) -> impl Iterator<Item = (&'static str, Problem)> {
    SMALL.into_iter().map(move |(name, size)| {
        (name, build(name, &Variation { size, friction, ..Variation::default() }))
    })
}

/// Every solver in every friction model that it knows.
fn compared_solvers() -> impl Iterator<Item = (&'static str, FrictionModel)> {
    SOLVERS.iter().flat_map(|entry| models(entry.name).iter().map(|model| (entry.name, *model)))
}

/// The report equals what a fresh residual_measure finds, and the status follows from it.
fn check_report(problem: &Problem, report: &Report, solution: &Solution, tolerance: f64) {
    let who = format!("{} on {} ({})", report.solver, problem.name(), report.friction_model.name());
    assert!(solution.fits(problem), "{who}");
    let mut residual_measure = ResidualMeasure::default();
    residual_measure.prepare(problem);
    let found = residual_measure.measure(problem, &solution.velocity, &solution.impulse);
    assert_eq!(found, report.residuals, "{who}");
    for x in [found.momentum, found.coulomb, found.convex, found.natural_map] {
        assert!(x.is_finite(), "{who}: {found:?}");
    }
    let met = found.of(report.friction_model) <= tolerance * problem.reference_velocity()
        && found.momentum <= tolerance;
    assert_eq!(met, report.status == Status::Converged, "{who}: {found:?}");
}

#[test]
fn every_solver_is_named_once_cited_and_described() {
    assert!(SOLVERS.is_sorted_by(|a, b| a.name < b.name));
    for entry in SOLVERS {
        assert!(!entry.cite.is_empty() && !entry.about.is_empty(), "{}", entry.name);
        let solver = (entry.build)();
        assert!(!solver.models().is_empty(), "{}", entry.name);
        let settings = solver.settings().expect("every listed solver has settings");
        assert_eq!(settings.check(), Ok(()), "{}", entry.name);
        for spec in settings.specs() {
            assert!(!spec.name.is_empty() && !spec.doc.is_empty(), "{}", entry.name);
            assert_eq!(settings.get(spec.name), Ok(spec.default.clone()), "{}", entry.name);
        }
        assert_eq!(Session::new(entry.name).unwrap().name(), entry.name);
    }
}

/// Seeds of the catalogue problems that solvers are held to.
const SEEDS: [u64; 3] = [0, 1, 2];

/// Problems of a family that the battery builds itself, with the guess to start from.
fn family(family: ProblemFamily) -> Vec<(&'static str, Problem, Solution)> {
    let vary = |seed, friction| {
        SMALL.into_iter().map(move |(name, size)| {
            (name, build(name, &Variation { seed, size, friction, ..Variation::default() }))
        })
    };
    let cold = |(name, problem): (&'static str, Problem)| {
        let guess = Solution::cold(&problem);
        (name, problem, guess)
    };
    let far = |(name, problem): (&'static str, Problem)| {
        let (velocity, impulse) = (vec![1e6; problem.dofs()], vec![-1e6; problem.rows()]);
        (name, problem, Solution { velocity, impulse })
    };
    match family {
        ProblemFamily::Catalogue => {
            SEEDS.into_iter().flat_map(|seed| vary(seed, None)).map(cold).collect()
        }
        ProblemFamily::UnboundedFriction => vary(0, Some(UNBOUNDED)).map(cold).collect(),
        ProblemFamily::FarGuess => vary(0, None).map(far).collect(),
        ProblemFamily::Meshes | ProblemFamily::Golden => Vec::new(), // in soft.rs and golden.rs
    }
}

/// A coefficient of friction at which nothing can slide.
const UNBOUNDED: f64 = 1e8;

/// Whether a solution meets a requirement, by a fresh measurement on the problem.
fn meets(problem: &Problem, requirement: &Requirement, solution: &Solution) -> bool {
    if !solution.fits(problem) {
        return false;
    }
    let mut residual_measure = ResidualMeasure::default();
    residual_measure.prepare(problem);
    let found = residual_measure.measure(problem, &solution.velocity, &solution.impulse);
    found.of(requirement.model) <= requirement.tolerance * problem.reference_velocity()
        && found.momentum <= requirement.tolerance
}

/// Runs a solver on everything that it must solve, within its default iterations, and lists the
/// failures: a solution whose residual is too large, or a status that does not follow from it.
fn failures(
    name: &'static str,
    new: fn() -> Box<dyn Solver>,
    must_solve: &[Requirement],
) -> Vec<String> {
    let mut failures = Vec::new();
    for requirement in must_solve {
        let chosen =
            |(name, ..): &(&'static str, Problem, Solution)| requirement.problems.contains(name);
        for (problem_name, problem, mut solution) in
            family(requirement.family).into_iter().filter(chosen)
        {
            let goal = goal(requirement.model, requirement.tolerance);
            let mut session = Session::with(name, new());
            let report = session.solve(&problem, &goal, &mut solution).unwrap();
            if !meets(&problem, requirement, &solution) || report.status != Status::Converged {
                failures.push(format!(
                    "{name} on {problem_name} ({}, {:?}, tolerance {:.0e}): {} after {} iterations, \
                     {:?}; required because: {}",
                    requirement.model.name(),
                    requirement.family,
                    requirement.tolerance,
                    report.status.name(),
                    report.iterations,
                    report.residuals,
                    requirement.reason,
                ));
            }
        }
    }
    failures
}

#[test]
fn every_solver_solves_what_its_registration_requires() {
    let failures: Vec<String> = SOLVERS
        .iter()
        .flat_map(|entry| failures(entry.name, entry.build, entry.must_solve))
        .collect();
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn requirements_name_existing_problems_and_cover_every_friction_model() {
    for entry in SOLVERS {
        for requirement in entry.must_solve {
            assert!(requirement.tolerance > 0.0 && !requirement.reason.is_empty());
            assert!(models(entry.name).contains(&requirement.model), "{}", entry.name);
            let known = |name: &str| match requirement.family {
                ProblemFamily::Golden => GOLDEN_FILES.contains(&name),
                ProblemFamily::Meshes => MESHES.iter().any(|(known, _)| *known == name),
                _ => SMALL.iter().any(|(known, _)| *known == name),
            };
            for name in requirement.problems.names() {
                assert!(known(name), "{}: {name}", entry.name);
            }
        }
        for model in models(entry.name) {
            for family in [ProblemFamily::Catalogue, ProblemFamily::Meshes, ProblemFamily::Golden] {
                let covers = |r: &Requirement| r.model == *model && r.family == family;
                let covered = entry.must_solve.iter().any(covers);
                assert!(covered, "{} ({}): {family:?}", entry.name, model.name());
            }
        }
    }
}

/// A solver that returns its guess with a status of its choice.
struct ReturnsGuess(Status);

impl Solver for ReturnsGuess {
    fn models(&self) -> &'static [FrictionModel] {
        &BOTH
    }

    fn improve(&mut self, _: &Problem, _: &mut Monitor, _: &mut Solution) -> Status {
        self.0
    }
}

#[test]
fn the_battery_fails_a_solver_that_does_nothing_whatever_it_claims() {
    let idle: fn() -> Box<dyn Solver> = || Box::new(ReturnsGuess(Status::Stalled));
    let liar: fn() -> Box<dyn Solver> = || Box::new(ReturnsGuess(Status::Converged));
    for entry in SOLVERS {
        for (name, solver) in [("idle", idle), ("liar", liar)] {
            let demanded: usize = entry
                .must_solve
                .iter()
                .map(|r| family(r.family).iter().filter(|p| r.problems.contains(p.0)).count())
                .sum();
            assert!(demanded > 0, "{}", entry.name);
            let failures = failures(name, solver, entry.must_solve);
            assert_eq!(failures.len(), demanded, "requirements of {}", entry.name);
        }
    }
}

#[test]
fn every_report_says_what_a_fresh_residual_measure_finds() {
    for (_, problem) in problems(None) {
        for (solver, model) in compared_solvers() {
            let (report, solution) = solve(solver, &problem, &goal(model, TOLERANCE));
            assert_eq!(report.friction_model, model);
            check_report(&problem, &report, &solution, TOLERANCE);
        }
    }
}

/// `|v_a − v_b|_A` [√J] of the velocities that two impulses cause, and the most that their
/// violations allow where the law is monotone.
///
/// With answers λ' = T(λ − ρ u) and u' = u + (λ' − λ)/ρ, (u', λ') obeys the law, and a violation d
/// bounds |u' − u| by d and |λ' − λ| by ρ d. From `|Δv|²_A ≤ Δu·Δλ` and `Δu'·Δλ' ≤ 0`,
/// `|Δv|²_A ≤ Σ (d_a + d_b) (|Δλ'| + ρ |Δu|)`.
fn energy_distance(
    problem: &Problem,
    model: FrictionModel,
    a: &Solution,
    b: &Solution,
) -> (f64, f64) {
    let mut residual_measure = ResidualMeasure::default();
    residual_measure.prepare(problem);
    let mut motion = |x: &Solution| {
        let mut v = vec![0.0; problem.dofs()];
        problem.velocity_of(&x.impulse, &mut v);
        let mut u = vec![0.0; problem.rows()];
        problem.constraint_velocity(&v, &mut u);
        for (u, (r, l)) in u.iter_mut().zip(problem.compliance().iter().zip(&x.impulse)) {
            *u += r * l;
        }
        (residual_measure.violation(problem, model, &v, &x.impulse), v, u)
    };
    let ((d_a, v_a, u_a), (d_b, v_b, u_b)) = (motion(a), motion(b));
    let length =
        |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt();
    let d = d_a + d_b;
    let mut allowed = 0.0;
    for i in 0..problem.constraints().len() {
        let rows = problem.row_range(i);
        let compliance = &problem.compliance()[rows.clone()];
        let mean = compliance.iter().sum::<f64>() / compliance.len() as f64;
        let rho = 1.0 / (problem.delassus().scale(i) + mean);
        let impulse = length(&a.impulse[rows.clone()], &b.impulse[rows.clone()]) + rho * d;
        allowed += d * (impulse + rho * length(&u_a[rows.clone()], &u_b[rows]));
    }
    let energy = |v: &[f64]| {
        let mut p = vec![0.0; v.len()];
        problem.mass().mul(v, &mut p);
        p.iter().zip(v).map(|(p, v)| p * v).sum::<f64>().max(0.0)
    };
    let difference: Vec<f64> = v_a.iter().zip(&v_b).map(|(a, b)| a - b).collect();
    // Round-off of v, relative, with six digits for the condition of A.
    let round_off = (1e6 * f64::EPSILON).powi(2) * energy(&v_a);
    (energy(&difference).sqrt(), (allowed + round_off).sqrt())
}

#[test]
fn convex_answers_differ_by_no_more_than_their_violations_allow() {
    for (name, problem) in problems(None) {
        let (_, reference) = solve("alm", &problem, &goal(FrictionModel::Convex, 1e-12));
        for (solver, model) in
            compared_solvers().filter(|(_, model)| *model == FrictionModel::Convex)
        {
            let (_, solution) = solve(solver, &problem, &goal(model, TOLERANCE));
            let (found, allowed) = energy_distance(&problem, model, &solution, &reference);
            assert!(found <= allowed, "{solver} on {name}: {found:e} beyond {allowed:e}");
        }
    }
}

#[test]
fn without_friction_both_models_and_all_solvers_agree() {
    for (name, problem) in problems(Some(0.0)) {
        let (report, reference) = solve("alm", &problem, &goal(FrictionModel::Coulomb, 1e-12));
        assert_eq!(report.status, Status::Converged, "{name}: {report:?}");
        for (solver, model) in compared_solvers() {
            let (report, solution) = solve(solver, &problem, &goal(model, TOLERANCE));
            check_report(&problem, &report, &solution, TOLERANCE);
            let (found, allowed) = energy_distance(&problem, model, &solution, &reference);
            assert!(found <= allowed, "{solver} on {name}: {found:e} beyond {allowed:e}");
        }
    }
}

#[test]
fn answers_with_exact_friction_agree_where_they_are_unique() {
    // Exact friction is not monotone: near a solution, a violation d moves v by the norm of an
    // inverse times d. Levers of ten lengths, mass ratios of fifty and slip that is nearly zero
    // make that norm large; four digits are left to it.
    let (tolerance, condition) = (1e-9, 1e4);
    for (name, problem) in problems(None) {
        if NOT_UNIQUE.contains(&name) {
            continue;
        }
        let (report, reference) = solve("alm", &problem, &goal(FrictionModel::Coulomb, 1e-12));
        assert_eq!(report.status, Status::Converged, "{name}: {report:?}");
        for (solver, model) in
            compared_solvers().filter(|(_, model)| *model == FrictionModel::Coulomb)
        {
            let (report, solution) = solve(solver, &problem, &goal(model, tolerance));
            if report.status == Status::Converged {
                let error = distance(&solution.velocity, &reference.velocity);
                let allowed = condition * tolerance * problem.reference_velocity();
                assert!(error <= allowed, "{solver} on {name}: {error:e} beyond {allowed:e}");
            }
        }
    }
}

#[test]
fn a_solution_is_left_as_it_is() {
    for (name, problem) in problems(None) {
        for (solver, model) in compared_solvers() {
            let goal = goal(model, TOLERANCE);
            let mut session = Session::new(solver).unwrap();
            let mut solution = Solution::cold(&problem);
            let cold = session.solve(&problem, &goal, &mut solution).unwrap();
            if cold.status != Status::Converged {
                continue;
            }
            let before = bits(&solution);
            let warm = session.solve(&problem, &goal, &mut solution).unwrap();
            let who = format!("{solver} on {name} ({})", model.name());
            assert_eq!((warm.status, warm.iterations), (Status::Converged, 0), "{who}");
            assert_eq!(bits(&solution), before, "{who}");
        }
    }
}

#[test]
fn a_guess_that_does_not_fit_is_replaced_by_the_cold_start() {
    for name in ["box-slide", "chain"] {
        let problem = build(name, &Variation::default());
        let (n, m) = (problem.dofs(), problem.rows());
        for (solver, model) in compared_solvers() {
            let goal = goal(model, TOLERANCE);
            let (_, cold) = solve(solver, &problem, &goal);
            for (velocity, impulse) in [
                (vec![f64::NAN; n], vec![0.0; m]),
                (vec![0.0; n], vec![f64::INFINITY; m]),
                (vec![0.0; n + 1], vec![0.0; m]),
                (Vec::new(), vec![1.0; 3 * m]),
            ] {
                let mut solution = Solution { velocity, impulse };
                let _ =
                    Session::new(solver).unwrap().solve(&problem, &goal, &mut solution).unwrap();
                assert_eq!(bits(&solution), bits(&cold), "{solver} on {name}");
            }
        }
    }
}

#[test]
fn a_far_guess_leaves_the_report_true() {
    let problem = build("chain", &Variation::default());
    for (solver, model) in compared_solvers() {
        let mut solution =
            Solution { velocity: vec![1e6; problem.dofs()], impulse: vec![-1e6; problem.rows()] };
        let mut session = Session::new(solver).unwrap();
        let report = session.solve(&problem, &goal(model, TOLERANCE), &mut solution).unwrap();
        check_report(&problem, &report, &solution, TOLERANCE);
    }
}

/// A cube of 2 kg with free motion `v*`.
fn free_body(builder: &mut stiction_solve::problem::Builder) -> stiction_solve::problem::PortId {
    let masses = [2.0, 2.0, 2.0, 0.01, 0.02, 0.03];
    let A: Vec<f64> = (0..36).map(|k| if k / 6 == k % 6 { masses[k / 6] } else { 0.0 }).collect();
    let body = builder.dense(&A, &[0.3, -0.2, 0.7, 0.001, 0.002, -0.004]);
    builder.port(body, Map::Whole)
}

/// A contact under the body with normal z: only the upward motion counts.
const UPWARD: [f64; 18] = [
    0.0, 0.0, 1.0, 0.1, 0.0, 0.0, //
    1.0, 0.0, 0.0, 0.0, 0.1, 0.0, //
    0.0, 1.0, 0.0, -0.1, 0.0, 0.0,
];

fn contact(mu: f64) -> Law {
    Law::Coulomb(Coulomb::new(mu).unwrap())
}

#[test]
fn without_constraints_the_motion_is_free_to_the_bit() {
    let mut builder = Problem::builder("free");
    for _ in 0..3 {
        free_body(&mut builder);
    }
    let problem = builder.build().unwrap();
    for (solver, model) in compared_solvers() {
        let (report, solution) = solve(solver, &problem, &goal(model, TOLERANCE));
        assert_eq!(report.status, Status::Converged, "{solver}");
        assert_eq!(solution.velocity, problem.free_velocity(), "{solver}");
        assert!(solution.impulse.is_empty());
        // A guess does not change that.
        let mut guess = Solution { velocity: vec![1.0; 18], impulse: Vec::new() };
        let report =
            Session::new(solver).unwrap().solve(&problem, &goal(model, TOLERANCE), &mut guess);
        assert_eq!(report.unwrap().status, Status::Converged, "{solver}");
    }
}

#[test]
fn contacts_that_open_leave_the_motion_free_to_the_bit() {
    let mut builder = Problem::builder("open");
    for gap in [0.0, 0.5] {
        let port = free_body(&mut builder);
        builder.constraint(contact(0.6), &[gap, 0.0, 0.0], &[0.0; 3], &[(port, &UPWARD)]);
        let stop = Law::Unilateral(Unilateral);
        builder.constraint(stop, &[gap], &[0.0], &[(port, &[0.0, 0.0, 1.0, 0.0, 0.0, 0.0])]);
    }
    let problem = builder.build().unwrap();
    for (solver, model) in compared_solvers() {
        let (report, solution) = solve(solver, &problem, &goal(model, TOLERANCE));
        assert_eq!((report.status, report.iterations), (Status::Converged, 0), "{solver}");
        assert_eq!(solution.velocity, problem.free_velocity(), "{solver}");
        assert!(solution.impulse.iter().all(|l| *l == 0.0), "{solver}");
    }
}

#[test]
fn friction_without_bound_leaves_the_report_true() {
    for (_, problem) in problems(Some(UNBOUNDED)) {
        for (solver, model) in compared_solvers() {
            let (report, solution) = solve(solver, &problem, &goal(model, TOLERANCE));
            check_report(&problem, &report, &solution, TOLERANCE);
        }
    }
}

#[test]
fn alm_uses_a_guess_that_violates_no_law_but_has_another_momentum() {
    // Everything at rest without impulses: no contact is violated, only momentum is.
    for (name, problem) in problems(None) {
        let mut solution =
            Solution { velocity: vec![0.0; problem.dofs()], impulse: vec![0.0; problem.rows()] };
        let mut session = Session::new("alm").unwrap();
        let tight = goal(FrictionModel::Coulomb, 1e-10);
        let report = session.solve(&problem, &tight, &mut solution).unwrap();
        assert_eq!(report.status, Status::Converged, "{name}: {report:?}");
    }
}

/// The problem with every contact twice.
fn with_twins(problem: &Problem) -> Problem {
    let raw = problem.to_raw();
    let mut twin = RawProblem { name: format!("{}-twins", raw.name), ..raw.clone() };
    twin.extra.clear();
    let mut rows: Vec<Vec<(usize, f64)>> = (0..raw.m).map(|r| raw.j.row(r).collect()).collect();
    for (i, kind) in raw.kinds.iter().enumerate().filter(|(_, kind)| **kind == 2) {
        twin.kinds.push(*kind);
        twin.mu.push(raw.mu[i]);
        twin.row_start.push(rows.len());
        for r in raw.row_start[i]..raw.row_start[i] + 3 {
            rows.push(raw.j.row(r).collect());
            twin.e.push(raw.e[r]);
            twin.r.push(raw.r[r]);
        }
    }
    twin.m = rows.len();
    twin.j = Csr::zeros(twin.m, raw.n);
    for (r, row) in rows.into_iter().enumerate() {
        twin.j.indices.extend(row.iter().map(|(c, _)| *c));
        twin.j.data.extend(row.iter().map(|(_, x)| *x));
        twin.j.indptr[r + 1] = twin.j.indices.len();
    }
    let found = Problem::from_raw(&twin).unwrap();
    assert!(found.velocity_order.iter().enumerate().all(|(a, b)| a == *b));
    found.problem
}

#[test]
fn a_contact_counted_twice_changes_no_velocity() {
    for (name, problem) in problems(None) {
        if NOT_UNIQUE.contains(&name) {
            continue;
        }
        let twins = with_twins(&problem);
        assert_eq!(twins.contacts(), 2 * problem.contacts());
        for model in BOTH {
            let tight = goal(model, 1e-13);
            let ((_, one), (_, two)) =
                (solve("alm", &problem, &tight), solve("alm", &twins, &tight));
            let scale = largest(&one.velocity).max(problem.reference_velocity());
            let error = distance(&one.velocity, &two.velocity);
            assert!(error <= 1e-9 * scale, "{name} ({}): {error:e}", model.name());
        }
    }
}

#[test]
fn no_solver_claims_to_satisfy_a_contradiction() {
    // u = v_z − 1 = 0 and u = v_z + 1 = 0 at once.
    let mut builder = Problem::builder("contradiction");
    let port = free_body(&mut builder);
    let row: &[f64] = &[0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
    for bias in [-1.0, 1.0] {
        builder.constraint(Law::Bilateral(Bilateral), &[bias], &[0.0], &[(port, row)]);
    }
    let problem = builder.build().unwrap();
    for (solver, model) in compared_solvers() {
        let mut session = Session::new(solver).unwrap();
        let mut solution = Solution::cold(&problem);
        let report = session.solve(&problem, &goal(model, TOLERANCE), &mut solution).unwrap();
        check_report(&problem, &report, &solution, TOLERANCE);
        assert_ne!(report.status, Status::Converged, "{solver}");
        if solver == "alm" {
            assert_eq!(report.status, Status::Failed);
            let notes = session.notes();
            assert!(notes.iter().any(|note| note.starts_with("no solution")), "{notes:?}");
        }
    }
}
