//! Fig. 10: cost over Newton iterations at steps 60 and 520 of clutter.

use stiction_plot::{Axis, Figure, Panel, Series};

use super::clutter::{self, BODIES, ClutterRun, SIGMA, TOLERANCE};
use super::methods;
use crate::error::ReproduceError;
use crate::statistics::mean;
use crate::{ExperimentOptions, ExperimentResult, RowSource, Sheet, SheetCell};

/// Steps with the paper's iterations and words on the convergence.
const PUBLISHED: [(usize, f64, &str); 2] =
    [(60, 21.0, "linear, then quadratic"), (520, 5.0, "linear")];
/// Tolerance on momentum at which the optimal cost is taken [-].
const OPTIMAL: f64 = 1e-11;
/// Steps before and after whose iterations are shown too.
const AROUND: usize = 10;
/// Differences of costs below this part of the cost are round-off [-].
const ROUND_OFF: f64 = 1e-13;

/// Runs the experiment.
pub fn run(options: &ExperimentOptions<'_>) -> Result<ExperimentResult, ReproduceError> {
    let mut sheet = Sheet::new(
        "Fig. 10: convergence of SAP on clutter of 40 bodies with walls",
        &[
            "step",
            "iterations to ε_r = 1e-5",
            "to 1e-11",
            "contacts",
            "cost at the start / optimal [J]",
            "every step lowers the cost",
            "order of convergence at the end",
            "iterations of 21 steps around: mean",
            "largest",
        ],
    );
    for (step, iterations, order) in PUBLISHED {
        let none = || SheetCell::from(f64::NAN);
        let cells = [none(), none(), none(), "yes".into(), SheetCell::from(order), none(), none()];
        let first: [SheetCell; 2] = [step.to_string().into(), iterations.into()];
        sheet.row(RowSource::Paper, first.into_iter().chain(cells));
    }
    let mut run = ClutterRun::new(BODIES, true, SIGMA)?;
    let mut panel = Panel::new(Axis::linear("iterations [-]"), Axis::log("(ℓ − ℓ*)/(ℓ⁰ − ℓ*) [-]"));
    let steps = clutter::steps(options);
    let mut counts = Vec::new();
    for (target, ..) in PUBLISHED {
        // Steps are counted from one.
        let target = target.min(steps);
        (options.report_progress)(target as f64 / steps as f64, "clutter of 40 bodies");
        let mut recorded = None;
        while counts.len() < (target + AROUND).min(steps) && !(options.stop_requested)() {
            run.recorder().request();
            counts.push(run.step()?.iterations as f64);
            if counts.len() == target {
                recorded = run.recorder().take();
            }
        }
        let around = counts.iter().skip(target.saturating_sub(AROUND + 1));
        let most = around.clone().copied().fold(f64::NAN, f64::max);
        let around: [SheetCell; 2] = [mean(around.copied()).into(), most.into()];
        let Some(recorded) = recorded else {
            let cells: [SheetCell; 2] = [target.to_string().into(), f64::NAN.into()];
            let none = [f64::NAN; 5].map(SheetCell::from);
            sheet.row(RowSource::Ours, cells.into_iter().chain(none).chain(around));
            continue;
        };
        let (report, _) = methods::trace(&recorded, SIGMA, OPTIMAL)?;
        let published = report.trace.iter().position(|p| p.momentum <= TOLERANCE);
        let costs: Vec<f64> = report.trace.iter().map(|p| p.cost).collect();
        let optimal = costs.last().copied().unwrap_or(f64::NAN);
        let first = costs.first().copied().unwrap_or(f64::NAN);
        let excess: Vec<f64> = costs
            .iter()
            .map(|cost| cost - optimal)
            .take_while(|excess| *excess > ROUND_OFF * optimal)
            .collect();
        let row: [SheetCell; 7] = [
            target.to_string().into(),
            published.map_or(f64::NAN, |n| n as f64).into(),
            (report.iterations as f64).into(),
            (recorded.problem.contacts() as f64).into(),
            format!("{first:.4e} / {optimal:.4e}").into(),
            if excess.is_sorted_by(|a, b| a > b) { "yes" } else { "no" }.into(),
            order(&excess).into(),
        ];
        sheet.row(RowSource::Ours, row.into_iter().chain(around));
        let points = excess.iter().enumerate().map(|(k, e)| (k as f64, e / (first - optimal)));
        panel = panel.series(Series::line_and_markers(format!("step {target}"), points.collect()));
    }
    let outcome = ExperimentResult {
        sheets: vec![sheet],
        figures: vec![Figure::new("Cost of SAP over Newton iterations").panel(panel)],
        ..ExperimentResult::default()
    };
    Ok(outcome
        .remark(
            "Order: log(e₃/e₂)/log(e₂/e₁) of the last three costs above round-off, e = ℓ − ℓ*. It is one for linear and two for \
             quadratic convergence. ℓ* is the cost at the momentum error 1e-11.",
        )
        .remark(
            "Iterations depend on the random start of the objects, which is not the paper's; those of the steps around tell how much. At rest \
             contacts keep their modes, on which the cost is quadratic: one Newton step is exact.",
        ))
}

/// Order of convergence of the last three errors; NaN if there are fewer.
fn order(errors: &[f64]) -> f64 {
    match errors {
        [.., a, b, c] => (c / b).ln() / (b / a).ln(),
        _ => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_linear_and_of_quadratic_convergence() {
        assert!((order(&[1e-1, 1e-2, 1e-3]) - 1.0).abs() < 1e-12);
        assert!((order(&[1e-1, 1e-2, 1e-4]) - 2.0).abs() < 1e-12);
        assert!(order(&[1.0, 0.5]).is_nan());
    }
}
