//! Solids given by signed distance fields: negative inside, positive outside, zero on the surface.
//!
//! A [`FieldSolid`] describes the solid: primitives, solids of revolution ([`Profile`]), threads ([`Thread`]), sampled
//! meshes ([`SampledGrid`]), and their unions, intersections and differences. [`Field::build`] checks it once and adds what the
//! other parts of the library need: bounds, a closed triangle surface, mass properties. The value never changes faster
//! than [`Field::lipschitz`] times the way, so that one value excludes a ball.

mod blend;
mod grid;
mod grid_bytes;
mod machine_part;
mod mesh_check;
mod outline;
mod primitive;
mod profile;
mod solid;
mod surface;
mod thread;
mod touches;
mod trace;
mod winding;

pub use grid::{GridSign, MOST_BYTES, SampledGrid};
pub use machine_part::MachinePart;
pub use profile::Profile;
pub use solid::FieldSolid;
pub use thread::{Thread, ThreadSide};
pub use touches::FieldTouch;

use crate::shape::Mesh;
use crate::{Aabb, ShapeError};
use nalgebra::Vector3;
use std::sync::atomic::{AtomicU64, Ordering};

/// Value and gradient of a field at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FieldSample {
    /// Signed distance [m], or a lower bound of its magnitude where the field is not exact.
    pub value: f64,
    /// Derivative of the value [-]; a unit vector where the field is an exact distance.
    pub gradient: Vector3<f64>,
}

/// Length of a gradient below which it gives no direction [-].
const VANISHES: f64 = 1e-9;
/// Lengths of a gradient between which the value divided by it is a better distance than the value [-].
const NEARLY_UNIT: std::ops::Range<f64> = 0.8..1.25;

impl FieldSample {
    /// Distance to first order [m] and the unit vector along the gradient; `None` where the gradient vanishes.
    pub fn to_surface(&self) -> Option<(f64, Vector3<f64>)> {
        let length = self.gradient.norm();
        let distance = if NEARLY_UNIT.contains(&length) { self.value / length } else { self.value };
        (length > VANISHES).then(|| (distance, self.gradient / length))
    }
}

/// Number of fields built so far.
static BUILT: AtomicU64 = AtomicU64::new(0);

/// A solid given by a signed distance field, checked, with its surface.
#[derive(Clone, Debug)]
pub struct Field {
    identity: u64,
    solid: FieldSolid,
    surface: Mesh,
    bounds: Aabb,
    radius: f64,
    lipschitz: f64,
}

impl Field {
    /// Checks the solid and builds its surface, with triangles of about the edge length `width` [m], or of a length that fits
    /// the solid.
    pub fn build(solid: FieldSolid, width: Option<f64>) -> Result<Self, ShapeError> {
        solid.check()?;
        let bounds = solid.bounds();
        if !bounds.is_finite() {
            return Err(ShapeError::Unbounded { shape: "sdf" });
        }
        if let Some(found) = width.filter(|width| !(*width > 0.0 && width.is_finite())) {
            return Err(ShapeError::Length { shape: "sdf", parameter: "width", found });
        }
        let surface = surface::of(&solid, &bounds, width)?;
        // The surface of triangles may lie outside the exact one where that is hollow.
        let bounds = bounds.union(&surface.local_bounds());
        let radius = surface.bounding_radius().max(solid.radius());
        let lipschitz = solid.lipschitz();
        let identity = BUILT.fetch_add(1, Ordering::Relaxed);
        Ok(Self { identity, solid, surface, bounds, radius, lipschitz })
    }

    /// A number that no other field of this process has but copies of this one. No result depends on it.
    pub(crate) fn identity(&self) -> u64 {
        self.identity
    }

    /// The description of the solid.
    pub fn solid(&self) -> &FieldSolid {
        &self.solid
    }

    /// Value and gradient at the point `p` [m].
    #[inline]
    pub fn sample(&self, p: &Vector3<f64>) -> FieldSample {
        self.solid.sample(p)
    }

    /// Value at the point `p` [m].
    #[inline]
    pub fn value(&self, p: &Vector3<f64>) -> f64 {
        self.solid.sample(p).value
    }

    /// Bound of the change of the value per length [-].
    pub fn lipschitz(&self) -> f64 {
        self.lipschitz
    }

    /// Bound of the difference between the value and the exact signed distance near the surface [m].
    pub fn error_bound(&self) -> f64 {
        self.solid.error_bound()
    }

    /// Closed surface of triangles whose vertices lie on the surface of the field.
    pub fn surface(&self) -> &Mesh {
        &self.surface
    }

    /// Bounds in the frame of the field [m].
    pub fn local_bounds(&self) -> Aabb {
        self.bounds
    }

    /// Bounding radius about the origin [m].
    pub fn bounding_radius(&self) -> f64 {
        self.radius
    }

    /// The point of the surface near `p` [m]: steps along the gradient by the value. `None` where the gradient vanishes.
    pub fn project(&self, p: &Vector3<f64>) -> Option<Vector3<f64>> {
        let mut x = *p;
        for _ in 0..PROJECTION_STEPS {
            let (distance, normal) = self.sample(&x).to_surface()?;
            x -= distance * normal;
            if distance.abs() <= ON_SURFACE * self.radius {
                break;
            }
        }
        Some(x)
    }
}

/// Steps of a projection: exact distances need one.
const PROJECTION_STEPS: usize = 3;
/// Part of the size below which a point counts as on the surface [-].
const ON_SURFACE: f64 = 1e-13;

#[cfg(test)]
mod tests;
