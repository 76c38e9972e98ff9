//! Forces, stiffness and mass of elements.

use crate::mesh::*;
use nalgebra::{DMatrix, DVector, Matrix3, Rotation3, SymmetricEigen, Vector3};
use stiction_mech::{Lumping, Material, SoftBody, SoftSpec, SoftWorkspace};

fn forces(body: &SoftBody, x: &[Vector3<f64>]) -> Vec<Vector3<f64>> {
    let mut work = SoftWorkspace::new(body);
    body.update_rotations(x, &mut work);
    body.forces(x, &mut work);
    work.force
}

fn stiffness(body: &SoftBody, x: &[Vector3<f64>]) -> DMatrix<f64> {
    let mut work = SoftWorkspace::new(body);
    body.update_rotations(x, &mut work);
    body.stiffness(x, &mut work);
    work.stiffness.to_dense()
}

fn moved(x: &[Vector3<f64>], by: &DVector<f64>, scale: f64) -> Vec<Vector3<f64>> {
    let by = by.as_slice().chunks_exact(3);
    x.iter().zip(by).map(|(x, d)| x + scale * Vector3::from_column_slice(d)).collect()
}

/// Regression numbers of an independent implementation.
#[test]
fn the_unit_tetrahedron_has_the_known_stiffness() {
    for material in [
        Material::LinearCorotated { young: 1.0, poisson: 0.25 },
        Material::Linear { young: 1.0, poisson: 0.25 },
        Material::Corotational { young: 1.0, poisson: 0.25 },
        Material::NeoHookean { young: 1.0, poisson: 0.25 },
    ] {
        let body = unit_tetrahedron(material);
        let K = stiffness(&body, &body.spec.vertices);
        let (a, b, c) = (1.0 / 3.0, 0.2, 1.0 / 15.0);
        let diagonal = [a, a, a, b, c, c, c, b, c, c, c, b];
        for (k, expected) in diagonal.into_iter().enumerate() {
            assert!((K[(k, k)] - expected).abs() <= 4e-16, "{material:?} {k}: {}", K[(k, k)]);
        }
        assert!((K[(0, 3)] + 0.2).abs() <= 4e-16 && (K[(3, 7)] - c).abs() <= 4e-16);
        assert!((K.trace() - 2.0).abs() <= 2e-15);
        // Its trace does not change when the element rotates.
        let turn = Rotation3::new(Vector3::new(0.4, -0.9, 1.3));
        let turned: Vec<_> = body.spec.vertices.iter().map(|x| turn * x).collect();
        assert!((stiffness(&body, &turned).trace() - 2.0).abs() <= 1e-14);
    }
}

/// Regression numbers of an independent implementation, to their last digit.
#[test]
fn the_sheared_tetrahedron_has_the_known_forces_and_rotation() {
    let material = Material::LinearCorotated { young: 1.0, poisson: 0.25 };
    let body = unit_tetrahedron(material);
    let F = Matrix3::new(1.1, 0.1, 0.0, 0.0, 0.9, 0.0, 0.0, 0.0, 1.0);
    let x: Vec<_> = body.spec.vertices.iter().map(|x| F * x).collect();
    let expected = [
        [0.0203493451, -0.0063505925, 0.0001665626],
        [-0.0136660430, -0.0066500312, 0.0],
        [-0.0066833021, 0.0130006237, 0.0],
        [0.0, 0.0, -0.0001665626],
    ];
    for (found, expected) in forces(&body, &x).iter().zip(expected) {
        assert!((found - Vector3::from(expected)).amax() <= 6e-11, "{found} {expected:?}");
    }
    let (c, s) = (0.9987523389, 0.0499376169);
    let expected = Matrix3::new(c, s, 0.0, -s, c, 0.0, 0.0, 0.0, 1.0);
    assert!((material.rotation(&F) - expected).amax() <= 6e-11);
}

#[test]
fn forces_are_minus_the_gradient_of_the_energy() {
    let mut rng = Random(31);
    for material in materials() {
        let body = block(material);
        let x = rng.shape(&body, 0.02);
        let f = forces(&body, &x);
        // With a lagged rotation the force is the gradient of the corotational energy at fixed R; the change of R
        // does no work on a symmetric stretch.
        for _ in 0..5 {
            let d = DVector::from_fn(3 * x.len(), |_, _| rng.number());
            let h = 1e-6;
            let slope =
                (body.energy(&moved(&x, &d, h)) - body.energy(&moved(&x, &d, -h))) / (2.0 * h);
            let work: f64 = flat(&f).iter().zip(d.iter()).map(|(f, d)| f * d).sum();
            let size: f64 = flat(&f).iter().zip(d.iter()).map(|(f, d)| (f * d).abs()).sum();
            assert!((work + slope).abs() <= 1e-6 * size, "{material:?}: {work} {slope}");
        }
    }
}

#[test]
fn stiffness_is_minus_the_derivative_of_the_forces_where_nothing_is_projected() {
    let mut rng = Random(32);
    for material in materials() {
        let body = block(material);
        // Stretched a little, so that every eigenvalue of every element is positive.
        let x: Vec<_> = rng.shape(&body, 2e-5).iter().map(|x| 1.005 * x).collect();
        let mut work = SoftWorkspace::new(&body);
        body.update_rotations(&x, &mut work);
        body.stiffness(&x, &mut work);
        let K = work.stiffness.to_dense();
        let h = 1e-6;
        for _ in 0..5 {
            let d = DVector::from_fn(3 * x.len(), |_, _| rng.number());
            let mut at = |scale: f64| {
                body.forces(&moved(&x, &d, scale), &mut work); // rotations are not updated
                DVector::from_vec(flat(&work.force))
            };
            let slope = (at(h) - at(-h)) / (2.0 * h);
            let expected = -&K * &d;
            assert!((slope - &expected).amax() <= 1e-6 * expected.amax(), "{material:?}");
        }
    }
}

#[test]
fn linear_forces_are_exactly_linear_at_constant_rotations() {
    let mut rng = Random(33);
    let body = block(RUBBER);
    let x = rng.shape(&body, 0.02);
    let mut work = SoftWorkspace::new(&body);
    body.update_rotations(&x, &mut work);
    body.stiffness(&x, &mut work);
    body.forces(&x, &mut work);
    let (f, K) = (DVector::from_vec(flat(&work.force)), work.stiffness.to_dense());
    let d = DVector::from_fn(3 * x.len(), |_, _| 0.1 * rng.number());
    body.forces(&moved(&x, &d, 1.0), &mut work);
    let found = DVector::from_vec(flat(&work.force));
    let expected = f - K * d;
    assert!((found - &expected).amax() <= 1e-13 * expected.amax());
}

/// K = Σ V Bᵀ (dP/dF) B element by element, from the material alone.
#[test]
fn the_assembled_stiffness_is_the_sum_of_its_elements() {
    let mut rng = Random(34);
    for material in materials() {
        let body = block(material);
        let x = rng.shape(&body, 0.05);
        let n = x.len();
        let mut expected = DMatrix::zeros(3 * n, 3 * n);
        for corners in &body.spec.tetrahedra {
            let edges = |x: &[Vector3<f64>]| {
                let p = corners.map(|v| x[v as usize]);
                Matrix3::from_columns(&[p[1] - p[0], p[2] - p[0], p[3] - p[0]])
            };
            let reference = edges(&body.spec.vertices);
            let inverse = reference.try_inverse().unwrap();
            let F = edges(&x) * inverse;
            let C = material.projected_tangent(&F, &material.rotation(&F));
            let rest = -(inverse.row(0) + inverse.row(1) + inverse.row(2));
            let gradients =
                [rest, inverse.row(0).into(), inverse.row(1).into(), inverse.row(2).into()];
            let volume = reference.determinant() / 6.0;
            for (a, g_a) in gradients.iter().enumerate() {
                for (b, g_b) in gradients.iter().enumerate() {
                    let at = (3 * corners[a] as usize, 3 * corners[b] as usize);
                    for (i, k) in (0..9).map(|e| (e / 3, e % 3)) {
                        let entry =
                            |j: usize, l: usize| g_a[j] * C[(3 * j + i, 3 * l + k)] * g_b[l];
                        let sum: f64 = (0..9).map(|e| entry(e / 3, e % 3)).sum();
                        expected[(at.0 + i, at.1 + k)] += volume * sum;
                    }
                }
            }
        }
        let error = (stiffness(&body, &x) - &expected).amax();
        assert!(error <= 1e-12 * expected.amax(), "{material:?}: {error}");
    }
}

#[test]
fn the_exact_stiffness_is_the_derivative_of_the_forces_also_where_it_is_indefinite() {
    let mut rng = Random(31);
    for material in materials().into_iter().filter(|m| !m.entry().linear) {
        let body = block(material);
        // Compressed to 0.7, where the projected stiffness differs.
        let x: Vec<_> = rng.shape(&body, 1e-3).iter().map(|x| 0.7 * x).collect();
        let d = rng.vectors(x.len(), 1.0);
        let mut work = SoftWorkspace::new(&body);
        body.exact_stiffness(&x, &mut work);
        let mut expected = vec![0.0; 3 * x.len()];
        work.stiffness.mul(&flat(&d), &mut expected);
        // Central differences: truncation of order ε² and round-off of order 1/ε, both 1e-9 of the force.
        let epsilon = 1e-6;
        let mut at = |sign: f64| {
            let x: Vec<_> = x.iter().zip(&d).map(|(x, d)| x + sign * epsilon * d).collect();
            body.forces(&x, &mut work);
            flat(&work.force)
        };
        let (plus, minus) = (at(1.0), at(-1.0));
        let size = expected.iter().fold(0.0, |most: f64, k| most.max(k.abs()));
        for (k, expected) in expected.iter().enumerate() {
            let found = (minus[k] - plus[k]) / (2.0 * epsilon);
            assert!((found - expected).abs() <= 1e-6 * size, "{material:?}: {found} {expected}");
        }
    }
}

#[test]
fn the_stiffness_is_positive_semi_definite_for_every_deformation() {
    let mut rng = Random(35);
    for material in materials() {
        let body = block(material);
        for noise in [0.0, 0.02, 0.1, 0.5] {
            let x = rng.shape(&body, noise); // edges are 0.1 m long: most elements are inverted
            let K = stiffness(&body, &x);
            assert_eq!(K, K.transpose());
            let eigenvalues = SymmetricEigen::new(K).eigenvalues;
            assert!(eigenvalues.min() >= -1e-13 * eigenvalues.amax(), "{material:?} {noise}");
        }
    }
}

#[test]
fn the_stiffness_at_rest_has_six_zero_modes() {
    for material in materials() {
        let body = block(material);
        let eigenvalues = SymmetricEigen::new(stiffness(&body, &body.spec.vertices)).eigenvalues;
        let soft = eigenvalues.iter().filter(|&&e| e <= 1e-10 * eigenvalues.amax()).count();
        assert_eq!(soft, 6, "{material:?}");
    }
    // Elements with different rotations resist common rotations, but not translations.
    let (body, mut rng) = (block(RUBBER), Random(36));
    let eigenvalues = SymmetricEigen::new(stiffness(&body, &rng.shape(&body, 0.1))).eigenvalues;
    assert_eq!(eigenvalues.iter().filter(|&&e| e <= 1e-10 * eigenvalues.amax()).count(), 3);
}

#[test]
fn a_rigid_motion_produces_no_force() {
    let mut rng = Random(37);
    for material in materials().into_iter().filter(|m| m.entry().rotation_invariant) {
        let body = block(material);
        let (shear, bulk) = material.moduli();
        // Stress rounds at eps times the modulus, and acts on faces of 0.1 m of up to 24 elements.
        let bound = 24.0 * 100.0 * f64::EPSILON * shear.max(bulk) * 0.01;
        for _ in 0..20 {
            let x = rng.shape(&body, 0.0);
            let most = forces(&body, &x).iter().map(|f| f.amax()).fold(0.0, f64::max);
            assert!(most <= bound, "{material:?}: {most}");
            assert!(body.energy(&x).abs() <= bound);
        }
    }
}

#[test]
fn a_rotation_within_a_step_causes_a_strain_of_second_order() {
    let body = SoftBody::new(cuboid([0.2; 3], [2, 2, 2], RUBBER)).unwrap();
    let mut work = SoftWorkspace::new(&body);
    let mut most = |angle: f64| {
        let turn = Rotation3::new(angle * Vector3::z());
        let x: Vec<_> = body.spec.vertices.iter().map(|x| turn * x).collect();
        body.forces(&x, &mut work); // rotations at rest
        work.force.iter().map(|f| f.amax()).fold(0.0, f64::max)
    };
    // Ê = (cos δ − 1) in the plane of rotation, with proportional forces; its relative round-off is eps/δ².
    let ratio = most(0.1) / most(0.01);
    let expected = (0.1f64.cos() - 1.0) / (0.01f64.cos() - 1.0);
    assert!((ratio / expected - 1.0).abs() <= 1e-10, "{ratio} {expected}");
}

#[test]
fn internal_forces_change_neither_linear_nor_angular_momentum() {
    let mut rng = Random(38);
    for material in materials() {
        let body = block(material);
        for noise in [0.01, 0.2] {
            let x = rng.shape(&body, noise);
            let f = forces(&body, &x);
            let size: f64 = f.iter().map(|f| f.norm()).sum();
            let total: Vector3<f64> = f.iter().sum();
            assert!(total.amax() <= 1e-13 * size, "{material:?}: {total}");
            let torque: Vector3<f64> = x.iter().zip(&f).map(|(x, f)| x.cross(f)).sum();
            if material.entry().rotation_invariant {
                // Arms are of order one.
                assert!(torque.amax() <= 1e-11 * size, "{material:?}: {torque}");
            }
        }
    }
}

#[test]
fn mass_momentum_and_inertia_are_those_of_the_continuum() {
    for lumping in [Lumping::Consistent, Lumping::Lumped] {
        let spec = SoftSpec { lumping, ..cuboid([0.3, 0.2, 0.1], [3, 2, 2], RUBBER) };
        let body = SoftBody::new(spec).unwrap();
        let mass = 1000.0 * 0.3 * 0.2 * 0.1;
        assert!((body.total_mass() / mass - 1.0).abs() <= 1e-14);
        assert!((body.volume() * 1000.0 / mass - 1.0).abs() <= 1e-14);
        let M = body.mass().to_dense();
        assert!((M.sum() / (3.0 * mass) - 1.0).abs() <= 1e-13);
        assert!(M.clone().cholesky().is_some());
        for (k, m) in body.vertex_masses().iter().enumerate() {
            assert!((M.row(3 * k).sum() / m - 1.0).abs() <= 1e-13);
        }
        // All vertices at one velocity.
        let (x, v) = (&body.spec.vertices, Vector3::new(0.3, -0.2, 0.5));
        let all = vec![v; x.len()];
        assert!((body.kinetic_energy(&all) / (0.5 * mass * v.norm_squared()) - 1.0).abs() <= 1e-13);
        let centre = Vector3::new(0.15, 0.1, 0.05);
        assert!(
            (body.centre_of_mass(x) - centre).amax() <= 0.1 / 3.0,
            "{}",
            body.centre_of_mass(x)
        );
        let (linear, angular) = body.momentum(x, &all, Vector3::zeros());
        assert!((linear - mass * v).amax() <= 1e-13 * mass);
        let expected = body.centre_of_mass(x).cross(&(mass * v));
        assert!((angular - expected).amax() <= 1e-13 * mass);
        // Spinning about z: the consistent mass matrix has the exact moment of inertia.
        let spin: Vec<_> = x.iter().map(|x| Vector3::z().cross(&(x - centre))).collect();
        let about_centre = mass * (0.3f64.powi(2) + 0.2f64.powi(2)) / 12.0;
        let (_, angular) = body.momentum(x, &spin, centre);
        assert!((2.0 * body.kinetic_energy(&spin) - angular.z).abs() <= 1e-13 * about_centre);
        if lumping == Lumping::Consistent {
            assert!((angular.z / about_centre - 1.0).abs() <= 1e-13, "{}", angular.z);
        }
        let gravity = Vector3::new(0.0, 0.0, -9.81);
        let expected = 9.81 * mass * body.centre_of_mass(x).z;
        assert!((body.gravity_energy(x, gravity) - expected).abs() <= 1e-13);
    }
}
