//! Tables II, III, V and VI: the manipulation scenes under COND, PGS and APGD [Lee23, Sec. V-C], and
//! under Stiction's accurate solvers.

use stiction_plot::{Axis, Figure, Panel, Series};

use crate::error::ReproduceError;
use crate::manipulation_scene::{BALL, CABLE, GRIPPER, MAT, ManipulationScene};
use crate::measured_run::{CurvePoint, RunFigures, measure_run};
use crate::solver_config::{SolverConfig, StoppingRule};
use crate::{ExperimentOptions, ExperimentResult, RowSource, Sheet, SheetCell};

/// A published row: solver, penetration [mm], error of the force [mN], DT, ST, assembly [ms], iterations.
type Published = (&'static str, [f64; 6]);

const NONE: f64 = f64::NAN;

/// [Lee23, Table II].
const MAT_ROWS: [Published; 3] = [
    ("COND", [0.0033, 1.868, 9.568, 8.650, NONE, 39.72]),
    ("PGS", [0.0328, 0.917, 9.599, 1412.0, 898.0, 50.59]),
    ("APGD", [0.0576, 1.492, 9.563, 170.9, NONE, 81.57]),
];
/// [Lee23, Table III].
const BALL_ROWS: [Published; 3] = [
    ("COND", [0.0058, 156.0, 18.61, 8.464, NONE, 37.51]),
    ("PGS", [1.9933, 318.9, 18.51, 805.1, 624.0, 233.9]),
    ("APGD", [0.2325, 123.5, 18.43, 659.8, NONE, 100.4]),
];
/// [Lee23, Table V].
const CABLE_ROWS: [Published; 3] = [
    ("COND", [0.0021, 399.6, 2.086, 1.229, NONE, 18.28]),
    ("PGS", [0.0521, 399.7, 2.103, 74.27, 28.2, 65.61]),
    ("APGD", [0.0556, 397.6, 2.112, 8.554, NONE, 46.05]),
];
/// [Lee23, Table VI]. The time of APGD is not legible in the print that was read.
const GRIPPER_ROWS: [Published; 3] = [
    ("COND", [0.0005, 116.9, 43.24, 18.24, NONE, 30.88]),
    ("PGS", [0.0397, 117.5, 42.89, 547.0, 533.0, 59.06]),
    ("APGD", [0.0400, 117.2, 42.78, NONE, NONE, 57.81]),
];

/// Solvers with the paper's stopping rule, and those that stop by the measured residual.
const BY_CHANGE: [&str; 3] = ["cond", "pgs", "apgd"];
const BY_RESIDUAL: [&str; 5] = ["cond", "pgs", "apgd", "sap", "alm"];
/// A tolerance far below the paper's, at which its three solvers are compared on the mat once more.
const FINE: f64 = 1e-6;

/// Definitions and differences from the paper that hold for all four tables.
const REMARKS: [&str; 4] = [
    "IE and FE: error of the norm of the force against the same step solved to the reference tolerance with exact \
     friction, every tenth step. Solvers with convex friction (apgd, sap) also contain the error of their \
     model. DT: kinematics, collision, dynamics and assembly. r: the larger of the violation of the \
     laws and of the error of momentum, relative, mean over steps; met: steps in which r is at most \
     the number that the paper sets for θ. MP is measured at the start of a step.",
    "θ is a change per iteration, not an error: the remaining error is about θ/(1 − ρ) for a contraction \
     rate ρ, so a slow iteration stops early.",
    "With the rule θ, COND keeps the compliance 1/k_v of virtual nodes, compensated only by the impulses of the step \
     before; with the rule r it is compensated within the solve. θ adds up velocities of all kinds, metres and \
     radians per second and those of virtual nodes; the paper does not publish how it scales them.",
    "Times are CPU times of this machine, the paper's are wall times of four cores of another. Ours \
     factors A with supernodes, the paper's (SimplicialLLT) without: PGS and APGD, which solve \
     with A, gain from it, COND does not. With the rule θ, PGS and APGD are those of the paper (W by one solve \
     with A per row); with the rule r they are Stiction's own, which reduce a problem to the velocities \
     that take part where that pays.",
];

/// Table II.
pub fn mat(options: &ExperimentOptions<'_>) -> Result<ExperimentResult, ReproduceError> {
    let outcome = table("Table II: soft mat folded by an arm", &MAT, &MAT_ROWS, options)?;
    Ok(outcome.remark(
        "The paper's mat has 1,477 nodes and 4,100 tetrahedra, ours 1,480 and 4,104; its size, density \
         and the motion of the hand are not published.",
    ))
}

/// Table III.
pub fn ball(options: &ExperimentOptions<'_>) -> Result<ExperimentResult, ReproduceError> {
    let outcome = table("Table III: soft ball in a gripper", &BALL, &BALL_ROWS, options)?;
    Ok(outcome.remark(
        "The paper's ball has 1,463 nodes and 6,928 tetrahedra; the gripper's shape and its forces are \
         not published.",
    ))
}

/// Table V.
pub fn cable(options: &ExperimentOptions<'_>) -> Result<ExperimentResult, ReproduceError> {
    let outcome = table("Table V: cable wound around a cylinder", &CABLE, &CABLE_ROWS, options)?;
    let way = if CABLE.is_recorded(options) {
        "The hand follows the recorded trajectory of the paper."
    } else {
        "The hand follows a computed winding; with STICTION_SHARED set it follows the recorded one."
    };
    Ok(outcome.remark(way).remark(
        "The paper's FE is the distance from a real experiment, mostly the modelling error; \
         ours is the error of the solver against the converged solution of the same step.",
    ))
}

/// Table VI.
pub fn gripper(options: &ExperimentOptions<'_>) -> Result<ExperimentResult, ReproduceError> {
    let outcome =
        table("Table VI: soft gripper and a rigid part", &GRIPPER, &GRIPPER_ROWS, options)?;
    Ok(outcome.remark(
        "The paper's FE and DE are distances from a real experiment; ours is the error of the contact \
         forces on the part against the converged solution of the same step. DE, the distance of markers \
         on the real gripper (1.898 mm for COND, 1.895 for PGS), has no counterpart.",
    ))
}

/// Solvers with both stopping rules; COND is the first of each.
fn configs(scene: &ManipulationScene) -> Vec<SolverConfig> {
    let paper = BY_CHANGE.map(|solver| SolverConfig::new(solver, StoppingRule::Paper(scene.theta)));
    let ours =
        BY_RESIDUAL.map(|solver| SolverConfig::new(solver, StoppingRule::Residual(scene.theta)));
    let fine = BY_CHANGE.map(|solver| SolverConfig::new(solver, StoppingRule::Residual(FINE)));
    let fine = fine.into_iter().filter(|_| scene.scenario == MAT.scenario);
    paper.into_iter().chain(ours).chain(fine).collect()
}

fn table(
    title: &str,
    scene: &ManipulationScene,
    published: &[Published],
    options: &ExperimentOptions<'_>,
) -> Result<ExperimentResult, ReproduceError> {
    let (mut sheet, mut ratios) = published_sheets(title, scene, published);
    let mut of_cond: Vec<(StoppingRule, f64)> = Vec::new();
    let mut remarks = Vec::new();
    let figures = measure_all(scene, options)?;
    for (config, found) in &figures {
        sheet.row(RowSource::Ours, cells(config, found));
        match of_cond.iter().find(|(rule, _)| *rule == config.rule) {
            Some((rule, cond)) => {
                let ratio = found.solve / cond;
                let row: [SheetCell; 3] = [config.solver.into(), rule.text().into(), ratio.into()];
                ratios.row(RowSource::Ours, row);
            }
            None => of_cond.push((config.rule, found.solve)),
        }
        remarks.extend(found.cautions(&config.label()));
    }
    remarks.extend(figures.first().map(|(config, found)| {
        let contacts = SheetCell::from(found.contacts).text();
        format!("Contacts, on average: {contacts} ({}).", config.label())
    }));
    remarks.extend(remaining_errors(scene, &figures));
    remarks.extend(cost_of_iterations(scene, published, &figures));
    remarks.extend(REMARKS.map(str::to_owned));
    Ok(ExperimentResult {
        sheets: vec![sheet, ratios],
        figures: vec![figure(title, &figures)],
        remarks,
    })
}

/// The tables with their published rows: figures per solver, and solver times relative to COND.
fn published_sheets(
    title: &str,
    scene: &ManipulationScene,
    published: &[Published],
) -> (Sheet, Sheet) {
    let mut sheet = Sheet::new(
        title,
        &[
            "solver",
            "stops at",
            "MP [mm]",
            scene.measure.error_heading(),
            "DT [ms]",
            "ST [ms]",
            "of it preparing [ms]",
            "IN",
            "r [-]",
            "met",
        ],
    );
    let rule = StoppingRule::Paper(scene.theta).text();
    for (solver, numbers) in published {
        let mut cells: Vec<SheetCell> = vec![(*solver).into(), rule.as_str().into()];
        cells.extend(numbers.map(SheetCell::from));
        cells.extend([NONE.into(), "".into()]);
        sheet.row(RowSource::Paper, cells);
    }
    let mut ratios = Sheet::new("ST relative to COND", &["solver", "stops at", "ratio [-]"]);
    let fastest = published.first().map_or(NONE, |row| row.1[3]);
    for (solver, numbers) in published.iter().skip(1) {
        let ratio = numbers[3] / fastest;
        let row: [SheetCell; 3] = [(*solver).into(), rule.as_str().into(), ratio.into()];
        ratios.row(RowSource::Paper, row);
    }
    (sheet, ratios)
}

/// Means over the trials of every solver, up to the one at which a stop was requested.
fn measure_all(
    scene: &ManipulationScene,
    options: &ExperimentOptions<'_>,
) -> Result<Vec<(SolverConfig, RunFigures)>, ReproduceError> {
    let all = configs(scene);
    let trials = options.trials.max(1);
    let count = all.len() * trials;
    let mut figures = Vec::new();
    for (k, config) in all.into_iter().enumerate() {
        let mut runs = Vec::new();
        for trial in 0..trials {
            if (options.stop_requested)() {
                break;
            }
            let done = (k * trials + trial) as f64 / count as f64;
            (options.report_progress)(done, &format!("{}, {}", scene.scenario, config.label()));
            runs.push(measure_run(scene, options, trial + 1, &[], &config)?);
        }
        if runs.is_empty() {
            break;
        }
        figures.push((config, RunFigures::over(&runs)));
    }
    Ok(figures)
}

/// One of our rows.
fn cells(config: &SolverConfig, found: &RunFigures) -> Vec<SheetCell> {
    let numbers = [
        1e3 * found.penetration,
        1e3 * found.error,
        1e3 * found.dynamics,
        1e3 * found.solve,
        1e3 * found.preparation,
        found.iterations,
        found.residual,
    ];
    let mut cells: Vec<SheetCell> = vec![config.solver.into(), config.rule.text().into()];
    cells.extend(numbers.map(SheetCell::from));
    cells.push(found.share_met().into());
    cells
}

/// The run of a solver under a rule.
fn of<'a>(
    figures: &'a [(SolverConfig, RunFigures)],
    solver: &str,
    rule: StoppingRule,
) -> Option<(&'a str, &'a RunFigures)> {
    let found = figures.iter().find(|(c, _)| c.solver == solver && c.rule == rule);
    found.map(|(config, figures)| (config.solver, figures))
}

/// The errors that remain with the paper's rule, and the time of each solver to the same error.
fn remaining_errors(
    scene: &ManipulationScene,
    figures: &[(SolverConfig, RunFigures)],
) -> Option<String> {
    let list = |rule: StoppingRule, text: &dyn Fn(&RunFigures) -> String| {
        let all = BY_CHANGE.iter().filter_map(|solver| of(figures, solver, rule));
        all.map(|(solver, f)| format!("{solver} {}", text(f))).collect::<Vec<_>>().join(", ")
    };
    let [paper, ours] = [StoppingRule::Paper(scene.theta), StoppingRule::Residual(scene.theta)];
    let left = list(paper, &|f| SheetCell::from(f.residual).text());
    let cost = list(ours, &|f| format!("{} ms", SheetCell::from(1e3 * f.solve).text()));
    let whole = !left.is_empty() && !cost.is_empty();
    whole.then(|| {
        let (paper, ours) = (paper.text(), ours.text());
        format!("With the rule {paper}, r ends at: {left}. Time to {ours}: {cost}.")
    })
}

/// The cost of an iteration and of the preparation, here and in the paper; explains the ratios of times.
fn cost_of_iterations(
    scene: &ManipulationScene,
    published: &[Published],
    figures: &[(SolverConfig, RunFigures)],
) -> Option<String> {
    let mut parts = Vec::new();
    for (solver, [_, _, _, st, preparation, iterations]) in published {
        let Some((name, found)) =
            of(figures, &solver.to_lowercase(), StoppingRule::Paper(scene.theta))
        else {
            continue;
        };
        let finite = |x: f64| if x.is_finite() { x } else { 0.0 };
        let theirs = (st - finite(*preparation)) / iterations;
        let ours = 1e3 * (found.solve - finite(found.preparation)) / found.iterations.max(1.0);
        let [ours, theirs] = [ours, theirs].map(|x| SheetCell::from(x).text());
        let mut part = format!("{name} {ours} ms (paper {theirs})");
        if found.preparation.is_finite() && preparation.is_finite() {
            let [ours, theirs] =
                [1e3 * found.preparation, *preparation].map(|x| SheetCell::from(x).text());
            part += &format!(" after {ours} ms of preparation (paper {theirs})");
        }
        parts.push(part);
    }
    (!parts.is_empty())
        .then(|| format!("Time of an iteration with the rule θ: {}.", parts.join(", ")))
}

/// Penetration and force over time, as in the paper's figures beside the tables.
fn figure(title: &str, found: &[(SolverConfig, RunFigures)]) -> Figure {
    let time = || Axis::linear("simulated time [s]");
    let mut depth = Panel::new(time(), Axis::log("penetration [mm]"));
    let mut force = Panel::new(time(), Axis::linear("force [N]"));
    for (config, figures) in found {
        let curve: &[CurvePoint] = &figures.curve;
        let deep: Vec<_> = curve.iter().map(|p| (p.time, 1e3 * p.penetration)).collect();
        let strong: Vec<_> = curve.iter().map(|p| (p.time, p.force)).collect();
        depth = depth.series(Series::line(config.label(), deep));
        force = force.series(Series::line(config.label(), strong));
    }
    Figure::new(title).subtitle("first draw").panel(depth).panel(force)
}
