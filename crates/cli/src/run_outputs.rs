//! Output files of a run: recordings, and checkpoints to resume from.
//!
//! Frames are kept in memory and appended periodically to a partial file next to the first requested
//! recording; every output can be made from it if the run does not finish. A checkpoint is written
//! after all earlier frames, so that a resumed run continues its recording without a gap. A failed
//! write is reported at once and retried with the next chunk; the run continues. Unfinished outputs
//! of other runs are never overwritten.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use stiction_scene::Imported;
use stiction_scene::visual_shapes::visual_shapes;
use stiction_sim::record::container::{self, Chunk};
use stiction_sim::record::{RecordError, Recorder, Recording};
use stiction_sim::{Checkpoint, Simulation, StepReport, fingerprint};
use stiction_view::{
    ExportContent, Exporter, FRAMES_PER_SECOND, PictureOptions, ViewError, exporter_for,
};

use crate::args::RunArgs;
use crate::error::CommandError;
use crate::writer::{RecordingStream, WriteJob, WriteResult, Writer};
use crate::{files, saved_call, terminal};

/// Default simulated time between checkpoints [s].
const CHECKPOINT_INTERVAL: f64 = 1.0;
/// Wall time between two writes of recorded frames.
const CHUNK_INTERVAL: Duration = Duration::from_millis(500);

/// The requested recordings, known to be writable, and the options of pictures.
pub struct RecordingFiles {
    files: Vec<(PathBuf, &'static Exporter)>,
    shot: PictureOptions,
}

impl RecordingFiles {
    /// Checks names and folders before the run.
    pub fn prepare(paths: &[PathBuf], shot: Option<&PictureOptions>) -> Result<Self, CommandError> {
        let sink = |path: &PathBuf| Ok((path.clone(), exporter_for(path)?));
        let files = paths.iter().map(sink).collect::<Result<Vec<_>, CommandError>>()?;
        if let Some(shot) = shot {
            let any = |matches: fn(ExportContent) -> bool| {
                files.iter().any(|(_, sink)| matches(sink.content))
            };
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

    /// Writes a recording to each file and returns the result of each.
    pub fn write<'a>(
        &'a self,
        recording: &'a Recording,
    ) -> impl Iterator<Item = Result<WrittenRecording, ViewError>> + 'a {
        self.files.iter().map(|(path, sink)| {
            (sink.write)(recording, path, &self.shot)?;
            Ok(WrittenRecording::of(recording, path, sink))
        })
    }

    /// The partial file that holds frames during the run.
    fn part(&self) -> Option<PathBuf> {
        self.files.first().map(|(path, _)| files::with_suffix(path, files::PART_SUFFIX))
    }
}

/// Recording and checkpoints of a run.
pub struct RunOutputs {
    recording: Option<ActiveRecording>,
    checkpoints: Option<CheckpointSchedule>,
    writer: Writer,
    /// Files whose last write failed, so that each failure is reported once.
    failed_paths: Vec<PathBuf>,
    /// Identifier of the run.
    run: u64,
    /// Whether another process started the run.
    resumed: bool,
}

struct ActiveRecording {
    recorder: Recorder,
    outputs: RecordingFiles,
    part: PathBuf,
    /// Number of frames known to be on disk.
    written: usize,
    /// Number of frames submitted to the writer.
    submitted: usize,
    last_submission: Instant,
}

struct CheckpointSchedule {
    path: PathBuf,
    every: f64,
    /// Time of the first state [s].
    begin: f64,
    /// Number of the next checkpoint.
    next: u64,
    run: u64,
    fingerprint: u64,
    recipe: Vec<String>,
}

/// A recording that was written.
pub struct WrittenRecording {
    path: PathBuf,
    sink: &'static str,
    frames: usize,
    begin: f64,
    end: f64,
}

impl WrittenRecording {
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
            "bytes": fs::metadata(&self.path).map(|metadata| metadata.len()).ok(),
        })
    }

    /// As text.
    pub fn text(&self) -> String {
        let path = self.path.display();
        let Self { frames, begin, end, .. } = self;
        format!("wrote {path}: {frames} frames from {begin:.3} to {end:.3} s\n")
    }
}

/// A fingerprint of a scene: its world, settings, signals and claims.
pub fn fingerprint_of(simulation: &Simulation, imported: Option<&Imported>) -> u64 {
    let script = imported.map(|imported| &imported.script);
    fingerprint(simulation.world(), simulation.settings(), &script)
}

impl RunOutputs {
    /// Starts the outputs of a run, or continues those of a resumed run.
    pub fn begin(
        args: &RunArgs,
        outputs: RecordingFiles,
        (simulation, imported): (&Simulation, Option<&Imported>),
        (resumed, steps): (Option<&Checkpoint>, usize),
    ) -> Result<Self, CommandError> {
        let run = resumed.map_or_else(new_run_id, |checkpoint| checkpoint.run);
        let time = simulation.state().time;
        let earlier = earlier(&outputs, resumed, steps)?;
        let mut checkpoints = None;
        if let Some(path) = &args.checkpoint {
            if resumed.is_none() {
                check_replaceable(path)?;
            }
            let schedule = CheckpointSchedule {
                path: path.clone(),
                every: args.every.unwrap_or(CHECKPOINT_INTERVAL),
                begin: time,
                next: 1,
                run,
                fingerprint: fingerprint_of(simulation, imported),
                recipe: saved_call::to_words(args, steps)?,
            };
            let done = resumed.map_or(0, |checkpoint| checkpoint.step as usize);
            let bytes = schedule.bytes(done, simulation);
            stiction_view::output_file::write_atomically(path, &bytes)
                .map_err(|source| CommandError::Write { path: path.clone(), source })?;
            checkpoints = Some(schedule);
        }
        let (mut active, mut stream) = (None, None);
        if let (Some(part), false) = (outputs.part(), matches!(earlier, EarlierRecording::Finished))
        {
            let mut recorder = new_recorder(args, simulation, imported)?;
            if let EarlierRecording::Part(recording) = earlier {
                warn_of_gap(&recording, time, args);
                recorder
                    .resume(*recording)
                    .map_err(|source| CommandError::Recording { path: part.clone(), source })?;
            }
            let recording = recorder.recording();
            let frames = recording.len();
            let chunks = [Chunk::head(recording, run), Chunk::frames(recording, 0..frames)];
            let created = RecordingStream::create(&part, &chunks)
                .map_err(|source| CommandError::Write { path: part.clone(), source })?;
            stream = Some(created);
            active = Some(ActiveRecording {
                recorder,
                outputs,
                part,
                written: frames,
                submitted: frames,
                last_submission: Instant::now(),
            });
        }
        let writer = Writer::start(stream);
        let resumed = resumed.is_some();
        let failed_paths = Vec::new();
        Ok(Self { recording: active, checkpoints, writer, failed_paths, run, resumed })
    }

    /// Records a step. `warn` is called with the message of each failed write.
    pub fn observe(
        &mut self,
        step: usize,
        simulation: &Simulation,
        report: &StepReport,
        mut warn: impl FnMut(&str),
    ) {
        while let Some(result) = self.writer.try_result() {
            self.note(&result, &mut warn);
        }
        if let Some(recording) = &mut self.recording {
            recording.recorder.observe(simulation, report);
            if recording.last_submission.elapsed() >= CHUNK_INTERVAL && self.writer.is_idle() {
                recording.append(&mut self.writer);
            }
        }
        let half_step = 0.5 * simulation.settings().time_step;
        let now = simulation.state().time + half_step;
        if self.checkpoints.as_mut().is_some_and(|checkpoints| checkpoints.is_due(now)) {
            self.checkpoint(step, simulation, &mut warn);
        }
    }

    /// Writes all frames and then the state to disk.
    fn checkpoint(&mut self, step: usize, simulation: &Simulation, warn: &mut impl FnMut(&str)) {
        self.wait(warn);
        if let Some(recording) = &mut self.recording {
            recording.append(&mut self.writer);
        }
        if let Some(checkpoints) = &self.checkpoints {
            let bytes = checkpoints.bytes(step, simulation);
            self.writer.submit(WriteJob::Replace(checkpoints.path.clone(), bytes));
        }
    }

    /// Waits until all jobs have finished, and returns the last failure of a file other than the
    /// partial recording.
    fn wait(&mut self, warn: &mut impl FnMut(&str)) -> Option<CommandError> {
        let mut last = None;
        while let Some(result) = self.writer.wait() {
            self.note(&result, warn);
            let is_part = self.recording.as_ref().is_some_and(|own| own.part == result.path);
            if let (Some(source), false) = (result.error, is_part) {
                last = Some(CommandError::Write { path: result.path, source });
            }
        }
        last
    }

    /// Handles the result of a job.
    fn note(&mut self, result: &WriteResult, warn: &mut impl FnMut(&str)) {
        if let Some(recording) = self.recording.as_mut().filter(|own| own.part == result.path) {
            match result.error {
                None => recording.written = recording.submitted,
                Some(_) => recording.submitted = recording.written,
            }
        }
        let known = self.failed_paths.iter().position(|path| *path == result.path);
        match (&result.error, known) {
            (None, Some(index)) => {
                self.failed_paths.swap_remove(index);
            }
            (Some(source), None) => {
                let path = result.path.display();
                warn(&format!("{path}: {source}; the run continues and will try again"));
                self.failed_paths.push(result.path.clone());
            }
            _ => {}
        }
    }

    /// Writes the recordings. `step` is the last completed step; `complete` says that the run
    /// finished and will not be resumed.
    pub fn finish(
        mut self,
        step: usize,
        simulation: &Simulation,
        complete: bool,
    ) -> (Vec<WrittenRecording>, Option<CommandError>) {
        if let Some(recording) = &mut self.recording {
            recording.recorder.keep(simulation);
        }
        // Failures from here on are returned as errors, without a warning.
        self.checkpoint(step, simulation, &mut |_: &str| ());
        // Missing frames in the partial file matter only if a recording cannot be written.
        let mut error = self.wait(&mut |_: &str| ());
        let mut written = Vec::new();
        let Some(active) = self.recording.take() else {
            return (written, error);
        };
        let ActiveRecording { recorder, outputs, part, written: on_disk, .. } = active;
        let recording = recorder.finish();
        let part_is_complete = on_disk == recording.len();
        let (mut all, mut rescued) = (true, None);
        for result in outputs.write(&recording) {
            match result {
                Ok(done) => written.push(done),
                Err(source) => {
                    all = false;
                    let kept = if part_is_complete { Some(part.clone()) } else { rescued.clone() };
                    let rescue = || rescue(&recording, self.run, &part);
                    rescued = kept.or_else(rescue);
                    error = Some(match &rescued {
                        Some(part) => CommandError::Unfinished { source, part: part.clone() },
                        None => source.into(),
                    });
                }
            }
        }
        if all && (complete || self.checkpoints.is_none()) {
            // All its frames are in the recordings. A failure to remove it is harmless.
            let _ = fs::remove_file(part);
        }
        (written, error)
    }

    /// Removes the files of a run whose first step failed.
    pub fn discard(self) {
        if self.resumed {
            return;
        }
        let part = self.recording.map(|recording| recording.part);
        let checkpoint = self.checkpoints.map(|checkpoints| checkpoints.path);
        drop(self.writer);
        for path in part.into_iter().chain(checkpoint) {
            let _ = fs::remove_file(path);
        }
    }
}

impl ActiveRecording {
    /// Submits the frames that were not submitted yet.
    fn append(&mut self, writer: &mut Writer) {
        let frames = self.recorder.recording().len();
        self.last_submission = Instant::now();
        if frames > self.submitted {
            writer.submit(WriteJob::Append(Chunk::frames(
                self.recorder.recording(),
                self.submitted..frames,
            )));
            self.submitted = frames;
        }
    }
}

impl CheckpointSchedule {
    /// Whether a checkpoint is due at a time [s]; if so, schedules the next one.
    fn is_due(&mut self, now: f64) -> bool {
        if now < self.begin + self.next as f64 * self.every {
            return false;
        }
        self.next = ((now - self.begin) / self.every) as u64 + 1;
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

/// Warns of frames that could not be written before the run was interrupted.
fn warn_of_gap(earlier: &Recording, now: f64, args: &RunArgs) {
    let interval = earlier.time_step.max(1.0 / args.fps.unwrap_or(FRAMES_PER_SECOND));
    if let Some(last) = earlier.frames.time.last().filter(|last| **last + 2.0 * interval < now) {
        terminal::warn(&format!(
            "{}: found no frames from {last:.3} to {now:.3} s; the recording continues without them",
            earlier.title
        ));
    }
}

/// Writes a recording to the folder for temporary files when it can be written nowhere else.
fn rescue(recording: &Recording, run: u64, part: &Path) -> Option<PathBuf> {
    let name = part.file_name()?.to_string_lossy();
    let name = name.trim_end_matches(files::PART_SUFFIX);
    let path = std::env::temp_dir().join(format!("stiction-{run:016x}-{name}.stiction"));
    stiction_view::output_file::write_atomically(&path, &container::to_bytes(recording, run))
        .ok()?;
    Some(path)
}

/// An identifier that differs between runs, from clock and process number.
fn new_run_id() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (now.as_nanos() as u64) ^ (u64::from(std::process::id()) << 40)
}

/// A recorder at the start of the run, with the visual shapes of the model.
fn new_recorder(
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
        let (visuals, faults) = visual_shapes(&imported.visuals, &mut imported.files.clone());
        visuals.into_iter().for_each(|visual| recorder.visual(visual));
        for fault in faults {
            terminal::warn(&format!("{fault}; it is missing in the recording"));
        }
    }
    Ok(recorder)
}

/// State of a recording on disk before the run starts.
enum EarlierRecording {
    Nothing,
    Part(Box<Recording>),
    /// The run has finished, and its recordings are written.
    Finished,
}

/// The partial recording of a resumed run. Refuses that of another run.
fn earlier(
    outputs: &RecordingFiles,
    resumed: Option<&Checkpoint>,
    steps: usize,
) -> Result<EarlierRecording, CommandError> {
    let Some(part) = outputs.part() else { return Ok(EarlierRecording::Nothing) };
    let left = |part: PathBuf| CommandError::UnexpectedFile {
        path: part,
        found: "the recording of another, unfinished run".to_owned(),
        expected: "none: open it with `stiction view`, then remove it or record elsewhere"
            .to_owned(),
    };
    match (resumed, part.exists()) {
        (None, true) => Err(left(part)),
        (None, false) => Ok(EarlierRecording::Nothing),
        (Some(checkpoint), true) => {
            let opened = container::read(&files::read(&part)?)
                .map_err(|source| CommandError::Recording { path: part.clone(), source })?;
            if opened.run != checkpoint.run {
                return Err(left(part));
            }
            Ok(EarlierRecording::Part(Box::new(opened.recording)))
        }
        (Some(checkpoint), false) => {
            let finished = outputs.files.iter().find(|(path, _)| path.exists());
            match finished.filter(|_| checkpoint.step > 0) {
                None => Ok(EarlierRecording::Nothing),
                Some(_) if checkpoint.step as usize >= steps => Ok(EarlierRecording::Finished),
                Some((path, _)) => Err(CommandError::UnexpectedFile {
                    path: path.clone(),
                    found: format!("a recording, and no {} to continue", part.display()),
                    expected: "an unused name, by --record".to_owned(),
                }),
            }
        }
    }
}

/// Refuses to replace a file that is no checkpoint, or the checkpoint of an unfinished run.
fn check_replaceable(path: &Path) -> Result<(), CommandError> {
    if !fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0) {
        return Ok(());
    }
    let found = Checkpoint::from_bytes(&files::read(path)?)
        .map_err(|source| CommandError::Checkpoint { path: path.to_owned(), source })?;
    let steps = found.recipe.iter().find_map(|word| word.strip_prefix("--steps=")?.parse().ok());
    if steps.is_some_and(|steps: u64| found.step < steps) {
        return Err(CommandError::UnexpectedFile {
            path: path.to_owned(),
            found: format!("an unfinished run at step {}", found.step),
            expected: "none: continue it with --resume, or remove it".to_owned(),
        });
    }
    Ok(())
}
