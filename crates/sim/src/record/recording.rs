//! A recording: columns without behaviour, apart from a check that they fit together.
//!
//! Every column of [`Frames`] has one entry per frame, or one per frame and moving body, frame by
//! frame. Contacts differ in number from frame to frame; `first` says where those of a frame begin.
//! Poses are those at the frame's time; contacts, forces and statistics are those of the step that
//! led to it (nothing for a first frame before any step).

use nalgebra::Isometry3;

use super::{RecordError, RecordedPatches, VisualShape};
use crate::report::PHASES;

/// The recorded history of a run.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// Title of the run.
    pub title: String,
    /// The solver.
    pub solver: String,
    /// Time step [s].
    pub time_step: f64,
    /// Tolerance of the solver [-].
    pub tolerance: f64,
    /// Names of the bodies; the first is the world.
    pub bodies: Vec<String>,
    /// Pose of each body at the first frame; those that do not move stay there.
    pub rest: Vec<Isometry3<f64>>,
    /// Indices of the bodies that move, ascending.
    pub moving: Vec<usize>,
    /// Visual shapes; those of the world first, in its order.
    pub shapes: Vec<VisualShape>,
    /// Surfaces of soft bodies.
    pub softs: Vec<RecordedSoftBody>,
    /// The columns.
    pub frames: Frames,
}

/// The surface of a soft body; its vertices are in [`Frames::soft`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedSoftBody {
    /// Name, may be empty.
    pub name: String,
    /// Number of vertices.
    pub vertices: usize,
    /// Three vertices each, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Red, green, blue and opacity, each from 0 to 1.
    pub colour: [f32; 4],
}

/// Columns over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frames {
    /// Time [s].
    pub time: Vec<f64>,
    /// Origins of the moving bodies in the world [m]; frames × moving bodies.
    pub position: Vec<[f64; 3]>,
    /// Their orientations, unit quaternions w, x, y, z; frames × moving bodies.
    pub rotation: Vec<[f64; 4]>,
    /// Vertices of the soft surfaces in the world [m]; frames × vertices of all surfaces.
    pub soft: Vec<[f32; 3]>,
    /// Contacts.
    pub contacts: Contacts,
    /// Polygons of contact patches at the poses of the frames.
    pub patches: RecordedPatches,
    /// Measured statistics.
    pub statistics: FrameStatistics,
}

/// Contacts of all frames, one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contacts {
    /// Index of the first contact of each frame.
    pub first: Vec<usize>,
    /// The two bodies, A and B.
    pub bodies: Vec<[u32; 2]>,
    /// The two shapes, A and B, as in [`Recording::shapes`].
    pub shapes: Vec<[u32; 2]>,
    /// Position in the world [m].
    pub point: Vec<[f64; 3]>,
    /// Unit normal from A into B.
    pub normal: Vec<[f64; 3]>,
    /// Force on B, mean over the step, world axes [N].
    pub force: Vec<[f64; 3]>,
    /// Distance along the normal [m], negative in penetration.
    pub gap: Vec<f64>,
}

impl Contacts {
    /// Indices of the contacts of a frame.
    pub fn of(&self, frame: usize) -> std::ops::Range<usize> {
        let start = self.first.get(frame).copied().unwrap_or(self.gap.len());
        start..self.first.get(frame + 1).copied().unwrap_or(self.gap.len())
    }
}

/// Measured statistics, per frame.
///
/// A frame summarises all steps since the last one, so that nothing that happened between two
/// frames is lost and the columns do not grow with the number of steps: residuals, penetration,
/// equality errors, iterations and status are the worst of these steps, times are their means;
/// energies and counts are those at the frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrameStatistics {
    /// Steps since the last frame.
    pub steps: Vec<u32>,
    /// Relative error of momentum [-].
    pub momentum: Vec<f64>,
    /// Violation of the laws with exact friction [m/s].
    pub coulomb: Vec<f64>,
    /// Violation of the laws with relaxed friction [m/s].
    pub convex: Vec<f64>,
    /// Iterations of the solver.
    pub iterations: Vec<u32>,
    /// How the solver ended: 0 converged, 1 iteration limit, 2 stalled, 3 failed.
    pub status: Vec<u8>,
    /// Faults of the steps, as [`StepFlags::bits`](crate::StepFlags::bits); zero if all were ok.
    pub flags: Vec<u8>,
    /// Whether a step had to be solved with softened constraints.
    pub softened: Vec<bool>,
    /// Deepest penetration [m].
    pub penetration: Vec<f64>,
    /// Largest position error of an equality [m, rad].
    pub equality_error: Vec<f64>,
    /// Kinetic energy [J].
    pub kinetic: Vec<f64>,
    /// Potential energy of weight and springs [J].
    pub potential: Vec<f64>,
    /// Time of each phase of a step [s], in the order of [`PHASES`].
    pub phases: Vec<[f64; PHASES.len()]>,
    /// Contacts that were detected, including those still apart.
    pub contacts: Vec<u32>,
    /// Bodies that are asleep.
    pub asleep: Vec<u32>,
}

impl Recording {
    /// Number of frames.
    pub fn len(&self) -> usize {
        self.frames.time.len()
    }

    /// Whether there is no frame.
    pub fn is_empty(&self) -> bool {
        self.frames.time.is_empty()
    }

    /// Removes the frames after a time [s].
    pub fn keep_until(&mut self, time: f64) {
        let n = self.frames.time.partition_point(|t| *t <= time);
        if n == self.len() {
            return;
        }
        let moving = n * self.moving.len();
        let soft = n * self.softs.iter().map(|soft| soft.vertices).sum::<usize>();
        let Frames { time, position, rotation, soft: surface, contacts, patches, statistics } =
            &mut self.frames;
        let count = contacts.first.get(n).copied().unwrap_or(0);
        time.truncate(n);
        position.truncate(moving);
        rotation.truncate(moving);
        surface.truncate(soft);
        let Contacts { first, bodies, shapes, point, normal, force, gap } = contacts;
        first.truncate(n);
        [bodies, shapes].into_iter().for_each(|column| column.truncate(count));
        [point, normal, force].into_iter().for_each(|column| column.truncate(count));
        gap.truncate(count);
        patches.truncate(n);
        let f = statistics;
        for column in [&mut f.steps, &mut f.iterations, &mut f.contacts, &mut f.asleep] {
            column.truncate(n);
        }
        for column in [
            &mut f.momentum,
            &mut f.coulomb,
            &mut f.convex,
            &mut f.penetration,
            &mut f.equality_error,
            &mut f.kinetic,
            &mut f.potential,
        ] {
            column.truncate(n);
        }
        f.status.truncate(n);
        f.flags.truncate(n);
        f.softened.truncate(n);
        f.phases.truncate(n);
    }

    /// Checks that all columns fit together, as those of a [`Recorder`](super::Recorder) always do.
    pub fn check(&self) -> Result<(), RecordError> {
        let (frames, n) = (&self.frames, self.len());
        let (contacts, statistics) = (&frames.contacts, &frames.statistics);
        let (patches, polygons) = (&frames.patches, frames.patches.shapes.len());
        let corners = patches.corners.iter().map(|count| usize::from(*count)).sum();
        let patch_frames = if patches.is_recorded() { n } else { 0 };
        let (moving, count) = (self.moving.len(), contacts.gap.len());
        let soft: usize = self.softs.iter().map(|soft| soft.vertices).sum();
        for (column, found, expected) in [
            ("rest", self.rest.len(), self.bodies.len()),
            ("position", frames.position.len(), n * moving),
            ("rotation", frames.rotation.len(), n * moving),
            ("soft", frames.soft.len(), n * soft),
            ("contacts.first", contacts.first.len(), n),
            ("contacts.bodies", contacts.bodies.len(), count),
            ("contacts.shapes", contacts.shapes.len(), count),
            ("contacts.point", contacts.point.len(), count),
            ("contacts.normal", contacts.normal.len(), count),
            ("contacts.force", contacts.force.len(), count),
            ("patches.first", patches.first.len(), patch_frames),
            ("patches.first_corner", patches.first_corner.len(), patch_frames),
            ("patches.omitted", patches.omitted.len(), patch_frames),
            ("patches.pressure", patches.pressure.len(), polygons),
            ("patches.corners", patches.corners.len(), polygons),
            ("patches.corner", patches.corner.len(), corners),
            ("steps", statistics.steps.len(), n),
            ("momentum", statistics.momentum.len(), n),
            ("coulomb", statistics.coulomb.len(), n),
            ("convex", statistics.convex.len(), n),
            ("iterations", statistics.iterations.len(), n),
            ("status", statistics.status.len(), n),
            ("flags", statistics.flags.len(), n),
            ("softened", statistics.softened.len(), n),
            ("penetration", statistics.penetration.len(), n),
            ("equality_error", statistics.equality_error.len(), n),
            ("kinetic", statistics.kinetic.len(), n),
            ("potential", statistics.potential.len(), n),
            ("phases", statistics.phases.len(), n),
            ("contacts", statistics.contacts.len(), n),
            ("asleep", statistics.asleep.len(), n),
        ] {
            if found != expected {
                return Err(RecordError::Length { column, found, expected });
            }
        }
        let index = |column, found, count| {
            if found < count { Ok(()) } else { Err(RecordError::Index { column, found, count }) }
        };
        let bodies = self.bodies.len();
        self.moving.iter().try_for_each(|&b| index("moving", b, bodies))?;
        self.shapes.iter().try_for_each(|s| index("shapes.body", s.body, bodies))?;
        let of_contacts = contacts.bodies.iter().flatten();
        of_contacts.into_iter().try_for_each(|&b| index("contacts.bodies", b as usize, bodies))?;
        contacts.first.iter().try_for_each(|&k| index("contacts.first", k, count + 1))?;
        let shapes = self.shapes.len();
        let of_patches = patches.shapes.iter().flatten();
        of_patches.into_iter().try_for_each(|&s| index("patches.shapes", s as usize, shapes))?;
        patches.first.iter().try_for_each(|&k| index("patches.first", k, polygons + 1))?;
        let of_corners = patches.first_corner.iter();
        of_corners.into_iter().try_for_each(|&k| index("patches.first_corner", k, corners + 1))?;
        for soft in &self.softs {
            for &corner in soft.triangles.iter().flatten() {
                index("softs.triangles", corner as usize, soft.vertices)?;
            }
        }
        Ok(())
    }
}
