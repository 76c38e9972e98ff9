//! What a run has to tell: as one JSON document, or as a table for people.

use serde_json::{Value, json};
use stiction_solve::{Goal, Status};

use crate::args::Tolerance;
use crate::problem::Given;
use crate::solve::Run;
use crate::table::{Align, Table};
use crate::terminal::{Tone, paint};

/// One document for one solver, an array of them for several. Numbers that are not finite become
/// null.
pub fn json(given: &Given, runs: &[Run]) -> String {
    let value = match runs {
        [run] => document(given, run),
        runs => runs.iter().map(|run| document(given, run)).collect(),
    };
    format!("{value:#}\n")
}

fn document(given: &Given, run: &Run) -> Value {
    let (problem, report) = (&given.built.problem, &run.report);
    let residuals = &report.residuals;
    let mut document = json!({
        "problem": problem.name(),
        "contacts": problem.contacts(),
        "rows": problem.rows(),
        "dofs": problem.dofs(),
        "friction_model": report.friction_model.name(),
        "solver": report.solver,
        "status": report.status.name(),
        "iterations": report.iterations,
        "residual": {
            "momentum": residuals.momentum,
            "coulomb": residuals.coulomb,
            "convex": residuals.convex,
            "natural_map": residuals.natural_map,
            "reference_velocity": residuals.reference_velocity,
        },
        "wall_seconds": report.seconds,
        "notes": run.notes,
    });
    if let Some(error) = run.velocity_error {
        document["velocity_error"] = json!(error);
    }
    document
}

/// A header, a table and the notes of the solvers.
pub fn text(given: &Given, goal: &Goal, runs: &[Run], colours: bool) -> String {
    let problem = &given.built.problem;
    let reference = problem.reference_velocity();
    let (contacts, others) = (problem.contacts(), problem.constraints().len() - problem.contacts());
    let mut out = format!(
        "{}: {}",
        paint(problem.name(), Tone::Heading, colours),
        count(contacts, "contact")
    );
    if others > 0 {
        out += &format!(", {}", count(others, "other constraint"));
    }
    out += &format!(
        ", {}, {} of freedom in {}\n",
        count(problem.rows(), "row"),
        if problem.dofs() == 1 { "1 degree".into() } else { format!("{} degrees", problem.dofs()) },
        count(problem.mass().subsystems(), "subsystem"),
    );
    let tolerance = Tolerance(goal.tolerance);
    let explanation = if reference > 0.0 {
        format!(
            "Tolerance {tolerance}. Coulomb, convex: violation of exact and of relaxed friction, \
             relative to {} m/s.",
            significant(reference)
        )
    } else {
        format!(
            "Tolerance {tolerance}. Coulomb, convex: violation of exact and of relaxed friction [m/s]."
        )
    };
    out += &paint(&explanation, Tone::Faint, colours);
    out += "\n\n";
    out += &table(runs, if reference > 0.0 { reference } else { 1.0 }).render("  ", colours);
    let notes: Vec<String> = runs
        .iter()
        .flat_map(|run| run.notes.iter().map(|note| format!("  {}: {note}\n", run.report.solver)))
        .collect();
    if !notes.is_empty() {
        out.push('\n');
        out += &notes.concat();
    }
    out
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn table(runs: &[Run], reference: f64) -> Table {
    let compared = runs.iter().any(|run| run.velocity_error.is_some());
    let mut columns = vec![Align::Left, Align::Left, Align::Left];
    columns.extend([Align::Right; 7]);
    let mut table = Table::new(&columns);
    let mut heading = vec![
        "solver",
        "friction",
        "status",
        "iterations",
        "time",
        "momentum",
        "coulomb",
        "convex",
        "natural map",
    ];
    if compared {
        heading.push("|v - v_ref| [m/s]");
    }
    table.toned(Tone::Heading, &heading);
    for run in runs {
        let (report, r) = (&run.report, &run.report.residuals);
        let tone = if report.status == Status::Converged { Tone::Good } else { Tone::Bad };
        let plain = |text: String| (text, Tone::Plain);
        let mut cells = vec![
            plain(report.solver.to_owned()),
            plain(report.friction_model.name().to_owned()),
            (report.status.name().replace('_', " "), tone),
            plain(report.iterations.to_string()),
            plain(duration(report.seconds)),
            plain(small(r.momentum)),
            plain(small(r.coulomb / reference)),
            plain(small(r.convex / reference)),
            plain(small(r.natural_map)),
        ];
        if compared {
            cells.push(plain(run.velocity_error.map_or_else(|| "-".to_owned(), small)));
        }
        table.row(cells);
    }
    table
}

/// A residual in two digits.
fn small(x: f64) -> String {
    if x == 0.0 { "0".to_owned() } else { format!("{x:.1e}") }
}

/// A number in three digits, with an exponent only if it is far from one.
fn significant(x: f64) -> String {
    if !(1e-3..1e4).contains(&x) {
        return format!("{x:.2e}");
    }
    let digits = (2.0 - x.log10().floor()).max(0.0) as usize;
    format!("{x:.digits$}")
}

/// A time in three digits and the unit that fits.
fn duration(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 1e-3 => (s * 1e6, "µs"),
        s if s < 1.0 => (s * 1e3, "ms"),
        s => (s, "s"),
    };
    let digits = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_no_needless_exponent() {
        let found = [0.040_875, 1.0, 12.345, 4321.0, 1.5e-7].map(significant);
        assert_eq!(found, ["0.0409", "1.00", "12.3", "4321", "1.50e-7"]);
    }

    #[test]
    fn times_have_three_digits() {
        let found = [1.234e-6, 4.5678e-4, 0.0123456, 1.5, 123.456].map(duration);
        assert_eq!(found, ["1.23 µs", "457 µs", "12.3 ms", "1.50 s", "123 s"]);
    }
}
