//! Table IV: iterations over the stiffness of the soft ball [Lee23, Sec. V-C4].

use super::contender::{Contender, Rule};
use super::observe::{Figures, observe};
use super::scene::BALL;
use super::{Cell, Effort, Outcome, Sheet, Source};
use crate::error::BenchError;

/// Young's moduli [Pa].
const YOUNG: [f64; 3] = [1e5, 1e6, 1e7];

/// [Lee23, Table IV].
const PUBLISHED: [(&str, [f64; 3]); 3] = [
    ("COND", [39.72, 37.93, 34.99]),
    ("PGS", [145.8, 224.0, 306.7]),
    ("APGD", [48.07, 100.9, 200.5]),
];

/// Runs the experiment.
pub fn run(effort: &Effort<'_>) -> Result<Outcome, BenchError> {
    let heading = ["solver", "stops at", "0.1 MPa", "1 MPa", "10 MPa"];
    let mut counts =
        Sheet::new("Table IV: mean iterations over the stiffness of the ball", &heading);
    let mut left = Sheet::new("r [-] where it stopped", &heading);
    for (solver, numbers) in PUBLISHED {
        let rule = Rule::Paper(BALL.theta).text();
        let cells: [Cell; 2] = [solver.into(), rule.into()];
        counts.row(Source::Paper, cells.into_iter().chain(numbers.map(Cell::from)));
    }
    let rules = [Rule::Paper(BALL.theta), Rule::Honest];
    let all: Vec<Contender> = rules
        .iter()
        .flat_map(|rule| ["cond", "pgs", "apgd"].map(|solver| Contender::new(solver, *rule)))
        .collect();
    let mut remarks = Vec::new();
    for (k, contender) in all.iter().enumerate() {
        let mut found: Vec<Figures> = Vec::new();
        for (j, young) in YOUNG.iter().enumerate() {
            let done = (k * YOUNG.len() + j) as f64 / (all.len() * YOUNG.len()) as f64;
            (effort.tell)(done, &format!("soft-ball, E = {young:.0e} Pa, {}", contender.label()));
            found.push(observe(&BALL, effort, 0, &[("young", young.to_string())], contender)?);
        }
        let who = || -> [Cell; 2] { [contender.solver.into(), contender.rule.text().into()] };
        counts
            .row(Source::Ours, who().into_iter().chain(found.iter().map(|f| f.iterations.into())));
        left.row(Source::Ours, who().into_iter().chain(found.iter().map(|f| f.residual.into())));
        for (figures, young) in found.iter().zip(YOUNG) {
            if let Some(why) = &figures.stopped {
                remarks.push(format!("{}, E = {young:.0e} Pa: {why}.", contender.label()));
            }
        }
    }
    let outcome = Outcome { sheets: vec![counts, left], figures: Vec::new(), remarks };
    Ok(outcome.remark(
        "θ bounds no error: a solver that changes little in an iteration stops early, and the second sheet \
         shows what each has left undone. An iteration with A alone needs about √cond(A) \
         steps to a given r, which grows with the stiffness.",
    ))
}
