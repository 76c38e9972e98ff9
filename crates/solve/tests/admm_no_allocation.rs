//! ADMM takes no memory from the allocator once it has solved a problem of the same size.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, non_snake_case)]

use nalgebra::{Matrix3, Vector3, Vector6};
use stiction_math::spatial::Inertia10;
use stiction_solve::law::{Coulomb, Law};
use stiction_solve::problem::{Map, Problem, Tree};
use stiction_solve::{FrictionModel, Goal, Monitor, Session, Solution};
use stiction_testkit::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// An arm of three links, a free mass and a row of three nodes, each in contact with the next.
fn problem() -> Problem {
    let mut tree = Tree::new();
    for link in 0..3usize {
        let at = Vector3::new(0.1 * link as f64, 0.0, 0.2);
        let inertia = Inertia10::from_central(1.0, at, &(Matrix3::identity() * 0.01));
        let S = Vector6::new(0.0, 1.0, 0.0, -at.z, 0.0, at.x);
        tree.link(link.checked_sub(1), &[S], inertia, &[0.01]);
    }
    let mut builder = Problem::builder("arm, mass and nodes");
    let arm = builder.tree(&tree, &[0.1, -0.2, 0.1]);
    let mut A = [0.0; 36];
    A.iter_mut().step_by(7).for_each(|d| *d = 2.0);
    let mass = builder.dense(&A, &[0.1, 0.2, -0.3, 0.0, 0.1, 0.0]);
    let (d, o) = ([2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0], [-0.2; 9]);
    let nodes = [(0, 0, &d[..]), (1, 1, &d), (2, 2, &d), (1, 0, &o), (2, 1, &o)];
    let soft = builder.sparse(3, nodes, &[0.1; 9]);
    let hand = builder.port(arm, Map::Link(2));
    let elbow = builder.port(arm, Map::Link(1));
    let mass = builder.port(mass, Map::Whole);
    let face = builder.port(soft, Map::Nodes(vec![(0, 0.5), (2, 0.5)]));
    let law = Law::Coulomb(Coulomb::new(0.5).unwrap());
    let rows = |sign: f64| -> Vec<f64> {
        (0..18).map(|k| if k % 6 == 3 + k / 6 { sign } else { 0.05 * (k % 5) as f64 }).collect()
    };
    let (plus, minus) = (rows(1.0), rows(-1.0));
    let unit = [-1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, -1.0];
    let e = [-0.1, 0.0, 0.0];
    builder.constraint(law, &e, &[0.0; 3], &[(hand, &plus), (mass, &minus)]);
    builder.constraint(law, &e, &[0.0; 3], &[(hand, &plus), (elbow, &minus)]);
    builder.constraint(law, &e, &[0.0; 3], &[(mass, &plus), (face, &unit)]);
    builder.build().unwrap()
}

/// Calls to the allocator during a solve of at most `iterations`, the second of its size.
fn allocations(solver: &str, adapt: &str, iterations: usize) -> usize {
    let problem = problem();
    let mut session = Session::new(solver).unwrap();
    session.set("adapt", adapt).unwrap();
    session.set("adapt-threshold", "1").unwrap();
    let mut monitor = Monitor::default();
    let mut solution = Solution::cold(&problem);
    let goal = Goal { tolerance: 0.0, max_iterations: Some(iterations), ..Goal::default() };
    let mut count = 0;
    for _ in 0..2 {
        let before = stiction_testkit::allocations();
        solution.reset(&problem);
        monitor.start(&problem, &goal, FrictionModel::Coulomb, &solution.velocity);
        let _ = session.solver().improve(&problem, &mut monitor, &mut solution);
        count = stiction_testkit::allocations() - before;
        assert_eq!(monitor.iterations(), iterations);
    }
    count
}

#[test]
fn an_iteration_does_not_allocate() {
    for solver in ["admm", "admm-subsystem", "subadmm"] {
        assert_eq!(allocations(solver, "false", 20), allocations(solver, "false", 120), "{solver}");
    }
}

#[test]
fn a_solve_by_parts_with_changing_penalties_does_not_allocate() {
    for solver in ["admm-subsystem", "subadmm"] {
        assert_eq!(allocations(solver, "true", 120), 0, "{solver}");
    }
}
