//! Bolts, nuts and gears with the shapes of MuJoCo's plugins `mujoco.sdf.bolt`, `mujoco.sdf.nut` and `mujoco.sdf.gear`.
//!
//! Bolt and nut have a triangular thread of twelve turns per metre, right-handed, and a hexagonal head one metre across flats,
//! below z = 0. A gear has involute teeth of the given number on its pitch circle, with rounded roots, and a bore. Values are
//! differences and extrema of lengths: the distance on flats and flanks, a bound of it at edges. Constant cost.

use super::{FieldSample, blend};
use crate::{Aabb, ShapeError};
use nalgebra::Vector3;
use std::f64::consts::{FRAC_1_SQRT_2, PI, TAU};

/// Turns of the thread per length [1/m].
const TURNS: f64 = 12.0;
/// Half the width of a head across flats, and half its height [m].
const HEAD: f64 = 0.5;
const HALF_HEIGHT: f64 = 0.25;
/// Height above z = 0 at which the cone that rounds a head has the radius of the thread [m].
const HEAD_CONE: f64 = 0.22;
/// The same below z = 0 for the cones at the end of a bolt, and at both ends of the hole of a nut [m].
const BOLT_CONE: f64 = 1.0;
const HOLE_CONES: [f64; 2] = [0.5, 0.05];
/// Height and addendum of a tooth, in modules [-].
const TOOTH: f64 = 2.2;
const ADDENDUM: f64 = 1.0;
/// Width of a rim, and over which tips are rounded, relative to the pitch diameter [-].
const RIM: f64 = 0.14;
const TIP: f64 = 0.0035;
/// Distance from the tips beyond which a gear is a cylinder [m].
const FAR: f64 = 0.2;
/// Least radius at which the angle about z changes smoothly [m].
const AXIS: f64 = 1e-9;
/// Most teeth.
const MOST_TEETH: f64 = 1000.0;

/// A part of a machine, its axis along z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MachinePart {
    /// A bolt of one metre with its head.
    Bolt {
        /// Radius of the root of the thread [m].
        radius: f64,
    },
    /// A nut.
    Nut {
        /// Radius of the crest of the thread [m].
        radius: f64,
    },
    /// A spur gear.
    Gear {
        /// Angle by which it is turned, clockwise [rad].
        angle: f64,
        /// Diameter of the pitch circle [m].
        diameter: f64,
        /// Number of teeth.
        teeth: f64,
        /// Thickness [m].
        thickness: f64,
        /// Diameter of the bore [m]; negative for a rim that fits the diameter.
        bore: f64,
    },
}

impl MachinePart {
    /// Bound of the change of the value per length [-], outside the middle of a bolt.
    pub const LIPSCHITZ: f64 = 1.1;

    /// Value and gradient at the point `p` [m].
    pub fn sample(&self, p: &Vector3<f64>) -> FieldSample {
        let height = FieldSample { value: p.z, gradient: Vector3::z() };
        match *self {
            Self::Bolt { radius } => {
                let beyond = linear([(1.0, radial(p))], -radius);
                let rod = most(thread(p, beyond), slab(p.z, -HEAD, HEAD));
                // A cone leads in at the end.
                let end = diagonal([(-1.0, height), (1.0, beyond)], -BOLT_CONE);
                least(most(rod, end), head(p, beyond))
            }
            Self::Nut { radius } => {
                let beyond = linear([(1.0, radial(p))], -radius);
                let [low, high] =
                    HOLE_CONES.map(|at| diagonal([(-1.0, height), (1.0, beyond)], -at));
                let hole = least(most(thread(p, beyond), low), high);
                most(head(p, beyond), blend::complement(hole))
            }
            Self::Gear { thickness, .. } => {
                let outline = self.gear_outline(p);
                extrude(outline, slab(p.z, 0.0, 0.5 * thickness))
            }
        }
    }

    /// Bounds [m].
    pub fn bounds(&self) -> Aabb {
        let corner = 2.0 * HEAD / 3.0_f64.sqrt();
        let (radius, low, high) = match *self {
            Self::Bolt { radius } => (corner.max(radius + 0.5 / TURNS), -2.0 * HEAD, 0.0),
            Self::Nut { .. } => (corner, -2.0 * HALF_HEIGHT, 0.0),
            Self::Gear { diameter, teeth, thickness, .. } => {
                let tip = 0.5 * diameter + ADDENDUM * diameter / teeth;
                (tip, -0.5 * thickness, 0.5 * thickness)
            }
        };
        Aabb { min: Vector3::new(-radius, -radius, low), max: Vector3::new(radius, radius, high) }
    }

    /// Length of the edges of triangles that show its teeth or its thread [m].
    pub fn width(&self) -> f64 {
        match *self {
            Self::Bolt { .. } | Self::Nut { .. } => 0.25 / TURNS,
            Self::Gear { diameter, teeth, thickness, .. } => {
                (0.1 * PI * diameter / teeth).min(0.5 * thickness)
            }
        }
    }

    /// Checks lengths.
    pub fn check(&self) -> Result<(), ShapeError> {
        let positive = |parameter, found: f64| {
            let good = found > 0.0 && found.is_finite();
            let wrong = ShapeError::Length { shape: "sdf", parameter, found };
            if good { Ok(()) } else { Err(wrong) }
        };
        match *self {
            Self::Bolt { radius } => positive("radius", radius),
            Self::Nut { radius } => {
                positive("radius", radius)?;
                // The thread must leave a wall.
                if radius + 0.5 / TURNS < HEAD {
                    return Ok(());
                }
                let (parameter, expected) = ("radius", "less than");
                let limit = HEAD - 0.5 / TURNS;
                Err(ShapeError::Thread { parameter, found: radius, expected, limit })
            }
            Self::Gear { angle, diameter, teeth, thickness, bore } => {
                positive("diameter", diameter)?;
                positive("thickness", thickness)?;
                if !(3.0..=MOST_TEETH).contains(&teeth) {
                    let (parameter, found) = ("number of teeth", teeth);
                    return Err(ShapeError::Length { shape: "sdf", parameter, found });
                }
                let root = 0.5 * diameter + (ADDENDUM - TOOTH) * diameter / teeth;
                let found = if bore >= 0.0 { 0.5 * bore } else { root - RIM * diameter };
                if angle.is_finite() && found < root && root > 0.0 {
                    return Ok(());
                }
                let parameter = "bore";
                Err(ShapeError::Thread { parameter, found, expected: "less than", limit: root })
            }
        }
    }

    /// The distance of a gear's outline in the plane across its axis: involutes of the base circle on both sides of a tooth,
    /// merged with the circle of the roots.
    fn gear_outline(&self, p: &Vector3<f64>) -> FieldSample {
        let Self::Gear { angle, diameter, teeth, bore, .. } = *self else {
            return FieldSample { value: f64::INFINITY, gradient: Vector3::zeros() };
        };
        let rho = radial(p);
        let module = diameter / teeth;
        let pitch_radius = 0.5 * diameter;
        let tip = pitch_radius + ADDENDUM * module;
        let root = tip - TOOTH * module;
        let inner = if bore >= 0.0 { 0.5 * bore } else { root - RIM * diameter };
        let hole = linear([(-1.0, rho)], inner);
        let outer = linear([(1.0, rho)], -tip);
        if hole.value > 0.0 {
            return hole;
        }
        if outer.value > FAR {
            return outer;
        }
        // The angle of pressure, fitted to the number of teeth.
        let pressure = (3.096e-5 * teeth - 6.557e-3) * teeth + 0.551;
        let base = pitch_radius * pressure.cos();
        let stride = TAU / teeth;
        // Half of the gap between teeth at the base circle, as an angle.
        let gap = 0.5 * stride - 2.0 * (pressure.tan() - pressure);
        let turned = linear([(1.0, azimuth(p))], angle);
        let left = wrapped(turned, gap, stride);
        let right = wrapped(linear([(-1.0, turned)], -gap), gap, stride);
        let mut cog = most(left, right);
        cog.value -= stride - gap;
        if rho.value > base {
            // A point at the distance t from where its tangent meets the base circle unwinds from the angle θ to t − r θ.
            let t = (rho.value * rho.value - base * base).sqrt();
            let along = FieldSample { value: t, gradient: rho.gradient * (rho.value / t) };
            let unwound = FieldSample {
                value: (base / rho.value).acos(),
                gradient: rho.gradient * (base / (rho.value * t)),
            };
            let flank = |side| linear([(1.0, along), (-base, side), (-base, unwound)], 0.0);
            cog = most(cog, most(flank(left), flank(right)));
        }
        let teeth_of_tip = {
            let outside = |a, b| most(a, blend::complement(b));
            let edge = blend::union(outside(outer, cog), outside(cog, outer), TIP * diameter);
            most(most(outer, cog), blend::complement(edge))
        };
        let disc = linear([(1.0, rho)], -root);
        most(blend::union(disc, teeth_of_tip, (base - root).max(f64::MIN_POSITIVE)), hole)
    }
}

/// The head of a bolt, or a nut without its hole: a hexagon whose upper edge is turned to a cone.
fn head(p: &Vector3<f64>, beyond: FieldSample) -> FieldSample {
    let height = FieldSample { value: p.z, gradient: Vector3::z() };
    let side = (p.y.atan2(p.x) * 6.0 / TAU + 0.5).floor() * TAU / 6.0;
    let normal = Vector3::new(side.cos(), side.sin(), 0.0);
    let flat = FieldSample { value: normal.dot(p) - HEAD, gradient: normal };
    let cone = diagonal([(1.0, height), (1.0, beyond)], -HEAD_CONE);
    most(most(flat, slab(p.z, -HALF_HEIGHT, HALF_HEIGHT)), cone)
}

/// A thread whose ridges are triangles with flanks of 45°, `beyond` is the distance from its root.
fn thread(p: &Vector3<f64>, beyond: FieldSample) -> FieldSample {
    let height = FieldSample { value: p.z, gradient: Vector3::z() };
    let turns = linear([(TURNS, height), (-1.0 / TAU, azimuth(p))], 0.0);
    let offset = turns.value - turns.value.floor() - 0.5;
    let gradient = turns.gradient * if offset < 0.0 { -1.0 } else { 1.0 };
    let wave = FieldSample { value: offset.abs(), gradient };
    diagonal([(1.0, beyond), (-1.0 / TURNS, wave)], 0.0)
}

/// Distance from the z axis.
fn radial(p: &Vector3<f64>) -> FieldSample {
    let value = p.x.hypot(p.y);
    let across = Vector3::new(p.x, p.y, 0.0);
    FieldSample { value, gradient: across / value.max(AXIS) }
}

/// Angle about the z axis [rad].
fn azimuth(p: &Vector3<f64>) -> FieldSample {
    let square = (p.x * p.x + p.y * p.y).max(AXIS * AXIS);
    FieldSample { value: p.y.atan2(p.x), gradient: Vector3::new(-p.y, p.x, 0.0) / square }
}

/// All points within half a thickness of a height.
fn slab(z: f64, middle: f64, half: f64) -> FieldSample {
    let away = z - middle;
    let gradient = Vector3::z() * if away < 0.0 { -1.0 } else { 1.0 };
    FieldSample { value: away.abs() - half, gradient }
}

/// An angle reduced to one stride, from half a gap below zero.
fn wrapped(angle: FieldSample, gap: f64, stride: f64) -> FieldSample {
    FieldSample { value: (angle.value + 0.5 * gap).rem_euclid(stride) - 0.5 * gap, ..angle }
}

/// The solid that an outline sweeps within a slab.
fn extrude(outline: FieldSample, slab: FieldSample) -> FieldSample {
    if outline.value > 0.0 && slab.value > 0.0 {
        let value = outline.value.hypot(slab.value);
        let gradient = outline.gradient * outline.value + slab.gradient * slab.value;
        return FieldSample { value, gradient: gradient / value };
    }
    most(outline, slab)
}

fn linear<const N: usize>(terms: [(f64, FieldSample); N], constant: f64) -> FieldSample {
    let start = FieldSample { value: constant, gradient: Vector3::zeros() };
    terms.into_iter().fold(start, |sum, (factor, term)| FieldSample {
        value: sum.value + factor * term.value,
        gradient: sum.gradient + factor * term.gradient,
    })
}

/// A linear combination of two lengths across one another, as a distance.
fn diagonal<const N: usize>(terms: [(f64, FieldSample); N], constant: f64) -> FieldSample {
    let sum = linear(terms, constant);
    FieldSample { value: FRAC_1_SQRT_2 * sum.value, gradient: FRAC_1_SQRT_2 * sum.gradient }
}

fn least(a: FieldSample, b: FieldSample) -> FieldSample {
    blend::union(a, b, 0.0)
}

fn most(a: FieldSample, b: FieldSample) -> FieldSample {
    blend::intersection(a, b, 0.0)
}
