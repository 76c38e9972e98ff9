//! Trees against the dense sums that they stand for, ports of links, and the way through a file.

use nalgebra::{DMatrix, DVector, Matrix3, Vector3, Vector6};
use stiction_math::spatial::Inertia10;

use super::Tree;
use crate::error::ProblemError;
use crate::law::{Bilateral, Coulomb, Law};
use crate::problem::{Map, PortId, Problem, Structure, SubsystemId};
use stiction_math::branch;
use stiction_math::random::SplitMix64;

fn vector6(rng: &mut SplitMix64) -> Vector6<f64> {
    Vector6::from_fn(|_, _| rng.normal())
}

fn inertia(rng: &mut SplitMix64) -> Inertia10 {
    let com = Vector3::from_fn(|_, _| rng.normal());
    let central = Matrix3::from_diagonal(&Vector3::new(0.3, 0.4, 0.5)) * rng.uniform(0.5, 2.0);
    Inertia10::from_central(rng.log_uniform(0.1, 10.0), com, &central)
}

/// A random tree: several roots, welds, links of one to six velocities.
fn random_tree(rng: &mut SplitMix64, links: usize) -> Tree {
    let mut tree = Tree::new();
    for link in 0..links {
        let parent = (link > 0 && rng.unit() < 0.85).then(|| rng.below(link));
        let count = [0, 1, 1, 1, 3, 6][rng.below(6)];
        let S: Vec<_> = (0..count).map(|_| vector6(rng)).collect();
        let diagonal: Vec<_> = (0..count).map(|_| rng.uniform(0.01, 0.1)).collect();
        tree.link(parent, &S, inertia(rng), &diagonal);
    }
    tree
}

/// The Jacobian of a link by walking from the link to the ground, one column per velocity.
fn jacobian(tree: &Tree, link: usize) -> DMatrix<f64> {
    let mut J = DMatrix::zeros(6, tree.velocities());
    let mut at = Some(link);
    while let Some(link) = at {
        for k in tree.velocity_range(link) {
            J.column_mut(k).copy_from(&tree.subspaces()[k]);
        }
        at = tree.parent(link);
    }
    J
}

fn dense_mass(tree: &Tree) -> DMatrix<f64> {
    let mut A = DMatrix::from_diagonal(&DVector::from_column_slice(tree.diagonal()));
    for link in 0..tree.links() {
        let J = jacobian(tree, link);
        A += J.transpose() * tree.inertia(link).to_matrix() * J;
    }
    A
}

#[test]
fn the_mass_matrix_is_the_sum_of_the_kinetic_energies_of_the_links() {
    let mut rng = SplitMix64::new(1);
    for links in [1, 2, 5, 12, 30] {
        let tree = random_tree(&mut rng, links);
        let n = tree.velocities();
        let mut A = vec![f64::NAN; n * n];
        tree.mass_matrix(&mut A);
        let (found, expected) = (DMatrix::from_row_slice(n, n, &A), dense_mass(&tree));
        // Sums of fewer than a thousand products of the size of the largest entry.
        assert!((found - &expected).amax() <= 1e-12 * expected.amax(), "{links} links");
    }
}

#[test]
fn the_factor_along_branches_solves_like_a_dense_one_and_leaves_other_entries_alone() {
    let mut rng = SplitMix64::new(2);
    for links in [1, 6, 25] {
        let tree = random_tree(&mut rng, links);
        let n = tree.velocities();
        let expected = dense_mass(&tree);
        let x = DVector::from_fn(n, |_, _| rng.normal());
        let b = &expected * &x;
        let chain: Vec<Option<u32>> = (0..n as u32).map(|k| k.checked_sub(1)).collect();
        for parents in [tree.velocity_parents(), &chain] {
            let mut L = vec![0.0; n * n];
            tree.mass_matrix(&mut L);
            // Poison what is on no common path: any use of it would show as NaN.
            for k in 0..n {
                for j in 0..k {
                    if !branch::ancestors(parents, Some(k as u32)).any(|a| a == j) {
                        L[k * n + j] = f64::NAN;
                    }
                }
            }
            assert!(branch::factor(&mut L, parents, |k| expected[(k, k)]));
            let mut found = b.as_slice().to_vec();
            branch::solve(&L, parents, &mut found);
            let residual = &expected * DVector::from_vec(found.clone()) - &b;
            // Cholesky is backward stable: |A x − b| below a small multiple of n ε |A| |x|.
            let size = DVector::from_vec(found).norm() * expected.norm();
            assert!(residual.norm() <= 4.0 * (n + 1) as f64 * f64::EPSILON * size);
        }
    }
}

#[test]
fn forces_on_links_are_the_transpose_of_their_velocities() {
    let mut rng = SplitMix64::new(3);
    let tree = random_tree(&mut rng, 20);
    let v: Vec<f64> = (0..tree.velocities()).map(|_| rng.normal()).collect();
    let F: Vec<f64> = (0..6 * tree.links()).map(|_| rng.normal()).collect();
    let mut V = vec![f64::NAN; 6 * tree.links()];
    tree.link_velocities(&v, &mut V);
    let (mut carried, mut tau) = (F.clone(), vec![0.0; v.len()]);
    tree.add_link_forces(&mut carried, &mut tau);
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let size = dot(&V, &V).sqrt() * dot(&F, &F).sqrt();
    assert!((dot(&F, &V) - dot(&tau, &v)).abs() <= 1e-13 * size);
    for link in 0..tree.links() {
        let expected = jacobian(&tree, link) * DVector::from_column_slice(&v);
        let found = Vector6::from_column_slice(&V[6 * link..6 * link + 6]);
        assert!((expected - found).amax() <= 1e-13 * found.amax().max(1.0));
    }
}

/// A tree, a dense subsystem and a sparse one with constraints through every kind of port.
fn mixed_problem(rng: &mut SplitMix64) -> Problem {
    let tree = random_tree(rng, 9);
    let n = tree.velocities();
    let mut builder = Problem::builder("mixed");
    let momentum: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
    let robot = builder.tree(&tree, &momentum);
    let block = builder.dense(&[2.0, 0.1, 0.1, 3.0], &[0.3, -0.4]);
    let (three, small) = (Matrix3::identity() * 3.0, Matrix3::identity() * 0.5);
    let (d, o) = (three.as_slice(), small.as_slice());
    let soft = builder.sparse(3, [(0, 0, d), (1, 1, d), (1, 0, o)], &[0.1; 6]);
    let hand = builder.port(robot, Map::Link(7));
    let elbow = builder.port(robot, Map::Link(3));
    let joint = builder.port(robot, Map::Coordinates { first: n - 2, count: 2 });
    let face = builder.port(soft, Map::Nodes(vec![(0, 0.25), (1, 0.75)]));
    let whole = builder.port(block, Map::Whole);
    let matrix = builder.port(block, Map::Matrix { rows: 1, values: vec![0.2, -0.7] });
    let mut random = |len: usize| (0..len).map(|_| rng.normal()).collect::<Vec<f64>>();
    let contact = Law::Coulomb(Coulomb::new(0.4).unwrap());
    let (a, b, c) = (random(18), random(18), random(9));
    builder.constraint(contact, &[0.1; 3], &[0.0; 3], &[(hand, &a), (elbow, &b)]);
    builder.constraint(contact, &[0.0; 3], &[1e-3; 3], &[(hand, &b), (face, &c)]);
    let weld = Law::Bilateral(Bilateral);
    builder.constraint(weld, &[0.0], &[0.0], &[(joint, &[1.0, -0.5]), (matrix, &[2.0])]);
    builder.constraint(weld, &[0.0], &[0.0], &[(whole, &[1.0, 1.0])]);
    builder.build().unwrap()
}

#[test]
fn a_link_port_reads_the_spatial_velocity_along_its_path() {
    let mut rng = SplitMix64::new(4);
    let problem = mixed_problem(&mut rng);
    let tree = problem.mass().tree(SubsystemId(0)).unwrap();
    let v: Vec<f64> = (0..problem.dofs()).map(|_| rng.normal()).collect();
    let mut expected = DVector::zeros(3);
    for term in problem.terms(0) {
        let Map::Link(link) = problem.ports()[term.port.0].map else { panic!("a link port") };
        let C = DMatrix::from_row_slice(3, 6, problem.term_values(term));
        let v = DVector::from_column_slice(&v[..tree.velocities()]);
        expected += C * jacobian(tree, link) * v;
    }
    let mut found = [0.0; 3];
    problem.jacobian().mul_constraint(0, &v, &mut found);
    let found = DVector::from_column_slice(&found);
    // Fewer than a hundred products of numbers of order one to a hundred.
    assert!((&found - &expected).amax() <= 1e-13 * expected.amax().max(1.0));
}

#[test]
fn a_file_keeps_structures_ports_and_jacobian() {
    let problem = mixed_problem(&mut SplitMix64::new(5));
    let loaded = Problem::from_raw(&problem.to_raw()).unwrap().problem;
    for s in (0..3).map(SubsystemId) {
        assert_eq!(problem.mass().structure(s), loaded.mass().structure(s));
    }
    assert_eq!(problem.ports(), loaded.ports());
    assert_eq!(problem.jacobian(), loaded.jacobian());
    assert_eq!(problem.constraints(), loaded.constraints());
    assert_eq!(problem.mass().matrix().values(), loaded.mass().matrix().values());
    for i in 0..problem.constraints().len() {
        for (a, b) in problem.terms(i).iter().zip(loaded.terms(i)) {
            assert_eq!(problem.term_values(a), loaded.term_values(b));
        }
    }
}

#[test]
fn keys_that_contradict_the_matrices_are_passed_over() {
    use crate::file::Array;
    let problem = mixed_problem(&mut SplitMix64::new(6));
    let reference = problem.to_raw();
    let plain = |alter: &dyn Fn(&mut crate::file::RawProblem)| {
        let mut raw = reference.clone();
        alter(&mut raw);
        let loaded = Problem::from_raw(&raw).unwrap().problem;
        let structure = *loaded.mass().structure(SubsystemId(0));
        // Whatever was lost, A and J are those of the file.
        let lost = loaded.to_raw();
        assert_eq!((lost.a.indices, lost.j.indices), (raw.a.indices, raw.j.indices));
        (structure, loaded.ports().to_vec())
    };
    let scale = |key: &'static str| {
        move |raw: &mut crate::file::RawProblem| {
            let scaled: Vec<f64> = raw.extra[key].to_f64().iter().map(|x| 1.5 * x).collect();
            raw.extra.insert(key.to_owned(), Array::from_f64(&scaled));
        }
    };
    let (structure, ports) = plain(&scale("tree_inertia"));
    assert_eq!(structure, Structure::Dense);
    assert!(ports.iter().all(|p| p.map == Map::Whole));
    let (_, ports) = plain(&scale("term_values"));
    assert!(ports.iter().all(|p| p.map == Map::Whole));
    // A key that is missing or of the wrong length takes its own family with it, no other.
    let (structure, ports) = plain(&|raw| drop(raw.extra.remove("term_start")));
    assert!(matches!(structure, Structure::Tree { .. }));
    assert!(ports.iter().all(|p| p.map == Map::Whole));
    let cut = |raw: &mut crate::file::RawProblem| {
        raw.extra.insert("tree_parent".to_owned(), Array::from_i64(&[-1, 0]));
    };
    assert_eq!(plain(&cut).0, Structure::Dense);
}

#[test]
fn errors_of_a_tree_name_the_link() {
    let mut rng = SplitMix64::new(7);
    let S = vector6(&mut rng);
    let build = |tree: Tree, momentum: &[f64]| {
        let mut builder = Problem::builder("wrong");
        builder.tree(&tree, momentum);
        builder.build().unwrap_err()
    };
    let mut tree = Tree::new();
    tree.link(Some(1), &[S], inertia(&mut rng), &[0.0]);
    tree.link(None, &[S], inertia(&mut rng), &[0.0]);
    let parent = ProblemError::Parent { subsystem: 0, link: 0, parent: 1 };
    assert_eq!(build(tree, &[0.0; 2]), parent);

    let mut tree = Tree::new();
    tree.link(None, &[S], inertia(&mut rng), &[]);
    assert!(matches!(build(tree.clone(), &[0.0]), ProblemError::Length { expected: 1, .. }));
    assert!(matches!(build(tree, &[0.0; 3]), ProblemError::Length { what: "b", .. }));

    let mut tree = Tree::new();
    tree.link(None, &[S * f64::NAN], inertia(&mut rng), &[0.0]);
    assert!(matches!(build(tree, &[0.0]), ProblemError::NotFinite { .. }));

    // Two equal subspaces without armature: a velocity that moves nothing.
    let mut tree = Tree::new();
    tree.link(None, &[S, S], inertia(&mut rng), &[0.0; 2]);
    assert_eq!(build(tree, &[0.0; 2]), ProblemError::NotPositiveDefinite { subsystem: 0 });

    let mut builder = Problem::builder("wrong");
    let block = builder.dense(&[1.0], &[0.0]);
    let port = builder.port(block, Map::Link(0));
    assert_eq!(port, PortId(0));
    assert!(matches!(builder.build(), Err(ProblemError::WrongPort { map: "link", .. })));
}
