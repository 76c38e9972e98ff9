//! Meshes of soft bodies: `mesh = "box"` and what belongs to it, or a file of tetrahedra.

use std::path::Path;

use nalgebra::Vector3;
use stiction_geom::TetMesh;

use super::table::Table;
use crate::error::SceneError;
use crate::files::Files;
use crate::mesh_file;

/// Names of the meshes, in alphabetical order.
const MESHES: [&str; 8] = ["box", "cone", "cylinder", "dome", "file", "mat", "shell", "sphere"];

/// The mesh of a table, in its own frame.
pub(super) fn read(table: &Table, files: &mut Files, folder: &Path) -> Result<TetMesh, SceneError> {
    let kind = table.word("mesh", &MESHES.map(|word| (word, word)))?;
    let kind = match kind {
        None if table.has("file") => "file",
        None => return Err(table.wrong("mesh", "the name of a mesh, or a file")),
        Some(kind) => kind,
    };
    let length = |key| {
        let found = table.positive(key)?;
        found.ok_or_else(|| table.wrong(key, "a length [m]"))
    };
    let mesh = match kind {
        "box" => TetMesh::cuboid(edges(table)?, cells_of_box(table)?),
        "mat" => {
            let cells = cells(table, "two whole numbers above zero, along x and y")?;
            TetMesh::mat(edges(table)?, cells, layers(table)?)
        }
        "sphere" => TetMesh::sphere(length("radius")?, cell_count(table)?),
        "cylinder" => {
            let expected = "two whole numbers above zero: round the rim and along the axis";
            let [round, high] = cells(table, expected)?;
            TetMesh::cylinder(length("radius")?, length("length")?, round, high)
        }
        "cone" => TetMesh::cone(length("radius")?, length("length")?, cell_count(table)?),
        "dome" => TetMesh::dome(length("radius")?, length("thickness")?, cell_count(table)?),
        "shell" => TetMesh::shell(length("radius")?, length("thickness")?, cell_count(table)?),
        _ => {
            let file = table.require("file", "the name of a file of tetrahedra")?;
            Ok(mesh_file::tetrahedra(files, &folder.join(file))?)
        }
    };
    let mesh = mesh.map_err(|error| table.because("mesh", error))?;
    match scale(table)? {
        None => Ok(mesh),
        Some(scale) => mesh.scaled(scale).map_err(|error| table.because("scale", error)),
    }
}

/// One scale, or one for each axis.
fn scale(table: &Table) -> Result<Option<Vector3<f64>>, SceneError> {
    if !table.has("scale") {
        return Ok(None);
    }
    if let Ok(Some(scale)) = table.number("scale") {
        return Ok(Some(Vector3::repeat(scale)));
    }
    match table.vector("scale") {
        Ok(scale) => Ok(scale),
        Err(_) => Err(table.wrong("scale", "one number, or one for each axis")),
    }
}

fn edges(table: &Table) -> Result<Vector3<f64>, SceneError> {
    table.vector("edges")?.ok_or_else(|| table.wrong("edges", "three lengths [m]"))
}

/// A whole number above zero.
fn whole(x: f64) -> Option<usize> {
    (x >= 1.0 && x.fract() == 0.0 && x < f64::from(u32::MAX)).then_some(x as usize)
}

/// Several numbers of cells.
fn cells<const N: usize>(table: &Table, expected: &str) -> Result<[usize; N], SceneError> {
    // Zero stands for an invalid number of cells.
    let found = table.has("cells").then(|| table.array::<N>("cells").ok()).flatten().flatten();
    let found = found.map(|cells| cells.map(|x| whole(x).unwrap_or(0)));
    let found = found.filter(|cells| !cells.contains(&0));
    found.ok_or_else(|| table.wrong("cells", expected))
}

/// One number of cells.
fn cell_count(table: &Table) -> Result<usize, SceneError> {
    let found = table.has("cells").then(|| table.number("cells").ok()).flatten().flatten();
    found.and_then(whole).ok_or_else(|| table.wrong("cells", "a whole number above zero"))
}

/// Cells of a box: one number for all its edges, or one for each.
fn cells_of_box(table: &Table) -> Result<[usize; 3], SceneError> {
    match cell_count(table) {
        Ok(count) => Ok([count; 3]),
        Err(_) => cells(table, "a whole number above zero, or one for each edge"),
    }
}

fn layers(table: &Table) -> Result<usize, SceneError> {
    let Some(found) = table.number("layers")? else { return Ok(1) };
    whole(found).ok_or_else(|| table.wrong("layers", "a whole number above zero"))
}
