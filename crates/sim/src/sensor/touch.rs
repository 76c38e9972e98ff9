//! Touch: sum of the normal contact forces on a body whose lines of action meet a volume.
//!
//! A contact counts if the half-line from it outwards along the normal meets the volume: it does so
//! from anywhere within, and where a flat volume lies over the surface. The half-line is an interval
//! of the parameter t in `x + t n`; each boundary of a volume cuts a part of it off.
//!
//! Deviation: MuJoCo's half-lines start in the middle of the penetration of its soft contacts, well
//! within a volume as large as the body itself. Those here start at the surface nearer to the inside,
//! and volumes are a little larger than declared, so that round-off of rigid contacts, which do not
//! penetrate, does not change the result.

use nalgebra::{Isometry3, Point3, Vector3};

use super::TouchVolume;
use crate::contact_point::ContactPoint;

/// By how much volumes are larger than declared [-].
const GENEROSITY: f64 = 1e-3;

/// Sum of the normal forces [N] on a body whose half-lines meet a volume at `X_WS`.
pub(super) fn pressure(
    contacts: &[ContactPoint],
    body: usize,
    volume: &TouchVolume,
    X_WS: &Isometry3<f64>,
) -> f64 {
    let mut sum = 0.0;
    for contact in contacts {
        let outwards = match (contact.bodies, contact.soft) {
            ([a, _], [None, _]) if a == body => contact.normal,
            ([_, b], [_, None]) if b == body => -contact.normal,
            _ => continue,
        };
        let force = contact.force.dot(&contact.normal);
        let start = contact.point - outwards * (0.5 * contact.gap.abs());
        let ray = HalfLine {
            x: X_WS.inverse_transform_point(&Point3::from(start)).coords,
            n: X_WS.inverse_transform_vector(&outwards),
        };
        if force > 0.0 && ray.meets(volume) {
            sum += force;
        }
    }
    sum
}

/// The points `x + t n`, t ≥ 0, in the frame of a volume.
struct HalfLine {
    x: Vector3<f64>,
    n: Vector3<f64>,
}

/// An interval of t, `None` if nothing is left.
type LineInterval = Option<(f64, f64)>;

const ALL: LineInterval = Some((0.0, f64::INFINITY));

fn common(part: LineInterval, lower: f64, upper: f64) -> LineInterval {
    let (start, end) = part?;
    let (start, end) = (start.max(lower), end.min(upper));
    (start <= end).then_some((start, end))
}

impl HalfLine {
    fn meets(&self, volume: &TouchVolume) -> bool {
        let size = 1.0 + GENEROSITY;
        match *volume {
            TouchVolume::Sphere(r) => self.in_ball(ALL, &Vector3::zeros(), size * r),
            TouchVolume::Ellipsoid(axes) => {
                let (x, n) = (self.x.component_div(&axes), self.n.component_div(&axes));
                HalfLine { x, n }.in_ball(ALL, &Vector3::zeros(), size)
            }
            TouchVolume::Box(sides) => {
                (0..3).fold(ALL, |part, axis| self.in_slab(part, axis, size * sides[axis]))
            }
            TouchVolume::Cylinder { r, half } => self.in_cylinder(size * r, size * half),
            TouchVolume::Capsule { r, half } => {
                let end = |z: f64| self.in_ball(ALL, &Vector3::new(0.0, 0.0, z), size * r);
                self.in_cylinder(size * r, half).or_else(|| end(half)).or_else(|| end(-half))
            }
        }
        .is_some()
    }

    /// The section of a part between two planes across an axis.
    fn in_slab(&self, part: LineInterval, axis: usize, half: f64) -> LineInterval {
        let (x, n) = (self.x[axis], self.n[axis]);
        if n == 0.0 {
            return part.filter(|_| x.abs() <= half);
        }
        let (one, other) = ((-half - x) / n, (half - x) / n);
        common(part, one.min(other), one.max(other))
    }

    /// The section of a part within a radius of a point.
    fn in_ball(&self, part: LineInterval, centre: &Vector3<f64>, r: f64) -> LineInterval {
        let (x, n) = (self.x - centre, &self.n);
        let (a, b, c) = (n.norm_squared(), n.dot(&x), x.norm_squared() - r * r);
        if a == 0.0 {
            return part.filter(|_| c <= 0.0);
        }
        let discriminant = b * b - a * c;
        if !(discriminant >= 0.0) {
            return None;
        }
        let root = discriminant.sqrt();
        common(part, (-b - root) / a, (-b + root) / a)
    }

    fn in_cylinder(&self, r: f64, half: f64) -> LineInterval {
        let across = |v: &Vector3<f64>| Vector3::new(v.x, v.y, 0.0);
        let flat = HalfLine { x: across(&self.x), n: across(&self.n) };
        self.in_slab(flat.in_ball(ALL, &Vector3::zeros(), r), 2, half)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(volume: TouchVolume, x: [f64; 3], n: [f64; 3]) -> bool {
        HalfLine { x: x.into(), n: n.into() }.meets(&volume)
    }

    fn volumes() -> [TouchVolume; 5] {
        [
            TouchVolume::Sphere(0.5),
            TouchVolume::Capsule { r: 0.5, half: 0.7 },
            TouchVolume::Ellipsoid(Vector3::new(0.5, 0.6, 0.7)),
            TouchVolume::Cylinder { r: 0.5, half: 0.7 },
            TouchVolume::Box(Vector3::new(0.5, 0.6, 0.7)),
        ]
    }

    #[test]
    fn a_half_line_from_within_always_meets_a_volume_and_one_that_leads_away_never() {
        for volume in volumes() {
            for n in [[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [0.6, 0.0, -0.8]] {
                assert!(hits(volume, [0.1, -0.2, 0.3], n), "{volume:?} {n:?}");
                let far = n.map(|x| 3.0 * x);
                assert!(!hits(volume, far, n), "{volume:?} {n:?}");
                assert!(hits(volume, far, n.map(|x| -x)), "{volume:?} {n:?}");
            }
        }
    }

    #[test]
    fn the_corners_of_volumes_are_where_they_should_be() {
        let down = [0.0, 0.0, -1.0];
        // Above a corner of the box, which a ball of the same size has not.
        assert!(hits(TouchVolume::Box(Vector3::repeat(0.5)), [0.49, 0.49, 2.0], down));
        assert!(!hits(TouchVolume::Sphere(0.5), [0.49, 0.49, 2.0], down));
        // Beside the shaft of a capsule, and over its end.
        let capsule = TouchVolume::Capsule { r: 0.5, half: 1.0 };
        assert!(hits(capsule, [2.0, 0.0, 1.4], [-1.0, 0.0, 0.0]));
        assert!(!hits(capsule, [2.0, 0.0, 1.51], [-1.0, 0.0, 0.0]));
        let cylinder = TouchVolume::Cylinder { r: 0.5, half: 1.0 };
        assert!(!hits(cylinder, [2.0, 0.0, 1.4], [-1.0, 0.0, 0.0]));
        assert!(hits(cylinder, [0.49, 0.0, 3.0], down));
        assert!(!hits(cylinder, [0.49, 0.2, 3.0], down));
    }
}
