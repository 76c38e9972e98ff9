//! `stiction capture`: writes the contact problem of one step to a file.

use stiction_scene::{SceneError, SceneRun};
use stiction_solve::file::{Array, RawProblem, npz};

use crate::args::CaptureArgs;
use crate::error::CommandError;
use crate::numbers::count;
use crate::scene::{Progress, start};
use crate::{files, terminal, threads};

/// Key of the time step [s] in the file.
const TIME_STEP: &str = "dt";

/// Runs the command; always true.
pub fn run(args: &CaptureArgs) -> Result<bool, CommandError> {
    files::check_writable(&args.out)?;
    let mut scene_run = start(&args.scene)?;
    let found = threads::run_in_pool(args.scene.threads, || problem(&mut scene_run, args.at))?;
    let Some((raw, contacts)) = found? else {
        let target = args.scene.target.clone();
        return Err(CommandError::NothingToCapture { target, step: args.at });
    };
    npz::write(&args.out, &raw)?;
    let text = format!(
        "{}, step {}: {}, {}, {} of freedom; wrote {}\n",
        args.scene.target,
        args.at,
        count(contacts, "contact"),
        count(raw.m, "row"),
        count(raw.n, "degree"),
        args.out.display()
    );
    terminal::print(&text)?;
    Ok(true)
}

/// The contact problem of step number `at`, with its number of contacts.
fn problem(scene_run: &mut SceneRun, at: u64) -> Result<Option<(RawProblem, usize)>, SceneError> {
    let time_step = scene_run.simulation.settings().time_step;
    let before = usize::try_from(at - 1).unwrap_or(usize::MAX);
    let mut progress = Progress::new(before, time_step);
    for step in 1..=before {
        progress.show(step, &scene_run.step()?);
    }
    progress.end();
    if let Some(controller) = &mut scene_run.controller {
        controller.control(&mut scene_run.simulation);
    }
    let Some(problem) = scene_run.simulation.problem()? else { return Ok(None) };
    let mut raw = problem.to_raw();
    raw.extra.insert(TIME_STEP.to_owned(), Array::scalar_f64(time_step));
    Ok(Some((raw, problem.contacts())))
}
