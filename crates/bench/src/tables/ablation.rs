//! CANAL against Newton's method on the exact equations, in ten outer loops [Lee25, Table II].
//!
//! An inner loop fails if it does not converge within its limit. The Newton baselines stop there
//! and report it; for CANAL a failure is an outer iteration as long as the limit. Residuals are
//! averaged over the cases without failure.

use std::time::Duration;

use serde_json::json;
use stiction_solve::catalogue::Variation;
use stiction_solve::solver::newton::ConvexSettings;
use stiction_solve::{Goal, Report, Solution, Status};

use super::{TableSection, TablesArgs, cases, digits};
use crate::error::BenchError;
use crate::progress;
use crate::run;
use stiction_reproduce::statistics::mean;
use stiction_reproduce::table::{Table, number};

/// Solvers with the figures of [Lee25, Table II]: inner iterations, failures [%], −log₁₀ residual.
const PUBLISHED: [(&str, [f64; 3]); 3] = [
    ("canal", [30.55, 0.0, 8.2231]),
    ("newton-dogleg", [118.8, 1.2, 8.5693]),
    ("newton-damped", [246.9, 1.1, 8.5644]),
];
const OUTER_LOOPS: &str = "10";
const TIME_LIMIT: Duration = Duration::from_secs(2);

pub(super) fn measure(args: &TablesArgs) -> Result<TableSection, BenchError> {
    let variation = Variation { wrench: args.wrench, ..Variation::default() };
    let problems = cases("dishes", variation, 0..args.cases)?;
    // A tolerance of zero is never reached: all outer loops run.
    let goal =
        Goal { tolerance: 0.0, time_limit: Some(TIME_LIMIT), trace: true, ..Goal::default() };
    let mut text = format!(
        "dishes, {} cases, {OUTER_LOOPS} outer loops: inner iterations, failures, −log10 of the residual \
         (compare [Lee25, Table II])\n",
        args.cases
    );
    let mut table = Table::new(&[
        "solver",
        "penalty",
        "inner",
        "failure %",
        "digits",
        "paper: inner",
        "failure %",
        "digits",
    ]);
    let mut document = Vec::new();
    let bar = progress::bar(2 * PUBLISHED.len() * problems.len());
    for (paper, penalty) in [("false", "per 1/w, capped"), ("true", "in kg, uncapped")] {
        for (solver, published) in PUBLISHED {
            let settings = [("max-outer", OUTER_LOOPS), ("paper", paper)];
            let mut session = run::session(solver, &settings)?;
            let mut outcomes = Vec::new();
            for problem in &problems {
                bar.set_message(solver);
                let run = run::solve(&mut session, problem, &goal, &mut Solution::cold(problem))?;
                let residual = digits(run::relative_violation(&run.report));
                outcomes.push((run.report.iterations as f64, failed(&run.report), residual));
                bar.inc(1);
            }
            let inner = mean(outcomes.iter().map(|o| o.0));
            let failures = 100.0 * mean(outcomes.iter().map(|o| f64::from(u8::from(o.1))));
            let residual = mean(outcomes.iter().filter(|o| !o.1).map(|o| o.2));
            let ours = [inner, failures, residual];
            let cells = ours.iter().chain(&published).map(|x| number(*x));
            table.row([solver.to_owned(), penalty.to_owned()].into_iter().chain(cells));
            document.push(json!({"solver": solver, "paper_penalty": paper == "true",
                "inner_iterations": inner, "failure_percent": failures, "digits": residual,
                "published": {"inner_iterations": published[0], "failure_percent": published[1],
                              "digits": published[2]}}));
        }
    }
    bar.finish_and_clear();
    text += &table.render();
    Ok(TableSection { text, json: json!(document) })
}

/// Whether an inner loop failed.
fn failed(report: &Report) -> bool {
    let limit = ConvexSettings::default().max_iterations;
    let jump = |pair: &[stiction_solve::monitor::TracePoint]| {
        pair[1].iteration - pair[0].iteration >= limit
    };
    report.status == Status::Failed || report.trace.windows(2).any(jump)
}
