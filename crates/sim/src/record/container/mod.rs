//! A recording as bytes that stay readable after a crash: chunks that are only ever appended.
//!
//! A magic word and a version, then chunks: a mark, the kind, the length, a checksum over all of it,
//! the bytes. The first chunk holds the constant data, each later one some frames; the last marks the
//! recording as complete. A truncated recording is read up to its last complete chunk. A damaged chunk
//! that valid chunks follow means that bytes were changed, and is an error.
//! Numbers are kept to the bit, little-endian; shapes are built anew from their corners.

mod frames;
mod geometry;
mod head;

use std::ops::Range;

use super::{RecordError, Recording};
use crate::bytes::{Reader, Writer};
use crate::hash::Fnv;

/// The first bytes of every recording.
const MAGIC: &[u8; 8] = b"stictrec";
/// Changes with the layout, and with the phases of a step.
const VERSION: u32 = 3;
/// The oldest version that is read.
const OLDEST: u32 = 1;
/// The first bytes of every chunk.
const MARK: &[u8; 4] = b"CHNK";
/// Where the first chunk begins.
const START: usize = MAGIC.len() + size_of::<u32>();
/// Number of marks after a damaged chunk that are tested in the search for a valid chunk.
const SEARCHES: usize = 64;

/// Kind of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChunkKind {
    Head = 1,
    Frames = 2,
    End = 3,
}

/// A piece of a recording, to be appended to those before it.
#[derive(Clone, Debug)]
pub struct Chunk {
    kind: ChunkKind,
    body: Vec<u8>,
}

impl Chunk {
    /// The constant data of a recording; `run` identifies the run.
    pub fn head(recording: &Recording, run: u64) -> Self {
        let mut out = Writer::default();
        out.u64(run);
        head::write(recording, &mut out);
        Self { kind: ChunkKind::Head, body: out.0 }
    }

    /// Some frames.
    pub fn frames(recording: &Recording, range: Range<usize>) -> Self {
        let mut out = Writer::default();
        frames::write(recording, range, &mut out);
        Self { kind: ChunkKind::Frames, body: out.0 }
    }

    /// The end of a complete recording.
    pub fn end(recording: &Recording) -> Self {
        Self { kind: ChunkKind::End, body: (recording.len() as u64).to_le_bytes().to_vec() }
    }

    /// As bytes; those of a head begin a file. Costs one pass over them for the checksum.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::default();
        if self.kind == ChunkKind::Head {
            out.0.extend_from_slice(MAGIC);
            out.u32(VERSION);
        }
        out.0.extend_from_slice(MARK);
        out.u32(self.kind as u32);
        out.u64(self.body.len() as u64);
        out.u64(checksum(self.kind as u32, &self.body));
        out.0.extend_from_slice(&self.body);
        out.0
    }
}

/// The bodies of the head and of all frames of a recording, for tests that change them.
#[cfg(test)]
pub(crate) fn bodies_of(recording: &Recording) -> [Vec<u8>; 2] {
    [Chunk::head(recording, 42).body, Chunk::frames(recording, 0..recording.len()).body]
}

#[cfg(test)]
impl Chunk {
    pub(crate) fn raw_head(body: &[u8]) -> Vec<u8> {
        Self { kind: ChunkKind::Head, body: body.to_vec() }.to_bytes()
    }

    pub(crate) fn raw_frames(body: &[u8]) -> Vec<u8> {
        Self { kind: ChunkKind::Frames, body: body.to_vec() }.to_bytes()
    }
}

fn checksum(kind: u32, body: &[u8]) -> u64 {
    let mut sum = Fnv::default();
    sum.add(kind.to_le_bytes().into_iter().chain((body.len() as u64).to_le_bytes()));
    sum.add_words(body);
    sum.hash()
}

/// A whole recording as bytes.
pub fn to_bytes(recording: &Recording, run: u64) -> Vec<u8> {
    let chunks = [
        Chunk::head(recording, run),
        Chunk::frames(recording, 0..recording.len()),
        Chunk::end(recording),
    ];
    chunks.iter().flat_map(Chunk::to_bytes).collect()
}

/// Whether bytes begin with the magic word of a recording, of any version.
pub fn recognises(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// A recording that was read.
#[derive(Clone, Debug)]
pub struct OpenedRecording {
    /// All frames of its valid chunks.
    pub recording: Recording,
    /// Identifies the run.
    pub run: u64,
    /// Whether it is complete, or truncated.
    pub whole: bool,
    /// Number of bytes of its valid chunks.
    pub sound: usize,
}

/// Reads a sequence of chunks that [`Chunk::to_bytes`] wrote, up to the last complete one.
pub fn read(bytes: &[u8]) -> Result<OpenedRecording, RecordError> {
    let Some(rest) = bytes.strip_prefix(MAGIC) else { return Err(RecordError::Foreign) };
    let damaged = |place| RecordError::Damaged { place, bytes: bytes.len() };
    let version = Reader(rest).u32().ok_or(RecordError::NoFrames { bytes: bytes.len() })?;
    if !(OLDEST..=VERSION).contains(&version) {
        return Err(RecordError::Version { found: version, expected: VERSION });
    }
    let Some((ChunkKind::Head, body, mut place)) = chunk(bytes, START) else {
        let headless = RecordError::NoFrames { bytes: bytes.len() };
        return Err(if sound_after(bytes, START) { damaged(START) } else { headless });
    };
    let mut from = Reader(body);
    let run = from.u64().ok_or(damaged(START))?;
    let mut recording = head::read(&mut from).ok_or(damaged(START))?;
    let mut whole = false;
    while !whole {
        match chunk(bytes, place) {
            Some((ChunkKind::Frames, body, next)) => {
                frames::read(&mut recording, version, &mut Reader(body)).ok_or(damaged(place))?;
                place = next;
            }
            Some((ChunkKind::End, body, next))
                if body == (recording.len() as u64).to_le_bytes() =>
            {
                (whole, place) = (true, next);
            }
            Some(_) => return Err(damaged(place)),
            None if sound_after(bytes, place) => return Err(damaged(place)),
            None => break,
        }
    }
    recording.check()?;
    Ok(OpenedRecording { recording, run, whole, sound: place })
}

/// The valid chunk at a byte offset, and the offset of the next.
fn chunk(bytes: &[u8], place: usize) -> Option<(ChunkKind, &[u8], usize)> {
    let mut from = Reader(bytes.get(place..)?.strip_prefix(MARK)?);
    let (kind, length, sum) = (from.u32()?, from.u64()?, from.u64()?);
    let body = from.slice(usize::try_from(length).ok()?)?;
    let known = [ChunkKind::Head, ChunkKind::Frames, ChunkKind::End]
        .into_iter()
        .find(|k| *k as u32 == kind)?;
    (checksum(kind, body) == sum).then_some((known, body, bytes.len() - from.0.len()))
}

/// Whether a valid chunk begins after a byte offset: then bytes were changed there, not truncated.
fn sound_after(bytes: &[u8], place: usize) -> bool {
    let behind = bytes.get(place + 1..).unwrap_or_default();
    let marks = behind.windows(MARK.len()).enumerate().filter(|(_, word)| word == MARK);
    marks.take(SEARCHES).any(|(k, _)| chunk(bytes, place + 1 + k).is_some())
}

#[cfg(test)]
mod tests;
