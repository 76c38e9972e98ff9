//! Fig. 11: time of the solvers over the size of the soft mat [Lee23, Sec. V-D].

use stiction_plot::{Axis, Figure, Panel, Series};

use crate::contender::{Contender, Rule};
use crate::error::ReproduceError;
use crate::observe::observe;
use crate::scene::MAT;
use crate::statistics::power_law_exponent;
use crate::{Cell, Effort, Outcome, Sheet, Source};

/// Cells along and across the mat, whose thickness has one: about 1,000 to 50,000 velocities.
const CELLS: [[usize; 2]; 7] =
    [[17, 9], [25, 13], [36, 19], [52, 27], [75, 39], [106, 55], [125, 66]];
/// Steps of each run: the mat lies, and begins to be folded.
const STEPS: usize = 25;

/// Exponents of the paper.
const PUBLISHED: [(&str, f64); 3] = [("COND", 0.9997), ("PGS", 2.473), ("APGD", 1.470)];

/// Solvers with the most velocities that they are given: dense operators and factors fill memory.
const SOLVERS: [(&str, Rule, usize); 6] = [
    ("cond", Rule::Paper(MAT.theta), usize::MAX),
    ("apgd", Rule::Paper(MAT.theta), 20_000),
    ("pgs", Rule::Paper(MAT.theta), 5_000),
    ("cond", Rule::Residual(MAT.theta), usize::MAX),
    ("apgd", Rule::Residual(MAT.theta), 20_000),
    ("pgs", Rule::Residual(MAT.theta), 5_000),
];

/// Runs the experiment.
pub fn run(effort: &Effort<'_>) -> Result<Outcome, ReproduceError> {
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
        let rule = Rule::Paper(MAT.theta).text();
        let [none, empty] = [|| Cell::from(f64::NAN), || Cell::from("")];
        let row = [solver.into(), rule.into(), p.into(), none(), none(), empty(), empty()];
        fits.row(Source::Paper, row);
    }
    let sizes = if effort.quick { &CELLS[..2] } else { &CELLS[..] };
    let steps = Some(effort.steps.unwrap_or(if effort.quick { 8 } else { STEPS }));
    // The sizes are given: a quick look has fewer of them, not other meshes.
    let runs = Effort { quick: false, compare: false, steps, ..effort.clone() };
    let mut remarks = Vec::new();
    let mut panel = Panel::new(Axis::log("velocities [-]"), Axis::log("solver time per step [s]"));
    for (k, (solver, rule, most)) in SOLVERS.into_iter().enumerate() {
        let contender = Contender::new(solver, rule);
        let (mut whole, mut each, mut counts) = (Vec::new(), Vec::new(), Vec::new());
        for (j, [x, y]) in sizes.iter().enumerate() {
            let dofs = 6 * (x + 1) * (y + 1);
            if dofs > most {
                continue;
            }
            if (effort.stop)() {
                break;
            }
            let done = (k * sizes.len() + j) as f64 / (SOLVERS.len() * sizes.len()) as f64;
            (effort.tell)(done, &format!("{}, {dofs} velocities", contender.label()));
            let set = [("cells-x", x.to_string()), ("cells-y", y.to_string())];
            let found = observe(&MAT, &runs, 0, &set, &contender)?;
            let per_iteration =
                (found.solve - finite(found.preparation)) / found.iterations.max(1.0);
            let row: [Cell; 9] = [
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
            times.row(Source::Ours, row);
            if found.solve > 0.0 && per_iteration > 0.0 {
                whole.push((dofs as f64, found.solve));
                each.push((dofs as f64, per_iteration));
                counts.push((dofs as f64, found.iterations));
            }
            remarks.extend(found.cautions(&format!("{}, {dofs} velocities", contender.label())));
        }
        if let (Some(first), Some(last)) = (whole.first(), whole.last())
            && whole.len() > 1
        {
            let row: [Cell; 7] = [
                solver.into(),
                rule.text().into(),
                power_law_exponent(&whole).into(),
                power_law_exponent(&each).into(),
                power_law_exponent(&counts).into(),
                first.0.to_string().into(),
                last.0.to_string().into(),
            ];
            fits.row(Source::Ours, row);
        }
        panel = panel.series(Series::line_and_markers(contender.label(), whole));
    }
    let figure = Figure::new("Solver time over the size of the soft mat").panel(panel);
    let outcome = Outcome { sheets: vec![fits, times], figures: vec![figure], remarks };
    Ok(outcome
        .remark(
            "The mat keeps its size and gets finer. An iteration of COND is a product with A and grows with \
             about the first power of the velocities; what p of ST is above that are iterations, of which a \
             finer mesh needs more by either rule. How the paper refines its mat is not published.",
        )
        .remark(
            "PGS ends where its dense operator, whose rows grow with the contacts, costs seconds per step; \
             APGD where the figure would only go on. Ours factors with supernodes, the paper's without.",
        ))
}

fn finite(x: f64) -> f64 {
    if x.is_finite() { x } else { 0.0 }
}
