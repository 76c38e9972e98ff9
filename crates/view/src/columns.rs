//! The columns of a recording with names, for files of numbers.
//!
//! One list serves all formats. A column has one entry per frame, moving body, contact or soft vertex,
//! names for the components of an entry, and borrows its numbers from the recording.

use stiction_sim::PHASES;
use stiction_sim::record::Recording;

/// The items of which each has one entry in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntriesPer {
    /// Frames.
    Frame,
    /// Frames × moving bodies.
    Body,
    /// Contacts of all frames, one after the other.
    Contact,
    /// Frames × vertices of all soft surfaces.
    SoftVertex,
}

/// The numbers of a column, component by component within an entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Values<'a> {
    /// Floats of eight bytes.
    F64(&'a [f64]),
    /// Floats of four bytes.
    F32(&'a [f32]),
    /// Counts and indices.
    U32(&'a [u32]),
    /// Codes.
    U8(&'a [u8]),
    /// Yes or no.
    Bool(&'a [bool]),
}

/// One column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Column<'a> {
    /// Name, a Python identifier.
    pub name: &'static str,
    /// The items of which each has one entry.
    pub per: EntriesPer,
    /// Names of the components of an entry; none if an entry is a number.
    pub components: &'static [&'static str],
    /// The numbers.
    pub values: Values<'a>,
}

const NUMBER: &[&str] = &[];
const VECTOR: &[&str] = &["x", "y", "z"];
const QUATERNION: &[&str] = &["w", "x", "y", "z"];
const PAIR: &[&str] = &["a", "b"];

/// All columns of a recording.
pub fn columns(recording: &Recording) -> Vec<Column<'_>> {
    use Values::{Bool, F32, F64, U8, U32};
    let (frames, figures) = (&recording.frames, &recording.frames.statistics);
    let contacts = &frames.contacts;
    let column = |name, per, components, values| Column { name, per, components, values };
    let of_frame = |name, values| column(name, EntriesPer::Frame, NUMBER, values);
    let of_contact =
        |name, components, values| column(name, EntriesPer::Contact, components, values);
    vec![
        of_frame("time", F64(&frames.time)),
        column("position", EntriesPer::Body, VECTOR, F64(frames.position.as_flattened())),
        column("rotation", EntriesPer::Body, QUATERNION, F64(frames.rotation.as_flattened())),
        column("soft_position", EntriesPer::SoftVertex, VECTOR, F32(frames.soft.as_flattened())),
        of_contact("contact_bodies", PAIR, U32(contacts.bodies.as_flattened())),
        of_contact("contact_shapes", PAIR, U32(contacts.shapes.as_flattened())),
        of_contact("contact_point", VECTOR, F64(contacts.point.as_flattened())),
        of_contact("contact_normal", VECTOR, F64(contacts.normal.as_flattened())),
        of_contact("contact_force", VECTOR, F64(contacts.force.as_flattened())),
        of_contact("contact_gap", NUMBER, F64(&contacts.gap)),
        of_frame("steps", U32(&figures.steps)),
        of_frame("residual_momentum", F64(&figures.momentum)),
        of_frame("residual_coulomb", F64(&figures.coulomb)),
        of_frame("residual_convex", F64(&figures.convex)),
        of_frame("iterations", U32(&figures.iterations)),
        of_frame("status", U8(&figures.status)),
        of_frame("step_flags", U8(&figures.flags)),
        of_frame("softened", Bool(&figures.softened)),
        of_frame("penetration", F64(&figures.penetration)),
        of_frame("equality_error", F64(&figures.equality_error)),
        of_frame("energy_kinetic", F64(&figures.kinetic)),
        of_frame("energy_potential", F64(&figures.potential)),
        column("phase_time", EntriesPer::Frame, &PHASES, F64(figures.phases.as_flattened())),
        of_frame("contacts", U32(&figures.contacts)),
        of_frame("asleep", U32(&figures.asleep)),
    ]
}

/// Number of vertices of all soft surfaces.
pub fn soft_vertices(recording: &Recording) -> usize {
    recording.softs.iter().map(|soft| soft.vertices).sum()
}
