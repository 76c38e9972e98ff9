//! Fig. 11: time of the solvers over the size of the soft mat [Lee23, Sec. V-D].

use stiction_plot::{Axis, Figure, Panel, Series};

use crate::error::ReproduceError;
use crate::manipulation_scene::MAT;
use crate::measured_run::measure_run;
use crate::solver_config::{SolverConfig, StoppingRule};
use crate::statistics::power_law_exponent;
use crate::{ExperimentOptions, ExperimentResult, RowSource, Sheet, SheetCell};

/// Cells along and across the mat, whose thickness has one: about 1,000 to 50,000 velocities.
const CELLS: [[usize; 2]; 7] =
    [[17, 9], [25, 13], [36, 19], [52, 27], [75, 39], [106, 55], [125, 66]];
/// Steps of each run: the mat at rest, and the start of the folding.
const STEPS: usize = 25;

/// Exponents of the paper.
const PUBLISHED: [(&str, f64); 3] = [("COND", 0.9997), ("PGS", 2.473), ("APGD", 1.470)];

/// Solvers with their largest number of velocities; dense operators and factors limit it by memory.
const SOLVERS: [(&str, StoppingRule, usize); 6] = [
    ("cond", StoppingRule::Paper(MAT.theta), usize::MAX),
    ("apgd", StoppingRule::Paper(MAT.theta), 20_000),
    ("pgs", StoppingRule::Paper(MAT.theta), 5_000),
    ("cond", StoppingRule::Residual(MAT.theta), usize::MAX),
    ("apgd", StoppingRule::Residual(MAT.theta), 20_000),
    ("pgs", StoppingRule::Residual(MAT.theta), 5_000),
];

/// Runs the experiment.
pub fn run(options: &ExperimentOptions<'_>) -> Result<ExperimentResult, ReproduceError> {
    let mut times = Sheet::new(
        "Fig. 11: soft mat, means per step",
        &[
            "solver",
            "stops at",
            "DoFs",
            "contacts",
            "ST [ms]",
            "IN",
            "ST per iteration [µs]",
            "DT [ms]",
            "r [-]",
        ],
    );
    let mut fits = Sheet::new(
        "ST ∝ DoFs^p",
        &["solver", "stops at", "p of ST", "p of ST per iteration", "p of IN", "from", "to [DoFs]"],
    );
    for (solver, p) in PUBLISHED {
        let rule = StoppingRule::Paper(MAT.theta).text();
        let [none, empty] = [|| SheetCell::from(f64::NAN), || SheetCell::from("")];
        let row = [solver.into(), rule.into(), p.into(), none(), none(), empty(), empty()];
        fits.row(RowSource::Paper, row);
    }
    let sizes = if options.quick { &CELLS[..2] } else { &CELLS[..] };
    let steps = Some(options.steps.unwrap_or(if options.quick { 8 } else { STEPS }));
    // A quick run has fewer sizes, not other meshes.
    let runs = ExperimentOptions { quick: false, compare: false, steps, ..options.clone() };
    let mut remarks = Vec::new();
    let mut panel = Panel::new(Axis::log("velocities [-]"), Axis::log("solver time per step [s]"));
    for (k, (solver, rule, most)) in SOLVERS.into_iter().enumerate() {
        let config = SolverConfig::new(solver, rule);
        let (mut whole, mut each, mut counts) = (Vec::new(), Vec::new(), Vec::new());
        for (j, [x, y]) in sizes.iter().enumerate() {
            let dofs = 6 * (x + 1) * (y + 1);
            if dofs > most {
                continue;
            }
            if (options.stop_requested)() {
                break;
            }
            let done = (k * sizes.len() + j) as f64 / (SOLVERS.len() * sizes.len()) as f64;
            (options.report_progress)(done, &format!("{}, {dofs} velocities", config.label()));
            let set = [("cells-x", x.to_string()), ("cells-y", y.to_string())];
            let found = measure_run(&MAT, &runs, 0, &set, &config)?;
            let per_iteration =
                (found.solve - finite(found.preparation)) / found.iterations.max(1.0);
            let row: [SheetCell; 9] = [
                solver.into(),
                rule.text().into(),
                dofs.to_string().into(),
                found.contacts.into(),
                (1e3 * found.solve).into(),
                found.iterations.into(),
                (1e6 * per_iteration).into(),
                (1e3 * found.dynamics).into(),
                found.residual.into(),
            ];
            times.row(RowSource::Ours, row);
            if found.solve > 0.0 && per_iteration > 0.0 {
                whole.push((dofs as f64, found.solve));
                each.push((dofs as f64, per_iteration));
                counts.push((dofs as f64, found.iterations));
            }
            remarks.extend(found.cautions(&format!("{}, {dofs} velocities", config.label())));
        }
        if let (Some(first), Some(last)) = (whole.first(), whole.last())
            && whole.len() > 1
        {
            let row: [SheetCell; 7] = [
                solver.into(),
                rule.text().into(),
                power_law_exponent(&whole).into(),
                power_law_exponent(&each).into(),
                power_law_exponent(&counts).into(),
                first.0.to_string().into(),
                last.0.to_string().into(),
            ];
            fits.row(RowSource::Ours, row);
        }
        panel = panel.series(Series::line_and_markers(config.label(), whole));
    }
    let figure = Figure::new("Solver time over the size of the soft mat").panel(panel);
    let outcome = ExperimentResult { sheets: vec![fits, times], figures: vec![figure], remarks };
    Ok(outcome
        .remark(
            "The mat keeps its size and gets finer. An iteration of COND is a product with A and grows with \
             about the first power of the velocities; the rest of p of ST comes from iterations, of which a \
             finer mesh needs more with either rule. The paper does not publish how it refines its mat.",
        )
        .remark(
            "PGS ends where its dense operator, whose rows grow with the contacts, costs seconds per step; \
             APGD where more sizes would not change the figure. Ours factors with supernodes, the paper's without.",
        ))
}

fn finite(x: f64) -> f64 {
    if x.is_finite() { x } else { 0.0 }
}
