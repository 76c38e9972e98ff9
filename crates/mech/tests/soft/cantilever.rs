//! Static solids: the patch test, and a cantilever against beam theory under mesh refinement.

use crate::mesh::*;
use nalgebra::Vector3;
use stiction_math::block::{Cholesky, Symmetric};
use stiction_mech::{Material, SoftBody, SoftSpec, SoftWorkspace};

/// Displacements u with K u = f at the reference shape; `held` marks which of a vertex's three
/// coordinates are fixed.
fn static_solution(
    body: &SoftBody,
    load: &[Vector3<f64>],
    held: impl Fn(&Vector3<f64>) -> [bool; 3],
) -> Vec<Vector3<f64>> {
    let mut work = SoftWorkspace::new(body);
    body.stiffness(&body.spec.vertices, &mut work);
    let mut K: Symmetric = work.stiffness.clone();
    let mut u = flat(load);
    let held: Vec<[bool; 3]> = body.spec.vertices.iter().map(held).collect();
    for e in body.pattern().entries() {
        let block = K.block_mut(e.id);
        for (i, j) in (0..9).map(|k| (k / 3, k % 3)) {
            if held[e.row][i] || held[e.col][j] {
                block[3 * i + j] = if e.row == e.col && i == j { 1.0 } else { 0.0 };
            }
        }
    }
    for (k, held) in held.iter().flatten().enumerate() {
        u[k] = if *held { 0.0 } else { u[k] };
    }
    let mut factor = Cholesky::analyse(body.pattern());
    factor.factor(&K).unwrap();
    factor.solve_in_place(&mut u);
    u.chunks_exact(3).map(Vector3::from_column_slice).collect()
}

#[test]
fn a_uniform_traction_gives_a_uniform_strain_on_any_mesh() {
    let (young, poisson, length, stress) = (1e6, 0.3, 2.0, 100.0);
    let spec = cuboid([length, 1.0, 1.0], [4, 2, 2], Material::Linear { young, poisson });
    let body = SoftBody::new(spec).unwrap();
    // Traction: each triangle of the far face transfers a third of its load to each of its corners.
    let mut load = vec![Vector3::zeros(); body.spec.vertices.len()];
    for corners in &body.spec.tetrahedra {
        let is_far = |v: &&u32| body.spec.vertices[**v as usize].x == length;
        let far: Vec<_> = corners.iter().filter(is_far).copied().collect();
        if let [a, b, c] = far[..] {
            let [p, q, r] = [a, b, c].map(|v| body.spec.vertices[v as usize]);
            let area = 0.5 * (q - p).cross(&(r - p)).norm();
            for v in [a, b, c] {
                load[v as usize].x += stress * area / 3.0;
            }
        }
    }
    let u = static_solution(&body, &load, |x| [x.x == 0.0, x.y == 0.0, x.z == 0.0]);
    for (x, u) in body.spec.vertices.iter().zip(&u) {
        let expected = stress / young * Vector3::new(x.x, -poisson * x.y, -poisson * x.z);
        // Round-off times the condition number of K, some hundreds.
        assert!((u - expected).amax() <= 1e-13 * stress / young, "{u} {expected}");
    }
}

/// Mean deflection of the tip of a beam of 1 m × 0.1 m × 0.1 m under 0.1 N.
fn tip_deflection(poisson: f64, cells: [usize; 3]) -> f64 {
    let material = Material::LinearCorotated { young: 1e6, poisson };
    let spec = SoftSpec { density: 1.0, ..cuboid([1.0, 0.1, 0.1], cells, material) };
    let body = SoftBody::new(spec).unwrap();
    let tip: Vec<usize> =
        (0..body.spec.vertices.len()).filter(|&k| body.spec.vertices[k].x == 1.0).collect();
    let mut load = vec![Vector3::zeros(); body.spec.vertices.len()];
    tip.iter().for_each(|&k| load[k].z = -0.1 / tip.len() as f64);
    let u = static_solution(&body, &load, |x| [x.x == 0.0; 3]);
    -tip.iter().map(|&k| u[k].z).sum::<f64>() / tip.len() as f64
}

#[test]
fn a_cantilever_bends_towards_beam_theory_with_the_square_of_the_element_size() {
    // Euler-Bernoulli: P L³/(3 E I) with I = a⁴/12; shear adds P L/(⅚ G A) with G = E/2 for ν = 0.
    let bending: f64 = 0.1 / (3.0 * 1e6 * 1e-4 / 12.0);
    let shear: f64 = 0.1 / (5.0 / 6.0 * 5e5 * 0.01);
    assert!((bending - 0.004).abs() <= 1e-15 && (shear - 2.4e-5).abs() <= 1e-15);
    // Regression numbers of an independent implementation.
    let cases = [
        (0.0, [0.0009809516, 0.0022116655, 0.0033169917, 0.003672]),
        (0.3, [0.0008843765, 0.0020306182, 0.0031731824, 0.003576]),
    ];
    for (poisson, expected) in cases {
        let mut excess = Vec::new();
        for (n, expected) in [1, 2, 4, 6].into_iter().zip(expected) {
            let found = tip_deflection(poisson, [10 * n, n, n]);
            // The reference has this many digits.
            let digits = if n == 6 { 5e-7 } else { 6e-11 };
            assert!((found - expected).abs() <= digits, "{poisson} {n}: {found} {expected}");
            excess.push((n as f64, 1.0 / found - 1.0 / (bending + shear)));
        }
        if poisson == 0.0 {
            // Linear elements are too stiff in bending by an error of order h²; higher orders
            // are not yet negligible at these sizes.
            for pair in excess.windows(2) {
                let ((n, coarse), (m, fine)) = (pair[0], pair[1]);
                let order = (coarse / fine).ln() / (m / n).ln();
                assert!((order - 2.0).abs() <= 0.1, "{n} to {m}: {order}");
            }
        }
    }
}
