//! Distance and overlap of convex shapes, independent of the narrow phase: support functions and a plain
//! Gilbert-Johnson-Keerthi iteration.

use nalgebra::{Isometry3, Matrix3, Vector3};
use stiction_geom::Shape;

/// Iterations of the search for the nearest point.
const ITERATIONS: usize = 100;
/// Decrease of the squared distance below which the search ends, relative [-].
const CONVERGED: f64 = 1e-12;
/// Distance below which shapes count as overlapping, relative to their size [-].
const TOUCHING: f64 = 1e-10;
/// Directions in which depths are sampled, and rounds of refinement around the best.
const DIRECTIONS: usize = 200;
const ROUNDS: usize = 12;

/// A convex shape of the kinds that are checked, at a pose in the world.
#[derive(Clone, Debug)]
pub struct PlacedConvex<'a> {
    /// The shape.
    pub shape: &'a Shape,
    /// Pose in the world.
    pub pose: Isometry3<f64>,
}

/// A convex set as the search for distances sees it.
pub trait ConvexSet {
    /// The farthest point along a direction in the world, of the set scaled about a point inside.
    fn farthest(&self, d: &Vector3<f64>, scale: f64) -> Vector3<f64>;
    /// A point about which it lies [m].
    fn middle(&self) -> Vector3<f64>;
    /// Distance of its farthest point from there [m].
    fn radius(&self) -> f64;
}

/// A triangle in the world.
#[derive(Clone, Copy, Debug)]
pub struct PlacedTriangle(pub [Vector3<f64>; 3]);

impl ConvexSet for PlacedTriangle {
    fn farthest(&self, d: &Vector3<f64>, scale: f64) -> Vector3<f64> {
        let along = |p: &&Vector3<f64>| p.dot(d);
        let corner = self.0.iter().max_by(|a, b| along(a).total_cmp(&along(b)));
        let middle = self.middle();
        middle + scale * (corner.copied().unwrap_or_default() - middle)
    }

    fn middle(&self) -> Vector3<f64> {
        self.0.iter().sum::<Vector3<f64>>() / 3.0
    }

    fn radius(&self) -> f64 {
        let middle = self.middle();
        self.0.iter().map(|p| (p - middle).norm()).fold(0.0, f64::max)
    }
}

impl ConvexSet for PlacedConvex<'_> {
    fn farthest(&self, d: &Vector3<f64>, scale: f64) -> Vector3<f64> {
        self.support(d, scale)
    }

    fn middle(&self) -> Vector3<f64> {
        self.pose.translation.vector
    }

    fn radius(&self) -> f64 {
        self.shape.bounding_radius()
    }
}

/// Relation of two convex shapes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Separation {
    /// A distance that a plane proves [m]; not positive if no plane was found.
    pub distance: f64,
    /// Whether a common point was found.
    pub overlaps: bool,
}

/// Whether a shape is of a kind that is checked.
pub fn is_checked(shape: &Shape) -> bool {
    matches!(
        shape,
        Shape::Sphere { .. }
            | Shape::Box(_)
            | Shape::Capsule { .. }
            | Shape::Cylinder { .. }
            | Shape::Convex(_)
            | Shape::Ellipsoid { .. }
    )
}

impl PlacedConvex<'_> {
    /// Half of the smallest extent along the axes of the shape [m].
    pub fn size(&self) -> f64 {
        match self.shape {
            Shape::Sphere { radius } | Shape::Capsule { radius, .. } => *radius,
            Shape::Box(half) | Shape::Ellipsoid { radii: half } => half.min(),
            Shape::Cylinder { radius, half_length } => radius.min(*half_length),
            _ => Vector3::from_fn(|axis, _| {
                let along = Vector3::ith(axis, 1.0);
                0.5 * (self.local(&along) - self.local(&-along)).dot(&along)
            })
            .min(),
        }
    }

    /// A point inside, in the frame of the shape.
    fn inside(&self) -> Vector3<f64> {
        match self.shape {
            Shape::Convex(hull) => {
                hull.vertices().iter().sum::<Vector3<f64>>() / hull.vertices().len() as f64
            }
            _ => Vector3::zeros(),
        }
    }

    /// The farthest point along a direction, in the frame of the shape.
    fn local(&self, d: &Vector3<f64>) -> Vector3<f64> {
        let unit = |d: &Vector3<f64>| d.try_normalize(1e-300).unwrap_or_else(Vector3::x);
        match self.shape {
            Shape::Sphere { radius } => *radius * unit(d),
            Shape::Box(half) => half.zip_map(d, f64::copysign),
            Shape::Capsule { radius, half_length } => {
                *radius * unit(d) + Vector3::z() * half_length.copysign(d.z)
            }
            Shape::Cylinder { radius, half_length } => {
                let flat = Vector3::new(d.x, d.y, 0.0);
                *radius * unit(&flat) + Vector3::z() * half_length.copysign(d.z)
            }
            Shape::Ellipsoid { radii } => radii.component_mul(&unit(&radii.component_mul(d))),
            Shape::Convex(hull) => {
                let along = |p: &&Vector3<f64>| p.dot(d);
                let farthest = hull.vertices().iter();
                farthest.max_by(|a, b| along(a).total_cmp(&along(b))).copied().unwrap_or_default()
            }
            _ => Vector3::zeros(),
        }
    }

    /// The farthest point along a direction in the world, of the shape scaled about a point inside.
    fn support(&self, d: &Vector3<f64>, scale: f64) -> Vector3<f64> {
        let local = self.local(&self.pose.rotation.inverse_transform_vector(d));
        let inside = self.inside();
        self.pose.translation.vector + self.pose.rotation * (inside + scale * (local - inside))
    }

    /// Distance of the shape from the half space below the plane z = 0 of a pose; negative in overlap [m].
    pub fn above_plane(&self, plane: &Isometry3<f64>) -> f64 {
        let up = plane.rotation * Vector3::z();
        (self.support(&-up, 1.0) - plane.translation.vector).dot(&up)
    }
}

/// The relation of two shapes, the first scaled by a factor about a point inside.
pub fn separation(a: &impl ConvexSet, b: &impl ConvexSet, scale: f64) -> Separation {
    let difference = |d: &Vector3<f64>| b.farthest(d, 1.0) - a.farthest(&-d, scale);
    let mut v = difference(&(a.middle() - b.middle()));
    let scale_of_pair = a.radius() + b.radius();
    let mut simplex = vec![v];
    let mut found = Separation { distance: f64::NEG_INFINITY, overlaps: false };
    for _ in 0..ITERATIONS {
        let norm = v.norm();
        if norm <= TOUCHING * scale_of_pair {
            found.overlaps = true;
            return found;
        }
        let w = difference(&-v);
        found.distance = found.distance.max(v.dot(&w) / norm);
        if norm * norm - v.dot(&w) <= CONVERGED * norm * norm || simplex.contains(&w) {
            return found;
        }
        simplex.push(w);
        let Some((nearest, kept)) = nearest(&simplex) else { return found };
        if kept.len() == 4 {
            found.overlaps = true;
            return found;
        }
        (v, simplex) = (nearest, kept);
    }
    found
}

/// The point of a simplex nearest to the origin, and the corners of the feature that contains it. All four
/// corners of a tetrahedron contain the origin.
fn nearest(simplex: &[Vector3<f64>]) -> Option<(Vector3<f64>, Vec<Vector3<f64>>)> {
    let mut best: Option<(Vector3<f64>, Vec<Vector3<f64>>)> = None;
    for subset in 1_usize..1 << simplex.len() {
        let corners: Vec<_> =
            (0..simplex.len()).filter(|k| subset >> k & 1 == 1).map(|k| simplex[k]).collect();
        let (mut gram, mut right) = (Matrix3::identity(), Vector3::zeros());
        for (i, p) in corners[1..].iter().enumerate() {
            right[i] = -(p - corners[0]).dot(&corners[0]);
            for (j, q) in corners[1..].iter().enumerate() {
                gram[(i, j)] = (p - corners[0]).dot(&(q - corners[0]));
            }
        }
        let Some(weights) = gram.lu().solve(&right) else { continue };
        let first = 1.0 - weights.sum();
        let count = corners.len() - 1;
        if !(first >= 0.0 && weights.iter().take(count).all(|w| *w >= 0.0)) {
            continue;
        }
        let mut point = first * corners[0];
        for (weight, p) in weights.iter().zip(&corners[1..]) {
            point += *weight * p;
        }
        if corners.len() == 4 {
            // Of a flat tetrahedron nothing is inside.
            let [a, b, c, d] = [corners[0], corners[1], corners[2], corners[3]];
            let volume = (b - a).cross(&(c - a)).dot(&(d - a)).abs();
            let edge = [b - a, c - a, d - a].iter().map(|e| e.norm()).fold(0.0, f64::max);
            if volume < 1e-9 * edge.powi(3) {
                continue;
            }
            return Some((point, corners));
        }
        if best.as_ref().is_none_or(|(p, _)| point.norm_squared() < p.norm_squared()) {
            best = Some((point, corners));
        }
    }
    best
}

/// An upper bound on the depth of an overlap [m], tight up to the resolution of the directions: the least
/// overlap over sampled directions, refined around the best.
pub fn depth(a: &PlacedConvex, b: &PlacedConvex, hints: &[Vector3<f64>]) -> f64 {
    let overlap = |d: &Vector3<f64>| (a.support(d, 1.0) - b.support(&-d, 1.0)).dot(d);
    let golden = std::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
    let spread = (0..DIRECTIONS).map(|k| {
        let z = 1.0 - (2.0 * k as f64 + 1.0) / DIRECTIONS as f64;
        let (r, angle) = ((1.0 - z * z).sqrt(), golden * k as f64);
        Vector3::new(r * angle.cos(), r * angle.sin(), z)
    });
    let between = b.pose.translation.vector - a.pose.translation.vector;
    let own = hints.iter().copied().chain(between.try_normalize(1e-12));
    let mut best = (f64::INFINITY, Vector3::z());
    for d in spread.chain(own.flat_map(|d| [d, -d])) {
        let found = overlap(&d);
        if found < best.0 {
            best = (found, d);
        }
    }
    let mut width = 0.2;
    for _ in 0..ROUNDS {
        for step in (0..12).map(|k| std::f64::consts::TAU * f64::from(k) / 12.0) {
            let side = best.1.cross(&Vector3::new(0.3, -0.5, 0.8)).normalize();
            let up = best.1.cross(&side);
            let d = (best.1 + width * (step.cos() * side + step.sin() * up)).normalize();
            let found = overlap(&d);
            if found < best.0 {
                best = (found, d);
            }
        }
        width *= 0.6;
    }
    best.0
}
