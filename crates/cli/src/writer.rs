//! A thread that brings bytes to the disk and waits for it, so that a run does not: chunks of a
//! recording, and checkpoints, in the order in which they were given.
//!
//! What cannot be written is told, and what was there before stays as it was: a chunk is appended
//! whole or not at all, a checkpoint replaces the one before it or does not.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use stiction_sim::record::container::Chunk;
use stiction_view::output_file;

/// What there is to write.
pub enum Job {
    /// To be appended to the stream.
    Append(Chunk),
    /// To replace a file.
    Replace(PathBuf, Vec<u8>),
}

/// How a job ended.
pub struct Done {
    /// The file.
    pub path: PathBuf,
    /// What the system says if it failed.
    pub trouble: Option<io::Error>,
}

/// The thread, and how many of its jobs are not known to be done.
pub struct Writer {
    jobs: Option<Sender<Job>>,
    done: Receiver<Done>,
    waiting: usize,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread.
    pub fn start(mut stream: Option<Stream>) -> Self {
        let (jobs, inbox) = channel::<Job>();
        let (outbox, done) = channel();
        let work = move || {
            for job in inbox {
                let (path, result) = match (job, &mut stream) {
                    (Job::Append(chunk), Some(stream)) => {
                        (stream.path.clone(), stream.append(&chunk))
                    }
                    (Job::Append(_), None) => (PathBuf::new(), Ok(())),
                    (Job::Replace(path, bytes), _) => {
                        let result = output_file::write_atomically(&path, &bytes);
                        (path, result)
                    }
                };
                if outbox.send(Done { path, trouble: result.err() }).is_err() {
                    break;
                }
            }
        };
        let thread = std::thread::spawn(work);
        Self { jobs: Some(jobs), done, waiting: 0, thread: Some(thread) }
    }

    /// Whether all jobs are known to be done.
    pub fn is_idle(&self) -> bool {
        self.waiting == 0
    }

    /// Gives the thread something to do.
    pub fn give(&mut self, job: Job) {
        if self.jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok()) {
            self.waiting += 1;
        }
    }

    /// How the next job ended, if it has; jobs end in the order in which they were given.
    pub fn ended(&mut self) -> Option<Done> {
        let result = self.done.try_recv().ok()?;
        self.waiting -= 1;
        Some(result)
    }

    /// Waits until the next job has ended; `None` if there is none.
    pub fn wait(&mut self) -> Option<Done> {
        if self.waiting == 0 {
            return None;
        }
        let result = self.done.recv().ok();
        self.waiting = if result.is_some() { self.waiting - 1 } else { 0 };
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
pub struct Stream {
    path: PathBuf,
    file: File,
    /// Length of what is whole.
    sound: u64,
}

impl Stream {
    /// Begins a file with some chunks; it is there with all of them or not at all.
    pub fn create(path: &Path, chunks: &[Chunk]) -> io::Result<Self> {
        let bytes: Vec<u8> = chunks.iter().flat_map(Chunk::to_bytes).collect();
        output_file::write_atomically(path, &bytes)?;
        let file = OpenOptions::new().append(true).open(path)?;
        Ok(Self { path: path.to_owned(), file, sound: bytes.len() as u64 })
    }

    fn append(&mut self, chunk: &Chunk) -> io::Result<()> {
        let bytes = chunk.to_bytes();
        match self.file.write_all(&bytes).and_then(|()| self.file.sync_data()) {
            Ok(()) => {
                self.sound += bytes.len() as u64;
                Ok(())
            }
            Err(source) => {
                // A reader would stop at the piece of a chunk, and with it at all that follow.
                let _ = self.file.set_len(self.sound);
                Err(source)
            }
        }
    }
}
