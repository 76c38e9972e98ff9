//! Contact candidates before reduction, and the scratch memory in which they are collected.
//!
//! Frames and roles: B is a surface in its own frame, A any other shape; normals point from B into A. The
//! memory is thread-local, keeps its capacity from pair to pair and is not part of the state.

use super::field::{SurfaceMemory, SurfacePoint};
use crate::field::FieldTouch;
use crate::narrow::{Manifold, SupportFeature};
use nalgebra::{Isometry3, Vector3};
use std::cell::Cell;
use stiction_math::random::mix64;

/// A point of contact between a surface B and another shape A.
#[derive(Clone, Copy, Debug)]
pub struct ContactCandidate {
    /// Stable feature id within the pair.
    pub feature: u32,
    /// The point on B [m].
    pub on_B: Vector3<f64>,
    /// Unit normal from B into A.
    pub normal: Vector3<f64>,
    /// Distance along the normal [m].
    pub gap: f64,
    /// Distance [m] by which all of A is clear of the plane through `on_B`; negative if A crosses it.
    pub clear: f64,
    /// The triangle of B over which the point of A lies, for contacts of a point with a face.
    pub over: Option<u32>,
    /// The triangle of B at which the contact was found.
    pub at: u32,
}

/// A triangle of B on the side on which the centre of A lies.
#[derive(Clone, Copy, Debug)]
pub struct FacingTriangle {
    pub t: u32,
    /// Side of the triangle: 1 front, −1 back.
    pub sign: f64,
    /// Whether the centre of A is behind it, and it is at the end of the ground or A comes from beside the ground: only
    /// its border can touch, or A intersects it from below.
    pub hidden: bool,
    /// Unit normal towards that side.
    pub normal: Vector3<f64>,
    /// Distance by which all of A is clear of the triangle's plane [m].
    pub clear: f64,
}

impl ContactCandidate {
    /// The nearest points of A and triangle `at`.
    pub fn nearest(at: u32, on_B: Vector3<f64>, normal: Vector3<f64>, gap: f64) -> Self {
        let feature = feature_id(FeatureKind::Nearest, 0, 0);
        Self { feature, on_B, normal, gap, clear: gap, over: None, at }
    }

    /// The point of A [m].
    pub fn on_A(&self) -> Vector3<f64> {
        self.on_B + self.normal * self.gap
    }
}

/// Scratch memory for one pair.
#[derive(Debug, Default)]
pub struct NonconvexScratch {
    pub near: Vec<u32>,
    pub other: Vec<u32>,
    pub sides: Vec<(u32, u32, u8)>,
    pub vertices: Vec<u32>,
    /// Vertices, each with a triangle to which it belongs.
    pub corners: Vec<(u32, u32)>,
    pub facing: Vec<FacingTriangle>,
    /// Patches of B whose contact with the lowest point of a convex shape is found.
    pub patches: Vec<u32>,
    /// Triangles of B that a convex shape intersects, in ascending order, with the links of their connected
    /// parts and whether a contact belongs to the part.
    pub cut: Vec<u32>,
    pub links: Vec<u32>,
    pub explained: Vec<bool>,
    pub face: SupportFeature,
    pub candidates: Vec<ContactCandidate>,
    pub kept: Vec<ContactCandidate>,
    pub groups: Vec<(Vector3<f64>, usize)>,
    pub plane: Vec<(f64, f64, usize)>,
    pub hull: Vec<(f64, f64, usize)>,
    pub marks: Vec<u32>,
    pub scores: Vec<f64>,
    pub weights: Vec<f64>,
    /// Points and normals of candidates.
    pub places: Vec<(Vector3<f64>, Vector3<f64>)>,
    /// Points of fields: those that a ball touches, those of triangles, and the memory of queries.
    pub touches: Vec<FieldTouch>,
    pub surface_points: Vec<SurfacePoint>,
    pub surface_memory: SurfaceMemory,
}

thread_local! {
    static SCRATCH: Cell<Option<Box<NonconvexScratch>>> = const { Cell::new(None) };
}

/// Calls `work` with the thread's scratch memory, without candidates.
pub fn with_scratch<T>(work: impl FnOnce(&mut NonconvexScratch) -> T) -> T {
    let mut scratch = SCRATCH.take().unwrap_or_default();
    scratch.candidates.clear();
    let result = work(&mut scratch);
    SCRATCH.set(Some(scratch));
    result
}

/// Kind of the features that touch, part of the feature id.
#[derive(Clone, Copy, Debug)]
pub enum FeatureKind {
    /// A point of A over a flat patch of B.
    Patch,
    /// An edge of B and a feature of A.
    Edge,
    /// A vertex of B and a feature of A.
    Vertex,
    /// The centre of A inside B.
    Deep,
    /// A part of a compound.
    Part,
    /// The nearest points of A and B.
    Nearest,
    /// The way out of a part of B inside A.
    Exit,
    /// A vertex of a surface and a field.
    FieldVertex,
    /// A point of a triangle and a field.
    FieldFace,
}

/// Feature id of 32 bits for two features: a hash, the same for the same features and practically unique.
pub fn feature_id(kind: FeatureKind, a: u32, b: u32) -> u32 {
    let features = u64::from(a) << 32 | u64::from(b);
    mix64(features ^ (kind as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)) as u32
}

/// Writes the candidates to the manifold, in the world frame; `B_is_first` is true if the surface B is the
/// first shape of the pair.
pub fn write_manifold(
    candidates: &[ContactCandidate],
    X_WB: &Isometry3<f64>,
    B_is_first: bool,
    manifold: &mut Manifold,
) {
    for f in candidates {
        let midway = X_WB.rotation * (f.on_B + f.normal * (0.5 * f.gap)) + X_WB.translation.vector;
        let normal = X_WB.rotation * f.normal;
        let normal = if B_is_first { normal } else { -normal };
        if f.gap.is_finite() && normal.iter().chain(midway.iter()).all(|x| x.is_finite()) {
            manifold.push(f.feature, midway, normal, f.gap);
        }
    }
}
