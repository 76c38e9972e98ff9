//! The convex hull of points as vertices and polygons.
//!
//! The triangles are computed by parry, whose types are used only here. Coplanar triangles are merged, and
//! the result is checked to be closed.

use crate::ShapeError;
use nalgebra::Vector3;
use parry3d_f64::transformation::try_convex_hull;
use std::collections::BTreeMap;

/// Points thinner than this part of their size enclose no volume.
const THINNEST: f64 = 1e-7;

/// Triangles whose corners lie within this part of the size of one plane make one face.
const FLAT: f64 = 1e-9;

/// A closed convex polyhedron.
pub struct Hull {
    /// Vertices [m], all of them corners of faces.
    pub vertices: Vec<Vector3<f64>>,
    /// Corners of each face, counter-clockwise seen from outside.
    pub faces: Vec<Vec<u32>>,
}

/// The hull of `points` [m].
pub fn of_points(points: &[Vector3<f64>]) -> Result<Hull, ShapeError> {
    const SHAPE: &str = "convex";
    for (index, p) in points.iter().enumerate() {
        if !p.iter().all(|x| x.is_finite()) {
            return Err(ShapeError::Vertex { shape: SHAPE, index, found: [p.x, p.y, p.z] });
        }
    }
    if points.len() < 4 {
        let found = points.len();
        return Err(ShapeError::TooFew { shape: SHAPE, element: "points", found, expected: 4 });
    }
    let (thickness, size) = thickness(points);
    let flat = ShapeError::Flat { shape: SHAPE, vertices: points.len(), thickness };
    if !(thickness > THINNEST * size) {
        return Err(flat);
    }
    let cloud: Vec<_> =
        points.iter().map(|p| parry3d_f64::math::Vector::new(p.x, p.y, p.z)).collect();
    let (corners, triangles) = try_convex_hull(&cloud).map_err(|_| flat.clone())?;
    let vertices: Vec<Vector3<f64>> = corners.iter().map(|p| Vector3::new(p.x, p.y, p.z)).collect();
    let faces = join(&vertices, &triangles, FLAT * size);
    faces.map(|faces| used_only(vertices, faces)).ok_or(flat)
}

/// Largest distance from a plane through three far points, and the largest from the first point [m].
fn thickness(points: &[Vector3<f64>]) -> (f64, f64) {
    let farthest = |measure: &dyn Fn(&Vector3<f64>) -> f64| {
        points
            .iter()
            .map(|p| (measure(p), *p))
            .fold((-1.0, points[0]), |best, next| if next.0 > best.0 { next } else { best })
    };
    let p = points[0];
    let (size, q) = farthest(&|x| (x - p).norm());
    let along = (q - p).try_normalize(0.0).unwrap_or_else(Vector3::x);
    let (_, r) = farthest(&|x| along.cross(&(x - p)).norm());
    let across = along.cross(&(r - p)).try_normalize(0.0).unwrap_or_else(Vector3::y);
    (farthest(&|x| across.dot(&(x - p)).abs()).0, size)
}

/// Merges coplanar triangles to polygons; `None` if the triangles are not closed.
fn join(
    vertices: &[Vector3<f64>],
    triangles: &[[u32; 3]],
    tolerance: f64,
) -> Option<Vec<Vec<u32>>> {
    let at = |k: u32| vertices[k as usize];
    let mut owner = BTreeMap::new();
    for (t, &[i, j, k]) in triangles.iter().enumerate() {
        for edge in [(i, j), (j, k), (k, i)] {
            if owner.insert(edge, t).is_some() {
                return None;
            }
        }
    }
    if owner.keys().any(|&(i, j)| !owner.contains_key(&(j, i))) {
        return None;
    }
    let area = |t: usize| {
        let [p, q, r] = triangles[t].map(at);
        (q - p).cross(&(r - p))
    };
    // The largest triangle of a face defines its plane.
    let mut order: Vec<usize> = (0..triangles.len()).collect();
    order.sort_by(|&s, &t| {
        area(t).norm_squared().total_cmp(&area(s).norm_squared()).then(s.cmp(&t))
    });
    let mut face_of = vec![usize::MAX; triangles.len()];
    let mut faces = Vec::new();
    for seed in order {
        if face_of[seed] != usize::MAX {
            continue;
        }
        let normal = area(seed).try_normalize(0.0)?;
        let offset = normal.dot(&at(triangles[seed][0]));
        let (name, mut members) = (faces.len(), vec![seed]);
        face_of[seed] = name;
        let mut next = 0;
        while next < members.len() {
            let [i, j, k] = triangles[members[next]];
            for edge in [(j, i), (k, j), (i, k)] {
                let other = *owner.get(&edge)?;
                let lies_in = |corner| (normal.dot(&at(corner)) - offset).abs() <= tolerance;
                let same = triangles[other].into_iter().all(lies_in);
                if same && face_of[other] == usize::MAX {
                    face_of[other] = name;
                    members.push(other);
                }
            }
            next += 1;
        }
        faces.push(members);
    }
    faces
        .iter()
        .map(|members| outline(vertices, triangles, &face_of, &owner, members, tolerance))
        .collect()
}

/// The boundary vertices of a set of triangles, without collinear ones.
fn outline(
    vertices: &[Vector3<f64>],
    triangles: &[[u32; 3]],
    face_of: &[usize],
    owner: &BTreeMap<(u32, u32), usize>,
    members: &[usize],
    tolerance: f64,
) -> Option<Vec<u32>> {
    let name = face_of[members[0]];
    let mut follows = BTreeMap::new();
    for &member in members {
        let [i, j, k] = triangles[member];
        for (from, to) in [(i, j), (j, k), (k, i)] {
            if face_of[*owner.get(&(to, from))?] != name {
                follows.insert(from, to);
            }
        }
    }
    let (&first, _) = follows.first_key_value()?;
    let mut corners = vec![first];
    let mut at = *follows.get(&first)?;
    while at != first && corners.len() <= follows.len() {
        corners.push(at);
        at = *follows.get(&at)?;
    }
    let n = corners.len();
    let bends = |k: usize| {
        let [p, q, r] = [(k + n - 1) % n, k, (k + 1) % n].map(|k| vertices[corners[k] as usize]);
        let chord = r - p;
        chord.cross(&(q - p)).norm() > tolerance * chord.norm()
    };
    let bent: Vec<u32> = (0..n).filter(|&k| bends(k)).map(|k| corners[k]).collect();
    (bent.len() >= 3).then_some(bent)
}

/// Drops the vertices that no face uses.
fn used_only(vertices: Vec<Vector3<f64>>, mut faces: Vec<Vec<u32>>) -> Hull {
    let mut names = vec![u32::MAX; vertices.len()];
    let mut kept = Vec::new();
    for corner in faces.iter_mut().flatten() {
        let name = &mut names[*corner as usize];
        if *name == u32::MAX {
            *name = kept.len() as u32;
            kept.push(vertices[*corner as usize]);
        }
        *corner = *name;
    }
    Hull { vertices: kept, faces }
}
