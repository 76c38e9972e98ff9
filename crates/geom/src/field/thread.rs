//! Threads of bolts and nuts: a trapezoidal profile with flanks of 30° that climbs by the pitch per turn, right-handed.
//!
//! With ζ = z − P φ/2π reduced to one pitch, the surface is a line in the plane (ρ, ζ) [ISO68]. The distance in that plane, times
//! the cosine of the lead angle at half the root radius, never changes faster than the way; divided by its gradient it is the distance
//! in space to a few millionths near the surface. The nut has the bolt's profile, enlarged by the clearance across all
//! of its faces. Both ends have a cone that leads in. Constant cost.

use super::{FieldSample, blend, primitive};
use crate::{Aabb, ShapeError};
use nalgebra::Vector3;
use std::f64::consts::{FRAC_1_SQRT_2, TAU};

/// Tangent and cosine of the angle of a flank with the plane across the axis [-].
const FLANK: f64 = 0.577_350_269_189_625_8;
const FLANK_COS: f64 = 0.866_025_403_784_438_6;

/// Which of the two parts has the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadSide {
    /// A rod with the thread outside.
    Bolt,
    /// A body with the thread in its bore.
    Nut,
}

/// The thread of a bolt or a nut about z, its middle at the origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thread {
    /// Bolt or nut.
    pub side: ThreadSide,
    /// Height gained per turn [m].
    pub pitch: f64,
    /// Outer radius of the bolt's thread [m].
    pub major_radius: f64,
    /// Inner radius of this part's thread [m]: the bolt's root or the nut's crest.
    pub minor_radius: f64,
    /// Half the length [m].
    pub half_length: f64,
    /// Distance between the flanks of bolt and nut when both are centred [m]; the nut is enlarged by it.
    pub clearance: f64,
    /// Outer radius of the nut [m]; of no meaning for a bolt.
    pub outer_radius: f64,
}

impl Thread {
    /// An M48 bolt of the half length [m], with the root of its thread at 41.866 mm.
    pub fn m48_bolt(half_length: f64) -> Self {
        Self {
            side: ThreadSide::Bolt,
            pitch: 5e-3,
            major_radius: 24e-3,
            minor_radius: 20.933e-3,
            half_length,
            clearance: 0.0,
            outer_radius: 24e-3,
        }
    }

    /// An M48 nut of the half length [m] with a clearance [m].
    pub fn m48_nut(half_length: f64, clearance: f64) -> Self {
        Self {
            side: ThreadSide::Nut,
            minor_radius: 21.2935e-3,
            clearance,
            outer_radius: 36e-3,
            ..Self::m48_bolt(half_length)
        }
    }

    /// Checks lengths, and that bolt and nut hold each other.
    pub fn check(&self) -> Result<(), ShapeError> {
        let positive = [
            ("pitch", self.pitch),
            ("major radius", self.major_radius),
            ("minor radius", self.minor_radius),
            ("half length", self.half_length),
        ];
        for (parameter, found) in positive {
            if !(found > 0.0 && found.is_finite()) {
                return Err(ShapeError::Length { shape: "sdf", parameter, found });
            }
        }
        let wrong = |parameter, found, expected, limit| {
            Err(ShapeError::Thread { parameter, found, expected, limit })
        };
        let Self { pitch, major_radius: major, minor_radius: minor, .. } = *self;
        if !(minor < major) {
            return wrong("minor radius", minor, "less than the major radius", major);
        }
        // The groove must not close before the root.
        let deepest = (0.5 - 1.0 / 16.0) * pitch / FLANK;
        if !(major - minor < deepest) {
            return wrong("depth of the thread", major - minor, "less than", deepest);
        }
        if 2.0 * self.half_length / pitch > 1000.0 {
            return wrong("half length", self.half_length, "at most", 500.0 * pitch);
        }
        if self.side == ThreadSide::Nut {
            let clearance = self.clearance;
            if !(clearance > 0.0 && clearance.is_finite()) {
                return wrong("clearance", clearance, "more than", 0.0);
            }
            if !(clearance < major - minor) {
                let expected =
                    "less than the depth of the thread, or the nut slides over its bolt:";
                return wrong("clearance", clearance, expected, major - minor);
            }
            if !(self.outer_radius > major + clearance && self.outer_radius.is_finite()) {
                let expected = "more than the radius of the groove";
                return wrong("outer radius", self.outer_radius, expected, major + clearance);
            }
        }
        Ok(())
    }

    /// Bounds [m].
    pub fn bounds(&self) -> Aabb {
        let radius = match self.side {
            ThreadSide::Bolt => self.major_radius,
            ThreadSide::Nut => self.outer_radius,
        };
        Aabb::around(Vector3::zeros(), Vector3::new(radius, radius, self.half_length))
    }

    /// Corners of half a ridge in (|ζ|, ρ) [m]: end of the crest and start of the root, with the clearance.
    pub(super) fn ridge(&self) -> [[f64; 2]; 2] {
        let c = if self.side == ThreadSide::Nut { self.clearance } else { 0.0 };
        // The profile moved outwards by c: half the width of the ridge at a radius grows by c / cos 30°.
        let (top, bottom) = (self.major_radius + c, self.minor_radius + c);
        let width =
            |rho: f64| self.pitch / 16.0 + (self.major_radius - rho) * FLANK + c / FLANK_COS;
        [[width(top).max(0.0), top], [width(bottom).min(0.5 * self.pitch), bottom]]
    }

    /// Radius of the threaded surface at ζ [m], without the cones at its ends.
    pub(super) fn radius_at(&self, zeta: f64) -> f64 {
        radius_beside(&self.ridge(), self.reduced(zeta).abs())
    }

    /// Radius of the surface of this part at the height z and the angle φ, with its cones.
    pub(super) fn surface_radius(&self, z: f64, phi: f64) -> f64 {
        let radius = self.radius_at(z - self.pitch * phi / TAU);
        let [[_, top], [_, bottom]] = self.ridge();
        let left = self.half_length - z.abs();
        match self.side {
            ThreadSide::Bolt => radius.min(bottom + left),
            ThreadSide::Nut => radius.max(top - left),
        }
    }

    /// ζ within half a pitch of the middle of a ridge.
    fn reduced(&self, zeta: f64) -> f64 {
        zeta - self.pitch * (zeta / self.pitch).round()
    }

    /// Value and gradient at a point.
    pub fn sample(&self, p: &Vector3<f64>) -> FieldSample {
        let (rho, e_r) = ((p.x * p.x + p.y * p.y).sqrt(), primitive::radial(p));
        let [[a, top], [b, bottom]] = self.ridge();
        let e_z = Vector3::new(0.0, 0.0, if p.z < 0.0 { -1.0 } else { 1.0 });
        let left = p.z.abs() - self.half_length;
        let end = FieldSample { value: left, gradient: e_z };
        let screw = self.screw(p, rho, &e_r, [[a, top], [b, bottom]]);
        let cone = |offset: f64, sign: f64| FieldSample {
            value: FRAC_1_SQRT_2 * (sign * rho + left + offset),
            gradient: FRAC_1_SQRT_2 * (sign * e_r + e_z),
        };
        match self.side {
            ThreadSide::Bolt => {
                let body = blend::intersection(screw, cone(-bottom, 1.0), 0.0);
                blend::intersection(body, end, 0.0)
            }
            ThreadSide::Nut => {
                let outer = FieldSample { value: rho - self.outer_radius, gradient: e_r };
                let bore = blend::intersection(blend::complement(screw), cone(top, -1.0), 0.0);
                blend::intersection(blend::intersection(bore, outer, 0.0), end, 0.0)
            }
        }
    }

    /// The endless rod that fills the thread: exact in the plane (ρ, ζ), scaled.
    fn screw(
        &self,
        p: &Vector3<f64>,
        rho: f64,
        e_r: &Vector3<f64>,
        [[a, top], [b, bottom]]: [[f64; 2]; 2],
    ) -> FieldSample {
        let inner = 0.5 * bottom;
        let lead = self.pitch / TAU;
        let slope = lead / inner;
        let cosine = 1.0 / (1.0 + slope * slope).sqrt();
        if rho < inner {
            // Near the axis ζ changes fast; there the root alone counts.
            return FieldSample { value: cosine * (rho - bottom), gradient: cosine * e_r };
        }
        let zeta = self.reduced(p.z - lead * p.y.atan2(p.x));
        let (x, mirrored) = (zeta.abs(), if zeta < 0.0 { -1.0 } else { 1.0 });
        // Distances from crest, root and flank of half a ridge, as (ρ, ζ) away from the nearest point.
        let crest = (rho - top, x - x.min(a));
        let root = (rho - bottom, x - x.max(b));
        let (along_r, along_z) = (bottom - top, b - a);
        let t =
            ((rho - top) * along_r + (x - a) * along_z) / (along_r * along_r + along_z * along_z);
        let t = t.clamp(0.0, 1.0);
        let flank = (rho - top - t * along_r, x - a - t * along_z);
        let square = |v: (f64, f64)| v.0 * v.0 + v.1 * v.1;
        let mut away = flank;
        for other in [crest, root] {
            if square(other) < square(away) {
                away = other;
            }
        }
        let distance = square(away).sqrt();
        // Height over the line: which side of it the point lies on.
        let over = rho - radius_beside(&[[a, top], [b, bottom]], x);
        let sign = if over < 0.0 { -1.0 } else { 1.0 };
        let (g_r, g_z) = if distance > 1e-12 * top {
            (sign * away.0 / distance, sign * away.1 / distance)
        } else if x <= a || x >= b {
            (1.0, 0.0)
        } else {
            let length = along_r.hypot(along_z);
            (along_z / length, -along_r / length)
        };
        let e_phi = Vector3::new(-e_r.y, e_r.x, 0.0);
        let e_zeta = Vector3::new(0.0, 0.0, 1.0) - (lead / rho) * e_phi;
        let thread = FieldSample {
            value: cosine * sign * distance,
            gradient: cosine * (g_r * e_r + (mirrored * g_z) * e_zeta),
        };
        // Deep inside, the distance from the root replaces that from the profile, continuously.
        let core = FieldSample { value: -cosine * rho, gradient: -cosine * e_r };
        blend::intersection(thread, core, 0.0)
    }
}

/// Radius at the distance x [m] from the middle of a ridge with these corners.
fn radius_beside([[a, top], [b, bottom]]: &[[f64; 2]; 2], x: f64) -> f64 {
    if x <= *a {
        *top
    } else if x >= *b {
        *bottom
    } else {
        top + (bottom - top) * (x - a) / (b - a)
    }
}
