//! Verifies that a surface is the convex hull of points.
//!
//! Triangles: every edge joins two of them in opposite senses, Euler's formula holds for one closed surface
//! without pinches, and at every edge the exact predicate finds the surface convex. Such a surface bounds a
//! convex solid. Polygons: the same to within the tolerance with which they were merged.
//! Every other point is located on the face that the half-line from an inner point through it leaves by:
//! the face whose polar dual vertex is farthest along the half-line. The dual polytope is convex, so that a
//! climb from face to neighbouring face finds it.

use super::Lists;
use super::quickhull::{Plane, Triangulation};
use nalgebra::Vector3;

/// Whether triangles make one closed surface that is exactly convex.
pub fn is_exactly_convex(points: &[Vector3<f64>], surface: &Triangulation) -> bool {
    let (mut is_used, mut used) = (vec![false; points.len()], 0);
    for &corner in surface.triangles.iter().flatten() {
        used += usize::from(!std::mem::replace(&mut is_used[corner as usize], true));
    }
    let n = surface.triangles.len();
    // V − E + F = 2 with three edges for every two triangles.
    if 2 * used != n + 4 || !is_connected(n, |k| &surface.across[k]) {
        return false;
    }
    (0..n).all(|k| {
        let corners = surface.triangles[k];
        let plane = Plane::new(corners.map(|corner| points[corner as usize]));
        (0..3).all(|edge| {
            let other = surface.across[k][edge] as usize;
            let (from, to) = (corners[edge], corners[(edge + 1) % 3]);
            let twin = (0..3).find(|&e| {
                let [i, j] = [e, (e + 1) % 3].map(|e| surface.triangles[other][e]);
                (i, j) == (to, from) && surface.across[other][e] as usize == k
            });
            twin.is_some_and(|e| {
                let opposite = surface.triangles[other][(e + 2) % 3];
                plane.above(&points[opposite as usize]).is_none()
            })
        })
    })
}

/// Whether all of `n` items are reached from the first.
fn is_connected<'a, L: IntoIterator<Item = &'a u32>>(
    n: usize,
    neighbours: impl Fn(usize) -> L,
) -> bool {
    let (mut reached, mut list) = (vec![false; n], vec![0_u32]);
    let Some(first) = reached.first_mut() else { return false };
    *first = true;
    let mut next = 0;
    while next < list.len() {
        for &other in neighbours(list[next] as usize) {
            if !std::mem::replace(&mut reached[other as usize], true) {
                list.push(other);
            }
        }
        next += 1;
    }
    list.len() == n
}

/// A face with what is needed to measure heights above it.
struct Facing {
    /// Outward unit normal [-].
    normal: Vector3<f64>,
    middle: Vector3<f64>,
    /// Height of the highest corner along the normal [m].
    offset: f64,
    /// Twice the area over the longest distance of a corner from the first [m].
    width: f64,
    /// Vertex of the polar dual about the inner point \[1/m\].
    dual: Vector3<f64>,
}

/// Whether polygons make one closed convex surface that has all points inside, to within `tolerance` [m].
///
/// Corners of a face within the tolerance of its plane turn the plane by up to tolerance / width, which
/// raises it by that times the distance from the face. Faces must be wider than `narrowest` [m].
pub fn encloses(points: &[Vector3<f64>], faces: &Lists, tolerance: f64, narrowest: f64) -> bool {
    let Some(across) = neighbours(faces) else { return false };
    let mut is_used = vec![false; points.len()];
    faces.entries.iter().for_each(|corner| is_used[*corner as usize] = true);
    let vertices = || is_used.iter().zip(points).filter(|(used, _)| **used).map(|(_, p)| p);
    let used = vertices().count();
    let centre = vertices().sum::<Vector3<f64>>() / used as f64;
    let n = faces.len();
    if 2 * (used + n) != faces.entries.len() + 4 {
        return false;
    }
    let around = |k: usize| &across[faces.starts[k] as usize..faces.starts[k + 1] as usize];
    if !is_connected(n, around) {
        return false;
    }
    let facing: Vec<_> = faces.iter().map(|face| Facing::new(points, face, &centre)).collect();
    if !facing.iter().all(|face| face.width >= narrowest) {
        return false;
    }
    let is_below = |k: usize, p: &Vector3<f64>| {
        let Facing { normal, middle, offset, width, .. } = &facing[k];
        let height = normal.dot(p) - offset;
        height <= tolerance || height * width <= tolerance * (width + 2.0 * (p - middle).norm())
    };
    for (k, face) in faces.iter().enumerate() {
        let is_convex = facing[k].turns_left(points, face, tolerance);
        let is_ridge = around(k).iter().all(|other| is_below(k, &facing[*other as usize].middle));
        if !is_convex || !is_ridge {
            return false;
        }
    }
    let mut at = 0;
    points.iter().zip(&is_used).filter(|(_, used)| !**used).all(|(p, _)| {
        let dir = p - centre;
        // To the first neighbour that is farther: faces can have many.
        let mut most = facing[at].dual.dot(&dir);
        let farther = |at: usize, most: f64| {
            let mut values =
                around(at).iter().map(|&k| (k as usize, facing[k as usize].dual.dot(&dir)));
            values.find(|next| next.1 > most)
        };
        while let Some(next) = farther(at, most) {
            (at, most) = next;
        }
        is_below(at, p)
    })
}

/// The face across each edge, in the order of the corners that edges start at; `None` if an edge does not
/// join two faces in opposite senses.
fn neighbours(faces: &Lists) -> Option<Vec<u32>> {
    let mut edges = Vec::with_capacity(faces.entries.len());
    for (k, face) in (0_u32..).zip(faces.iter()) {
        for (c, &from) in face.iter().enumerate() {
            let to = face[(c + 1) % face.len()];
            let place = faces.starts[k as usize] + c as u32;
            edges.push((from.min(to), from.max(to), from < to, k, place));
        }
    }
    edges.sort_unstable();
    let mut across = vec![0; edges.len()];
    let mut pairs = edges.chunks_exact(2);
    for pair in &mut pairs {
        let ((i, j, first, a, at_a), (k, l, second, b, at_b)) = (pair[0], pair[1]);
        if (i, j) != (k, l) || first == second {
            return None;
        }
        (across[at_a as usize], across[at_b as usize]) = (b, a);
    }
    let is_manifold =
        edges.windows(3).all(|three| (three[0].0, three[0].1) != (three[2].0, three[2].1));
    (pairs.remainder().is_empty() && is_manifold).then_some(across)
}

impl Facing {
    fn new(points: &[Vector3<f64>], face: &[u32], centre: &Vector3<f64>) -> Self {
        let at = |k: usize| points[face[k] as usize];
        let origin = at(0);
        let (mut area, mut longest) = (Vector3::zeros(), 0.0_f64);
        for k in 1..face.len() {
            let spoke = at(k) - origin;
            longest = longest.max(spoke.norm());
            if k + 1 < face.len() {
                area += spoke.cross(&(at(k + 1) - origin));
            }
        }
        let (length, n) = (area.norm(), face.len() as f64);
        let normal = if length > 0.0 { area / length } else { Vector3::zeros() };
        let offset =
            (0..face.len()).fold(f64::NEG_INFINITY, |most, k| most.max(normal.dot(&at(k))));
        let depth = offset - normal.dot(centre);
        Self {
            normal,
            middle: (0..face.len()).map(|k| at(k) / n).sum(),
            offset,
            width: length / longest,
            dual: if depth > 0.0 { normal / depth } else { Vector3::zeros() },
        }
    }

    /// Whether the outline turns left at every corner, seen from outside.
    fn turns_left(&self, points: &[Vector3<f64>], face: &[u32], tolerance: f64) -> bool {
        let n = face.len();
        (0..n).all(|k| {
            let [p, q, r] = [k, (k + 1) % n, (k + 2) % n].map(|k| points[face[k] as usize]);
            let chord = r - p;
            self.normal.dot(&(q - p).cross(&chord)) >= -tolerance * chord.norm()
        })
    }
}
