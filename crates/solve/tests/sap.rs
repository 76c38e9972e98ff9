//! SAP as published: its cost along Newton iterations, its line searches, its stopping criterion.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{build, distance, goal, largest, solve_with};
use stiction_solve::catalogue::Variation;
use stiction_solve::compliance::NearRigid;
use stiction_solve::contact::rows;
use stiction_solve::{FrictionModel, Goal, Problem, Status};

const PROBLEMS: [(&str, usize); 3] = [("arch", 5), ("box-wall", 2), ("sphere-pile", 14)];

/// A catalogue problem with the near-rigid compliance on its rows, so that the solver softens nothing further.
fn near_rigid((name, size): (&str, usize)) -> Problem {
    let mut problem = build(name, &Variation { size, ..Variation::default() });
    let limits = NearRigid::default();
    for i in 0..problem.constraints().len() {
        let w = problem.delassus().frobenius_scale(i);
        let least = rows(limits.normal() * w, limits.sigma * w);
        for (row, least) in problem.row_range(i).zip(least) {
            problem.raise_row_compliance(row, least);
        }
    }
    problem
}

#[test]
fn the_cost_falls_with_every_newton_iteration_and_slackness_is_round_off() {
    let mut longest = 0;
    for case in PROBLEMS {
        let problem = near_rigid(case);
        let goal = Goal { trace: true, ..goal(FrictionModel::Convex, 1e-10) };
        for search in ["line-search=exact", "line-search=backtracking"] {
            let (report, _) = solve_with("sap", &[search], &problem, &goal);
            assert_eq!(report.status, Status::Converged, "{case:?} {search}");
            // The first point is the cold start, whose impulses are not those of the laws.
            let points = &report.trace[1..];
            longest = longest.max(points.len());
            for pair in points.windows(2) {
                // Round-off of a sum of some hundred terms.
                let bound = pair[0].cost + 1e-12 * points[0].cost;
                assert!(pair[1].cost <= bound, "{case:?} {search}: {pair:?}");
            }
            // Impulses are projections: γ·g vanishes to round-off of c, relative to velocities that are solved to 1e-10.
            assert!(points.iter().all(|p| p.complementarity <= 1e-9), "{case:?}");
        }
    }
    // One point per iteration, and the solution.
    assert!(longest >= 5, "{longest}");
}

#[test]
fn both_line_searches_find_the_same_minimum() {
    for case in PROBLEMS {
        let problem = near_rigid(case);
        let goal = goal(FrictionModel::Convex, 1e-10);
        let solve = |search: &str| solve_with("sap", &[search], &problem, &goal).1;
        let [exact, other] =
            ["line-search=exact", "line-search=backtracking"].map(|search| solve(search).velocity);
        // Errors of momentum of 1e-10, times the square root of the condition of A and its compliance, below 1e3.
        assert!(distance(&exact, &other) <= 1e-7 * largest(&exact), "{case:?}");
    }
}

#[test]
fn a_minimisation_ends_at_the_relative_tolerance_of_its_own() {
    for case in PROBLEMS {
        let problem = near_rigid(case);
        let mut before = 0;
        for tolerance in [1e-1, 1e-3, 1e-6] {
            let own = format!("epsilon-r={tolerance}");
            let goal = goal(FrictionModel::Convex, 1e-12);
            let (report, _) = solve_with("sap", &[&own], &problem, &goal);
            // [Castro22, Eq. (26)] on the final velocities; measured with the same scaling.
            assert!(report.residuals.momentum <= 1.01 * tolerance, "{case:?} {tolerance}");
            assert!(report.iterations >= before, "{case:?} {tolerance}");
            before = report.iterations;
        }
    }
}
