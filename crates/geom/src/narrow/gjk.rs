//! Distance between two convex cores by Gilbert, Johnson and Keerthi's algorithm [Ericson05, Sec. 9.5].
//!
//! Works on the Minkowski difference A − B of the cores in A's frame through support points alone, and
//! keeps the simplex nearest to the origin. Exact to round-off for polyhedra, for which it terminates after
//! finitely many steps; smooth shapes converge until round-off stops the progress. Overlapping cores are
//! handled by [`super::epa`].

use super::ConvexCore;
use nalgebra::{Isometry3, Vector3};

/// Most support points evaluated.
const MOST_STEPS: usize = 128;

/// Distances below this part of the cores' size count as touching: round-off of coordinates of that
/// size leaves no direction in them.
const TOUCHING: f64 = 1e-13;

/// Part of the cores' size subtracted from a proven distance for round-off [-].
const ROUND_OFF: f64 = 1e-12;

/// Least ratio of a proven distance to the current upper bound at which the search stops early [-]: a weak
/// proof would soon expire.
const TIGHT: f64 = 0.7;

/// The same at which a distance that need not be exact is known well enough [-].
pub(crate) const COARSE: f64 = 0.9;

/// A proof that two shapes are apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clearance {
    /// Unit vector from A into B along which they are separated, in A's frame.
    pub axis: Vector3<f64>,
    /// Proven lower bound of their distance [m].
    pub distance: f64,
}

/// Minkowski difference A − B of two cores, in A's frame.
#[derive(Clone, Copy)]
pub struct MinkowskiDifference<'a> {
    /// Core A.
    pub a: &'a dyn ConvexCore,
    /// Core B.
    pub b: &'a dyn ConvexCore,
    /// Pose of B in A.
    pub X_AB: &'a Isometry3<f64>,
}

/// A point of the difference A − B with the points of A and B that it belongs to, in A's frame [m].
#[derive(Clone, Copy, Debug, Default)]
pub struct SupportPoint {
    /// a − b.
    pub w: Vector3<f64>,
    /// Point of A.
    pub a: Vector3<f64>,
    /// Point of B.
    pub b: Vector3<f64>,
}

impl MinkowskiDifference<'_> {
    /// Farthest point of A − B along `dir_A`.
    pub fn support(&self, dir_A: &Vector3<f64>) -> SupportPoint {
        let a = self.a.support(dir_A);
        let dir_B = self.X_AB.rotation.inverse_transform_vector(&-dir_A);
        let b = self.X_AB.rotation * self.b.support(&dir_B) + self.X_AB.translation.vector;
        SupportPoint { w: a - b, a, b }
    }

    /// Separation of the cores along the unit vector `n` from A into B [m], negative if they overlap.
    pub fn separation(&self, n: &Vector3<f64>) -> f64 {
        -self.support(n).w.dot(n)
    }

    /// Distance [m] proved by the separation along the unit vector `axis` from A into B.
    pub fn clearance(&self, axis: &Vector3<f64>) -> f64 {
        let vertex = self.support(axis);
        -vertex.w.dot(axis) - ROUND_OFF * vertex.w.amax().max(vertex.a.amax())
    }
}

/// At most four points of A − B.
#[derive(Clone, Copy, Debug, Default)]
pub struct Simplex {
    /// Its points; the first `len` are used.
    pub vertices: [SupportPoint; 4],
    /// Number of points.
    pub len: usize,
    weights: [f64; 4],
}

/// Distances of cores that need not be exact.
#[derive(Clone, Copy, Debug)]
pub struct Exactness {
    /// Distance above which it suffices to know the difference from `base` nearly [m].
    pub beyond: f64,
    /// Radius of rounding, say [m].
    pub base: f64,
    /// Distance below which it need not be known [m].
    pub near: f64,
}

impl Exactness {
    /// All distances are exact.
    pub const FULL: Self = Self { beyond: f64::INFINITY, base: 0.0, near: f64::NEG_INFINITY };

    /// Whether bounds of a distance suffice [m].
    fn suffices(&self, least: f64, most: f64) -> bool {
        (least > self.beyond && least - self.base >= COARSE * (most - self.base))
            || most <= self.near
    }
}

/// Result of [`distance_along`].
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant)] // stays on the stack of one function
pub enum GjkResult {
    /// The cores are apart.
    Apart {
        /// Unit normal from A into B, in A's frame.
        normal: Vector3<f64>,
        /// Distance [m]; where it need not be exact, the separation along the normal.
        distance: f64,
        /// Nearest point of A, in A's frame [m].
        a: Vector3<f64>,
        /// Nearest point of B, in A's frame [m].
        b: Vector3<f64>,
        /// The face of A − B nearest to the origin, or the whole of it if it has fewer corners.
        facet: [SupportPoint; 3],
    },
    /// The cores are farther apart than the distance of interest.
    Far(Clearance),
    /// The cores touch or overlap; the simplex contains the origin or nearly does.
    Overlap(Simplex),
}

/// Distance and nearest points of two cores. The search ends as soon as they are proved to be farther apart
/// than `enough` [m], or than `along(n)` [m] along a unit vector n from A into B, in A's frame; that proof may be for less than
/// `enough`. Where the distance need not be exact, a normal that separates the cores by nearly as much will do.
pub fn distance_along(
    pair: &MinkowskiDifference,
    (enough, exactness): (f64, Exactness),
    along: impl Fn(&Vector3<f64>) -> f64,
) -> GjkResult {
    let centre_B = pair.X_AB.rotation * pair.b.centre() + pair.X_AB.translation.vector;
    let start = pair.a.centre() - centre_B;
    search(|dir| pair.support(dir), start, (enough, exactness, along), TIGHT, f64::EPSILON)
}

/// [`distance_along`] that is exact and the same for all directions.
#[cfg(test)]
pub fn distance(pair: &MinkowskiDifference, enough: f64) -> GjkResult {
    distance_along(pair, (enough, Exactness::FULL), |_| f64::INFINITY)
}

/// [`distance_along`] by the function `support` of A − B with a relative error of about `precision` [-], never too
/// small. `start` is a point of A − B [m]. Any proof that the cores are farther apart than `enough` [m] ends
/// the search.
pub fn distance_to_precision(
    support: impl Fn(&Vector3<f64>) -> SupportPoint,
    start: Vector3<f64>,
    enough: f64,
    precision: f64,
) -> GjkResult {
    search(support, start, (enough, Exactness::FULL, |_: &_| f64::INFINITY), 0.0, precision)
}

/// The search of all: `tight` is the least ratio of a proof to the upper bound, `precision` the relative
/// progress [-] below which the search ends.
fn search(
    support: impl Fn(&Vector3<f64>) -> SupportPoint,
    start: Vector3<f64>,
    (enough, exactness, along): (f64, Exactness, impl Fn(&Vector3<f64>) -> f64),
    tight: f64,
    precision: f64,
) -> GjkResult {
    let mut v = start;
    if v == Vector3::zeros() {
        v = Vector3::x();
    }
    let mut simplex = Simplex::default();
    let mut best: Option<(Simplex, Vector3<f64>)> = None;
    let mut scale: f64 = 0.0;
    // Whether a plane between the cores was found: then no simplex contains the origin, whatever round-off says.
    let mut is_apart = false;
    for _ in 0..MOST_STEPS {
        let vertex = support(&-v);
        scale = scale.max(vertex.w.amax()).max(vertex.a.amax());
        // A − B lies beyond the plane through w across v, and v belongs to it.
        let (above, length) = (v.dot(&vertex.w), v.norm());
        if above > (enough + ROUND_OFF * scale) * length && above >= tight * length * length {
            let distance = above / length - ROUND_OFF * scale;
            return GjkResult::Far(Clearance { axis: -v / length, distance });
        }
        if above > ROUND_OFF * scale * length {
            is_apart = true;
            let (axis, distance) = (-v / length, above / length - ROUND_OFF * scale);
            if distance > along(&axis) {
                return GjkResult::Far(Clearance { axis, distance });
            }
            if let Some((simplex, _)) = &best
                && exactness.suffices(distance, length)
            {
                return simplex.apart(axis, distance);
            }
        }
        if let Some((_, nearest)) = &best {
            // The plane through w with normal v bounds the distance from below: done if the bound is |v|.
            let progress = nearest.norm_squared() - nearest.dot(&vertex.w);
            let known = simplex.vertices[..simplex.len].iter().any(|kept| kept.w == vertex.w);
            if known || progress <= precision * nearest.norm_squared() {
                break;
            }
        }
        simplex.vertices[simplex.len] = vertex;
        simplex.len += 1;
        let Some(nearest) = simplex.reduce(is_apart) else {
            return GjkResult::Overlap(simplex);
        };
        if nearest.norm() <= TOUCHING * scale {
            if is_apart {
                break;
            }
            return GjkResult::Overlap(simplex);
        }
        if best.as_ref().is_some_and(|(_, old)| nearest.norm_squared() >= old.norm_squared()) {
            break; // round-off: no progress is left
        }
        best = Some((simplex, nearest));
        v = nearest;
    }
    let Some((simplex, v)) = best else {
        return GjkResult::Overlap(simplex);
    };
    let distance = v.norm();
    simplex.apart(-v / distance, distance)
}

impl Simplex {
    /// The result for cores whose nearest points are those of the reduced simplex.
    fn apart(&self, normal: Vector3<f64>, distance: f64) -> GjkResult {
        let (mut a, mut b) = (Vector3::zeros(), Vector3::zeros());
        for k in 0..self.len {
            a += self.weights[k] * self.vertices[k].a;
            b += self.weights[k] * self.vertices[k].b;
        }
        let facet = [0, 1, 2].map(|k: usize| self.vertices[k.min(self.len - 1)]);
        GjkResult::Apart { normal, distance, a, b, facet }
    }

    /// Reduces to the face nearest to the origin and returns its nearest point; `None` if the tetrahedron
    /// contains the origin, which it cannot if the cores are known to be apart.
    fn reduce(&mut self, is_apart: bool) -> Option<Vector3<f64>> {
        match self.len {
            1 => self.weights[0] = 1.0,
            2 => self.keep(nearest_on_segment(self, [0, 1])),
            3 => self.keep(nearest_on_triangle(self, [0, 1, 2])),
            _ => return self.reduce_tetrahedron(is_apart),
        }
        Some(self.point())
    }

    fn point(&self) -> Vector3<f64> {
        (0..self.len).map(|k| self.weights[k] * self.vertices[k].w).sum()
    }

    fn reduce_tetrahedron(&mut self, is_apart: bool) -> Option<Vector3<f64>> {
        let mut best: Option<(Weights, f64)> = None;
        for (face, opposite) in [([0, 1, 2], 3), ([0, 1, 3], 2), ([0, 2, 3], 1), ([1, 2, 3], 0)] {
            let [p, q, r] = face.map(|k| self.vertices[k].w);
            let normal = (q - p).cross(&(r - p));
            let (of_origin, of_vertex) =
                (-normal.dot(&p), normal.dot(&(self.vertices[opposite].w - p)));
            // A flat tetrahedron has no inside: all its faces are candidates, as they are where the sign of a
            // volume is round-off.
            let flat = of_vertex.abs() <= 1e-14 * normal.norm() * self.vertices[opposite].w.norm();
            if !is_apart && !flat && of_origin * of_vertex > 0.0 {
                continue;
            }
            let weights = nearest_on_triangle(self, face);
            let square = weights.point(self).norm_squared();
            if best.as_ref().is_none_or(|(_, least)| square < *least) {
                best = Some((weights, square));
            }
        }
        let (weights, _) = best?;
        self.keep(weights);
        Some(self.point())
    }

    /// Keeps the vertices with a weight; their indices ascend.
    fn keep(&mut self, weights: Weights) {
        self.len = 0;
        for (index, weight) in weights.entries() {
            self.vertices[self.len] = self.vertices[index];
            self.weights[self.len] = weight;
            self.len += 1;
        }
    }
}

/// Barycentric weights of a point on a face of a simplex, whose indices ascend.
#[derive(Clone, Copy, Debug)]
struct Weights {
    indices: [usize; 3],
    weights: [f64; 3],
}

impl Weights {
    fn entries(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.indices.iter().copied().zip(self.weights).filter(|&(_, weight)| weight > 0.0)
    }

    fn point(&self, simplex: &Simplex) -> Vector3<f64> {
        self.entries().map(|(index, weight)| weight * simplex.vertices[index].w).sum()
    }
}

fn nearest_on_segment(simplex: &Simplex, [i, j]: [usize; 2]) -> Weights {
    let (p, q) = (simplex.vertices[i].w, simplex.vertices[j].w);
    let edge = q - p;
    let square = edge.norm_squared();
    let t = if square > 0.0 { (-p.dot(&edge) / square).clamp(0.0, 1.0) } else { 0.0 };
    Weights { indices: [i, j, j], weights: [1.0 - t, t, 0.0] }
}

/// Nearest point of a triangle to the origin by its Voronoi regions [Ericson05, Sec. 5.1.5].
fn nearest_on_triangle(simplex: &Simplex, indices: [usize; 3]) -> Weights {
    let [a, b, c] = indices.map(|k| simplex.vertices[k].w);
    let (ab, ac) = (b - a, c - a);
    let normal = ab.cross(&ac);
    let square = normal.norm_squared();
    // Areas of the triangles that the origin's projection makes with the sides.
    let u = normal.dot(&b.cross(&c));
    let v = normal.dot(&c.cross(&a));
    let w = normal.dot(&a.cross(&b));
    if square > 0.0 && u > 0.0 && v > 0.0 && w > 0.0 {
        let sum = u + v + w;
        return Weights { indices, weights: [u / sum, v / sum, w / sum] };
    }
    // Outside the triangle's prism, or no triangle: the nearest of the sides.
    let [i, j, k] = indices;
    let sides = [[i, j], [j, k], [i, k]].map(|side| {
        let weights = nearest_on_segment(simplex, side);
        (weights.point(simplex).norm_squared(), weights)
    });
    let mut best = sides[0];
    for side in &sides[1..] {
        if side.0 < best.0 {
            best = *side;
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shape;
    use nalgebra::UnitQuaternion;
    use stiction_math::random::SplitMix64;

    #[test]
    fn a_distance_that_need_not_be_exact_is_a_separation_of_nearly_that() {
        let mut random = SplitMix64::new(5);
        let (mut coarse, mut fine) = (0, 0);
        for _ in 0..300 {
            let radii = random.vector3().abs().add_scalar(0.1);
            let (a, b) = (Shape::Ellipsoid { radii }, Shape::Box(radii));
            let turn = UnitQuaternion::from_scaled_axis(3.0 * random.vector3());
            let X_AB = Isometry3::from_parts((4.0 * random.vector3()).into(), turn);
            let pair = MinkowskiDifference { a: &a, b: &b, X_AB: &X_AB };
            let GjkResult::Apart { distance: exact, .. } = distance(&pair, f64::INFINITY) else {
                continue;
            };
            let limits = (f64::INFINITY, Exactness { beyond: 0.5, ..Exactness::FULL });
            let found = distance_along(&pair, limits, |_| f64::INFINITY);
            let GjkResult::Apart { normal, distance, .. } = found else { panic!("{found:?}") };
            if distance > 0.5 && distance != exact {
                // A proof, up to the round-off that is taken off it.
                let again = pair.separation(&normal);
                assert!(distance <= again && again - distance <= 2.0 * ROUND_OFF * 9.0);
                assert!(COARSE * exact <= again && again <= exact * (1.0 + 1e-9));
                coarse += 1;
            } else {
                assert_eq!(distance, exact);
                fine += 1;
            }
        }
        assert!(coarse > 50 && fine > 10, "{coarse} {fine}");
    }

    #[test]
    fn a_proof_of_distance_is_never_given_for_more_than_the_distance() {
        let mut random = SplitMix64::new(3);
        let (mut far, mut near) = (0, 0);
        for _ in 0..300 {
            let mut hull = || {
                let points: Vec<_> = (0..60).map(|_| random.vector3().normalize()).collect();
                Shape::convex(&points).unwrap()
            };
            let (a, b) = (hull(), hull());
            let turn = UnitQuaternion::from_scaled_axis(3.0 * random.vector3());
            let X_AB = Isometry3::from_parts((3.0 * random.vector3()).into(), turn);
            let pair = MinkowskiDifference { a: &a, b: &b, X_AB: &X_AB };
            // Without early termination: the distance itself.
            let GjkResult::Apart { distance: exact, .. } = distance(&pair, f64::INFINITY) else {
                continue;
            };
            for enough in [0.0, 0.5 * exact, exact * (1.0 - 1e-9), exact, 2.0 * exact] {
                match distance(&pair, enough) {
                    GjkResult::Far(Clearance { axis, distance }) => {
                        assert!(enough < distance && distance <= exact, "{distance} {exact}");
                        // The proof is the separation along its axis; round-off is taken off twice.
                        let again = pair.clearance(&axis);
                        assert!((again - distance).abs() <= 2.0 * ROUND_OFF * 5.0);
                        far += 1;
                    }
                    GjkResult::Apart { distance, .. } => {
                        assert!(enough >= exact * (1.0 - 1e-8), "{enough} {exact}");
                        assert_eq!(distance, exact);
                        near += 1;
                    }
                    GjkResult::Overlap(simplex) => panic!("{exact}: {simplex:?}"),
                }
            }
        }
        assert!(far > 100 && near > 100, "{far} {near}");
    }
}
