//! Signed distance from a point to a shape's surface, in closed form: used for contacts of spheres.
//!
//! For boxes, capsules, cylinders, ellipsoids, planes and spheres; hulls use the general routine. Exact to
//! round-off, the ellipsoid by Newton's method. The normal is a unit vector for every input, also where the
//! nearest point is not unique.

use super::Shape;
use nalgebra::Vector3;

/// Signed distance of a point from a shape's surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceDistance {
    /// Signed distance of the point from the surface [m], negative inside.
    pub distance: f64,
    /// Outward unit normal at the nearest point of the surface [-].
    pub normal: Vector3<f64>,
}

impl Shape {
    /// Signed distance of `p_S` [m] and the normal there, for shapes that have a closed form.
    pub fn nearest(&self, p_S: &Vector3<f64>) -> Option<SurfaceDistance> {
        match self {
            Self::Box(half) => Some(cuboid(half, p_S)),
            Self::Capsule { radius, half_length } => {
                let z = p_S.z.clamp(-half_length, *half_length);
                Some(around(p_S - Vector3::new(0.0, 0.0, z), *radius, Vector3::x()))
            }
            Self::Cylinder { radius, half_length } => Some(cylinder(*radius, *half_length, p_S)),
            Self::Ellipsoid { radii } => Some(ellipsoid(radii, p_S)),
            Self::Plane => Some(SurfaceDistance { distance: p_S.z, normal: Vector3::z() }),
            Self::Sphere { radius } => Some(around(*p_S, *radius, Vector3::z())),
            Self::Field(field) => {
                let (distance, normal) = field.sample(p_S).to_surface()?;
                Some(SurfaceDistance { distance, normal })
            }
            Self::Compound(_) | Self::Convex(_) | Self::HeightField(_) | Self::Mesh(_) => None,
        }
    }
}

/// A ball of `radius` about the origin; `fallback` is the normal at its centre.
fn around(p: Vector3<f64>, radius: f64, fallback: Vector3<f64>) -> SurfaceDistance {
    let length = p.norm();
    let normal = if length > 0.0 { p / length } else { fallback };
    SurfaceDistance { distance: length - radius, normal }
}

fn cuboid(half: &Vector3<f64>, p: &Vector3<f64>) -> SurfaceDistance {
    let outside = p - p.zip_map(half, |x, h| x.clamp(-h, h));
    let distance = outside.norm();
    if distance > 0.0 {
        return SurfaceDistance { distance, normal: outside / distance };
    }
    // Inside: the nearest face.
    let depth = half - p.abs();
    let axis = depth.imin();
    let mut normal = Vector3::zeros();
    normal[axis] = if p[axis] < 0.0 { -1.0 } else { 1.0 };
    SurfaceDistance { distance: -depth[axis], normal }
}

fn cylinder(radius: f64, half_length: f64, p: &Vector3<f64>) -> SurfaceDistance {
    let across = p.x.hypot(p.y);
    let radial = if across > 0.0 { Vector3::new(p.x, p.y, 0.0) / across } else { Vector3::x() };
    let axial = Vector3::new(0.0, 0.0, if p.z < 0.0 { -1.0 } else { 1.0 });
    let (beyond_side, beyond_cap) = (across - radius, p.z.abs() - half_length);
    if beyond_side > 0.0 && beyond_cap > 0.0 {
        let distance = beyond_side.hypot(beyond_cap);
        let normal = (beyond_side * radial + beyond_cap * axial) / distance;
        SurfaceDistance { distance, normal }
    } else if beyond_side > beyond_cap {
        SurfaceDistance { distance: beyond_side, normal: radial }
    } else {
        SurfaceDistance { distance: beyond_cap, normal: axial }
    }
}

/// The nearest point x of an ellipsoid with radii r solves p − x = t x / r² with Σ (x/r)² = 1:
/// the root t of F(t) = Σ (r p / (t + r²))² − 1 above −min r² [Eberly13, Sec. 3].
///
/// F falls and is convex there, so Newton's method from the left converges monotonically.
fn ellipsoid(r: &Vector3<f64>, p: &Vector3<f64>) -> SurfaceDistance {
    // A component that vanishes makes the root degenerate inside; a shift far below round-off of the
    // result chooses one of the equally near points.
    let tiny = 1e-15 * r.max();
    let y = p.map(|x| x.abs().max(tiny));
    let r2 = r.component_mul(r);
    let mut t = (0..3).map(|i| r[i] * y[i] - r2[i]).fold(f64::NEG_INFINITY, f64::max);
    for _ in 0..MOST_NEWTON_STEPS {
        let (mut F, mut dF) = (-1.0, 0.0);
        for i in 0..3 {
            let s = t + r2[i];
            let q = r[i] * y[i] / s;
            F += q * q;
            dF -= 2.0 * q * q / s;
        }
        let next = t - F / dF;
        if !(next > t) {
            break;
        }
        t = next;
    }
    let sign = |x: f64| if x < 0.0 { -1.0 } else { 1.0 };
    let x = Vector3::from_fn(|i, _| sign(p[i]) * r2[i] * y[i] / (t + r2[i]));
    let gradient = x.component_div(&r2);
    let normal = gradient.normalize();
    SurfaceDistance { distance: normal.dot(&(p - x)), normal }
}

/// Newton's method doubles the digits; far points and flat ellipsoids need some steps before it does.
const MOST_NEWTON_STEPS: usize = 100;
