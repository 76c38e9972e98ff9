//! Residual over iterations and over CPU time, median over cases [Lee25, Figs. 7, 9].
//!
//! Iterations are Newton steps for `canal` and `alm`, sweeps for `pgs`, passes over all subsystems
//! for `subadmm`. A case that ended early keeps its last residual.

use std::time::Duration;

use serde_json::json;
use stiction_plot::{Axis, Figure, Panel, Series};
use stiction_solve::catalogue::Variation;
use stiction_solve::{Goal, Solution};

use super::{TableSection, TablesArgs, absent, cases, registered};
use crate::error::BenchError;
use crate::progress;
use crate::run;
use stiction_reproduce::statistics::median;
use stiction_reproduce::table::{Table, number};

/// Catalogue entries with the number of bodies or contacts, and the figure of the paper.
const SCENES: [(&str, usize, &str); 2] = [("bolt-nut", 100, "Fig. 7"), ("dishes", 4, "Fig. 9")];
const SOLVERS: [&str; 4] = ["canal", "subadmm", "pgs", "alm"];
const MAX_ITERATIONS: usize = 2000;
const TIME_LIMIT: Duration = Duration::from_secs(1);
const TOLERANCE: f64 = 1e-13;
/// Sample points of the curves in the text: iterations, and CPU time \[ms\].
const SHOWN_ITERATIONS: [f64; 7] = [3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 2000.0];
const SHOWN_TIMES: [f64; 6] = [0.1, 0.3, 1.0, 3.0, 10.0, 30.0];
/// Points of a grid per decade.
const PER_DECADE: i32 = 12;

/// Traces of one solver over all cases: `(iteration, CPU time \[ms\], residual)`.
struct ConvergenceCurve {
    solver: &'static str,
    traces: Vec<Vec<(f64, f64, f64)>>,
}

pub(super) fn measure(
    args: &TablesArgs,
) -> Result<(TableSection, Vec<(String, Figure)>), BenchError> {
    let (solvers, missing) = registered(&SOLVERS);
    let (mut text, mut document, mut figures) = (String::new(), Vec::new(), Vec::new());
    for (scene, size, source) in SCENES {
        let curves = trace(args, scene, size, &solvers)?;
        text += &format!(
            "{scene}: median relative residual over {} cases (compare [Lee25, {source}])\n",
            args.cases
        );
        text += &table("iterations", &SHOWN_ITERATIONS, &curves, |p| p.0);
        text += &table("CPU time [ms]", &SHOWN_TIMES, &curves, |p| p.1);
        text += &absent(&missing);
        for curve in &curves {
            let over = |grid: &[f64], x: fn(&(f64, f64, f64)) -> f64| -> Vec<[f64; 2]> {
                grid.iter().map(|g| [*g, at(curve, *g, x)]).collect()
            };
            document.push(json!({"problem": scene, "solver": curve.solver,
                "over_iterations": over(&SHOWN_ITERATIONS, |p| p.0),
                "over_milliseconds": over(&SHOWN_TIMES, |p| p.1)}));
        }
        figures.push((format!("convergence-{scene}"), figure(args, scene, &curves)));
    }
    Ok((TableSection { text, json: json!(document) }, figures))
}

fn trace(
    args: &TablesArgs,
    scene: &str,
    size: usize,
    solvers: &[&'static str],
) -> Result<Vec<ConvergenceCurve>, BenchError> {
    let variation = Variation { wrench: args.wrench, size, ..Variation::default() };
    let problems = cases(scene, variation, 0..args.cases)?;
    let goal = Goal {
        tolerance: TOLERANCE,
        max_iterations: Some(MAX_ITERATIONS),
        time_limit: Some(TIME_LIMIT),
        trace: true,
        ..Goal::default()
    };
    let bar = progress::bar(problems.len() * solvers.len());
    let mut curves = Vec::new();
    for &solver in solvers {
        let mut session = run::session(solver, &[])?;
        let mut traces = Vec::new();
        for problem in &problems {
            bar.set_message(format!("{solver} on {scene}"));
            let run = run::solve(&mut session, problem, &goal, &mut Solution::cold(problem))?;
            let point = |p: &stiction_solve::monitor::TracePoint| {
                (p.iteration as f64, 1e3 * p.seconds * run.share, p.residual)
            };
            traces.push(run.report.trace.iter().map(point).collect());
            bar.inc(1);
        }
        curves.push(ConvergenceCurve { solver, traces });
    }
    bar.finish_and_clear();
    Ok(curves)
}

/// The median residual at a point of the axis.
fn at(curve: &ConvergenceCurve, place: f64, x: fn(&(f64, f64, f64)) -> f64) -> f64 {
    median(curve.traces.iter().filter_map(|trace| {
        let reached = trace.partition_point(|p| x(p) <= place).max(1);
        trace.get(reached - 1).map(|p| p.2)
    }))
}

fn table(
    axis: &str,
    grid: &[f64],
    curves: &[ConvergenceCurve],
    x: fn(&(f64, f64, f64)) -> f64,
) -> String {
    let shown: Vec<String> = grid.iter().map(|g| format!("{g}")).collect();
    let heading: Vec<&str> =
        std::iter::once(axis).chain(shown.iter().map(String::as_str)).collect();
    let mut table = Table::new(&heading);
    for curve in curves {
        let cells = grid.iter().map(|g| number(at(curve, *g, x)));
        table.row(std::iter::once(curve.solver.to_owned()).chain(cells));
    }
    table.render()
}

fn figure(args: &TablesArgs, scene: &str, curves: &[ConvergenceCurve]) -> Figure {
    let grid = |from: i32, to: i32| -> Vec<f64> {
        let point = |k: i32| 10f64.powf(f64::from(k) / f64::from(PER_DECADE));
        (from * PER_DECADE..=to * PER_DECADE).map(point).collect()
    };
    let y = || Axis::log("relative residual [-]");
    let mut over_iterations = Panel::new(Axis::log("iterations [-]"), y());
    let mut over_time = Panel::new(Axis::log("CPU time [ms]"), y());
    for curve in curves {
        let points = |grid: Vec<f64>, x: fn(&(f64, f64, f64)) -> f64| {
            grid.into_iter().map(|g| (g, at(curve, g, x))).collect()
        };
        let by_iteration = points(grid(0, 3), |p| p.0);
        over_iterations = over_iterations.series(Series::line(curve.solver, by_iteration));
        over_time = over_time.series(Series::line(curve.solver, points(grid(-2, 2), |p| p.1)));
    }
    Figure::new(format!("Convergence on {scene}"))
        .subtitle(format!("median over {} cases with random wrenches", args.cases))
        .panel(over_iterations)
        .panel(over_time)
}
