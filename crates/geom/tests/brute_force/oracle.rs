//! Distances of triangles by exhaustive search, independent of the library: no tree, no support points, no
//! topology. Points against triangles and segments against segments in closed form; the distance of a
//! cylinder by minimizing a convex function over the triangle.

use nalgebra::{Isometry3, Vector3};

pub type Triangle = [Vector3<f64>; 3];

fn to_segment(p: &Vector3<f64>, a: &Vector3<f64>, b: &Vector3<f64>) -> f64 {
    let s = ((p - a).dot(&(b - a)) / (b - a).norm_squared()).clamp(0.0, 1.0);
    (p - a - (b - a) * s).norm()
}

/// Distance of a point from a triangle [m].
pub fn to_triangle(p: &Vector3<f64>, t: &Triangle) -> f64 {
    let n = (t[1] - t[0]).cross(&(t[2] - t[0])).normalize();
    let over = (0..3).all(|k| (t[(k + 1) % 3] - t[k]).cross(&(p - t[k])).dot(&n) >= 0.0);
    if over {
        return n.dot(&(p - t[0])).abs();
    }
    (0..3).map(|k| to_segment(p, &t[k], &t[(k + 1) % 3])).fold(f64::INFINITY, f64::min)
}

/// Distance of two segments [m]: at the crossing of their lines if both contain it, else at an end.
fn between(p: [&Vector3<f64>; 2], q: [&Vector3<f64>; 2]) -> f64 {
    let (d, e, r) = (p[1] - p[0], q[1] - q[0], q[0] - p[0]);
    let n = d.cross(&e);
    let square = n.norm_squared();
    let (s, t) = (r.cross(&e).dot(&n) / square, r.cross(&d).dot(&n) / square);
    if (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t) {
        return r.dot(&n).abs() / square.sqrt();
    }
    let first = to_segment(p[0], q[0], q[1]).min(to_segment(p[1], q[0], q[1]));
    first.min(to_segment(q[0], p[0], p[1])).min(to_segment(q[1], p[0], p[1]))
}

/// Whether a segment passes through a triangle: its ends lie on different sides of the plane, and the line
/// has all three sides on the same hand.
fn passes(p: &Vector3<f64>, q: &Vector3<f64>, t: &Triangle) -> bool {
    let n = (t[1] - t[0]).cross(&(t[2] - t[0]));
    if n.dot(&(p - t[0])) * n.dot(&(q - t[0])) > 0.0 {
        return false;
    }
    let hand = [0, 1, 2].map(|k| (q - p).dot(&(t[k] - p).cross(&(t[(k + 1) % 3] - p))));
    hand.iter().all(|&h| h >= 0.0) || hand.iter().all(|&h| h <= 0.0)
}

fn segment_to_triangle(p: &Vector3<f64>, q: &Vector3<f64>, t: &Triangle) -> f64 {
    if passes(p, q, t) {
        return 0.0;
    }
    let ends = to_triangle(p, t).min(to_triangle(q, t));
    (0..3).map(|k| between([p, q], [&t[k], &t[(k + 1) % 3]])).fold(ends, f64::min)
}

fn between_triangles(s: &Triangle, t: &Triangle) -> f64 {
    let one = (0..3).map(|k| segment_to_triangle(&s[k], &s[(k + 1) % 3], t));
    let two = (0..3).map(|k| segment_to_triangle(&t[k], &t[(k + 1) % 3], s));
    one.chain(two).fold(f64::INFINITY, f64::min)
}

/// Signed distance from a cylinder about z: outside, along both excesses; inside, to the nearer of both.
fn to_cylinder(p: &Vector3<f64>, radius: f64, half_length: f64) -> f64 {
    let (side, cap) = (p.x.hypot(p.y) - radius, p.z.abs() - half_length);
    side.max(0.0).hypot(cap.max(0.0)) + side.max(cap).min(0.0)
}

/// Least value of a convex function over [0, 1], by golden-section search.
fn least(f: impl Fn(f64) -> f64) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_894_8;
    let (mut low, mut high) = (0.0, 1.0);
    let (mut x, mut y) = (1.0 - GOLDEN, GOLDEN);
    let (mut f_x, mut f_y) = (f(x), f(y));
    let mut best = f_x.min(f_y).min(f(0.0)).min(f(1.0));
    // The bracket shrinks to 0.618⁴⁶ ≈ 2e-10 of a side.
    for _ in 0..46 {
        if f_x <= f_y {
            (high, y, f_y) = (y, x, f_x);
            x = high - GOLDEN * (high - low);
            f_x = f(x);
        } else {
            (low, x, f_x) = (x, y, f_y);
            y = low + GOLDEN * (high - low);
            f_y = f(y);
        }
        best = best.min(f_x).min(f_y);
    }
    best
}

/// The signed distance from a convex set is convex, hence also its least value along one direction.
fn cylinder_to_triangle(t: &Triangle, radius: f64, half_length: f64) -> f64 {
    least(|u| {
        let (from, to) = (t[0] + (t[1] - t[0]) * u, t[0] + (t[2] - t[0]) * u);
        least(|v| to_cylinder(&(from + (to - from) * v), radius, half_length))
    })
}

/// A triangle soup with bounding spheres.
#[derive(Clone, Debug, Default)]
pub struct Soup {
    pub triangles: Vec<Triangle>,
    /// Whether the triangles bound a solid.
    pub solid: bool,
    spheres: Vec<(Vector3<f64>, f64)>,
}

fn sphere(t: &Triangle) -> (Vector3<f64>, f64) {
    let centre = (t[0] + t[1] + t[2]) / 3.0;
    (centre, t.iter().map(|p| (p - centre).norm()).fold(0.0, f64::max))
}

impl Soup {
    pub fn new(triangles: Vec<Triangle>, solid: bool) -> Self {
        let spheres = triangles.iter().map(sphere).collect();
        Self { triangles, solid, spheres }
    }

    pub fn of(vertices: &[Vector3<f64>], triangles: &[[u32; 3]], solid: bool) -> Self {
        let corners = |t: &[u32; 3]| t.map(|v| vertices[v as usize]);
        Self::new(triangles.iter().map(corners).collect(), solid)
    }

    pub fn moved(&self, X: &Isometry3<f64>) -> Self {
        let place = |p: Vector3<f64>| X.rotation * p + X.translation.vector;
        Self::new(self.triangles.iter().map(|t| t.map(place)).collect(), self.solid)
    }

    /// Whether the winding number about the point is not zero: the sum of the signed solid angles of the
    /// triangles, by van Oosterom and Strackee's formula.
    pub fn contains(&self, p: &Vector3<f64>) -> bool {
        let angle = |t: &Triangle| {
            let [a, b, c] = t.map(|x| x - p);
            let (x, y, z) = (a.norm(), b.norm(), c.norm());
            let below = x * y * z + a.dot(&b) * z + b.dot(&c) * x + c.dot(&a) * y;
            2.0 * a.dot(&b.cross(&c)).atan2(below)
        };
        self.solid && self.triangles.iter().map(angle).sum::<f64>().abs() > std::f64::consts::TAU
    }

    /// Distance of a point from the nearest triangle [m].
    pub fn distance(&self, p: &Vector3<f64>) -> f64 {
        self.triangles.iter().map(|t| to_triangle(p, t)).fold(f64::INFINITY, f64::min)
    }

    /// Least of `distance` over the triangles, which is at least that of their bounding spheres' centres,
    /// `bound`, less their radii.
    fn search(
        &self,
        bound: impl Fn(&Vector3<f64>) -> f64,
        distance: impl Fn(&Triangle) -> f64,
    ) -> f64 {
        let below = |k: usize| bound(&self.spheres[k].0) - self.spheres[k].1;
        let mut first = (f64::INFINITY, 0);
        for k in 0..self.triangles.len() {
            let low = below(k);
            if low < first.0 {
                first = (low, k);
            }
        }
        let mut least = distance(&self.triangles[first.1]);
        for k in 0..self.triangles.len() {
            if k != first.1 && below(k) <= least {
                least = least.min(distance(&self.triangles[k]));
            }
        }
        least
    }
}

/// A body for the oracle, in its own frame.
#[derive(Clone, Debug)]
pub enum Body {
    Sphere { radius: f64 },
    Capsule { radius: f64, half_length: f64 },
    Cylinder { radius: f64, half_length: f64 },
    Polyhedron(Soup),
}

impl Body {
    /// Distance of a body at `X_BA` from a soup, or a number below zero if they intersect.
    pub fn gap(&self, X_BA: &Isometry3<f64>, soup: &Soup) -> f64 {
        let (R, p) = (X_BA.rotation, X_BA.translation.vector);
        let gap = match self {
            Self::Sphere { radius } => {
                soup.search(|x| (x - p).norm(), |t| to_triangle(&p, t)) - radius
            }
            Self::Capsule { radius, half_length } => {
                let axis = R * Vector3::z() * *half_length;
                let (low, high) = (p - axis, p + axis);
                let core = |t: &Triangle| segment_to_triangle(&low, &high, t);
                soup.search(|x| to_segment(x, &low, &high), core) - radius
            }
            Self::Cylinder { radius, half_length } => {
                let local = |x: &Vector3<f64>| R.inverse_transform_vector(&(x - p));
                soup.search(
                    |x| to_cylinder(&local(x), *radius, *half_length),
                    |t| cylinder_to_triangle(&t.map(|x| local(&x)), *radius, *half_length),
                )
            }
            Self::Polyhedron(own) => {
                let own = own.moved(X_BA);
                let (middle, reach) = ball(&own);
                let least = soup.search(
                    |x| (x - middle).norm() - reach,
                    |t| {
                        let (centre, radius) = sphere(t);
                        let bound = |x: &Vector3<f64>| (x - centre).norm() - radius;
                        own.search(bound, |s| between_triangles(s, t))
                    },
                );
                let inside =
                    own.contains(&soup.triangles[0][0]) || soup.contains(&own.triangles[0][0]);
                if least == 0.0 || inside { -1.0 } else { least }
            }
        };
        if gap > 0.0 && soup.contains(&p) && !matches!(self, Self::Polyhedron(_)) {
            -1.0
        } else {
            gap
        }
    }

    /// Distance of a point outside a body at `X_BA` from it [m], not positive inside.
    pub fn excess(&self, X_BA: &Isometry3<f64>, p: &Vector3<f64>) -> f64 {
        let p = X_BA.inverse_transform_point(&(*p).into()).coords;
        match self {
            Self::Sphere { radius } => p.norm() - radius,
            Self::Capsule { radius, half_length } => {
                let end = Vector3::z() * *half_length;
                to_segment(&p, &-end, &end) - radius
            }
            Self::Cylinder { radius, half_length } => to_cylinder(&p, *radius, *half_length),
            Self::Polyhedron(soup) if soup.contains(&p) => 0.0,
            Self::Polyhedron(soup) => soup.distance(&p),
        }
    }
}

/// A ball around all triangles.
fn ball(soup: &Soup) -> (Vector3<f64>, f64) {
    let corners = || soup.triangles.iter().flatten();
    let middle = corners().sum::<Vector3<f64>>() / (3.0 * soup.triangles.len() as f64);
    (middle, corners().map(|p| (p - middle).norm()).fold(0.0, f64::max))
}
