//! What a run leaves behind: recordings, and checkpoints to continue from.
//!
//! Frames are kept in memory and, again and again, appended to a file beside the first recording
//! that is asked for, from which everything can be made if the run does not get to its end. A
//! checkpoint is written after all frames before it, so that a run that continues from it continues
//! its recording without a gap. What cannot be written is told at once and tried again with the next
//! piece; the run goes on. Nothing that another run left behind is overwritten.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use stiction_scene::Imported;
use stiction_scene::seen::seen;
use stiction_sim::record::container::{self, Chunk};
use stiction_sim::record::{RecordError, Recorder, Recording};
use stiction_sim::{Checkpoint, Simulation, StepReport, fingerprint};
use stiction_view::{
    ExportContent, Exporter, FRAMES_PER_SECOND, PictureOptions, ViewError, exporter_for,
};

use crate::args::RunArgs;
use crate::error::CommandError;
use crate::writer::{Done, Job, Stream, Writer};
use crate::{place, recipe, terminal};

/// Simulated time between checkpoints [s], if nobody says otherwise.
const EVERY: f64 = 1.0;
/// Real time after which frames are brought to the disk.
const CHUNK: Duration = Duration::from_millis(500);
/// What the name of a growing recording ends in.
const PART: &str = ".part";

/// The recordings that are asked for, known to be writable, and what is asked of pictures.
pub struct Outputs {
    files: Vec<(PathBuf, &'static Exporter)>,
    shot: PictureOptions,
}

impl Outputs {
    /// Checks names and places, before there is anything to lose.
    pub fn prepare(paths: &[PathBuf], shot: Option<&PictureOptions>) -> Result<Self, CommandError> {
        let sink = |path: &PathBuf| Ok((path.clone(), exporter_for(path)?));
        let files = paths.iter().map(sink).collect::<Result<Vec<_>, CommandError>>()?;
        if let Some(shot) = shot {
            let any =
                |fits: fn(ExportContent) -> bool| files.iter().any(|(_, sink)| fits(sink.content));
            let wrong = |found: String, expected: &str| CommandError::Option {
                option: "--picture".to_owned(),
                found,
                expected: expected.to_owned(),
            };
            if !any(|holds| holds != ExportContent::Everything) {
                let found = format!("\"{shot}\", and no picture to write");
                return Err(wrong(found, "a file that ends in .png, .gif or .mp4"));
            }
            if shot.time.is_some() && !any(|holds| holds == ExportContent::Picture) {
                return Err(wrong("a time, and no single picture".to_owned(), "a .png"));
            }
        }
        Ok(Self { files, shot: shot.copied().unwrap_or_default() })
    }

    /// Writes a recording to each file, and says how that went.
    pub fn write<'a>(
        &'a self,
        recording: &'a Recording,
    ) -> impl Iterator<Item = Result<Written, ViewError>> + 'a {
        self.files.iter().map(|(path, sink)| {
            (sink.write)(recording, path, &self.shot)?;
            Ok(Written::of(recording, path, sink))
        })
    }

    /// Where frames are kept while the run goes on.
    fn part(&self) -> Option<PathBuf> {
        self.files.first().map(|(path, _)| place::with_ending(path, PART))
    }
}

/// What a run is to leave behind.
pub struct Keeper {
    watching: Option<Watching>,
    checkpoints: Option<Checkpoints>,
    writer: Writer,
    /// Files of which the last piece could not be written, so that each is told of once.
    troubled: Vec<PathBuf>,
    /// The number of the run, and whether another process began it.
    run: u64,
    resumed: bool,
}

struct Watching {
    recorder: Recorder,
    outputs: Outputs,
    part: PathBuf,
    /// Frames that are known to be on the disk, and up to where they were given.
    safe: usize,
    given: usize,
    last: Instant,
}

struct Checkpoints {
    path: PathBuf,
    every: f64,
    /// Time of the first state [s], and number of the next checkpoint.
    begin: f64,
    due: u64,
    run: u64,
    fingerprint: u64,
    recipe: Vec<String>,
}

/// A recording that was written.
pub struct Written {
    path: PathBuf,
    sink: &'static str,
    frames: usize,
    begin: f64,
    end: f64,
}

impl Written {
    fn of(recording: &Recording, path: &Path, sink: &Exporter) -> Self {
        let time = &recording.frames.time;
        let (begin, end) = (time.first().copied(), time.last().copied());
        Self {
            path: path.to_owned(),
            sink: sink.name,
            frames: recording.len(),
            begin: begin.unwrap_or_default(),
            end: end.unwrap_or_default(),
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        json!({
            "file": self.path.display().to_string(),
            "sink": self.sink,
            "frames": self.frames,
            "begin": self.begin,
            "end": self.end,
            "bytes": fs::metadata(&self.path).map(|about| about.len()).ok(),
        })
    }

    /// For people.
    pub fn text(&self) -> String {
        let path = self.path.display();
        let Self { frames, begin, end, .. } = self;
        format!("wrote {path}: {frames} frames from {begin:.3} to {end:.3} s\n")
    }
}

/// A fingerprint of a scene: its world, its settings, and what drives and judges it.
pub fn fingerprint_of(simulation: &Simulation, imported: Option<&Imported>) -> u64 {
    let script = imported.map(|imported| &imported.script);
    fingerprint(simulation.world(), simulation.settings(), &script)
}

impl Keeper {
    /// Begins, or goes on with what a run has left behind.
    pub fn begin(
        args: &RunArgs,
        outputs: Outputs,
        (simulation, imported): (&Simulation, Option<&Imported>),
        (resumed, steps): (Option<&Checkpoint>, usize),
    ) -> Result<Self, CommandError> {
        let run = resumed.map_or_else(number_of_a_run, |checkpoint| checkpoint.run);
        let time = simulation.state().time;
        let earlier = earlier(&outputs, resumed, steps)?;
        let mut checkpoints = None;
        if let Some(path) = &args.checkpoint {
            if resumed.is_none() {
                leave_alone(path)?;
            }
            let own = Checkpoints {
                path: path.clone(),
                every: args.every.unwrap_or(EVERY),
                begin: time,
                due: 1,
                run,
                fingerprint: fingerprint_of(simulation, imported),
                recipe: recipe::write(args, steps)?,
            };
            let done = resumed.map_or(0, |checkpoint| checkpoint.step as usize);
            let bytes = own.bytes(done, simulation);
            stiction_view::output_file::write_atomically(path, &bytes)
                .map_err(|source| CommandError::Write { path: path.clone(), source })?;
            checkpoints = Some(own);
        }
        let (mut watching, mut stream) = (None, None);
        if let (Some(part), false) = (outputs.part(), matches!(earlier, Earlier::Finished)) {
            let mut recorder = recorder(args, simulation, imported)?;
            if let Earlier::Part(recording) = earlier {
                tell_of_gap(&recording, time, args);
                recorder
                    .resume(*recording)
                    .map_err(|source| CommandError::Recording { path: part.clone(), source })?;
            }
            let recording = recorder.recording();
            let frames = recording.len();
            let chunks = [Chunk::head(recording, run), Chunk::frames(recording, 0..frames)];
            let created = Stream::create(&part, &chunks)
                .map_err(|source| CommandError::Write { path: part.clone(), source })?;
            stream = Some(created);
            let last = Instant::now();
            watching =
                Some(Watching { recorder, outputs, part, safe: frames, given: frames, last });
        }
        let writer = Writer::start(stream);
        let resumed = resumed.is_some();
        Ok(Self { watching, checkpoints, writer, troubled: Vec::new(), run, resumed })
    }

    /// Sees a step. `tell` is called with what cannot be written.
    pub fn observe(
        &mut self,
        step: usize,
        simulation: &Simulation,
        report: &StepReport,
        mut tell: impl FnMut(&str),
    ) {
        while let Some(done) = self.writer.ended() {
            self.note(&done, &mut tell);
        }
        if let Some(watching) = &mut self.watching {
            watching.recorder.observe(simulation, report);
            if watching.last.elapsed() >= CHUNK && self.writer.is_idle() {
                watching.append(&mut self.writer);
            }
        }
        let half_step = 0.5 * simulation.settings().time_step;
        let now = simulation.state().time + half_step;
        if self.checkpoints.as_mut().is_some_and(|checkpoints| checkpoints.is_due(now)) {
            self.checkpoint(step, simulation, &mut tell);
        }
    }

    /// Brings all frames and then the state to the disk.
    fn checkpoint(&mut self, step: usize, simulation: &Simulation, tell: &mut impl FnMut(&str)) {
        self.wait(tell);
        if let Some(watching) = &mut self.watching {
            watching.append(&mut self.writer);
        }
        if let Some(checkpoints) = &self.checkpoints {
            let bytes = checkpoints.bytes(step, simulation);
            self.writer.give(Job::Replace(checkpoints.path.clone(), bytes));
        }
    }

    /// Waits until all is written, and returns what was not and is no frame.
    fn wait(&mut self, tell: &mut impl FnMut(&str)) -> Option<CommandError> {
        let mut last = None;
        while let Some(done) = self.writer.wait() {
            self.note(&done, tell);
            let of_part = self.watching.as_ref().is_some_and(|own| own.part == done.path);
            if let (Some(source), false) = (done.trouble, of_part) {
                last = Some(CommandError::Write { path: done.path, source });
            }
        }
        last
    }

    /// Remembers how a job ended.
    fn note(&mut self, done: &Done, tell: &mut impl FnMut(&str)) {
        if let Some(watching) = self.watching.as_mut().filter(|own| own.part == done.path) {
            match done.trouble {
                None => watching.safe = watching.given,
                Some(_) => watching.given = watching.safe,
            }
        }
        let known = self.troubled.iter().position(|path| *path == done.path);
        match (&done.trouble, known) {
            (None, Some(place)) => {
                self.troubled.swap_remove(place);
            }
            (Some(source), None) => {
                let path = done.path.display();
                tell(&format!("{path}: {source}; the run goes on and tries again"));
                self.troubled.push(done.path.clone());
            }
            _ => {}
        }
    }

    /// Writes the recordings. `step` is the last that was done; `whole` says whether the run got
    /// to its end, or could be continued.
    pub fn finish(
        mut self,
        step: usize,
        simulation: &Simulation,
        whole: bool,
    ) -> (Vec<Written>, Option<CommandError>) {
        if let Some(watching) = &mut self.watching {
            watching.recorder.keep(simulation);
        }
        // What fails now is an error, not news on the way.
        self.checkpoint(step, simulation, &mut |_: &str| ());
        // That frames could not be brought to the disk matters only if the recordings cannot.
        let mut error = self.wait(&mut |_: &str| ());
        let mut written = Vec::new();
        let Some(Watching { recorder, outputs, part, safe, .. }) = self.watching.take() else {
            return (written, error);
        };
        let recording = recorder.finish();
        let safe = safe == recording.len();
        let (mut all, mut rescued) = (true, None);
        for result in outputs.write(&recording) {
            match result {
                Ok(done) => written.push(done),
                Err(source) => {
                    all = false;
                    let kept = if safe { Some(part.clone()) } else { rescued.clone() };
                    let rescue = || rescue(&recording, self.run, &part);
                    rescued = kept.or_else(rescue);
                    error = Some(match &rescued {
                        Some(part) => CommandError::Unfinished { source, part: part.clone() },
                        None => source.into(),
                    });
                }
            }
        }
        if all && (whole || self.checkpoints.is_none()) {
            // What was in it is written. A file that cannot be removed does no harm.
            let _ = fs::remove_file(part);
        }
        (written, error)
    }

    /// Takes back what was begun for a run that could not make its first step.
    pub fn discard(self) {
        if self.resumed {
            return;
        }
        let part = self.watching.map(|watching| watching.part);
        let checkpoint = self.checkpoints.map(|checkpoints| checkpoints.path);
        drop(self.writer);
        for path in part.into_iter().chain(checkpoint) {
            let _ = fs::remove_file(path);
        }
    }
}

impl Watching {
    /// Brings to the disk what is not there.
    fn append(&mut self, writer: &mut Writer) {
        let frames = self.recorder.recording().len();
        self.last = Instant::now();
        if frames > self.given {
            writer.give(Job::Append(Chunk::frames(self.recorder.recording(), self.given..frames)));
            self.given = frames;
        }
    }
}

impl Checkpoints {
    /// Whether a checkpoint is due at a time [s]; then the next one is waited for.
    fn is_due(&mut self, now: f64) -> bool {
        if now < self.begin + self.due as f64 * self.every {
            return false;
        }
        self.due = ((now - self.begin) / self.every) as u64 + 1;
        true
    }

    fn bytes(&self, step: usize, simulation: &Simulation) -> Vec<u8> {
        let checkpoint = Checkpoint {
            run: self.run,
            fingerprint: self.fingerprint,
            step: step as u64,
            recipe: self.recipe.clone(),
            snapshot: simulation.snapshot(),
        };
        checkpoint.to_bytes()
    }
}

/// Tells of frames that a full disk has swallowed before a run was stopped.
fn tell_of_gap(earlier: &Recording, now: f64, args: &RunArgs) {
    let interval = earlier.time_step.max(1.0 / args.fps.unwrap_or(FRAMES_PER_SECOND));
    if let Some(last) = earlier.frames.time.last().filter(|last| **last + 2.0 * interval < now) {
        terminal::warn(&format!(
            "{}: found no frames from {last:.3} to {now:.3} s; the recording goes on without them",
            earlier.title
        ));
    }
}

/// Keeps a recording in the system's folder for temporary files, if there is room: better there than
/// nowhere.
fn rescue(recording: &Recording, run: u64, part: &Path) -> Option<PathBuf> {
    let name = part.file_name()?.to_string_lossy();
    let name = name.trim_end_matches(PART);
    let place = std::env::temp_dir().join(format!("stiction-{run:016x}-{name}.stiction"));
    stiction_view::output_file::write_atomically(&place, &container::to_bytes(recording, run))
        .ok()?;
    Some(place)
}

/// A number that no other run has, as far as a clock can tell.
fn number_of_a_run() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (now.as_nanos() as u64) ^ (u64::from(std::process::id()) << 40)
}

fn recorder(
    args: &RunArgs,
    simulation: &Simulation,
    imported: Option<&Imported>,
) -> Result<Recorder, CommandError> {
    let wrong = |source: RecordError| CommandError::Option {
        option: "--fps".to_owned(),
        found: source.to_string(),
        expected: "a number of frames".to_owned(),
    };
    let rate = args.fps.unwrap_or(FRAMES_PER_SECOND);
    let mut recorder = Recorder::new(simulation, rate).map_err(wrong)?;
    recorder.title(imported.map_or(args.scene.target.as_str(), |imported| &imported.name));
    if let Some(imported) = imported {
        let (visuals, faults) = seen(&imported.visuals, &mut imported.files.clone());
        visuals.into_iter().for_each(|visual| recorder.visual(visual));
        for fault in faults {
            terminal::warn(&format!("{fault}; it is not seen in the recording"));
        }
    }
    Ok(recorder)
}

/// What there is of a recording before it begins.
enum Earlier {
    Nothing,
    Part(Box<Recording>),
    /// The run is at its end, and so are its recordings.
    Finished,
}

/// What a run that is resumed has recorded; refuses what belongs to others.
fn earlier(
    outputs: &Outputs,
    resumed: Option<&Checkpoint>,
    steps: usize,
) -> Result<Earlier, CommandError> {
    let Some(part) = outputs.part() else { return Ok(Earlier::Nothing) };
    let left = |part: PathBuf| CommandError::Found {
        path: part,
        found: "the recording of another run that did not get to its end".to_owned(),
        expected: "none: look at it by `stiction view`, then remove it or record elsewhere"
            .to_owned(),
    };
    match (resumed, part.exists()) {
        (None, true) => Err(left(part)),
        (None, false) => Ok(Earlier::Nothing),
        (Some(checkpoint), true) => {
            let opened = container::read(&place::read(&part)?)
                .map_err(|source| CommandError::Recording { path: part.clone(), source })?;
            if opened.run != checkpoint.run {
                return Err(left(part));
            }
            Ok(Earlier::Part(Box::new(opened.recording)))
        }
        (Some(checkpoint), false) => {
            let finished = outputs.files.iter().find(|(path, _)| path.exists());
            match finished.filter(|_| checkpoint.step > 0) {
                None => Ok(Earlier::Nothing),
                Some(_) if checkpoint.step as usize >= steps => Ok(Earlier::Finished),
                Some((path, _)) => Err(CommandError::Found {
                    path: path.clone(),
                    found: format!("a recording, and no {} to go on with", part.display()),
                    expected: "a name that is free, by --record".to_owned(),
                }),
            }
        }
    }
}

/// Refuses to replace what is no checkpoint, or one that another run could be continued from.
fn leave_alone(path: &Path) -> Result<(), CommandError> {
    if !fs::metadata(path).is_ok_and(|about| about.is_file() && about.len() > 0) {
        return Ok(());
    }
    let found = Checkpoint::from_bytes(&place::read(path)?)
        .map_err(|source| CommandError::Checkpoint { path: path.to_owned(), source })?;
    let steps = found.recipe.iter().find_map(|word| word.strip_prefix("--steps=")?.parse().ok());
    if steps.is_some_and(|steps: u64| found.step < steps) {
        return Err(CommandError::Found {
            path: path.to_owned(),
            found: format!("a run that did not get to its end, at step {}", found.step),
            expected: "none: go on with it by --resume, or remove it".to_owned(),
        });
    }
    Ok(())
}
