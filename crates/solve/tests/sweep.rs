//! Solvers that iterate on impulses: sweeps, accelerated gradients, interior points.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, non_snake_case)]

use stiction_solve::law::{Bilateral, Bounded, Coulomb, Elliptic, Law, Soft, Unilateral};
use stiction_solve::problem::Map;
use stiction_solve::{FrictionModel, Goal, Problem, Report, Session, Solution, Status};

const CONVEX: [&str; 5] = ["apgd", "ipm", "pgs", "psor", "ssor"];
const EXACT: [&str; 3] = ["pgs", "psor", "ssor"];

fn goal(model: FrictionModel, tolerance: f64, iterations: usize) -> Goal {
    Goal {
        tolerance,
        max_iterations: Some(iterations),
        friction_model: Some(model),
        ..Goal::default()
    }
}

/// Solves from the cold start with settings `key=value`.
fn solve(name: &str, settings: &[&str], problem: &Problem, goal: &Goal) -> (Report, Solution) {
    let mut session = Session::new(name).unwrap();
    for setting in settings {
        let (key, value) = setting.split_once('=').unwrap();
        session.set(key, value).unwrap();
    }
    let mut solution = Solution::cold(problem);
    let report = session.solve(problem, goal, &mut solution).unwrap();
    (report, solution)
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

fn coulomb(mu: f64) -> Law {
    Law::Coulomb(Coulomb::new(mu).unwrap())
}

fn diagonal(values: &[f64]) -> Vec<f64> {
    let n = values.len();
    (0..n * n).map(|k| if k / n == k % n { values[k / n] } else { 0.0 }).collect()
}

/// The rows of a contact with normal `n` and tangents `t1`, `t2` on a particle.
fn frame(n: [f64; 3], t1: [f64; 3], t2: [f64; 3]) -> Vec<f64> {
    [n, t1, t2].concat()
}

const X: [f64; 3] = [1.0, 0.0, 0.0];
const Y: [f64; 3] = [0.0, 1.0, 0.0];
const Z: [f64; 3] = [0.0, 0.0, 1.0];

const MASS: f64 = 0.5;
const WEIGHT: f64 = 9.81 * 0.01; // g dt [m/s]

/// A particle of mass `MASS` on the ground that slides along x at `speed`.
fn particle(mu: f64, speed: f64) -> Problem {
    let mut builder = Problem::builder("particle");
    let body = builder.dense(&diagonal(&[MASS; 3]), &[MASS * speed, 0.0, -MASS * WEIGHT]);
    let port = builder.port(body, Map::Whole);
    builder.constraint(coulomb(mu), &[0.0; 3], &[0.0; 3], &[(port, &frame(Z, X, Y))]);
    builder.build().unwrap()
}

/// A free body of unit mass and side 0.2 on four corners, pushed and spun.
fn box_on_corners(mu: f64, compliance: f64) -> Problem {
    let mut builder = Problem::builder("box");
    let A = diagonal(&[1.0, 1.0, 1.0, 0.01, 0.01, 0.01]);
    let body = builder.dense(&A, &[0.5, 0.2, -0.1, 0.001, -0.002, 0.003]);
    let port = builder.port(body, Map::Whole);
    for (x, y) in [(0.1, 0.1), (-0.1, 0.1), (-0.1, -0.1), (0.1, -0.1)] {
        let r = [x, y, -0.1];
        // v + ω × r along each axis: (r × axis) · ω.
        let row = |a: [f64; 3]| {
            [
                a[0],
                a[1],
                a[2],
                r[1] * a[2] - r[2] * a[1],
                r[2] * a[0] - r[0] * a[2],
                r[0] * a[1] - r[1] * a[0],
            ]
        };
        let J = [row(Z), row(X), row(Y)].concat();
        builder.constraint(coulomb(mu), &[0.0; 3], &[compliance; 3], &[(port, &J)]);
    }
    builder.build().unwrap()
}

/// A particle held off three orthogonal planes at `bias` [m/s] each: a sphere in a corner.
fn corner(mu: f64, bias: f64, momentum: [f64; 3]) -> Problem {
    let mut builder = Problem::builder("corner");
    let body = builder.dense(&diagonal(&[1.0; 3]), &momentum);
    let port = builder.port(body, Map::Whole);
    for axes in [frame(X, Y, Z), frame(Y, Z, X), frame(Z, X, Y)] {
        builder.constraint(coulomb(mu), &[-bias, 0.0, 0.0], &[0.0; 3], &[(port, &axes)]);
    }
    builder.build().unwrap()
}

/// Every law at once on four bodies in a row, with compliance here and there.
fn mixed() -> Problem {
    let mut builder = Problem::builder("mixed");
    let ports: Vec<_> = (0..4)
        .map(|k| {
            let m = 1.0 + f64::from(k);
            let A = [m, 0.2, 0.0, 0.2, m, 0.1, 0.0, 0.1, m];
            let body = builder.dense(&A, &[0.8 - 0.3 * f64::from(k), 0.3, -0.5 * m]);
            builder.port(body, Map::Whole)
        })
        .collect();
    let minus = |v: &[f64]| v.iter().map(|x| -x).collect::<Vec<_>>();
    let contact = frame(Z, X, Y);
    builder.constraint(coulomb(0.4), &[0.0; 3], &[0.0; 3], &[(ports[0], &contact)]);
    let elliptic = Law::Elliptic(Elliptic::new(0.6, 0.2).unwrap());
    let soft_contact = [0.02, 0.01, 0.01];
    builder.constraint(elliptic, &[-0.01, 0.0, 0.0], &soft_contact, &[(ports[1], &contact)]);
    builder.constraint(coulomb(0.0), &[0.0; 3], &[0.0; 3], &[(ports[2], &contact)]);
    builder.constraint(
        coulomb(0.7),
        &[0.0; 3],
        &[0.0; 3],
        &[(ports[3], &contact), (ports[2], &minus(&contact))],
    );
    let scalar = [
        (Law::Bilateral(Bilateral), X, 0, 1),
        (Law::Soft(Soft::new(2.0).unwrap()), Y, 1, 2),
        (Law::Unilateral(Unilateral), X, 2, 3),
        (Law::Bounded(Bounded::new(-0.1, 0.15).unwrap()), Y, 0, 1),
        (Law::Bounded(Bounded::new(0.02, 0.02).unwrap()), X, 3, 0),
        (Law::Bounded(Bounded::new(f64::NEG_INFINITY, 0.05).unwrap()), Z, 3, 0),
    ];
    for (law, row, a, b) in scalar {
        let terms: [(_, &[f64]); 2] = [(ports[a], &row), (ports[b], &minus(&row))];
        builder.constraint(law, &[0.01], &[0.003], &terms);
    }
    builder.build().unwrap()
}

/// A bar of nodes in a sparse subsystem, its lower nodes on the ground and all of it sliding.
fn sparse_bar() -> Problem {
    const NODES: usize = 8;
    let mut builder = Problem::builder("bar");
    let (own, coupling) = (diagonal(&[5.0, 5.0, 5.0]), diagonal(&[-2.0, -2.0, -2.0]));
    let blocks = (0..NODES)
        .map(|k| (k, k, own.as_slice()))
        .chain((1..NODES).map(|k| (k, k - 1, coupling.as_slice())));
    let momentum: Vec<f64> = (0..NODES).flat_map(|k| [1.0, 0.1 * k as f64, -1.0]).collect();
    let bar = builder.sparse(3, blocks, &momentum);
    for k in 0..NODES {
        let port = builder.port(bar, Map::Nodes(vec![(k, 1.0)]));
        builder.constraint(coulomb(0.3), &[0.0; 3], &[0.0; 3], &[(port, &frame(Z, X, Y))]);
    }
    builder.build().unwrap()
}

#[test]
fn a_sliding_particle_lifts_off_at_the_slope_of_the_friction_cone_in_the_convex_model() {
    // u_n = μ u_t and λ_t = μ λ_n: λ_n/m = (μ v₀ + g dt)/(1 + μ²).
    let (mu, v0) = (0.2, 1.0);
    let problem = particle(mu, v0);
    let normal = (mu * v0 + WEIGHT) / (1.0 + mu * mu);
    let slip = v0 - mu * normal;
    for name in CONVEX {
        let (report, x) = solve(name, &[], &problem, &goal(FrictionModel::Convex, 1e-6, 1000));
        assert_eq!(report.status, Status::Converged, "{name}");
        // One contact with W = 1/m: the violation is at least the error of the velocity over
        // √(1 + μ²), and it is at most 1e-6 of v₀.
        assert!(distance(&x.velocity, &[slip, 0.0, mu * slip]) <= 2e-6, "{name}");
    }
}

#[test]
fn a_sliding_particle_stays_on_the_ground_with_exact_friction() {
    let (mu, v0) = (0.2, 1.0);
    let problem = particle(mu, v0);
    for name in EXACT {
        for settings in [&[][..], &["local=exact"]] {
            if name != "pgs" && !settings.is_empty() {
                continue;
            }
            let goal = goal(FrictionModel::Coulomb, 1e-12, 100);
            let (report, x) = solve(name, settings, &problem, &goal);
            assert_eq!(report.status, Status::Converged, "{name}");
            assert!(distance(&x.velocity, &[v0 - mu * WEIGHT, 0.0, 0.0]) <= 1e-11, "{name}");
        }
    }
}

#[test]
fn a_frictionless_particle_keeps_its_speed_and_a_rough_one_stops() {
    for model in [FrictionModel::Convex, FrictionModel::Coulomb] {
        for name in if model == FrictionModel::Convex { &CONVEX[..] } else { &EXACT[..] } {
            for (mu, speed) in [(0.0, 1.0), (1e3, 0.0)] {
                let problem = particle(mu, 1.0);
                let (report, x) = solve(name, &[], &problem, &goal(model, 1e-6, 1000));
                assert_eq!(report.status, Status::Converged, "{name}, μ = {mu}");
                // Stick and no friction: the violation bounds the error as above.
                assert!(distance(&x.velocity, &[speed, 0.0, 0.0]) <= 2e-6, "{name}, μ = {mu}");
            }
        }
    }
}

/// One contact with W = diag(10, 1, 1), pressed so that it sticks well inside the cone.
fn stiff_normal() -> Problem {
    let mut builder = Problem::builder("stiff normal");
    let body = builder.dense(&diagonal(&[1.0, 1.0, 0.1]), &[-0.1, 0.0, -1.0]);
    let port = builder.port(body, Map::Whole);
    builder.constraint(coulomb(1.0), &[0.0; 3], &[0.0; 3], &[(port, &frame(Z, X, Y))]);
    builder.build().unwrap()
}

/// One contact on a hinged link: three rows, one velocity, W of rank one.
fn hinge() -> Problem {
    let mut builder = Problem::builder("hinge");
    let link = builder.dense(&[1.0], &[-1.0]);
    let port = builder.port(link, Map::Whole);
    builder.constraint(coulomb(0.5), &[0.0; 3], &[0.0; 3], &[(port, &[1.0, 0.3, 0.0])]);
    builder.build().unwrap()
}

#[test]
fn over_relaxation_converges_up_to_two_traces_over_three_times_the_largest_eigenvalue() {
    // In stick the normal error is multiplied by 1 − ω λ η λ_max each sweep, with η = 3/trace:
    // |…| < 1 as long as ω λ < 2 trace/(3 λ_max), 0.8 for diag(10, 1, 1) and 2/3 for rank one.
    // At 0.79 the factor is −0.975: a thousand sweeps leave 1e-11 of the first error.
    let goal = goal(FrictionModel::Convex, 1e-6, 1000);
    let cases: [(Problem, &[&str], bool); 8] = [
        (stiff_normal(), &["step=trace", "omega=0.79"], true),
        (stiff_normal(), &["step=trace", "sharpness=0.79"], true),
        (stiff_normal(), &["step=trace", "omega=0.81"], false),
        (stiff_normal(), &["step=trace", "sharpness=0.81"], false),
        (stiff_normal(), &[], true),
        (hinge(), &["step=trace", "omega=0.5"], true),
        (hinge(), &["step=trace", "omega=1"], false),
        (hinge(), &[], true),
    ];
    for (problem, settings, converges) in cases {
        for name in ["psor", "ssor"] {
            let (report, _) = solve(name, settings, &problem, &goal);
            let found = report.status == Status::Converged;
            assert_eq!(found, converges, "{name} on {}: {settings:?}", problem.name());
        }
    }
}

#[test]
fn every_law_is_answered_alike_by_all_methods() {
    // The reference is the augmented Lagrangian, which works on velocities.
    let problem = mixed();
    let (report, reference) =
        solve("alm", &[], &problem, &goal(FrictionModel::Convex, 1e-12, 10_000));
    assert_eq!(report.status, Status::Converged);
    for name in CONVEX {
        let tolerance = if name == "ipm" { 1e-7 } else { 1e-10 };
        let goal = goal(FrictionModel::Convex, tolerance, 5000);
        let (report, x) = solve(name, &[], &problem, &goal);
        assert_eq!(report.status, Status::Converged, "{name}");
        // A is conditioned below 10 and the Jacobian is made of unit vectors: a factor of 100
        // between violation and error is ample.
        let error = distance(&x.velocity, &reference.velocity);
        assert!(error <= 100.0 * tolerance, "{name}: {error:e}");
    }
}

#[test]
fn exact_friction_on_every_law_agrees_with_newton() {
    let problem = mixed();
    let (report, reference) =
        solve("alm", &[], &problem, &goal(FrictionModel::Coulomb, 1e-12, 10_000));
    assert_eq!(report.status, Status::Converged);
    for (name, settings) in [("pgs", &[][..]), ("pgs", &["local=exact"]), ("psor", &[])] {
        let (report, x) =
            solve(name, settings, &problem, &goal(FrictionModel::Coulomb, 1e-10, 5000));
        assert_eq!(report.status, Status::Converged, "{name}");
        assert!(distance(&x.velocity, &reference.velocity) <= 1e-8, "{name}");
    }
}

#[test]
fn a_sparse_subsystem_gives_the_same_motion_with_and_without_a_matrix() {
    let problem = sparse_bar();
    let goal = goal(FrictionModel::Convex, 1e-10, 5000);
    let (_, reference) = solve("alm", &[], &problem, &goal);
    for name in ["apgd", "pgs", "psor", "ssor"] {
        let (report, x) = solve(name, &[], &problem, &goal);
        assert_eq!(report.status, Status::Converged, "{name}");
        assert!(distance(&x.velocity, &reference.velocity) <= 1e-8, "{name}");
    }
}

#[test]
fn compliance_spreads_the_load_alike_in_all_methods() {
    let problem = box_on_corners(0.4, 0.05);
    let (_, reference) = solve("alm", &[], &problem, &goal(FrictionModel::Convex, 1e-12, 10_000));
    for name in CONVEX {
        let (report, x) = solve(name, &[], &problem, &goal(FrictionModel::Convex, 1e-7, 5000));
        assert_eq!(report.status, Status::Converged, "{name}");
        // With compliance the impulses are unique as well; W reaches 21 here, R is 0.05: a violation
        // is amplified by their ratio at most.
        assert!(distance(&x.velocity, &reference.velocity) <= 4.2e-5, "{name}");
    }
}

#[test]
fn a_rod_jams_where_sliding_is_impossible() {
    // A rod of length and mass one at 55°, tip sliding at −1 m/s. Beyond μ = 1.40966 there is no
    // sliding answer; both stick at λ = −W⁻¹ c.
    let (sin, cos) = 55_f64.to_radians().sin_cos();
    let jam = |mu: f64| {
        let mut builder = Problem::builder("rod");
        let body = builder.dense(&diagonal(&[1.0, 1.0, 1.0 / 12.0]), &[-1.0, -WEIGHT, 0.0]);
        let port = builder.port(body, Map::Whole);
        // Velocities (x, z, spin) of the centre; the tip is at −½ (cos θ, sin θ).
        let J = [0.0, 1.0, -0.5 * cos, 1.0, 0.0, 0.5 * sin, 0.0, 0.0, 0.0];
        builder.constraint(coulomb(mu), &[0.0; 3], &[0.0; 3], &[(port, &J)]);
        builder.build().unwrap()
    };
    let goal = goal(FrictionModel::Coulomb, 1e-12, 100);
    let (report, x) = solve("pgs", &["local=exact"], &jam(1.0), &goal);
    assert_eq!(report.status, Status::Converged);
    // Eight digits of the reference solution.
    assert!((x.impulse[0] - 0.16989047).abs() <= 5e-9, "{:?}", x.impulse);
    for mu in [1.4, 1.45, 2.0] {
        let (report, x) = solve("pgs", &["local=exact"], &jam(mu), &goal);
        assert_eq!(report.status, Status::Converged);
        assert!(distance(&x.impulse, &[0.426279, 0.531311, 0.0]) <= 1e-6, "{:?}", x.impulse);
    }
}

#[test]
fn a_corner_pushes_with_the_closed_form_of_three_contacts() {
    // By symmetry v = (a, a, a). Exact friction: u_n = 0 gives a = e₀ and
    // λ_n = a/(1 − √2 μ). Convex: u_n = √2 μ a gives a = e₀/(1 − √2 μ).
    let (mu, e0) = (0.5, 0.01);
    let relief = 1.0 - std::f64::consts::SQRT_2 * mu;
    let problem = corner(mu, e0, [0.0; 3]);
    let exact = goal(FrictionModel::Coulomb, 1e-10, 1000);
    let (report, x) = solve("pgs", &["local=exact"], &problem, &exact);
    assert_eq!(report.status, Status::Converged);
    // Violations of 1e-12 m/s, amplified by 1/(1 − √2 μ)² < 12.
    assert!(distance(&x.velocity, &[e0; 3]) <= 2e-11);
    assert!((x.impulse[0] - e0 / relief).abs() <= 2e-11);
    for name in ["apgd", "ipm", "psor"] {
        let (report, x) = solve(name, &[], &problem, &goal(FrictionModel::Convex, 1e-6, 5000));
        assert_eq!(report.status, Status::Converged, "{name}");
        assert!(distance(&x.velocity, &[e0 / relief; 3]) <= 12.0 * 1e-6 * e0, "{name}");
    }
}

#[test]
fn a_corner_without_a_solution_ends_with_numbers_and_without_success() {
    // μ > 1/√2 leaves no velocity that satisfies all three contacts.
    let problem = corner(1.0, 0.01, [0.0; 3]);
    for name in CONVEX {
        let (report, x) = solve(name, &[], &problem, &goal(FrictionModel::Convex, 1e-6, 200));
        assert_ne!(report.status, Status::Converged, "{name}");
        assert!(x.velocity.iter().chain(&x.impulse).all(|x| x.is_finite()), "{name}");
        if name == "ipm" {
            assert_eq!(report.status, Status::Failed);
        }
    }
    for name in EXACT {
        let (report, _) = solve(name, &[], &problem, &goal(FrictionModel::Coulomb, 1e-6, 200));
        assert_ne!(report.status, Status::Converged, "{name}");
    }
}

#[test]
fn a_corner_without_an_interior_ends_near_rest() {
    // e = 0 and μ = 1: v = 0 is the only admissible velocity, no velocity is strictly so, and the
    // impulses are not bounded. The motion is still approached.
    let problem = corner(1.0, 0.0, [-1.0, -0.5, -0.2]);
    for name in CONVEX {
        let (report, x) = solve(name, &[], &problem, &goal(FrictionModel::Convex, 1e-9, 500));
        let speed = x.velocity.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        assert!(speed <= 0.1, "{name}: {speed} with {:?}", report.status);
    }
}

#[test]
fn open_contacts_leave_free_motion_as_it_is() {
    let mut builder = Problem::builder("open");
    let body = builder.dense(&diagonal(&[MASS; 3]), &[0.1, 0.0, 0.2]);
    let port = builder.port(body, Map::Whole);
    builder.constraint(coulomb(0.5), &[0.0; 3], &[0.0; 3], &[(port, &frame(Z, X, Y))]);
    let problem = builder.build().unwrap();
    for name in CONVEX {
        let (report, x) = solve(name, &[], &problem, &goal(FrictionModel::Convex, 1e-9, 100));
        assert_eq!((report.status, report.iterations), (Status::Converged, 0), "{name}");
        assert_eq!(x.velocity, problem.free_velocity());
    }
}

#[test]
fn a_problem_without_constraints_moves_freely() {
    let mut builder = Problem::builder("free");
    builder.dense(&diagonal(&[MASS; 3]), &[0.1, 0.0, 0.2]);
    let problem = builder.build().unwrap();
    for name in CONVEX {
        let (report, x) = solve(name, &[], &problem, &goal(FrictionModel::Convex, 1e-9, 100));
        assert_eq!(report.status, Status::Converged, "{name}");
        assert_eq!(x.velocity, problem.free_velocity());
    }
}

#[test]
fn an_answer_as_a_guess_is_accepted_without_an_iteration() {
    let problem = mixed();
    for name in CONVEX {
        let mut session = Session::new(name).unwrap();
        let mut x = Solution::cold(&problem);
        let goal = goal(FrictionModel::Convex, 1e-6, 5000);
        let first = session.solve(&problem, &goal, &mut x).unwrap();
        assert_eq!(first.status, Status::Converged, "{name}");
        let again = session.solve(&problem, &goal, &mut x).unwrap();
        assert_eq!((again.status, again.iterations), (Status::Converged, 0), "{name}");
    }
}

#[test]
fn the_same_problem_gives_the_same_bits_in_used_and_in_fresh_memory() {
    let problem = mixed();
    let goal = goal(FrictionModel::Convex, 1e-8, 300);
    for name in CONVEX {
        let (_, fresh) = solve(name, &[], &problem, &goal);
        let mut session = Session::new(name).unwrap();
        for other in [&sparse_bar(), &corner(0.3, 0.1, [0.0; 3])] {
            let _ = session.solve(other, &goal, &mut Solution::cold(other)).unwrap();
        }
        let mut used = Solution::cold(&problem);
        let _ = session.solve(&problem, &goal, &mut used).unwrap();
        assert_eq!(fresh, used, "{name}");
    }
}

#[test]
fn settings_refuse_what_they_cannot_mean() {
    for (name, key, value) in [
        ("psor", "omega", "0"),
        ("psor", "step", "long"),
        ("pgs", "local", "approximate"),
        ("ipm", "tolerance", "-1"),
        ("apgd", "restart", "maybe"),
    ] {
        assert!(Session::new(name).unwrap().set(key, value).is_err(), "{name} {key}");
    }
}
