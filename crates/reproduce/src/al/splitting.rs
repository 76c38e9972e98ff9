//! Table III: time and residual of a hundred iterations of ADMM with and without splitting, on dropped quadrupeds.

use stiction_solve::Problem;
use stiction_study::scenario;
use stiction_study::scenarios::robots::quadruped;

use super::{cases, digits, endless, slack, solve_cold};
use crate::clock::cpu_seconds;
use crate::error::ReproduceError;
use crate::statistics::{mean, median};
use crate::timed_solve;
use crate::{ExperimentOptions, ExperimentResult, RowSource, Sheet, SheetCell};

/// Time [ms] and digits with eight robots [Lee25, Table III].
const PUBLISHED: [(&str, [f64; 2]); 3] =
    [("subadmm", [0.435, 4.8802]), ("admm", [1.21, 4.8817]), ("admm-subsystem", [0.638, 4.8562])];
/// Gain over `admm` with 27 robots [Lee25, Sec. VII-D].
const GAIN_OF_27: f64 = 3.63;
/// A heap of robots.
#[derive(Clone, Copy)]
struct Heap {
    robots: usize,
    /// Largest torque of their servos [N·m]: with 1 N·m robots lie down on one another, with as many contacts as in the paper.
    torque: f64,
    /// Contacts from which on a step is a case.
    least: usize,
    /// Steps of the drop.
    steps: usize,
}

const HEAPS: [Heap; 4] = [
    Heap { robots: 8, torque: 1.0, least: 64, steps: 600 },
    Heap { robots: 27, torque: 1.0, least: 216, steps: 600 },
    Heap { robots: 8, torque: quadruped::TORQUE, least: 8, steps: 300 },
    Heap { robots: 27, torque: quadruped::TORQUE, least: 27, steps: 300 },
];
const ITERATIONS: usize = 100;
/// Every which step may be a case.
const EVERY: usize = 10;

/// Runs the experiment.
pub fn run(options: &ExperimentOptions<'_>) -> Result<ExperimentResult, ReproduceError> {
    let mut sheet = Sheet::new(
        "Table III: a hundred iterations, wall time and −log₁₀ of the residual [N·s]",
        &[
            "solver",
            "robots",
            "torque [N·m]",
            "contacts",
            "time [ms]",
            "time over subadmm [-]",
            "digits",
            "cases",
        ],
    );
    let (none, unknown) = (|| SheetCell::from(f64::NAN), || SheetCell::from("80–100"));
    for (solver, [ms, digits]) in PUBLISHED {
        let gain = ms / PUBLISHED[0].1[0];
        let row = [
            solver.into(),
            "8".into(),
            none(),
            unknown(),
            ms.into(),
            gain.into(),
            digits.into(),
            none(),
        ];
        sheet.row(RowSource::Paper, row);
    }
    let row =
        ["admm".into(), "27".into(), none(), none(), none(), GAIN_OF_27.into(), none(), none()];
    sheet.row(RowSource::Paper, row);
    let begin = cpu_seconds();
    let goal = endless(Some(ITERATIONS), options);
    let heaps = if options.quick { &HEAPS[..1] } else { &HEAPS[..] };
    for (k, heap) in heaps.iter().enumerate() {
        let Heap { robots, torque, .. } = *heap;
        let label = format!("{robots} robots with {torque} N·m");
        (options.report_progress)(k as f64 / heaps.len() as f64, &label);
        let problems = drop(*heap, options)?;
        let contacts = mean(problems.iter().map(|p| p.contacts() as f64));
        let mut of_subadmm = f64::NAN;
        for (solver, _) in PUBLISHED {
            let mut session = timed_solve::session(solver, &[])?;
            let mut found = Vec::new();
            for problem in &problems {
                if options.is_over(begin) {
                    break;
                }
                let report = solve_cold(&mut session, problem, &goal, options)?;
                found.push((1e3 * report.seconds, digits(slack(&report))));
            }
            let time = median(found.iter().map(|f| f.0));
            if solver == PUBLISHED[0].0 {
                of_subadmm = time;
            }
            let row: [SheetCell; 8] = [
                solver.into(),
                robots.to_string().into(),
                torque.into(),
                contacts.into(),
                time.into(),
                (time / of_subadmm).into(),
                mean(found.iter().map(|f| f.1)).into(),
                (found.len() as f64).into(),
            ];
            sheet.row(RowSource::Ours, row);
        }
    }
    let outcome = ExperimentResult { sheets: vec![sheet], ..ExperimentResult::default() };
    Ok(outcome
        .remark(
            "Robots of the scenario quadruped-heap with 18 velocities each while they land: with 1 N·m they lie down, with about as \
             many contacts as in the paper; with 45 N·m they stand. Every case from a cold start, its time the least of three, on \
             one thread: an iteration takes 6 to 30 µs, less than two threads need to meet twice. The paper's times use the \
             threads of its machine.",
        )
        .remark(
            "With few contacts ours gains less over the unsplit form because that is faster here: its matrix is factored by blocks \
             in an order of little fill-in. With many robots that lie on one another that matrix fills in, and the gain is larger than in the paper. Over \
             splitting by subsystem alone the gain is smaller than in the paper: a row on a link has 6 columns in place of 18, \
             which the velocities of the links, computed in every iteration, nearly outweigh.",
        )
        .remark(
            "ABA in place of a factor (Remark 1 of the paper) would do more work in each iteration, of the order of what a \
             factorization along the tree does once; penalties change a few times in a hundred iterations.",
        ))
}

/// Problems of the steps in which robots land, with enough contacts.
fn drop(
    Heap { robots, torque, least, steps }: Heap,
    options: &ExperimentOptions<'_>,
) -> Result<Vec<Problem>, ReproduceError> {
    let set = [("robots", robots.to_string()), ("torque", torque.to_string())];
    let set = set.map(|(key, value)| (key.to_owned(), value));
    let mut run = scenario("quadruped-heap", &set)?.start()?;
    let mut problems = Vec::new();
    for step in 0..steps {
        if (options.stop_requested)() {
            break;
        }
        if let Some(controller) = &mut run.controller {
            controller.control(&mut run.simulation);
        }
        if step % EVERY == 0 {
            let found = cases::problem_of(&mut run.simulation)?;
            problems.extend(found.filter(|problem| problem.contacts() >= least));
        }
        let _ = run.simulation.step().map_err(stiction_scene::SceneError::from)?;
    }
    Ok(problems)
}
