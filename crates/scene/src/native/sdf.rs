//! Signed distance fields: `shape = "sdf"` with a table `sdf` that says which solid it is.
//!
//! One key names the kind (`sphere`, `box`, `cylinder`, `capsule`, `torus`, `revolve`, `thread`, `mesh`, `union`,
//! `intersection`, `difference`); the others belong to it. Every table may have a `position` and an `orientation`.

use std::path::Path;
use std::sync::Arc;

use nalgebra::Isometry3;
use stiction_geom::field::{GridSign, Profile, Thread, ThreadSide};
use stiction_geom::shape::Mesh;
use stiction_geom::{FieldSolid, Shape, ShapeError};

use super::table::Table;
use super::{pose, shape};
use crate::error::SceneError;
use crate::files::Files;

/// How deep solids may be nested.
const DEEPEST: usize = 32;
const KINDS: &str = "one of sphere, box, cylinder, capsule, torus, revolve, thread, mesh, union, \
                     intersection, difference";

/// The shape of a body whose `shape` is "sdf".
pub(super) fn read(table: &Table, files: &mut Files, folder: &Path) -> Result<Shape, SceneError> {
    let inner = table.table("sdf")?;
    let inner = inner.ok_or_else(|| table.wrong("sdf", "a table that describes the solid"))?;
    let width = inner.positive("width")?;
    let solid = solid(inner, files, folder, 0)?;
    Shape::field(solid, width).map_err(|error| table.because("sdf", error))
}

fn solid(
    table: Table,
    files: &mut Files,
    folder: &Path,
    depth: usize,
) -> Result<FieldSolid, SceneError> {
    if depth > DEEPEST {
        return Err(table.error(format_args!("solids nested deeper than {DEEPEST}")));
    }
    let need = |key: &'static str| {
        let found = table.positive(key)?;
        found.ok_or_else(|| table.wrong(key, "a length [m]"))
    };
    let rounding = || Ok::<f64, SceneError>(table.not_negative("rounding")?.unwrap_or(0.0));
    let smooth = || Ok::<f64, SceneError>(table.not_negative("smooth")?.unwrap_or(0.0));
    let of_list = |key: &'static str, files: &mut Files| {
        let tables = table.tables(key)?;
        tables
            .into_iter()
            .map(|part| solid(part, files, folder, depth + 1))
            .collect::<Result<Vec<_>, SceneError>>()
    };
    let because = |key: &'static str| move |error: ShapeError| (key, error);
    let made = if table.has("sphere") {
        Ok(FieldSolid::Sphere(need("sphere")?))
    } else if table.has("box") {
        let edges = table.vector("box")?.unwrap_or_default();
        Ok(FieldSolid::Box { half: 0.5 * edges, rounding: rounding()? })
    } else if table.has("cylinder") || table.has("capsule") || table.has("torus") {
        let round = |key: &'static str| {
            let found = table.array::<2>(key)?;
            found.ok_or_else(|| table.wrong(key, "two lengths [m]"))
        };
        Ok(if table.has("cylinder") {
            let [radius, length] = round("cylinder")?;
            FieldSolid::Cylinder { radius, half_length: 0.5 * length, rounding: rounding()? }
        } else if table.has("capsule") {
            let [radius, length] = round("capsule")?;
            FieldSolid::Capsule { radius, half_length: 0.5 * length }
        } else {
            let [major, minor] = round("torus")?;
            FieldSolid::Torus { major, minor }
        })
    } else if table.has("revolve") {
        let expected = "points [r, z] [m]";
        let rows = table.rows("revolve")?.unwrap_or_default();
        let points: Option<Vec<[f64; 2]>> =
            rows.iter().map(|row| <[f64; 2]>::try_from(&row[..]).ok()).collect();
        let points = points.ok_or_else(|| table.wrong("revolve", expected))?;
        let profile = match table.positive("thickness")? {
            Some(thickness) => Profile::line(&points, thickness),
            None => Profile::polygon(&points, rounding()?),
        };
        profile.map(|profile| FieldSolid::Revolve(Arc::new(profile))).map_err(because("revolve"))
    } else if table.has("thread") {
        Ok(FieldSolid::Thread(thread(&table)?))
    } else if table.has("mesh") {
        let mesh = shape::triangles_of(&table, "mesh", files, folder)?;
        let sign = match table.flag("winding")? {
            true => GridSign::Winding,
            false => GridSign::Closed,
        };
        let cell = table.positive("cell")?;
        let built = Mesh::build(&mesh.vertices, &mesh.triangles);
        built
            .and_then(|mesh| {
                let cell = cell.unwrap_or(mesh.local_bounds().size().max() / 64.0);
                files.fields.sampled(mesh, cell, sign)
            })
            .map(FieldSolid::Grid)
            .map_err(because("mesh"))
    } else if table.has("union") {
        Ok(FieldSolid::Union { parts: of_list("union", files)?, smooth: smooth()? })
    } else if table.has("intersection") {
        Ok(FieldSolid::Intersection { parts: of_list("intersection", files)?, smooth: smooth()? })
    } else if table.has("difference") {
        let mut parts: Vec<FieldSolid> = of_list("difference", files)?;
        if parts.len() < 2 {
            return Err(table.wrong("difference", "a solid and those to cut away from it"));
        }
        let others = parts.split_off(1);
        let without = FieldSolid::Union { parts: others, smooth: 0.0 };
        match parts.pop() {
            Some(from) => {
                let (from, without) = (Box::new(from), Box::new(without));
                Ok(FieldSolid::Difference { from, without, smooth: smooth()? })
            }
            None => return Err(table.error(KINDS)),
        }
    } else {
        return Err(table.error(format_args!("no kind of solid; expected {KINDS}")));
    };
    let made = made.map_err(|(key, error)| table.because(key, error))?;
    let at = pose::read(&table)?;
    table.finish()?;
    Ok(if at == Isometry3::identity() { made } else { FieldSolid::Placed(at, Box::new(made)) })
}

/// A thread: an M48 unless lengths say otherwise.
fn thread(table: &Table) -> Result<Thread, SceneError> {
    let words = [("bolt", ThreadSide::Bolt), ("nut", ThreadSide::Nut)];
    let side = table.word("thread", &words)?.unwrap_or(ThreadSide::Bolt);
    let length = table.positive("length")?;
    let length = length.ok_or_else(|| table.wrong("length", "a length [m]"))?;
    let mut thread = match side {
        ThreadSide::Bolt => Thread::m48_bolt(0.5 * length),
        ThreadSide::Nut => {
            Thread::m48_nut(0.5 * length, table.not_negative("clearance")?.unwrap_or(1e-4))
        }
    };
    let lengths = [
        ("pitch", &mut thread.pitch),
        ("major_radius", &mut thread.major_radius),
        ("minor_radius", &mut thread.minor_radius),
        ("outer_radius", &mut thread.outer_radius),
    ];
    for (key, value) in lengths {
        if let Some(found) = table.positive(key)? {
            *value = found;
        }
    }
    Ok(thread)
}
