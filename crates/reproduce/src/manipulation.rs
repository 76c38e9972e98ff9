//! Tables II, III, V and VI: the manipulation scenes under COND, PGS and APGD [Lee23, Sec. V-C], and
//! under the house's solvers of full accuracy.

use stiction_plot::{Axis, Figure, Panel, Series};

use crate::contender::{Contender, Rule};
use crate::error::ReproduceError;
use crate::observe::{Figures, Point, observe};
use crate::scene::{BALL, CABLE, GRIPPER, MAT, ManipulationScene};
use crate::{Cell, Effort, Outcome, Sheet, Source};

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

/// Solvers that know the paper's rule, and those that stop by the yardstick.
const BY_CHANGE: [&str; 3] = ["cond", "pgs", "apgd"];
const BY_YARDSTICK: [&str; 5] = ["cond", "pgs", "apgd", "sap", "alm"];
/// A tolerance far below the paper's, at which its three solvers are compared on the mat once more.
const FINE: f64 = 1e-6;

/// Table II.
pub fn mat(effort: &Effort<'_>) -> Result<Outcome, ReproduceError> {
    let outcome = table("Table II: soft mat folded by an arm", &MAT, &MAT_ROWS, effort)?;
    Ok(outcome.remark(
        "The paper's mat has 1,477 nodes and 4,100 tetrahedra, ours 1,480 and 4,104; its size, density \
         and the motion of the hand are not published.",
    ))
}

/// Table III.
pub fn ball(effort: &Effort<'_>) -> Result<Outcome, ReproduceError> {
    let outcome = table("Table III: soft ball in a gripper", &BALL, &BALL_ROWS, effort)?;
    Ok(outcome.remark(
        "The paper's ball has 1,463 nodes and 6,928 tetrahedra; the gripper's shape and its forces are \
         not published.",
    ))
}

/// Table V.
pub fn cable(effort: &Effort<'_>) -> Result<Outcome, ReproduceError> {
    let outcome = table("Table V: cable wound around a cylinder", &CABLE, &CABLE_ROWS, effort)?;
    let way = if CABLE.is_recorded(effort) {
        "The hand follows the recorded trajectory of the paper."
    } else {
        "The hand follows a computed winding; with STICTION_SHARED set it follows the recorded one."
    };
    Ok(outcome.remark(way).remark(
        "The paper's FE is the distance from a real experiment, mostly the gap between model and world; \
         ours is the error of the solver against the converged solution of the same step.",
    ))
}

/// Table VI.
pub fn gripper(effort: &Effort<'_>) -> Result<Outcome, ReproduceError> {
    let outcome =
        table("Table VI: soft gripper and a rigid part", &GRIPPER, &GRIPPER_ROWS, effort)?;
    Ok(outcome.remark(
        "The paper's FE and DE are distances from a real experiment; ours is the error of the contact \
         forces on the part against the converged solution of the same step. DE, the distance of markers \
         on the real gripper (1.898 mm for COND, 1.895 for PGS), has no counterpart.",
    ))
}

/// Contenders under both rules; COND is the first of each.
fn contenders(scene: &ManipulationScene) -> Vec<Contender> {
    let paper = BY_CHANGE.map(|solver| Contender::new(solver, Rule::Paper(scene.theta)));
    let ours = BY_YARDSTICK.map(|solver| Contender::new(solver, Rule::Residual(scene.theta)));
    let fine = BY_CHANGE.map(|solver| Contender::new(solver, Rule::Residual(FINE)));
    let fine = fine.into_iter().filter(|_| scene.scenario == MAT.scenario);
    paper.into_iter().chain(ours).chain(fine).collect()
}

fn table(
    title: &str,
    scene: &ManipulationScene,
    published: &[Published],
    effort: &Effort<'_>,
) -> Result<Outcome, ReproduceError> {
    let mut sheet = Sheet::new(
        title,
        &[
            "solver",
            "stops at",
            "MP [mm]",
            scene.measure.error(),
            "DT [ms]",
            "ST [ms]",
            "of it preparing [ms]",
            "IN",
            "r [-]",
            "met",
        ],
    );
    for (solver, numbers) in published {
        let [mp, error, dt, st, preparation, iterations] = *numbers;
        let rule = Rule::Paper(scene.theta).text();
        let mut cells: Vec<Cell> = vec![(*solver).into(), rule.into()];
        cells.extend([mp, error, dt, st, preparation, iterations].map(Cell::from));
        cells.extend([NONE.into(), "".into()]);
        sheet.row(Source::Paper, cells);
    }
    let mut ratios = Sheet::new("ST relative to COND", &["solver", "stops at", "ratio [-]"]);
    let fastest = published.first().map_or(NONE, |row| row.1[3]);
    for (solver, numbers) in published.iter().skip(1) {
        let rule = Rule::Paper(scene.theta).text();
        let row: [Cell; 3] = [(*solver).into(), rule.into(), (numbers[3] / fastest).into()];
        ratios.row(Source::Paper, row);
    }
    let mut of_cond: Vec<(Rule, f64)> = Vec::new();
    let all = contenders(scene);
    let count = all.len() * effort.trials.max(1);
    let mut remarks = Vec::new();
    let mut figures: Vec<(Contender, Figures)> = Vec::new();
    for (k, contender) in all.iter().enumerate() {
        let mut runs = Vec::new();
        for trial in 0..effort.trials.max(1) {
            if (effort.stop)() {
                break;
            }
            let done = (k * effort.trials.max(1) + trial) as f64 / count as f64;
            (effort.tell)(done, &format!("{}, {}", scene.scenario, contender.label()));
            runs.push(observe(scene, effort, trial + 1, &[], contender)?);
        }
        if runs.is_empty() {
            break;
        }
        let found = Figures::over(&runs);
        sheet.row(Source::Ours, cells(contender, &found));
        match of_cond.iter().find(|(rule, _)| *rule == contender.rule) {
            Some((rule, cond)) => {
                let ratio = found.solve / cond;
                let row: [Cell; 3] = [contender.solver.into(), rule.text().into(), ratio.into()];
                ratios.row(Source::Ours, row);
            }
            None => of_cond.push((contender.rule, found.solve)),
        }
        remarks.extend(found.cautions(&contender.label()));
        figures.push((contender.clone(), found));
    }
    remarks.extend(figures.first().map(|(contender, found)| {
        let contacts = Cell::from(found.contacts).text();
        format!("Contacts, on average: {contacts} ({}).", contender.label())
    }));
    remarks.extend(left_undone(scene, &figures));
    remarks.extend(cost_of_iterations(scene, published, &figures));
    remarks.push(
        "IE and FE: error of the norm of the force against the same step solved to the end with exact \
         friction, every tenth step. Solvers with convex friction (apgd, sap) carry the error of their \
         model. DT: kinematics, collision, dynamics and assembly. r: the larger of the violation of the \
         laws and of the error of momentum, relative, mean over steps; met: steps in which r is at most \
         the number that the paper sets for θ. MP is found where a step begins."
            .to_owned(),
    );
    remarks.push(
        "θ is a change per iteration, no error: what is left is about θ/(1 − ρ) for a contraction ρ, so \
         that a slow iteration stops early."
            .to_owned(),
    );
    remarks.push(
        "By θ, COND keeps the compliance 1/k_v of virtual nodes, compensated only by the impulses of the step \
         before; by r it is compensated within the solve. θ adds up velocities of all kinds, metres and \
         radians per second and those of virtual nodes; how the paper scales them is not published."
            .to_owned(),
    );
    remarks.push(
        "Times are CPU times of this machine, the paper's are wall times of four cores of another. Ours \
         factors A with supernodes, the paper's (SimplicialLLT) without: PGS and APGD, which solve \
         with A, gain from it, COND does not. By θ, PGS and APGD are those of the paper (W by one solve \
         with A per row); by r they are the house's, which reduce a problem to the velocities \
         that take part where that pays."
            .to_owned(),
    );
    Ok(Outcome { sheets: vec![sheet, ratios], figures: vec![figure(title, &figures)], remarks })
}

/// One of our rows.
fn cells(contender: &Contender, found: &Figures) -> Vec<Cell> {
    let numbers = [
        1e3 * found.penetration,
        1e3 * found.error,
        1e3 * found.dynamics,
        1e3 * found.solve,
        1e3 * found.preparation,
        found.iterations,
        found.residual,
    ];
    let mut cells: Vec<Cell> = vec![contender.solver.into(), contender.rule.text().into()];
    cells.extend(numbers.map(Cell::from));
    cells.push(found.share_met().into());
    cells
}

/// The run of a solver under a rule.
fn of<'a>(
    figures: &'a [(Contender, Figures)],
    solver: &str,
    rule: Rule,
) -> Option<(&'a str, &'a Figures)> {
    let found = figures.iter().find(|(c, _)| c.solver == solver && c.rule == rule);
    found.map(|(contender, figures)| (contender.solver, figures))
}

/// What the paper's rule leaves undone, and what the same error costs each solver.
fn left_undone(scene: &ManipulationScene, figures: &[(Contender, Figures)]) -> Option<String> {
    let list = |rule: Rule, text: &dyn Fn(&Figures) -> String| {
        let all = BY_CHANGE.iter().filter_map(|solver| of(figures, solver, rule));
        all.map(|(solver, f)| format!("{solver} {}", text(f))).collect::<Vec<_>>().join(", ")
    };
    let [paper, ours] = [Rule::Paper(scene.theta), Rule::Residual(scene.theta)];
    let left = list(paper, &|f| Cell::from(f.residual).text());
    let cost = list(ours, &|f| format!("{} ms", Cell::from(1e3 * f.solve).text()));
    let whole = !left.is_empty() && !cost.is_empty();
    whole.then(|| {
        let (paper, ours) = (paper.text(), ours.text());
        format!("Where {paper} ends them, r is: {left}. To {ours} they take: {cost}.")
    })
}

/// Why the ratios of times differ: what an iteration and a preparation cost here and in the paper.
fn cost_of_iterations(
    scene: &ManipulationScene,
    published: &[Published],
    figures: &[(Contender, Figures)],
) -> Option<String> {
    let mut parts = Vec::new();
    for (solver, [_, _, _, st, preparation, iterations]) in published {
        let Some((name, found)) = of(figures, &solver.to_lowercase(), Rule::Paper(scene.theta))
        else {
            continue;
        };
        let finite = |x: f64| if x.is_finite() { x } else { 0.0 };
        let theirs = (st - finite(*preparation)) / iterations;
        let ours = 1e3 * (found.solve - finite(found.preparation)) / found.iterations.max(1.0);
        let [ours, theirs] = [ours, theirs].map(|x| Cell::from(x).text());
        let mut part = format!("{name} {ours} ms (paper {theirs})");
        if found.preparation.is_finite() && preparation.is_finite() {
            let [ours, theirs] =
                [1e3 * found.preparation, *preparation].map(|x| Cell::from(x).text());
            part += &format!(" after {ours} ms of preparing (paper {theirs})");
        }
        parts.push(part);
    }
    (!parts.is_empty()).then(|| format!("An iteration by θ takes: {}.", parts.join(", ")))
}

/// Penetration and force over time, as in the paper's figures beside the tables.
fn figure(title: &str, found: &[(Contender, Figures)]) -> Figure {
    let time = || Axis::linear("simulated time [s]");
    let mut depth = Panel::new(time(), Axis::log("penetration [mm]"));
    let mut force = Panel::new(time(), Axis::linear("force [N]"));
    for (contender, figures) in found {
        let curve: &[Point] = &figures.curve;
        let deep: Vec<_> = curve.iter().map(|p| (p.time, 1e3 * p.penetration)).collect();
        let strong: Vec<_> = curve.iter().map(|p| (p.time, p.force)).collect();
        depth = depth.series(Series::line(contender.label(), deep));
        force = force.series(Series::line(contender.label(), strong));
    }
    Figure::new(title).subtitle("first draw").panel(depth).panel(force)
}
