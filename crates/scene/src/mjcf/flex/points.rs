//! Points and elements of a flexcomp: grids, circles, files, or as the text gives them.

use std::collections::BTreeSet;

use nalgebra::Vector3;

use super::super::asset;
use super::super::build::Build;
use crate::error::SceneError;
use crate::mesh_file;
use crate::xml::Element;

/// Points and elements, in the frame of the flexcomp.
pub(super) struct FlexMesh {
    pub points: Vec<Vector3<f64>>,
    /// `dim + 1` points per element.
    pub corners: Vec<u32>,
    pub dim: usize,
    /// Points along x, y and z of a grid.
    grid: Option<[usize; 3]>,
}

/// Reads them.
pub(super) fn read(build: &mut Build, element: &Element) -> Result<FlexMesh, SceneError> {
    let dim = match element.integer("dim")?.unwrap_or(2) {
        dim @ 1..=3 => dim as usize,
        _ => return Err(element.wrong("dim", "1, 2 or 3")),
    };
    let by_default = if element.peek("mesh").is_some() { "mesh" } else { "grid" };
    let mut mesh = match element.get("type").unwrap_or(by_default) {
        "grid" => grid(element, dim)?,
        "circle" => circle(element)?,
        "direct" => direct(element, dim)?,
        "mesh" => surface(build, element, dim)?,
        "gmsh" => tetrahedra(build, element)?,
        _ => {
            let words = "one of: grid, box, cylinder, ellipsoid, disc, circle, mesh, gmsh, direct";
            return Err(element.wrong("type", words));
        }
    };
    if let Some(scale) = element.vector("scale")? {
        mesh.points.iter_mut().for_each(|point| point.component_mul_assign(&scale));
    }
    Ok(mesh)
}

/// Counts and spacing of a grid.
fn counts(element: &Element) -> Result<([usize; 3], Vector3<f64>), SceneError> {
    let wrong = || element.wrong("count", "three positive whole numbers");
    let counts = element.array_or("count", [10.0; 3])?;
    let whole = |x: f64| ((1.0..=1e6).contains(&x) && x.fract() == 0.0).then_some(x as usize);
    let [Some(a), Some(b), Some(c)] = counts.map(whole) else { return Err(wrong()) };
    if a.saturating_mul(b).saturating_mul(c) > super::MOST_POINTS {
        return Err(element.wrong("count", "at most 200000 points"));
    }
    Ok(([a, b, c], Vector3::from(element.array_or("spacing", [0.02; 3])?)))
}

/// Points about the origin, z fastest, and MuJoCo's elements of each cell.
fn grid(element: &Element, dim: usize) -> Result<FlexMesh, SceneError> {
    let ([nx, ny, nz], spacing) = counts(element)?;
    if (dim < 3 && nz > 1) || (dim < 2 && ny > 1) {
        return Err(element.wrong("count", "one point along the axes beyond the dimension"));
    }
    let mut points = Vec::with_capacity(nx * ny * nz);
    let centred = |k: usize, n: usize| k as f64 - 0.5 * (n - 1) as f64;
    for x in 0..nx {
        for y in 0..ny {
            for z in 0..nz {
                let place = Vector3::new(centred(x, nx), centred(y, ny), centred(z, nz));
                points.push(place.component_mul(&spacing));
            }
        }
    }
    // Corners of a cell as bits: 4 along x, 2 along y, 1 along z.
    let cell: &[usize] = match dim {
        1 => &[0, 4],
        2 => &[0, 4, 6, 0, 6, 2],
        _ => &[0, 2, 4, 3, 0, 4, 1, 3, 4, 2, 6, 3, 4, 6, 7, 3, 4, 5, 1, 3, 4, 7, 5, 3],
    };
    let cells = |n: usize, dim_of_axis: usize| if dim >= dim_of_axis { n - 1 } else { 1 };
    let mut corners = Vec::new();
    for x in 0..cells(nx, 1) {
        for y in 0..cells(ny, 2) {
            for z in 0..cells(nz, 3) {
                let at = |c: usize| ((x + (c >> 2)) * ny + y + (c >> 1 & 1)) * nz + z + (c & 1);
                corners.extend(cell.iter().map(|corner| at(*corner) as u32));
            }
        }
    }
    Ok(FlexMesh { points, corners, dim, grid: Some([nx, ny, nz]) })
}

/// A closed line; its first point counts twice.
fn circle(element: &Element) -> Result<FlexMesh, SceneError> {
    let ([n, ..], spacing) = counts(element)?;
    if n < 4 {
        return Err(element.wrong("count", "at least four points on a circle"));
    }
    let angle = 2.0 * std::f64::consts::PI / (n - 1) as f64;
    let radius = spacing.x / (2.0 * (0.5 * angle).sin());
    let point = |k: usize| {
        let (sin, cos) = (k as f64 * angle).sin_cos();
        Vector3::new(radius * cos, radius * sin, 0.0)
    };
    let points: Vec<_> = (0..n - 1).map(point).collect();
    let corners = (0..n as u32 - 1).flat_map(|k| [k, (k + 1) % (n as u32 - 1)]).collect();
    Ok(FlexMesh { points, corners, dim: 1, grid: None })
}

/// Numbers of the text.
fn direct(element: &Element, dim: usize) -> Result<FlexMesh, SceneError> {
    let numbers = element.numbers("point")?.unwrap_or_default();
    if numbers.is_empty() || numbers.len() % 3 != 0 {
        return Err(element.wrong("point", "three numbers for each point"));
    }
    let points: Vec<_> = numbers.chunks_exact(3).map(Vector3::from_column_slice).collect();
    let wrong = || element.wrong("element", "numbers of points for each element");
    let given = element.numbers("element")?.unwrap_or_default();
    if given.len() % (dim + 1) != 0 {
        return Err(wrong());
    }
    let corner = |x: &f64| {
        let known = *x >= 0.0 && x.fract() == 0.0 && *x < points.len() as f64;
        known.then_some(*x as u32).ok_or_else(wrong)
    };
    let corners = given.iter().map(corner).collect::<Result<_, _>>()?;
    Ok(FlexMesh { points, corners, dim, grid: None })
}

/// Triangles of a file or of an asset; with `dim` 3 each makes a tetrahedron with the origin.
fn surface(build: &mut Build, element: &Element, dim: usize) -> Result<FlexMesh, SceneError> {
    let (mut points, triangles) = match element.get("mesh") {
        Some(name) => {
            let Some(asset) = build.assets.meshes.get(name).cloned() else {
                return Err(element.wrong("mesh", "the name of a mesh"));
            };
            let found = asset.triangles(build)?;
            (found.vertices, found.triangles)
        }
        None => {
            let path = asset::file_of(build, element)?
                .ok_or_else(|| element.wrong("file", "a file, or the name of a mesh"))?;
            let found = mesh_file::read(build.files, &path)?;
            (found.vertices, found.triangles)
        }
    };
    if dim != 3 {
        let corners = triangles.into_iter().flatten().collect();
        return Ok(FlexMesh { points, corners, dim: 2, grid: None });
    }
    let centre = points.len() as u32;
    points.push(element.vector("origin")?.unwrap_or_default());
    let corners = triangles.into_iter().flat_map(|[a, b, c]| [centre, a, b, c]).collect();
    Ok(FlexMesh { points, corners, dim: 3, grid: None })
}

fn tetrahedra(build: &mut Build, element: &Element) -> Result<FlexMesh, SceneError> {
    let path = asset::file_of(build, element)?
        .ok_or_else(|| element.wrong("file", "a file of tetrahedra"))?;
    let found = mesh_file::tetrahedra(build.files, &path)?;
    let corners = found.tetrahedra().iter().flatten().copied().collect();
    Ok(FlexMesh { points: found.vertices().to_vec(), corners, dim: 3, grid: None })
}

/// The points that `<pin>` names.
pub(super) fn pinned(element: &Element, mesh: &FlexMesh) -> Result<BTreeSet<u32>, SceneError> {
    let mut pinned = BTreeSet::new();
    for pin in element.all("pin") {
        let whole = |name: &str| {
            let numbers = pin.numbers(name)?.unwrap_or_default();
            let wrong = || pin.wrong(name, "whole numbers that are not negative");
            let whole = |x: &f64| (*x >= 0.0 && x.fract() == 0.0).then_some(*x as usize);
            numbers.iter().map(|x| whole(x).ok_or_else(wrong)).collect::<Result<Vec<_>, _>>()
        };
        let mut add = |name: &str, point: usize| {
            let known = point < mesh.points.len();
            pinned.insert(point as u32);
            known.then_some(()).ok_or_else(|| pin.wrong(name, "numbers of points"))
        };
        for point in whole("id")? {
            add("id", point)?;
        }
        for range in whole("range")?.chunks_exact(2) {
            (range[0]..=range[1].min(mesh.points.len())).try_for_each(|p| add("range", p))?;
        }
        let dim = mesh.dim;
        for (name, per_range) in [("grid", 1), ("gridrange", 2)] {
            let numbers = whole(name)?;
            let Some(counts) = mesh.grid.filter(|_| !numbers.is_empty()) else {
                if !numbers.is_empty() {
                    return Err(pin.wrong(name, "a flexcomp of type grid"));
                }
                continue;
            };
            for corner in numbers.chunks_exact(dim * per_range) {
                let (low, high) = (&corner[..dim], &corner[dim * (per_range - 1)..]);
                let axis = |k: usize| if k < dim { low[k]..=high[k].min(counts[k]) } else { 0..=0 };
                for (x, y) in axis(0).flat_map(|x| axis(1).map(move |y| (x, y))) {
                    axis(2).try_for_each(|z| add(name, (x * counts[1] + y) * counts[2] + z))?;
                }
            }
        }
    }
    Ok(pinned)
}
