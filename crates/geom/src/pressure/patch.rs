//! Contact patches: polygons, each with its pressure and stiffness, and their sums.

use super::element::PressureElement;
use super::near::NearElement;
use crate::ColliderId;
use nalgebra::Vector3;
use std::ops::Range;

/// One polygon of a patch: a compliant contact point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PatchPolygon {
    /// Numbers of the cells of A and B between which it lies; the same cells have the same numbers for ever.
    pub cells: [u32; 2],
    /// Area [m²].
    pub area: f64,
    /// Centre of pressure: the point at which the pressures of the polygon have no moment [m].
    pub point: Vector3<f64>,
    /// Unit normal from A into B [-].
    pub normal: Vector3<f64>,
    /// Mean pressure, that at the centroid [Pa].
    pub pressure: f64,
    /// Growth of the pressure per approach g, 1/g = 1/g_A + 1/g_B [Pa/m].
    pub gradient: f64,
}

/// A convex piece of a polygon: what two elements share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PolygonPiece {
    /// Mean pressure [Pa].
    pub pressure: f64,
    /// Its corners: the index of the first in [`PatchPolygons::corners`], and their number.
    pub first_corner: u32,
    /// Number of corners.
    pub corners: u32,
}

impl PatchPolygon {
    /// Adds another part of the same plane.
    fn add(&mut self, other: &Self) {
        let (force, area) = (self.force() + other.force(), self.area + other.area);
        self.point = (self.point * self.force() + other.point * other.force()) / force;
        (self.pressure, self.area) = (force / area, area);
    }

    /// Force along the normal without motion [N].
    pub fn force(&self) -> f64 {
        self.area * self.pressure
    }

    /// Stiffness k = a g [N/m].
    pub fn stiffness(&self) -> f64 {
        self.area * self.gradient
    }

    /// Gap φ = −p/g of the linear contact with this force and stiffness [m].
    pub fn gap(&self) -> f64 {
        -self.pressure / self.gradient
    }

    /// Energy stored by the linear contact, ½ k φ² [J].
    pub fn energy(&self) -> f64 {
        0.5 * self.stiffness() * self.gap().powi(2)
    }
}

/// The polygons of one or more patches, with their corners.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PatchPolygons {
    /// The polygons.
    pub polygons: Vec<PatchPolygon>,
    /// The pieces of all polygons, for pictures; none unless they are kept.
    pub pieces: Vec<PolygonPiece>,
    /// Corners of all pieces [m].
    pub corners: Vec<Vector3<f64>>,
    /// Whether pieces and their corners are kept.
    pub keeps_pieces: bool,
    /// Scratch: elements of two solids near their patch, and those of the second in the frame of the first.
    pub(super) near: [Vec<NearElement>; 2],
    pub(super) moved: Vec<PressureElement>,
}

impl PatchPolygons {
    /// Forgets all polygons and keeps the memory.
    pub fn clear(&mut self) {
        self.polygons.clear();
        self.pieces.clear();
        self.corners.clear();
    }

    /// Corners of a piece [m].
    pub fn corners_of(&self, piece: &PolygonPiece) -> &[Vector3<f64>] {
        let first = piece.first_corner as usize;
        &self.corners[first..first + piece.corners as usize]
    }

    /// Sorts the polygons from `first` on by their cells, and makes one of those between the same two cells, in which both
    /// pressures are linear: they lie in one plane.
    pub(super) fn merge(&mut self, first: usize) {
        let polygons = &mut self.polygons;
        polygons[first..].sort_unstable_by_key(|polygon| polygon.cells);
        let mut end = first;
        for index in first..polygons.len() {
            let next = polygons[index];
            match polygons[first..end].last_mut() {
                Some(last) if last.cells == next.cells => last.add(&next),
                _ => {
                    polygons[end] = next;
                    end += 1;
                }
            }
        }
        polygons.truncate(end);
    }

    /// Sums over polygons.
    pub fn total(&self, range: Range<usize>) -> PatchTotal {
        PatchTotal::of(&self.polygons[range])
    }
}

/// The polygons between two colliders.
#[derive(Clone, Debug, PartialEq)]
pub struct Patch {
    /// The collider with the smaller id.
    pub a: ColliderId,
    /// The collider with the larger id.
    pub b: ColliderId,
    /// Its polygons, sorted by their cells.
    pub polygons: Range<usize>,
    /// The pieces of its polygons, for pictures.
    pub pieces: Range<usize>,
}

/// Sums over the polygons of a patch at rest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PatchTotal {
    /// Area [m²].
    pub area: f64,
    /// Force on B [N].
    pub force: Vector3<f64>,
    /// Moment of the forces on B about the origin [N·m].
    pub moment: Vector3<f64>,
    /// Centre of pressure: mean of the points, weighted by normal force [m].
    pub centre: Vector3<f64>,
    /// Largest pressure of a polygon [Pa].
    pub pressure: f64,
    /// Energy stored by the linear contacts [J].
    pub energy: f64,
}

impl PatchTotal {
    /// Sums over polygons.
    pub fn of(polygons: &[PatchPolygon]) -> Self {
        let mut total = Self::default();
        let mut load = 0.0;
        for polygon in polygons {
            let force = polygon.force();
            total.area += polygon.area;
            total.force += force * polygon.normal;
            total.moment += polygon.point.cross(&(force * polygon.normal));
            total.centre += force * polygon.point;
            total.pressure = total.pressure.max(polygon.pressure);
            total.energy += polygon.energy();
            load += force;
        }
        if load > 0.0 {
            total.centre /= load;
        }
        total
    }
}
