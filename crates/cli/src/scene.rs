//! The scene of a command: a scenario or a model file, with the settings of the command line.

use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use stiction_scene::import::Options;
use stiction_scene::{FORMATS, Imported, Scene, SceneError, SceneRun, load_with};
use stiction_sim::{SOLVER_PREFIX, SettingsError, StepReport};
use stiction_solve::setting::{SettingError, SettingValue};
use stiction_study::{NoSteps, RunLength, SCENARIOS, Scenario, SceneSource, StudyError};

use crate::args::{ImportArgs, SceneArgs};
use crate::error::CommandError;
use crate::model_files::model_files;

/// File name extensions of contact problems.
const PROBLEM_EXTENSIONS: [&str; 3] = ["h5", "hdf5", "npz"];

/// The scene at its start.
pub fn start(args: &SceneArgs) -> Result<SceneRun, CommandError> {
    Ok(open(args)?.0.start()?)
}

/// The scene, and the model if it comes from a file.
pub fn open(args: &SceneArgs) -> Result<(Scene, Option<Imported>), CommandError> {
    let scenario = SCENARIOS.iter().find(|entry| entry.name == args.target);
    let source = match scenario {
        Some(entry) => of_scenario(entry, args)?,
        None => of_file(args)?,
    };
    let (mut scene, imported) = source.open().map_err(|error| match error {
        StudyError::Scene(SceneError::Settings(SettingsError::Setting(
            SettingError::UnknownKey { found, known, .. },
        ))) => unknown_setting(found, &known, scenario),
        StudyError::Scene(error) => error.into(),
        error => error.into(),
    })?;
    // After the solver is selected, which drops the settings of another one.
    let own: Vec<_> = args.set.iter().filter(|(key, _)| is_of_solver(key)).collect();
    let own: Vec<_> =
        own.iter().map(|(key, value)| (key, SettingValue::Text(value.clone()))).collect();
    let own = own.iter().map(|(key, value)| (key.as_str(), value));
    scene.settings.set_with_solver(args.solver.as_deref(), own).map_err(SceneError::from)?;
    if let Some(time_step) = args.time_step {
        scene.settings.time_step = time_step;
    }
    Ok((scene, imported))
}

/// Whether a key of `--set` is a setting of the solver.
fn is_of_solver(key: &str) -> bool {
    key.starts_with(SOLVER_PREFIX)
}

/// The values of `--set` that are not settings of the solver.
fn set_before_solver(args: &SceneArgs) -> Vec<(String, String)> {
    args.set.iter().filter(|(key, _)| !is_of_solver(key)).cloned().collect()
}

/// Number of steps of a run, at least one.
pub fn steps(steps: Option<u64>, time: Option<f64>, scene: &Scene) -> Result<usize, CommandError> {
    let steps = steps.map(|steps| usize::try_from(steps).unwrap_or(usize::MAX));
    let length = RunLength::of(steps, time);
    length.steps(scene.duration, scene.settings.time_step).map_err(|NoSteps { time, time_step }| {
        CommandError::Option {
            option: "--time".to_owned(),
            found: format!("{time} s"),
            expected: format!("at least one time step of {time_step} s"),
        }
    })
}

fn unknown_setting(found: String, known: &str, scenario: Option<&Scenario>) -> CommandError {
    let expected = match scenario {
        None => format!("a setting ({known})"),
        Some(entry) => {
            let own: Vec<&str> = entry.parameters.iter().map(|p| p.name).collect();
            let (name, own) = (entry.name, own.join(", "));
            format!("a parameter of {name} ({own}) or a setting ({known})")
        }
    };
    CommandError::Option { option: "--set".to_owned(), found, expected }
}

fn of_scenario(entry: &Scenario, args: &SceneArgs) -> Result<SceneSource, CommandError> {
    let import = &args.import;
    let for_files = [
        ("--keyframe", args.keyframe.is_some()),
        ("--floating-base", import.floating_base),
        ("--merge-fixed", import.merge_fixed),
        ("--package-path", !import.package_path.is_empty()),
        ("--rigid-contact", import.rigid_contact),
        ("--soft-defaults", import.soft_defaults),
    ];
    if let Some((option, _)) = for_files.iter().find(|(_, given)| *given) {
        return Err(CommandError::Option {
            option: (*option).to_owned(),
            found: format!("the scenario {}", entry.name),
            expected: "a model file".to_owned(),
        });
    }
    Ok(SceneSource::Scenario { name: entry.name.to_owned(), set: set_before_solver(args) })
}

fn of_file(args: &SceneArgs) -> Result<SceneSource, CommandError> {
    let path = Path::new(&args.target);
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let target = args.target.clone();
    if PROBLEM_EXTENSIONS.contains(&ending) {
        return Err(CommandError::ProblemAsScene { target, endings: model_extensions() });
    }
    if !path.exists() && !is_model(ending) {
        let names: Vec<&str> = SCENARIOS.iter().map(|entry| entry.name).collect();
        let (endings, known) = (model_extensions(), names.join(", "));
        return Err(CommandError::NoSuchScene { target, endings, known });
    }
    Ok(SceneSource::Files {
        files: model_files(),
        path: path.to_owned(),
        options: import_options(&args.import),
        keyframe: args.keyframe.clone(),
        set: set_before_solver(args),
    })
}

/// Loads a model file with the import options of the command line.
pub fn load(path: &Path, args: &ImportArgs) -> Result<Imported, SceneError> {
    load_with(model_files(), path, &import_options(args))
}

fn import_options(args: &ImportArgs) -> Options {
    Options {
        floating_base: args.floating_base,
        merge_fixed: args.merge_fixed,
        package_paths: args.package_path.clone(),
        soft_contact: !args.rigid_contact,
        soft_defaults: args.soft_defaults,
    }
}

fn is_model(ending: &str) -> bool {
    FORMATS.iter().any(|format| format.extensions.contains(&ending))
}

/// File name extensions of model files, for messages.
fn model_extensions() -> String {
    let all = FORMATS.iter().flat_map(|format| format.extensions);
    all.map(|ending| format!(".{ending}")).collect::<Vec<_>>().join(", ")
}

/// Progress bar of a run: simulated time, steps per second, real-time factor, and the residual of the
/// last step [m/s]. Hidden when standard error is no terminal.
pub struct Progress {
    bar: ProgressBar,
    steps: usize,
    /// Steps completed before the run was resumed.
    first: usize,
    time_step: f64,
    begin: Instant,
    shown: Duration,
}

/// Time between two updates of the bar.
const REFRESH_INTERVAL: Duration = Duration::from_millis(100);

impl Progress {
    /// The bar of a new run.
    pub fn new(steps: usize, time_step: f64) -> Self {
        Self::after(0, steps, time_step)
    }

    /// The bar of a resumed run whose first `first` steps are done.
    pub fn after(first: usize, steps: usize, time_step: f64) -> Self {
        let bar = ProgressBar::new(steps as u64).with_position(first as u64);
        if let Ok(style) =
            ProgressStyle::with_template("{bar:8} {percent:>3} % {wide_msg} {eta:>3}")
        {
            bar.set_style(style);
        }
        bar.reset_eta();
        Self { bar, steps, first, time_step, begin: Instant::now(), shown: Duration::ZERO }
    }

    /// Shows a step, at most once per refresh interval.
    pub fn show(&mut self, step: usize, report: &StepReport) {
        let elapsed = self.begin.elapsed();
        if self.bar.is_hidden() || elapsed < self.shown + REFRESH_INTERVAL {
            return;
        }
        self.shown = elapsed;
        let [time, end] = [step, self.steps].map(|step| self.time_step * step as f64);
        let rate = (step - self.first) as f64 / elapsed.as_secs_f64();
        let factor = self.time_step * rate;
        let residual = report.residuals.of(report.friction_model);
        self.bar.set_position(step as u64);
        self.bar.set_message(format!(
            "{time:.2}/{end:.2} s, {rate:.0} steps/s, {factor:.2} × real time, residual {residual:.1e}"
        ));
    }

    /// Hides the bar while `work` writes to standard error.
    pub fn suspend(&self, work: impl FnOnce()) {
        self.bar.suspend(work);
    }

    /// Removes the bar.
    pub fn end(self) {
        self.bar.finish_and_clear();
    }
}
