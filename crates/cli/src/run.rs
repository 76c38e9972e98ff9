//! `stiction run`: simulate a scenario, measure it, and let its own check judge.

use stiction_scene::Act;

use crate::args::RunArgs;
use crate::chart::Chart;
use crate::error::CommandError;
use crate::scene::{Progress, start};
use crate::{summary, terminal, threads};

/// Does the work; true if the check passed.
pub fn run(args: &RunArgs) -> Result<bool, CommandError> {
    let mut act = start(&args.scene)?;
    let steps = steps(args, &act)?;
    let time_step = act.simulation.settings().time_step;
    let mut progress = Progress::new(steps, time_step);
    let mut chart = Chart::default();
    let found = threads::within(args.scene.threads, || {
        stiction_scene::run(&args.scene.target, &mut act, steps, |step, report| {
            progress.show(step, report);
            if args.chart.is_some() {
                chart.add(step as f64 * time_step, report);
            }
        })
    })?;
    progress.end();
    let found = found?;
    if let Some(path) = &args.chart {
        let figure = chart.figure(&args.scene.target, &act.simulation.settings().solver);
        figure.write(path).map_err(|source| CommandError::Write { path: path.clone(), source })?;
    }
    let text = if args.json {
        format!("{:#}\n", found.json())
    } else {
        summary::text(&found, &act.simulation.notes(), terminal::colours())
    };
    terminal::print(&text)?;
    Ok(found.check.passed)
}

/// Steps to do: at least one.
fn steps(args: &RunArgs, act: &Act) -> Result<usize, CommandError> {
    if let Some(steps) = args.steps {
        return Ok(usize::try_from(steps).unwrap_or(usize::MAX));
    }
    let time_step = act.simulation.settings().time_step;
    let time = args.time.unwrap_or(act.duration);
    match (time / time_step).round() as usize {
        0 => Err(CommandError::Option {
            option: "--time".to_owned(),
            found: format!("{time} s"),
            expected: format!("at least one time step of {time_step} s"),
        }),
        steps => Ok(steps),
    }
}
