//! Mass properties of triangle meshes: volume, centre of mass and inertia by the four rules that
//! MuJoCo has. Each is one pass or two over the triangles.
//!
//! A tetrahedron from an apex at the origin to a triangle a, b, c of volume V has
//! `∫ x xᵀ dV = V/20 (a aᵀ + b bᵀ + c cᵀ + s sᵀ)`, `s = a + b + c`; the triangle itself, of area A,
//! `∫ x xᵀ dA = A/12 (…)`. The inertia is `tr(C) 1 − C` of their sum C. The rules differ in the
//! apex, in the sign of V and in what is summed.

use nalgebra::{Matrix3, Vector3};
use stiction_geom::shape::Convex;

use super::Triangles;

/// Volume [m³] or area [m²], centre of mass [m], and inertia about it per unit of density
/// [m⁵ or m⁴].
pub type Integrals = (f64, Vector3<f64>, Matrix3<f64>);

/// A mesh without mass properties.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MeshMassError {
    /// Nothing to integrate over.
    #[error("the mesh has an area of {found} m²; expected a positive one")]
    Area {
        /// Area [m²].
        found: f64,
    },
    /// The mesh is flat, inverted, or open such that it encloses no volume.
    #[error(
        "the mesh encloses {found} m³ within an area of {area} m²; expected a positive volume: \
         is it flat, or are its triangles inverted?"
    )]
    Volume {
        /// Volume [m³].
        found: f64,
        /// Area [m²].
        area: f64,
    },
    /// Coordinates so large that their products are no numbers.
    #[error(
        "volume, centre or inertia of the mesh is {found} in SI units; expected finite numbers"
    )]
    NotFinite {
        /// The number found.
        found: f64,
    },
    /// The convex hull does not exist.
    #[error("the convex hull of the mesh: {0}")]
    Hull(#[from] stiction_geom::ShapeError),
}

/// Smallest volume of a body, relative to that of a body of the same area and of compact form: far
/// below the thinnest sheets that are made, far above round-off.
const THINNEST: f64 = 1e-11;

/// All numbers finite, the first positive.
fn checked(found: Integrals) -> Result<Integrals, MeshMassError> {
    if !(found.0 > 0.0 && found.0.is_finite()) {
        return Err(MeshMassError::NotFinite { found: found.0 });
    }
    match found.2.iter().chain(found.1.iter()).find(|x| !x.is_finite()) {
        Some(&found) => Err(MeshMassError::NotFinite { found }),
        None => Ok(found),
    }
}

/// A triangle by its corners.
type Corners = [Vector3<f64>; 3];

fn corners(mesh: &Triangles) -> impl Iterator<Item = Corners> {
    mesh.triangles.iter().map(|triangle| triangle.map(|k| mesh.vertices[k as usize]))
}

/// Twice the area, along the normal [m²].
fn double_area([a, b, c]: &Corners) -> Vector3<f64> {
    (b - a).cross(&(c - a))
}

/// Area [m²] and its centroid [m].
fn surface(mesh: &Triangles) -> Result<(f64, Vector3<f64>), MeshMassError> {
    let (mut area, mut moment) = (0.0, Vector3::zeros());
    for triangle in corners(mesh) {
        let part = 0.5 * double_area(&triangle).norm();
        area += part;
        moment += part / 3.0 * (triangle[0] + triangle[1] + triangle[2]);
    }
    if !(area > 0.0 && area.is_finite()) {
        return Err(MeshMassError::Area { found: area });
    }
    Ok((area, moment / area))
}

/// `a aᵀ + b bᵀ + c cᵀ + s sᵀ`, the second moments of a triangle or of a tetrahedron up to a factor.
fn second_moments([a, b, c]: &Corners) -> Matrix3<f64> {
    let sum = a + b + c;
    a * a.transpose() + b * b.transpose() + c * c.transpose() + sum * sum.transpose()
}

/// From second moments to the inertia.
fn inertia(C: Matrix3<f64>) -> Matrix3<f64> {
    Matrix3::from_diagonal_element(C.trace()) - C
}

/// Sum over tetrahedra from an apex: first for the centre of mass with the apex at the centroid of
/// the surface, then for the inertia with the apex at the centre of mass.
fn by_tetrahedra(mesh: &Triangles, sign: fn(f64) -> f64) -> Result<Integrals, MeshMassError> {
    let (area, apex) = surface(mesh)?;
    let seen_from = |apex: Vector3<f64>| {
        corners(mesh).map(move |triangle| {
            let seen = triangle.map(|corner| corner - apex);
            (sign(seen[0].dot(&double_area(&seen)) / 6.0), seen)
        })
    };
    let enough = |found: f64| {
        if found > THINNEST * area * area.sqrt() && found.is_finite() {
            Ok(found)
        } else {
            Err(MeshMassError::Volume { found, area })
        }
    };
    let (mut volume, mut moment) = (0.0, Vector3::zeros());
    for (part, [a, b, c]) in seen_from(apex) {
        volume += part;
        moment += part / 4.0 * (a + b + c);
    }
    let com = apex + moment / enough(volume)?;
    let (mut volume, mut C) = (0.0, Matrix3::zeros());
    for (part, seen) in seen_from(com) {
        volume += part;
        C += part / 20.0 * second_moments(&seen);
    }
    checked((enough(volume)?, com, inertia(C)))
}

/// MuJoCo's rule for meshes that need not be closed: all tetrahedra count as positive. Exact for
/// meshes that are star-shaped about both apexes; too large for others.
pub fn legacy(mesh: &Triangles) -> Result<Integrals, MeshMassError> {
    by_tetrahedra(mesh, f64::abs)
}

/// Exact for closed meshes whose triangles are oriented outwards, by Gauss' theorem: tetrahedra count with
/// their sign.
pub fn exact(mesh: &Triangles) -> Result<Integrals, MeshMassError> {
    by_tetrahedra(mesh, |volume| volume)
}

/// The surface alone carries mass: the first number is an area.
pub fn shell(mesh: &Triangles) -> Result<Integrals, MeshMassError> {
    let (area, com) = surface(mesh)?;
    let mut C = Matrix3::zeros();
    for triangle in corners(mesh) {
        let seen = triangle.map(|corner| corner - com);
        C += 0.5 * double_area(&triangle).norm() / 12.0 * second_moments(&seen);
    }
    checked((area, com, inertia(C)))
}

/// The convex hull of the vertices of all triangles, or of all vertices if there are none.
pub fn convex(mesh: &Triangles) -> Result<Integrals, MeshMassError> {
    checked(Convex::hull(&mesh.corner_points())?.mass_properties(1.0))
}

impl Triangles {
    /// The vertices that are corners of triangles, in their order; all if there are no triangles.
    pub fn corner_points(&self) -> Vec<Vector3<f64>> {
        let mut used = vec![self.triangles.is_empty(); self.vertices.len()];
        self.triangles.iter().flatten().for_each(|k| used[*k as usize] = true);
        let vertices = self.vertices.iter().zip(used);
        vertices.filter(|(_, used)| *used).map(|(vertex, _)| *vertex).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A box with edges 2·half about a centre, triangles looking outwards.
    fn cuboid(half: Vector3<f64>, centre: Vector3<f64>) -> Triangles {
        let sign = |bit: usize| if bit == 0 { -1.0 } else { 1.0 };
        let corner = |k: usize| {
            centre + half.component_mul(&Vector3::new(sign(k & 1), sign(k & 2), sign(k & 4)))
        };
        let faces: [[u32; 4]; 6] =
            [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        Triangles {
            vertices: (0..8).map(corner).collect(),
            first_object: None,
            triangles: faces.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect(),
        }
    }

    fn close(found: Integrals, expected: Integrals) {
        // A dozen triangles, a few dozen operations each, on numbers within 1e3 of one another.
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * b.abs().max(1.0);
        assert!(near(found.0, expected.0), "{found:?} against {expected:?}");
        assert!((found.1 - expected.1).amax() <= 1e-12, "{found:?} against {expected:?}");
        assert!((found.2 - expected.2).amax() <= 1e-12, "{found:?} against {expected:?}");
    }

    #[test]
    fn a_box_has_the_inertia_of_a_box_by_every_solid_rule() {
        let (half, centre) = (Vector3::new(0.5, 0.3, 0.2), Vector3::new(1.0, -2.0, 0.7));
        let mesh = cuboid(half, centre);
        let volume = 8.0 * half.product();
        let square = half.component_mul(&half);
        let inertia = volume / 3.0 * Vector3::repeat(square.sum()) - volume / 3.0 * square;
        let expected = (volume, centre, Matrix3::from_diagonal(&inertia));
        close(legacy(&mesh).unwrap(), expected);
        close(exact(&mesh).unwrap(), expected);
        close(convex(&mesh).unwrap(), expected);
    }

    #[test]
    fn the_shell_of_a_cube_has_the_inertia_of_six_plates() {
        let a: f64 = 0.6;
        let mesh = cuboid(Vector3::repeat(a / 2.0), Vector3::new(0.1, 0.2, 0.3));
        // About z: two plates a⁴/6 each, four of a⁴/12 at the distance a/2: a⁴ (1/3 + 1/3 + 1).
        let inertia = 5.0 / 3.0 * a.powi(4);
        let expected =
            (6.0 * a * a, Vector3::new(0.1, 0.2, 0.3), Matrix3::from_diagonal_element(inertia));
        close(shell(&mesh).unwrap(), expected);
    }

    #[test]
    fn a_hole_counts_only_where_signs_do() {
        let (outer, hole) = (Vector3::repeat(1.0), Vector3::repeat(0.5));
        let mut mesh = cuboid(outer, Vector3::zeros());
        let inner = cuboid(hole, Vector3::zeros());
        mesh.vertices.extend(inner.vertices);
        mesh.triangles.extend(inner.triangles.iter().map(|&[a, b, c]| [a + 8, c + 8, b + 8]));
        let cube = |edge: f64| (edge.powi(3), edge.powi(5) / 6.0);
        let ((V, I), (v, i)) = (cube(2.0), cube(1.0));
        let of = |volume: f64, inertia: f64| {
            (volume, Vector3::zeros(), Matrix3::from_diagonal_element(inertia))
        };
        close(exact(&mesh).unwrap(), of(V - v, I - i));
        close(legacy(&mesh).unwrap(), of(V + v, I + i));
        close(convex(&mesh).unwrap(), of(V, I));
    }

    #[test]
    fn flat_empty_and_inverted_meshes_have_no_mass() {
        let flat = Triangles {
            vertices: vec![
                Vector3::zeros(),
                Vector3::x(),
                Vector3::y(),
                Vector3::new(1.0, 1.0, 0.0),
            ],
            triangles: vec![[0, 1, 2], [1, 3, 2], [0, 2, 1]],
            first_object: None,
        };
        assert!(legacy(&flat).is_err() && exact(&flat).is_err() && convex(&flat).is_err());
        assert!(shell(&flat).is_ok());
        let empty = Triangles::default();
        for rule in [legacy, exact, shell, convex] {
            assert!(rule(&empty).is_err());
        }
        let mut inverted = cuboid(Vector3::repeat(1.0), Vector3::zeros());
        inverted.triangles.iter_mut().for_each(|t| t.swap(0, 1));
        assert!(exact(&inverted).is_err() && legacy(&inverted).is_ok());
    }
}
