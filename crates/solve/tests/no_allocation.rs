//! Solving a problem of a known shape again takes no memory from the allocator.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{SMALL, build, goal, models};
use stiction_math::block;
use stiction_solve::catalogue::Variation;
use stiction_solve::problem::{Builder, PortId, Structure, SubsystemId};
use stiction_solve::solver::{Reduce, SOLVERS};
use stiction_solve::{FrictionModel, Monitor, Problem, Session, Solution};
use stiction_testkit::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn allocations(f: impl FnOnce()) -> usize {
    let before = stiction_testkit::allocations();
    f();
    stiction_testkit::allocations() - before
}

/// The problem with a momentum that differs a little, so that a warm start still has work to do.
fn nudged(problem: &Problem, relative: f64) -> Problem {
    let mut raw = problem.to_raw();
    for (k, b) in raw.b.iter_mut().enumerate() {
        *b *= 1.0 + relative * (1 + k % 7) as f64;
    }
    Problem::from_raw(&raw).unwrap().problem
}

#[test]
fn a_warm_solve_of_a_known_shape_does_not_allocate() {
    let mut failed = Vec::new();
    for (name, size) in SMALL {
        let family = Variation { size, ..Variation::default() };
        let [first, second, third] =
            [0.0, 1e-2, 2e-2].map(|relative| nudged(&build(name, &family), relative));
        for entry in SOLVERS.iter().filter(|entry| !entry.allocates) {
            for &model in models(entry.name) {
                let mut solver = (entry.build)();
                let mut monitor = Monitor::default();
                let mut solution = Solution::cold(&first);
                let goal = goal(model, 1e-8);
                let mut solve = |problem: &Problem| {
                    monitor.start(problem, &goal, model, &solution.velocity);
                    let _ = solver.improve(problem, &mut monitor, &mut solution);
                    monitor.iterations()
                };
                solve(&first);
                solve(&second);
                let mut iterations = 0;
                let found = allocations(|| iterations = solve(&third));
                assert!(iterations > 0, "{} on {name} had nothing to do", entry.name);
                if found > 0 {
                    failed.push(format!("{} on {name} ({}): {found}", entry.name, model.name()));
                }
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn a_session_allocates_no_more_than_its_report() {
    // A report without a trace owns nothing.
    let problem = build("stack", &Variation::default());
    let other = nudged(&problem, 1e-2);
    let mut session = Session::new("alm").unwrap();
    let mut solution = Solution::cold(&problem);
    let goal = goal(FrictionModel::Coulomb, 1e-8);
    for problem in [&problem, &other] {
        let _ = session.solve(problem, &goal, &mut solution).unwrap();
    }
    let found = allocations(|| {
        let _ = session.solve(&problem, &goal, &mut solution);
    });
    assert_eq!(found, 0);
}

/// The matrices of a problem's meshes, as whoever assembles them has them.
fn meshes(problem: &Problem) -> Vec<Option<block::Symmetric>> {
    let mass = problem.mass();
    let subsystems = (0..mass.subsystems()).map(SubsystemId);
    let mesh = |s: SubsystemId| {
        let part = mass.part(s)?;
        let mut matrix = block::Symmetric::zeros(part.pattern());
        matrix.values_mut().copy_from_slice(part.values());
        Some(matrix)
    };
    subsystems.map(mesh).collect()
}

/// Adds all of a problem to a builder, with momenta and terms that differ a little.
fn refill(
    builder: &mut Builder,
    problem: &Problem,
    meshes: &[Option<block::Symmetric>],
    relative: f64,
) {
    builder.clear();
    let mass = problem.mass();
    for s in (0..mass.subsystems()).map(SubsystemId) {
        let mut momentum = [0.0; 6000];
        let b = &problem.momentum()[mass.dofs(s)];
        let momentum = &mut momentum[..b.len()];
        for (k, (to, b)) in momentum.iter_mut().zip(b).enumerate() {
            *to = b * (1.0 + relative * (1 + k % 7) as f64);
        }
        match mass.structure(s) {
            Structure::Dense => {
                let id = mass.matrix().pattern().diagonal(mass.blocks(s).start);
                builder.dense(mass.matrix().block(id), momentum);
            }
            Structure::Tree { .. } => {
                builder.tree(mass.tree(s).unwrap(), momentum);
            }
            Structure::Sparse { .. } => {
                builder.sparse_matrix(meshes[s.0].as_ref().unwrap(), momentum, None);
            }
        }
    }
    for port in problem.ports() {
        builder.port(port.subsystem, port.map.clone());
    }
    for (i, constraint) in problem.constraints().iter().enumerate() {
        let (rows, terms) = (problem.row_range(i), problem.terms(i));
        let mut list = [(PortId(0), &[][..]); 4];
        for (slot, term) in list.iter_mut().zip(terms) {
            *slot = (term.port, problem.term_values(term));
        }
        let (bias, compliance) = (&problem.bias()[rows.clone()], &problem.compliance()[rows]);
        builder.constraint(constraint.law, bias, compliance, &list[..terms.len()]);
    }
}

#[test]
fn building_and_solving_a_problem_of_a_known_shape_does_not_allocate() {
    let mut failed = Vec::new();
    for (name, size) in [
        ("sphere-pile", 8),
        ("box-wall", 6),
        ("quadrupeds", 2),
        ("stack", 5),
        ("gripped-block", 2),
        ("rod", 20),
        ("soft-plate", 3),
    ] {
        let original = build(name, &Variation { size, ..Variation::default() });
        let matrices = meshes(&original);
        for entry in SOLVERS.iter().filter(|entry| !entry.allocates) {
            let model = models(entry.name)[0];
            let mut builder = Problem::builder("again");
            let mut problem = Problem::default();
            let mut session = Session::new(entry.name).unwrap();
            let mut solution = Solution::default();
            let goal = goal(model, 1e-6);
            let mut built = 0;
            let mut step = |relative: f64, solution: &mut Solution| {
                built = allocations(|| {
                    refill(&mut builder, &original, &matrices, relative);
                    builder.build_into(&mut problem).unwrap();
                });
                let _ = session.solve(&problem, &goal, solution).unwrap();
            };
            step(2e-2, &mut solution);
            step(1e-2, &mut solution);
            let found = allocations(|| step(0.0, &mut solution));
            if found > 0 {
                failed.push(format!("{} on {name}: {built} building, {found} in all", entry.name));
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn building_and_solving_a_large_mesh_again_does_not_allocate() {
    // A thread of the pool, since work that comes from outside takes memory to be handed over.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(build_and_solve_large_meshes);
}

fn build_and_solve_large_meshes() {
    let mut failed = Vec::new();
    for (name, size) in [("soft-mat", 12), ("soft-plate", 12)] {
        let original = build(name, &Variation { size, ..Variation::default() });
        assert!(original.is_large(), "{name}");
        let matrices = meshes(&original);
        for (solver, reduce) in [
            ("cond", Reduce::WhereFaster),
            ("sap", Reduce::Never),
            ("sap", Reduce::Always),
            ("alm", Reduce::Always),
            ("canal", Reduce::Always),
            ("subadmm", Reduce::WhereFaster),
        ] {
            let (mut builder, mut problem) = (Problem::builder("again"), Problem::default());
            let mut session = Session::new(solver).unwrap();
            session.reduce(reduce);
            let mut solution = Solution::default();
            let goal = goal(models(solver)[0], 1e-4);
            let mut step = |relative: f64, solution: &mut Solution| {
                refill(&mut builder, &original, &matrices, relative);
                builder.build_into(&mut problem).unwrap();
                session.solve(&problem, &goal, solution).unwrap().iterations
            };
            step(2e-2, &mut solution);
            step(1e-2, &mut solution);
            let mut iterations = 0;
            let found = allocations(|| iterations = step(0.0, &mut solution));
            assert!(iterations > 0, "{solver} on {name} had nothing to do");
            if found > 0 {
                failed.push(format!("{solver} ({reduce:?}) on {name}: {found}"));
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}
