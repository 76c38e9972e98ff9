//! Table IV: iterations over the stiffness of the soft ball [Lee23, Sec. V-C4].

use crate::error::ReproduceError;
use crate::manipulation_scene::BALL;
use crate::measured_run::{RunFigures, measure_run};
use crate::solver_config::{SolverConfig, StoppingRule};
use crate::{ExperimentOptions, ExperimentResult, RowSource, Sheet, SheetCell};

/// Young's moduli [Pa].
const YOUNG: [f64; 3] = [1e5, 1e6, 1e7];

/// [Lee23, Table IV].
const PUBLISHED: [(&str, [f64; 3]); 3] = [
    ("COND", [39.72, 37.93, 34.99]),
    ("PGS", [145.8, 224.0, 306.7]),
    ("APGD", [48.07, 100.9, 200.5]),
];

/// Runs the experiment.
pub fn run(options: &ExperimentOptions<'_>) -> Result<ExperimentResult, ReproduceError> {
    let heading = ["solver", "stops at", "0.1 MPa", "1 MPa", "10 MPa"];
    let mut counts =
        Sheet::new("Table IV: mean iterations over the stiffness of the ball", &heading);
    let mut left = Sheet::new("r [-] where it stopped", &heading);
    for (solver, numbers) in PUBLISHED {
        let rule = StoppingRule::Paper(BALL.theta).text();
        let cells: [SheetCell; 2] = [solver.into(), rule.into()];
        counts.row(RowSource::Paper, cells.into_iter().chain(numbers.map(SheetCell::from)));
    }
    let options = &ExperimentOptions { compare: false, ..options.clone() };
    let rules = [StoppingRule::Paper(BALL.theta), StoppingRule::Residual(BALL.theta)];
    let all: Vec<SolverConfig> = rules
        .iter()
        .flat_map(|rule| ["cond", "pgs", "apgd"].map(|solver| SolverConfig::new(solver, *rule)))
        .collect();
    let mut remarks = Vec::new();
    for (k, config) in all.iter().enumerate() {
        let mut found: Vec<RunFigures> = Vec::new();
        for (j, young) in YOUNG.iter().enumerate() {
            if (options.stop_requested)() {
                break;
            }
            let done = (k * YOUNG.len() + j) as f64 / (all.len() * YOUNG.len()) as f64;
            (options.report_progress)(
                done,
                &format!("soft-ball, E = {young:.0e} Pa, {}", config.label()),
            );
            found.push(measure_run(&BALL, options, 0, &[("young", young.to_string())], config)?);
        }
        if found.len() < YOUNG.len() {
            break;
        }
        let who = || -> [SheetCell; 2] { [config.solver.into(), config.rule.text().into()] };
        counts.row(
            RowSource::Ours,
            who().into_iter().chain(found.iter().map(|f| f.iterations.into())),
        );
        left.row(RowSource::Ours, who().into_iter().chain(found.iter().map(|f| f.residual.into())));
        for (figures, young) in found.iter().zip(YOUNG) {
            remarks.extend(figures.cautions(&format!("{}, E = {young:.0e} Pa", config.label())));
        }
    }
    remarks.extend(growth(&counts));
    let outcome = ExperimentResult { sheets: vec![counts, left], figures: Vec::new(), remarks };
    Ok(outcome.remark(
        "θ bounds no error: a solver that changes little in an iteration stops early; the second sheet \
         shows the remaining error of each.",
    ))
}

/// Growth factors of the iterations from the softest to the stiffest ball.
fn growth(counts: &Sheet) -> Option<String> {
    let of = |source: RowSource| -> String {
        let rows = counts.rows.iter().filter(|row| row.source == source);
        let factor = |row: &crate::SheetRow| {
            let (first, last) = (row.cells.get(2)?.number()?, row.cells.last()?.number()?);
            Some(format!(
                "{} with {} {:.2}",
                row.cells[0].text(),
                row.cells[1].text(),
                last / first
            ))
        };
        rows.filter_map(factor).collect::<Vec<_>>().join(", ")
    };
    let [ours, paper] = [of(RowSource::Ours), of(RowSource::Paper)];
    (!ours.is_empty()).then(|| {
        format!(
            "From the softest to the stiffest ball iterations grow by a factor: {ours}. In the paper: \
             {paper}."
        )
    })
}
