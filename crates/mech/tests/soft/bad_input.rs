//! Every invalid soft body is rejected with a specific error.

use crate::mesh::*;
use nalgebra::Vector3;
use stiction_mech::*;

fn good() -> SoftSpec {
    SoftSpec { name: "s".into(), ..cuboid([0.1; 3], [1, 1, 1], RUBBER) }
}

fn fault(spec: SoftSpec) -> SoftFault {
    let mut builder = ModelBuilder::new();
    builder.soft(SoftSpec { name: "first".into(), ..good() });
    builder.soft(spec);
    match builder.build().unwrap_err() {
        ModelError::Soft(error) => {
            assert_eq!((error.soft, error.name.as_str()), (1, "s"));
            let text = error.to_string();
            assert!(text.starts_with("soft body 1 's': ") && text.contains("expected"), "{text}");
            error.fault
        }
        other => panic!("{other}"),
    }
}

#[test]
fn inverted_and_flat_elements_are_named_with_their_volumes() {
    let mut spec = good();
    spec.tetrahedra[4].swap(0, 1);
    let found = fault(spec);
    let SoftFault::Inverted { element: 4, volume, .. } = found else { panic!("{found}") };
    assert!((volume + 1e-3 / 6.0).abs() <= 1e-18);

    let mut spec = good();
    spec.tetrahedra[2][3] = spec.tetrahedra[2][0];
    let found = fault(spec);
    assert!(matches!(found, SoftFault::Degenerate { element: 2, volume: 0.0, .. }), "{found}");

    let mut spec = good();
    let thin = |z| Vector3::new(0.3, 0.3, z);
    spec.vertices = vec![Vector3::zeros(), Vector3::x(), Vector3::y(), thin(1e-9)];
    spec.tetrahedra = vec![[0, 1, 2, 3]];
    let found = fault(spec.clone());
    assert!(matches!(found, SoftFault::Degenerate { element: 0, .. }), "{found}");
    spec.vertices[3] = thin(-1e-9);
    assert!(matches!(fault(spec.clone()), SoftFault::Degenerate { element: 0, .. }));
    spec.vertices[3] = thin(1e-6);
    SoftBody::new(spec).unwrap();
}

#[test]
fn vertices_must_exist_be_finite_and_be_used() {
    let mut spec = good();
    spec.tetrahedra[1][2] = 8;
    let found = fault(spec);
    assert!(matches!(found, SoftFault::UnknownVertex { found: 8, last: 7, .. }), "{found}");

    let found = fault(SoftSpec { fixed: vec![0, 99], ..good() });
    assert!(
        matches!(&found, SoftFault::UnknownVertex { referrer, found: 99, .. } if referrer.contains("fixed"))
    );

    let mut spec = good();
    spec.vertices[3].y = f64::NAN;
    assert!(matches!(fault(spec), SoftFault::Vertex { vertex: 3, .. }));

    let mut spec = good();
    spec.vertices.push(Vector3::zeros());
    assert_eq!(fault(spec), SoftFault::UnusedVertex { vertex: 8 });

    assert_eq!(fault(SoftSpec { tetrahedra: vec![], ..good() }), SoftFault::Empty);
    assert_eq!(
        fault(SoftSpec { tetrahedra: vec![], vertices: vec![], ..good() }),
        SoftFault::Empty
    );
    let found = fault(SoftSpec { vertices: vec![], ..good() });
    assert!(matches!(found, SoftFault::UnknownVertex { .. }), "{found}");
}

#[test]
fn densities_dampings_and_materials_must_be_physical() {
    for density in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(fault(SoftSpec { density, ..good() }), SoftFault::Density { .. }));
    }
    for damping in [-1e-9, f64::NAN, f64::INFINITY] {
        let found = fault(SoftSpec { mass_damping: damping, ..good() });
        assert!(matches!(found, SoftFault::Damping { field: "mass damping", .. }), "{found}");
        let found = fault(SoftSpec { stiffness_damping: damping, ..good() });
        assert!(matches!(found, SoftFault::Damping { field: "stiffness damping", .. }), "{found}");
    }
    let material = Material::NeoHookean { young: 1e4, poisson: 0.5 };
    let found = fault(SoftSpec { material, ..good() });
    assert!(matches!(found, SoftFault::Material(_)), "{found}");
}

#[test]
fn names_of_soft_bodies_are_unique() {
    let mut builder = ModelBuilder::new();
    builder.soft(good());
    builder.soft(good());
    let error = builder.build().unwrap_err();
    assert!(matches!(error, ModelError::DuplicateName { what: "soft body", .. }), "{error}");
}

#[test]
fn nan_positions_give_nan_forces_without_panic() {
    for material in materials() {
        let body = block(material);
        let mut work = SoftWorkspace::new(&body);
        for bad in [f64::NAN, f64::INFINITY, 1e200] {
            let mut x = body.spec.vertices.clone();
            x[5].x = bad;
            body.update_rotations(&x, &mut work);
            body.forces(&x, &mut work);
            body.stiffness(&x, &mut work);
            assert!(!work.force[5].x.is_finite() || bad == 1e200, "{material:?}");
        }
    }
}

#[test]
fn a_body_crushed_flat_or_to_a_point_has_finite_forces() {
    for material in materials() {
        let body = block(material);
        let mut work = SoftWorkspace::new(&body);
        for scale in [Vector3::new(1.0, 1.0, 0.0), Vector3::zeros(), Vector3::new(1.0, -1.0, 1.0)] {
            let x: Vec<_> = body.spec.vertices.iter().map(|x| x.component_mul(&scale)).collect();
            body.update_rotations(&x, &mut work);
            body.forces(&x, &mut work);
            body.stiffness(&x, &mut work);
            assert!(work.force.iter().all(|f| f.iter().all(|f| f.is_finite())), "{material:?}");
            assert!(work.stiffness.values().iter().all(|k| k.is_finite()), "{material:?}");
            assert!(body.energy(&x).is_finite() && body.energy(&x) > 0.0, "{material:?}");
        }
    }
}
