//! Frames as bytes, column after column. How many numbers a column has follows from the head and
//! from the number of contacts of each frame.

use std::ops::Range;

use super::super::{FrameStatistics, RecordedPatches, Recording};
use crate::bytes::{Reader, Writer};
use crate::status::{StepFlags, StepStatus};

pub fn write(recording: &Recording, range: Range<usize>, out: &mut Writer) {
    let frames = &recording.frames;
    let of = |per_frame: usize| range.start * per_frame..range.end * per_frame;
    let moving = of(recording.moving.len());
    out.u64(range.len() as u64);
    out.numbers(&frames.time[range.clone()]);
    out.rows(&frames.position[moving.clone()]);
    out.rows(&frames.rotation[moving]);
    let soft = of(recording.softs.iter().map(|soft| soft.vertices).sum());
    frames.soft[soft].iter().flatten().for_each(|x| out.f32(*x));
    let contacts = &frames.contacts;
    range.clone().for_each(|frame| out.u32(contacts.of(frame).len() as u32));
    let end = if range.is_empty() { 0 } else { contacts.of(range.end - 1).end };
    let those = contacts.first.get(range.start).map_or(0, |first| *first).min(end)..end;
    contacts.bodies[those.clone()].iter().for_each(|pair| out.counts(pair));
    contacts.shapes[those.clone()].iter().for_each(|pair| out.counts(pair));
    out.rows(&contacts.point[those.clone()]);
    out.rows(&contacts.normal[those.clone()]);
    out.rows(&contacts.force[those.clone()]);
    out.numbers(&contacts.gap[those]);
    let f = &frames.statistics;
    out.counts(&f.steps[range.clone()]);
    out.counts(&f.iterations[range.clone()]);
    out.counts(&f.contacts[range.clone()]);
    out.counts(&f.asleep[range.clone()]);
    for column in [
        &f.momentum,
        &f.coulomb,
        &f.convex,
        &f.penetration,
        &f.equality_error,
        &f.kinetic,
        &f.potential,
    ] {
        out.numbers(&column[range.clone()]);
    }
    out.rows(&f.phases[range.clone()]);
    out.0.extend_from_slice(&f.status[range.clone()]);
    out.0.extend(f.softened[range.clone()].iter().map(|softened| u8::from(*softened)));
    out.0.extend_from_slice(&f.flags[range.clone()]);
    write_patches(&frames.patches, range, out);
}

fn write_patches(patches: &RecordedPatches, range: Range<usize>, out: &mut Writer) {
    range.clone().for_each(|frame| out.u32(patches.of(frame).len() as u32));
    let omitted = |frame| patches.omitted.get(frame).copied().unwrap_or(0);
    range.clone().for_each(|frame| out.u32(omitted(frame)));
    for frame in range {
        let (polygons, corners) = (patches.of(frame), patches.corners_of(frame));
        patches.shapes[polygons.clone()].iter().for_each(|pair| out.counts(pair));
        patches.pressure[polygons.clone()].iter().for_each(|p| out.f32(*p));
        out.0.extend_from_slice(&patches.corners[polygons]);
        patches.corner[corners].iter().flatten().for_each(|x| out.f32(*x));
    }
}

/// Appends the frames; what they were appended to is of no use if this fails.
///
/// Frames of version 1 have no faults: they follow from the solver's status. Those before version 3 have no patches.
pub fn read(recording: &mut Recording, version: u32, from: &mut Reader) -> Option<()> {
    let n = from.length()?;
    let moving = n.checked_mul(recording.moving.len())?;
    let vertices =
        recording.softs.iter().try_fold(0_usize, |sum, s| sum.checked_add(s.vertices))?;
    let frames = &mut recording.frames;
    frames.time.extend(from.numbers(n)?);
    frames.position.extend(from.rows(moving)?);
    frames.rotation.extend(from.rows(moving)?);
    let soft = |from: &mut Reader| Some([from.f32()?, from.f32()?, from.f32()?]);
    frames.soft.extend(from.items(n.checked_mul(vertices)?, soft)?);
    let contacts = &mut frames.contacts;
    let mut end = contacts.gap.len();
    let before = end;
    for count in from.counts(n)? {
        contacts.first.push(end);
        end = end.checked_add(count as usize)?;
    }
    let count = end - before;
    let pair = |from: &mut Reader| Some([from.u32()?, from.u32()?]);
    contacts.bodies.extend(from.items(count, pair)?);
    contacts.shapes.extend(from.items(count, pair)?);
    contacts.point.extend(from.rows(count)?);
    contacts.normal.extend(from.rows(count)?);
    contacts.force.extend(from.rows(count)?);
    contacts.gap.extend(from.numbers(count)?);
    statistics(&mut frames.statistics, n, version, from)?;
    if version > 2 {
        read_patches(&mut frames.patches, n, from)?;
    } else {
        (0..n).for_each(|_| frames.patches.begin_frame());
    }
    from.done()
}

fn read_patches(patches: &mut RecordedPatches, n: usize, from: &mut Reader) -> Option<()> {
    let counts = from.counts(n)?;
    let omitted = from.counts(n)?;
    for (count, omitted) in counts.into_iter().zip(omitted) {
        let count = count as usize;
        patches.begin_frame();
        *patches.omitted.last_mut()? = omitted;
        patches.shapes.extend(from.items(count, |from| Some([from.u32()?, from.u32()?]))?);
        patches.pressure.extend(from.items(count, Reader::f32)?);
        let corners = from.slice(count)?;
        patches.corners.extend(corners);
        let total = corners.iter().map(|corners| usize::from(*corners)).sum();
        let corner = |from: &mut Reader| Some([from.f32()?, from.f32()?, from.f32()?]);
        patches.corner.extend(from.items(total, corner)?);
    }
    Some(())
}

fn statistics(f: &mut FrameStatistics, n: usize, version: u32, from: &mut Reader) -> Option<()> {
    for column in [&mut f.steps, &mut f.iterations, &mut f.contacts, &mut f.asleep] {
        column.extend(from.counts(n)?);
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
        column.extend(from.numbers(n)?);
    }
    f.phases.extend(from.rows(n)?);
    f.status.extend(from.slice(n)?);
    f.softened.extend(from.slice(n)?.iter().map(|byte| *byte != 0));
    if version > 1 {
        f.flags.extend(from.slice(n)?);
    } else {
        let first = f.flags.len();
        let solved = f.status[first..].iter().zip(&f.softened[first..]);
        f.flags.extend(solved.map(|(status, softened)| {
            let flags = StepFlags::default().with(StepStatus::Softened, *softened);
            flags.with(StepStatus::ProblemNotSolved, *status != 0).bits()
        }));
    }
    Some(())
}
