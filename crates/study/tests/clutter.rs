//! The clutter from generated columns: every solver gets through it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "common/clutter_checks.rs"]
mod clutter_checks;

use clutter_checks::check_clutter;
use stiction_solve::solver::SOLVERS;
use stiction_study::scenarios::clutter;

#[test]
fn every_solver_gets_through_the_clutter() {
    // Long enough for the first impacts.
    for (count, duration) in [(40, 0.3), (80, 0.2)] {
        let items = clutter::columns(count, 1);
        SOLVERS.iter().for_each(|entry| check_clutter(&items, entry.name, duration));
    }
}
