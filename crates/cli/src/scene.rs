//! The scene of a call: a scenario with everything that the call changes in it.

use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use stiction_scene::{Act, GALLERY, SceneError, scenario};
use stiction_sim::{SettingsError, StepReport};

use crate::args::SceneArgs;
use crate::error::CommandError;

/// Endings of files that hold models or problems, here or elsewhere.
const FILE_ENDINGS: [&str; 6] = ["h5", "hdf5", "npz", "toml", "urdf", "xml"];

/// The scene at its start.
pub fn start(args: &SceneArgs) -> Result<Act, CommandError> {
    let entry = GALLERY.iter().find(|entry| entry.name == args.target);
    if entry.is_none() && is_file(&args.target) {
        let names: Vec<&str> = GALLERY.iter().map(|entry| entry.name).collect();
        let (target, known) = (args.target.clone(), names.join(", "));
        return Err(CommandError::FileAsScene { target, known });
    }
    let mut stage = scenario(&args.target, &args.set).map_err(|error| match (error, entry) {
        (SceneError::Settings(SettingsError::Unknown { key, known }), Some(entry)) => {
            let own: Vec<&str> = entry.parameters.iter().map(|p| p.name).collect();
            CommandError::Option {
                option: "--set".to_owned(),
                found: key,
                expected: format!(
                    "a parameter of {} ({}) or a setting of the step ({known})",
                    entry.name,
                    own.join(", ")
                ),
            }
        }
        (error, _) => error.into(),
    })?;
    if let Some(solver) = &args.solver {
        stage.settings.solver.clone_from(solver);
        // What the scenario sets is meant for its own solver; what the call sets is for this one.
        let own = args.set.iter().filter_map(|(key, value)| {
            key.strip_prefix("solver.").map(|key| (key.to_owned(), value.clone()))
        });
        stage.settings.solver_settings = own.collect();
    }
    if let Some(time_step) = args.time_step {
        stage.settings.time_step = time_step;
    }
    Ok(stage.start()?)
}

fn is_file(target: &str) -> bool {
    let path = Path::new(target);
    let ending = path.extension().and_then(|ending| ending.to_str());
    path.exists() || ending.is_some_and(|ending| FILE_ENDINGS.contains(&ending))
}

/// A bar over steps: simulated time, its ratio to real time, and the residual of the last step. It
/// hides itself when standard error is no terminal.
pub struct Progress {
    bar: ProgressBar,
    time_step: f64,
    begin: Instant,
    shown: Duration,
}

/// Time between two looks of the bar.
const REFRESH: Duration = Duration::from_millis(100);

impl Progress {
    /// A bar that has not moved.
    pub fn new(steps: usize, time_step: f64) -> Self {
        let bar = ProgressBar::new(steps as u64);
        if let Ok(style) = ProgressStyle::with_template("{bar:24} {percent:>3} % {msg} (eta {eta})")
        {
            bar.set_style(style);
        }
        Self { bar, time_step, begin: Instant::now(), shown: Duration::ZERO }
    }

    /// Shows a step, if it is time to.
    pub fn show(&mut self, step: usize, report: &StepReport) {
        let elapsed = self.begin.elapsed();
        if self.bar.is_hidden() || elapsed < self.shown + REFRESH {
            return;
        }
        self.shown = elapsed;
        let time = self.time_step * step as f64;
        let factor = time / elapsed.as_secs_f64();
        let residual = report.residuals.of(report.friction_model);
        self.bar.set_position(step as u64);
        self.bar.set_message(format!(
            "t = {time:.2} s, {factor:.2} × real time, residual {residual:.1e} m/s"
        ));
    }

    /// Takes the bar away.
    pub fn end(self) {
        self.bar.finish_and_clear();
    }
}
