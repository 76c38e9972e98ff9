//! A thread that writes chunks of a recording and checkpoints to disk, in the order of submission, so
//! that a run does not wait for the disk.
//!
//! Errors are reported per job, and a failed write leaves the file as it was: a chunk is appended
//! completely or not at all, a checkpoint replaces the previous one atomically.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use stiction_sim::record::container::Chunk;
use stiction_view::output_file;

/// Data to write.
pub enum WriteJob {
    /// Appends a chunk to the recording.
    Append(Chunk),
    /// Replaces a file.
    Replace(PathBuf, Vec<u8>),
}

/// Result of a job.
pub struct WriteResult {
    /// The file.
    pub path: PathBuf,
    /// The error if it failed.
    pub error: Option<io::Error>,
}

/// The thread, and the number of its unfinished jobs.
pub struct Writer {
    jobs: Option<Sender<WriteJob>>,
    results: Receiver<WriteResult>,
    pending: usize,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread.
    pub fn start(mut stream: Option<RecordingStream>) -> Self {
        let (jobs, inbox) = channel::<WriteJob>();
        let (outbox, results) = channel();
        let work = move || {
            for job in inbox {
                let (path, result) = match (job, &mut stream) {
                    (WriteJob::Append(chunk), Some(stream)) => {
                        (stream.path.clone(), stream.append(&chunk))
                    }
                    (WriteJob::Append(_), None) => (PathBuf::new(), Ok(())),
                    (WriteJob::Replace(path, bytes), _) => {
                        let result = output_file::write_atomically(&path, &bytes);
                        (path, result)
                    }
                };
                if outbox.send(WriteResult { path, error: result.err() }).is_err() {
                    break;
                }
            }
        };
        let thread = std::thread::spawn(work);
        Self { jobs: Some(jobs), results, pending: 0, thread: Some(thread) }
    }

    /// Whether all jobs have finished.
    pub fn is_idle(&self) -> bool {
        self.pending == 0
    }

    /// Submits a job.
    pub fn submit(&mut self, job: WriteJob) {
        if self.jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok()) {
            self.pending += 1;
        }
    }

    /// Result of the next job if it has finished; jobs finish in the order of submission.
    pub fn try_result(&mut self) -> Option<WriteResult> {
        let result = self.results.try_recv().ok()?;
        self.pending -= 1;
        Some(result)
    }

    /// Waits until the next job has finished; `None` if there is none.
    pub fn wait(&mut self) -> Option<WriteResult> {
        if self.pending == 0 {
            return None;
        }
        let result = self.results.recv().ok();
        self.pending = if result.is_some() { self.pending - 1 } else { 0 };
        result
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A recording that grows on disk.
pub struct RecordingStream {
    path: PathBuf,
    file: File,
    /// Length of the complete chunks [bytes].
    complete_length: u64,
}

impl RecordingStream {
    /// Creates a file with some chunks, atomically.
    pub fn create(path: &Path, chunks: &[Chunk]) -> io::Result<Self> {
        let bytes: Vec<u8> = chunks.iter().flat_map(Chunk::to_bytes).collect();
        output_file::write_atomically(path, &bytes)?;
        let file = OpenOptions::new().append(true).open(path)?;
        Ok(Self { path: path.to_owned(), file, complete_length: bytes.len() as u64 })
    }

    fn append(&mut self, chunk: &Chunk) -> io::Result<()> {
        let bytes = chunk.to_bytes();
        match self.file.write_all(&bytes).and_then(|()| self.file.sync_data()) {
            Ok(()) => {
                self.complete_length += bytes.len() as u64;
                Ok(())
            }
            Err(error) => {
                // A partial chunk would make all later chunks unreadable.
                let _ = self.file.set_len(self.complete_length);
                Err(error)
            }
        }
    }
}
