//! The constant part of a recording: names, bodies, shapes, soft surfaces.

use super::super::{RecordedSoftBody, Recording, VisualShape};
use super::geometry;
use crate::bytes::{Reader, Writer};

pub fn write(recording: &Recording, out: &mut Writer) {
    out.text(&recording.title);
    out.text(&recording.solver);
    out.f64(recording.time_step);
    out.f64(recording.tolerance);
    out.list(&recording.bodies, |out, name| out.text(name));
    out.list(&recording.rest, Writer::pose);
    out.list(&recording.moving, |out, body| out.u32(*body as u32));
    let mut known = geometry::WrittenGeometries::default();
    out.list(&recording.shapes, |out, shape| {
        out.text(&shape.name);
        out.u32(shape.body as u32);
        out.pose(&shape.pose);
        known.write(&shape.geometry, out);
        shape.colour.iter().for_each(|x| out.f32(*x));
        out.u32(u32::from(shape.collides));
    });
    out.list(&recording.softs, |out, soft| {
        out.text(&soft.name);
        out.u64(soft.vertices as u64);
        out.list(&soft.triangles, |out, corners| out.counts(corners));
        soft.colour.iter().for_each(|x| out.f32(*x));
    });
}

pub fn read(from: &mut Reader) -> Option<Recording> {
    let mut recording = Recording {
        title: from.text()?,
        solver: from.text()?,
        time_step: from.f64()?,
        tolerance: from.f64()?,
        bodies: from.list(Reader::text)?,
        rest: from.list(Reader::pose)?,
        moving: from.list(|from| Some(from.u32()? as usize))?,
        ..Recording::default()
    };
    let mut parts = 0;
    for _ in 0..from.length()? {
        let (name, body, pose) = (from.text()?, from.u32()? as usize, from.pose()?);
        let geometry = geometry::read(from, &recording.shapes, &mut parts)?;
        let (colour, collides) = (colour(from)?, from.u32()? != 0);
        recording.shapes.push(VisualShape { name, body, pose, geometry, colour, collides });
    }
    recording.softs = from.list(|from| {
        let (name, vertices) = (from.text()?, usize::try_from(from.u64()?).ok()?);
        let triangles = from.list(geometry::corners)?;
        // Every vertex of a surface belongs to a triangle; more would take memory without bytes.
        if vertices > triangles.len().saturating_mul(3) {
            return None;
        }
        Some(RecordedSoftBody { name, vertices, triangles, colour: colour(from)? })
    })?;
    from.done()?;
    Some(recording)
}

fn colour(from: &mut Reader) -> Option<[f32; 4]> {
    Some([from.f32()?, from.f32()?, from.f32()?, from.f32()?])
}
