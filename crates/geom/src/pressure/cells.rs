//! Tetrahedra of one cell joined to a convex polyhedron.
//!
//! The tetrahedra between a flat face and the medial axis have one field: cut by a plane, they give many triangles of one polygon. A
//! polyhedron gives the polygon at once. Cells that are not convex up to round-off stay tetrahedra.
//! Cost: linear in the elements.

use super::element::{FacePlane, MOST_CORNERS, MOST_FACES, PressureElement};
use crate::tetrahedra::FACES;
use nalgebra::Vector3;

/// Distance from a plane, relative to the longest edge, and difference of unit normals, below which they are round-off [-].
const ROUND_OFF: f64 = 1e-10;

/// Joins elements that follow one another and have one cell.
pub(super) fn merge(tetrahedra: &[PressureElement]) -> Vec<PressureElement> {
    let mut merged = Vec::new();
    for group in tetrahedra.chunk_by(|a, b| a.cell == b.cell) {
        match polyhedron(group) {
            Some(cell) => merged.push(cell),
            None => merged.extend_from_slice(group),
        }
    }
    // One rule for planes that lie in a face, for all elements of a body.
    let any_merged = merged.len() < tetrahedra.len();
    merged.iter_mut().for_each(|element| element.is_cut_by_faces = any_merged);
    merged
}

/// The union of tetrahedra, if it is convex and has few faces and corners.
fn polyhedron(group: &[PressureElement]) -> Option<PressureElement> {
    let first = group.first()?;
    if group.len() == 1 {
        return Some(*first);
    }
    let mut corners: Vec<Vector3<f64>> = Vec::new();
    for x in group.iter().flat_map(PressureElement::corners) {
        if !corners.contains(x) {
            corners.push(*x);
        }
    }
    let tolerance = group.iter().map(|element| element.tolerance).fold(0.0, f64::max);
    let length = group.iter().map(PressureElement::longest_edge).fold(0.0, f64::max);
    let mut faces: Vec<FacePlane> = Vec::new();
    for element in group {
        for (face, indices) in element.faces().iter().zip(FACES) {
            let triangle = indices.map(|k| element.corners()[k]);
            let has =
                |other: &PressureElement| triangle.iter().all(|x| other.corners().contains(x));
            let is_inside = group.iter().filter(|other| has(other)).count() > 1;
            let is_same = |known: &FacePlane| {
                (known.normal - face.normal).norm() <= ROUND_OFF
                    && (known.offset - face.offset).abs() <= ROUND_OFF * length
            };
            if !is_inside && !faces.iter().any(is_same) {
                faces.push(*face);
            }
        }
    }
    let is_behind =
        |face: &FacePlane| corners.iter().all(|x| face.distance(x) <= ROUND_OFF * length);
    let fits = corners.len() <= MOST_CORNERS && faces.len() <= MOST_FACES;
    (fits && faces.iter().all(is_behind)).then(|| PressureElement {
        tolerance,
        crosses_surface: group.iter().any(|element| element.crosses_surface),
        ..first.with_shape(&corners, &faces)
    })
}
