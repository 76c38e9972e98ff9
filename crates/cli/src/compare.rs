//! `stiction compare`: the same scene with several solvers, as a table, a document or a report.

use std::ops::ControlFlow;
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};
use stiction_solve::setting::SettingError;
use stiction_solve::solver::{SOLVERS, SolverError};
use stiction_solve::{Session, Status};
use stiction_study::compare::{
    CapturedStep, ComparedSolver, Comparison, ComparisonPlan, PlanError, compare,
    settings_per_solver,
};
use stiction_view::compare::ReportProvenance;

use crate::args::{CompareArgs, SceneArgs};
use crate::error::CommandError;
use crate::numbers::{count, duration, significant, small};
use crate::table::{Align, Table};
use crate::terminal::{self, TextStyle, paint};
use crate::{CommandOutcome, interrupt, scene, threads};

/// Runs the command.
pub fn run(args: &CompareArgs) -> Result<CommandOutcome, CommandError> {
    if let Some(path) = &args.report {
        stiction_view::compare::check(path)?;
    }
    let (common, own) = settings_of_solvers(args)?;
    let call = scene_args(args, common);
    let (scene, imported) = scene::open(&call)?;
    let mut runs = settings_per_solver(&scene.settings, &args.solvers);
    for (settings, own) in runs.iter_mut().zip(own) {
        for (key, value) in own {
            settings.set_solver_setting(&key, value);
        }
    }
    let steps = scene::steps(args.steps, args.time, &scene)?;
    let visuals = imported.map(|imported| imported.visual_shapes()).unwrap_or_default();
    let mut plan = plan(ComparisonPlan::new(&args.target, runs, steps))?.visuals(&visuals);
    if let Some(seconds) = args.time_limit {
        plan = self::plan(plan.time_limit(seconds))?;
    }
    let bar = progress();
    interrupt::install_handlers();
    let found = threads::run_in_pool(args.threads, || {
        let found = compare(
            &plan,
            || Ok::<_, CommandError>(scene::open(&call)?.0),
            |progress| {
                bar.set_length(progress.all as u64);
                bar.set_position(progress.done as u64);
                bar.set_message(format!("{} {}", progress.solver, progress.task));
                if interrupt::requested() {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            },
        );
        found.map(|found| (found, rayon::current_num_threads()))
    })?;
    bar.finish_and_clear();
    let (found, threads) = found?;
    let command = command(args);
    if let Some(path) = &args.report {
        let making = ReportProvenance { command: command.clone(), threads };
        stiction_view::compare::write(&found, &making, path)?;
    }
    let text = if args.json {
        let mut document = found.json();
        document["command"] = command.into();
        document["threads"] = threads.into();
        format!("{document:#}\n")
    } else {
        text(&found, args.report.as_deref(), terminal::colours())
    };
    terminal::print(&text)?;
    let all = found.compared_solvers.iter().all(|compared| compared.finished(found.steps));
    Ok(if found.stopped { CommandOutcome::Interrupted } else { all.into() })
}

/// A plan, or the option that is wrong.
fn plan<T>(made: Result<T, PlanError>) -> Result<T, CommandError> {
    made.map_err(|error| match error {
        PlanError::RepeatedSolver { solver } => {
            option("--solvers", format!("{solver} twice"), "each solver once")
        }
        PlanError::Setting(error) => error.into(),
        PlanError::TimeLimit { found } => {
            option("--time-limit", format!("{found} s"), "a positive number")
        }
        other => option("--solvers", other.to_string(), "at least one solver"),
    })
}

/// The scene of all runs, with the settings that they share.
fn scene_args(args: &CompareArgs, set: Vec<(String, String)>) -> SceneArgs {
    SceneArgs {
        target: args.target.clone(),
        keyframe: args.keyframe.clone(),
        import: args.import.clone(),
        solver: None,
        time_step: args.time_step,
        threads: args.threads,
        set,
    }
}

/// Pairs of key and value.
type Pairs = Vec<(String, String)>;

/// The settings that all runs share, and those of each solver, in their order. Refuses settings that no solver has.
fn settings_of_solvers(args: &CompareArgs) -> Result<(Pairs, Vec<Pairs>), CommandError> {
    let mut own: Vec<(Session, Pairs)> = Vec::with_capacity(args.solvers.len());
    for solver in &args.solvers {
        own.push((Session::new(solver)?, Vec::new()));
    }
    let mut common = Vec::new();
    for (key, value) in &args.set {
        let Some((name, setting)) = for_solvers(key) else {
            common.push((key.clone(), value.clone()));
            continue;
        };
        let mut refusal = None;
        let mut accepted = false;
        for (session, settings) in &mut own {
            if name != "solver" && name != session.name() {
                continue;
            }
            match session.set(setting, value) {
                Ok(()) => {
                    settings.push((setting.to_owned(), value.clone()));
                    accepted = true;
                }
                Err(error @ SolverError::Setting(SettingError::UnknownKey { .. })) => {
                    refusal = Some(error)
                }
                Err(error) => return Err(error.into()),
            }
        }
        match refusal {
            _ if accepted => {}
            Some(error) => return Err(error.into()),
            None => {
                let found = format!("a setting of solver '{name}'");
                return Err(option("--set", found, "one of the compared solvers"));
            }
        }
    }
    Ok((common, own.into_iter().map(|(_, settings)| settings).collect()))
}

/// Solver and key of a solver setting, `SOLVER.KEY` or `solver.KEY`.
fn for_solvers(key: &str) -> Option<(&str, &str)> {
    let (name, setting) = key.split_once('.')?;
    let known = name == "solver" || SOLVERS.iter().any(|entry| entry.name == name);
    known.then_some((name, setting))
}

fn option(option: &str, found: String, expected: &str) -> CommandError {
    CommandError::Option { option: option.to_owned(), found, expected: expected.to_owned() }
}

/// A progress bar over all solvers, hidden when standard error is no terminal.
fn progress() -> ProgressBar {
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("{bar:24} {percent:>3} % {msg} (eta {eta})") {
        bar.set_style(style);
    }
    bar
}

/// The command line that repeats this call.
fn command(args: &CompareArgs) -> String {
    let mut words = vec!["stiction".to_owned(), "compare".to_owned(), args.target.clone()];
    let mut add = |name: &str, value: String| words.extend([name.to_owned(), value]);
    add("--solvers", args.solvers.join(","));
    let number = |x: f64| x.to_string();
    for (name, value) in [
        ("--time", args.time.map(number)),
        ("--steps", args.steps.map(|n| n.to_string())),
        ("--time-step", args.time_step.map(number)),
        ("--threads", args.threads.map(|n| n.to_string())),
        ("--time-limit", args.time_limit.map(number)),
        ("--keyframe", args.keyframe.clone()),
        ("--report", args.report.as_ref().map(|path| path.display().to_string())),
    ] {
        if let Some(value) = value {
            add(name, value);
        }
    }
    for (key, value) in &args.set {
        add("--set", format!("{key}={value}"));
    }
    for folder in &args.import.package_path {
        add("--package-path", folder.display().to_string());
    }
    for (name, given) in [
        ("--floating-base", args.import.floating_base),
        ("--merge-fixed", args.import.merge_fixed),
        ("--rigid-contact", args.import.rigid_contact),
        ("--soft-defaults", args.import.soft_defaults),
        ("--json", args.json),
    ] {
        if given {
            words.push(name.to_owned());
        }
    }
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// A word, quoted for the shell where needed.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=.,/:+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Text output: a table of the runs, and one per captured step.
fn text(found: &Comparison, report: Option<&Path>, colours: bool) -> String {
    let mut out = format!(
        "{}: {} of {} with each of {}\n",
        paint(&found.target, TextStyle::Heading, colours),
        count(found.steps, "step"),
        duration(found.settings.time_step),
        count(found.compared_solvers.len(), "solver"),
    );
    let explanation = format!(
        "Tolerance {:e}. Residuals [m/s], means over the steps: own is that of the friction model \
         the solver solves for.",
        found.settings.tolerance
    );
    out += &paint(&explanation, TextStyle::Faint, colours);
    out += "\n\n";
    out += &runs(found).render("  ", colours);
    for captured in &found.captured {
        out.push('\n');
        out += &answers(found, captured, colours);
    }
    for compared in &found.compared_solvers {
        if let Err(why) = &compared.run {
            out += &format!("\n{} did not run: {why}\n", compared.solver);
        } else if let Some(run) = compared.run().filter(|run| run.summary.steps < found.steps) {
            out += &format!("\n{}: {}\n", compared.solver, run.summary.check.detail);
        }
    }
    match report {
        Some(path) => out += &format!("\nwrote {}\n", path.display()),
        None => out += "\nWith --report FILE.html: plots, and the motion side by side.\n",
    }
    out
}

fn runs(found: &Comparison) -> Table {
    let mut columns = vec![Align::Left, Align::Left];
    columns.extend([Align::Right; 9]);
    let mut table = Table::new(&columns);
    table.toned(
        TextStyle::Heading,
        &[
            "solver",
            "friction",
            "steps",
            "unconverged",
            "mean",
            "99 %",
            "iterations",
            "own",
            "coulomb",
            "penetration",
            "check",
        ],
    );
    for compared in &found.compared_solvers {
        table.row(row(found, compared));
    }
    table
}

fn row(found: &Comparison, compared: &ComparedSolver) -> Vec<(String, TextStyle)> {
    let plain = |text: String| (text, TextStyle::Plain);
    let mut cells =
        vec![plain(compared.solver.clone()), plain(compared.friction_model.name().to_owned())];
    let Some(run) = compared.run() else {
        cells.push(("none".to_owned(), TextStyle::Bad));
        return cells;
    };
    let s = &run.summary;
    let judged =
        |text: String, good: bool| (text, if good { TextStyle::Plain } else { TextStyle::Bad });
    let own = compared.own_residual().copied().unwrap_or_default();
    let deepest = 1e3 * s.penetration_max;
    let deepest = if deepest == 0.0 { "0".to_owned() } else { significant(deepest) };
    let (verdict, tone) =
        if s.check.passed { ("passed", TextStyle::Good) } else { ("failed", TextStyle::Bad) };
    cells.extend([
        judged(s.steps.to_string(), s.steps == found.steps),
        judged(s.unconverged_steps.to_string(), s.unconverged_steps == 0),
        plain(duration(1e-6 * s.step_times.mean)),
        plain(duration(1e-6 * s.step_times.p99)),
        plain(format!("{:.1}", s.iterations.mean())),
        plain(small(own.mean())),
        plain(small(s.coulomb.mean())),
        plain(format!("{deepest} mm")),
        (verdict.to_owned(), tone),
    ]);
    cells
}

fn answers(found: &Comparison, captured: &CapturedStep, colours: bool) -> String {
    let heading = format!("step {} ({})", captured.step, captured.reason.name());
    let mut out = format!(
        "{}: {}, {}; from the cold start, residuals relative to {} m/s\n",
        paint(&heading, TextStyle::Heading, colours),
        count(captured.contacts, "contact"),
        count(captured.rows, "row"),
        significant(captured.reference_velocity),
    );
    let mut columns = vec![Align::Left, Align::Left];
    columns.extend([Align::Right; 4]);
    let mut table = Table::new(&columns);
    table.toned(TextStyle::Heading, &["solver", "status", "iterations", "time", "own", "momentum"]);
    for (compared, answer) in found.compared_solvers.iter().zip(&captured.answers) {
        let plain = |text: String| (text, TextStyle::Plain);
        let mut cells = vec![plain(compared.solver.clone())];
        match answer {
            Ok(report) => {
                let good = report.status == Status::Converged;
                let tone = if good { TextStyle::Good } else { TextStyle::Bad };
                let reference = captured.reference_velocity;
                let own = report.residuals.of(report.friction_model);
                cells.extend([
                    (report.status.name().replace('_', " "), tone),
                    plain(report.iterations.to_string()),
                    plain(duration(report.seconds)),
                    plain(small(if reference > 0.0 { own / reference } else { own })),
                    plain(small(report.residuals.momentum)),
                ]);
            }
            Err(_) => cells.push(("refused".to_owned(), TextStyle::Bad)),
        }
        table.row(cells);
    }
    out += &table.render("  ", colours);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_typed_again() {
        let found = ["a/b.xml", "bodies=8", "my scene.xml", "it's", ""].map(quoted);
        assert_eq!(found, ["a/b.xml", "bodies=8", "'my scene.xml'", "'it'\\''s'", "''"]);
    }

    #[test]
    fn solver_settings_are_distinguished_from_settings_of_the_step() {
        assert_eq!(for_solvers("solver.growth"), Some(("solver", "growth")));
        assert_eq!(for_solvers("canal.growth"), Some(("canal", "growth")));
        assert_eq!(for_solvers("sleep.speed"), None);
        assert_eq!(for_solvers("bodies"), None);
    }
}
