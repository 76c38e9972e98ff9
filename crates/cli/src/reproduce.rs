//! `stiction reproduce`: the papers' experiments run again, as text, a document or a report.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use stiction_reproduce::{
    self as reproduce, Experiment, ExperimentOptions, ExperimentResult, ReproduceError,
};

use crate::args::ReproduceArgs;
use crate::error::CommandError;
use crate::terminal::{self, TextStyle, paint};
use crate::{CommandOutcome, files, interrupt, threads};

/// Ticks of the progress bar per experiment.
const TICKS: f64 = 1000.0;

/// Runs the command.
pub fn run(args: &ReproduceArgs) -> Result<CommandOutcome, CommandError> {
    let experiments = reproduce::find(&args.experiments)?;
    if let Some(path) = &args.report {
        files::check_writable(path)?;
    }
    interrupt::install_handlers();
    let found = threads::run_in_pool(Some(args.threads), || all(args, &experiments))??;
    let command = command(args);
    if let Some(path) = &args.report {
        let is_markdown = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("md"));
        let write = if is_markdown { reproduce::markdown } else { reproduce::page };
        std::fs::write(path, write(&found, &command))
            .map_err(|source| CommandError::Write { path: path.clone(), source })?;
    }
    let text = if args.json { document(&found, &command, args) } else { text(&found, args) };
    terminal::print(&text)?;
    Ok(if interrupt::requested() { CommandOutcome::Interrupted } else { CommandOutcome::Success })
}

/// Runs the experiments one after the other, until a stop is requested.
fn all(
    args: &ReproduceArgs,
    experiments: &[&'static Experiment],
) -> Result<Vec<(&'static Experiment, ExperimentResult)>, ReproduceError> {
    let bar = progress(experiments.len());
    let mut found = Vec::new();
    for (k, experiment) in experiments.iter().enumerate() {
        let tell = |part: f64, text: &str| {
            if part.is_finite() {
                bar.set_position(((k as f64 + part.clamp(0.0, 1.0)) * TICKS) as u64);
            }
            bar.set_message(format!("{}: {text}", experiment.name));
        };
        let effort = ExperimentOptions {
            trials: usize::from(args.trials),
            steps: args.steps.map(|n| n as usize),
            quick: args.quick,
            compare: true,
            // A limit that overflows `Duration` means no limit.
            time_limit: Duration::try_from_secs_f64(args.time_limit).unwrap_or(Duration::MAX),
            shared: std::env::var_os("STICTION_SHARED").map(Into::into),
            report_progress: &tell,
            stop_requested: &interrupt::requested,
        };
        found.push((*experiment, (experiment.run)(&effort)?));
        if interrupt::requested() {
            break;
        }
    }
    bar.finish_and_clear();
    Ok(found)
}

fn progress(experiments: usize) -> ProgressBar {
    let bar = ProgressBar::new((experiments as f64 * TICKS) as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent} % {elapsed} {wide_msg}") {
        bar.set_style(style);
    }
    bar
}

/// The command line that repeats this call.
fn command(args: &ReproduceArgs) -> String {
    let mut words = vec!["stiction reproduce".to_owned()];
    words.extend(args.experiments.iter().cloned());
    words.push(format!("--trials {}", args.trials));
    words.extend(args.steps.map(|steps| format!("--steps {steps}")));
    words.extend(args.quick.then(|| "--quick".to_owned()));
    words.push(format!("--time-limit {} --threads {}", args.time_limit, args.threads));
    words.join(" ")
}

fn document(
    found: &[(&Experiment, ExperimentResult)],
    command: &str,
    args: &ReproduceArgs,
) -> String {
    let experiments: Vec<Value> = found
        .iter()
        .map(|(experiment, outcome)| {
            let mut one = outcome.json();
            one["name"] = experiment.name.into();
            one["cite"] = experiment.cite.into();
            one["about"] = experiment.about.into();
            one
        })
        .collect();
    let document = json!({
        "command": command,
        "trials": args.trials,
        "steps": args.steps,
        "quick": args.quick,
        "threads": args.threads,
        "time": "CPU time per step",
        "experiments": experiments,
        "stopped": interrupt::requested(),
    });
    format!("{document:#}\n")
}

fn text(found: &[(&Experiment, ExperimentResult)], args: &ReproduceArgs) -> String {
    let mut out = String::new();
    for (experiment, outcome) in found {
        let heading = format!("{} [{}]", experiment.name, experiment.cite);
        let heading = paint(&heading, TextStyle::Heading, terminal::colours());
        out += &format!("{heading}: {}\n{}\n", experiment.about, outcome.text());
    }
    match &args.report {
        Some(path) => out += &format!("wrote {}\n", path.display()),
        None => out += "With --report FILE.html: the same with plots.\n",
    }
    out
}
