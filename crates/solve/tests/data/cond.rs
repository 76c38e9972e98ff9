//! Contact nodalization and diagonalization on the golden problems.

use std::path::Path;

use stiction_solve::{FrictionModel, Status};
use stiction_testkit::data::NamedTest;
use stiction_testkit::trials;

use crate::common::{distance, goal, load_problem, solve};

/// Tests of this module.
pub const TRIALS: &[NamedTest] = trials![stored_solutions_are_reached];

fn stored_solutions_are_reached(folder: &Path) {
    // Requested tolerance of each problem, per friction model; zero where the relaxed problem is too
    // degenerate for a first-order method (no interior point, or rank 6 under 180 rows).
    // The error of velocities may exceed the residual by the condition of the contacts.
    let models = [FrictionModel::Coulomb, FrictionModel::Convex];
    for (name, tolerance, bound) in [
        ("g01_box_slide", [1e-9, 1e-9], 1e-7),
        ("g02_stack_heavy_on_light", [1e-8, 1e-8], 1e-5),
        ("g03_chain_mixed", [1e-7, 1e-8], 1e-4),
        ("g04_fem_block", [1e-9, 1e-9], 1e-8),
        ("g05_clutter20", [1e-9, 0.0], 1e-6),
        ("g06_boltnut60", [1e-8, 0.0], 1e-5),
    ] {
        let path = folder.join(format!("{name}.npz"));
        let (raw, loaded) = load_problem(&path);
        for ((model, key), tolerance) in models.into_iter().zip(["v_ncp", "v_ccp"]).zip(tolerance) {
            if tolerance == 0.0 {
                continue;
            }
            let (report, found) = solve("cond", &loaded.problem, &goal(model, tolerance));
            let v = loaded.velocities_to_file(&found.velocity);
            let error = distance(&v, &raw.extra[key].to_f64());
            assert_eq!(report.status, Status::Converged, "{name} {model:?}");
            assert!(error <= bound, "{name} {model:?}: {error:e}");
        }
    }
}
