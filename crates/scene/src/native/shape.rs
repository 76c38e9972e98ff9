//! Shapes: `shape = "box"` and the lengths that belong to it.

use std::path::Path;

use nalgebra::Vector3;
use stiction_geom::{SHAPES, Shape};

use super::csv;
use super::sdf;
use super::table::Table;
use crate::error::SceneError;
use crate::files::Files;
use crate::mesh_file;

/// The shape of a table. Lengths are full lengths, not half lengths.
pub(super) fn read(table: &Table, files: &mut Files, folder: &Path) -> Result<Shape, SceneError> {
    let words: Vec<(&str, &str)> = SHAPES
        .iter()
        .map(|entry| (entry.name, entry.name))
        .filter(|(name, _)| *name != "compound") // Bodies with parts are compounds.
        .collect();
    let kind = table.word("shape", &words)?;
    let Some(kind) = kind else { return Err(table.wrong("shape", "the name of a shape")) };
    let length = |key| {
        let found = table.positive(key)?;
        found.ok_or_else(|| table.wrong(key, "a length [m]"))
    };
    let shape = match kind {
        "box" => {
            let edges = table.vector("edges")?;
            let edges = edges.ok_or_else(|| table.wrong("edges", "three lengths [m]"))?;
            Shape::cuboid(0.5 * edges)
        }
        "sphere" => Shape::sphere(length("radius")?),
        "capsule" => Shape::capsule(length("radius")?, 0.5 * length("length")?),
        "cylinder" => Shape::cylinder(length("radius")?, 0.5 * length("length")?),
        "ellipsoid" => {
            let radii = table.vector("radii")?;
            Shape::ellipsoid(radii.ok_or_else(|| table.wrong("radii", "three lengths [m]"))?)
        }
        "plane" => return Ok(Shape::Plane),
        "mesh" => {
            let mesh = triangles(table, files, folder)?;
            Shape::mesh(&mesh.vertices, &mesh.triangles)
        }
        "convex" if table.has("points") => {
            let expected = "points of three coordinates [m]";
            let rows = table.rows("points")?.unwrap_or_default();
            let points: Option<Vec<_>> = rows
                .iter()
                .map(|row| Some(Vector3::from(<[f64; 3]>::try_from(&row[..]).ok()?)))
                .collect();
            Shape::convex(&points.ok_or_else(|| table.wrong("points", expected))?)
        }
        "convex" => Shape::convex(&triangles(table, files, folder)?.vertices),
        "sdf" => return sdf::read(table, files, folder),
        _ => return height_field(table, files, folder),
    };
    shape.map_err(|error| table.because("shape", error))
}

/// Triangles of a file, scaled.
fn triangles(
    table: &Table,
    files: &mut Files,
    folder: &Path,
) -> Result<mesh_file::Triangles, SceneError> {
    triangles_of(table, "file", files, folder)
}

/// Triangles of the file that a key names, scaled.
pub(super) fn triangles_of(
    table: &Table,
    key: &'static str,
    files: &mut Files,
    folder: &Path,
) -> Result<mesh_file::Triangles, SceneError> {
    let file = table.require(key, "the name of a mesh file")?;
    let mut mesh = mesh_file::read(files, &folder.join(file))?;
    let scale = match table.has("scale") {
        false => Vector3::repeat(1.0),
        true => match table.number("scale").ok().flatten() {
            Some(scale) => Vector3::repeat(scale),
            None => match table.vector("scale") {
                Ok(Some(scale)) => scale,
                _ => return Err(table.wrong("scale", "one number, or one for each axis")),
            },
        },
    };
    for vertex in &mut mesh.vertices {
        vertex.component_mul_assign(&scale);
    }
    if scale.product() < 0.0 {
        // A reflection inverts triangles.
        mesh.triangles.iter_mut().for_each(|corners| corners.swap(1, 2));
    }
    Ok(mesh)
}

fn height_field(table: &Table, files: &mut Files, folder: &Path) -> Result<Shape, SceneError> {
    let rows = match table.text("file")? {
        Some(file) => csv::read(files, &folder.join(file))?,
        None => {
            let expected = "rows of heights [m] from the lowest y to the highest, or a file";
            table.rows("heights")?.ok_or_else(|| table.wrong("heights", expected))?
        }
    };
    let size = table.array::<2>("size")?;
    let [x, y] = size.ok_or_else(|| table.wrong("size", "lengths along x and y [m]"))?;
    let columns = rows.first().map_or(0, Vec::len);
    let shape = Shape::height_field(rows.len(), columns, rows.concat(), (x, y));
    shape.map_err(|error| table.because("shape", error))
}
