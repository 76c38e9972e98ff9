//! Exact signed distances of primitives about the origin, axes along z, with their gradients. Constant cost.

use super::FieldSample;
use nalgebra::Vector3;

/// A ball of `radius` [m].
pub fn sphere(radius: f64, p: &Vector3<f64>) -> FieldSample {
    around(*p, radius, Vector3::z())
}

/// All points within `radius` [m] of a segment on z of the half length `half` [m].
pub fn capsule(radius: f64, half: f64, p: &Vector3<f64>) -> FieldSample {
    around(p - Vector3::new(0.0, 0.0, p.z.clamp(-half, half)), radius, Vector3::x())
}

/// A ring about z: all points within `minor` [m] of a circle of radius `major` [m].
pub fn torus(major: f64, minor: f64, p: &Vector3<f64>) -> FieldSample {
    let radial = radial(p);
    around(p - major * radial, minor, Vector3::z())
}

/// A box of half edges `half` [m] whose edges are rounded by `rounding` [m]; the rounding does not change its extent.
pub fn cuboid(half: &Vector3<f64>, rounding: f64, p: &Vector3<f64>) -> FieldSample {
    let sign = p.map(|x| if x < 0.0 { -1.0 } else { 1.0 });
    let beyond = p.abs() - half.add_scalar(-rounding);
    let outside = beyond.sup(&Vector3::zeros());
    let distance = outside.norm();
    if distance > 0.0 {
        let gradient = outside.component_mul(&sign) / distance;
        return FieldSample { value: distance - rounding, gradient };
    }
    let axis = beyond.imax();
    let mut gradient = Vector3::zeros();
    gradient[axis] = sign[axis];
    FieldSample { value: beyond[axis] - rounding, gradient }
}

/// A cylinder of `radius` and half length `half` [m] whose edges are rounded by `rounding` [m] without changing its extent.
pub fn cylinder(radius: f64, half: f64, rounding: f64, p: &Vector3<f64>) -> FieldSample {
    let (across, radial) = (p.x.hypot(p.y), radial(p));
    let axial = Vector3::new(0.0, 0.0, if p.z < 0.0 { -1.0 } else { 1.0 });
    let (side, cap) = (across - radius + rounding, p.z.abs() - half + rounding);
    if side > 0.0 && cap > 0.0 {
        let distance = side.hypot(cap);
        let gradient = (side * radial + cap * axial) / distance;
        FieldSample { value: distance - rounding, gradient }
    } else if side > cap {
        FieldSample { value: side - rounding, gradient: radial }
    } else {
        FieldSample { value: cap - rounding, gradient: axial }
    }
}

/// Unit vector from the z-axis to the point; x on the axis.
pub fn radial(p: &Vector3<f64>) -> Vector3<f64> {
    let across = (p.x * p.x + p.y * p.y).sqrt();
    if across > 0.0 { Vector3::new(p.x / across, p.y / across, 0.0) } else { Vector3::x() }
}

/// A ball about the origin; `fallback` is the gradient at its centre.
fn around(p: Vector3<f64>, radius: f64, fallback: Vector3<f64>) -> FieldSample {
    let length = p.norm();
    let gradient = if length > 0.0 { p / length } else { fallback };
    FieldSample { value: length - radius, gradient }
}
