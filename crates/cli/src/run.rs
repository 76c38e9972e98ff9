//! `stiction run`: simulates a scene, measures each step and evaluates the scene's own check. A run
//! can be recorded, interrupted, and resumed later.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use stiction_scene::Imported;
use stiction_sim::Checkpoint;
use stiction_view::{ExportContent, PictureOptions, ViewError, exporter_for};

use crate::args::RunArgs;
use crate::chart::Chart;
use crate::error::CommandError;
use crate::run_outputs::{RecordingFiles, RunOutputs, WrittenRecording, fingerprint_of};
use crate::scene::{Progress, open, steps};
use crate::{CommandOutcome, files, interrupt, list, saved_call, summary, terminal, threads};

/// Runs the command.
pub fn run(call: &RunArgs) -> Result<CommandOutcome, CommandError> {
    let (resumed, stored_args) = match &call.resume {
        None => (None, None),
        Some(path) => {
            let wrong = |source| CommandError::Checkpoint { path: path.clone(), source };
            let found = Checkpoint::from_bytes(&files::read(path)?).map_err(wrong)?;
            let args = saved_call::from_words(&found.recipe, call, path)?;
            (Some(found), Some(args))
        }
    };
    let args = stored_args.as_ref().unwrap_or(call);
    if let Some(path) = &args.chart {
        files::check_writable(path)?;
    }
    // Wrong outputs are refused before a large model is read.
    RecordingFiles::prepare(
        &args.record,
        args.picture.as_ref().filter(|_| !args.record.is_empty()),
    )?;
    let (scene, imported) = open(&args.scene)?;
    let args = &with_record_options_of(imported.as_ref(), args)?;
    let outputs = RecordingFiles::prepare(&args.record, args.picture.as_ref())?;
    let steps = steps(args.steps, args.time, &scene)?;
    let mut scene_run = scene.start()?;
    if let (Some(found), Some(path)) = (&resumed, &call.resume) {
        let wrong = |source| CommandError::Checkpoint { path: path.clone(), source };
        let present = fingerprint_of(&scene_run.simulation, imported.as_ref());
        found.belongs_to(present).map_err(wrong)?;
        scene_run.simulation.restore(&found.snapshot).map_err(|error| wrong(error.into()))?;
    }
    let done = resumed.as_ref().map_or(0, |found| found.step as usize).min(steps);
    let scene = (&scene_run.simulation, imported.as_ref());
    let extent = (resumed.as_ref(), steps);
    let mut run_outputs = RunOutputs::begin(args, outputs, scene, extent)?;
    let time_step = scene_run.simulation.settings().time_step;
    let mut progress = Progress::after(done, steps, time_step);
    let mut chart = Chart::default();
    interrupt::install_handlers();
    let found = threads::run_in_pool(args.scene.threads, || {
        stiction_study::run_observed(
            &args.scene.target,
            &mut scene_run,
            done..steps,
            |step, simulation, report| {
                progress.show(step, report);
                run_outputs.observe(step, simulation, report, |text| {
                    progress.suspend(|| terminal::warn(text));
                });
                if args.chart.is_some() {
                    chart.add(step as f64 * time_step, report);
                }
                match interrupt::requested() && step < steps {
                    true => ControlFlow::Break("a stop was requested".to_owned()),
                    false => ControlFlow::Continue(()),
                }
            },
        )
    })?;
    progress.end();
    let found = match found {
        Ok(mut found) => {
            found.judge_steps();
            found
        }
        Err(error) => {
            run_outputs.discard();
            return Err(error.into());
        }
    };
    let last = done + found.steps;
    let stopped = last < steps && interrupt::requested();
    let (written, error) = run_outputs.finish(last, &scene_run.simulation, !stopped);
    if let Some(path) = &args.chart {
        let figure = chart.figure(&args.scene.target, &scene_run.simulation.settings().solver);
        figure.write(path).map_err(|source| CommandError::Write { path: path.clone(), source })?;
    }
    let text = if args.json {
        let mut document = found.json();
        document["settings"] = list::json_settings(scene_run.simulation.settings());
        document["recordings"] = written.iter().map(WrittenRecording::json).collect::<Value>();
        if let Some(resumed) = &resumed {
            document["resumed"] =
                json!({"step": resumed.step, "time": resumed.snapshot.state.time});
        }
        format!("{document:#}\n")
    } else {
        let mut text = summary::text(&found, &scene_run.simulation.notes(), terminal::colours());
        text.extend(written.iter().map(WrittenRecording::text));
        if let Some(path) = args.checkpoint.as_ref().filter(|_| stopped) {
            text += &format!("to continue: stiction run --resume {}\n", path.display());
        }
        text
    };
    terminal::print(&text)?;
    match error {
        Some(error) => Err(error),
        None if stopped => Ok(CommandOutcome::Interrupted),
        None => Ok(found.check.passed.into()),
    }
}

/// The arguments, completed by the table `[record]` of the scene file.
fn with_record_options_of(
    imported: Option<&Imported>,
    args: &RunArgs,
) -> Result<RunArgs, CommandError> {
    let mut args = args.clone();
    let Some(wishes) = imported.and_then(|imported| imported.record.as_ref()) else {
        return Ok(args);
    };
    let wrong = |source: ViewError| CommandError::Scene(wishes.wrong(&source));
    if args.record.is_empty() && !args.no_record {
        args.record = wishes.files.iter().map(PathBuf::from).collect();
        for path in &args.record {
            exporter_for(path).map_err(wrong)?;
            files::check_inside(Path::new(""), path)?;
        }
    }
    if args.picture.is_none() && !args.record.is_empty() {
        let is_picture = |path: &PathBuf| {
            exporter_for(path).is_ok_and(|s| s.content != ExportContent::Everything)
        };
        let shot: Option<PictureOptions> =
            wishes.picture.as_ref().map(|text| text.parse()).transpose().map_err(wrong)?;
        args.picture = shot.filter(|_| args.record.iter().any(is_picture));
    }
    args.fps = args.fps.or(wishes.fps);
    Ok(args)
}
