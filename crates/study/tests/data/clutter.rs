//! The clutter from the initial states of the benchmark: every solver gets through it, and the number
//! of threads does not change a bit.

use std::path::Path;

use stiction_sim::state_hash;
use stiction_solve::solver::SOLVERS;
use stiction_study::scenarios::clutter::{self, ClutterItem};
use stiction_testkit::data::NamedTest;
use stiction_testkit::trials;

use crate::clutter_checks::check_clutter;

/// Tests of this module.
pub const TRIALS: &[NamedTest] =
    trials![every_solver_gets_through_the_clutter, the_number_of_threads_changes_no_bit];

/// The initial state of the benchmark.
fn items(folder: &Path, count: usize) -> Vec<ClutterItem> {
    let items = clutter::read_items(folder.join(format!("clutter_ic_{count}.json"))).unwrap();
    assert_eq!(items.len(), count);
    items
}

fn every_solver_gets_through_the_clutter(folder: &Path) {
    // Long enough for the first impacts.
    for (count, duration) in [(40, 0.3), (80, 0.2)] {
        let items = items(folder, count);
        SOLVERS.iter().for_each(|entry| check_clutter(&items, entry.name, duration));
    }
}

fn the_number_of_threads_changes_no_bit(folder: &Path) {
    for count in [40, 80] {
        let items = items(folder, count);
        let hash = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut scene = clutter::scene(&items, true, 1.0).unwrap();
                scene.duration = if count == 40 { 1.0 } else { 0.4 };
                let mut scene_run = scene.start().unwrap();
                scene_run.run().unwrap();
                state_hash(scene_run.simulation.state())
            })
        };
        let one = hash(1);
        for threads in [2, 8] {
            assert_eq!(hash(threads), one, "{count} bodies, {threads} threads");
        }
    }
}
