//! Command-line arguments, with their help and ranges.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use stiction_sim::Settings;
use stiction_solve::FrictionModel;
use stiction_view::PictureOptions;
use stiction_view::picture_options::KEYS;

/// Simulate multibody systems with contact and dry friction, and compare contact solvers.
#[derive(Debug, Parser)]
#[command(name = "stiction", version, max_term_width = 100)]
pub struct Options {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write the contact problem of one step of a scene
    Capture(CaptureArgs),
    /// Run the same scene with several solvers and compare them
    Compare(CompareArgs),
    /// Show the contents of a model file and its unsupported features
    Inspect(InspectArgs),
    /// List solvers, settings, laws, scenarios, shapes, joints and more
    List(ListArgs),
    /// Rerun experiments of the papers and compare with the published numbers
    Reproduce(ReproduceArgs),
    /// Simulate a scenario or a model file and evaluate its physical check
    Run(Box<RunArgs>),
    /// Solve one contact problem with one or several solvers
    Solve(Box<SolveArgs>),
    /// Open a recording in the browser, or write it in another format
    View(ViewArgs),
}

/// Arguments of `list`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  stiction list                    everything, one line each
  stiction list solvers            solvers with their settings
  stiction list settings           settings of the simulation and of each solver
  stiction list scenarios          scenarios with their parameters
  stiction list problems --json    as one JSON document")]
pub struct ListArgs {
    /// What to list; everything if absent
    pub category: Option<Category>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// Categories of `list`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Category {
    /// Contact solvers with their settings
    Solvers,
    /// Constraint laws between velocity and impulse
    Laws,
    /// Problems of the catalogue
    Problems,
    /// Scenes that can be simulated
    Scenarios,
    /// Collision shapes
    Shapes,
    /// Joints of trees
    Joints,
    /// Equalities between bodies, joints and tendons
    Constraints,
    /// Sensors
    Sensors,
    /// File formats of models, meshes, contact problems and recordings
    Formats,
    /// Materials of soft bodies, with their parameters
    Materials,
    /// Elements and attributes of MJCF, and which of them are read
    Mjcf,
    /// Time-stepping schemes
    Schemes,
    /// Settings of the simulation and of each solver
    Settings,
}

/// Import options of model files.
#[derive(Clone, Debug, Args)]
pub struct ImportArgs {
    /// Let the base of a URDF robot move freely
    #[arg(long, help_heading = "Files")]
    pub floating_base: bool,

    /// Merge links of a URDF robot that are joined by fixed joints into one body
    #[arg(long, help_heading = "Files")]
    pub merge_fixed: bool,

    /// Look for `package://` names in this folder first; may be repeated
    #[arg(long, value_name = "FOLDER", help_heading = "Files")]
    pub package_path: Vec<PathBuf>,

    /// Make contacts of MJCF models rigid, whatever `solref` and `solimp` say
    #[arg(long, help_heading = "Files")]
    pub rigid_contact: bool,

    /// Make constraints of MJCF models soft also where `solref` and `solimp` are MuJoCo's defaults
    #[arg(long, help_heading = "Files")]
    pub soft_defaults: bool,
}

/// A scene and its settings.
#[derive(Clone, Debug, Args)]
pub struct SceneArgs {
    /// A scenario (`stiction list scenarios`) or a file: .xml MJCF, .urdf, .toml
    #[arg(value_name = "TARGET")]
    pub target: String,

    /// Begin from a keyframe of the file, by name or number, with its controls
    #[arg(long, value_name = "NAME", help_heading = "Files")]
    pub keyframe: Option<String>,

    /// Import options.
    #[command(flatten)]
    pub import: ImportArgs,

    /// Contact solver; the scene's own if absent
    #[arg(long, short, value_name = "NAME", help = setting_help("solver"))]
    pub solver: Option<String>,

    /// Time step [s]; the scene's own if absent
    #[arg(
        long,
        value_name = "SECONDS",
        value_parser = time_step,
        allow_hyphen_values = true,
        help = setting_help("time-step")
    )]
    pub time_step: Option<f64>,

    /// Threads to compute with; results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,

    /// Set a parameter of the scenario (`stiction list scenarios`) or a setting of the simulation
    /// (`stiction list settings`); may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    pub set: Vec<(String, String)>,
}

/// Arguments of `run`.
#[derive(Clone, Debug, Args)]
#[command(
    mut_arg("target", |target| target.required(false).required_unless_present("resume").default_value("")
        .hide_default_value(true)),
    after_help = format!("Exit status: 0 the run finished and its check passed, 1 the check failed, a step could not be made, or
more than {} % of the steps are problem_not_solved, correction_not_done or motion_not_resolved, 2 wrong
input or arguments, or an output could not be written, 130 interrupted by Ctrl-C or a termination
request; recorded frames are kept. The status of every step is counted in the report; docs/status.md
explains each.

Examples:
  stiction run clutter
  stiction run clutter --set bodies=80 --set walls=0 --time 2
  stiction run clutter --solver canal --time-step 0.002 --steps 500 --json
  stiction run clutter --set friction=0.5 --set sleep=true --threads 1
  stiction run clutter --solver alm --set tolerance=1e-10 --set solver.growth=5
  stiction run panda.xml --keyframe home --time 2
  stiction run pile.toml --chart pile.svg
  stiction run robot.urdf --floating-base --package-path ~/robots
  stiction run clutter --record clutter.html --record clutter.stiction --fps 30
  stiction run clutter --record end.png --picture size=1280x720,forces=on
  stiction run clutter --record impact.png --picture time=0.4,view=front,zoom=1.5
  stiction run clutter --record clutter.html --checkpoint clutter.checkpoint --every 0.5
  stiction run --resume clutter.checkpoint

During the run frames are appended to FILE.part, which `stiction view` opens even after a crash; at
the end FILE is written and FILE.part is removed. Without --record, the table [record] of a scene
file names the recordings. A resumed run continues with its own target, settings, recordings and
checkpoints (outputs outside the folder of the checkpoint must be named again), and --time and --steps count from its start; its check covers the steps after the
checkpoint, or is skipped if it depends on the start.

{}

{}", 100.0 * stiction_study::MAX_FAILED_SHARE, pictures(), settings())
)]
pub struct RunArgs {
    /// The scene.
    #[command(flatten)]
    pub scene: SceneArgs,

    /// Time to simulate [s]; the scene's own if absent
    #[arg(long, short, value_name = "SECONDS", value_parser = positive, allow_hyphen_values = true)]
    pub time: Option<f64>,

    /// Steps to simulate
    #[arg(long, value_name = "N", conflicts_with = "time", value_parser = clap::value_parser!(u64).range(1..))]
    pub steps: Option<u64>,

    /// Plot residual, penetration, contacts and cost over time
    #[arg(long, value_name = "FILE.svg", help_heading = "Output")]
    pub chart: Option<PathBuf>,

    /// Record the run to a file; its extension selects the format, .html is a page; may be repeated
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub record: Vec<PathBuf>,

    /// Options of pictures (.png, .gif, .mp4): KEY=VALUE,… (see below)
    #[arg(long, value_name = "KEY=VALUE,…", value_parser = shot, allow_hyphen_values = true, help_heading = "Output")]
    pub picture: Option<PictureOptions>,

    /// Record nothing, even if the scene has a table [record]
    #[arg(long, conflicts_with = "record", help_heading = "Output")]
    pub no_record: bool,

    /// Frames of a recording per second of simulated time
    #[arg(long, value_name = "N", value_parser = positive, allow_hyphen_values = true, help_heading = "Output")]
    pub fps: Option<f64>,

    /// Write checkpoints of the run to this file, to resume from
    #[arg(long, value_name = "FILE", help_heading = "Checkpoints")]
    pub checkpoint: Option<PathBuf>,

    /// Simulated time between two checkpoints [s]
    #[arg(
        long,
        value_name = "SECONDS",
        value_parser = positive,
        allow_hyphen_values = true,
        requires = "checkpoint",
        help_heading = "Checkpoints"
    )]
    pub every: Option<f64>,

    /// Resume a run from its checkpoint; the result is bit-identical to an uninterrupted run
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["target", "solver", "time_step", "set", "keyframe", "floating_base", "merge_fixed",
            "package_path", "rigid_contact", "soft_defaults"],
        help_heading = "Checkpoints"
    )]
    pub resume: Option<PathBuf>,

    /// Print one JSON document
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// Arguments of `view`.
#[derive(Debug, Args)]
#[command(
    after_help = format!("An incomplete recording opens up to its last complete chunk, also during the run.

Examples:
  stiction view run.html
  stiction view run.stiction
  stiction view run.html.part --no-open
  stiction view run.stiction --out run.html --out still.png
  stiction view run.stiction --out still.png --picture time=1.5,azimuth=30,elevation=20
  stiction view run.stiction --out detail.gif --picture look-at=0:0:0.1,distance=0.8,forces=on

{}", pictures())
)]
pub struct ViewArgs {
    /// A page (.html) or a recording (.stiction, .part)
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Write the recording to this file instead of opening it; its extension selects the format; may be
    /// repeated
    #[arg(long, short, value_name = "FILE")]
    pub out: Vec<PathBuf>,

    /// Options of pictures (.png, .gif, .mp4): KEY=VALUE,… (see below)
    #[arg(long, value_name = "KEY=VALUE,…", value_parser = shot, allow_hyphen_values = true, requires = "out")]
    pub picture: Option<PictureOptions>,

    /// Print the path of the page without opening it
    #[arg(long)]
    pub no_open: bool,
}

/// Arguments of `inspect`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 the file was read, with or without unsupported features; 2 it could not be read.

Examples:
  stiction inspect panda.xml
  stiction inspect robot.urdf --package-path ~/robots
  stiction inspect scene.toml --json"
)]
pub struct InspectArgs {
    /// A model file: .xml MJCF, .urdf, .toml
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Import options.
    #[command(flatten)]
    pub import: ImportArgs,

    /// Print one JSON document
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// Arguments of `capture`.
#[derive(Debug, Args)]
#[command(
    after_help = format!("The file holds the contact problem of the step: A, b, J and the laws. `stiction solve` reads it.

Examples:
  stiction capture clutter --at 60 --out impact.npz
  stiction solve impact.npz --solver alm,canal,subadmm --trace impact.svg
  stiction capture clutter --set bodies=80 --at 500 --out settled.npz

{}", settings())
)]
pub struct CaptureArgs {
    /// The scene.
    #[command(flatten)]
    pub scene: SceneArgs,

    /// The step, counted from one
    #[arg(long, value_name = "STEP", value_parser = clap::value_parser!(u64).range(1..))]
    pub at: u64,

    /// Where to write the problem
    #[arg(long, short, value_name = "FILE.npz")]
    pub out: PathBuf,
}

/// Arguments of `compare`.
#[derive(Debug, Args)]
#[command(
    after_help = format!("Each solver runs the whole scene from the same initial state. Representative steps of the first run
that finishes (the hardest impact, a typical step, one at rest) are then solved by every solver from
a cold start, with the residual over iterations and over time.

Exit status: 0 every solver finished, 1 some did not run or stopped early, 2 wrong input or
arguments, 130 interrupted by Ctrl-C; the results so far are reported.

Examples:
  stiction compare clutter --solvers sap,canal,subadmm,psor,pgs,apgd --report clutter.html
  stiction compare clutter --solvers alm,canal --steps 200 --set bodies=80 --json
  stiction compare pile.toml --solvers canal,pgs --set tolerance=1e-8 --set pgs.omega=0.8
  stiction compare panda.xml --solvers auto,sap --keyframe home --time 1 --report panda.html

{}", settings())
)]
pub struct CompareArgs {
    /// A scenario (`stiction list scenarios`) or a file: .xml MJCF, .urdf, .toml
    #[arg(value_name = "TARGET")]
    pub target: String,

    /// Solvers to compare, separated by commas (`stiction list solvers`)
    #[arg(long, short, value_name = "A,B,…", value_delimiter = ',', required = true)]
    pub solvers: Vec<String>,

    /// Time to simulate [s]; the scene's own if absent
    #[arg(long, short, value_name = "SECONDS", value_parser = positive, allow_hyphen_values = true)]
    pub time: Option<f64>,

    /// Steps to simulate
    #[arg(long, value_name = "N", conflicts_with = "time", value_parser = clap::value_parser!(u64).range(1..))]
    pub steps: Option<u64>,

    /// Time step [s]; the scene's own if absent
    #[arg(
        long,
        value_name = "SECONDS",
        value_parser = time_step,
        allow_hyphen_values = true,
        help = setting_help("time-step")
    )]
    pub time_step: Option<f64>,

    /// Threads to compute with; results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,

    /// Set a parameter of the scenario, a setting of the simulation, solver.KEY=VALUE of the solvers
    /// that have it, or NAME.KEY=VALUE of one solver; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    pub set: Vec<(String, String)>,

    /// Time limit of each solver on each captured step [s]
    #[arg(long, value_name = "SECONDS", value_parser = positive, allow_hyphen_values = true)]
    pub time_limit: Option<f64>,

    /// Begin from a keyframe of the file, by name or number, with its controls
    #[arg(long, value_name = "NAME", help_heading = "Files")]
    pub keyframe: Option<String>,

    /// Import options.
    #[command(flatten)]
    pub import: ImportArgs,

    /// Write a report with plots and the motion side by side, in one file that opens in any browser
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub report: Option<PathBuf>,

    /// Print one JSON document
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// Arguments of `reproduce`.
#[derive(Debug, Args)]
#[command(
    after_help = format!("Each experiment runs with the paper's stopping rule and with a residual-based one, and explains
differences from the published numbers. The whole collection takes hours; --quick uses smaller
meshes and shorter runs. The recorded motion of a robot's hand is read from the folder named by
STICTION_SHARED.

Exit status: 0 all experiments were run, 2 wrong input or arguments, 130 interrupted by Ctrl-C; the
results so far are reported.

Experiments:
{}
Examples:
  stiction reproduce cond-table-1
  stiction reproduce cond-table-2 --trials 1 --steps 60 --report mat.html
  stiction reproduce cond-fig-11 cond-table-9 --quick --json
  stiction reproduce al-fig-9 al-table-2 --report dishes.html
  stiction reproduce sap-fig-9 sap-fig-14 --report clutter.html
  stiction reproduce --quick --report all.html", experiments())
)]
pub struct ReproduceArgs {
    /// Experiments to run; all of them if absent
    #[arg(value_name = "EXPERIMENT")]
    pub experiments: Vec<String>,

    /// Random draws of material and friction per scene
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u16).range(1..))]
    pub trials: u16,

    /// Steps of each run; those of the scene if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub steps: Option<u32>,

    /// Smaller meshes and shorter runs, for a quick overview
    #[arg(long)]
    pub quick: bool,

    /// CPU time limit of each run [s]; figures then cover the steps so far
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = positive, allow_hyphen_values = true)]
    pub time_limit: f64,

    /// Threads to compute with; CPU times add up over them
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: u16,

    /// Write a report with tables and plots, in one file that opens in any browser; tables alone in
    /// Markdown if it ends in .md
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub report: Option<PathBuf>,

    /// Print one JSON document
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// Names and descriptions of the experiments.
fn experiments() -> String {
    let line = |e: &stiction_reproduce::Experiment| format!("  {:13} {}\n", e.name, e.about);
    stiction_reproduce::EXPERIMENTS.iter().map(line).collect()
}

/// Arguments of `solve`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 all solvers converged, 1 some did not, 2 wrong input or arguments.

Examples:
  stiction solve dishes
  stiction solve dishes --solver alm,canal,pgs --trace dishes.svg
  stiction solve stack --mass-ratio 10000 --wrench 2 --seed 7
  stiction solve sphere-pile --size 500 --tolerance 1e-9 --json
  stiction solve rover.h5 --symmetrise --solution rover-solution.npz
  stiction solve chain --set max-outer=200 --friction convex
  stiction solve bolt-nut --save bolt-nut.npz --max-iterations 50"
)]
pub struct SolveArgs {
    /// A problem file (.npz, FCLIB .h5/.hdf5) or a problem of the catalogue (`stiction list problems`)
    #[arg(value_name = "FILE|NAME")]
    pub target: PathBuf,

    /// Solvers to run, separated by commas (`stiction list solvers`)
    #[arg(long, short, value_name = "NAME", value_delimiter = ',', default_value = crate::solve::DEFAULT_SOLVER)]
    pub solver: Vec<String>,

    /// Tolerance on the residual of the constraint laws, relative to the reference velocity, and on the
    /// relative error of momentum
    #[arg(
        long,
        short,
        value_name = "T",
        default_value_t = Tolerance(stiction_solve::Goal::default().tolerance),
        value_parser = tolerance,
        allow_hyphen_values = true
    )]
    pub tolerance: Tolerance,

    /// Largest number of iterations of each solver
    #[arg(long, value_name = "N")]
    pub max_iterations: Option<usize>,

    /// Time limit of each solver [s]
    #[arg(long, value_name = "SECONDS", value_parser = not_negative, allow_hyphen_values = true)]
    pub time_limit: Option<f64>,

    /// Friction model; each solver's own if absent
    #[arg(long, value_name = "MODEL")]
    pub friction: Option<Friction>,

    /// Set a parameter of the solvers that have it, or SOLVER.KEY=VALUE of one; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = assignment)]
    pub set: Vec<Assignment>,

    /// Threads to compute with; results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,

    /// Print one JSON document (an array if there are several solvers)
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// Write velocities `v` and impulses `lam`, in the order of the problem file, and the residuals
    #[arg(long, value_name = "FILE.npz", help_heading = "Output")]
    pub solution: Option<PathBuf>,

    /// Plot the residual over iterations and over time
    #[arg(long, value_name = "FILE.svg", help_heading = "Output")]
    pub trace: Option<PathBuf>,

    /// Write the problem itself
    #[arg(long, value_name = "FILE.npz", help_heading = "Output")]
    pub save: Option<PathBuf>,

    /// Replace an asymmetric matrix of an FCLIB file by its symmetric part, which changes the problem
    #[arg(long, help_heading = "Problem")]
    pub symmetrise: bool,

    /// Seed of a catalogue problem's random numbers
    #[arg(long, value_name = "N", help_heading = "Problem")]
    pub seed: Option<u64>,

    /// Size of a catalogue problem (`stiction list problems`)
    #[arg(long, value_name = "N", help_heading = "Problem")]
    pub size: Option<usize>,

    /// Coefficient of friction of a catalogue problem
    #[arg(long, value_name = "MU", value_parser = not_negative, allow_hyphen_values = true, help_heading = "Problem")]
    pub mu: Option<f64>,

    /// Mass ratio of the heaviest to the lightest body of a catalogue problem
    #[arg(long, value_name = "RATIO", value_parser = not_negative, allow_hyphen_values = true, help_heading = "Problem")]
    pub mass_ratio: Option<f64>,

    /// Magnitude of the random force on each body of a catalogue problem [N]
    #[arg(long, value_name = "FORCE", value_parser = not_negative, allow_hyphen_values = true, help_heading = "Problem")]
    pub wrench: Option<f64>,
}

/// A tolerance [-], displayed with an exponent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance(pub f64);

impl std::fmt::Display for Tolerance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:e}", self.0)
    }
}

/// Friction models by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Friction {
    /// Exact dry friction
    Coulomb,
    /// Its convex relaxation
    Convex,
}

impl From<Friction> for FrictionModel {
    fn from(friction: Friction) -> Self {
        match friction {
            Friction::Coulomb => Self::Coulomb,
            Friction::Convex => Self::Convex,
        }
    }
}

/// A solver setting of the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The solver; every solver if absent.
    pub solver: Option<String>,
    /// Name of the parameter.
    pub key: String,
    /// Its value.
    pub value: String,
}

fn shot(text: &str) -> Result<PictureOptions, String> {
    text.parse().map_err(|error: stiction_view::ViewError| error.to_string())
}

/// Help on the keys of --picture.
fn pictures() -> String {
    let mut text = "Keys of --picture, separated by commas:".to_owned();
    for (key, value, about) in KEYS {
        text += &format!("\n  {:24} {about}", format!("{key}={value}"));
    }
    text
}

/// Help on the settings of --set, with their defaults.
fn settings() -> String {
    let mut text = "Settings of --set, with their defaults:".to_owned();
    for spec in Settings::specs() {
        let assignment = format!("{}={}", spec.name, spec.default);
        text += &format!("\n  {assignment:29} {}; {}", spec.doc, spec.expected());
    }
    text + "\n  solver.KEY=VALUE              setting of the solver (`stiction list settings`)"
}

/// Help on an option that is a setting of the simulation.
fn setting_help(name: &str) -> String {
    let specs = Settings::specs();
    let doc = specs.iter().find(|spec| spec.name == name).map_or_else(String::new, |spec| {
        let unit = if spec.unit.is_empty() { String::new() } else { format!(" [{}]", spec.unit) };
        format!("{}{unit}", spec.doc)
    });
    let mut letters = doc.chars();
    let capital = letters.next().map(|letter| letter.to_ascii_uppercase());
    format!(
        "{}{}; the scene's own if absent",
        capital.map_or_else(String::new, String::from),
        letters.as_str()
    )
}

/// The default settings with one of them set from text, which checks its range.
fn with_setting(name: &str, text: &str) -> Result<Settings, String> {
    let mut settings = Settings::default();
    settings.set(name, text).map_err(|error| error.to_string())?;
    Ok(settings)
}

fn time_step(text: &str) -> Result<f64, String> {
    Ok(with_setting("time-step", text)?.time_step)
}

fn tolerance(text: &str) -> Result<Tolerance, String> {
    Ok(Tolerance(with_setting("tolerance", text)?.tolerance))
}

fn assignment(text: &str) -> Result<Assignment, String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE or SOLVER.KEY=VALUE")?;
    let (solver, key) = match key.split_once('.') {
        Some((solver, key)) => (Some(solver.to_owned()), key),
        None => (None, key),
    };
    Ok(Assignment { solver, key: key.to_owned(), value: value.to_owned() })
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|x| x.is_finite() && *x > 0.0);
    number.ok_or_else(|| "expected a finite number > 0".to_owned())
}

fn not_negative(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|x| x.is_finite() && *x >= 0.0);
    number.ok_or_else(|| "expected a finite number >= 0".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_contradict_nothing() {
        use clap::CommandFactory;
        Options::command().debug_assert();
    }

    #[test]
    fn a_setting_may_name_its_solver() {
        let of = |solver: Option<&str>| Assignment {
            solver: solver.map(str::to_owned),
            key: "growth".into(),
            value: "2=3".into(),
        };
        assert_eq!(assignment("growth=2=3"), Ok(of(None)));
        assert_eq!(assignment("alm.growth=2=3"), Ok(of(Some("alm"))));
        assert!(assignment("growth").is_err());
    }
}
