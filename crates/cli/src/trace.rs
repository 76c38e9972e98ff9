//! Convergence plot of `stiction solve`: residual over iterations and over time, one curve per solver.

use stiction_plot::{Axis, Figure, Panel, Series};
use stiction_solve::Goal;
use stiction_solve::monitor::TracePoint;

use crate::problem::LoadedProblem;
use crate::solve::SolverRun;

/// The horizontal axis is logarithmic if the curves' lengths differ by more than this factor.
const LOG_AXIS_RATIO: f64 = 20.0;

/// Two panels, over iterations and over time.
pub fn figure(loaded: &LoadedProblem, goal: &Goal, runs: &[SolverRun]) -> Figure {
    let problem = &loaded.built.problem;
    let reference = problem.reference_velocity();
    let label =
        if reference > 0.0 { "violation / reference velocity [-]" } else { "violation [m/s]" };
    let title = format!("Convergence on {}", problem.name());
    let subtitle = format!(
        "{} contacts, {} rows, {} degrees of freedom; each solver in its own friction model",
        problem.contacts(),
        problem.rows(),
        problem.dofs()
    );
    let iterations = |p: &TracePoint| p.iteration as f64;
    let milliseconds = |p: &TracePoint| 1e3 * p.seconds;
    Figure::new(title)
        .subtitle(subtitle)
        .panel(panel("iterations [-]", label, goal, runs, &iterations))
        .panel(panel("time [ms]", label, goal, runs, &milliseconds))
}

fn panel(
    x_label: &str,
    y_label: &str,
    goal: &Goal,
    runs: &[SolverRun],
    x: &dyn Fn(&TracePoint) -> f64,
) -> Panel {
    let ends = runs.iter().filter_map(|run| run.report.trace.last()).map(x).filter(|x| *x > 0.0);
    let (least, most) = ends.fold((f64::INFINITY, 0.0), |(l, m), x| (x.min(l), x.max(m)));
    // A logarithmic axis starts at the first positive abscissa of any curve; earlier points are moved there.
    let steps = runs.iter().flat_map(|run| run.report.trace.iter().skip(1)).map(x);
    let first = steps.filter(|x| *x > 0.0).fold(least, f64::min);
    let axis = if most > LOG_AXIS_RATIO * least && first < most {
        Axis::log(x_label).range(first, most)
    } else {
        Axis::linear(x_label)
    };
    let from = if most > LOG_AXIS_RATIO * least { first } else { 0.0 };
    let mut panel = Panel::new(axis, Axis::log(y_label));
    panel = panel.guide_y(goal.tolerance, "tolerance");
    for run in runs {
        let points = run.report.trace.iter().map(|p| (x(p).max(from), p.residual)).collect();
        panel = panel.series(Series::line(run.report.solver, points));
    }
    panel
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_solve::{FrictionModel, Report, Residuals, Solution, Status};

    fn run(solver: &'static str, seconds: f64, iterations: usize) -> SolverRun {
        let point = |k: usize| TracePoint {
            iteration: k,
            seconds: seconds * k as f64,
            residual: 0.5f64.powi(k as i32),
            momentum: 0.0,
            slack: 0.0,
            cost: 0.0,
            complementarity: 0.0,
        };
        let report = Report {
            solver,
            friction_model: FrictionModel::Coulomb,
            status: Status::Converged,
            iterations,
            residuals: Residuals::default(),
            seconds,
            trace: (0..=iterations).map(point).collect(),
        };
        SolverRun { report, notes: Vec::new(), solution: Solution::default(), velocity_error: None }
    }

    #[test]
    fn solvers_of_any_length_share_a_panel() {
        let lengths = [&[0][..], &[1], &[3, 5], &[1, 1000], &[0, 1, 1000]];
        for lengths in lengths {
            let names = ["a", "b", "c"];
            let runs: Vec<SolverRun> =
                lengths.iter().zip(names).map(|(n, s)| run(s, 1e-4, *n)).collect();
            let x = |p: &TracePoint| p.iteration as f64;
            let panel = panel("x", "y", &Goal::default(), &runs, &x);
            let svg = Figure::new("").panel(panel).to_svg();
            for run in runs.iter().filter(|run| run.report.iterations > 0) {
                let curve = format!("<title>{}</title></path>", run.report.solver);
                assert!(svg.contains(&curve), "{lengths:?}");
            }
        }
    }
}
