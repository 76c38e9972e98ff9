//! Fig. 13: invertible contact, forces from velocities against those of the solver
//! [Lee23, Secs. III-E.1 and V-F].
//!
//! Along the motion of a scene, the problem of each step is rebuilt with the compliance Ω in its rows and
//! solved by COND with convex friction. The forces are then recovered from the velocities alone.

use stiction_plot::{Axis, Figure, Panel, Series};
use stiction_scene::SceneError;
use stiction_solve::solver::cond::inverse;
use stiction_solve::{FrictionModel, Goal, Problem, Session, Solution};

use crate::baselines::norm;
use crate::clock::cpu_seconds;
use crate::error::ReproduceError;
use crate::manipulation_scene::{BALL, MAT, ManipulationScene};
use crate::statistics::mean;
use crate::{ExperimentOptions, ExperimentResult, RowSource, Sheet, SheetCell};

/// Ω [m/(N·s)], and θ of the paper for both scenes.
const OMEGA: f64 = 1e-3;
const THETA: &str = "1e-4";
/// Tolerance of the run that stops by the residual.
const TOLERANCE: f64 = 1e-8;

/// [Lee23, Sec. V-F]: error of the norm of the forces [mN].
const PUBLISHED: [(ManipulationScene, f64); 2] = [(MAT, 0.087), (BALL, 0.48)];

/// The problem with a compliance of at least `least` [1/kg] in every row.
fn with_compliance(problem: &Problem, least: f64) -> Result<Problem, ReproduceError> {
    let mut raw = problem.to_raw();
    raw.r.iter_mut().for_each(|r| *r = r.max(least));
    let failed = |source| ReproduceError::Problem { target: problem.name().to_owned(), source };
    Problem::from_raw(&raw).map(|found| found.problem).map_err(failed)
}

/// Norms of the contact forces [N]: of the solver, and from its velocities.
fn both_ways(
    session: &mut Session,
    problem: &Problem,
    goal: &Goal,
    guess: &mut Solution,
    h: f64,
) -> Result<(f64, f64), ReproduceError> {
    if guess.velocity.len() != problem.dofs() || guess.impulse.len() != problem.rows() {
        guess.reset(problem);
    }
    let _ = session.solve(problem, goal, guess)?;
    let compliance = problem.compliance();
    let back = inverse(problem, FrictionModel::Convex, &guess.velocity, compliance)
        .unwrap_or_else(|| vec![f64::NAN; problem.rows()]);
    let of_contacts = |impulse: &[f64]| {
        let contacts = (0..problem.constraints().len()).filter(|i| problem.law(*i).is_contact());
        contacts.map(|i| norm(&impulse[problem.row_range(i)]).powi(2)).sum::<f64>().sqrt() / h
    };
    Ok((of_contacts(&guess.impulse), of_contacts(&back)))
}

/// Runs the experiment.
pub fn run(options: &ExperimentOptions<'_>) -> Result<ExperimentResult, ReproduceError> {
    let mut sheet = Sheet::new(
        "Fig. 13: norm of the contact forces, forward against inverse",
        &["scene", "stops at", "mean force [N]", "mean error [mN]", "largest error [mN]", "steps"],
    );
    let mut figure = Figure::new("Forces of the solver and forces from velocities");
    for (index, (scene, published)) in PUBLISHED.iter().enumerate() {
        let theirs: [SheetCell; 6] = [
            scene.scenario.into(),
            format!("θ < {THETA}").into(),
            f64::NAN.into(),
            (*published).into(),
            f64::NAN.into(),
            "".into(),
        ];
        sheet.row(RowSource::Paper, theirs);
        let mut built = scene.build(options, 0, &[])?;
        built.settings.solver = "cond".to_owned();
        let h = built.settings.time_step;
        let mut scene_run = built.start()?;
        let steps = scene.steps(options, scene_run.steps());
        let mut by_change = Session::new("cond")?;
        by_change.set("stop", "paper")?;
        by_change.set("theta", THETA)?;
        let mut sessions = [by_change, Session::new("cond")?];
        let friction_model = Some(FrictionModel::Convex);
        let goal = Goal { tolerance: TOLERANCE, friction_model, ..Goal::default() };
        let mut guesses = [Solution::default(), Solution::default()];
        let mut found: [Vec<(f64, f64, f64)>; 2] = [Vec::new(), Vec::new()];
        let begin = cpu_seconds();
        for step in 0..steps {
            if options.is_over(begin) {
                break;
            }
            let done = (index as f64 + step as f64 / steps as f64) / PUBLISHED.len() as f64;
            (options.report_progress)(done, &format!("{}, step {step}", scene.scenario));
            if let Some(controller) = &mut scene_run.controller {
                controller.control(&mut scene_run.simulation);
            }
            let time = scene_run.simulation.state().time;
            if let Some(problem) = scene_run.simulation.problem().map_err(SceneError::from)? {
                // Ω multiplies forces in the paper and impulses here.
                let problem = with_compliance(problem, OMEGA / h)?;
                for (k, session) in sessions.iter_mut().enumerate() {
                    let (f, back) = both_ways(session, &problem, &goal, &mut guesses[k], h)?;
                    found[k].push((time, f, back));
                }
            }
            let _ = scene_run.simulation.step().map_err(SceneError::from)?;
        }
        let time = Axis::linear("simulated time [s]");
        let mut panel = Panel::new(time, Axis::linear("force [N]")).title(scene.scenario);
        let rules = [format!("θ < {THETA}"), format!("r < {TOLERANCE:.0e}")];
        for (points, rule) in found.iter().zip(&rules) {
            let error = |p: &(f64, f64, f64)| 1e3 * (p.1 - p.2).abs();
            let row: [SheetCell; 6] = [
                scene.scenario.into(),
                rule.as_str().into(),
                mean(points.iter().map(|p| p.1)).into(),
                mean(points.iter().map(error)).into(),
                points.iter().map(error).fold(0.0, f64::max).into(),
                points.len().to_string().into(),
            ];
            sheet.row(RowSource::Ours, row);
            let line = |pick: fn(&(f64, f64, f64)) -> f64| {
                points.iter().map(|p| (p.0, pick(p))).collect::<Vec<_>>()
            };
            panel = panel
                .series(Series::line(format!("forward, {rule}"), line(|p| p.1)))
                .series(Series::line(format!("inverse, {rule}"), line(|p| p.2)));
        }
        figure = figure.panel(panel);
    }
    let outcome = ExperimentResult {
        sheets: vec![sheet],
        figures: vec![figure],
        ..ExperimentResult::default()
    };
    Ok(outcome
        .remark(
            "The contacts of the mat are at its own vertices, where every iterate of COND obeys the law: forward and \
             inverse agree to round-off, however early the solve ends. The contacts of the ball act \
             through virtual nodes; the inverse uses the velocities of the bodies, and divides their \
             remaining difference by Ω into a force, which falls with the tolerance. The paper does not \
             say what its errors consist of.",
        )
        .remark(
            "Rows other than contacts (attachments, limits) also get the compliance Ω but do not count in the norm; the \
             motion is that of exact friction, and each step's problem is rebuilt with Ω.",
        ))
}
