//! Text output of `stiction run`: a header, a table of cost and residuals per step, the check.

use stiction_sim::{PHASES, STEP_STATUSES, StepStatus, Tally};
use stiction_study::Summary;

use crate::numbers::{count, duration, significant, small};
use crate::table::{Align, Table};
use crate::terminal::{TextStyle, paint};

/// The figures of a run; `notes` are the solver's notes on the last step.
pub fn text(run: &Summary, notes: &[String], colours: bool) -> String {
    let mut out = format!(
        "{}: {} of {} with {}\n",
        paint(&run.target, TextStyle::Heading, colours),
        count(run.steps, "step"),
        duration(run.time_step),
        run.solver,
    );
    let cpu = run.cpu_seconds.map(|s| format!(", {} of CPU", duration(s))).unwrap_or_default();
    let pace = format!(
        "{} simulated in {}: {} × real time{cpu}",
        duration(run.simulated_seconds),
        duration(run.wall_seconds),
        significant(run.realtime_factor()),
    );
    out += &paint(&pace, TextStyle::Faint, colours);
    out += "\n\n";
    out += &per_step(run).render("  ", colours);
    out.push('\n');
    out += &whole(run).render("  ", colours);
    for note in notes {
        out += &format!("  last step: {note}\n");
    }
    let (word, tone) = match run.check.passed {
        _ if run.check_skipped => ("skipped", TextStyle::Faint),
        true => ("passed", TextStyle::Good),
        false => ("failed", TextStyle::Bad),
    };
    out += &format!("\ncheck {}: {}\n", paint(word, tone, colours), run.check.detail);
    out
}

/// Cost and residuals per step.
fn per_step(run: &Summary) -> Table {
    let mut columns = vec![Align::Left];
    columns.extend([Align::Right; 4]);
    let mut table = Table::new(&columns);
    table.toned(TextStyle::Heading, &["per step", "mean", "median", "99 %", "max"]);
    let times = &run.step_times;
    let [mean, p50, p99, max] =
        [times.mean, times.p50, times.p99, times.max].map(|us| duration(1e-6 * us));
    table.toned(TextStyle::Plain, &["time", &mean, &p50, &p99, &max]);
    for (phase, us) in PHASES.iter().zip(times.phases) {
        table.toned(TextStyle::Faint, &[&format!("  {phase}"), &duration(1e-6 * us)]);
    }
    let mut tally = |name: &str, tally: &Tally, show: fn(f64) -> String| {
        table.toned(TextStyle::Plain, &[name, &show(tally.mean()), "", "", &show(tally.max())]);
    };
    tally("contacts", &run.contacts, counted);
    tally("iterations", &run.iterations, counted);
    tally("momentum residual [-]", &run.momentum, small);
    tally("coulomb residual [m/s]", &run.coulomb, small);
    tally("convex residual [m/s]", &run.convex, small);
    table
}

/// Figures of the whole run.
fn whole(run: &Summary) -> Table {
    let mut table = Table::new(&[Align::Left, Align::Left]);
    table.row([("steps".to_owned(), TextStyle::Plain), step_status(run)]);
    if !run.start_errors.is_empty() {
        let text = run.start_errors.to_string();
        table.row([("start".to_owned(), TextStyle::Plain), (text, TextStyle::Bad)]);
    }
    let unconverged = run.unconverged_steps;
    let tone = if unconverged == 0 { TextStyle::Plain } else { TextStyle::Bad };
    let plain = |text: &str| (text.to_owned(), TextStyle::Plain);
    table.row([plain("unconverged"), (format!("{unconverged} of {} steps", run.steps), tone)]);
    let (fast, inverted) = (run.unresolved_steps, run.inverted_elements);
    if fast > 0 {
        let text = format!("{fast} of {} steps: use a smaller time step", run.steps);
        table.row([plain("unresolved"), (text, TextStyle::Bad)]);
    }
    if inverted > 0 {
        let text = format!("{} inside out at most", count(inverted, "element"));
        table.row([plain("inverted"), (text, TextStyle::Bad)]);
    }
    let millimetres = |metres: f64| format!("{} mm", small_or_significant(1e3 * metres));
    let (deepest, last) = (millimetres(run.penetration_max), millimetres(run.penetration_final));
    table.row([plain("penetration"), plain(&format!("{deepest} at most, {last} at the end"))]);
    let energy = [run.energy_initial, run.energy_final].map(|e| format!("{e:.6} J"));
    table.row([plain("energy"), plain(&energy.join(" → "))]);
    let note = if run.reproducible { "" } else { ", not reproducible: solves have a time budget" };
    table.row([plain("state"), plain(&format!("{:016x}{note}", run.state_hash))]);
    table
}

/// How many steps are ok, and how many of each other status.
fn step_status(run: &Summary) -> (String, TextStyle) {
    let ok = run.steps_of(StepStatus::Ok);
    if ok == run.steps {
        return (format!("all {ok} ok"), TextStyle::Plain);
    }
    let others = STEP_STATUSES.iter().rev().filter(|s| **s != StepStatus::Ok);
    let counts = others.map(|s| (run.steps_of(*s), s)).filter(|(steps, _)| *steps > 0);
    let text: Vec<String> =
        counts.map(|(steps, s)| format!("{steps} {}", s.name().replace('_', " "))).collect();
    (format!("{ok} of {} ok, {}", run.steps, text.join(", ")), TextStyle::Bad)
}

/// A count, or a mean of counts.
fn counted(x: f64) -> String {
    if x.fract() == 0.0 { format!("{x}") } else { format!("{x:.1}") }
}

fn small_or_significant(x: f64) -> String {
    if x == 0.0 { "0".to_owned() } else { significant(x) }
}
