//! Polygons as triangles, cut as MuJoCo's reader cuts them, so that masses of meshes agree where
//! polygons are not flat: quadrilaterals along the shorter diagonal, others by clipping ears
//! [Meisters75] from the first corner on, which makes a fan of a convex polygon.

use nalgebra::Vector3;

/// Largest number of corners of a polygon that is cut by ear clipping; larger ones become a fan, since the search takes a
/// time that grows with the cube of the number.
const MOST_CORNERS: usize = 256;

/// Appends the triangles of a polygon of at least three corners.
pub(super) fn cut(corners: &[u32], vertices: &[Vector3<f64>], into: &mut Vec<[u32; 3]>) {
    match *corners {
        [a, b, c] => into.push([a, b, c]),
        [a, b, c, d] => {
            // The reader that MuJoCo uses decides in single precision.
            let at = |k: u32| vertices[k as usize].map(|x| x as f32);
            let (ac, bd) = (at(c) - at(a), at(d) - at(b));
            if ac.norm_squared() < bd.norm_squared() {
                into.extend([[a, b, c], [a, c, d]]);
            } else {
                into.extend([[a, b, d], [b, c, d]]);
            }
        }
        _ if corners.len() <= MOST_CORNERS => clip(corners.to_vec(), vertices, into),
        _ => fan(corners, into),
    }
}

fn fan(corners: &[u32], into: &mut Vec<[u32; 3]>) {
    into.extend(corners.windows(2).skip(1).map(|pair| [corners[0], pair[0], pair[1]]));
}

/// Clips one ear after the other; if none is left, the rest becomes a fan.
fn clip(mut corners: Vec<u32>, vertices: &[Vector3<f64>], into: &mut Vec<[u32; 3]>) {
    let at = |k: u32| vertices[k as usize];
    let normal: Vector3<f64> = (0..corners.len())
        .map(|k| at(corners[k]).cross(&at(corners[(k + 1) % corners.len()])))
        .sum();
    let mut first = 0;
    let mut tries = 0;
    while corners.len() > 3 && tries < corners.len() {
        let n = corners.len();
        let ear = [first % n, (first + 1) % n, (first + 2) % n].map(|k| corners[k]);
        let points = ear.map(at);
        let others = corners.iter().filter(|k| !ear.contains(k));
        if turn(&points, &normal) >= 0.0
            && !others.into_iter().any(|k| holds(&points, &at(*k), &normal))
        {
            into.push(ear);
            let middle = (first + 1) % n;
            corners.remove(middle);
            first %= corners.len();
            tries = 0;
        } else {
            first += 1;
            tries += 1;
        }
    }
    fan(&corners, into);
}

/// Positive if three points turn to the left, seen against the normal.
fn turn([a, b, c]: &[Vector3<f64>; 3], normal: &Vector3<f64>) -> f64 {
    (b - a).cross(&(c - b)).dot(normal)
}

/// Whether a triangle holds a point, seen against the normal.
fn holds([a, b, c]: &[Vector3<f64>; 3], p: &Vector3<f64>, normal: &Vector3<f64>) -> bool {
    [[a, b], [b, c], [c, a]]
        .iter()
        .all(|[from, to]| (*to - *from).cross(&(p - *from)).dot(normal) > 0.0)
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
    fn a_convex_polygon_becomes_a_fan() {
        let points: Vec<_> = (0..6).map(|k| f64::from(k).sin_cos()).map(|(y, x)| [x, y]).collect();
        assert_eq!(triangles(&points), [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]]);
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
