//! A recording as a NumPy archive: every column an array, readable by `numpy.load` without pickling.
//!
//! Shapes: `time` (t,); `position` (t, b, 3); `rotation` (t, b, 4) as w, x, y, z; contacts of all
//! frames one after the other, those of frame k being `contact_start[k]:contact_start[k + 1]`;
//! figures (t,), see [`crate::columns`]. Names are arrays of text; single values (title, solver,
//! time step) are arrays without axes. Numbers keep all their bits. Cost: one deflate pass.

use std::io::{Cursor, Write};
use std::path::Path;

use stiction_sim::PHASES;
use stiction_sim::record::Recording;
use zip::write::{SimpleFileOptions, ZipWriter};

use crate::columns::{EntriesPer, Values, columns, soft_vertices};
use crate::{ViewError, exporter};

/// Arrays start at multiples of this many bytes, as NumPy's own do.
const ALIGNMENT: usize = 64;
/// Members from 4 GiB on need the longer fields of zip; half of that leaves room for a header.
const LARGE: usize = 1 << 31;
/// Deflate level; higher ones hardly shrink poses further.
const LEVEL: i64 = 1;

/// Writes a recording to a file.
pub fn write(recording: &Recording, path: &Path) -> Result<(), ViewError> {
    recording.check()?;
    let bytes = archive(recording).map_err(|source| exporter::unwritten(path, source))?;
    exporter::put(path, &bytes)
}

/// The archive of a consistent recording.
pub fn archive(recording: &Recording) -> std::io::Result<Vec<u8>> {
    let mut archive = Archive { zip: ZipWriter::new(Cursor::new(Vec::new())) };
    let frames = recording.len();
    for column in columns(recording) {
        let mut shape = match column.per {
            EntriesPer::Frame => vec![frames],
            EntriesPer::Body => vec![frames, recording.moving.len()],
            EntriesPer::Contact => vec![recording.frames.contacts.gap.len()],
            EntriesPer::SoftVertex => vec![frames, soft_vertices(recording)],
        };
        if !column.components.is_empty() {
            shape.push(column.components.len());
        }
        archive.values(column.name, &shape, column.values)?;
    }
    let contacts = &recording.frames.contacts;
    archive.indices("contact_start", contacts.first.iter().copied().chain([contacts.gap.len()]))?;
    archive.texts("phase_names", PHASES.iter().copied())?;

    archive.texts("body_names", recording.bodies.iter().map(String::as_str))?;
    archive.indices("moving", recording.moving.iter().copied())?;
    let position: Vec<[f64; 3]> =
        recording.rest.iter().map(|pose| pose.translation.vector.into()).collect();
    let rotation: Vec<[f64; 4]> = recording
        .rest
        .iter()
        .map(|pose| pose.rotation.quaternion())
        .map(|q| [q.w, q.i, q.j, q.k])
        .collect();
    let bodies = recording.rest.len();
    archive.values("rest_position", &[bodies, 3], Values::F64(position.as_flattened()))?;
    archive.values("rest_rotation", &[bodies, 4], Values::F64(rotation.as_flattened()))?;
    archive.texts("shape_names", recording.shapes.iter().map(|shape| shape.name.as_str()))?;
    archive.indices("shape_bodies", recording.shapes.iter().map(|shape| shape.body))?;
    archive.texts("soft_names", recording.softs.iter().map(|soft| soft.name.as_str()))?;
    archive.indices("soft_vertices", recording.softs.iter().map(|soft| soft.vertices))?;

    archive.text("title", &recording.title)?;
    archive.text("solver", &recording.solver)?;
    archive.values("time_step", &[], Values::F64(&[recording.time_step]))?;
    archive.values("tolerance", &[], Values::F64(&[recording.tolerance]))?;
    Ok(archive.zip.finish()?.into_inner())
}

/// The archive under construction.
struct Archive {
    zip: ZipWriter<Cursor<Vec<u8>>>,
}

impl Archive {
    /// One array: its header, as the NumPy format version 1.0 has it, and its elements.
    fn member(
        &mut self,
        name: &str,
        element: &str,
        shape: &[usize],
        bytes: &[u8],
    ) -> std::io::Result<()> {
        let options = SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Deflated)
            .compression_level(Some(LEVEL))
            .last_modified_time(zip::DateTime::default())
            .large_file(bytes.len() >= LARGE);
        self.zip.start_file(format!("{name}.npy"), options)?;
        let extents: Vec<String> = shape.iter().map(usize::to_string).collect();
        let comma = if shape.len() == 1 { "," } else { "" };
        let extents = format!("({}{comma})", extents.join(", "));
        let mut header =
            format!("{{'descr': '{element}', 'fortran_order': False, 'shape': {extents}, }}");
        let unpadded = b"\x93NUMPY\x01\x00".len() + size_of::<u16>() + header.len() + 1;
        header.push_str(&" ".repeat(unpadded.next_multiple_of(ALIGNMENT) - unpadded));
        header.push('\n');
        let length = u16::try_from(header.len()).map_err(std::io::Error::other)?;
        self.zip.write_all(b"\x93NUMPY\x01\x00")?;
        self.zip.write_all(&length.to_le_bytes())?;
        self.zip.write_all(header.as_bytes())?;
        self.zip.write_all(bytes)
    }

    fn values(&mut self, name: &str, shape: &[usize], values: Values) -> std::io::Result<()> {
        let (element, bytes): (&str, Vec<u8>) = match values {
            Values::F64(v) => ("<f8", v.iter().flat_map(|x| x.to_le_bytes()).collect()),
            Values::F32(v) => ("<f4", v.iter().flat_map(|x| x.to_le_bytes()).collect()),
            Values::U32(v) => ("<u4", v.iter().flat_map(|x| x.to_le_bytes()).collect()),
            Values::U8(v) => ("|u1", v.to_vec()),
            Values::Bool(v) => ("|b1", v.iter().map(|&x| u8::from(x)).collect()),
        };
        self.member(name, element, shape, &bytes)
    }

    /// Indices, as NumPy's own: eight bytes with sign.
    fn indices(&mut self, name: &str, indices: impl Iterator<Item = usize>) -> std::io::Result<()> {
        let bytes: Vec<u8> = indices.flat_map(|x| (x as i64).to_le_bytes()).collect();
        self.member(name, "<i8", &[bytes.len() / size_of::<i64>()], &bytes)
    }

    fn texts<'a>(
        &mut self,
        name: &str,
        texts: impl ExactSizeIterator<Item = &'a str>,
    ) -> std::io::Result<()> {
        let texts: Vec<&str> = texts.collect();
        self.unicode(name, &[texts.len()], &texts)
    }

    fn text(&mut self, name: &str, text: &str) -> std::io::Result<()> {
        self.unicode(name, &[], &[text])
    }

    /// Text of four bytes per character, as many in each entry as the longest has; NumPy drops the
    /// zeros at the end.
    fn unicode(&mut self, name: &str, shape: &[usize], texts: &[&str]) -> std::io::Result<()> {
        let longest = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(1);
        let mut bytes = Vec::with_capacity(4 * longest * texts.len());
        for text in texts {
            let padding = std::iter::repeat_n('\0', longest - text.chars().count());
            bytes.extend(text.chars().chain(padding).flat_map(|c| (c as u32).to_le_bytes()));
        }
        self.member(name, &format!("<U{longest}"), shape, &bytes)
    }
}
