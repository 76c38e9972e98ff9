use super::*;
use std::f64::consts::PI;

fn ball(radius: f64) -> f64 {
    4.0 / 3.0 * PI * radius.powi(3)
}

fn unit() -> (Vec<Vector3<f64>>, Vec<[u32; 4]>) {
    (vec![Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()], vec![[0, 1, 2, 3]])
}

/// Every generator at a coarse and a fine resolution, with the volume of the solid and of its proportions.
fn solids(n: usize) -> Vec<(&'static str, TetMesh, f64)> {
    let size = Vector3::new(0.3, 0.2, 0.1);
    let shell = ball(0.1) - ball(0.08);
    vec![
        ("box", TetMesh::cuboid(size, [3 * n, 2 * n, n]).unwrap(), 0.006),
        ("mat", TetMesh::mat(Vector3::new(0.12, 0.08, 0.02), [6 * n, 4 * n], n).unwrap(), 0.000192),
        ("sphere", TetMesh::sphere(0.1, n).unwrap(), ball(0.1)),
        ("cylinder", TetMesh::cylinder(0.1, 0.2, 6 * n, n).unwrap(), 0.002 * PI),
        ("odd cylinder", TetMesh::cylinder(0.1, 0.2, 6 * n + 1, n).unwrap(), 0.002 * PI),
        ("cone", TetMesh::cone(0.1, 0.15, n).unwrap(), 0.0005 * PI),
        ("dome", TetMesh::dome(0.1, 0.02, 3 * n).unwrap(), 0.5 * shell),
        ("shell", TetMesh::shell(0.1, 0.02, 2 * n).unwrap(), shell),
    ]
}

#[test]
fn the_pressed_block_has_the_stated_numbers() {
    let block = TetMesh::cuboid(Vector3::new(0.1, 0.1, 0.11), [10, 10, 11]).unwrap();
    assert_eq!((block.vertices().len(), block.tetrahedra().len()), (1452, 6600));
    assert!((block.volume() - 0.0011).abs() < 1e-15);
    assert_eq!(block.surface().len(), 2 * 2 * (100 + 110 + 110));
    // All cells are cut along the same diagonal.
    let diagonal = Vector3::repeat(0.01);
    for element in 0..6600 {
        let p = block.corners(element);
        let sides = (0..16).map(|k| p[k / 4] - p[k % 4]);
        assert_eq!(sides.filter(|e| (e - diagonal).norm() < 1e-12).count(), 1);
    }
}

#[test]
fn surfaces_are_closed_and_bound_the_volume_of_the_elements() {
    for (name, mesh, _) in [1, 2, 3].into_iter().flat_map(solids) {
        // The divergence theorem: ⅓ ∮ x·n dA.
        let flux: f64 = mesh
            .surface()
            .iter()
            .map(|t| t.map(|v| mesh.vertices()[v as usize]))
            .map(|[a, b, c]| a.dot(&b.cross(&c)) / 6.0)
            .sum();
        assert!((flux - mesh.volume()).abs() <= 1e-12 * mesh.volume(), "{name}");
        assert_eq!(mesh.turned(), 0);
    }
}

#[test]
fn volumes_converge_to_those_of_the_solids_with_the_square_of_the_cell() {
    for ((name, coarse, exact), (_, fine, _)) in solids(2).into_iter().zip(solids(4)) {
        let (e, f) = ((coarse.volume() - exact).abs(), (fine.volume() - exact).abs());
        // A chord of a circle misses it by h²/8r: halving h leaves a quarter, to higher order.
        assert!(f <= 0.35 * e || f <= 1e-14, "{name}: {e} {f}");
        assert!(f <= 0.05 * exact, "{name}: {f} of {exact}");
    }
}

#[test]
fn elements_do_not_get_worse_with_resolution() {
    for n in [1, 2, 3, 5, 8] {
        for (name, mesh, _) in solids(n) {
            let q = mesh.quality();
            // Kuhn's tetrahedron has a least angle of 45° and a ratio of 0.717.
            assert!(q.least_dihedral.to_degrees() > 18.0, "{name} {n}: {q:?}");
            assert!(q.least_radius_ratio > 0.3, "{name} {n}: {q:?}");
            assert!(q.greatest_dihedral.to_degrees() < 145.0, "{name} {n}: {q:?}");
        }
    }
}

#[test]
fn a_regular_tetrahedron_has_the_best_measures() {
    let p = [[1.0, 1.0, 1.0], [-1.0, 1.0, -1.0], [1.0, -1.0, -1.0], [-1.0, -1.0, 1.0]];
    let mesh = TetMesh::new(p.map(Vector3::from).to_vec(), vec![[0, 1, 2, 3]]).unwrap();
    let q = mesh.quality();
    assert!((q.least_dihedral - (1.0_f64 / 3.0).acos()).abs() < 1e-12);
    assert!((q.greatest_dihedral - q.least_dihedral).abs() < 1e-12);
    assert!((q.least_radius_ratio - 1.0).abs() < 1e-12);
}

#[test]
fn an_element_of_negative_volume_is_turned_and_counted() {
    let (vertices, _) = unit();
    let mesh = TetMesh::new(vertices, vec![[0, 1, 3, 2]]).unwrap();
    assert_eq!((mesh.turned(), mesh.tetrahedra()), (1, &[[0, 1, 2, 3]][..]));
    assert!((mesh.volume() - 1.0 / 6.0).abs() < 1e-15);
}

#[test]
fn errors_of_a_mesh_name_the_element() {
    let (vertices, elements) = unit();
    let with = |more: &[[f64; 3]], tetrahedra: Vec<[u32; 4]>| {
        let mut all = vertices.clone();
        all.extend(more.iter().map(|&p| Vector3::from(p)));
        TetMesh::new(all, tetrahedra)
    };
    assert_eq!(with(&[], vec![]), Err(TetMeshError::Empty));
    assert!(matches!(
        with(&[[0.0, f64::NAN, 0.0]], vec![[0, 1, 2, 4]]),
        Err(TetMeshError::Vertex { vertex: 4, .. })
    ));
    assert!(matches!(
        with(&[], vec![[0, 1, 2, 7]]),
        Err(TetMeshError::Index { element: 0, found: 7, vertices: 4 })
    ));
    assert!(matches!(with(&[], vec![[0, 1, 2, 2]]), Err(TetMeshError::Flat { element: 0, .. })));
    let flat = with(&[[0.3, 0.3, 0.0]], vec![[0, 1, 2, 3], [0, 1, 2, 4]]);
    assert!(matches!(flat, Err(TetMeshError::Flat { element: 1, corners: [0, 1, 2, 4], .. })));
    assert!(matches!(
        with(&[[9.0; 3]], elements.clone()),
        Err(TetMeshError::Unused { vertex: 4, unused: 1 })
    ));
    // The same element twice, and two that overlap on one side of a face.
    assert!(matches!(
        with(&[], vec![[0, 1, 2, 3]; 2]),
        Err(TetMeshError::Face { corners: [0, 1, 2], .. })
    ));
    let overlapping = with(&[[0.0, 0.0, 2.0]], vec![[0, 1, 2, 3], [0, 1, 2, 4]]);
    assert!(matches!(overlapping, Err(TetMeshError::Face { corners: [0, 1, 2], .. })));
    // Two elements that share an edge only, or a vertex only.
    let hinge = with(&[[0.0, -1.0, 0.0], [0.0, 0.0, -1.0]], vec![[0, 1, 2, 3], [0, 1, 4, 5]]);
    assert!(matches!(hinge, Err(TetMeshError::Edge { ends: [0, 1], triangles: 4 })));
    let tips = [[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]];
    let pinched = with(&tips, vec![[0, 1, 2, 3], [0, 4, 5, 6]]);
    assert_eq!(pinched, Err(TetMeshError::Pinched { vertex: 0 }));
    for error in [with(&[], vec![]), pinched, hinge, overlapping, flat] {
        assert!(error.unwrap_err().to_string().contains("expected"));
    }
}

#[test]
fn generators_refuse_lengths_and_counts_that_make_no_solid() {
    let size = Vector3::new(1.0, 1.0, 1.0);
    assert!(TetMesh::cuboid(Vector3::new(1.0, 0.0, 1.0), [1; 3]).is_err());
    assert!(matches!(TetMesh::cuboid(size, [1, 0, 1]), Err(TetMeshError::Count { found: 0, .. })));
    assert!(matches!(TetMesh::cuboid(size, [usize::MAX; 3]), Err(TetMeshError::TooMany { .. })));
    assert!(matches!(TetMesh::cuboid(size, [1000; 3]), Err(TetMeshError::TooMany { .. })));
    assert!(TetMesh::sphere(f64::NAN, 3).is_err() && TetMesh::sphere(1.0, 0).is_err());
    assert!(
        TetMesh::cylinder(1.0, 1.0, 2, 1).is_err() && TetMesh::cylinder(1.0, -1.0, 6, 1).is_err()
    );
    assert!(TetMesh::cone(1.0, f64::INFINITY, 1).is_err());
    assert!(matches!(TetMesh::dome(1.0, 1.0, 4), Err(TetMeshError::Thickness { .. })));
    assert!(TetMesh::sphere(1.0, 2).unwrap().scaled(Vector3::new(1.0, -1.0, 1.0)).is_err());
}

#[test]
fn moving_keeps_and_scaling_multiplies_the_volume() {
    let ball = TetMesh::sphere(1.0, 3).unwrap();
    let volume = ball.volume();
    let pose = Isometry3::new(Vector3::new(1.0, 2.0, 3.0), Vector3::new(0.3, 0.2, 0.1));
    assert!((ball.clone().moved(&pose).volume() - volume).abs() < 1e-12);
    let egg = ball.scaled(Vector3::new(1.0, 2.0, 0.5)).unwrap();
    assert!((egg.volume() - volume).abs() < 1e-12);
}
