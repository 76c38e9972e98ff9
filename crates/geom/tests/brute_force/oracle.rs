//! Distances of triangles by exhaustive search, independent of the library: no tree, no support points, no
//! topology. Points against triangles and segments against segments in closed form; the distance of a
//! cylinder by minimizing a convex function over the triangle.
//!
//! A triangle is left out only where a lower bound of its distance exceeds a distance that was found: that of
//! bounding spheres, of bounding boxes, or of two parallel planes with one body beyond each of them.

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

/// Distance of two triangles [m]: zero if a side of one passes through the other, else that of two sides or of
/// a corner from the other triangle.
fn between_triangles(s: &Triangle, t: &Triangle) -> f64 {
    let side = |t: &Triangle, k: usize| [t[k], t[(k + 1) % 3]];
    let through = |s: &Triangle, t: &Triangle| {
        (0..3).any(|k| {
            let [p, q] = side(s, k);
            passes(&p, &q, t)
        })
    };
    if through(s, t) || through(t, s) {
        return 0.0;
    }
    let mut least = f64::INFINITY;
    for k in 0..3 {
        least = least.min(to_triangle(&s[k], t)).min(to_triangle(&t[k], s));
        let [p, q] = side(s, k);
        for l in 0..3 {
            let [a, b] = side(t, l);
            least = least.min(between([&p, &q], [&a, &b]));
        }
    }
    least
}

/// Distance of the triangle `s` from the plane of `t` with unit normal `n`, a lower bound of their distance [m].
fn plane_gap(s: &Triangle, t: &Triangle, n: &Vector3<f64>) -> f64 {
    let heights = s.map(|p| n.dot(&(p - t[0])));
    let low = heights.iter().copied().fold(f64::INFINITY, f64::min);
    let high = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    low.max(-high)
}

/// Signed distance from a cylinder about z: outside, along both excesses; inside, to the nearer of both.
fn to_cylinder(p: &Vector3<f64>, radius: f64, half_length: f64) -> f64 {
    let (side, cap) = ((p.x * p.x + p.y * p.y).sqrt() - radius, p.z.abs() - half_length);
    if side > 0.0 && cap > 0.0 { (side * side + cap * cap).sqrt() } else { side.max(cap) }
}

/// Where a convex function over [0, 1] is least, and its value there, by golden-section search. A value below
/// zero ends it.
fn least(steps: usize, mut f: impl FnMut(f64) -> f64) -> (f64, f64) {
    const GOLDEN: f64 = 0.618_033_988_749_894_8;
    let (mut low, mut high) = (0.0, 1.0);
    let (mut x, mut y) = (1.0 - GOLDEN, GOLDEN);
    let (mut f_x, mut f_y) = (f(x), f(y));
    let mut best = (0.0, f(0.0));
    for (at, value) in [(1.0, f(1.0)), (x, f_x), (y, f_y)] {
        best = if value < best.1 { (at, value) } else { best };
    }
    for _ in 0..steps {
        if best.1 < 0.0 {
            break;
        }
        let (at, value);
        if f_x <= f_y {
            (high, y, f_y) = (y, x, f_x);
            x = high - GOLDEN * (high - low);
            f_x = f(x);
            (at, value) = (x, f_x);
        } else {
            (low, x, f_x) = (x, y, f_y);
            y = low + GOLDEN * (high - low);
            f_y = f(y);
            (at, value) = (y, f_y);
        }
        best = if value < best.1 { (at, value) } else { best };
    }
    best
}

/// A cylinder about z.
#[derive(Clone, Copy, Debug)]
pub struct Cylinder {
    pub radius: f64,
    pub half_length: f64,
}

impl Cylinder {
    fn distance(&self, p: &Vector3<f64>) -> f64 {
        to_cylinder(p, self.radius, self.half_length)
    }

    /// The point of a triangle with the least distance, and that distance. The signed distance from a convex
    /// set is convex, hence also its least value along one direction.
    fn nearest(&self, t: &Triangle, steps: usize) -> (Vector3<f64>, f64) {
        let ends = |u: f64| (t[0] + (t[1] - t[0]) * u, t[0] + (t[2] - t[0]) * u);
        let along = |u: f64| {
            let (from, to) = ends(u);
            least(steps, |v| self.distance(&(from + (to - from) * v)))
        };
        let (u, gap) = least(steps, |u| along(u).1);
        let (from, to) = ends(u);
        (from + (to - from) * along(u).0, gap)
    }

    /// A lower bound of the distance: the width of the slab between cylinder and triangle that is perpendicular to
    /// the line from the cylinder to `p`.
    fn slab(&self, t: &Triangle, p: &Vector3<f64>) -> f64 {
        let radial = (p.x * p.x + p.y * p.y).sqrt();
        let shorter = (self.radius / radial).min(1.0);
        let foot = Vector3::new(
            p.x * shorter,
            p.y * shorter,
            p.z.clamp(-self.half_length, self.half_length),
        );
        let Some(d) = (p - foot).try_normalize(1e-12) else { return f64::NEG_INFINITY };
        let width = self.radius * (d.x * d.x + d.y * d.y).sqrt() + self.half_length * d.z.abs();
        t.iter().map(|x| d.dot(x)).fold(f64::INFINITY, f64::min) - width
    }

    /// Distance from a triangle, or any number above `most` if it is larger.
    fn gap(&self, t: &Triangle, most: f64) -> f64 {
        // A coarse search finds where to put the slab.
        let (p, _) = self.nearest(t, 6);
        let bound = self.slab(t, &p);
        if bound > most {
            return bound;
        }
        // The bracket shrinks to 0.618⁴⁶ ≈ 2e-10 of a side.
        self.nearest(t, 46).1
    }
}

/// A box along the axes.
#[derive(Clone, Copy, Debug)]
struct Extent {
    low: Vector3<f64>,
    high: Vector3<f64>,
}

impl Extent {
    fn of<'a>(points: impl Iterator<Item = &'a Vector3<f64>>) -> Self {
        let empty =
            Self { low: Vector3::repeat(f64::INFINITY), high: Vector3::repeat(f64::NEG_INFINITY) };
        points.fold(empty, |e, p| Self { low: e.low.inf(p), high: e.high.sup(p) })
    }

    /// The largest distance along an axis, a lower bound of the distance of what is in the boxes [m].
    fn gap(&self, other: &Self) -> f64 {
        (self.low - other.high).sup(&(other.low - self.high)).max()
    }
}

/// A triangle soup with bounds of the triangles.
#[derive(Clone, Debug)]
pub struct Soup {
    pub triangles: Vec<Triangle>,
    /// Whether the triangles bound a solid.
    pub solid: bool,
    spheres: Vec<(Vector3<f64>, f64)>,
    extents: Vec<Extent>,
    normals: Vec<Vector3<f64>>,
    extent: Extent,
}

fn sphere(t: &Triangle) -> (Vector3<f64>, f64) {
    let centre = (t[0] + t[1] + t[2]) / 3.0;
    (centre, t.iter().map(|p| (p - centre).norm()).fold(0.0, f64::max))
}

impl Soup {
    pub fn new(triangles: Vec<Triangle>, solid: bool) -> Self {
        Self {
            solid,
            spheres: triangles.iter().map(sphere).collect(),
            extents: triangles.iter().map(|t| Extent::of(t.iter())).collect(),
            normals: triangles
                .iter()
                .map(|t| (t[1] - t[0]).cross(&(t[2] - t[0])).normalize())
                .collect(),
            extent: Extent::of(triangles.iter().flatten()),
            triangles,
        }
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
        if !self.solid || self.extent.gap(&Extent { low: *p, high: *p }) > 0.0 {
            return false;
        }
        let angle = |t: &Triangle| {
            let [a, b, c] = t.map(|x| x - p);
            let (x, y, z) = (a.norm(), b.norm(), c.norm());
            let below = x * y * z + a.dot(&b) * z + b.dot(&c) * x + c.dot(&a) * y;
            2.0 * a.dot(&b.cross(&c)).atan2(below)
        };
        self.triangles.iter().map(angle).sum::<f64>().abs() > std::f64::consts::TAU
    }

    /// Distance of a point from the nearest triangle, or `most` if it is larger [m].
    pub fn distance(&self, p: &Vector3<f64>, most: f64) -> f64 {
        self.search(most, |x| (x - p).norm(), |t, _| to_triangle(p, t))
    }

    /// Least of `distance` over the triangles, which is at least that of their bounding spheres' centres,
    /// `bound`, less their radii; or `most` if it is larger. The second argument of `distance` is the least
    /// distance so far, above which any number will do.
    fn search(
        &self,
        most: f64,
        bound: impl Fn(&Vector3<f64>) -> f64,
        distance: impl Fn(&Triangle, f64) -> f64,
    ) -> f64 {
        let mut near: Vec<(f64, usize)> = (self.spheres.iter().enumerate())
            .map(|(k, (centre, radius))| (bound(centre) - radius, k))
            .filter(|&(low, _)| low <= most)
            .collect();
        near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut least = most;
        for (low, k) in near {
            if low > least {
                break;
            }
            least = least.min(distance(&self.triangles[k], least));
        }
        least
    }

    /// Least distance of the triangles of two soups, or `most` if it is larger [m].
    fn between(&self, other: &Self, most: f64) -> f64 {
        let near = |extents: &[Extent], extent: &Extent| -> Vec<usize> {
            (0..extents.len()).filter(|&k| extents[k].gap(extent) <= most).collect()
        };
        let (mine, others) =
            (near(&self.extents, &other.extent), near(&other.extents, &self.extent));
        let mut least = most;
        for &i in &mine {
            let (s, n) = (&self.triangles[i], &self.normals[i]);
            for &k in &others {
                let t = &other.triangles[k];
                let apart = self.extents[i].gap(&other.extents[k]) > least
                    || plane_gap(t, s, n) > least
                    || plane_gap(s, t, &other.normals[k]) > least;
                if !apart {
                    least = least.min(between_triangles(s, t));
                }
            }
            if least == 0.0 {
                return 0.0;
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
    Cylinder(Cylinder),
    Polyhedron(Soup),
}

impl Body {
    /// Distance of a body at `X_BA` from a soup or `most` if it is larger [m], or a number below zero if they
    /// intersect.
    pub fn gap(&self, X_BA: &Isometry3<f64>, soup: &Soup, most: f64) -> f64 {
        let (R, p) = (X_BA.rotation, X_BA.translation.vector);
        let (gap, inside) = match self {
            Self::Sphere { radius } => (soup.distance(&p, most + radius) - radius, p),
            Self::Capsule { radius, half_length } => {
                let axis = R * Vector3::z() * *half_length;
                let (low, high) = (p - axis, p + axis);
                let core = |t: &Triangle, _| segment_to_triangle(&low, &high, t);
                (soup.search(most + radius, |x| to_segment(x, &low, &high), core) - radius, p)
            }
            Self::Cylinder(cylinder) => {
                let local = |x: &Vector3<f64>| R.inverse_transform_vector(&(x - p));
                let exact = |t: &Triangle, least: f64| cylinder.gap(&t.map(|x| local(&x)), least);
                (soup.search(most, |x| cylinder.distance(&local(x)), exact), p)
            }
            Self::Polyhedron(own) => {
                let own = own.moved(X_BA);
                let least = own.between(soup, most);
                if least == 0.0 || own.contains(&soup.triangles[0][0]) {
                    return -1.0;
                }
                (least, own.triangles[0][0])
            }
        };
        if gap > 0.0 && soup.contains(&inside) { -1.0 } else { gap }
    }

    /// Distance of a point outside a body at `X_BA` from it or `most` if it is larger [m], not positive inside.
    pub fn excess(&self, X_BA: &Isometry3<f64>, p: &Vector3<f64>, most: f64) -> f64 {
        let p = X_BA.inverse_transform_point(&(*p).into()).coords;
        match self {
            Self::Sphere { radius } => p.norm() - radius,
            Self::Capsule { radius, half_length } => {
                let end = Vector3::z() * *half_length;
                to_segment(&p, &-end, &end) - radius
            }
            Self::Cylinder(cylinder) => cylinder.distance(&p),
            Self::Polyhedron(soup) if soup.contains(&p) => 0.0,
            Self::Polyhedron(soup) => soup.distance(&p, most),
        }
    }
}
