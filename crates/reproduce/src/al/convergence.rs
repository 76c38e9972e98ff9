//! Figs. 7 and 9: residual over iterations and over time, time over iterations, median over cases.
//!
//! Iterations are outer iterations of `canal`, Newton steps of `alm`, sweeps of `pgs`, and passes over all subsystems of
//! `subadmm`. A case that ended early keeps its last residual.

use stiction_plot::{Axis, Figure, Panel, Series};
use stiction_solve::{Goal, Problem};

use super::{cases, digits, endless, solve_cold};
use crate::clock::cpu_seconds;
use crate::error::ReproduceError;
use crate::statistics::median;
use crate::timed_solve;
use crate::{ExperimentOptions, ExperimentResult, RowSource, Sheet, SheetCell};

/// Solvers with the unit in which they count as the paper does: outer iterations are points of the trace.
const SOLVERS: [(&str, bool); 4] =
    [("canal", true), ("subadmm", false), ("pgs", false), ("alm", false)];
/// Relative residual at which `alm` ends [-].
const ROUND_OFF: f64 = 1e-13;
const MOST_ITERATIONS: usize = 1000;
const MOST_OUTER: &str = "20";
/// Columns of the table: iterations.
const SHOWN: [f64; 5] = [3.0, 10.0, 30.0, 100.0, 1000.0];
/// Columns of the table: time [ms].
const SHOWN_TIMES: [f64; 6] = [0.1, 0.3, 1.0, 3.0, 10.0, 30.0];
/// Digits that the paper calls converged.
const CONVERGED: f64 = 8.0;
/// Points per decade of a figure.
const PER_DECADE: i32 = 12;

/// What the paper says of a figure: solver, digits in the end, iterations to eight digits.
type Published = [(&'static str, &'static str, &'static str); 3];
const BOLT_NUT: Published =
    [("canal", "≥ 8", "about 10"), ("subadmm", "≥ 8", "–"), ("pgs", "about 4, then slow", "–")];
const DISHES: Published =
    [("canal", "> 8", "about 10"), ("subadmm", "below 6", "–"), ("pgs", "fewer than subadmm", "–")];

/// An iterate: iteration, time [ms], residual [N·s].
type Point = (f64, f64, f64);

/// Fig. 7: ten seats of a nut on its bolt, ten wrenches each.
pub fn bolt_nut(options: &ExperimentOptions<'_>) -> Result<ExperimentResult, ReproduceError> {
    let (seats, wrenches) = if options.quick { (2, 3) } else { (10, 10) };
    let problems = cases::bolt_nut(options, seats, wrenches)?;
    let setting = format!(
        "{seats} seats of an M48 nut on a bolt, {wrenches} random wrenches each; friction {}",
        cases::FRICTION
    );
    run(options, "Fig. 7: bolt and nut", &setting, &problems, &BOLT_NUT)
}

/// Fig. 9: four stacked dishes, a hundred wrenches.
pub fn dishes(options: &ExperimentOptions<'_>) -> Result<ExperimentResult, ReproduceError> {
    let wrenches = if options.quick { 6 } else { 100 };
    let problems = cases::dishes(options, wrenches)?;
    let setting = format!(
        "bowl, bowl, plate (0.1 kg each) and pot (5 kg) at rest, {wrenches} random wrenches; friction {}",
        cases::FRICTION
    );
    run(options, "Fig. 9: stacked dishes", &setting, &problems, &DISHES)
}

fn run(
    options: &ExperimentOptions<'_>,
    title: &str,
    setting: &str,
    problems: &[Problem],
    published: &Published,
) -> Result<ExperimentResult, ReproduceError> {
    let mut heading = vec!["solver".to_owned(), "digits in the end".into(), "8 digits in".into()];
    heading.extend(SHOWN.map(|n| format!("digits, {n} iterations")));
    let mut counted = Sheet::new(
        format!("{title}: −log₁₀ of the median residual [N·s] over iterations"),
        &heading.iter().map(String::as_str).collect::<Vec<_>>(),
    );
    for (solver, end, reached) in published {
        let cells: [SheetCell; 3] = [(*solver).into(), (*end).into(), (*reached).into()];
        counted.row(RowSource::Paper, cells.into_iter().chain(SHOWN.map(|_| f64::NAN.into())));
    }
    let mut heading = vec!["solver".to_owned()];
    heading.extend(SHOWN_TIMES.map(|ms| format!("digits, {ms} ms")));
    heading.extend(["time of 10 iterations [ms]".to_owned(), "of 100".to_owned()]);
    let mut timed = Sheet::new(
        format!("{title}: −log₁₀ of the median residual [N·s] over time"),
        &heading.iter().map(String::as_str).collect::<Vec<_>>(),
    );
    let mut curves: Vec<(&str, Vec<Vec<Point>>)> = Vec::new();
    let begin = cpu_seconds();
    for (k, (solver, outer)) in SOLVERS.into_iter().enumerate() {
        let settings = if outer { &[("max-outer", MOST_OUTER)][..] } else { &[] };
        let mut session = timed_solve::session(solver, settings)?;
        let goal = endless((!outer).then_some(MOST_ITERATIONS), options);
        // ALM goes on after its multipliers have converged.
        let goal = if solver == "alm" { Goal { tolerance: ROUND_OFF, ..goal } } else { goal };
        let mut traces = Vec::new();
        for (case, problem) in problems.iter().enumerate() {
            if options.is_over(begin) {
                break;
            }
            let done = (k * problems.len() + case) as f64 / (SOLVERS.len() * problems.len()) as f64;
            (options.report_progress)(done, solver);
            let found = solve_cold(&mut session, problem, &goal, options)?;
            let points = found.trace.iter().enumerate().map(|(index, point)| {
                let count = if outer { index as f64 } else { point.iteration as f64 };
                (count, 1e3 * point.seconds, point.slack)
            });
            traces.push(points.collect());
        }
        curves.push((solver, traces));
    }
    for (solver, traces) in &curves {
        let residual = |n: f64| at(traces, n, |p| p.0);
        let in_time = |ms: f64| at(traces, ms, |p| p.1);
        let reached = (1..=MOST_ITERATIONS).find(|n| digits(residual(*n as f64)) >= CONVERGED);
        let cells: [SheetCell; 3] = [
            (*solver).into(),
            digits(residual(f64::INFINITY)).into(),
            reached.map_or(SheetCell::from("–"), |n| n.to_string().into()),
        ];
        let columns = SHOWN.map(|n| digits(residual(n)).into());
        counted.row(RowSource::Ours, cells.into_iter().chain(columns));
        let time_of = |n: f64| {
            let of = |trace: &Vec<Point>| trace.iter().find(|p| p.0 >= n).map(|p| p.1);
            SheetCell::from(median(traces.iter().filter_map(of)))
        };
        let columns = SHOWN_TIMES.map(|ms| digits(in_time(ms)).into());
        let cells = std::iter::once((*solver).into()).chain(columns);
        timed.row(RowSource::Ours, cells.chain([time_of(10.0), time_of(100.0)]));
    }
    let contacts: Vec<f64> = problems.iter().map(|p| p.contacts() as f64).collect();
    let figure = figure(title, setting, &curves);
    let outcome = ExperimentResult {
        sheets: vec![counted, timed],
        figures: vec![figure],
        remarks: vec![format!(
            "{setting}. {} problems with {} to {} contacts, h = 1/240 s, each from a cold start.",
            problems.len(),
            contacts.iter().copied().fold(f64::INFINITY, f64::min),
            contacts.iter().copied().fold(0.0, f64::max),
        )],
    };
    Ok(outcome
        .remark(ahead(&curves))
        .remark(
            "The paper states neither its friction nor its wrenches, and shows curves rather than numbers. Its residual has the \
             unit of an impulse and a hidden penalty of one kilogram: it is smaller the lighter the bodies and the more \
             contacts there are.",
        )
        .remark(
            "Where the surfaces touch at few contacts, as a nut that is tilted on its bolt, sweeps over the contacts converge \
             too; the paper's PGS stays at four digits with up to 120 contacts. Ours multiplies by A⁻¹ Jᵀ instead of building \
             the Delassus operator, so that it has no preparation to speak of.",
        ))
}

/// The median residual at a place of the axis.
fn at(traces: &[Vec<Point>], place: f64, x: fn(&Point) -> f64) -> f64 {
    median(traces.iter().filter_map(|trace| {
        let reached = trace.partition_point(|p| x(p) <= place).max(1);
        trace.get(reached - 1).map(|p| p.2)
    }))
}

/// The grid of a logarithmic axis between powers of ten.
fn grid(from: i32, to: i32) -> Vec<f64> {
    let point = |k: i32| 10f64.powf(f64::from(k) / f64::from(PER_DECADE));
    (from * PER_DECADE..=to * PER_DECADE).map(point).collect()
}

/// At how many of the times of the figure SubADMM is ahead of PGS.
fn ahead(curves: &[(&str, Vec<Vec<Point>>)]) -> String {
    let of = |name: &str| curves.iter().find(|(solver, _)| *solver == name).map(|c| &c.1);
    let (Some(sub), Some(pgs)) = (of("subadmm"), of("pgs")) else { return String::new() };
    let times = grid(-2, 2);
    let residual = |traces, time: f64| at(traces, time, |p| p.1).max(f64::EPSILON);
    let wins = times.iter().filter(|t| residual(sub, **t) <= residual(pgs, **t)).count();
    format!(
        "SubADMM is level with or ahead of PGS at {wins} of {} times from 10 µs to 100 ms.",
        times.len()
    )
}

fn figure(title: &str, setting: &str, curves: &[(&str, Vec<Vec<Point>>)]) -> Figure {
    let residual = || Axis::log("residual [N·s]");
    let mut over_iterations = Panel::new(Axis::log("iterations [-]"), residual());
    let mut over_time = Panel::new(Axis::log("time [ms]"), residual());
    let mut time = Panel::new(Axis::log("iterations [-]"), Axis::log("time [ms]"));
    for (solver, traces) in curves.iter().filter(|(_, traces)| !traces.is_empty()) {
        let most = traces.iter().flatten().map(|p| p.0).fold(1.0, f64::max);
        let points = |grid: Vec<f64>, x: fn(&Point) -> f64| -> Vec<(f64, f64)> {
            grid.into_iter().map(|g| (g, at(traces, g, x).max(f64::EPSILON))).collect()
        };
        let counts: Vec<f64> = grid(0, 3).into_iter().filter(|n| *n <= most).collect();
        over_iterations = over_iterations.series(Series::line(*solver, points(counts, |p| p.0)));
        over_time = over_time.series(Series::line(*solver, points(grid(-2, 2), |p| p.1)));
        let mut index = 1.0;
        let mut spent = Vec::new();
        while index <= most {
            let of = |trace: &Vec<Point>| trace.iter().find(|p| p.0 >= index).map(|p| p.1);
            spent.push((index, median(traces.iter().filter_map(of))));
            index = (1.3 * index).ceil();
        }
        spent.retain(|p| p.1 > 0.0);
        time = time.series(Series::line(*solver, spent));
    }
    Figure::new(title).subtitle(setting).panel(over_time).panel(over_iterations).panel(time)
}
