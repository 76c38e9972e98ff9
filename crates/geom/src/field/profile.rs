//! Solids of revolution about z: the signed distance in the half plane (ρ, z), revolved [Lee25, App. B].
//!
//! A profile is a closed polygon, or a line of even thickness with round ends and corners: a dish is a line from the axis to
//! its rim. The distance of a point from a solid of revolution is the one in its meridian plane, so that values are exact outside,
//! and inside polygons; inside a line near its corners they are bounds. Edges on the axis bound nothing. O(edges).

use super::FieldSample;
use super::primitive::radial;
use crate::ShapeError;
use nalgebra::{Vector2, Vector3};

/// Most points of a profile.
pub const MOST_POINTS: usize = 4096;
/// Part of the size below which a point lies on the axis, and an edge has no length [-].
const TINY: f64 = 1e-12;

/// Part of a normal towards the axis from which on a wall surrounds it [-].
const SURROUNDS: f64 = 0.05;

/// An edge of a profile.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ProfileEdge {
    from: Vector2<f64>,
    along: Vector2<f64>,
    inverse_square: f64,
}

/// A profile in the half plane (ρ, z).
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    points: Vec<[f64; 2]>,
    edges: Vec<ProfileEdge>,
    closed: bool,
    /// Distance by which the solid is larger than the polygon or the line [m].
    rounding: f64,
    size: f64,
}

/// Distance and gradient in the half plane.
#[derive(Clone, Copy, Debug)]
pub struct ProfileSample {
    pub value: f64,
    pub gradient: Vector2<f64>,
}

impl Profile {
    /// A line of even `thickness` [m] through points (ρ, z) [m].
    pub fn line(points: &[[f64; 2]], thickness: f64) -> Result<Self, ShapeError> {
        if !(thickness > 0.0 && thickness.is_finite()) {
            let parameter = "thickness";
            return Err(ShapeError::Length { shape: "sdf", parameter, found: thickness });
        }
        Self::build(points, false, 0.5 * thickness)
    }

    /// A polygon of points (ρ, z) [m], its last point joined to the first, enlarged by `rounding` [m] with round corners.
    pub fn polygon(points: &[[f64; 2]], rounding: f64) -> Result<Self, ShapeError> {
        if !(rounding >= 0.0 && rounding.is_finite()) {
            return Err(ShapeError::Length {
                shape: "sdf",
                parameter: "rounding",
                found: rounding,
            });
        }
        let profile = Self::build(points, true, rounding)?;
        profile.check_simple()?;
        Ok(profile)
    }

    fn build(points: &[[f64; 2]], closed: bool, rounding: f64) -> Result<Self, ShapeError> {
        let least = if closed { 3 } else { 2 };
        let (shape, element) = ("sdf", "points of a profile");
        if points.len() < least {
            let found = points.len();
            return Err(ShapeError::TooFew { shape, element, found, expected: least });
        }
        if points.len() > MOST_POINTS {
            let (found, expected) = (points.len(), MOST_POINTS);
            return Err(ShapeError::TooMany { shape, element, found, expected });
        }
        for (index, &found) in points.iter().enumerate() {
            if !(found[0] >= 0.0 && found[0].is_finite() && found[1].is_finite()) {
                return Err(ShapeError::ProfilePoint { index, found });
            }
        }
        let size = points.iter().flatten().fold(0.0_f64, |most, x| most.max(x.abs()));
        let at = |k: usize| Vector2::from(points[k % points.len()]);
        let count = if closed { points.len() } else { points.len() - 1 };
        let mut edges = Vec::with_capacity(count);
        for k in 0..count {
            let (from, to) = (at(k), at(k + 1));
            let along: Vector2<f64> = to - from;
            if along.norm() <= TINY * size {
                return Err(ShapeError::ProfileEdge { index: k, found: points[k] });
            }
            let on_axis = from.x.max(to.x) <= TINY * size;
            if !(closed && on_axis) {
                edges.push(ProfileEdge { from, along, inverse_square: 1.0 / along.norm_squared() });
            }
        }
        Ok(Self { points: points.to_vec(), edges, closed, rounding, size })
    }

    /// Edges of a polygon may not cross one another: there would be no inside.
    fn check_simple(&self) -> Result<(), ShapeError> {
        let cross = |a: &Vector2<f64>, b: &Vector2<f64>| a.x * b.y - a.y * b.x;
        for (i, a) in self.edges.iter().enumerate() {
            for b in &self.edges[..i] {
                let between = b.from - a.from;
                let turn = cross(&a.along, &b.along);
                if turn == 0.0 {
                    continue;
                }
                let (s, t) = (cross(&between, &b.along) / turn, cross(&between, &a.along) / turn);
                let inner = 1e-9..1.0 - 1e-9;
                if inner.contains(&s) && inner.contains(&t) {
                    let at = a.from + s * a.along;
                    return Err(ShapeError::ProfileCrossing { found: [at.x, at.y] });
                }
            }
        }
        Ok(())
    }

    /// Points given [m].
    pub fn points(&self) -> &[[f64; 2]] {
        &self.points
    }

    /// Whether the profile is a polygon.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Distance by which the solid is larger than the polygon or the line [m].
    pub fn rounding(&self) -> f64 {
        self.rounding
    }

    /// Signed distance in the half plane at ρ ≥ 0 and z [m].
    #[inline]
    pub fn sample_2d(&self, rho: f64, z: f64) -> ProfileSample {
        let p = Vector2::new(rho, z);
        let (mut least, mut nearest, mut edge_of) = (f64::INFINITY, Vector2::zeros(), 0);
        let mut inside = false;
        let closed = self.closed;
        for (k, edge) in self.edges.iter().enumerate() {
            let from = p - edge.from;
            let t = (from.dot(&edge.along) * edge.inverse_square).clamp(0.0, 1.0);
            let away = from - t * edge.along;
            let square = away.norm_squared();
            if square < least {
                (least, nearest, edge_of) = (square, away, k);
            }
            if !closed {
                continue;
            }
            // Crossings of the line from p away from the axis.
            let (low, high) = (from.y >= 0.0, from.y - edge.along.y >= 0.0);
            if low != high {
                let turn = edge.along.x * from.y - edge.along.y * from.x;
                inside ^= (turn > 0.0) == (edge.along.y > 0.0);
            }
        }
        let distance = least.sqrt();
        let sign = if inside { -1.0 } else { 1.0 };
        let gradient = if distance > TINY * self.size {
            nearest * (sign / distance)
        } else {
            self.normal(edge_of)
        };
        ProfileSample { value: sign * distance - self.rounding, gradient }
    }

    /// Normal of an edge: outward for polygons that run counter-clockwise or not.
    fn normal(&self, edge: usize) -> Vector2<f64> {
        let along = self.edges[edge].along.normalize();
        let turned = Vector2::new(along.y, -along.x);
        if self.area() < 0.0 { -turned } else { turned }
    }

    /// Area of the polygon [m²], positive if it runs counter-clockwise.
    fn area(&self) -> f64 {
        let next = self.points.iter().cycle().skip(1);
        let twice = self.points.iter().zip(next).map(|(a, b)| a[0] * b[1] - b[0] * a[1]);
        0.5 * twice.sum::<f64>()
    }

    /// Value and gradient at a point of space.
    #[inline]
    pub fn sample(&self, p: &Vector3<f64>) -> FieldSample {
        let rho = (p.x * p.x + p.y * p.y).sqrt();
        let ProfileSample { value, gradient } = self.sample_2d(rho, p.z);
        let (x, y) = if rho > 0.0 { (p.x / rho, p.y / rho) } else { (1.0, 0.0) };
        let gradient = Vector3::new(gradient.x * x, gradient.x * y, gradient.y);
        FieldSample { value, gradient }
    }

    /// Largest ρ and range of z of the solid [m].
    pub fn extent(&self) -> (f64, f64, f64) {
        let fold = |f: fn(f64, f64) -> f64, k: usize, start: f64| {
            self.points.iter().fold(start, |sum, p| f(sum, p[k]))
        };
        let r = self.rounding;
        let radius = fold(f64::max, 0, 0.0) + r;
        (radius, fold(f64::min, 1, f64::INFINITY) - r, fold(f64::max, 1, f64::NEG_INFINITY) + r)
    }

    /// Calls `visit` for each point of the surface that is locally nearest to `p` [m] outside it, within `limit` [m]: an identity,
    /// the distance [m] and the unit normal. Where the wall surrounds the axis, the tangent planes a quarter and half a
    /// turn farther are given as well, so that what lies near the axis is held from all sides.
    pub fn visit_nearest(
        &self,
        p: &Vector3<f64>,
        limit: f64,
        mut visit: impl FnMut(u32, f64, Vector3<f64>),
    ) {
        let (rho, e) = ((p.x * p.x + p.y * p.y).sqrt(), radial(p));
        let across = Vector3::z().cross(&e);
        let (q, n) = (Vector2::new(rho, p.z), self.edges.len());
        for (k, edge) in self.edges.iter().enumerate() {
            let from = q - edge.from;
            let t = from.dot(&edge.along) * edge.inverse_square;
            let away = if t >= 1.0 {
                // A corner is nearest if the next edge leads away from it as well.
                let (next, corner) = (&self.edges[(k + 1) % n], edge.from + edge.along);
                let is_joined = (next.from - corner).norm() <= TINY * self.size;
                if is_joined && (q - corner).dot(&next.along) > 0.0 {
                    continue;
                }
                q - corner
            } else if t > 0.0 {
                from - t * edge.along
            } else if k == 0 && !self.closed {
                from
            } else {
                continue;
            };
            let distance = away.norm();
            if !(distance > TINY * self.size) {
                continue;
            }
            let normal = away / distance;
            let foot = q - away;
            for (turn, towards) in [e, across, -e, -across].into_iter().enumerate() {
                if turn > 0 && normal.x > -SURROUNDS {
                    break;
                }
                let n = normal.x * towards + normal.y * Vector3::z();
                let gap = n.dot(p) - normal.dot(&foot) - self.rounding;
                if gap <= limit {
                    visit(4 * k as u32 + turn as u32, gap, n);
                }
            }
        }
    }

    /// Outline of the solid in the half plane (ρ, z) [m], counter-clockwise, with pieces of about `width` [m]: the polygon or
    /// the line, enlarged by the rounding. Starts and ends on the axis if the solid does.
    pub fn outline(&self, width: f64) -> Outline {
        super::outline::of(self, width)
    }

    pub(super) fn is_counter_clockwise(&self) -> bool {
        self.area() >= 0.0
    }
}

/// A line in the half plane around a profile.
#[derive(Clone, Debug)]
pub struct Outline {
    /// Points (ρ, z) [m], counter-clockwise.
    pub points: Vec<(f64, f64)>,
    /// Whether the last point is joined to the first; otherwise both lie on the axis.
    pub closed: bool,
}
