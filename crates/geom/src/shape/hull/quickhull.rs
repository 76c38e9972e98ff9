//! Triangles of the convex hull of points, by the quickhull algorithm [Barber96] on exact predicates.
//!
//! Whether a point lies above a facet is decided by the sign of an exact determinant [Shewchuk97]; a bound
//! of its round-off decides the clear cases. All facets that a point is strictly above are replaced by a
//! cone of triangles from their rim, which is a simple cycle: moving the point slightly towards the inside
//! changes no sign but those that are zero, so that the rim is that of a point in general position. No
//! triangle of the cone is degenerate, because the point lies strictly above a facet at each edge of the
//! rim. The triangles are therefore closed, consistently oriented and exactly convex, coplanar ones
//! included.
//!
//! Points above no facet by more than `slack` are left out. A point above a facet that is replaced is above
//! a triangle of the cone or inside: at an edge of the rim, the new plane's normal is a positive combination
//! of those of the facets on both sides.
//!
//! Expected cost O(n log n).

use nalgebra::Vector3;
use robust::{Coord3D, orient3d};
use std::collections::VecDeque;

/// No facet, no point.
const NONE: u32 = u32::MAX;

/// Round-off of the determinant relative to the sum of the magnitudes of its products: (7 + 56 ε) ε with
/// ε = 2⁻⁵³ [Shewchuk97, Sec. 4.3], rounded up.
const DETERMINANT: f64 = 4.0 * f64::EPSILON;

/// Part of the magnitude of its products below which the components of a normal are round-off [-].
const CANCELLED: f64 = 64.0 * f64::EPSILON;

/// The plane of three points, with a bound of the round-off of heights above it.
#[derive(Clone, Copy, Debug)]
pub struct Plane {
    /// The three points, counter-clockwise seen from above.
    corners: [Vector3<f64>; 3],
    /// Normal, as long as twice the area \[m²\].
    normal: Vector3<f64>,
    /// Sums of the magnitudes of the products in `normal` \[m²\].
    products: Vector3<f64>,
    /// Reciprocal of the normal's length, infinite if it is round-off \[1/m²\].
    per_length: f64,
}

impl Plane {
    /// The plane of three points, from whose upper side they appear counter-clockwise.
    pub fn new(corners: [Vector3<f64>; 3]) -> Self {
        let (u, v) = (corners[1] - corners[0], corners[2] - corners[0]);
        let normal = u.cross(&v);
        let products = u.abs().yzx().component_mul(&v.abs().zxy())
            + u.abs().zxy().component_mul(&v.abs().yzx());
        let length = normal.norm();
        let is_reliable = length > CANCELLED * products.norm();
        let per_length = if is_reliable { 1.0 / length } else { f64::INFINITY };
        Self { corners, normal, products, per_length }
    }

    /// Height of a point that is strictly above, times twice the area of the three points \[m³\].
    #[inline]
    pub fn above(&self, point: &Vector3<f64>) -> Option<f64> {
        let w = point - self.corners[0];
        let value = self.normal.dot(&w);
        let bound = DETERMINANT * self.products.dot(&w.abs());
        if value > bound {
            return Some(value);
        }
        if value < -bound {
            return None;
        }
        (self.exact(point) > 0.0).then_some(value.max(0.0))
    }

    /// A number with the sign of the exact height.
    #[cold]
    fn exact(&self, point: &Vector3<f64>) -> f64 {
        let [a, b, c] = self.corners.map(|p| coordinates(&p));
        -orient3d(a, b, c, coordinates(point))
    }

    /// Height [m] from a result of [`Plane::above`]; infinite if the three points are collinear to within
    /// round-off.
    pub fn height(&self, above: f64) -> f64 {
        if self.per_length.is_finite() { above * self.per_length } else { f64::INFINITY }
    }
}

fn coordinates(p: &Vector3<f64>) -> Coord3D<f64> {
    Coord3D { x: p.x, y: p.y, z: p.z }
}

/// A triangle of the hull so far.
#[derive(Clone, Debug)]
struct Facet {
    corners: [u32; 3],
    /// Facets across the edges from each corner to the next.
    across: [u32; 3],
    plane: Plane,
    /// First of the points assigned to it, the highest; the others follow in `Quickhull::next`.
    first: u32,
    /// Height of the first, as from [`Plane::above`].
    most: f64,
    is_replaced: bool,
}

/// Memory of the algorithm.
struct Quickhull<'a> {
    points: &'a [Vector3<f64>],
    slack: f64,
    facets: Vec<Facet>,
    /// The point after each point in the list of its facet.
    next: Vec<u32>,
    /// Facets whose points are not assigned finally. First in, first out, so that the hull is refined evenly: a
    /// part that is finished before its surroundings can be replaced as a whole by each of their points.
    open: VecDeque<u32>,
    /// Facets visible from the point that is added, and edges of their rim: the two corners, and the facet
    /// beyond.
    visible: Vec<u32>,
    rim: Vec<([u32; 2], u32)>,
    /// Facets that a search has visited, by the number of the search, and that number.
    visited: Vec<u32>,
    search: u32,
    /// Facet of the cone that starts at each corner of the rim.
    starting_at: Vec<u32>,
}

/// A closed surface of triangles.
#[derive(Clone, Debug)]
pub struct Triangulation {
    /// Corners, counter-clockwise seen from outside, as indices of points.
    pub triangles: Vec<[u32; 3]>,
    /// Triangles across the edges from each corner to the next.
    pub across: Vec<[u32; 3]>,
}

/// The surface of the hull of `points`.
///
/// `start` are four points that are not coplanar. Points above no facet by more than `slack` [m] are
/// left out.
pub fn triangulate(points: &[Vector3<f64>], start: [u32; 4], slack: f64) -> Triangulation {
    let mut hull = Quickhull {
        points,
        slack,
        facets: Vec::new(),
        next: vec![NONE; points.len()],
        open: VecDeque::new(),
        visible: Vec::new(),
        rim: Vec::new(),
        visited: Vec::new(),
        search: 0,
        starting_at: vec![NONE; points.len()],
    };
    hull.add_tetrahedron(start);
    for point in 0..points.len() as u32 {
        if !start.contains(&point) {
            hull.assign(point, 0..4);
        }
    }
    hull.open.extend(0..4);
    while let Some(facet) = hull.open.pop_front() {
        hull.process(facet);
    }
    hull.surface()
}

impl Quickhull<'_> {
    /// The facets that were not replaced.
    fn surface(&self) -> Triangulation {
        let mut names = Vec::with_capacity(self.facets.len());
        let mut count = 0;
        for facet in &self.facets {
            names.push(count);
            count += u32::from(!facet.is_replaced);
        }
        let kept = || self.facets.iter().filter(|facet| !facet.is_replaced);
        Triangulation {
            triangles: kept().map(|facet| facet.corners).collect(),
            across: kept().map(|facet| facet.across.map(|k| names[k as usize])).collect(),
        }
    }

    fn add_tetrahedron(&mut self, [a, b, mut c, mut d]: [u32; 4]) {
        let base = Plane::new([a, b, c].map(|k| self.points[k as usize]));
        if base.above(&self.points[d as usize]).is_some() {
            (c, d) = (d, c);
        }
        // Seen from outside: the base, and a side at each of its edges.
        self.add([a, b, c], [1, 2, 3]);
        self.add([b, a, d], [0, 3, 2]);
        self.add([c, b, d], [0, 1, 3]);
        self.add([a, c, d], [0, 2, 1]);
    }

    fn add(&mut self, corners: [u32; 3], across: [u32; 3]) {
        let plane = Plane::new(corners.map(|k| self.points[k as usize]));
        self.visited.push(0);
        self.facets.push(Facet {
            corners,
            across,
            plane,
            first: NONE,
            most: 0.0,
            is_replaced: false,
        });
    }

    /// Assigns a point to the first of some facets that it is above by more than the slack; failing that,
    /// to one that it is above at all.
    fn assign(&mut self, point: u32, among: std::ops::Range<u32>) {
        let at = self.points[point as usize];
        let mut low = None;
        for k in among {
            let plane = &self.facets[k as usize].plane;
            if let Some(above) = plane.above(&at) {
                if plane.height(above) > self.slack {
                    return self.append(k, point, above);
                }
                low = low.or(Some((k, above)));
            }
        }
        if let Some((k, above)) = low {
            self.append(k, point, above);
        }
    }

    fn append(&mut self, facet: u32, point: u32, above: f64) {
        let Facet { first, most, .. } = &mut self.facets[facet as usize];
        if *first == NONE || above > *most {
            self.next[point as usize] = *first;
            (*first, *most) = (point, above);
        } else {
            self.next[point as usize] = self.next[*first as usize];
            self.next[*first as usize] = point;
        }
    }

    /// Adds the highest point of a facet to the hull; or, if that is not above the slack, moves the points
    /// to facets that they are higher above and leaves the others out.
    fn process(&mut self, k: u32) {
        let Facet { first, most, plane, is_replaced, .. } = &self.facets[k as usize];
        let (mut point, is_high) = (*first, plane.height(*most) > self.slack);
        if *is_replaced || point == NONE {
            return;
        }
        if is_high {
            self.find_visible(k, point);
            self.replace_visible(point);
            return;
        }
        self.facets[k as usize].first = NONE;
        while point != NONE {
            let after = self.next[point as usize];
            if let Some((facet, above)) = self.find_visible(k, point) {
                self.append(facet, point, above);
                self.open.push_back(facet);
            }
            point = after;
        }
    }

    /// Collects the facets that are visible from a point, starting from one of them, and the edges of
    /// their rim. Returns the one that the point is highest above, if by more than the slack.
    fn find_visible(&mut self, from: u32, point: u32) -> Option<(u32, f64)> {
        let at = self.points[point as usize];
        self.search += 1;
        self.visible.clear();
        self.rim.clear();
        self.visible.push(from);
        self.visited[from as usize] = self.search;
        let (mut best, mut highest) = (None, self.slack);
        let mut done = 0;
        while done < self.visible.len() {
            let Facet { corners, across, .. } = self.facets[self.visible[done] as usize];
            done += 1;
            for edge in 0..3 {
                let beyond = across[edge];
                if self.visited[beyond as usize] == self.search {
                    continue;
                }
                let plane = &self.facets[beyond as usize].plane;
                let Some(above) = plane.above(&at) else {
                    self.rim.push(([corners[edge], corners[(edge + 1) % 3]], beyond));
                    continue;
                };
                if plane.height(above) > highest {
                    (best, highest) = (Some((beyond, above)), plane.height(above));
                }
                self.visited[beyond as usize] = self.search;
                self.visible.push(beyond);
            }
        }
        best
    }

    /// Replaces the visible facets by a cone from their rim to the point, and assigns their points anew.
    fn replace_visible(&mut self, apex: u32) {
        let base = self.facets.len() as u32;
        let rim = std::mem::take(&mut self.rim);
        for (k, ([from, _], _)) in (base..).zip(&rim) {
            self.starting_at[*from as usize] = k;
        }
        for (k, &([from, to], beyond)) in (base..).zip(&rim) {
            let after = self.starting_at[to as usize];
            self.add([from, to, apex], [beyond, after, NONE]);
            let outer = &mut self.facets[beyond as usize];
            let edge = outer.corners.iter().position(|corner| *corner == to).unwrap_or(0);
            outer.across[edge] = k;
        }
        for k in base..base + rim.len() as u32 {
            let after = self.facets[k as usize].across[1];
            self.facets[after as usize].across[2] = k;
        }
        let end = self.facets.len() as u32;
        self.rim = rim;
        let visible = std::mem::take(&mut self.visible);
        for &k in &visible {
            let facet = &mut self.facets[k as usize];
            facet.is_replaced = true;
            let mut point = std::mem::replace(&mut facet.first, NONE);
            while point != NONE {
                let after = self.next[point as usize];
                if point != apex {
                    self.assign(point, base..end);
                }
                point = after;
            }
        }
        self.visible = visible;
        self.open.extend(base..end);
    }
}
