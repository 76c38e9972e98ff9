//! The three splits of ADMM on the golden problems.

use std::path::Path;

use stiction_solve::{FrictionModel, Status};
use stiction_testkit::data::NamedTest;
use stiction_testkit::trials;

use crate::common::{distance, goal, load_problem, solve_with};

/// Tests of this module.
pub const TRIALS: &[NamedTest] =
    trials![golden_problems_are_solved_as_far_as_a_first_order_method_goes];

const SPLITS: [&str; 3] = ["admm", "admm-subsystem", "subadmm"];

fn golden_problems_are_solved_as_far_as_a_first_order_method_goes(folder: &Path) {
    // Relative violation that each split must reach within a thousand iterations. The methods converge
    // linearly: fast on boxes and deformables (nine digits), slowly on chains, stacks with large mass
    // ratios and threads (three digits).
    let expected = [
        ("g01_box_slide", 1e-9),
        ("g02_stack_heavy_on_light", 1e-3),
        ("g03_chain_mixed", 1e-3),
        ("g04_fem_block", 1e-9),
        ("g05_clutter20", 1e-6),
        ("g06_boltnut60", 1e-3),
    ];
    for (name, tolerance) in expected {
        let (raw, file) = load_problem(&folder.join(format!("{name}.npz")));
        for (model, key) in [(FrictionModel::Coulomb, "v_ncp"), (FrictionModel::Convex, "v_ccp")] {
            // The relaxed clutter has no Slater point: its multipliers diverge slowly.
            let tolerance =
                if key == "v_ccp" && name == "g05_clutter20" { 1e-3 } else { tolerance };
            for solver in SPLITS {
                let goal = goal(model, tolerance);
                let (report, found) =
                    solve_with(solver, &["max-iterations=1000"], &file.problem, &goal);
                assert_eq!(report.status, Status::Converged, "{solver} {name} {key}");
                if tolerance <= 1e-9 {
                    let v = file.velocities_to_file(&found.velocity);
                    let error = distance(&v, &raw.extra[key].to_f64());
                    assert!(error <= 1e3 * tolerance * file.problem.reference_velocity());
                }
            }
        }
    }
}
