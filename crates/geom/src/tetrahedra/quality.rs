//! Quality of tetrahedra: dihedral angles, and the ratio of inscribed to circumscribed sphere. O(1) per
//! element.

use super::{FACES, volume};
use nalgebra::Vector3;

/// Measures of the elements of a mesh; a regular tetrahedron has arccos ⅓ for all angles and ratio 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality {
    /// Least angle between two faces of an element [rad].
    pub least_dihedral: f64,
    /// Greatest angle between two faces of an element [rad].
    pub greatest_dihedral: f64,
    /// Least of three times the inscribed over the circumscribed radius, in (0, 1] [-].
    pub least_radius_ratio: f64,
    /// Mean of that ratio [-].
    pub mean_radius_ratio: f64,
    /// The element of the least ratio.
    pub worst: usize,
}

impl Quality {
    /// Measures elements by their corners [m].
    pub(super) fn of(elements: impl Iterator<Item = [Vector3<f64>; 4]>) -> Self {
        let mut sum = Self {
            least_dihedral: f64::INFINITY,
            greatest_dihedral: 0.0,
            least_radius_ratio: f64::INFINITY,
            mean_radius_ratio: 0.0,
            worst: 0,
        };
        let mut count = 0;
        for (element, p) in elements.enumerate() {
            let (least, greatest) = dihedrals(&p);
            sum.least_dihedral = sum.least_dihedral.min(least);
            sum.greatest_dihedral = sum.greatest_dihedral.max(greatest);
            let ratio = radius_ratio(&p);
            sum.mean_radius_ratio += ratio;
            if ratio < sum.least_radius_ratio {
                (sum.least_radius_ratio, sum.worst) = (ratio, element);
            }
            count = element + 1;
        }
        sum.mean_radius_ratio /= f64::from(count as u32);
        sum
    }
}

/// Least and greatest angle between two faces [rad].
fn dihedrals(p: &[Vector3<f64>; 4]) -> (f64, f64) {
    let normals = FACES.map(|[i, j, k]| (p[j] - p[i]).cross(&(p[k] - p[i])));
    let (mut least, mut greatest) = (f64::INFINITY, 0.0_f64);
    for i in 0..4 {
        for j in 0..i {
            let angle = std::f64::consts::PI - normals[i].angle(&normals[j]);
            (least, greatest) = (least.min(angle), greatest.max(angle));
        }
    }
    (least, greatest)
}

/// Three times the inscribed radius, 3 V / Σ areas, over the circumscribed one, √(s (s−2a) (s−2b) (s−2c)) /
/// 24 V with the products a, b, c of opposite edges and their sum s.
fn radius_ratio(p: &[Vector3<f64>; 4]) -> f64 {
    let V = volume(*p);
    let areas: f64 =
        FACES.iter().map(|&[i, j, k]| 0.5 * (p[j] - p[i]).cross(&(p[k] - p[i])).norm()).sum();
    let edge = |i: usize, j: usize| (p[i] - p[j]).norm();
    let products = [edge(0, 1) * edge(2, 3), edge(0, 2) * edge(1, 3), edge(0, 3) * edge(1, 2)];
    let s: f64 = products.iter().sum();
    let circumscribed = products.iter().map(|x| s - 2.0 * x).product::<f64>() * s;
    let R = circumscribed.max(0.0).sqrt() / (24.0 * V);
    if R > 0.0 { 9.0 * V / (areas * R) } else { 0.0 }
}
