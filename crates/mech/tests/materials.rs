//! Conformance tests of every material in the registry.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(non_snake_case)] // matrices keep the capitals of the papers

mod common;

use common::Random;
use nalgebra::{Matrix3, Rotation3, SMatrix, SymmetricEigen, Vector3};
use stiction_mech::material::MaterialEntry;
use stiction_mech::{MATERIALS, Material};

/// Two sets of constants per material, the second nearly incompressible. Moduli are of order one, so
/// that tolerances are absolute.
fn samples(entry: &MaterialEntry) -> Vec<Material> {
    let sets: [&[f64]; 2] = match entry.parameters {
        ["c1", "c2", "bulk"] => [&[0.3, 0.2, 1.5], &[0.293, 0.177, 30.0]],
        _ => [&[1.0, 0.25], &[1.0, 0.48]],
    };
    sets.iter().map(|set| Material::from_name(entry.name, set).unwrap()).collect()
}

fn each(mut f: impl FnMut(&MaterialEntry, Material)) {
    for entry in MATERIALS {
        samples(entry).into_iter().for_each(|material| f(entry, material));
    }
}

fn rotation(rng: &mut Random) -> Matrix3<f64> {
    Rotation3::new(Vector3::from_fn(|_, _| 3.0 * rng.number())).into_inner()
}

/// Deformations from small to inverted, their singular values kept apart from −σ of one another, where
/// rotations are undefined.
fn deformations(rng: &mut Random) -> Vec<Matrix3<f64>> {
    let mut list = Vec::new();
    for k in 0..40 {
        let strain = [0.05, 0.3, 0.6][k % 3];
        let mut s = Vector3::from_fn(|_, _| 1.0 + strain * rng.number());
        if k % 5 == 4 {
            s[2] = -0.3; // inverted
        }
        let (U, V) = (rotation(rng), rotation(rng));
        list.push(U * Matrix3::from_diagonal(&s) * V.transpose());
    }
    list.push(Matrix3::identity());
    list.push(Matrix3::from_diagonal(&Vector3::new(1.2, 1.2, 0.7)));
    list
}

/// A rotation near the one that the material would use at F, as a fixed rotation.
fn fixed_rotation(material: &Material, F: &Matrix3<f64>, rng: &mut Random) -> Matrix3<f64> {
    let turn = Rotation3::new(Vector3::from_fn(|_, _| 0.1 * rng.number())).into_inner();
    if material.entry().lagged { turn * material.rotation(F) } else { Matrix3::identity() }
}

/// Stiffest modulus, the scale of stresses.
fn stiffness(material: &Material) -> f64 {
    let (shear, bulk) = material.moduli();
    shear.max(bulk)
}

#[test]
fn the_registry_is_sorted_and_every_material_has_its_entry() {
    assert!(MATERIALS.is_sorted_by(|a, b| a.name < b.name));
    each(|entry, material| {
        assert_eq!(material.entry(), *entry);
        assert!(!entry.about.is_empty() && !entry.cite.is_empty());
        let parameters = &material.parameters()[..entry.parameters.len()];
        assert_eq!(Material::from_name(entry.name, parameters), Some(material));
        assert_eq!(material.check(), Ok(()));
    });
    assert_eq!(Material::from_name("rubber", &[1.0, 0.3]), None);
    assert_eq!(Material::from_name("linear", &[1.0]), None);
}

#[test]
fn stress_is_the_derivative_of_the_energy() {
    let mut rng = Random(21);
    each(|entry, material| {
        for F in deformations(&mut rng) {
            let (R, h) = (fixed_rotation(&material, &F, &mut rng), 1e-5);
            let P = material.stress(&F, &R);
            for k in 0..9 {
                let mut dF = Matrix3::zeros();
                dF[k] = h;
                let energy = |F: Matrix3<f64>| material.energy(&F, &R);
                let slope = (energy(F + dF) - energy(F - dF)) / (2.0 * h);
                // Central differences: h² times a third derivative of order one, and round-off / h.
                let bound = 1e-9 * 10.0 * stiffness(&material);
                assert!((P[k] - slope).abs() <= bound, "{}: {} {slope}", entry.name, P[k]);
            }
        }
    });
}

#[test]
fn the_tangent_is_the_derivative_of_the_stress() {
    let mut rng = Random(22);
    each(|entry, material| {
        for F in deformations(&mut rng) {
            let (R, h) = (fixed_rotation(&material, &F, &mut rng), 1e-5);
            let tangent = material.tangent(&F, &R);
            assert!((tangent - tangent.transpose()).norm() <= 1e-12 * tangent.norm());
            for k in 0..9 {
                let mut dF = Matrix3::zeros();
                dF[k] = h;
                let stress = |F: Matrix3<f64>| material.stress(&F, &R);
                let slope = (stress(F + dF) - stress(F - dF)) / (2.0 * h);
                // As above; rotations of inverted F change 1/(σ₁ − 0.3) times as fast as F.
                let bound = 1e-8 * 10.0 * stiffness(&material);
                for i in 0..9 {
                    let found = tangent[(i, k)];
                    assert!((found - slope[i]).abs() <= bound, "{}: {F}", entry.name);
                }
            }
        }
    });
}

#[test]
fn the_reference_shape_has_no_stress_and_no_energy() {
    each(|entry, material| {
        let I = Matrix3::identity();
        // Rounding of 1 − 1 in a few terms of the size of the modulus.
        let bound = 8.0 * f64::EPSILON * stiffness(&material);
        assert!(material.stress(&I, &I).amax() <= bound, "{}", entry.name);
        assert!(material.energy(&I, &I).abs() <= bound, "{}", entry.name);
    });
}

#[test]
fn a_rigid_rotation_produces_no_stress() {
    let mut rng = Random(23);
    each(|entry, material| {
        for _ in 0..100 {
            let R = rotation(&mut rng);
            let stress = material.stress(&R, &material.rotation(&R)).amax();
            let bound = 50.0 * f64::EPSILON * stiffness(&material);
            if entry.rotation_invariant {
                assert!(stress <= bound, "{}: {stress}", entry.name);
            } else {
                // Linear elasticity is not invariant; the flag must say so.
                assert!(stress > 1e3 * bound, "{}: {stress}", entry.name);
            }
        }
    });
}

#[test]
fn energy_and_stress_are_objective_and_isotropic() {
    let mut rng = Random(24);
    each(|entry, material| {
        for F in deformations(&mut rng) {
            let (Q, G) = (rotation(&mut rng), rotation(&mut rng));
            let energy = |F: &Matrix3<f64>| material.energy(F, &material.rotation(F));
            let stress = |F: &Matrix3<f64>| material.stress(F, &material.rotation(F));
            // Some hundred roundings of numbers of the size of the moduli.
            let bound = 2e-13 * stiffness(&material);
            if entry.rotation_invariant {
                assert!((energy(&(Q * F)) - energy(&F)).abs() <= bound, "{}", entry.name);
                assert!((stress(&(Q * F)) - Q * stress(&F)).amax() <= bound, "{}", entry.name);
                // Isotropy: the reference may be rotated as well.
                assert!((energy(&(F * G)) - energy(&F)).abs() <= bound, "{}", entry.name);
                assert!((stress(&(F * G)) - stress(&F) * G).amax() <= bound, "{}", entry.name);
            } else {
                // Isotropy about the reference: both rotated together.
                let turned = Q * F * Q.transpose();
                assert!((energy(&turned) - energy(&F)).abs() <= bound, "{}", entry.name);
            }
        }
    });
}

#[test]
fn small_strains_have_the_moduli_of_linear_elasticity() {
    each(|entry, material| {
        let I = Matrix3::identity();
        let (shear, bulk) = material.moduli();
        let [young, poisson, _] = material.parameters();
        if entry.parameters == ["young", "poisson"] {
            assert!((9.0 * bulk * shear / (3.0 * bulk + shear) - young).abs() <= 1e-14 * bulk);
            let ratio = (3.0 * bulk - 2.0 * shear) / (2.0 * (3.0 * bulk + shear));
            assert!((ratio - poisson).abs() <= 1e-14);
        }
        // C_ijkl = λ δ_ij δ_kl + μ (δ_ik δ_jl + δ_il δ_jk).
        let lambda = bulk - 2.0 / 3.0 * shear;
        let delta = |i: usize, j: usize| f64::from(u8::from(i == j));
        let expected = SMatrix::<f64, 9, 9>::from_fn(|row, column| {
            let (i, j, k, l) = (row % 3, row / 3, column % 3, column / 3);
            lambda * delta(i, j) * delta(k, l)
                + shear * (delta(i, k) * delta(j, l) + delta(i, l) * delta(j, k))
        });
        for tangent in [material.tangent(&I, &I), material.projected_tangent(&I, &I)] {
            let error = (tangent - expected).amax();
            assert!(error <= 20.0 * f64::EPSILON * stiffness(&material), "{}", entry.name);
        }
    });
}

#[test]
fn the_projected_tangent_is_positive_semi_definite_for_any_deformation() {
    let mut rng = Random(25);
    each(|entry, material| {
        for k in 0..400 {
            let size = [0.2, 1.0, 5.0, 30.0][k % 4];
            let F = Matrix3::identity() + size * Matrix3::from_fn(|_, _| rng.number());
            let R = material.rotation(&F);
            let tangent = material.projected_tangent(&F, &R);
            let symmetric = 0.5 * (tangent + tangent.transpose());
            assert!((tangent - symmetric).norm() <= 1e-13 * tangent.norm());
            let eigenvalues = SymmetricEigen::new(symmetric).eigenvalues;
            let bound = 1e-14 * eigenvalues.amax();
            assert!(eigenvalues.min() >= -bound, "{} {F} {eigenvalues}", entry.name);
        }
    });
}

#[test]
fn the_projection_clamps_eigenvalues_and_changes_nothing_else() {
    let mut rng = Random(26);
    each(|entry, material| {
        for F in deformations(&mut rng) {
            let R = material.rotation(&F);
            let eigen = SymmetricEigen::new(material.tangent(&F, &R));
            let clamped = eigen.eigenvalues.map(|x| x.max(0.0));
            let expected = eigen.eigenvectors
                * SMatrix::<f64, 9, 9>::from_diagonal(&clamped)
                * eigen.eigenvectors.transpose();
            let error = (material.projected_tangent(&F, &R) - expected).norm();
            assert!(error <= 1e-12 * expected.norm(), "{}: {error}", entry.name);
        }
    });
}

#[test]
fn every_material_resists_inversion() {
    each(|entry, material| {
        let energy = |s: f64| {
            let F = Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, s));
            material.energy(&F, &material.rotation(&F))
        };
        // Compression to the flat shape and beyond increases the energy, which remains finite.
        let mut last = 0.0;
        for s in [0.8, 0.5, 0.2, 0.0, -0.3, -0.6] {
            assert!(energy(s) > last, "{} at {s}", entry.name);
            last = energy(s);
        }
    });
}

/// Regression numbers of an independent implementation [MPa].
#[test]
fn mooney_rivlin_rubber_has_the_stress_of_a_sheared_block() {
    let material = Material::MooneyRivlin { c1: 0.293, c2: 0.177, bulk: 1410.0 };
    let F = Matrix3::new(1.1, 0.05, 0.0, 0.0, 0.95, 0.02, 0.0, 0.0, 1.0);
    let I = Matrix3::identity();
    // The reference has this many digits.
    assert!((material.energy(&F, &I) - 1.439895295).abs() <= 5e-9);
    let expected = Matrix3::new(
        60.43205076,
        0.04700708,
        -0.0003363,
        -3.126205,
        69.66951,
        0.0203045,
        0.06215417,
        -1.37411774,
        66.28581765,
    );
    assert!((material.stress(&F, &I) - expected).amax() <= 1e-6);
    assert_eq!(material.moduli(), (2.0 * (0.293 + 0.177), 1410.0));
}

#[test]
fn unstable_material_constants_are_rejected() {
    let refused = |name: &str, parameters: &[f64], parameter: &str| {
        let error = Material::from_name(name, parameters).unwrap().check().unwrap_err();
        assert_eq!((error.material, error.parameter), (name, parameter), "{error}");
        assert!(error.to_string().contains("expected"), "{error}");
    };
    for name in ["corotational", "linear", "linear-corotated", "neo-hookean"] {
        for young in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            refused(name, &[young, 0.3], "young");
        }
        for poisson in [0.5, 0.7, -1.0, -2.0, f64::NAN] {
            refused(name, &[1e4, poisson], "poisson");
        }
        Material::from_name(name, &[1e4, -0.9]).unwrap().check().unwrap();
        Material::from_name(name, &[1e4, 0.499]).unwrap().check().unwrap();
    }
    let name = "mooney-rivlin";
    refused(name, &[-1.0, 1.0, 10.0], "c1");
    refused(name, &[1.0, f64::NAN, 10.0], "c2");
    refused(name, &[0.0, 0.0, 10.0], "c1 + c2");
    refused(name, &[1.0, 1.0, 0.0], "bulk");
    refused(name, &[0.0, 1.0, 1.3], "bulk");
}
