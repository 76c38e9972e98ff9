//! Effect of splitting into subsystems and bodies: time and residual of a hundred iterations on
//! quadrupeds [Lee25, Table III].

use std::time::Duration;

use serde_json::json;
use stiction_solve::catalogue::Variation;
use stiction_solve::problem::{Structure, SubsystemId};
use stiction_solve::{Goal, Problem, Solution};

use super::{TableSection, TablesArgs, absent, cases, digits, registered};
use crate::error::BenchError;
use crate::run;
use stiction_reproduce::statistics::{mean, median};
use stiction_reproduce::table::{Table, number};

/// Solvers with the figures of [Lee25, Table III]: time \[ms\], −log₁₀ residual.
const PUBLISHED: [(&str, [f64; 2]); 3] =
    [("subadmm", [0.435, 4.8802]), ("admm", [1.21, 4.8817]), ("admm-subsystem", [0.638, 4.8562])];
/// Numbers of robots; the first is the paper's.
const ROBOTS: [usize; 2] = [8, 27];
const ITERATIONS: usize = 100;
const TIME_LIMIT: Duration = Duration::from_secs(5);
/// Upper bound on the number of cases.
const MOST_CASES: u64 = 20;

pub(super) fn measure(args: &TablesArgs) -> Result<TableSection, BenchError> {
    let count = args.cases.min(MOST_CASES);
    let (present, missing) = registered(&PUBLISHED.map(|(name, _)| name));
    let mut text = format!(
        "quadrupeds, {count} cases, {ITERATIONS} iterations: CPU time, −log10 of the residual \
         (compare [Lee25, Table III])\n"
    );
    let mut table = Table::new(&[
        "solver",
        "robots",
        "contacts",
        "time [ms]",
        "digits",
        "paper: time [ms]",
        "digits",
    ]);
    let goal = Goal {
        tolerance: 0.0,
        max_iterations: Some(ITERATIONS),
        time_limit: Some(TIME_LIMIT),
        ..Goal::default()
    };
    let mut document = Vec::new();
    for size in ROBOTS {
        let variation = Variation { wrench: args.wrench, size, ..Variation::default() };
        let problems = cases("quadrupeds", variation, 0..count)?;
        if size == ROBOTS[0] {
            text += &problems.first().map(structure).unwrap_or_default();
        }
        for (solver, published) in PUBLISHED.iter().filter(|(name, _)| present.contains(name)) {
            let mut session = run::session(solver, &[])?;
            let mut outcomes = Vec::new();
            for problem in &problems {
                let run = run::solve(&mut session, problem, &goal, &mut Solution::cold(problem))?;
                outcomes.push((1e3 * run.seconds, digits(run::relative_violation(&run.report))));
            }
            let ours = [median(outcomes.iter().map(|o| o.0)), mean(outcomes.iter().map(|o| o.1))];
            let comparable = size == ROBOTS[0];
            let published = published.map(|x| if comparable { x } else { f64::NAN });
            let cells = ours.iter().chain(&published).map(|x| number(*x));
            let contacts = problems.first().map_or(0, Problem::contacts);
            let counts = [size, contacts].map(|n| n.to_string());
            table.row(std::iter::once((*solver).to_owned()).chain(counts).chain(cells));
            document.push(json!({"solver": solver, "robots": size, "contacts": contacts, "milliseconds": ours[0],
                "digits": ours[1],
                "published": {"milliseconds": published[0], "digits": published[1]}}));
        }
    }
    text += &table.render();
    text += &absent(&missing);
    Ok(TableSection { text, json: json!(document) })
}

/// Storage structure of a robot in the problem.
fn structure(problem: &Problem) -> String {
    let name = match problem.mass().structure(SubsystemId(0)) {
        Structure::Sparse { .. } => "sparse subsystem",
        Structure::Tree { .. } => "tree",
        _ => "dense subsystem, without its tree structure",
    };
    format!("  each robot is stored as a {name}\n")
}
