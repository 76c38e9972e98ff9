//! Table IV: iterations over the stiffness of the soft ball [Lee23, Sec. V-C4].

use crate::contender::{Contender, Rule};
use crate::error::ReproduceError;
use crate::observe::{Figures, observe};
use crate::scene::BALL;
use crate::{Cell, Effort, Outcome, Sheet, Source};

/// Young's moduli [Pa].
const YOUNG: [f64; 3] = [1e5, 1e6, 1e7];

/// [Lee23, Table IV].
const PUBLISHED: [(&str, [f64; 3]); 3] = [
    ("COND", [39.72, 37.93, 34.99]),
    ("PGS", [145.8, 224.0, 306.7]),
    ("APGD", [48.07, 100.9, 200.5]),
];

/// Runs the experiment.
pub fn run(effort: &Effort<'_>) -> Result<Outcome, ReproduceError> {
    let heading = ["solver", "stops at", "0.1 MPa", "1 MPa", "10 MPa"];
    let mut counts =
        Sheet::new("Table IV: mean iterations over the stiffness of the ball", &heading);
    let mut left = Sheet::new("r [-] where it stopped", &heading);
    for (solver, numbers) in PUBLISHED {
        let rule = Rule::Paper(BALL.theta).text();
        let cells: [Cell; 2] = [solver.into(), rule.into()];
        counts.row(Source::Paper, cells.into_iter().chain(numbers.map(Cell::from)));
    }
    let effort = &Effort { compare: false, ..effort.clone() };
    let rules = [Rule::Paper(BALL.theta), Rule::Residual(BALL.theta)];
    let all: Vec<Contender> = rules
        .iter()
        .flat_map(|rule| ["cond", "pgs", "apgd"].map(|solver| Contender::new(solver, *rule)))
        .collect();
    let mut remarks = Vec::new();
    for (k, contender) in all.iter().enumerate() {
        let mut found: Vec<Figures> = Vec::new();
        for (j, young) in YOUNG.iter().enumerate() {
            if (effort.stop)() {
                break;
            }
            let done = (k * YOUNG.len() + j) as f64 / (all.len() * YOUNG.len()) as f64;
            (effort.tell)(done, &format!("soft-ball, E = {young:.0e} Pa, {}", contender.label()));
            found.push(observe(&BALL, effort, 0, &[("young", young.to_string())], contender)?);
        }
        if found.len() < YOUNG.len() {
            break;
        }
        let who = || -> [Cell; 2] { [contender.solver.into(), contender.rule.text().into()] };
        counts
            .row(Source::Ours, who().into_iter().chain(found.iter().map(|f| f.iterations.into())));
        left.row(Source::Ours, who().into_iter().chain(found.iter().map(|f| f.residual.into())));
        for (figures, young) in found.iter().zip(YOUNG) {
            remarks.extend(figures.cautions(&format!("{}, E = {young:.0e} Pa", contender.label())));
        }
    }
    remarks.extend(growth(&counts));
    let outcome = Outcome { sheets: vec![counts, left], figures: Vec::new(), remarks };
    Ok(outcome.remark(
        "θ bounds no error: a solver that changes little in an iteration stops early, and the second sheet \
         shows what each has left undone.",
    ))
}

/// By which factors iterations grow from the softest to the stiffest ball.
fn growth(counts: &Sheet) -> Option<String> {
    let of = |source: Source| -> String {
        let rows = counts.rows.iter().filter(|row| row.source == source);
        let factor = |row: &crate::Row| {
            let (first, last) = (row.cells.get(2)?.number()?, row.cells.last()?.number()?);
            Some(format!("{} by {} {:.2}", row.cells[0].text(), row.cells[1].text(), last / first))
        };
        rows.filter_map(factor).collect::<Vec<_>>().join(", ")
    };
    let [ours, paper] = [of(Source::Ours), of(Source::Paper)];
    (!ours.is_empty()).then(|| {
        format!(
            "From the softest to the stiffest ball iterations grow by a factor: {ours}. In the paper: \
             {paper}."
        )
    })
}
