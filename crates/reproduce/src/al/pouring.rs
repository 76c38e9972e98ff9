//! Fig. 11: time and residual over the number of spheres in a bottle, at fixed iterations.

use stiction_plot::{Axis, Figure, Panel, Series};

use super::{cases, endless, slack, solve_cold};
use crate::clock::cpu_seconds;
use crate::error::ReproduceError;
use crate::statistics::{median, power_law_exponent};
use crate::timed_solve;
use crate::{ExperimentOptions, ExperimentResult, RowSource, Sheet, SheetCell};

/// Spheres: the paper's numbers, then more.
const SPHERES: [usize; 8] = [9, 18, 27, 36, 45, 90, 150, 200];
/// Solvers with their setting and number of iterations [Lee25, Sec. VII-C].
const SOLVERS: [(&str, &str, usize); 3] =
    [("subadmm", "max-iterations", 100), ("pgs", "max-sweeps", 100), ("canal", "max-outer", 5)];
/// What the paper says of each.
const PUBLISHED: [(&str, &str, &str); 3] = [
    ("subadmm", "least", "about 0.1 of that of pgs"),
    ("pgs", "more than subadmm", "–"),
    ("canal", "most, far below 3", "< 1e-5"),
];
/// Consecutive steps of which the problem is solved.
const STEPS: usize = 5;

/// Runs the experiment.
pub fn run(options: &ExperimentOptions<'_>) -> Result<ExperimentResult, ReproduceError> {
    let mut fits = Sheet::new(
        "Fig. 11: growth of the time with the velocities, time ∝ n^p",
        &["solver", "p [-]", "largest residual [N·s]"],
    );
    for (solver, growth, residual) in PUBLISHED {
        fits.row(RowSource::Paper, [solver.into(), growth.into(), residual.into()]);
    }
    let mut sheet = Sheet::new(
        "Time and residual of one step, medians",
        &[
            "solver",
            "iterations",
            "spheres",
            "velocities",
            "contacts",
            "time [ms]",
            "residual [N·s]",
        ],
    );
    let sizes = if options.quick { &SPHERES[..3] } else { &SPHERES[..] };
    let mut curves = SOLVERS.map(|_| Vec::new());
    let begin = cpu_seconds();
    for (k, spheres) in sizes.iter().enumerate() {
        (options.report_progress)(k as f64 / sizes.len() as f64, &format!("{spheres} spheres"));
        if options.is_over(begin) {
            break;
        }
        let mut simulation = cases::filled_bottle(options, *spheres)?;
        let mut found = SOLVERS.map(|_| Vec::new());
        let mut size = (0, 0);
        for _ in 0..STEPS {
            if let Some(problem) = cases::problem_of(&mut simulation)? {
                size = (problem.dofs(), problem.contacts());
                for ((solver, _, iterations), found) in SOLVERS.into_iter().zip(&mut found) {
                    let outer = solver == "canal";
                    let limit = iterations.to_string();
                    let settings = if outer { &[("max-outer", limit.as_str())][..] } else { &[] };
                    let mut session = timed_solve::session(solver, settings)?;
                    let goal = endless((!outer).then_some(iterations), options);
                    let solved = solve_cold(&mut session, &problem, &goal, options)?;
                    found.push((1e3 * solved.seconds, slack(&solved)));
                }
            }
            let _ = simulation.step().map_err(stiction_scene::SceneError::from)?;
        }
        for (((solver, _, iterations), found), curve) in
            SOLVERS.into_iter().zip(&found).zip(&mut curves)
        {
            let (time, residual) =
                (median(found.iter().map(|f| f.0)), median(found.iter().map(|f| f.1)));
            let row: [SheetCell; 7] = [
                solver.into(),
                iterations.to_string().into(),
                spheres.to_string().into(),
                size.0.to_string().into(),
                size.1.to_string().into(),
                time.into(),
                residual.into(),
            ];
            sheet.row(RowSource::Ours, row);
            curve.push((size.0 as f64, time, residual));
        }
    }
    let velocities = || Axis::log("velocities [-]");
    let mut times = Panel::new(velocities(), Axis::log("time [ms]"));
    let mut residuals = Panel::new(velocities(), Axis::log("residual [N·s]"));
    for ((solver, ..), curve) in SOLVERS.into_iter().zip(&curves) {
        let over_time: Vec<(f64, f64)> = curve.iter().map(|c| (c.0, c.1)).collect();
        let p = if curve.len() > 1 { power_law_exponent(&over_time) } else { f64::NAN };
        let largest = curve.iter().map(|c| c.2).fold(f64::NAN, f64::max);
        fits.row(RowSource::Ours, [solver.into(), p.into(), largest.into()]);
        times = times.series(Series::line_and_markers(solver, over_time));
        let left = curve.iter().map(|c| (c.0, c.2.max(f64::EPSILON))).collect();
        residuals = residuals.series(Series::line_and_markers(solver, left));
    }
    let figure = Figure::new("Spheres in a bottle").panel(times).panel(residuals);
    let outcome = ExperimentResult {
        sheets: vec![fits, sheet],
        figures: vec![figure],
        ..ExperimentResult::default()
    };
    Ok(outcome
        .remark(
            "A bottle that stands on the floor, filled with spheres of 5 mm and 10 g/cm³ that have settled: the problems of five \
             steps, each from a cold start, wall time of one thread. In the paper a robot holds the bottle and pours; its \
             joints add velocities that do not grow with the spheres. The scenario `pouring` is that task with two arms of our own.",
        )
        .remark(
            "Ours builds no Delassus operator for PGS, whose superlinear cost the paper names; its sweeps are matrix-free, and its \
             time grows with the contacts as that of SubADMM does. The contacts per sphere grow with the filling.",
        ))
}
