//! Fig. 9: iterations and time per step of clutter with 40 bodies and walls.
//!
//! The motion is that of SAP; the problem of each step is solved by every method. In the paper each method follows its own motion.

use stiction_plot::{Axis, Figure, Panel, Series};

use super::clutter::{self, BODIES, ClutterRun, SIGMA, TIME_STEP};
use super::methods::{METHODS, Methods, SolveFigures};
use crate::clock::cpu_seconds;
use crate::error::ReproduceError;
use crate::statistics::mean;
use crate::{ExperimentOptions, ExperimentResult, RowSource, Sheet, SheetCell};

/// Steps that belong to the transient, in which the objects land; those of the second half of the run are at rest.
const TRANSIENT: std::ops::Range<usize> = 0..200;

/// What the paper says: method, iterations in the transient and at rest.
const PUBLISHED: [(&str, &str, &str); 3] = [
    ("SAP", "21 at step 60", "about 3"),
    ("Geodesic IPM", "fewer than SAP", "–"),
    ("Gurobi", "about 9", "about 9"),
];

/// Runs the experiment.
pub fn run(options: &ExperimentOptions<'_>) -> Result<ExperimentResult, ReproduceError> {
    let mut sheet = Sheet::new(
        "Fig. 9: clutter of 40 bodies with walls, 10 s in steps of 10 ms",
        &[
            "method",
            "iterations, first 2 s",
            "largest",
            "iterations at rest",
            "time per step, first 2 s [ms]",
            "at rest [ms]",
            "largest e_m [-]",
            "largest e_μ [-]",
            "mean r [-]",
        ],
    );
    for (method, transient, rest) in PUBLISHED {
        let cells: [SheetCell; 4] = [method.into(), transient.into(), "–".into(), rest.into()];
        sheet.row(RowSource::Paper, cells.into_iter().chain([f64::NAN; 5].map(SheetCell::from)));
    }
    let stride = if options.quick { 10 } else { 1 };
    let steps = clutter::steps(options);
    let (mut run, mut methods) = (ClutterRun::new(BODIES, true, SIGMA)?, Methods::new(SIGMA)?);
    let mut found: [Vec<(usize, SolveFigures)>; 4] = Default::default();
    let mut slow = false;
    let begin = cpu_seconds();
    for step in 0..steps {
        if (options.stop_requested)() {
            break;
        }
        if step % 10 == 0 {
            (options.report_progress)(step as f64 / steps as f64, "clutter of 40 bodies");
        }
        let (_, recorded) = run.recorded_step()?;
        slow |= options.is_over(begin);
        let Some(recorded) = recorded.filter(|_| step % stride == 0 && !slow) else { continue };
        let Some(figures) = methods.compare(&recorded)? else { continue };
        for (figures, found) in figures.into_iter().zip(&mut found) {
            found.push((step, figures));
        }
    }
    let rest = steps / 2..steps;
    let (mut counts, mut times) = (
        Panel::new(Axis::linear("time [s]"), Axis::linear("iterations [-]")),
        Panel::new(Axis::linear("time [s]"), Axis::log("time per step [ms]")),
    );
    for (name, found) in METHODS.into_iter().zip(&found) {
        let during = |range: &std::ops::Range<usize>, of: fn(&SolveFigures) -> f64| {
            mean(found.iter().filter(|(step, _)| range.contains(step)).map(|(_, f)| of(f)))
        };
        let most = |of: fn(&SolveFigures) -> f64| {
            found.iter().map(|(_, f)| of(f)).fold(f64::NAN, f64::max)
        };
        let row: [SheetCell; 9] = [
            name.into(),
            during(&TRANSIENT, |f| f.iterations).into(),
            most(|f| f.iterations).into(),
            during(&rest, |f| f.iterations).into(),
            (1e3 * during(&TRANSIENT, |f| f.seconds)).into(),
            (1e3 * during(&rest, |f| f.seconds)).into(),
            most(|f| f.momentum).into(),
            most(|f| f.complementarity).into(),
            during(&(0..steps), |f| f.violation).into(),
        ];
        sheet.row(RowSource::Ours, row);
        let line = |of: fn(&SolveFigures) -> f64| {
            found.iter().map(|(step, f)| (TIME_STEP * *step as f64, of(f))).collect()
        };
        counts = counts.series(Series::line(name, line(|f| f.iterations)));
        times = times.series(Series::line(name, line(|f| 1e3 * f.seconds)));
    }
    let figure = Figure::new("Clutter of 40 bodies with walls").panel(counts).panel(times);
    let mut outcome = ExperimentResult {
        sheets: vec![sheet],
        figures: vec![figure],
        ..ExperimentResult::default()
    };
    if slow {
        outcome = outcome.remark("The time limit ended the comparison of methods early.");
    }
    Ok(outcome.remark(METHODS_REMARK).remark(
        "The motion is that of SAP, and all methods solve the same problems; in the paper each follows its own. The objects start in \
         random offsets and rotations, which the paper does not publish. An iteration of SAP is one factorization, and so is one of the \
         others; a step whose guess meets the tolerance takes none.",
    ))
}

/// What the methods are.
pub const METHODS_REMARK: &str = "sap: ε_r = 1e-5, ε_a = 1e-16, exact line search, from the velocities of the step before. interior-point: a primal-dual \
     method for this experiment with SAP's sparse algebra, in place of the Geodesic IPM; it ends at e_m, e_μ ≤ 1e-5, the paper's tolerance, or at \
     1e-8. ipm: Clarabel, a general solver for cones, with the tolerance 1e-8, in place of Gurobi; its velocities are computed from its \
     impulses, so that its e_m is round-off, and its time includes its setup. All but SAP start cold. e_μ is a mean over the contacts relative to the \
     cost of the whole: at 1e-5 single contacts are still violated by r, up to one percent of the reference velocity.";
