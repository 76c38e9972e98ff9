//! Solvers that iterate on impulses, on the golden problems: sweeps, accelerated gradients, interior
//! points.

use std::path::Path;

use stiction_solve::{FrictionModel, Goal, Report, Status};
use stiction_testkit::data::NamedTest;
use stiction_testkit::trials;

use crate::common::{distance, load_problem, solve_with};

/// Tests of this module.
pub const TRIALS: &[NamedTest] = trials![
    sweeps_reach_the_golden_convex_motion_where_contacts_are_few_and_stay_close_elsewhere,
    accelerated_gradients_reach_the_golden_convex_motion,
    interior_points_reach_the_golden_convex_motion,
    gauss_seidel_reaches_the_golden_motion_with_exact_friction_where_it_converges,
];

fn goal(model: FrictionModel, tolerance: f64, iterations: usize) -> Goal {
    Goal { max_iterations: Some(iterations), ..crate::common::goal(model, tolerance) }
}

/// Solves a golden problem. Returns the violation relative to the reference velocity, and the
/// distance of the velocities from the reference.
fn golden(
    folder: &Path,
    file: &str,
    name: &str,
    settings: &[&str],
    goal: &Goal,
) -> (Report, f64, f64) {
    let path = folder.join(file).with_extension("npz");
    let (raw, loaded) = load_problem(&path);
    let (report, x) = solve_with(name, settings, &loaded.problem, goal);
    let model = goal.friction_model.unwrap();
    let key = if model == FrictionModel::Convex { "v_ccp" } else { "v_ncp" };
    let error = distance(&loaded.velocities_to_file(&x.velocity), &raw.extra[key].to_f64());
    let violation = report.residuals.of(model) / report.residuals.reference_velocity;
    (report, violation, error)
}

const BOX: &str = "g01_box_slide";
const STACK: &str = "g02_stack_heavy_on_light";
const CHAIN: &str = "g03_chain_mixed";
const FEM: &str = "g04_fem_block";
const CLUTTER: &str = "g05_clutter20";
const NUT: &str = "g06_boltnut60";
const ALL: [&str; 6] = [BOX, STACK, CHAIN, FEM, CLUTTER, NUT];

fn sweeps_reach_the_golden_convex_motion_where_contacts_are_few_and_stay_close_elsewhere(
    folder: &Path,
) {
    let tight = goal(FrictionModel::Convex, 1e-10, 1000);
    for name in ["psor", "ssor"] {
        for file in ALL {
            let (report, violation, error) = golden(folder, file, name, &[], &tight);
            if [BOX, FEM].contains(&file) {
                assert_eq!(report.status, Status::Converged, "{file}");
                assert!(error <= 1e-8, "{file}: {error:e}");
            } else {
                // Stacks, joints and many contacts on one body: relaxation crawls. A few per cent
                // is what a thousand sweeps guarantee.
                assert!(violation <= 3e-2, "{file}: {violation:e}");
            }
        }
    }
}

fn accelerated_gradients_reach_the_golden_convex_motion(folder: &Path) {
    let tight = goal(FrictionModel::Convex, 1e-11, 5000);
    for file in ALL {
        let (report, _, error) = golden(folder, file, "apgd", &[], &tight);
        assert_eq!(report.status, Status::Converged, "{file}");
        // Soft modes of chains hide behind small violations; three digits are left for them.
        assert!(error <= 1e-8, "{file}: {error:e}");
    }
}

fn interior_points_reach_the_golden_convex_motion(folder: &Path) {
    let tight = goal(FrictionModel::Convex, 1e-7, 1000);
    for file in ALL {
        let (_, _, error) = golden(folder, file, "ipm", &[], &tight);
        // A gap of 1e-12 bounds the error of the velocity by its square root.
        assert!(error <= 1e-6, "{file}: {error:e}");
    }
}

fn gauss_seidel_reaches_the_golden_motion_with_exact_friction_where_it_converges(folder: &Path) {
    let tight = goal(FrictionModel::Coulomb, 1e-10, 2000);
    for settings in [&[][..], &["local=exact"]] {
        for file in [BOX, FEM, CLUTTER] {
            let (report, _, error) = golden(folder, file, "pgs", settings, &tight);
            assert_eq!(report.status, Status::Converged, "{file}");
            assert!(error <= 1e-8, "{file}: {error:e}");
        }
        for file in [STACK, CHAIN, NUT] {
            let (_, violation, _) = golden(folder, file, "pgs", settings, &tight);
            assert!(violation <= 1e-2, "{file}: {violation:e}");
        }
    }
}
