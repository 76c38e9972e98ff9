//! `profile`: the share of a collection that each solver solves, and its time relative to the best.
//!
//! A problem counts as solved if the natural map of the contacts with unit step, relative to |q|, is
//! below the tolerance on the problem as loaded, with exact or with convex friction. Solvers stop by
//! the residual measure. Where it is below the tolerance and the natural map is not, the solver is
//! restarted from its solution with a ten times smaller tolerance, and the times add up.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use stiction_plot::{Axis, Figure, Panel, Series};
use stiction_solve::solver::{SOLVERS, SolverError};
use stiction_solve::{FrictionModel, Goal, Problem, ResidualMeasure, Session, Solution, Status};

use crate::args::{Friction, positive};
use crate::bench_report::BenchReport;
use crate::dolan_more::{self, ProfileCurve};
use crate::error::BenchError;
use crate::problems::{self, Collection};
use crate::progress;
use crate::siconos;
use stiction_reproduce::statistics::median;
use stiction_reproduce::table::{Table, number};
use stiction_reproduce::timed_solve as run;

/// Arguments of `profile`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  stiction-bench profile
  stiction-bench profile --folder problems/fclib --solvers alm,auto,pgs --friction coulomb
  stiction-bench profile --tolerance 1e-6 --time-limit 2 --json")]
pub struct ProfileArgs {
    /// Folder of problem files; may be given several times
    #[arg(long, value_name = "DIR", num_args = 1..)]
    folder: Vec<PathBuf>,
    /// Solvers, separated by commas; all if absent
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    solvers: Vec<String>,
    /// Largest natural map relative to |q|
    #[arg(long, default_value = "1e-8", value_parser = positive)]
    tolerance: f64,
    /// Time for one solver on one problem, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = positive)]
    time_limit: f64,
    /// Friction models to solve for
    #[arg(long, value_enum, default_value = "both")]
    friction: Friction,
}

/// Largest number of restarts with a smaller tolerance, and the factor on the tolerance.
const TIGHTENINGS: usize = 4;
const TIGHTEN: f64 = 0.1;
/// Iteration limit that no solver reaches within the time limit.
const UNLIMITED: usize = 100_000_000;
/// Runs shorter than this are repeated \[s\], this many times in all.
const SHORT: f64 = 0.1;
const REPETITIONS: usize = 3;

/// One solver on one problem.
#[derive(Clone, Debug)]
struct Attempt {
    solved: bool,
    seconds: f64,
    natural_map: f64,
    status: Status,
}

/// All solvers of one friction model on all problems.
struct Profile {
    model: FrictionModel,
    solvers: Vec<String>,
    /// Per solver, per problem.
    attempts: Vec<Vec<Attempt>>,
}

impl Profile {
    fn curves(&self) -> Vec<ProfileCurve> {
        let time = |a: &Attempt| a.solved.then_some(a.seconds);
        let times: Vec<Vec<Option<f64>>> =
            self.attempts.iter().map(|of_solver| of_solver.iter().map(time).collect()).collect();
        dolan_more::curves(&times)
    }
}

/// Runs `profile`.
pub fn run(args: &ProfileArgs) -> Result<BenchReport, BenchError> {
    let collection = problems::collect(&args.folder)?;
    let all = || SOLVERS.iter().map(|entry| entry.name.to_owned()).collect();
    let solvers: Vec<String> = if args.solvers.is_empty() { all() } else { args.solvers.clone() };
    let mut profiles = Vec::new();
    for &model in args.friction.models() {
        profiles.push(measure(&collection, &solvers, model, args.tolerance, args.time_limit)?);
    }
    let remark = remark(args, &collection);
    Ok(BenchReport {
        text: text(args, &collection, &profiles, remark.as_ref()),
        json: document(args, &collection, &profiles, remark.as_ref()),
        figures: vec![("profile".to_owned(), figure(&collection, &profiles))],
    })
}

fn measure(
    collection: &Collection,
    solvers: &[String],
    model: FrictionModel,
    tolerance: f64,
    time_limit: f64,
) -> Result<Profile, BenchError> {
    let mut capable = Vec::new();
    for name in solvers {
        if Session::new(name)?.solver().models().contains(&model) {
            capable.push(name.clone());
        }
    }
    let bar = progress::bar(capable.len() * collection.problems.len());
    let mut attempts = Vec::new();
    for name in &capable {
        let mut of_solver = Vec::new();
        for given in &collection.problems {
            bar.set_message(format!("{name} on {} ({})", given.name, model.name()));
            of_solver.push(repeated(name, &given.problem, model, tolerance, time_limit)?);
            bar.inc(1);
        }
        attempts.push(of_solver);
    }
    bar.finish_and_clear();
    Ok(Profile { model, solvers: capable, attempts })
}

/// An attempt; short ones several times, with the median of their times.
fn repeated(
    name: &str,
    problem: &Problem,
    model: FrictionModel,
    tolerance: f64,
    time_limit: f64,
) -> Result<Attempt, SolverError> {
    let mut session = Session::new(name)?;
    let mut found = attempt(&mut session, problem, model, tolerance, time_limit)?;
    if found.solved && found.seconds < SHORT {
        let mut times = vec![found.seconds];
        for _ in 1..REPETITIONS {
            times.push(attempt(&mut session, problem, model, tolerance, time_limit)?.seconds);
        }
        found.seconds = median(times);
    }
    Ok(found)
}

fn attempt(
    session: &mut Session,
    problem: &Problem,
    model: FrictionModel,
    tolerance: f64,
    time_limit: f64,
) -> Result<Attempt, SolverError> {
    let mut residual_measure = ResidualMeasure::default();
    residual_measure.prepare(problem);
    let mut solution = Solution::cold(problem);
    let (mut seconds, mut wall, mut requested) = (0.0, 0.0, tolerance);
    for round in 0.. {
        let goal = Goal {
            tolerance: requested,
            max_iterations: Some(UNLIMITED),
            time_limit: Some(Duration::from_secs_f64((time_limit - wall).max(0.0))),
            friction_model: Some(model),
            ..Goal::default()
        };
        let run = run::solve(session, problem, &goal, &mut solution)?;
        (seconds, wall) = (seconds + run.seconds, wall + run.report.seconds);
        let natural_map = residual_measure.natural_map(problem, model, &solution.impulse);
        let (solved, status) = (natural_map <= tolerance, run.report.status);
        if solved || status != Status::Converged || wall >= time_limit || round == TIGHTENINGS {
            return Ok(Attempt { solved, seconds, natural_map, status });
        }
        requested *= TIGHTEN;
    }
    unreachable!("the last round returns")
}

/// Results of Siconos on those problems that the manifest of a folder lists.
fn remark(args: &ProfileArgs, collection: &Collection) -> Option<siconos::SiconosBest> {
    let mut folders = args.folder.clone();
    if folders.is_empty() {
        folders.extend(problems::shared_folder("fclib"));
    }
    let manifest = folders.iter().find_map(|folder| siconos::manifest(folder))?;
    let names: Vec<&str> = collection.problems.iter().map(|given| given.name.as_str()).collect();
    siconos::best(&manifest, &names, args.tolerance)
}

fn text(
    args: &ProfileArgs,
    collection: &Collection,
    profiles: &[Profile],
    remark: Option<&siconos::SiconosBest>,
) -> String {
    let count = collection.problems.len();
    let symmetrised = collection.problems.iter().filter(|given| given.symmetrised).count();
    let mut out = format!(
        "{count} problems, of them {symmetrised} with an asymmetric matrix replaced by its symmetric \
         part; solved: natural map / |q| ≤ {:.0e} within {} s; CPU time\n",
        args.tolerance, args.time_limit
    );
    for (name, reason) in &collection.left_out {
        out += &format!("left out: {name}: {reason}\n");
    }
    for profile in profiles {
        out += &format!("\n{} friction\n", profile.model.name());
        let mut table =
            Table::new(&["solver", "solved", "of", "best on", "median ratio", "worst ratio"]);
        let curves = profile.curves();
        for (solver, curve) in profile.solvers.iter().zip(&curves) {
            let best = curve.ratios.iter().filter(|ratio| **ratio == 1.0).count();
            table.row([
                solver.clone(),
                curve.ratios.len().to_string(),
                count.to_string(),
                best.to_string(),
                number(median(curve.ratios.iter().copied())),
                number(curve.ratios.last().copied().unwrap_or(f64::NAN)),
            ]);
        }
        out += &table.render();
        out += "  not solved (natural map / |q|, status):\n";
        for (solver, attempts) in profile.solvers.iter().zip(&profile.attempts) {
            let failures: Vec<String> = collection
                .problems
                .iter()
                .zip(attempts)
                .filter(|(_, attempt)| !attempt.solved)
                .map(|(given, a)| {
                    let mark = if given.symmetrised { "*" } else { "" };
                    format!("{}{mark} {:.0e} {}", given.name, a.natural_map, a.status.name())
                })
                .collect();
            if !failures.is_empty() {
                out += &format!("    {solver}: {}\n", failures.join(", "));
            }
        }
    }
    if collection.problems.iter().any(|given| given.symmetrised) {
        out += "  * symmetrised\n";
    }
    if let Some(best) = remark {
        out += &format!(
            "\nRemark: the best single solver of Siconos on the {} of these problems that the manifest \
             lists, {}, reaches the same metric on {} ({:.0} %).\n",
            best.of,
            best.solver,
            best.solved,
            100.0 * best.solved as f64 / best.of as f64
        );
    }
    out
}

fn document(
    args: &ProfileArgs,
    collection: &Collection,
    profiles: &[Profile],
    remark: Option<&siconos::SiconosBest>,
) -> Value {
    let of_solver = |profile: &Profile| -> Vec<Value> {
        let curves = profile.curves();
        let solvers = profile.solvers.iter().zip(&profile.attempts).zip(&curves);
        solvers
            .map(|((solver, attempts), curve)| {
                let runs: Vec<Value> = collection
                    .problems
                    .iter()
                    .zip(attempts)
                    .map(|(given, a)| {
                        json!({"problem": given.name, "solved": a.solved, "cpu_seconds": a.seconds,
                               "natural_map": a.natural_map, "status": a.status.name()})
                    })
                    .collect();
                json!({"solver": solver, "solved": curve.ratios.len(), "of": curve.problems,
                       "median_ratio": median(curve.ratios.iter().copied()),
                       "worst_ratio": curve.ratios.last(), "runs": runs})
            })
            .collect()
    };
    let problems: Vec<Value> = collection
        .problems
        .iter()
        .map(|g| {
            json!({"name": g.name, "contacts": g.problem.contacts(), "rows": g.problem.rows(),
                   "dofs": g.problem.dofs(), "symmetrised": g.symmetrised})
        })
        .collect();
    let left_out: Vec<Value> =
        collection.left_out.iter().map(|(n, why)| json!({"name": n, "reason": why})).collect();
    json!({
        "tolerance": args.tolerance,
        "time_limit": args.time_limit,
        "problems": problems,
        "left_out": left_out,
        "profiles": profiles.iter().map(|p| json!({"friction_model": p.model.name(), "solvers": of_solver(p)}))
            .collect::<Vec<Value>>(),
        "siconos_best": remark.map(|b| json!({"solver": b.solver, "solved": b.solved, "of": b.of})),
    })
}

fn figure(collection: &Collection, profiles: &[Profile]) -> Figure {
    let mut figure = Figure::new("Performance profile")
        .subtitle(format!("{} problems; CPU time", collection.problems.len()));
    for profile in profiles {
        let curves = profile.curves();
        let worst = curves.iter().filter_map(|c| c.ratios.last()).fold(2.0, |a: f64, b| a.max(*b));
        let end = 1.2 * worst; // makes the last step of the curve visible
        let mut panel = Panel::new(
            Axis::log("time relative to the best [-]").range(1.0, end),
            Axis::linear("share of problems solved [-]").range(0.0, 1.0),
        )
        .title(format!("{} friction", profile.model.name()));
        for (solver, curve) in profile.solvers.iter().zip(&curves) {
            panel = panel.series(Series::step(solver.clone(), curve.steps(end)));
        }
        figure = figure.panel(panel);
    }
    figure
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sliding_box_and_a_stack_make_a_profile_in_both_friction_models() {
        let collection = problems::catalogue(["box-slide", "stack"].into_iter()).unwrap();
        let solvers = ["alm", "apgd", "pgs"].map(str::to_owned);
        let args = ProfileArgs {
            folder: Vec::new(),
            solvers: solvers.to_vec(),
            tolerance: 1e-8,
            time_limit: 0.2,
            friction: Friction::Both,
        };
        let mut profiles = Vec::new();
        for &model in args.friction.models() {
            let of_model = measure(&collection, &solvers, model, 1e-8, args.time_limit).unwrap();
            for attempt in of_model.attempts.iter().flatten() {
                assert_eq!(attempt.solved, attempt.natural_map <= 1e-8, "{attempt:?}");
            }
            let alm = of_model.solvers.iter().position(|s| s == "alm").unwrap();
            assert!(of_model.attempts[alm][0].solved, "the box has a closed form");
            profiles.push(of_model);
        }
        // Each solver is measured only in the models that it supports.
        assert!(!profiles[0].solvers.contains(&"apgd".to_owned()));
        assert!(profiles[1].solvers.contains(&"apgd".to_owned()));
        let text = text(&args, &collection, &profiles, None);
        assert!(text.contains("coulomb friction") && text.contains("convex friction"));
        let document = document(&args, &collection, &profiles, None);
        assert_eq!(document["profiles"][1]["solvers"][0]["runs"][1]["problem"], "stack");
        assert!(figure(&collection, &profiles).to_svg().starts_with("<svg"));
    }
}
