//! Regions of a mesh: which of its vertices are fixed or attached, in the frame of the mesh.

use nalgebra::Vector3;
use stiction_geom::TetMesh;

use super::table::Table;
use crate::error::SceneError;

/// Keys of a region, for messages.
pub(super) const EXPECTED: &str = "numbers of vertices, or a table with some of: below, above (with along, a direction; \
                        z if absent), x, y, z (each from a lower to an upper end), all in the frame of the mesh [m]";
/// How far outside of a region a vertex still counts, in proportion to the size of the mesh: round-off
/// of generated meshes.
const SLACK: f64 = 1e-9;

/// The vertices that the value of a key means, in ascending order; none if the key is absent.
pub(super) fn read(
    table: &Table,
    key: &'static str,
    mesh: &TetMesh,
) -> Result<Option<Vec<u32>>, SceneError> {
    if !table.has(key) {
        return Ok(None);
    }
    let mut chosen = match table.table(key) {
        Ok(Some(inner)) => within(table, key, inner, mesh)?,
        _ => listed(table, key, mesh)?,
    };
    chosen.sort_unstable();
    chosen.dedup();
    Ok(Some(chosen))
}

fn listed(table: &Table, key: &'static str, mesh: &TetMesh) -> Result<Vec<u32>, SceneError> {
    let Ok(Some(numbers)) = table.numbers(key) else { return Err(table.wrong(key, EXPECTED)) };
    let count = mesh.vertices().len();
    let known = |x: &f64| *x >= 0.0 && x.fract() == 0.0 && *x < count as f64;
    if let Some(found) = numbers.iter().find(|x| !known(x)) {
        let last = count - 1;
        return Err(
            table.because(key, format_args!("found vertex {found}; expected one of 0 to {last}"))
        );
    }
    Ok(numbers.iter().map(|x| *x as u32).collect())
}

fn within(
    table: &Table,
    key: &'static str,
    inner: Table,
    mesh: &TetMesh,
) -> Result<Vec<u32>, SceneError> {
    let along = match inner.vector("along")? {
        None => Vector3::z(),
        Some(along) => along
            .try_normalize(f64::MIN_POSITIVE)
            .ok_or_else(|| inner.wrong("along", "a direction"))?,
    };
    let (below, above) = (inner.number("below")?, inner.number("above")?);
    let sides = [inner.range("x")?, inner.range("y")?, inner.range("z")?];
    let empty = below.is_none() && above.is_none() && sides.iter().all(Option::is_none);
    inner.finish()?;
    if empty {
        return Err(table.wrong(key, EXPECTED));
    }
    let (lowest, highest) = extent(mesh.vertices());
    let slack = SLACK * (highest - lowest).norm();
    let lies_there = |x: &Vector3<f64>| {
        let height = along.dot(x);
        below.is_none_or(|end| height <= end + slack)
            && above.is_none_or(|end| height >= end - slack)
            && sides.iter().zip(x.iter()).all(|(side, x)| {
                side.is_none_or(|(lower, upper)| (lower - slack..=upper + slack).contains(x))
            })
    };
    let all = mesh.vertices().iter().enumerate();
    let chosen: Vec<u32> = all.filter(|(_, x)| lies_there(x)).map(|(k, _)| k as u32).collect();
    if chosen.is_empty() {
        let (low, high) = (lowest.as_slice(), highest.as_slice());
        return Err(table.because(
            key,
            format_args!("no vertex lies there; expected a part of the mesh, from {low:?} to {high:?} m in its own frame"),
        ));
    }
    Ok(chosen)
}

/// Least and largest coordinates [m].
fn extent(points: &[Vector3<f64>]) -> (Vector3<f64>, Vector3<f64>) {
    let first = (Vector3::repeat(f64::INFINITY), Vector3::repeat(f64::NEG_INFINITY));
    points.iter().fold(first, |(low, high), point| (low.inf(point), high.sup(point)))
}
