//! The line charts of the report: convergence on captured steps, and figures over the run. Every
//! chart lists the solvers in the same order, so that each keeps its colour and dashes.

use stiction_plot::{Axis, Figure, Panel, Series};
use stiction_sim::record::FrameStatistics;
use stiction_solve::FrictionModel;
use stiction_solve::monitor::TracePoint;
use stiction_study::compare::{CapturedStep, ComparedSolver, Comparison};

/// Ends of curves further apart than this factor share a logarithmic axis.
const SPREAD: f64 = 20.0;
/// Largest number of points per curve.
const POINTS: usize = 400;

/// A chart as inline SVG: without fixed size and without XML namespace, which HTML does not need.
pub fn inline(figure: &Figure) -> String {
    figure.to_svg().replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1)
}

/// The larger of both errors that a tolerance bounds, over iterations and over time.
pub fn convergence(comparison: &Comparison, captured: &CapturedStep) -> Figure {
    let iterations = |point: &TracePoint| point.iteration as f64;
    let milliseconds = |point: &TracePoint| 1e3 * point.seconds;
    Figure::new("")
        .panel(traces("iterations [-]", comparison, captured, &iterations))
        .panel(traces("time [ms]", comparison, captured, &milliseconds))
}

fn traces(
    label: &str,
    comparison: &Comparison,
    captured: &CapturedStep,
    x: &dyn Fn(&TracePoint) -> f64,
) -> Panel {
    let traces = || captured.answers.iter().flatten().map(|report| &report.trace);
    let ends = traces().filter_map(|trace| trace.last()).map(x).filter(|x| *x > 0.0);
    let (least, most) = ends.fold((f64::INFINITY, 0.0), |(l, m), x| (x.min(l), x.max(m)));
    // A logarithmic axis starts at the first iteration of any solver; earlier points are drawn there.
    let steps = traces().flat_map(|trace| trace.iter().skip(1)).map(x);
    let first = steps.filter(|x| *x > 0.0).fold(least, f64::min);
    let spread = most > SPREAD * least && first < most;
    let axis = if spread { Axis::log(label).range(first, most) } else { Axis::linear(label) };
    let from = if spread { first } else { 0.0 };
    let tolerance = comparison.settings.tolerance;
    let mut panel =
        Panel::new(axis, Axis::log("error, relative [-]")).guide_y(tolerance, "tolerance");
    for (compared, answer) in comparison.compared_solvers.iter().zip(&captured.answers) {
        let trace = answer.as_ref().map(|report| report.trace.as_slice()).unwrap_or_default();
        let error = |point: &TracePoint| point.residual.max(point.momentum);
        let points: Vec<_> = trace.iter().map(|p| (x(p).max(from), error(p))).collect();
        let end = points.last().copied().into_iter().collect();
        panel = panel
            .series(Series::line(&compared.solver, thinned(points)))
            .series(Series::markers(&compared.solver, end));
    }
    panel
}

/// Thins a curve to the largest number of points, evenly in the logarithm of the index; keeps the last
/// point.
fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    if points.len() <= POINTS {
        return points;
    }
    let last = (points.len() - 1) as f64;
    let mut chosen: Vec<usize> =
        (0..POINTS).map(|k| last.powf(k as f64 / (POINTS - 1) as f64) as usize).collect();
    chosen.insert(0, 0);
    chosen.push(points.len() - 1);
    chosen.dedup();
    chosen.into_iter().map(|k| points[k]).collect()
}

/// Times of the first and of the last frame of all runs [s], which the charts over time show.
pub fn timeline(comparison: &Comparison) -> (f64, f64) {
    let runs = comparison.compared_solvers.iter().filter_map(|compared| compared.run());
    let times = runs.flat_map(|run| run.recording.frames.time.iter().copied());
    times.fold((f64::INFINITY, f64::NEG_INFINITY), |(from, to), t| (from.min(t), to.max(t)))
}

/// A column of all runs over time, from the first step on.
fn over_time(
    comparison: &Comparison,
    axis: Axis,
    title: &str,
    column: impl Fn(&ComparedSolver, &FrameStatistics) -> Vec<f64>,
) -> Panel {
    let (from, to) = timeline(comparison);
    let time = Axis::linear("simulated time [s]").range(from, to);
    let mut panel = Panel::new(time, axis).title(title);
    for compared in &comparison.compared_solvers {
        let points = compared.run().map(|run| {
            let frames = &run.recording.frames;
            let values = column(compared, &frames.statistics);
            frames.time.iter().copied().zip(values).skip(1).collect()
        });
        panel = panel.series(Series::line(&compared.solver, points.unwrap_or_default()));
    }
    panel
}

/// Replaces zeros, which a logarithmic axis cannot show, by gaps.
fn positive(column: &[f64]) -> Vec<f64> {
    column.iter().map(|&x| if x > 0.0 { x } else { f64::NAN }).collect()
}

/// Residuals: each solver in its own friction model, and all against exact friction.
pub fn residuals(comparison: &Comparison) -> Figure {
    let own = over_time(
        comparison,
        Axis::log("residual [m/s]"),
        "in the solver's own friction model",
        |compared, figures| match compared.friction_model {
            FrictionModel::Coulomb => positive(&figures.coulomb),
            FrictionModel::Convex => positive(&figures.convex),
        },
    );
    let exact = over_time(
        comparison,
        Axis::log("residual [m/s]"),
        "against exact friction",
        |_, figures| positive(&figures.coulomb),
    );
    Figure::new("").panel(own).panel(exact)
}

/// Cost of each step: time and iterations.
pub fn effort(comparison: &Comparison) -> Figure {
    let time =
        over_time(comparison, Axis::log("time per step [ms]"), "time of a step", |_, figures| {
            figures.phases.iter().map(|parts| 1e3 * parts.iter().sum::<f64>()).collect()
        });
    let iterations = over_time(
        comparison,
        Axis::log("iterations per step [-]"),
        "iterations of the solver",
        |_, figures| {
            positive(&figures.iterations.iter().map(|&n| f64::from(n)).collect::<Vec<_>>())
        },
    );
    Figure::new("").panel(time).panel(iterations)
}

/// Penetration and energy over time.
pub fn physics(comparison: &Comparison) -> Figure {
    let penetration = over_time(
        comparison,
        Axis::linear("deepest penetration [mm]"),
        "penetration",
        |_, figures| figures.penetration.iter().map(|x| 1e3 * x).collect(),
    );
    let energy = over_time(
        comparison,
        Axis::linear("energy [J]"),
        "kinetic and potential energy",
        |_, figures| figures.kinetic.iter().zip(&figures.potential).map(|(k, p)| k + p).collect(),
    );
    Figure::new("").panel(penetration).panel(energy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_both_ends_and_the_order() {
        let points: Vec<(f64, f64)> = (0..100_000).map(|k| (f64::from(k), 1.0)).collect();
        let thin = thinned(points.clone());
        assert!(thin.len() <= POINTS + 2 && thin.is_sorted());
        assert_eq!((thin[0], thin.last()), (points[0], points.last()));
        assert_eq!(thinned(points[..50].to_vec()), points[..50]);
    }
}
