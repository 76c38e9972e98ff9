//! The clutter from generated columns: every solver gets through it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "common/clutter_checks.rs"]
mod clutter_checks;

use clutter_checks::check_clutter;
use stiction_sim::ContactModel;
use stiction_solve::solver::SOLVERS;
use stiction_study::scenario;
use stiction_study::scenarios::clutter;

#[test]
fn every_solver_gets_through_the_clutter() {
    // Long enough for the first impacts.
    for (count, duration) in [(40, 0.3), (80, 0.2)] {
        let items = clutter::columns(count, 1);
        SOLVERS.iter().for_each(|entry| check_clutter(&items, entry.name, duration));
    }
}

#[test]
fn clutter_of_near_rigid_contacts_comes_to_rest_in_its_bin_and_without_walls() {
    for (walls, bodies) in [(1, 40), (0, 40), (1, 8)] {
        let set =
            [("walls", walls), ("bodies", bodies)].map(|(k, v)| (k.to_owned(), v.to_string()));
        let mut scene = scenario("clutter", &set).unwrap();
        scene.settings.contact = ContactModel::Sap;
        scene.settings.tolerance = 1e-5;
        scene.settings.select_solver("sap");
        scene.duration = 10.0;
        let mut run = scene.start().unwrap();
        for _ in 0..run.steps() {
            assert!(run.step().unwrap().converged());
        }
        let verdict = run.check.verdict();
        assert!(verdict.passed, "{bodies} bodies, walls {walls}: {}", verdict.detail);
    }
}
