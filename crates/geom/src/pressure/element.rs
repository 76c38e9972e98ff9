//! A tetrahedron, or another convex polyhedron, with a linear pressure field.

use crate::Aabb;
use crate::tetrahedra::{FACES, volume};
use nalgebra::{Matrix3, Rotation3, Vector3};

/// Six times the volume over the cube of the longest edge below which a tetrahedron has no field [-].
const FLAT: f64 = 1e-10;
/// Relative difference below which two fields are the same [-].
const SAME: f64 = 1e-9;
/// Distance below which a polygon lies in a face, relative to the longest edge [-].
const COPLANAR: f64 = 1e-12;

/// A pressure that is linear in the position, `p(x) = gradient·x + constant`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearField {
    /// Gradient [Pa/m].
    pub gradient: Vector3<f64>,
    /// Value at the origin [Pa].
    pub constant: f64,
}

impl LinearField {
    /// The pressure at a point [Pa].
    pub fn at(&self, x: &Vector3<f64>) -> f64 {
        self.gradient.dot(x) + self.constant
    }

    /// The difference from another field.
    pub(super) fn minus(&self, other: &Self) -> Self {
        Self { gradient: self.gradient - other.gradient, constant: self.constant - other.constant }
    }

    /// The same field in another frame, with x' = R x + t.
    pub fn moved(&self, R: &Rotation3<f64>, t: &Vector3<f64>) -> Self {
        let gradient = R * self.gradient;
        Self { gradient, constant: self.constant - gradient.dot(t) }
    }
}

/// A plane `normal·x = offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FacePlane {
    /// Outward unit normal [-].
    pub normal: Vector3<f64>,
    /// Distance from the origin along it [m].
    pub offset: f64,
}

impl FacePlane {
    /// Distance of a point in front of the plane [m].
    pub fn distance(&self, x: &Vector3<f64>) -> f64 {
        self.normal.dot(x) - self.offset
    }
}

/// Most corners and faces of an element.
pub(super) const MOST_CORNERS: usize = 8;
pub(super) const MOST_FACES: usize = 6;

/// A convex piece of a compliant solid: a tetrahedron, or tetrahedra of one field that are joined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PressureElement {
    /// Corners [m].
    pub(super) corners: [Vector3<f64>; MOST_CORNERS],
    /// Planes of the faces; face k of a tetrahedron lies opposite corner k.
    pub(super) faces: [FacePlane; MOST_FACES],
    pub(super) corner_count: u8,
    pub(super) face_count: u8,
    /// Whether sections are found by cutting with the faces instead of the edges of a tetrahedron.
    pub(super) is_cut_by_faces: bool,
    /// The pressure.
    pub field: LinearField,
    /// Whether the pressure is negative in a part of the element, which does not belong to the solid.
    pub crosses_surface: bool,
    /// Distance below which a polygon lies in a face [m].
    pub tolerance: f64,
    /// Number of its cell: elements of one cell have the same field and make one contact.
    pub cell: u32,
}

impl PressureElement {
    /// A tetrahedron by its corners [m], in either orientation, and the pressures there; `None` if it is flat.
    pub fn new(mut corners: [Vector3<f64>; 4], mut pressures: [f64; 4]) -> Option<Self> {
        let edges = (0..4).flat_map(|i| (0..i).map(move |j| (i, j)));
        let longest = edges.map(|(i, j)| (corners[i] - corners[j]).norm()).fold(0.0, f64::max);
        let volume = volume(corners);
        if !(6.0 * volume.abs() > FLAT * longest.powi(3)) {
            return None;
        }
        if volume < 0.0 {
            corners.swap(2, 3);
            pressures.swap(2, 3);
        }
        let [a, b, c, d] = corners;
        let edges =
            Matrix3::from_rows(&[(b - a).transpose(), (c - a).transpose(), (d - a).transpose()]);
        let rises = Vector3::from_fn(|k, _| pressures[k + 1] - pressures[0]);
        let gradient = edges.try_inverse()? * rises;
        let field = LinearField { gradient, constant: pressures[0] - gradient.dot(&a) };
        let faces = FACES.map(|face| {
            let [p, q, r] = face.map(|k| corners[k]);
            let normal = (q - p).cross(&(r - p)).normalize();
            FacePlane { normal, offset: normal.dot(&((p + q + r) / 3.0)) }
        });
        let crosses_surface = pressures.iter().any(|p| *p < 0.0);
        let empty = Self {
            corners: [Vector3::zeros(); MOST_CORNERS],
            faces: [FacePlane { normal: Vector3::zeros(), offset: 0.0 }; MOST_FACES],
            corner_count: 0,
            face_count: 0,
            is_cut_by_faces: false,
            field,
            crosses_surface,
            tolerance: COPLANAR * longest,
            cell: 0,
        };
        Some(empty.with_shape(&corners, &faces))
    }

    /// The same field on another convex polyhedron of at most [`MOST_CORNERS`] corners and [`MOST_FACES`] faces.
    pub(super) fn with_shape(mut self, corners: &[Vector3<f64>], faces: &[FacePlane]) -> Self {
        self.corners[..corners.len()].copy_from_slice(corners);
        self.faces[..faces.len()].copy_from_slice(faces);
        (self.corner_count, self.face_count) = (corners.len() as u8, faces.len() as u8);
        self
    }

    /// Its corners [m]; four of positive volume for a tetrahedron.
    pub fn corners(&self) -> &[Vector3<f64>] {
        &self.corners[..usize::from(self.corner_count)]
    }

    /// Planes of its faces; face k of a tetrahedron lies opposite corner k.
    pub fn faces(&self) -> &[FacePlane] {
        &self.faces[..usize::from(self.face_count)]
    }

    /// Distance from the element within which a plane has a section with it [m].
    pub(super) fn section_tolerance(&self) -> f64 {
        if self.is_cut_by_faces { self.tolerance } else { 0.0 }
    }

    /// Longest edge of its tetrahedra [m].
    pub(super) fn longest_edge(&self) -> f64 {
        self.tolerance / COPLANAR
    }

    /// Multiplies the pressure.
    pub fn scale_pressure(&mut self, factor: f64) {
        self.field.gradient *= factor;
        self.field.constant *= factor;
    }

    /// Whether the element makes one contact with the one before it: they have a face in common, and the same field.
    pub(super) fn shares_cell(&self, before: &Self) -> bool {
        let shared = self.corners().iter().filter(|x| before.corners().contains(x)).count();
        shared >= 2 && self.has_field_of(before)
    }

    /// Whether another element has the same field, up to round-off.
    fn has_field_of(&self, other: &Self) -> bool {
        let difference = self.field.gradient - other.field.gradient;
        let x = &other.corners[0];
        let size = self.field.gradient.norm();
        let length = self.longest_edge();
        difference.norm() <= SAME * size
            && (self.field.at(x) - other.field.at(x)).abs() <= SAME * size * length
    }

    /// Box around the element [m].
    pub fn bounds(&self) -> Aabb {
        Aabb::of_points(self.corners().iter().copied())
    }

    /// The element in another frame, with x' = R x + t.
    pub fn moved(&self, R: &Rotation3<f64>, t: &Vector3<f64>) -> Self {
        let mut moved = Self { field: self.field.moved(R, t), ..*self };
        for x in &mut moved.corners[..usize::from(self.corner_count)] {
            *x = R * *x + t;
        }
        for face in &mut moved.faces[..usize::from(self.face_count)] {
            face.normal = R * face.normal;
            face.offset += face.normal.dot(t);
        }
        moved
    }
}
