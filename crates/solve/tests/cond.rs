//! Contact nodalization and diagonalization: its fixed points against Newton-type solvers, closed
//! forms and stored solutions.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(non_snake_case)] // matrices keep the capitals of the papers

use stiction_math::random::SplitMix64;
use stiction_solve::law::{Coulomb, FrictionModel, Law};
use stiction_solve::problem::Map;
use stiction_solve::solver::cond::inverse;
use stiction_solve::{Goal, Problem, Report, Session, Solution, Status};

const MODELS: [FrictionModel; 2] = [FrictionModel::Coulomb, FrictionModel::Convex];

/// How much larger than its residual the error of a velocity may be in the problems below: the
/// condition of A in its units, 1/(0.1 m)² between rotations and translations, times that of the
/// contacts, where sliding and rolling modes are some ten times less compliant than the mean.
const CONDITION: f64 = 1e3;

fn friction(mu: f64) -> Law {
    Law::Coulomb(Coulomb::new(mu).unwrap())
}

fn solve(
    solver: &str,
    settings: &[(&str, &str)],
    problem: &Problem,
    model: FrictionModel,
    tolerance: f64,
) -> (Solution, Report) {
    let mut session = Session::new(solver).unwrap();
    for (key, value) in settings {
        session.set(key, value).unwrap();
    }
    let mut solution = Solution::cold(problem);
    let goal = Goal { tolerance, friction_model: Some(model), ..Goal::default() };
    let report = session.solve(problem, &goal, &mut solution).unwrap();
    (solution, report)
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// A cube of side 0.2 m on three feet, in the coordinates (velocity, rotation about the centre).
/// On four, it could share its weight in many ways, and since it slides and spins each of them
/// would be another motion.
///
/// ```text
///        ┌─────┐
///        │  ●──┼─▶ v0       contacts at the lower face
///   ─────┴─────┴─────
/// ```
fn sliding_cube(compliance: f64) -> Problem {
    let (m, half, dt, g) = (0.5, 0.1, 0.01, 9.81);
    let inertia = m * (2.0 * half) * (2.0 * half) / 6.0;
    let mut A = vec![0.0; 36];
    for k in 0..6 {
        A[7 * k] = if k < 3 { m } else { inertia };
    }
    let b = [m * 0.4, m * 0.1, -m * g * dt, 0.0, 0.0, 0.2 * inertia];
    let mut builder = Problem::builder("sliding cube");
    let body = builder.dense(&A, &b);
    let port = builder.port(body, Map::Whole);
    for (x, y) in [(half, half), (half, -half), (-half, 0.0)] {
        let z = -half;
        // Rows n = ẑ, x̂, ŷ of v + ω × (x, y, z).
        let J =
            [[0.0, 0.0, 1.0, y, -x, 0.0], [1.0, 0.0, 0.0, 0.0, z, -y], [0.0, 1.0, 0.0, -z, 0.0, x]];
        builder.constraint(friction(0.3), &[0.0; 3], &[compliance; 3], &[(port, &J.concat())]);
    }
    builder.build().unwrap()
}

/// A chain of mass points and springs on the ground: a sparse subsystem whose every second node
/// touches the ground in a frame of its own.
fn soft_chain(compliance: [f64; 3]) -> Problem {
    let (nodes, m, stiffness) = (12, 0.2, 0.4);
    let mut random = SplitMix64::new(7);
    let mut blocks: Vec<(usize, usize, Vec<f64>)> = Vec::new();
    let diagonal = |a: f64| vec![a, 0.0, 0.0, 0.0, a, 0.0, 0.0, 0.0, a];
    for i in 0..nodes {
        blocks.push((i, i, diagonal(m)));
        if i > 0 {
            for (p, q, sign) in [(i, i, 1.0), (i - 1, i - 1, 1.0), (i, i - 1, -1.0)] {
                blocks.push((p, q, diagonal(sign * stiffness)));
            }
        }
    }
    let b: Vec<f64> = (0..3 * nodes)
        .map(|k| m * (random.uniform(-1.0, 1.0) - if k % 3 == 2 { 0.6 } else { 0.0 }))
        .collect();
    let mut builder = Problem::builder("soft chain");
    let body = builder.sparse(3, blocks.iter().map(|(i, j, v)| (*i, *j, v.as_slice())), &b);
    for i in (0..nodes).step_by(2) {
        let port = builder.port(body, Map::Nodes(vec![(i, 1.0)]));
        let (s, c) = random.uniform(0.0, 6.0).sin_cos();
        let J = [0.0, 0.0, 1.0, c, s, 0.0, -s, c, 0.0];
        builder.constraint(friction(0.4), &[0.0; 3], &compliance, &[(port, &J)]);
    }
    builder.build().unwrap()
}

/// A particle that moves into the edge between a floor (z = 0) and a wall (x = 0).
fn particle_in_an_edge() -> Problem {
    let mut builder = Problem::builder("particle on floor and wall");
    let m = 0.3;
    let A = [m, 0.0, 0.0, 0.0, m, 0.0, 0.0, 0.0, m];
    let particle = builder.sparse(3, [(0, 0, &A[..])], &[-m * 0.2, m * 0.15, -m * 0.1]);
    let port = builder.port(particle, Map::Nodes(vec![(0, 1.0)]));
    let floor = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    let wall = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    for J in [floor, wall] {
        builder.constraint(friction(0.4), &[0.0; 3], &[0.0; 3], &[(port, &J)]);
    }
    builder.build().unwrap()
}

#[test]
fn two_contacts_on_one_node_stop_it_in_the_edge() {
    let problem = particle_in_an_edge();
    let (answer, report) = solve("cond", &[], &problem, FrictionModel::Coulomb, 1e-12);
    assert_eq!(report.status, Status::Converged);
    // The normals stop x and z with impulses m·0.2 and m·0.1; no velocity is left across the edge,
    // so friction acts along it alone and takes μ (0.2 + 0.1) = 0.12 of the 0.15 m/s.
    // The iteration stops at 1e-12 of 0.2 m/s.
    assert!(distance(&answer.velocity, &[0.0, 0.03, 0.0]) <= 1e-11, "{:?}", answer.velocity);
    let (newton, _) = solve("alm", &[], &problem, FrictionModel::Coulomb, 1e-13);
    assert!(distance(&answer.velocity, &newton.velocity) <= 1e-11);
}

#[test]
fn without_compensation_the_fixed_point_is_the_problem_with_the_compliance_of_its_virtual_nodes() {
    let coupling = 20.0;
    let settings = [
        ("compensate", "false"),
        ("absolute-coupling", "20"),
        ("theta", "1e-15"),
        ("max-iterations", "20000"),
    ];
    for R in [0.0, 0.3] {
        let (rigid, soft) = (sliding_cube(R), sliding_cube(R + 1.0 / coupling));
        for model in MODELS {
            let (found, _) = solve("cond", &settings, &rigid, model, 0.0);
            let (expected, report) = solve("alm", &[], &soft, model, 1e-12);
            assert_eq!(report.status, Status::Converged);
            // Both ends lie within their last change over (1 − rate) < 1e4 of a fixed point.
            let error = distance(&found.velocity, &expected.velocity);
            assert!(error <= 1e-10, "R = {R}, {model:?}: {error:e}");
            // The compliance is no small thing: the rigid answer is far away.
            let (other, _) = solve("cond", &[], &rigid, model, 1e-11);
            assert!(distance(&found.velocity, &other.velocity) > 1e-4);
        }
    }
}

#[test]
fn with_compensation_the_fixed_point_is_the_given_problem_whatever_the_coupling() {
    let problem = sliding_cube(0.0);
    for model in MODELS {
        let (expected, _) = solve("alm", &[], &problem, model, 1e-13);
        for coupling in ["3", "30", "300"] {
            let (found, report) = solve("cond", &[("coupling", coupling)], &problem, model, 1e-11);
            assert_eq!(report.status, Status::Converged, "{coupling}");
            // The tolerance is relative to 0.4 m/s.
            let error = distance(&found.velocity, &expected.velocity);
            assert!(error <= 0.4 * 1e-11 * CONDITION, "{coupling}: {error:e}");
        }
    }
}

#[test]
fn the_proximal_operator_with_compliance_solves_the_convex_compliant_problem() {
    // Normal and tangential compliances differ: the projection is in the norm of W + R.
    for problem in [soft_chain([0.05, 0.01, 0.01]), sliding_cube(1e-2)] {
        let (found, report) = solve("cond", &[], &problem, FrictionModel::Convex, 1e-12);
        assert_eq!(report.status, Status::Converged);
        let (expected, report) = solve("alm", &[], &problem, FrictionModel::Convex, 1e-13);
        assert_eq!(report.status, Status::Converged);
        assert!(distance(&found.velocity, &expected.velocity) <= 1e-9, "{}", problem.name());
    }
}

#[test]
fn impulses_of_an_invertible_contact_follow_from_velocities() {
    let problem = soft_chain([0.05, 0.01, 0.01]);
    for model in MODELS {
        let (answer, _) = solve("cond", &[], &problem, model, 1e-14);
        let found = inverse(&problem, model, &answer.velocity, problem.compliance()).unwrap();
        // At a solution u = J v + e + R λ obeys the law with λ, and that determines λ. Contacts
        // act on mesh nodes directly, so λ is exact for v; the division by R = 0.01 magnifies
        // round-off by a hundred.
        let largest = answer.impulse.iter().fold(0.0, |m: f64, l| m.max(l.abs()));
        assert!(largest > 0.01);
        assert!(distance(&found, &answer.impulse) <= 1e-12 * largest.max(1.0), "{model:?}");
    }
    let v = problem.free_velocity();
    assert!(inverse(&problem, FrictionModel::Convex, v, &[0.0; 3]).is_none());
    assert!(inverse(&problem, FrictionModel::Convex, v, &vec![0.0; problem.rows()]).is_none());
}

#[test]
fn acceleration_leads_to_the_same_fixed_point_in_fewer_iterations() {
    let problem = soft_chain([0.0; 3]);
    for model in MODELS {
        let (plain, slow) = solve("cond", &[("accelerate", "false")], &problem, model, 1e-12);
        let (accelerated, fast) = solve("cond", &[], &problem, model, 1e-12);
        assert_eq!((slow.status, fast.status), (Status::Converged, Status::Converged));
        assert!(distance(&plain.velocity, &accelerated.velocity) <= 1e-10);
        assert!(fast.iterations < slow.iterations, "{} {}", fast.iterations, slow.iterations);
    }
}

#[test]
fn every_surrogate_and_scaling_leads_to_the_same_fixed_point() {
    let paper = [("scale", "false"), ("spectral-limit", "0"), ("restart", "false")];
    for problem in [soft_chain([0.0; 3]), sliding_cube(0.0)] {
        let (expected, _) = solve("alm", &[], &problem, FrictionModel::Coulomb, 1e-13);
        for settings in [&paper[..], &[("surrogate", "barzilai-borwein")], &[("slow-start", "2")]] {
            let (found, report) = solve("cond", settings, &problem, FrictionModel::Coulomb, 1e-10);
            assert_eq!(report.status, Status::Converged, "{} {settings:?}", problem.name());
            let error = distance(&found.velocity, &expected.velocity);
            let bound = 1e-10 * problem.reference_velocity() * CONDITION;
            assert!(error <= bound, "{} {settings:?}: {error:e}", problem.name());
        }
    }
}

#[test]
fn a_small_change_per_iteration_is_no_small_error() {
    // The criterion of [Lee23, Alg. 1] stops long before the residual measure would.
    let problem = sliding_cube(0.0);
    let settings =
        [("compensate", "false"), ("coupling", "1000"), ("accelerate", "false"), ("theta", "1e-6")];
    let (_, report) = solve("cond", &settings, &problem, FrictionModel::Coulomb, 1e-6);
    assert_eq!(report.status, Status::Stalled);
    assert!(report.residuals.momentum > 1e-5, "{:?}", report.residuals);
}

#[test]
fn a_solution_is_a_good_guess() {
    let problem = sliding_cube(0.0);
    let mut session = Session::new("cond").unwrap();
    let goal = Goal { tolerance: 1e-8, ..Goal::default() };
    let mut solution = Solution::cold(&problem);
    let cold = session.solve(&problem, &goal, &mut solution).unwrap();
    let exact = solution.clone();
    let warm = session.solve(&problem, &goal, &mut solution).unwrap();
    assert!(cold.iterations > 0);
    assert_eq!(warm.iterations, 0);
    assert_eq!(solution, exact);
    // The same bits from used memory.
    let mut again = Solution::cold(&problem);
    let _ = session.solve(&problem, &goal, &mut again).unwrap();
    assert_eq!(again, exact);
}
