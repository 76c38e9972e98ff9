//! Polygons as triangles, cut as MuJoCo's reader of OBJ files (tinyobjloader) cuts them, so that masses of meshes agree
//! where polygons are not flat: quadrilaterals along the shorter diagonal, others by clipping ears [Meisters75] from the
//! first corner on, which makes a fan of a convex polygon.
//!
//! Everything is decided in single precision and in the coordinate plane that the polygon's first corner faces most. An ear's
//! turn is compared with that of its first edge around the origin, so that which ears are found depends on where the polygon
//! lies; a polygon that runs out of tries loses the rest. Both are faults of that reader, kept since the files were weighed with it.

use nalgebra::Vector3;

/// Largest number of corners of a polygon that is cut by ear clipping; larger ones become a fan, since the search takes a
/// time that grows with the cube of the number.
const MOST_CORNERS: usize = 256;

/// Appends the triangles of a polygon of at least three corners.
pub(super) fn cut(corners: &[u32], vertices: &[Vector3<f64>], into: &mut Vec<[u32; 3]>) {
    let at = |k: u32| vertices[k as usize].map(|x| x as f32);
    match *corners {
        [a, b, c] => into.push([a, b, c]),
        [a, b, c, d] => {
            let (ac, bd) = (at(c) - at(a), at(d) - at(b));
            if ac.norm_squared() < bd.norm_squared() {
                into.extend([[a, b, c], [a, c, d]]);
            } else {
                into.extend([[a, b, d], [b, c, d]]);
            }
        }
        _ if corners.len() <= MOST_CORNERS => {
            let points: Vec<_> = corners.iter().map(|k| at(*k)).collect();
            let [first, second] = plane(&points);
            let flat = corners.iter().zip(&points).map(|(k, p)| (*k, [p[first], p[second]]));
            clip(flat.collect(), into);
        }
        _ => fan(corners, into),
    }
}

fn fan(corners: &[u32], into: &mut Vec<[u32; 3]>) {
    into.extend(corners.windows(2).skip(1).map(|pair| [corners[0], pair[0], pair[1]]));
}

/// The two axes of the coordinate plane that the first corner with an angle faces most.
fn plane(points: &[Vector3<f32>]) -> [usize; 2] {
    let n = points.len();
    let normals = (0..n).map(|k| {
        let [a, b, c] = [k, k + 1, k + 2].map(|k| points[k % n]);
        (b - a).cross(&(c - b)).abs()
    });
    match normals.into_iter().find(|normal| normal.max() > f32::EPSILON) {
        Some(normal) if normal.x > normal.y && normal.x > normal.z => [1, 2],
        Some(normal) if normal.z > normal.x && normal.z > normal.y => [0, 1],
        Some(_) => [0, 2],
        None => [1, 2],
    }
}

/// Clips one ear after the other, until three corners are left or a whole round finds none. An ear at the last try of a
/// round ends the search as well.
fn clip(mut corners: Vec<(u32, [f32; 2])>, into: &mut Vec<[u32; 3]>) {
    let (mut first, mut tries, mut before) = (0, corners.len(), corners.len());
    while corners.len() > 3 && tries > 0 {
        let n = corners.len();
        tries = if n == before { tries - 1 } else { n };
        before = n;
        first %= n;
        let ear = [first, (first + 1) % n, (first + 2) % n];
        let points = ear.map(|k| corners[k].1);
        let free = (3..n).all(|k| !holds(&points, corners[(first + k) % n].1));
        if turns(&points) && free {
            into.push(ear.map(|k| corners[k].0));
            corners.remove(ear[1]);
        } else {
            first += 1;
        }
    }
    if let [a, b, c] = corners[..] {
        into.push([a.0, b.0, c.0]);
    }
}

/// Whether three points turn to the same side as the first two around the origin.
fn turns([a, b, c]: &[[f32; 2]; 3]) -> bool {
    let cross = (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0]);
    let area = 0.5 * (a[0] * b[1] - a[1] * b[0]);
    cross * area >= 0.0
}

/// Whether a triangle holds a point: a ray from it along the first axis crosses an odd number of edges.
fn holds(corners: &[[f32; 2]; 3], [x, y]: [f32; 2]) -> bool {
    let crosses = |a: [f32; 2], b: [f32; 2]| {
        (a[1] > y) != (b[1] > y) && x < (b[0] - a[0]) * (y - a[1]) / (b[1] - a[1]) + a[0]
    };
    (0..3).filter(|k| crosses(corners[*k], corners[(k + 2) % 3])).count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn triangles(points: &[[f64; 2]]) -> Vec<[u32; 3]> {
        let vertices: Vec<_> = points.iter().map(|[x, y]| Vector3::new(*x, *y, 1.0)).collect();
        let corners: Vec<_> = (0..points.len() as u32).collect();
        let mut found = Vec::new();
        cut(&corners, &vertices, &mut found);
        found
    }

    #[test]
    fn a_quadrilateral_is_cut_along_its_shorter_diagonal() {
        let wide = triangles(&[[-2.0, 0.0], [0.0, -1.0], [2.0, 0.0], [0.0, 1.0]]);
        assert_eq!(wide, [[0, 1, 3], [1, 2, 3]]);
        let tall = triangles(&[[-1.0, 0.0], [0.0, -2.0], [1.0, 0.0], [0.0, 2.0]]);
        assert_eq!(tall, [[0, 1, 2], [0, 2, 3]]);
    }

    #[test]
    fn a_convex_polygon_around_the_origin_becomes_a_fan() {
        let points: Vec<_> = (0..6).map(|k| f64::from(k).sin_cos()).map(|(y, x)| [x, y]).collect();
        assert_eq!(triangles(&points), [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]]);
    }

    #[test]
    fn a_convex_polygon_elsewhere_is_cut_as_mujoco_cuts_it() {
        let points: Vec<_> =
            (0..6).map(|k| f64::from(k).sin_cos()).map(|(y, x)| [x - 10.0, y + 3.0]).collect();
        // `mesh_face` of MuJoCo 4.0 for this polygon.
        assert_eq!(triangles(&points), [[1, 2, 3], [1, 3, 4], [1, 4, 5], [0, 1, 5]]);
    }

    #[test]
    fn a_polygon_whose_first_ear_is_found_at_the_last_try_loses_the_rest_as_in_mujoco() {
        let points = [[2.5, -2.64], [1.61, -2.13], [1.61, -2.34], [2.2, -2.37], [2.53, -2.87]];
        // `mesh_face` of MuJoCo 4.0 for this polygon.
        assert_eq!(triangles(&points), [[4, 0, 1]]);
    }

    #[test]
    fn the_triangles_of_a_polygon_with_a_dent_have_its_area() {
        let points = [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [1.0, 0.5], [0.0, 2.0]];
        let area = |t: &[[f64; 2]]| {
            let pairs = (0..t.len()).map(|k| (t[k], t[(k + 1) % t.len()]));
            pairs.map(|(p, q)| p[0] * q[1] - p[1] * q[0]).sum::<f64>() / 2.0
        };
        let found = triangles(&points);
        let parts = found.iter().map(|t| area(&t.map(|k| points[k as usize])).abs());
        // Overlaps would add up to more.
        assert!((parts.sum::<f64>() - area(&points)).abs() <= 1e-14);
        assert_eq!(found.len(), 3);
    }

    #[test]
    fn corners_at_one_point_do_no_harm() {
        assert_eq!(triangles(&[[1.0, 1.0]; 7]).len(), 5);
    }
}
