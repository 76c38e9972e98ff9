//! Slip control of Sec. VI-D: a gripper with bubble pads holds a spatula, firmly and loosely by turns [Castro22].
//!
//! Every solver follows its own motion of the scenario `slip-control`; its check decides whether the grip is secure and the spatula turns.

use stiction_plot::{Axis, Figure, Panel, Series};
use stiction_scene::SceneError;
use stiction_sim::Phase;
use stiction_study::scenario;
use stiction_study::scenarios::slip_control::{grip_is_firm, pitch_of};

use crate::clock::cpu_seconds;
use crate::error::ReproduceError;
use crate::statistics::mean;
use crate::{ExperimentOptions, ExperimentResult, RowSource, Sheet, SheetCell};

const SCENARIO: &str = "slip-control";
/// Solvers, and the settings of each besides those of the scenario. The interior-point method gets the tolerance that the paper
/// gives Gurobi.
const SOLVERS: [(&str, &[(&str, &str)]); 3] =
    [("sap", &[]), ("alm", &[]), ("ipm", &[("solver.tolerance", "1e-8")])];
/// Published: solver, iterations per step, time relative to SAP, largest relative error of momentum, contacts firm and loose
/// [Castro22, Sec. VI-D].
const PUBLISHED: [(&str, [f64; 5]); 3] = [
    ("SAP", [0.62, 1.0, 9.99e-4, 160.0, 60.0]),
    ("Geodesic IPM", [5.6, 20.0, 2e-6, 160.0, 60.0]),
    ("Gurobi", [10.1, 92.0, 2.6e-2, 160.0, 60.0]),
];
/// Cycles of a quick run.
const QUICK_CYCLES: &str = "1";

/// One run.
struct GripRun {
    /// Verdict of the check; `None` for a run that ended before.
    passed: Option<bool>,
    detail: String,
    /// Means over steps: iterations, time of the solver [s]. Largest relative error of momentum [-].
    iterations: f64,
    seconds: f64,
    momentum: f64,
    /// Mean contacts while firm and while loose.
    contacts: [f64; 2],
    /// Time [s] and pitch [rad].
    pitch: Vec<(f64, f64)>,
}

/// Runs the experiment.
pub fn run(options: &ExperimentOptions<'_>) -> Result<ExperimentResult, ReproduceError> {
    let title = "Slip control: iterations and time per step of 5 ms";
    let heading = [
        "solver",
        "iterations",
        "solver time [ms]",
        "time relative to SAP",
        "largest error of momentum [-]",
        "contacts firm",
        "contacts loose",
        "held and turned",
    ];
    let mut sheet = Sheet::new(title, &heading);
    for (solver, [iterations, ratio, momentum, firm, loose]) in PUBLISHED {
        let numbers = [iterations, f64::NAN, ratio, momentum, firm, loose];
        let cells = std::iter::once(solver.into()).chain(numbers.map(SheetCell::from));
        sheet.row(RowSource::Paper, cells.chain([SheetCell::from("yes")]));
    }
    let mut angle = Panel::new(Axis::linear("time [s]"), Axis::linear("pitch [°]"));
    let (mut remarks, mut of_sap) = (Vec::new(), f64::NAN);
    for (k, (solver, settings)) in SOLVERS.into_iter().enumerate() {
        (options.report_progress)(k as f64 / SOLVERS.len() as f64, solver);
        let found = hold(options, solver, settings)?;
        if k == 0 {
            of_sap = found.seconds;
        }
        let passed = match found.passed {
            None => "not run to the end",
            Some(true) => "yes",
            Some(false) => "no",
        };
        let [firm, loose] = found.contacts;
        let numbers = [
            found.iterations,
            1e3 * found.seconds,
            found.seconds / of_sap,
            found.momentum,
            firm,
            loose,
        ];
        let cells = std::iter::once(solver.into()).chain(numbers.map(SheetCell::from));
        sheet.row(RowSource::Ours, cells.chain([passed.into()]));
        remarks.push(format!("{solver}: {}.", found.detail));
        let points = found.pitch.into_iter().map(|(time, pitch)| (time, pitch.to_degrees()));
        angle = angle.series(Series::line(solver, points.collect()));
    }
    let figure =
        Figure::new("Pitch of the spatula; the grip is loose from 4.5 to 6 s of each cycle");
    let outcome =
        ExperimentResult { sheets: vec![sheet], figures: vec![figure.panel(angle)], remarks };
    Ok(outcome
        .remark(
            "The published speed-ups are over Gurobi and over the authors' Geodesic IPM. `ipm` is a general interior-point method for \
             second-order cones, as Gurobi is; steps whose guess is good enough cost it no iteration.",
        )
        .remark(
            "Slip is the mean over contacts, as in the paper's Fig. 14, and its bound μ σ g δt [Castro22, Eq. (31)]. The paper does not \
             publish the pitch in numbers, the edges of the meshes nor the dissipation: edges are such that the numbers of \
             contacts are those of the paper.",
        )
        .remark(
            "`alm` solves the same near-rigid contacts with exact friction. Errors of momentum are relative and measured on the problem.",
        ))
}

/// A run with a solver.
fn hold(
    options: &ExperimentOptions<'_>,
    solver: &str,
    settings: &[(&str, &str)],
) -> Result<GripRun, ReproduceError> {
    let mut set = vec![("solver", solver)];
    set.extend_from_slice(settings);
    if options.quick {
        set.push(("cycles", QUICK_CYCLES));
    }
    let set: Vec<_> = set.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    let mut run = scenario(SCENARIO, &set)?.start()?;
    let steps = options.steps.unwrap_or(usize::MAX).min(run.steps());
    let (mut iterations, mut times, mut momentum) = (Vec::new(), Vec::new(), 0.0);
    let (mut contacts, mut pitch) = ([Vec::new(), Vec::new()], Vec::new());
    let (mut made, begin) = (0, cpu_seconds());
    for _ in 0..steps {
        if options.is_over(begin) {
            break;
        }
        let start = run.simulation.state().time;
        let report = match run.step() {
            Ok(report) => report,
            Err(SceneError::Step(_)) => break,
            Err(error) => return Err(error.into()),
        };
        made += 1;
        iterations.push(report.iterations as f64);
        times.push(report.phases.of(Phase::Solve).as_secs_f64());
        momentum = f64::max(momentum, report.residuals.momentum);
        contacts[usize::from(!grip_is_firm(start))].push(report.contacts as f64);
        pitch.push((run.simulation.state().time, pitch_of(&mut run.simulation)));
    }
    let verdict = run.check.verdict();
    let contacts = contacts.map(mean);
    Ok(GripRun {
        passed: (made == run.steps()).then_some(verdict.passed),
        detail: verdict.detail,
        iterations: mean(iterations),
        seconds: mean(times),
        momentum,
        contacts,
        pitch,
    })
}
