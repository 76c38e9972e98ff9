//! The same bits for every number of threads, and for every solve of a session.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{bits, build, goal, models, solve};
use stiction_solve::catalogue::Variation;
use stiction_solve::file::{Csr, RawProblem};
use stiction_solve::solver::SOLVERS;
use stiction_solve::{Goal, Problem, Session, Solution};

/// Several problems side by side as one: each is an island, or more, of its own.
fn side_by_side(parts: &[RawProblem]) -> Problem {
    let mut whole = RawProblem {
        name: "side by side".to_owned(),
        n: 0,
        m: 0,
        a: Csr::zeros(0, 0),
        j: Csr::zeros(0, 0),
        b: Vec::new(),
        kinds: Vec::new(),
        row_start: Vec::new(),
        mu: Vec::new(),
        e: Vec::new(),
        r: Vec::new(),
        blocks: None,
        extra: Default::default(),
    };
    let append = |to: &mut Csr, from: &Csr, column: usize| {
        let base = to.indices.len();
        to.indptr.extend(from.indptr[1..].iter().map(|k| base + k));
        to.indices.extend(from.indices.iter().map(|c| column + c));
        to.data.extend_from_slice(&from.data);
        to.rows += from.rows;
        to.cols += from.cols;
    };
    for part in parts {
        append(&mut whole.a, &part.a, whole.n);
        append(&mut whole.j, &part.j, whole.n);
        whole.row_start.extend(part.row_start.iter().map(|r| whole.m + r));
        for (to, from) in [
            (&mut whole.b, &part.b),
            (&mut whole.mu, &part.mu),
            (&mut whole.e, &part.e),
            (&mut whole.r, &part.r),
        ] {
            to.extend_from_slice(from);
        }
        whole.kinds.extend_from_slice(&part.kinds);
        whole.n += part.n;
        whole.m += part.m;
    }
    Problem::from_raw(&whole).unwrap().problem
}

/// Four heaps that do not touch, of more rows than one thread is given.
fn heaps() -> Problem {
    let pile = |seed, size| {
        build("sphere-pile", &Variation { seed, size, ..Variation::default() }).to_raw()
    };
    let wall = build("box-wall", &Variation { size: 4, ..Variation::default() }).to_raw();
    let stack = build("stack", &Variation { size: 6, ..Variation::default() }).to_raw();
    side_by_side(&[pile(1, 60), pile(2, 30), wall, stack])
}

/// A limit that ends slow solvers early: what is asked for is equal bits, not a solution.
fn short(goal: Goal) -> Goal {
    Goal { max_iterations: Some(30), ..goal }
}

#[test]
fn heaps_side_by_side_are_islands_and_large() {
    let problem = heaps();
    assert!(problem.islands().count() >= 4);
    assert!(problem.rows() >= 600, "{}", problem.rows());
}

#[test]
fn every_solver_gives_the_same_bits_on_one_two_and_eight_threads() {
    let soft = build("fem-block", &Variation { size: 6, ..Variation::default() });
    for problem in [heaps(), soft] {
        for entry in SOLVERS {
            for &model in models(entry.name) {
                let goal = short(goal(model, 1e-6));
                let [one, two, eight] = [1, 2, 8].map(|threads| {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                    let (report, solution) =
                        pool.unwrap().install(|| solve(entry.name, &problem, &goal));
                    (report.iterations, report.residuals, bits(&solution))
                });
                let who = format!("{} ({}) on {}", entry.name, model.name(), problem.name());
                assert!(one == two, "{who}: one thread and two differ");
                assert!(one == eight, "{who}: one thread and eight differ");
            }
        }
    }
}

#[test]
fn earlier_solves_of_a_session_do_not_change_the_bits() {
    let problem = build("sphere-pile", &Variation { size: 30, ..Variation::default() });
    let another = build("chain", &Variation::default());
    for entry in SOLVERS {
        for &model in models(entry.name) {
            let goal = short(goal(model, 1e-6));
            let (report, fresh) = solve(entry.name, &problem, &goal);
            let mut session = Session::new(entry.name).unwrap();
            for before in [&another, &problem] {
                let _ = session.solve(before, &goal, &mut Solution::cold(before)).unwrap();
            }
            let mut solution = Solution::cold(&problem);
            let again = session.solve(&problem, &goal, &mut solution).unwrap();
            let who = format!("{} ({})", entry.name, model.name());
            assert_eq!(report.iterations, again.iterations, "{who}");
            assert!(bits(&solution) == bits(&fresh), "{who}");
        }
    }
}
