//! The experiments of the papers, rerun: the published numbers beside those measured here.
//!
//! `stiction reproduce` calls this crate. One experiment is one file and one entry in [`EXPERIMENTS`].
//! Each states its setting, lists the published figures beside those measured here, with the paper's
//! stopping rule and with ours, and explains their difference. Scenes are scenarios of the gallery;
//! times are CPU times of this machine. [`baselines`] holds the methods that exist only for these
//! comparisons. The benchmarks of `stiction-bench` share [`clock`], [`statistics`] and [`table`].

#![forbid(unsafe_code)]
#![allow(non_snake_case)] // matrices keep the capitals of the papers
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod al;
mod anisotropic;
pub mod baselines;
mod chebyshev;
pub mod clock;
mod error;
mod force_measure;
mod inverse;
mod manipulation;
mod manipulation_scene;
mod markdown;
mod measured_run;
mod page;
mod position_based;
mod sap;
mod scaling;
mod sheet;
mod slip_control;
mod solver_config;
mod splitting;
pub mod statistics;
mod stiffness;
pub mod table;
pub mod timed_solve;
mod virtual_nodes;

pub use error::ReproduceError;
pub use markdown::markdown;
pub use page::page;
pub use sheet::{ExperimentResult, RowSource, Sheet, SheetCell, SheetRow};

use std::path::PathBuf;
use std::time::Duration;

use crate::clock::cpu_seconds;

/// Size and limits of the experiments' runs, and callbacks for progress and cancellation.
#[derive(Clone)]
pub struct ExperimentOptions<'a> {
    /// Random draws of material and friction per scene.
    pub trials: usize,
    /// Steps of each run; those of the scene if absent.
    pub steps: Option<usize>,
    /// Smaller meshes and shorter runs, for a quick check rather than a measurement.
    pub quick: bool,
    /// Whether steps are compared with the same steps solved to the reference tolerance, which costs more
    /// than most runs.
    pub compare: bool,
    /// CPU time of one run; its figures then cover the steps so far.
    pub time_limit: Duration,
    /// Folder with recorded trajectories, if there is one.
    pub shared: Option<PathBuf>,
    /// Receives the completed fraction of an experiment, from zero to one, and a description of the next
    /// run; the fraction is NaN if only the description changes.
    pub report_progress: &'a (dyn Fn(f64, &str) + Sync),
    /// Whether the user requested a stop.
    pub stop_requested: &'a (dyn Fn() -> bool + Sync),
}

impl ExperimentOptions<'_> {
    /// Whether a run that began at a [CPU time](cpu_seconds) must end.
    fn is_over(&self, begin: f64) -> bool {
        cpu_seconds() - begin > self.time_limit.as_secs_f64() || (self.stop_requested)()
    }
}

/// One line of [`EXPERIMENTS`].
pub struct Experiment {
    /// Name on the command line.
    pub name: &'static str,
    /// Source: a key of REFERENCES.bib.
    pub cite: &'static str,
    /// Description in one line.
    pub about: &'static str,
    /// Runs it.
    pub run: fn(&ExperimentOptions<'_>) -> Result<ExperimentResult, ReproduceError>,
}

/// All experiments, in alphabetical order.
pub static EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "al-assembly",
        cite: "Lee25",
        about: "an arm screws a nut onto a bolt with a limited number of iterations per step",
        run: al::assembly::run,
    },
    Experiment {
        name: "al-fig-11",
        cite: "Lee25",
        about: "bottle of spheres: growth of time and residual with their number",
        run: al::pouring::run,
    },
    Experiment {
        name: "al-fig-14",
        cite: "Lee25",
        about: "stacked bowls sliding: CANAL with few outer iterations and a soft convex model",
        run: al::sliding::run,
    },
    Experiment {
        name: "al-fig-7",
        cite: "Lee25",
        about: "bolt and nut: residual of CANAL, SubADMM and PGS over iterations and time",
        run: al::convergence::bolt_nut,
    },
    Experiment {
        name: "al-fig-9",
        cite: "Lee25",
        about: "stacked dishes: residual of CANAL, SubADMM and PGS over iterations and time",
        run: al::convergence::dishes,
    },
    Experiment {
        name: "al-piling",
        cite: "Lee25",
        about: "an arm with a hand piles dishes with a limited number of iterations per step",
        run: al::piling::run,
    },
    Experiment {
        name: "al-table-2",
        cite: "Lee25",
        about: "stacked dishes: CANAL against Newton on the exact equations",
        run: al::newton::run,
    },
    Experiment {
        name: "al-table-3",
        cite: "Lee25",
        about: "dropped quadrupeds: ADMM with and without splitting",
        run: al::splitting::run,
    },
    Experiment {
        name: "cond-fig-11",
        cite: "Lee23",
        about: "time of the solvers over the number of velocities of the soft mat",
        run: scaling::run,
    },
    Experiment {
        name: "cond-fig-13",
        cite: "Lee23",
        about: "invertible contact: forces from velocities against those of the solver",
        run: inverse::run,
    },
    Experiment {
        name: "cond-fig-14",
        cite: "Lee23",
        about: "a box on ground with anisotropic friction against the path of maximum dissipation",
        run: anisotropic::run,
    },
    Experiment {
        name: "cond-table-1",
        cite: "Lee23",
        about: "a sliding box: virtual nodes and a penalty model against the closed form",
        run: virtual_nodes::run,
    },
    Experiment {
        name: "cond-table-2",
        cite: "Lee23",
        about: "soft mat folded by an arm: COND, PGS and APGD",
        run: manipulation::mat,
    },
    Experiment {
        name: "cond-table-3",
        cite: "Lee23",
        about: "soft ball in a gripper: COND, PGS and APGD",
        run: manipulation::ball,
    },
    Experiment {
        name: "cond-table-4",
        cite: "Lee23",
        about: "iterations over the stiffness of the soft ball",
        run: stiffness::run,
    },
    Experiment {
        name: "cond-table-5",
        cite: "Lee23",
        about: "cable wound around a cylinder: COND, PGS and APGD",
        run: manipulation::cable,
    },
    Experiment {
        name: "cond-table-6",
        cite: "Lee23",
        about: "soft gripper and a rigid part: COND, PGS and APGD",
        run: manipulation::gripper,
    },
    Experiment {
        name: "cond-table-7",
        cite: "Lee23",
        about: "soft mat: COND and contact constraint splitting at equal iterations",
        run: splitting::run,
    },
    Experiment {
        name: "cond-table-8",
        cite: "Lee23",
        about: "cable: COND and position-based dynamics with substeps",
        run: position_based::run,
    },
    Experiment {
        name: "cond-table-9",
        cite: "Lee23",
        about: "iterations of COND with and without Chebyshev acceleration",
        run: chebyshev::run,
    },
    Experiment {
        name: "sap-fig-10",
        cite: "Castro22",
        about: "clutter: cost over Newton iterations at steps 60 and 520",
        run: sap::convergence::run,
    },
    Experiment {
        name: "sap-fig-12",
        cite: "Castro22",
        about: "clutter of 8 to 160 bodies: contacts, speed, errors (Figs. 11 to 13)",
        run: sap::scaling::run,
    },
    Experiment {
        name: "sap-fig-14",
        cite: "Castro22",
        about: "clutter over σ: slip at rest, iterations, condition number (Figs. 14, 15)",
        run: sap::slip::run,
    },
    Experiment {
        name: "sap-fig-5",
        cite: "Castro22",
        about: "cylinder on a spring without friction: energy over ten minutes",
        run: sap::energy::frictionless,
    },
    Experiment {
        name: "sap-fig-6",
        cite: "Castro22",
        about: "cylinder on a spring that rolls: energy over ten minutes",
        run: sap::energy::rolling,
    },
    Experiment {
        name: "sap-fig-7",
        cite: "Castro22",
        about: "cylinder on a spring that rolls: position error over the time step",
        run: sap::order::run,
    },
    Experiment {
        name: "sap-fig-9",
        cite: "Castro22",
        about: "clutter: iterations and time per step of SAP and interior-point methods",
        run: sap::iterations::run,
    },
    Experiment {
        name: "sap-slip-control",
        cite: "Castro22",
        about: "bubble pads hold a spatula firmly and loosely: SAP and interior points",
        run: slip_control::run,
    },
];

/// Finds experiments by name; returns all of them for an empty list.
pub fn find(names: &[String]) -> Result<Vec<&'static Experiment>, ReproduceError> {
    if names.is_empty() {
        return Ok(EXPERIMENTS.iter().collect());
    }
    let of = |name: &String| {
        EXPERIMENTS.iter().find(|e| e.name == name).ok_or_else(|| {
            ReproduceError::UnknownExperiment {
                found: name.clone(),
                known: EXPERIMENTS.iter().map(|e| e.name).collect::<Vec<_>>().join(", "),
            }
        })
    };
    names.iter().map(of).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Quick enough for a test.
    pub fn least() -> ExperimentOptions<'static> {
        ExperimentOptions {
            trials: 1,
            steps: Some(3),
            quick: true,
            compare: true,
            time_limit: Duration::from_secs(5),
            shared: None,
            report_progress: &|_, _| (),
            stop_requested: &|| false,
        }
    }

    #[test]
    fn every_experiment_is_named_once_in_order_cited_and_described() {
        assert!(EXPERIMENTS.is_sorted_by(|a, b| a.name < b.name));
        for e in EXPERIMENTS {
            assert!(!e.cite.is_empty() && !e.about.is_empty(), "{}", e.name);
        }
        assert_eq!(find(&[]).unwrap().len(), EXPERIMENTS.len());
        assert!(find(&["cond-table-10".to_owned()]).is_err());
    }

    /// Runs an experiment for a few steps: rows that fit their heading, ours beside the paper's.
    fn stands(name: &str) {
        let found = (find(&[name.to_owned()]).unwrap()[0].run)(&least()).unwrap();
        assert!(!found.sheets.is_empty() && !found.remarks.is_empty(), "{name}");
        let ours = |sheet: &Sheet| sheet.rows.iter().any(|row| row.source == RowSource::Ours);
        let paper = |sheet: &Sheet| sheet.rows.iter().any(|row| row.source == RowSource::Paper);
        assert!(found.sheets.iter().all(ours) && found.sheets.iter().any(paper), "{name}");
        for sheet in &found.sheets {
            for row in &sheet.rows {
                assert_eq!(row.cells.len(), sheet.heading.len(), "{name}: {}", sheet.title);
            }
        }
    }

    #[test]
    fn scenes_are_judged_by_both_rules_beside_the_published_rows() {
        ["cond-table-2", "cond-table-3", "cond-table-5", "cond-table-6"]
            .into_iter()
            .for_each(stands);
    }

    #[test]
    fn baselines_and_ablations_stand_beside_the_published_rows() {
        ["cond-table-4", "cond-table-7", "cond-table-8", "cond-table-9"]
            .into_iter()
            .for_each(stands);
    }

    #[test]
    fn figures_stand_beside_the_published_numbers() {
        ["cond-fig-11", "cond-fig-13", "cond-fig-14"].into_iter().for_each(stands);
    }

    #[test]
    fn single_steps_with_contacts_from_fields_stand_beside_the_published_numbers() {
        ["al-fig-7", "al-fig-9", "al-table-2"].into_iter().for_each(stands);
    }

    #[test]
    fn bottles_bowls_and_quadrupeds_stand_beside_the_published_numbers() {
        ["al-assembly", "al-fig-11", "al-fig-14", "al-piling", "al-table-3"]
            .into_iter()
            .for_each(stands);
    }

    #[test]
    fn the_cylinder_and_the_clutter_of_sap_stand_beside_the_published_numbers() {
        [
            "sap-fig-10",
            "sap-fig-12",
            "sap-fig-14",
            "sap-fig-5",
            "sap-fig-6",
            "sap-fig-7",
            "sap-fig-9",
        ]
        .into_iter()
        .for_each(stands);
    }

    #[test]
    fn the_spatula_in_the_gripper_stands_beside_the_published_numbers() {
        stands("sap-slip-control");
    }

    #[test]
    fn canal_has_as_many_digits_after_ten_loops_as_published() {
        // With a third of the seconds that a measurement may take.
        let options = ExperimentOptions { time_limit: Duration::from_secs(20), ..least() };
        let found = al::newton::run(&options).unwrap();
        let sheet = &found.sheets[0];
        let of = |source: RowSource| {
            let is = |row: &&SheetRow| row.source == source && row.cells[0].text() == "canal";
            let row = sheet.rows.iter().find(is).unwrap();
            [2, 4].map(|column| row.cells[column].number().unwrap())
        };
        let ([steps, digits], [_, published]) = (of(RowSource::Ours), of(RowSource::Paper));
        assert!(digits >= published && steps <= 50.0, "{digits} digits in {steps} steps");
    }

    #[test]
    fn an_experiment_that_is_stopped_reports_what_it_has() {
        let options = ExperimentOptions { stop_requested: &|| true, ..least() };
        for experiment in EXPERIMENTS {
            assert!((experiment.run)(&options).is_ok(), "{}", experiment.name);
        }
    }

    #[test]
    fn the_sliding_box_reproduces_the_published_drift_of_virtual_nodes() {
        let options = ExperimentOptions { steps: None, ..least() };
        let found = virtual_nodes::run(&options).unwrap();
        let sheet = &found.sheets[0];
        let z = sheet.heading.iter().position(|h| h.starts_with("z error")).unwrap();
        let of = |source: RowSource, who: &str| {
            let row = sheet.rows.iter().find(|r| r.source == source && r.cells[0].text() == who);
            row.unwrap().cells[z].number().unwrap()
        };
        for who in ["COND, k_v = 1e3", "COND, k_v = 1e4", "COND, k_v = 1e5"] {
            let (theirs, ours) = (of(RowSource::Paper, who), of(RowSource::Ours, who));
            // Published with four digits behind the point.
            assert!((theirs - ours).abs() <= 1e-4 + 0.01 * theirs, "{who}: {theirs} and {ours}");
        }
    }
}
