//! Output of `stiction solve`: a JSON document or a text table.

use serde_json::{Value, json};
use stiction_solve::{Goal, Status};
use stiction_study::compare::residuals_json;

use crate::args::Tolerance;
use crate::numbers::{count, duration, significant, small};
use crate::problem::LoadedProblem;
use crate::solve::SolverRun;
use crate::table::{Align, Table};
use crate::terminal::{TextStyle, paint};

/// One document for one solver, an array of them for several. Numbers that are not finite become
/// null.
pub fn json(loaded: &LoadedProblem, runs: &[SolverRun]) -> String {
    let value = match runs {
        [run] => document(loaded, run),
        runs => runs.iter().map(|run| document(loaded, run)).collect(),
    };
    format!("{value:#}\n")
}

fn document(loaded: &LoadedProblem, run: &SolverRun) -> Value {
    let (problem, report) = (&loaded.built.problem, &run.report);
    let mut document = json!({
        "problem": problem.name(),
        "contacts": problem.contacts(),
        "rows": problem.rows(),
        "dofs": problem.dofs(),
        "friction_model": report.friction_model.name(),
        "solver": report.solver,
        "status": report.status.name(),
        "iterations": report.iterations,
        "residual": residuals_json(&report.residuals),
        "wall_seconds": report.seconds,
        "notes": run.notes,
    });
    if let Some(error) = run.velocity_error {
        document["velocity_error"] = json!(error);
    }
    document
}

/// A header, a table and the notes of the solvers.
pub fn text(loaded: &LoadedProblem, goal: &Goal, runs: &[SolverRun], colours: bool) -> String {
    let problem = &loaded.built.problem;
    let reference = problem.reference_velocity();
    let (contacts, others) = (problem.contacts(), problem.constraints().len() - problem.contacts());
    let mut out = format!(
        "{}: {}",
        paint(problem.name(), TextStyle::Heading, colours),
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
    out += &paint(&explanation, TextStyle::Faint, colours);
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

fn table(runs: &[SolverRun], reference: f64) -> Table {
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
    table.toned(TextStyle::Heading, &heading);
    for run in runs {
        let (report, r) = (&run.report, &run.report.residuals);
        let tone =
            if report.status == Status::Converged { TextStyle::Good } else { TextStyle::Bad };
        let plain = |text: String| (text, TextStyle::Plain);
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
