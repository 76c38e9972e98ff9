//! Winding number of a surface of triangles about a point [Jacobson13]: 1 inside a closed surface, 0 outside, in between for
//! surfaces with holes. The sum of the solid angles of all triangles [VanOosterom83]; O(triangles).

use crate::shape::Mesh;
use nalgebra::Vector3;
use std::f64::consts::TAU;

/// Winding number of the mesh about `p` [m].
pub fn number(mesh: &Mesh, p: &Vector3<f64>) -> f64 {
    let mut half_angles = 0.0;
    for t in 0..mesh.triangles().len() as u32 {
        let [a, b, c] = mesh.corners(t).map(|corner| corner - p);
        let (la, lb, lc) = (a.norm(), b.norm(), c.norm());
        let top = a.dot(&b.cross(&c));
        let bottom = la * lb * lc + a.dot(&b) * lc + b.dot(&c) * la + c.dot(&a) * lb;
        half_angles += top.atan2(bottom);
    }
    half_angles / TAU
}
