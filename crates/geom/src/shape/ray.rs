//! The point at which a ray first meets the surface of a shape.
//!
//! A ray cuts a convex shape in a chord, of which every boundary cuts a part off: half spaces of boxes and
//! hulls, quadrics of the round shapes. A ray that starts inside meets the surface where it leaves. Triangles are
//! met from both sides, a half space only from outside. Cost: linear in the faces of a hull, logarithmic in
//! the triangles of a mesh as a rule.

use super::Shape;
use super::triangle;
use crate::Aabb;
use nalgebra::{Isometry3, Point3, Vector3};

/// The points `origin + t direction`, t ≥ 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray {
    /// Its start [m].
    pub origin: Vector3<f64>,
    /// Its direction, a unit vector [-].
    pub direction: Vector3<f64>,
}

/// The point at which a ray meets a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayHit {
    /// Distance from the start of the ray [m].
    pub distance: f64,
    /// Unit normal of the surface; outwards for solids, against the ray for sheets [-].
    pub normal: Vector3<f64>,
}

impl Ray {
    /// The same ray in the frame of a shape at `X_WS`.
    pub fn in_frame(&self, X_WS: &Isometry3<f64>) -> Self {
        Self {
            origin: X_WS.inverse_transform_point(&Point3::from(self.origin)).coords,
            direction: X_WS.inverse_transform_vector(&self.direction),
        }
    }

    /// The point at a distance [m].
    pub fn at(&self, distance: f64) -> Vector3<f64> {
        self.origin + distance * self.direction
    }

    /// Whether it meets a box within `limit` [m].
    pub fn meets(&self, bounds: &Aabb, limit: f64) -> bool {
        let (mut start, mut end) = (0.0_f64, limit);
        for axis in 0..3 {
            let (x, d) = (self.origin[axis], self.direction[axis]);
            let (low, high) = (bounds.min[axis], bounds.max[axis]);
            if d == 0.0 {
                if x < low || x > high {
                    return false;
                }
                continue;
            }
            let (one, other) = ((low - x) / d, (high - x) / d);
            (start, end) = (start.max(one.min(other)), end.min(one.max(other)));
        }
        start <= end
    }
}

/// The part of a line inside a convex shape: parameter and outward normal at both ends.
#[derive(Clone, Copy, Debug)]
struct Chord {
    enter: (f64, Vector3<f64>),
    leave: (f64, Vector3<f64>),
}

impl Chord {
    const LINE: Self = Self {
        enter: (f64::NEG_INFINITY, Vector3::new(0.0, 0.0, 0.0)),
        leave: (f64::INFINITY, Vector3::new(0.0, 0.0, 0.0)),
    };

    /// The part that is also in another convex set.
    fn and(self, other: Option<Self>) -> Option<Self> {
        let other = other?;
        let enter = if other.enter.0 > self.enter.0 { other.enter } else { self.enter };
        let leave = if other.leave.0 < self.leave.0 { other.leave } else { self.leave };
        (enter.0 <= leave.0).then_some(Self { enter, leave })
    }

    /// The part in the half space `n·x ≤ offset`.
    fn cut(self, ray: &Ray, n: Vector3<f64>, offset: f64) -> Option<Self> {
        let (rate, depth) = (n.dot(&ray.direction), offset - n.dot(&ray.origin));
        let mut other = Self::LINE;
        if rate > 0.0 {
            other.leave = (depth / rate, n);
        } else if rate < 0.0 {
            other.enter = (depth / rate, n);
        } else if depth < 0.0 {
            return None;
        }
        self.and(Some(other))
    }

    /// The first end that is not behind the start of the ray.
    fn hit(self) -> Option<RayHit> {
        let (distance, normal) = if self.enter.0 >= 0.0 { self.enter } else { self.leave };
        (distance >= 0.0).then_some(RayHit { distance, normal })
    }
}

/// Chord in the quadric `Σ (x_k / axes_k)² ≤ 1` about `centre`; an infinite axis leaves its coordinate free.
fn quadric(ray: &Ray, centre: Vector3<f64>, axes: Vector3<f64>) -> Option<Chord> {
    let (x, d) = ((ray.origin - centre).component_div(&axes), ray.direction.component_div(&axes));
    let (a, b, c) = (d.norm_squared(), d.dot(&x), x.norm_squared() - 1.0);
    if a == 0.0 {
        return (c <= 0.0).then_some(Chord::LINE);
    }
    let discriminant = b * b - a * c;
    if discriminant < 0.0 {
        return None;
    }
    // The root without cancellation first; their product is c / a.
    let far = -(b + discriminant.sqrt().copysign(b));
    let (one, other) = (far / a, if far == 0.0 { 0.0 } else { c / far });
    let end = |t: f64| {
        let gradient = (x + t * d).component_div(&axes);
        (t, gradient.try_normalize(0.0).unwrap_or(-ray.direction))
    };
    Some(Chord { enter: end(one.min(other)), leave: end(one.max(other)) })
}

fn cylinder(ray: &Ray, radius: f64, half: f64) -> Option<Chord> {
    let z = Vector3::z();
    quadric(ray, Vector3::zeros(), Vector3::new(radius, radius, f64::INFINITY))?
        .cut(ray, z, half)?
        .cut(ray, -z, half)
}

/// A capsule is convex: its chord spans those of its cylinder and of the balls at its ends.
fn capsule(ray: &Ray, radius: f64, half: f64) -> Option<Chord> {
    let ball = |z: f64| quadric(ray, Vector3::new(0.0, 0.0, z), Vector3::repeat(radius));
    let parts = [cylinder(ray, radius, half), ball(half), ball(-half)];
    parts.into_iter().flatten().reduce(|a, b| Chord {
        enter: if b.enter.0 < a.enter.0 { b.enter } else { a.enter },
        leave: if b.leave.0 > a.leave.0 { b.leave } else { a.leave },
    })
}

impl Shape {
    /// The point at which a ray, given in the frame of the shape, first meets its surface within `limit` [m].
    pub fn cast(&self, ray: &Ray, limit: f64) -> Option<RayHit> {
        let chord = match self {
            Self::Box(half) => {
                let mut chord = Some(Chord::LINE);
                for axis in 0..3 {
                    let n = Vector3::ith(axis, 1.0);
                    chord = chord?.cut(ray, n, half[axis])?.cut(ray, -n, half[axis]);
                }
                chord
            }
            Self::Capsule { radius, half_length } => capsule(ray, *radius, *half_length),
            Self::Cylinder { radius, half_length } => cylinder(ray, *radius, *half_length),
            Self::Ellipsoid { radii } => quadric(ray, Vector3::zeros(), *radii),
            Self::Sphere { radius } => quadric(ray, Vector3::zeros(), Vector3::repeat(*radius)),
            Self::Convex(hull) => {
                let mut faces = 0..hull.faces();
                faces.try_fold(Chord::LINE, |chord, face| {
                    let n = hull.face_normal(face);
                    let corner = hull.vertices()[hull.face_corners(face)[0] as usize];
                    chord.cut(ray, n, n.dot(&corner))
                })
            }
            Self::Plane => Chord::LINE.cut(ray, Vector3::z(), 0.0).filter(|c| c.enter.0 >= 0.0),
            Self::Compound(parts) => {
                let hits = parts.parts().iter().filter_map(|(X_SP, shape)| {
                    let hit = shape.cast(&ray.in_frame(X_SP), limit)?;
                    Some(RayHit { normal: X_SP.rotation * hit.normal, ..hit })
                });
                return hits.min_by(|a, b| a.distance.total_cmp(&b.distance));
            }
            Self::Mesh(mesh) => {
                let (distance, t) = mesh.cast(&ray.origin, &ray.direction, limit)?;
                let n = mesh.normal(t);
                let towards = mesh.is_closed() || n.dot(&ray.direction) <= 0.0;
                return Some(RayHit { distance, normal: if towards { n } else { -n } });
            }
            Self::Field(field) => return field.cast(ray, limit),
            Self::HeightField(field) => return height_field(field, ray, limit),
        };
        chord?.hit().filter(|hit| hit.distance <= limit)
    }
}

/// The surface of a height field, cell by cell along the ray.
fn height_field(field: &super::HeightField, ray: &Ray, limit: f64) -> Option<RayHit> {
    let bounds = field.local_bounds();
    let mut chord = Some(Chord::LINE);
    for axis in 0..3 {
        let n = Vector3::ith(axis, 1.0);
        chord = chord?.cut(ray, n, bounds.max[axis])?.cut(ray, -n, -bounds.min[axis]);
    }
    let Chord { enter, leave } = chord?;
    let (start, end) = (enter.0.max(0.0), leave.0.min(limit));
    if !(start <= end) {
        return None;
    }
    let region = Aabb::of_points([ray.at(start), ray.at(end)]);
    let mut best: Option<RayHit> = None;
    field.cells_near(&region, |t| {
        let corners = field.triangle(t).map(|v| field.vertex(v));
        let Some(distance) = triangle::cast(&ray.origin, &ray.direction, &corners) else { return };
        if distance <= limit && best.is_none_or(|old| distance < old.distance) {
            best = Some(RayHit { distance, normal: field.normal(t) });
        }
    });
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::generate;

    fn ray(origin: [f64; 3], direction: [f64; 3]) -> Ray {
        Ray { origin: origin.into(), direction: Vector3::from(direction).normalize() }
    }

    fn solids() -> Vec<Shape> {
        let half = Vector3::new(0.4, 0.5, 0.6);
        let (points, triangles) = generate::cuboid(half);
        vec![
            Shape::cuboid(half).unwrap(),
            Shape::capsule(0.4, 0.5).unwrap(),
            Shape::cylinder(0.4, 0.5).unwrap(),
            Shape::ellipsoid(half).unwrap(),
            Shape::sphere(0.5).unwrap(),
            Shape::convex(&points).unwrap(),
            Shape::mesh(&points, &triangles).unwrap(),
            Shape::compound(vec![(Isometry3::identity(), Shape::sphere(0.5).unwrap())]).unwrap(),
        ]
    }

    /// Directions spread over the sphere.
    fn directions() -> impl Iterator<Item = Vector3<f64>> {
        (0..200).map(|k| {
            let (z, angle) = ((f64::from(k) + 0.5) / 100.0 - 1.0, 2.399 * f64::from(k));
            let across = (1.0 - z * z).sqrt();
            Vector3::new(across * angle.cos(), across * angle.sin(), z)
        })
    }

    #[test]
    fn a_ray_from_inside_and_one_from_outside_meet_the_same_point_with_the_same_normal() {
        for shape in solids() {
            for n in directions() {
                let out = Ray { origin: Vector3::new(0.01, -0.02, 0.03), direction: n };
                let left = shape.cast(&out, 10.0).unwrap();
                let back = Ray { origin: out.at(5.0), direction: -n };
                let met = shape.cast(&back, 10.0).unwrap();
                // A few roundings of coordinates of a few metres.
                assert!((left.distance + met.distance - 5.0).abs() < 1e-13, "{}", shape.name());
                // Near an edge the two may meet different faces.
                let smooth = (left.normal - met.normal).norm() < 1e-12;
                assert!(smooth || left.normal.dot(&n) > 0.0 && met.normal.dot(&n) > 0.0);
                assert!(shape.cast(&back, 3.0).is_none(), "{}", shape.name());
            }
        }
    }

    #[test]
    fn the_point_met_lies_on_the_surface_and_its_normal_points_outwards() {
        for shape in solids() {
            for n in directions() {
                let ray = Ray { origin: 3.0 * n, direction: -(n + Vector3::new(0.1, 0.0, -0.05)) };
                let ray = Ray { direction: ray.direction.normalize(), ..ray };
                let Some(hit) = shape.cast(&ray, 10.0) else { continue };
                assert!(hit.normal.dot(&ray.direction) <= 0.0, "{}", shape.name());
                if let Some(found) = shape.nearest(&ray.at(hit.distance)) {
                    assert!(found.distance.abs() < 1e-12, "{}: {found:?}", shape.name());
                    assert!((found.normal - hit.normal).norm() < 1e-6, "{}", shape.name());
                }
            }
        }
    }

    #[test]
    fn rays_that_miss_or_look_away_meet_nothing() {
        for shape in solids() {
            assert!(shape.cast(&ray([2.0, 0.0, 0.0], [1.0, 0.0, 0.0]), 10.0).is_none());
            assert!(shape.cast(&ray([2.0, 2.0, 0.0], [-1.0, 0.0, 0.0]), 10.0).is_none());
        }
        let down = ray([3.0, 1.0, 2.0], [0.0, 0.0, -1.0]);
        assert_eq!(Shape::Plane.cast(&down, 10.0).unwrap().distance, 2.0);
        assert!(Shape::Plane.cast(&ray([0.0, 0.0, -1.0], [0.0, 0.0, 1.0]), 10.0).is_none());
    }

    #[test]
    fn a_sloping_field_is_met_where_its_height_says() {
        // z = x/2 over 2 m × 2 m.
        let heights = (0..9).map(|k| 0.5 * (f64::from(k % 3) - 1.0)).collect();
        let field = Shape::height_field(3, 3, heights, (2.0, 2.0)).unwrap();
        for x in [-0.9, -0.2, 0.3, 0.8] {
            let hit = field.cast(&ray([x, 0.1, 4.0], [0.0, 0.0, -1.0]), 10.0).unwrap();
            assert!((hit.distance - (4.0 - 0.5 * x)).abs() < 1e-14);
            let slope = Vector3::new(-0.5, 0.0, 1.0).normalize();
            assert!((hit.normal - slope).norm() < 1e-14);
        }
        // Along x at a height of 0.25 the slope is met at x = 0.5.
        let hit = field.cast(&ray([-3.0, 0.1, 0.25], [1.0, 0.0, 0.0]), 10.0).unwrap();
        assert!((hit.distance - 3.5).abs() < 1e-14);
    }
}
