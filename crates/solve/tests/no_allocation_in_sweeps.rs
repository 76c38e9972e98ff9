//! Solving a problem of the same shape again takes no memory from the allocator.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use stiction_solve::law::{Bilateral, Coulomb, Law};
use stiction_solve::problem::Map;
use stiction_solve::{FrictionModel, Goal, Problem, Session, Solution};

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, counting the calls of each thread.
struct Counting;

// SAFETY: every call goes on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|c| c.set(c.get() + 1));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bodies in a row with a contact and a joint row between neighbours.
fn row_of_bodies() -> Problem {
    let mut builder = Problem::builder("row");
    let identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let minus: Vec<f64> = identity.iter().map(|x| -x).collect();
    let ports: Vec<_> = (0..6)
        .map(|k| {
            let body = builder.dense(&identity, &[-1.0, 0.1 * f64::from(k), 0.0]);
            builder.port(body, Map::Whole)
        })
        .collect();
    let law = Law::Coulomb(Coulomb::new(0.5).unwrap());
    builder.constraint(law, &[0.0; 3], &[0.0; 3], &[(ports[0], &identity)]);
    for pair in ports.windows(2) {
        let terms: [(_, &[f64]); 2] = [(pair[1], &identity), (pair[0], &minus)];
        builder.constraint(law, &[0.0; 3], &[0.0; 3], &terms);
        let terms: [(_, &[f64]); 2] = [(pair[1], &[0.0, 0.0, 1.0]), (pair[0], &[0.0, 0.0, -1.0])];
        builder.constraint(Law::Bilateral(Bilateral), &[0.1], &[0.0], &terms);
    }
    builder.build().unwrap()
}

#[test]
fn a_second_solve_takes_no_memory() {
    let problem = row_of_bodies();
    for name in ["apgd", "pgs", "psor", "ssor"] {
        let mut session = Session::new(name).unwrap();
        let goal = Goal {
            tolerance: 0.0,
            max_iterations: Some(50),
            friction_model: Some(FrictionModel::Convex),
            ..Goal::default()
        };
        let mut solution = Solution::cold(&problem);
        let _ = session.solve(&problem, &goal, &mut solution).unwrap();
        solution.reset(&problem);
        let before = COUNT.with(Cell::get);
        let report = session.solve(&problem, &goal, &mut solution).unwrap();
        let taken = COUNT.with(Cell::get) - before;
        assert!(report.iterations > 0, "{name}");
        assert_eq!(taken, 0, "{name}");
    }
}
