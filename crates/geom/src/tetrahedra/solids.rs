//! Meshes of simple solids at any resolution: boxes, mats, balls, cylinders, cones, domes and shells.
//!
//! Boxes are cut by Kuhn's six tetrahedra per cell, balls and cones by refining a coarse mesh and moving
//! its lattice onto the round solid by a map that is homogeneous of degree one, the others by prisms over
//! a disc. The shapes of the elements therefore depend on the proportions and not on the resolution.

use super::extrude::{disc, prisms};
use super::refine::{BarycentricVertex, kuhn, refine};
use super::{TetMesh, positive};
use crate::TetMeshError;
use nalgebra::Vector3;
use std::f64::consts::{FRAC_PI_2, TAU};

/// Most elements that a generator makes: a request beyond is a slip, and would fill the memory.
const MOST: usize = 1 << 22;

impl TetMesh {
    /// A box by its edges [m], centred at the origin, of `cells` cells along each axis, each cut into
    /// six elements along its (1, 1, 1) diagonal. Vertices are numbered along x first, then y, then z.
    pub fn cuboid(size: Vector3<f64>, cells: [usize; 3]) -> Result<Self, TetMeshError> {
        for (parameter, &found) in ["length", "width", "height"].into_iter().zip(size.iter()) {
            positive(parameter, found)?;
        }
        let names = ["cells along x", "cells along y", "cells along z"];
        for (parameter, &found) in names.into_iter().zip(&cells) {
            count(parameter, found, 1)?;
        }
        not_too_many(&[6, cells[0], cells[1], cells[2]])?;
        let points = cells.map(|n| n + 1);
        let number = |[i, j, k]: [usize; 3]| (i + points[0] * (j + points[1] * k)) as u32;
        let mut vertices = Vec::with_capacity(points.iter().product());
        for (k, j, i) in grid(points[2], points[1], points[0]) {
            let fraction = |i: usize, n: usize| i as f64 / n as f64 - 0.5;
            let at =
                Vector3::new(fraction(i, cells[0]), fraction(j, cells[1]), fraction(k, cells[2]));
            vertices.push(at.component_mul(&size));
        }
        let cut = kuhn();
        let mut tetrahedra = Vec::with_capacity(6 * cells.iter().product::<usize>());
        for (k, j, i) in grid(cells[2], cells[1], cells[0]) {
            tetrahedra
                .extend(cut.map(|piece| piece.map(|[x, y, z]| number([i + x, j + y, k + z]))));
        }
        Self::made(vertices, tetrahedra)
    }

    /// A mat: a thin box of `size` [m] along x, y and z, of `cells` cells along x and y and `layers` along z.
    pub fn mat(size: Vector3<f64>, cells: [usize; 2], layers: usize) -> Result<Self, TetMeshError> {
        Self::cuboid(size, [cells[0], cells[1], layers])
    }

    /// A ball about the origin by its radius [m], of `cells` cells from the centre to the surface: an
    /// icosahedron refined, its layers moved onto spheres.
    pub fn sphere(radius: f64, cells: usize) -> Result<Self, TetMeshError> {
        positive("radius", radius)?;
        count("cells", cells, 1)?;
        not_too_many(&[20, cells, cells, cells])?;
        let (corners, faces) = icosahedron();
        // The centre comes after the twelve corners.
        let coarse: Vec<_> = faces.iter().map(|&[a, b, c]| [12, a, b, c]).collect();
        let (places, tetrahedra) = refine(&coarse, cells);
        let onto = |place: &BarycentricVertex| {
            let used = place.iter().filter(|&&(corner, weight)| weight > 0 && corner < 12);
            let weight: u32 = used.clone().map(|&(_, weight)| weight).sum();
            let sum: Vector3<f64> =
                used.map(|&(corner, weight)| corners[corner as usize] * f64::from(weight)).sum();
            let outward = sum.try_normalize(0.0).unwrap_or_else(Vector3::zeros);
            outward * (radius * f64::from(weight) / cells as f64)
        };
        Self::made(places.iter().map(onto).collect(), tetrahedra)
    }

    /// A cylinder about z, centred at the origin, by its radius and height [m], of `cells_round` cells round
    /// its rim and `cells_high` along its axis. Its radius has about a sixth of the cells of the rim.
    pub fn cylinder(
        radius: f64,
        height: f64,
        cells_round: usize,
        cells_high: usize,
    ) -> Result<Self, TetMeshError> {
        positive("radius", radius)?;
        positive("height", height)?;
        count("cells round", cells_round, 3)?;
        count("cells high", cells_high, 1)?;
        let rings = ((cells_round + 3) / 6).max(1);
        not_too_many(&[3, cells_round, rings, cells_high])?;
        let counts: Vec<_> = (1..=rings).map(|k| (cells_round * k + rings / 2) / rings).collect();
        let (places, triangles) = disc(&counts);
        let mut vertices = Vec::with_capacity(places.len() * (cells_high + 1));
        for level in 0..=cells_high {
            let z = height * (level as f64 / cells_high as f64 - 0.5);
            vertices.extend(places.iter().map(|&(ring, turn)| {
                let (sin, cos) = (TAU * turn).sin_cos();
                let r = radius * ring as f64 / rings as f64;
                Vector3::new(r * cos, r * sin, z)
            }));
        }
        Self::made(vertices, prisms(places.len(), &triangles, cells_high))
    }

    /// A cone about z by the radius of its base and its height [m], base at −height/2 and apex at
    /// +height/2, of `cells` cells along the axis, the radius and each sixth of the rim.
    pub fn cone(radius: f64, height: f64, cells: usize) -> Result<Self, TetMeshError> {
        positive("radius", radius)?;
        positive("height", height)?;
        count("cells", cells, 1)?;
        not_too_many(&[6, cells, cells, cells])?;
        // Corners 0 to 5 on the rim, 6 at its centre, 7 at the apex.
        let coarse: Vec<_> = (0..6).map(|i| [6, i, (i + 1) % 6, 7]).collect();
        let (places, tetrahedra) = refine(&coarse, cells);
        let onto = |place: &BarycentricVertex| {
            let (mut outward, mut up, mut along) = (0.0, 0.0, [None; 2]);
            for &(corner, weight) in place.iter().filter(|place| place.1 > 0) {
                let weight = f64::from(weight) / cells as f64;
                match corner {
                    0..=5 => {
                        outward += weight;
                        along[usize::from(along[0].is_some())] = Some((corner, weight));
                    }
                    6 => {}
                    _ => up = weight,
                }
            }
            let turn = match along {
                // Corners come sorted: 0 and 5 are neighbours across the seam.
                [Some((0, _)), Some((5, w))] => 6.0 - w / outward,
                [Some((i, _)), Some((_, w))] => f64::from(i) + w / outward,
                [Some((i, _)), None] => f64::from(i),
                _ => 0.0,
            };
            let (sin, cos) = (turn * TAU / 6.0).sin_cos();
            let r = radius * outward;
            Vector3::new(r * cos, r * sin, height * (up - 0.5))
        };
        Self::made(places.iter().map(onto).collect(), tetrahedra)
    }

    /// A dome: the upper half of a hollow ball of outer `radius` and wall `thickness` [m], its rim on z =
    /// 0, of `cells` cells from the pole to the rim and as many layers as make them about as thick as wide.
    pub fn dome(radius: f64, thickness: f64, cells: usize) -> Result<Self, TetMeshError> {
        let layers = wall("dome", radius, thickness, FRAC_PI_2 * radius, cells)?;
        not_too_many(&[3, 4 * cells, cells, layers])?;
        // As many cells round each ring as keep them about square.
        let polar = |ring: usize| FRAC_PI_2 * ring as f64 / cells as f64;
        let counts: Vec<_> = (1..=cells)
            .map(|ring| ((4.0 * cells as f64 * polar(ring).sin()).round() as usize).max(5))
            .collect();
        let (places, triangles) = disc(&counts);
        let outward: Vec<_> = places
            .iter()
            .map(|&(ring, turn)| {
                let ((sin, cos), (up, out)) =
                    ((TAU * turn).sin_cos(), (FRAC_PI_2 - polar(ring)).sin_cos());
                // The rim lies in its plane exactly.
                Vector3::new(out * cos, out * sin, if ring == cells { 0.0 } else { up })
            })
            .collect();
        Self::layered(&outward, &triangles, radius, thickness, layers)
    }

    /// A hollow ball of outer `radius` and wall `thickness` [m], of `cells` cells along each edge of the
    /// icosahedron that it is refined from and as many layers as make them about as thick as wide.
    pub fn shell(radius: f64, thickness: f64, cells: usize) -> Result<Self, TetMeshError> {
        let layers = wall("shell", radius, thickness, 1.1 * radius, cells)?;
        not_too_many(&[60, cells, cells, layers])?;
        let ball = Self::sphere(1.0, cells)?;
        let mut number = vec![u32::MAX; ball.vertices.len()];
        let mut outward = Vec::new();
        let triangles: Vec<_> = ball
            .surface
            .iter()
            .map(|t| {
                t.map(|v| {
                    if number[v as usize] == u32::MAX {
                        number[v as usize] = outward.len() as u32;
                        outward.push(ball.vertices[v as usize]);
                    }
                    number[v as usize]
                })
            })
            .collect();
        Self::layered(&outward, &triangles, radius, thickness, layers)
    }

    /// Layers between two spheres over a triangulation of unit vectors.
    fn layered(
        outward: &[Vector3<f64>],
        triangles: &[[u32; 3]],
        radius: f64,
        thickness: f64,
        layers: usize,
    ) -> Result<Self, TetMeshError> {
        let level = |k: usize| radius - thickness * (1.0 - k as f64 / layers as f64);
        let vertices =
            (0..=layers).flat_map(|k| outward.iter().map(move |n| n * level(k))).collect();
        Self::made(vertices, prisms(outward.len(), triangles, layers))
    }

    /// A mesh whose elements may have either sign: [`TetMesh::new`] orients them.
    fn made(vertices: Vec<Vector3<f64>>, tetrahedra: Vec<[u32; 4]>) -> Result<Self, TetMeshError> {
        Ok(Self { turned: 0, ..Self::new(vertices, tetrahedra)? })
    }
}

/// Checks the lengths of a hollow solid and returns its number of layers; `way` [m] has `cells` cells.
fn wall(
    solid: &'static str,
    radius: f64,
    thickness: f64,
    way: f64,
    cells: usize,
) -> Result<usize, TetMeshError> {
    positive("radius", radius)?;
    positive("thickness", thickness)?;
    count("cells", cells, 1)?;
    if thickness >= radius {
        return Err(TetMeshError::Thickness { solid, thickness, radius });
    }
    Ok(((thickness * cells as f64 / way).round() as usize).max(1))
}

/// Checks a number of cells.
fn count(parameter: &'static str, found: usize, expected: usize) -> Result<(), TetMeshError> {
    if found >= expected {
        return Ok(());
    }
    Err(TetMeshError::Count { parameter, found, expected })
}

/// Checks that the product of `factors`, the number of elements, is one that memory can hold.
fn not_too_many(factors: &[usize]) -> Result<(), TetMeshError> {
    let product = factors.iter().try_fold(1_usize, |product, &n| product.checked_mul(n));
    match product {
        Some(found) if found <= MOST => Ok(()),
        _ => Err(TetMeshError::TooMany { most: MOST }),
    }
}

/// All triples, the last index running fastest.
fn grid(l: usize, m: usize, n: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..l).flat_map(move |i| (0..m).flat_map(move |j| (0..n).map(move |k| (i, j, k))))
}

/// Unit vectors to the corners of an icosahedron and its faces, outward.
fn icosahedron() -> ([Vector3<f64>; 12], [[u32; 3]; 20]) {
    // Poles on z, and two rings of five at height ±1/√5, turned against each other by half a step.
    let mut corners = [Vector3::z(); 12];
    let (z, r) = (0.2_f64.sqrt(), 0.8_f64.sqrt());
    for k in 0..5 {
        let turn = |half: f64| ((k as f64 + half) * TAU / 5.0).sin_cos();
        let ((s, c), (t, d)) = (turn(0.0), turn(0.5));
        corners[1 + k] = Vector3::new(r * c, r * s, z);
        corners[6 + k] = Vector3::new(r * d, r * t, -z);
    }
    corners[11] = -Vector3::z();
    let mut faces = [[0; 3]; 20];
    for k in 0..5_u32 {
        let next = (k + 1) % 5;
        let at = 4 * k as usize;
        faces[at] = [0, 1 + k, 1 + next];
        faces[at + 1] = [1 + k, 6 + k, 1 + next];
        faces[at + 2] = [1 + next, 6 + k, 6 + next];
        faces[at + 3] = [11, 6 + next, 6 + k];
    }
    (corners, faces)
}
